package motion

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/offline/mocap"
)

func newImport() *cobra.Command {
	var asJSON bool
	var opt importOptions
	var ret retargetOptions
	c := &cobra.Command{
		Use:   "import FILE...",
		Short: "Read motion capture, check it, convert its unit and rate, put it on another skeleton",
		Long: `Reads BVH, AMC and TXT files and says what is in them: frames, joints, channels,
extent, and what looks wrong (bones that change their length, leaps from one
frame to the next). --scale and --fps convert; --out writes the result as a BVH.
A TXT is of Human3.6M's exponential maps, 99 numbers a line, in millimetres at 50
frames a second.

An AMC moves the skeleton of an ASF file: that of --asf, or the one beside it
that has its name, or the beginning of its name up to an underscore (35_01.amc
moves 35.asf), or that is the only one there. AMC files do not say their frame
rate: --amc-fps does. In CMU's, --scale 0.0564444 (inches over 0.45) makes
metres.

--retarget puts motions onto the uniform skeleton of people, 25 joints in metres,
and says how far each joint then is from where it was recorded. A profile tells
which joint of the file is which; without --profile it is the built-in one that
fits, or else a guess from the names. --suggest prints that guess as a profile to
edit.`,
		Example: `  mannequin import walk.bvh
  mannequin import walk.bvh --json
  mannequin import walk.bvh --scale 0.01 --fps 60 --out walk-metres-60.bvh
  mannequin import takes/*.bvh
  mannequin import 35_01.amc --scale 0.0564444 --fps 60 --out walk.bvh
  mannequin import walk.amc --asf actor.asf --amc-fps 60
  mannequin import S5_walking_1.txt --retarget --out walk-human.bvh
  mannequin import walk.bvh --retarget --fps 60 --out walk-human.bvh
  mannequin import takes/*.bvh --retarget
  mannequin import rig.bvh --suggest > rig.toml
  mannequin import rig.bvh --retarget --profile rig.toml --out rig-human.bvh`,
		Args: command.Want("a motion file", 1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(opt.scale > 0 && opt.scale <= 1e6) {
				return command.Usagef("--scale %g: expected a factor above 0 and up to 1e6", opt.scale)
			}
			if cmd.Flags().Changed("fps") && !(opt.fps >= 1e-3 && opt.fps <= 1e5) {
				return command.Usagef("--fps %g: expected a rate between 0.001 and 100000", opt.fps)
			}
			if !(opt.amcFPS >= 1e-3 && opt.amcFPS <= 1e5) {
				return command.Usagef("--amc-fps %g: expected a rate between 0.001 and 100000", opt.amcFPS)
			}
			if opt.out != "" && len(args) > 1 {
				return command.Usagef("--out takes one input file, not %d", len(args))
			}
			for _, name := range []string{"out", "asf", "profile"} {
				if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
					return command.Usagef("--%s is empty", name)
				}
			}
			for _, name := range []string{"asf", "amc-fps"} {
				if cmd.Flags().Changed(name) && !slices.ContainsFunc(args, input.IsAMC) {
					return command.Usagef("--%s is for AMC files, and none is given", name)
				}
			}
			if err := ret.check(cmd, args); err != nil {
				return err
			}
			switch {
			case ret.suggest:
				return suggestFile(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], asJSON, opt)
			case ret.on:
				return retargetFiles(cmd.OutOrStdout(), args, asJSON, opt, ret)
			}
			imp := func(file string) (*input.Motion, error) { return importFile(file, opt) }
			return cli.ReportFiles(cmd.OutOrStdout(), args, asJSON, imp, input.PrintMotion)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().Float64Var(&opt.scale, "scale", 1, "multiply all lengths (0.01 turns centimetres into metres)")
	c.Flags().Float64Var(&opt.fps, "fps", 0, "resample to this many frames per second (default: as in the file)")
	c.Flags().StringVar(&opt.out, "out", "", "write the result to this BVH file")
	c.Flags().StringVar(&opt.asf, "asf", "", "the skeleton that AMC files move (default: the one beside each)")
	ret.flags(c)
	c.Flags().Float64Var(&opt.amcFPS, "amc-fps", mocap.AMCRate, "frames per second of AMC files, which do not say it")
	return c
}

// importOptions are the flags of import that say how a file is read, what
// becomes of it and where it goes.
type importOptions struct {
	scale  float64
	fps    float64 // 0: as in the file
	out    string
	asf    string // empty: the one beside the AMC
	amcFPS float64
}

func importFile(file string, opt importOptions) (*input.Motion, error) {
	b, kind, err := input.OpenMotion(file, opt.asf, opt.amcFPS)
	if err != nil {
		return nil, err
	}
	if opt.scale != 1 {
		b.Clip = b.Clip.Scaled(float32(opt.scale))
	}
	if fps := opt.fps; fps > 0 {
		if n := float64(b.Clip.Frames) * fps / b.Clip.FPS * float64(b.Clip.Skel.Len()); n > input.MaxTransforms {
			return nil, fmt.Errorf("%s: at %g frames per second its %d joints would take %.3g transforms, at most %d fit", file, fps, b.Clip.Skel.Len(), n, input.MaxTransforms)
		}
		b.Clip = b.Clip.Resampled(fps)
		b.FrameTime = 1 / fps
	}
	r := input.MotionOf(file, kind, b)
	if opt.out != "" {
		if err := atomicfile.Write(opt.out, b.Write); err != nil {
			return nil, err
		}
		r.Written = opt.out
	}
	return r, nil
}
