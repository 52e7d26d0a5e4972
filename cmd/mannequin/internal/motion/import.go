package motion

import (
	"slices"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/offline/retarget"
)

func newImport() *cobra.Command {
	var asJSON bool
	var opt importOptions
	c := &cobra.Command{
		Use:   "import FILE...",
		Short: "Read motion capture: check it, convert its unit and rate, retarget it",
		Long: `Read BVH, glTF, AMC and TXT files and report frames, joints, channels, extent and faults (bones that
change their length, leaps from frame to frame). --scale and --fps convert, --out writes the
result as BVH: a file, or a folder if several files are read. A TXT holds Human3.6M's exponential
maps, 99 numbers a line, in millimetres at 50 frames a second.

An AMC file moves the skeleton of an ASF file: of --asf, or the one beside it with its name, or
with the beginning of its name up to an underscore (35_01.amc moves 35.asf), or the only one
there. For CMU's, --scale 0.0564444 (inches over 0.45) makes metres.

--frame-rate is the rate of a file that has none, as AMC, or a wrong one; --fps resamples. --up z
turns a file with z up. Of a file with several characters --root takes one. --salvage keeps the
whole frames of a damaged file.

--retarget puts motions onto the uniform skeleton of people, 25 joints in metres, and reports the
distance of each joint from the recorded one. A profile maps the file's joints to ours. Without
--profile it is the built-in one that fits, or else a guess from the names. --suggest prints that
guess as a profile to edit. Where up is, which side is left and how joints are turned is found from
the rest pose and the motion.`,
		Example: `  mannequin import walk.bvh
  mannequin import walk.bvh --json
  mannequin import walk.bvh --scale 0.01 --fps 60 --out walk-metres-60.bvh
  mannequin import takes/*.bvh
  mannequin import 35_01.amc --scale 0.0564444 --fps 60 --out walk.bvh
  mannequin import walk.amc --asf actor.asf --frame-rate 60
  mannequin import cut-off.bvh --salvage --out whole.bvh
  mannequin import wrong-rate.bvh --frame-rate 30 --fps 60 --out walk-60.bvh
  mannequin import actions.glb --animation Wave --retarget --out wave.bvh
  mannequin import wolf.fbx --animation Walking --out wolf-walk.bvh
  mannequin import S5_walking_1.txt --retarget --out walk-human.bvh
  mannequin import walk.bvh --retarget --fps 60 --out walk-human.bvh
  mannequin import takes/*.bvh --retarget --out human
  mannequin import rig.bvh --suggest > rig.toml
  mannequin import rig.bvh --retarget --profile rig.toml --out rig-human.bvh`,
		Args: command.Want("a motion file", 1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opt.check(cmd, args); err != nil {
				return err
			}
			if opt.suggest {
				return suggestFile(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], asJSON, opt)
			}
			outs := make([]string, len(args)) // nothing is written
			if opt.out != "" {
				var err error
				if outs, err = cli.Outputs(cmd, args, opt.out, ".bvh"); err != nil {
					return err
				}
			}
			if opt.retarget {
				return retargetFiles(cmd.OutOrStdout(), args, outs, asJSON, opt)
			}
			return cli.ReportFiles(cmd.OutOrStdout(), args, asJSON, func(i int) (cli.Report, error) { return importFile(args[i], outs[i], opt) })
		},
	}
	cli.JSON(c, &asJSON)
	command.Number(c, &opt.scale, "scale", 1, command.Positive, 1e6, "factor for all lengths; 0.01 turns centimetres into metres")
	command.Number(c, &opt.fps, "fps", 0, 1e-3, 1e5, "frames per second to resample to (default: as in the file)")
	command.Output(c, &opt.out, "out", command.Either, "BVH `file` to write; a folder if several are read")
	c.Flags().BoolVar(&opt.retarget, "retarget", false, "put the motion onto the uniform skeleton and report the joints' errors")
	input.Reading(c, &opt.read)
	c.Flags().BoolVar(&opt.suggest, "suggest", false, "print a guess at the profile of an unknown skeleton")
	return c
}

// importOptions are the flags of import.
type importOptions struct {
	scale, fps float64 // fps 0: as in the file
	out        string
	retarget   bool
	suggest    bool
	read       retarget.Reading
}

// check returns an error for flags that cannot be combined.
func (o *importOptions) check(cmd *cobra.Command, args []string) error {
	changed := cmd.Flags().Changed
	if !slices.ContainsFunc(args, input.IsAMC) {
		if err := cli.Unused(cmd, "is for AMC files, and none is given", "asf"); err != nil {
			return err
		}
	}
	switch {
	case o.retarget && o.suggest:
		return command.Usagef("--retarget and --suggest: take one of them")
	case (o.retarget || o.suggest) && changed("scale"):
		return command.Usagef("--scale is of no use with --retarget and --suggest: the legs give the scale")
	case o.suggest && changed("fps"):
		return command.Usagef("--fps is of no use with --suggest")
	case o.suggest && len(args) > 1:
		return command.Usagef("--suggest takes one input file, not %d", len(args))
	case !o.retarget && o.read.Profile != nil:
		return command.Usagef("--profile is for --retarget")
	}
	return nil
}

func importFile(file, out string, opt importOptions) (*input.Motion, error) {
	b, kind, err := input.OpenMotion(file, opt.read.OpenOptions)
	if err != nil {
		return nil, err
	}
	if opt.fps > 0 {
		if err := b.CheckRate(); err != nil {
			return nil, err
		}
	}
	if opt.scale != 1 {
		b.Clip = b.Clip.Scaled(float32(opt.scale))
	}
	if b.Clip, err = input.Resample(file, b.Clip, opt.fps); err != nil {
		return nil, err
	}
	if opt.fps > 0 {
		b.FrameTime = 1 / opt.fps
	}
	r := input.MotionOf(file, kind, b)
	if out != "" {
		if err := atomicfile.Write(out, b.Write); err != nil {
			return nil, err
		}
		r.Written = out
	}
	return r, nil
}
