// Package inspect has the command that describes files and models.
package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/closest"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/mocap"
)

// New returns the command inspect.
func New() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "inspect FILE|MODEL...",
		Short: "Describe a motion, a model, styles or a skin: its kind, its numbers and its licence",
		Long: `Describe motions (BVH, FBX), models, databases of styles and styles of a crowd (all
safetensors) and skinned meshes (glTF, VRM, FBX). The content decides what a file is. A shipped
model or database is named without a path, one of several characters in a glTF as FILE#NAME.`,
		Example: `  mannequin inspect walk.bvh
  mannequin inspect dog
  mannequin inspect styles-free styles-gram
  mannequin inspect hero.glb
  mannequin inspect town.glb#Guard
  mannequin inspect mine.safetensors --json`,
		Args: command.Want("a file or a model", 1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.ReportFiles(cmd.OutOrStdout(), args, asJSON, func(i int) (cli.Report, error) { return inspectFile(args[i]) })
		},
	}
	cli.JSON(c, &asJSON)
	return c
}

// inspectFile describes a file of any kind that we know.
func inspectFile(file string) (cli.Report, error) {
	if slices.Contains(models.Names(), file) {
		return inspectModel(file)
	}
	if file == input.ShippedStyles {
		return inspectStyles(file)
	}
	if file == input.ShippedTransfers {
		return inspectTransfers(file)
	}
	head, err := input.Head(file)
	if whole, _, ok := cutCharacter(file); ok && errors.Is(err, fs.ErrNotExist) {
		head, err = input.Head(whole)
	}
	if errors.Is(err, fs.ErrNotExist) {
		names := append(models.Names(), input.ShippedStyles, input.ShippedTransfers)
		return nil, fmt.Errorf("%w, nor is it a shipped model, database or styles %q%s", err, names, closest.Hint(file, names))
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
		return r, err
	case input.KindSkin:
		return inspectSkin(file)
	case input.KindFBX:
		return inspectFBX(file)
	}
	if what, advice := mocap.Foreign(head); what != "" {
		return nil, fmt.Errorf("%s: is %s, which is not read: %s", file, what, cmp.Or(advice, "export it as FBX, glTF or BVH"))
	}
	return nil, fmt.Errorf("%s: neither a motion (BVH, FBX, glTF), a model (safetensors) nor a skin (glTF, VRM, FBX)", file)
}
