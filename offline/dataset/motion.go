package dataset

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Motion is a set of recordings as frames of joint positions (feature.Motion) at
// Rate frames per second, all on one skeleton: what convolutional networks learn
// from, in windows.
type Motion struct {
	Layout   *feature.Motion
	Skeleton *skel.Skeleton // what the frames are motions of; metres
	Source   *Source        // what the first folder says of itself; nil where it has no SourceFile

	Clips   []MotionClip // even: clip c + len(Clips)/2 is the mirror image of clip c
	Windows []Window     // ascending
	Length  int          // frames of a window
	Margin  int          // of them, at both ends, that nothing is learnt from: filters that reach over the end see frames of zeros there

	// Mean and deviation per column over all training frames (Holden et al.
	// 2016, sec. 4.2): positions share one deviation, that of all positions from
	// their means; the body's motion has mean 0, and contacts mean and deviation
	// 1/2, which makes them −1 and 1. A held-out set has its training set's.
	Mean, Std []float32
}

// MotionClip is one recording.
type MotionClip struct {
	Name   string    // folder/file, without extension
	Frames int       //
	Rows   []float32 // (Frames, Layout.Columns())
	Mirror bool
	Poses  *skel.Clip // the same frames as rotations of Skeleton's joints; nil unless MotionOptions.Poses
}

// Window is a stretch of a clip, Motion.Length frames from From on. It may begin
// before the clip does, and end after it.
type Window struct{ Clip, From int32 }

// Rate is the rate of a motion's frames, per second, in the networks of Holden
// et al. 2016.
const Rate = 60

// MotionOptions says how BuildMotion reads recordings. The zero value is right
// for CMU's.
type MotionOptions struct {
	Layout   *feature.Motion // nil: feature.Human()
	Only     []string        // patterns of path.Match of folder/file names, without extension, to read; nil: all
	HeldOut  []string        // the same, of those that train must not see; nil: what the folders' SourceFiles say, else CMUHeldOut
	Length   int             // frames of a window; 0: 240
	Margin   int             // frames at both ends of a window that nothing is learnt from; 0: 24
	Whole    bool            // windows lie wholly in a steady stretch of their clip and have no margin; stretches are clips of their own
	Hop      int             // frames from a window to the next; 0: half of what is learnt from
	Shortest int             // frames of the shortest clip to take; 0: 30
	Fast     float64         // m/s from which the mean speed of a window's frames is a run; 0: 2
	Repeat   int             // visits per epoch of a window of running; 0: 1
	Stand    int             // frames for which each posture of who stands is held, as a clip of its own; 0: none
	Poses    bool            // keep the recordings' rotations, too; not with Stand or Whole
	Workers  int             // goroutines; 0: all processors. The result does not depend on it
}

func (o MotionOptions) withDefaults() MotionOptions {
	if o.Layout == nil {
		o.Layout = feature.Human()
	}
	def(&o.Length, 240)
	if !o.Whole {
		def(&o.Margin, 24)
	}
	def(&o.Hop, (o.Length-2*o.Margin+1)/2)
	def(&o.Shortest, Rate/2)
	def(&o.Fast, 2)
	def(&o.Repeat, 1)
	def(&o.Workers, runtime.GOMAXPROCS(0))
	return o
}

