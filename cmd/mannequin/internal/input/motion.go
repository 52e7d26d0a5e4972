package input

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/offline/mocap"
)

// Motion is the report of import and inspect on a motion file.
type Motion struct {
	File      string  `json:"file"`
	Kind      string  `json:"kind"`
	Channels  int     `json:"channels"` // values per frame
	FrameTime float64 `json:"frame_time"`
	*mocap.Summary
	Up      string   `json:"up,omitempty"` // axis of the ground's height, if that is known not to be y
	Notes   []string `json:"notes"`        // oddities that the reader accepted
	Written string   `json:"written,omitempty"`
}

// MaxTransforms bounds the memory of a resampled clip: 28 bytes each.
const MaxTransforms = 1 << 27

// IsAMC reports whether file is named like an AMC file.
func IsAMC(file string) bool { return mocap.FormatOf(file, nil) == mocap.FormatAMC }

// OpenMotion reads a motion of any format and returns what kind it is.
func OpenMotion(file string, opt mocap.OpenOptions) (b *mocap.Recording, kind string, err error) {
	b, err = mocap.Open(file, opt)
	if errors.Is(err, mocap.ErrNoASF) {
		err = fmt.Errorf("%w with --asf", err)
	}
	if err != nil {
		return nil, "", err
	}
	return b, b.Format.String(), nil
}

// MotionOf describes a recording.
func MotionOf(file, kind string, b *mocap.Recording) *Motion {
	notes := b.Notes
	if notes == nil {
		notes = []string{}
	}
	return &Motion{File: file, Kind: kind, Channels: b.NumChannels(), FrameTime: b.FrameTime,
		Summary: mocap.Summarize(b.Clip), Notes: notes}
}

// Print writes the report as text.
func (r *Motion) Print(w io.Writer) error {
	row, end := cli.List(w)
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
		row("ground", "%s = %.4g (a guess from the lowest joints)", cmp.Or(r.Up, "y"), r.Ground)
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
	check("speeds", r.Fast == 0, "faster than any animal in %d frames: %s", r.Fast, ellipsis(r.FastFrames, r.Fast))
	for _, n := range r.Notes {
		row("note", "%s", n)
	}
	row("written", "%s", r.Written)
	return end()
}

func ellipsis(frames []int, total int) string {
	s := strings.Trim(fmt.Sprint(frames), "[]")
	if len(frames) < total {
		s += " …"
	}
	return s
}

// Resample returns the clip at fps frames per second, or as it is if fps is 0. It refuses a clip
// that would be too large.
func Resample(file string, c *skel.Clip, fps float64) (*skel.Clip, error) {
	if fps == 0 {
		return c, nil
	}
	if n := float64(c.Frames) * fps / c.FPS * float64(c.Skel.Len()); n > MaxTransforms {
		return nil, fmt.Errorf("%s: at %g frames per second its %d joints would take %.3g transforms, at most %d fit", file, fps, c.Skel.Len(), n, MaxTransforms)
	}
	return c.Resampled(fps), nil
}
