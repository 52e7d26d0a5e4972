package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/offline/mocap"
)

// motionReport is what import and inspect say about a motion file.
type motionReport struct {
	File      string  `json:"file"`
	Kind      string  `json:"kind"`
	Channels  int     `json:"channels"` // values per frame
	FrameTime float64 `json:"frame_time"`
	*mocap.Summary
	Notes   []string `json:"notes"` // oddities that the reader read over
	Written string   `json:"written,omitempty"`
}

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
				if cmd.Flags().Changed(name) && !slices.ContainsFunc(args, isAMC) {
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
			imp := func(file string) (*motionReport, error) { return importFile(file, opt) }
			return reportFiles(cmd.OutOrStdout(), args, asJSON, imp, printMotion)
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

// reportFiles reports each file. Several files in JSON become one object with
// an array; a file that cannot be read does not keep the others from their
// report, but makes an error in the end.
func reportFiles[R any](w io.Writer, files []string, asJSON bool, read func(string) (R, error), print func(io.Writer, R) error) error {
	var reports []any
	var errs []error
	for _, file := range files {
		r, err := read(file)
		if err != nil {
			if len(files) == 1 {
				return err
			}
			errs = append(errs, err)
			reports = append(reports, map[string]string{"file": file, "error": err.Error()})
			continue
		}
		reports = append(reports, r)
		if asJSON {
			continue
		}
		if err := print(w, r); err != nil {
			return err
		}
		if len(files) > 1 {
			fmt.Fprintln(w)
		}
	}
	if asJSON {
		var v any = map[string]any{"files": reports}
		if len(reports) == 1 {
			v = reports[0]
		}
		if err := printJSON(w, v); err != nil {
			return err
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("%d of %d files failed: %w", len(errs), len(files), errors.Join(errs...))
	}
	return nil
}

// maxTransforms bounds the memory of a resampled clip: 28 bytes each.
const maxTransforms = 1 << 27

// importOptions are the flags of import that say how a file is read, what
// becomes of it and where it goes.
type importOptions struct {
	scale  float64
	fps    float64 // 0: as in the file
	out    string
	asf    string // empty: the one beside the AMC
	amcFPS float64
}

// isAMC reports whether file is called like an AMC.
func isAMC(file string) bool { return mocap.FormatOf(file, nil) == mocap.FormatAMC }

// openMotion reads a motion of any format and returns what kind it is.
func openMotion(file string, opt importOptions) (b *mocap.Recording, kind string, err error) {
	b, err = mocap.Open(file, mocap.OpenOptions{ASF: opt.asf, AMCFPS: opt.amcFPS})
	if errors.Is(err, mocap.ErrNoASF) {
		err = fmt.Errorf("%w with --asf", err)
	}
	if err != nil {
		return nil, "", err
	}
	return b, b.Format.String(), nil
}

func importFile(file string, opt importOptions) (*motionReport, error) {
	b, kind, err := openMotion(file, opt)
	if err != nil {
		return nil, err
	}
	if opt.scale != 1 {
		b.Clip = b.Clip.Scaled(float32(opt.scale))
	}
	if fps := opt.fps; fps > 0 {
		if n := float64(b.Clip.Frames) * fps / b.Clip.FPS * float64(b.Clip.Skel.Len()); n > maxTransforms {
			return nil, fmt.Errorf("%s: at %g frames per second its %d joints would take %.3g transforms, at most %d fit", file, fps, b.Clip.Skel.Len(), n, maxTransforms)
		}
		b.Clip = b.Clip.Resampled(fps)
		b.FrameTime = 1 / fps
	}
	r := motionOf(file, kind, b)
	if opt.out != "" {
		if err := atomicfile.Write(opt.out, b.Write); err != nil {
			return nil, err
		}
		r.Written = opt.out
	}
	return r, nil
}

func motionOf(file, kind string, b *mocap.Recording) *motionReport {
	notes := b.Notes
	if notes == nil {
		notes = []string{}
	}
	return &motionReport{File: file, Kind: kind, Channels: b.NumChannels(), FrameTime: b.FrameTime,
		Summary: mocap.Summarize(b.Clip), Notes: notes}
}

// printMotion writes a report for people.
func printMotion(w io.Writer, r *motionReport) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	row("file", "%s", r.File)
	row("kind", "%s", r.Kind)
	row("motion", "%d frames at %.6g per second = %.3f s", r.Frames, r.FPS, r.Seconds)
	row("skeleton", "%d joints, %d End Sites, %d channels, root %s", r.Joints, r.EndSites, r.Channels, strings.Join(r.Roots, ", "))
	unit := "unknown"
	if r.Unit.Metres > 0 {
		unit = fmt.Sprintf("%s (a guess from the longest chain of bones, %.4g); --scale %.6g makes metres", r.Unit.Name, r.Reach, r.Unit.Metres)
		if r.Unit.Metres == 1 {
			unit = fmt.Sprintf("metre (a guess from the longest chain of bones, %.4g)", r.Reach)
		}
	}
	row("unit", "%s", unit)
	if r.Frames > 0 {
		row("extent", "x %.4g to %.4g, y %.4g to %.4g, z %.4g to %.4g", r.BoundsMin[0], r.BoundsMax[0], r.BoundsMin[1], r.BoundsMax[1], r.BoundsMin[2], r.BoundsMax[2])
		row("ground", "y = %.4g (a guess from the lowest joints)", r.Ground)
	}
	check := func(name string, ok bool, format string, args ...any) {
		if ok {
			row(name, "ok")
		} else {
			row(name, format, args...)
		}
	}
	check("finite", r.Finite, "no: some transforms are not numbers")
	check("bones", r.BoneWorst == "", "%s changes its distance to its parent by %.3g %%", r.BoneWorst, 100*math.Min(float64(r.BoneChange), 1))
	check("leaps", r.Jumps == 0, "%d, at frames %s", r.Jumps, ellipsis(r.JumpFrames, r.Jumps))
	for _, n := range r.Notes {
		row("note", "%s", n)
	}
	if r.Written != "" {
		row("written", "%s", r.Written)
	}
	return t.Flush()
}

func ellipsis(frames []int, total int) string {
	s := strings.Trim(fmt.Sprint(frames), "[]")
	if len(frames) < total {
		s += " …"
	}
	return s
}
