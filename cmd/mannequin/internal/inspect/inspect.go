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
	"mannequin/animsys/matching"
	"mannequin/animsys/skin"
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
	var opt options
	c := &cobra.Command{
		Use:   "inspect FILE|MODEL...",
		Short: "Describe a motion, a model, styles, a character or a skin: its kind, its numbers and its licence",
		Long: `Describe motions (BVH, FBX), models, databases of styles, styles of a crowd and characters of make (all
safetensors) and skinned meshes (glTF, VRM, FBX). The content decides what a file is. A shipped
model or database is named without a path, one of several characters in a glTF as FILE#NAME.

Of a character or a motion it tells which joints are hips, spine, head, legs, arms, wings and tail, and
how they were found (docs/rigs.md). --picture draws it at rest and in two test poses, from the front and
from the right, with joints coloured by role. --profile corrects the roles.`,
		Example: `  mannequin inspect walk.bvh
  mannequin inspect dog
  mannequin inspect styles-free styles-gram
  mannequin inspect hero.glb
  mannequin inspect town.glb#Guard
  mannequin inspect hound.fbx --picture hound.png
  mannequin inspect hero.glb --profile hero.toml --picture hero.png
  mannequin inspect mine.safetensors --json`,
		Args: command.Want("a file or a model", 1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opt.picture != "" && len(args) > 1 {
				return command.Usagef("--picture is for one file, and %d are given", len(args))
			}
			if opt.profile != "" {
				var err error
				if opt.as, err = skin.OpenMap(opt.profile); err != nil {
					return err
				}
			}
			return cli.ReportFiles(cmd.OutOrStdout(), args, asJSON, func(i int) (cli.Report, error) { return inspectFile(args[i], &opt) })
		},
	}
	cli.JSON(c, &asJSON)
	c.Flags().StringVar(&opt.picture, "picture", "", "PNG `file` to draw a character or a motion's skeleton to, with joints coloured by role")
	c.Flags().StringVar(&opt.profile, "profile", "", "TOML `file` that maps joints of the uniform skeleton to the file's, where the roles are not right (docs/rigs.md)")
	input.File(c, &opt.read)
	return c
}

// options are the flags for characters and motions.
type options struct {
	picture, profile string
	as               map[string]string // of the profile
	read             mocap.OpenOptions
}

// refuse returns an error if flags are given that what has no use for.
func (o *options) refuse(file, what string) error {
	switch {
	case o.picture != "":
		return command.Usagef("--picture is for characters and motions: %s is %s", file, what)
	case o.profile != "":
		return command.Usagef("--profile is for characters and motions: %s is %s", file, what)
	}
	return nil
}

// inspectFile describes a file of any kind that we know.
func inspectFile(file string, opt *options) (cli.Report, error) {
	if slices.Contains(models.Names(), file) || slices.Contains(models.Characters(), file) || file == input.ShippedStyles || file == input.ShippedTransfers {
		if err := opt.refuse(file, "none"); err != nil {
			return nil, err
		}
	}
	if slices.Contains(models.Names(), file) {
		return inspectModel(file)
	}
	if slices.Contains(models.Characters(), file) {
		return inspectCharacter(file)
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
		names := append(slices.Concat(models.Names(), models.Characters()), input.ShippedStyles, input.ShippedTransfers)
		return nil, fmt.Errorf("%w, nor is it a shipped model, character, database or styles %q%s", err, names, closest.Hint(file, names))
	}
	if err != nil {
		return nil, err
	}
	if what, advice := mocap.Foreign(head); what != "" && !input.Known(head) { // whatever its name
		return nil, fmt.Errorf("%s: is %s, which is not read: %s", file, what, cmp.Or(advice, "export it as FBX, glTF or BVH"))
	}
	switch input.KindOf(head, file) {
	case input.KindBVH:
		b, kind, err := input.OpenMotion(file, opt.read)
		if err != nil {
			return nil, err
		}
		return motionReport(file, kind, b, opt)
	case input.KindModel:
		if err := opt.refuse(file, "a model"); err != nil {
			return nil, err
		}
		r, err := inspectModel(file)
		var other *netruntime.UnsupportedError
		if errors.As(err, &other) && other.Got == mar.Arch {
			return inspectStyles(file)
		}
		if errors.As(err, &other) && other.Got == matching.Arch {
			return inspectCharacter(file)
		}
		if errors.As(err, &other) && other.Got == manifold.ArchStyleSet {
			return inspectTransfers(file)
		}
		return r, err
	case input.KindSkin:
		return inspectSkin(file, opt)
	case input.KindFBX:
		return inspectFBX(file, opt)
	}
	return nil, fmt.Errorf("%s: neither a motion (BVH, FBX, glTF), a model (safetensors) nor a skin (glTF, VRM, FBX)", file)
}
