package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/internal/boundedfile"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/mocap"
)

func newInspect() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "inspect FILE|MODEL...",
		Short: "Say what a motion, a model, styles or a skin is, its numbers and its licence",
		Long: `Tells motion (BVH), models, databases of styles and styles of a crowd (all
safetensors) and skinned meshes (glTF) apart by their content and says what is in them. Shipped ones are
named without a path.`,
		Example: `  mannequin inspect walk.bvh
  mannequin inspect dog
  mannequin inspect styles-free styles-gram
  mannequin inspect hero.glb
  mannequin inspect mine.safetensors --json`,
		Args: command.Want("a file or a model", 1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return reportFiles(cmd.OutOrStdout(), args, asJSON, inspectFile, printInspected)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// inspectFile reads a file of any kind that we know.
func inspectFile(file string) (any, error) {
	if slices.Contains(models.Names(), file) {
		return inspectModel(file)
	}
	if shippedStyles[file] != nil {
		return inspectStyles(file)
	}
	if file == shippedTransfers {
		return inspectTransfers(file)
	}
	head, err := fileHead(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w, nor is it a shipped model, database or styles %q", err, append(append(models.Names(), slices.Sorted(maps.Keys(shippedStyles))...), shippedTransfers))
	}
	if err != nil {
		return nil, err
	}
	switch kindOf(head, file) {
	case kindBVH:
		b, err := mocap.OpenBVH(file)
		if err != nil {
			return nil, err
		}
		return motionOf(file, "BVH motion", b), nil
	case kindModel:
		r, err := inspectModel(file)
		var other *netruntime.UnsupportedError
		if errors.As(err, &other) && other.Got == mar.Arch {
			return inspectStyles(file)
		}
		if errors.As(err, &other) && other.Got == manifold.ArchTransfers {
			return inspectTransfers(file)
		}
		if err != nil {
			return nil, err
		}
		return r, nil
	}
	if kindOf(head, file) == kindSkin {
		r, err := inspectSkin(file)
		if err != nil {
			return nil, err
		}
		return r, nil
	}
	return nil, fmt.Errorf("%s: neither a BVH motion (starts with HIERARCHY), a model (safetensors) nor a skin (glTF)", file)
}

func printInspected(w io.Writer, r any) error {
	switch r := r.(type) {
	case *motionReport:
		return printMotion(w, r)
	case *modelReport:
		return printModel(w, r)
	case *databaseReport:
		return printDatabase(w, r)
	case *transfersReport:
		return printTransfers(w, r)
	case *skinReport:
		return printSkin(w, r)
	}
	return fmt.Errorf("no printer for %T", r)
}

type fileKind int

const (
	kindUnknown fileKind = iota
	kindBVH
	kindModel
	kindSkin
)

// kindOf tells the kinds apart by a file's first bytes; a name decides only
// where they say nothing, so that a damaged file gets its reader's message.
func kindOf(head []byte, name string) fileKind {
	text := bytes.TrimLeftFunc(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), func(r rune) bool { return r <= ' ' })
	lower := strings.ToLower(name)
	switch {
	case len(text) >= 9 && strings.EqualFold(string(text[:9]), "HIERARCHY"):
		return kindBVH
	// Eight bytes of length, then a JSON object.
	case len(head) > 8 && head[8] == '{' && head[6] == 0 && head[7] == 0:
		return kindModel
	case bytes.HasPrefix(head, []byte("glTF")), strings.HasSuffix(lower, ".gltf"), strings.HasSuffix(lower, ".glb"):
		return kindSkin
	case strings.HasSuffix(lower, ".bvh"):
		return kindBVH
	case strings.HasSuffix(lower, ".safetensors"):
		return kindModel
	}
	return kindUnknown
}

// fileHead returns the first bytes of a regular file.
func fileHead(file string) ([]byte, error) {
	f, err := boundedfile.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, err
	}
	return head[:n], nil
}
