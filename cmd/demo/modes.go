package main

import (
	"slices"
	"strings"

	"mannequin/internal/command"
	"mannequin/scenes/open"
)

// setupFlags are the flags with a scene's setup: the keys of open.Setup.
var setupFlags = []string{"scene", "agents", "styled", "churn", "kinds", "terrain", "seed", "bf16", "model", "far", "manifold", "footstep", "locomotion", "latent", "next", "strnn", "keypose", "script", "character"}

// networkFlags are the flags with networks, the scenes that use them, and the kind of agent in the
// scene crowd that does.
var networkFlags = []struct {
	flags, scenes []string
	kind          string
}{
	{[]string{"model"}, []string{"quadruped", "course", "crowd", "herd", "cutscene"}, "dogs"},
	{[]string{"far"}, []string{"quadruped", "course", "crowd", "herd"}, "dogs"},
	{[]string{"manifold", "footstep", "locomotion"}, []string{"crowd", "people", "cutscene"}, "lanes"},
	{[]string{"latent", "next"}, []string{"crowd", "latent"}, "sliders"},
	{[]string{"strnn"}, []string{"course", "crowd", "strnn"}, "predicted"},
	{[]string{"keypose"}, []string{"crowd"}, "performing"},
}

// pictureFlags are the flags that need pictures.
var pictureFlags = []string{"out", "bvh", "width", "height", "fps"}

// conflicts returns an error if flags that were given cannot be combined.
func (o *options) conflicts(given func(flag string) bool) error {
	refuse := func(with, why string, flags ...string) error {
		for _, f := range flags {
			if given(with) && given(f) {
				return command.Usagef("--%s with --%s: %s", f, with, why)
			}
		}
		return nil
	}
	for _, err := range []error{
		refuse("replay", "the tape holds the scene's setup", setupFlags...),
		refuse("replay", "a tape repeats each bit, and a GPU's bits are not the processor's", "gpu-beyond"),
		refuse("record", "a tape repeats each bit, and a GPU's bits are not the processor's", "gpu-beyond"),
		refuse("skin", "agents on the GPU are drawn with their own bodies only", "gpu-beyond"),
		refuse("replay", "a tape is either recorded or played", "record"),
		refuse("replay", "--verify plays a tape without pictures", "no-render"),
		refuse("verify", "nothing is drawn", pictureFlags...),
		refuse("verify", "the whole tape is verified", "seconds"),
		refuse("no-render", "nothing is drawn", pictureFlags...),
	} {
		if err != nil {
			return err
		}
	}
	for _, n := range networkFlags {
		has := slices.Contains(n.scenes, o.setup.Scene) || !slices.Contains(open.Names, o.setup.Scene)
		for _, f := range n.flags {
			switch {
			case !given(f):
			case has && o.setup.Scene == "crowd" && !o.setup.HasKind(n.kind):
				return command.Usagef("--%s: none of --kinds %s has such a network: add %s", f, strings.Join(o.setup.Kinds, ","), n.kind)
			case !has:
				return command.Usagef("--%s: the scene %s has no such network: want --scene %s", f, o.setup.Scene, strings.Join(n.scenes, " or "))
			}
		}
	}
	switch {
	case given("script") && o.setup.Scene != "cutscene":
		return command.Usagef("--script: it is the scene cutscene that plays one; add --scene cutscene")
	case given("bvh") && o.setup.Scene != "latent" && !given("replay"):
		return command.Usagef("--bvh: it is the scene latent that writes one; add --scene latent")
	case o.setup.Scene == "cutscene" && (given("agents") || given("terrain") || given("seed")):
		return command.Usagef("--agents, --terrain and --seed with --scene cutscene: the script sets them")
	case o.verify && o.replay == "":
		return command.Usagef("--verify needs --replay")
	case o.json && !o.noRender:
		return command.Usagef("--json needs --no-render")
	}
	return nil
}