func (o MotionOptions) check() error {
	switch {
	case o.Whole && o.Margin != 0:
		return fmt.Errorf("dataset: Margin is %d, want 0 for whole windows", o.Margin)
	case o.Margin < 0 || o.Length <= 2*o.Margin:
		return fmt.Errorf("dataset: Length is %d frames and Margin %d, want 0 or more, and more than twice that", o.Length, o.Margin)
	case o.Hop < 1:
		return fmt.Errorf("dataset: Hop is %d frames, want at least 1", o.Hop)
	case o.Shortest < 1:
		return fmt.Errorf("dataset: Shortest is %d frames, want at least 1", o.Shortest)
	case !(o.Fast > 0):
		return fmt.Errorf("dataset: Fast is %g m/s, want more than 0", o.Fast)
	case o.Repeat < 1 || o.Repeat > 1000:
		return fmt.Errorf("dataset: Repeat is %d, want 1 to 1000", o.Repeat)
	case o.Stand < 0 || o.Stand > 3600*Rate:
		return fmt.Errorf("dataset: Stand is %d frames, want 0 to an hour's", o.Stand)
	case o.Poses && (o.Stand > 0 || o.Whole):
		return fmt.Errorf("dataset: Poses with Stand or Whole: postures that are held, and stretches, have no rotations")
	case o.Workers < 1:
		return fmt.Errorf("dataset: Workers is %d, want at least 1", o.Workers)
	}
	for _, p := range slices.Concat(o.Only, o.HeldOut) {
		if _, err := filepath.Match(p, ""); err != nil {
			return fmt.Errorf("dataset: %q is no pattern of names: %w", p, err)
		}
	}
	return o.Layout.Validate()
}

// Window fills dst, (Length, columns), with the normalised rows of clip c from
// frame from on, which may be negative. Before and after a clip its first and
// last row go on: the pose is held, the body moves on. Frames first to end−1 of
// dst are those to learn from: of the clip, and not in a margin.
func (m *Motion) Window(dst []float32, c, from int) (first, end int) {
	cols := m.Layout.Columns()
	clip := &m.Clips[c]
	for f := range m.Length {
		at := min(max(from+f, 0), clip.Frames-1)
		row, out := clip.Rows[at*cols:][:cols], dst[f*cols:][:cols]
		for i, v := range row {
			out[i] = (v - m.Mean[i]) / m.Std[i]
		}
	}
	return max(m.Margin, -from), min(m.Length-m.Margin, clip.Frames-from)
}

// windows cuts all clips: every frame is learnt from at least once, and from
// windows faster than fast repeat times as often.
func (m *Motion) windows(hop int, fast float64, repeat int) {
	for c, clip := range m.Clips {
		learnt := m.Length - 2*m.Margin
		for from := -m.Margin; ; from += hop {
			visits := 1
			if m.speed(c, from+m.Margin, from+m.Margin+learnt) > fast {
				visits = repeat
			}
			for range visits {
				m.Windows = append(m.Windows, Window{int32(c), int32(from)})
			}
			if from+m.Margin+learnt >= clip.Frames {
				break
			}
		}
	}
}

// whole cuts all clips into windows that lie inside of them: a clip's last one ends
// with it.
func (m *Motion) whole(hop int, fast float64, repeat int) {
	for c, clip := range m.Clips {
		last := clip.Frames - m.Length
		for from := 0; last >= 0; from = min(from+hop, last) {
			visits := 1
			if m.speed(c, from, from+m.Length) > fast {
				visits = repeat
			}
			for range visits {
				m.Windows = append(m.Windows, Window{int32(c), int32(from)})
			}
			if from == last {
				break
			}
		}
	}
}

// Who turns round in an instant has no facing there: it is smoothed, and jumps
// from one side to the other. What is so near to such a jump shows a body that
// turns under a frame that does not.
const (
	jumpSpeed = 7  // rad/s
	jumpReach = 20 // frames
)

// steady returns the stretches of a clip without such jumps that have at least so
// many frames.
func (c *MotionClip) steady(l *feature.Motion, atLeast int) (out []MotionClip) {
	cols, yaw, from := l.Columns(), l.Body()+feature.MotionYaw, 0
	cut := func(to int) {
		if to-from >= atLeast {
			part := *c
			part.Frames, part.Rows = to-from, c.Rows[from*cols:to*cols]
			out = append(out, part)
		}
	}
	for f := range c.Frames {
		if math.Abs(float64(c.Rows[f*cols+yaw])) > jumpSpeed {
			cut(f - jumpReach)
			from = f + jumpReach
		}
	}
	cut(c.Frames)
	return out
}

