package main

import (
	"errors"
	"fmt"
	"io"
	"math"
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
	var scale, fps float64
	var out string
	c := &cobra.Command{
		Use:   "import FILE...",
		Short: "Read motion capture, check it, and convert its unit and frame rate",
		Long: `Reads BVH files and says what is in them: frames, joints, channels, extent, and
what looks wrong (bones that change their length, leaps from one frame to the
next). --scale and --fps convert; --out writes the result as a BVH.`,
		Example: `  mannequin import walk.bvh
  mannequin import walk.bvh --json
  mannequin import walk.bvh --scale 0.01 --fps 60 --out walk-metres-60.bvh
  mannequin import takes/*.bvh`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(scale > 0 && scale <= 1e6) {
				return command.Usagef("--scale %g: expected a factor above 0 and up to 1e6", scale)
			}
			if cmd.Flags().Changed("fps") && !(fps >= 1e-3 && fps <= 1e5) {
				return command.Usagef("--fps %g: expected a rate between 0.001 and 100000", fps)
			}
			if out != "" && len(args) > 1 {
				return command.Usagef("--out takes one input file, not %d", len(args))
			}
			if cmd.Flags().Changed("out") && out == "" {
				return command.Usagef("--out is empty")
			}
			imp := func(file string) (*motionReport, error) { return importFile(file, scale, fps, out) }
			return reportFiles(cmd.OutOrStdout(), args, asJSON, imp, printMotion)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().Float64Var(&scale, "scale", 1, "multiply all lengths (0.01 turns centimetres into metres)")
	c.Flags().Float64Var(&fps, "fps", 0, "resample to this many frames per second (default: as in the file)")
	c.Flags().StringVar(&out, "out", "", "write the result to this BVH file")
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

func importFile(file string, scale, fps float64, out string) (*motionReport, error) {
	b, err := mocap.OpenBVH(file)
	if err != nil {
		return nil, err
	}
	if scale != 1 {
		b.Clip = b.Clip.Scaled(float32(scale))
	}
	if fps > 0 {
		if n := float64(b.Clip.Frames) * fps / b.Clip.FPS * float64(b.Clip.Skel.Len()); n > maxTransforms {
			return nil, fmt.Errorf("%s: at %g frames per second its %d joints would take %.3g transforms, at most %d fit", file, fps, b.Clip.Skel.Len(), n, maxTransforms)
		}
		b.Clip = b.Clip.Resampled(fps)
		b.FrameTime = 1 / fps
	}
	r := motionOf(file, b)
	if out != "" {
		if err := atomicfile.Write(out, b.Write); err != nil {
			return nil, err
		}
		r.Written = out
	}
	return r, nil
}

func motionOf(file string, b *mocap.BVH) *motionReport {
	notes := b.Notes
	if notes == nil {
		notes = []string{}
	}
	return &motionReport{File: file, Kind: "BVH motion", Channels: b.NumChannels(), FrameTime: b.FrameTime,
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
