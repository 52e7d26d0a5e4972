// Package inspect has the command that describes files and models.
package inspect

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/mocap"
)

func New() *cobra.Command {
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
			return cli.ReportFiles(cmd.OutOrStdout(), args, asJSON, inspectFile, printInspected)
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
	if input.ShippedStyles[file] != nil {
		return inspectStyles(file)
	}
	if file == input.ShippedTransfers {
		return inspectTransfers(file)
	}
	head, err := input.Head(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w, nor is it a shipped model, database or styles %q", err, append(append(models.Names(), slices.Sorted(maps.Keys(input.ShippedStyles))...), input.ShippedTransfers))
	}
	if err != nil {
		return nil, err
	}
	switch input.KindOf(head, file) {
	case input.KindBVH:
		b, err := mocap.OpenBVH(file)
		if err != nil {
			return nil, err
		}
		return input.MotionOf(file, "BVH motion", b), nil
	case input.KindModel:
		r, err := inspectModel(file)
		var other *netruntime.UnsupportedError
		if errors.As(err, &other) && other.Got == mar.Arch {
			return inspectStyles(file)
		}
		if errors.As(err, &other) && other.Got == manifold.ArchStyleSet {
			return inspectTransfers(file)
		}
		if err != nil {
			return nil, err
		}
		return r, nil
	}
	if input.KindOf(head, file) == input.KindSkin {
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
	case *input.Motion:
		return input.PrintMotion(w, r)
	case *modelReport:
		return printModel(w, r)
	case *databaseReport:
		return printDatabase(w, r)
	case *TransfersReport:
		return printTransfers(w, r)
	case *skinReport:
		return printSkin(w, r)
	}
	return fmt.Errorf("no printer for %T", r)
}