// speed returns the mean speed of the body in frames from to end−1 of clip c, as
// far as it has them, m/s.
func (m *Motion) speed(c, from, end int) float64 {
	cols, at := m.Layout.Columns(), m.Layout.Body()
	sum, n := 0.0, 0
	for f := max(0, from); f < min(end, m.Clips[c].Frames); f++ {
		row := m.Clips[c].Rows[f*cols+at:]
		sum += math.Hypot(float64(row[feature.MotionX]), float64(row[feature.MotionZ]))
		n++
	}
	return sum / float64(max(1, n))
}

// rowsOf returns the frames of a clip, already on skeleton sk, and where the
// first one stands.
func rowsOf(l *feature.Motion, sk *skel.Skeleton, clip *skel.Clip) ([]float32, feature.Place, error) {
	at := make([]int, len(l.Joints))
	for i, name := range l.Joints {
		if at[i] = sk.Index(name); at[i] < 0 {
			return nil, feature.Place{}, fmt.Errorf("the skeleton has no joint %q", name)
		}
	}
	world := make([]m3.Vec3, clip.Frames*len(at))
	model := make([]m3.Xform, sk.Len())
	for f := range clip.Frames {
		clip.Model(model, f)
		for i, j := range at {
			world[f*len(at)+i] = model[j].Pos
		}
	}
	rows := make([]float32, clip.Frames*l.Columns())
	start, err := l.FromWorld(rows, world, clip.FPS)
	return rows, start, err
}

// mirror adds the mirror image of every clip.
func (m *Motion) mirror() error {
	cols, err := m.Layout.MirrorColumns()
	if err != nil {
		return err
	}
	pairs, err := skel.NewMirror(m.Skeleton)
	if err != nil {
		return err
	}
	for _, c := range m.Clips {
		image := c
		image.Mirror, image.Rows = true, make([]float32, len(c.Rows))
		for f := range c.Frames {
			feature.Mirror(image.Rows[f*len(cols):][:len(cols)], c.Rows[f*len(cols):][:len(cols)], cols)
		}
		if c.Poses != nil {
			image.Poses = c.Poses.Mirrored(pairs)
		}
		m.Clips = append(m.Clips, image)
	}
	return nil
}

// normalise sets Mean and Std from the clips.
func (m *Motion) normalise(workers int) {
	cols := m.Layout.Columns()
	var all []float32
	for _, c := range m.Clips {
		all = append(all, c.Rows...)
	}
	m.Mean, m.Std = meanStd(all, cols, workers)
	square := 0.0
	for _, s := range m.Std[:m.Layout.Body()] {
		if s != 1 { // a constant column's deviation is 0
			square += float64(s) * float64(s)
		}
	}
	std := float32(math.Sqrt(square / float64(m.Layout.Body())))
	for i := range m.Layout.Body() {
		m.Std[i] = std
	}
	for i := range feature.MotionLen {
		c := m.Layout.Body() + i // the deviation from 0
		if m.Std[c] == 1 {
			m.Std[c] = 0
		}
		m.Std[c] = float32(math.Hypot(float64(m.Std[c]), float64(m.Mean[c])))
		if m.Mean[c] = 0; m.Std[c] < constant {
			m.Std[c] = 1
		}
	}
	for i := range m.Layout.Contacts {
		m.Mean[m.Layout.Contact(i)], m.Std[m.Layout.Contact(i)] = 0.5, 0.5
	}
}

// files lists the recordings in dirs, as folder/file and paths, in the order of
// folders and then of names.
func files(dirs []string, opt MotionOptions) (names, paths []string, err error) {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, nil, fmt.Errorf("dataset: %w: give a folder of recordings", err)
		}
		for _, e := range entries {
			ext := strings.ToLower(filepath.Ext(e.Name()))
			if e.IsDir() || ext != ".bvh" && ext != ".amc" {
				continue
			}
			abs, err := filepath.Abs(dir)
			if err != nil {
				return nil, nil, err
			}
			name := filepath.Base(abs) + "/" + strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
			if opt.Only == nil || matchesAny(opt.Only, name) {
				names, paths = append(names, name), append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	return names, paths, nil
}

// matchesAny reports whether a pattern matches the name, with or without its
// folder.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		whole, _ := filepath.Match(p, name)
		file, _ := filepath.Match(p, filepath.Base(name))
		return whole || file
	})
}
