package dataset

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/offline/retarget"
)

// MotionSet is a set of recordings as frames of joint positions (feature.Motion) at Rate frames per
// second, all on one skeleton. Convolutional networks learn from it in windows.
type MotionSet struct {
	Layout   *feature.Motion
	Skeleton *skel.Skeleton // of the frames; metres
	Source   *Source        // the first folder's description; nil if it has no SourceFile

	Clips   []MotionClip // even: clip c + len(Clips)/2 is the mirror image of clip c
	Windows []Window     // ascending
	Length  int          // frames of a window
	Margin  int          // frames at both ends of a window that are not learnt from: filters that reach over the end see zeros there

	Warnings []Warning // of all recordings, in a training set alone

	// Mean and deviation per column over all training frames (Holden et al.
	// 2016, sec. 4.2). Positions share one deviation, computed from all positions'
	// distances to their means. The body's motion has mean 0. Contacts have mean and
	// deviation 1/2, so they become −1 and 1. A held-out set has its training set's.
	Mean, Std []float32
}

// MotionClip is one recording.
type MotionClip struct {
	Name   string // folder/file, without extension
	Frames int
	Rows   []float32 // (Frames, Layout.Columns())
	Mirror bool
	Poses  *skel.Clip // the same frames as joint rotations of Skeleton; nil unless MotionOptions.Poses
}

// Window is a stretch of a clip, Motion.Length frames from From on. It may begin
// before the clip does, and end after it.
type Window struct{ Clip, From int32 }

// Rate is the frame rate of a motion set, frames per second, as in Holden et al. 2016.
const Rate = 60

// MotionOptions says how BuildMotion reads recordings. The zero value is right for CMU's.
type MotionOptions struct {
	Layout   *feature.Motion  // nil: feature.Human()
	Read     retarget.Reading // how the recordings are read
	Only     []string         // patterns (path.Match) of folder/file or file names, without extension, to read; nil: all
	Skip     []string         // patterns of recordings to leave out, also of those that Only names
	HeldOut  []string         // patterns of the recordings to hold out; nil: as the folders' SourceFiles say, else HeldOut
	Length   int              // frames of a window; 0: 240
	Margin   int              // frames at both ends of a window that are not learnt from; 0: 24
	Whole    bool             // windows lie inside a steady stretch of their clip and have no margin; each stretch becomes a clip
	Hop      int              // frames from a window to the next; 0: half of what is learnt from
	Shortest int              // frames of the shortest clip to take; 0: 30
	Fast     float64          // a window whose mean speed is above this is running, m/s; 0: 2
	Repeat   int              // visits per epoch of a window of running; 0: 1
	Stand    int              // frames for which each standing posture is held, as a clip of its own; 0: none
	Poses    bool             // keep the recordings' rotations, too; not with Stand or Whole
	Workers  int              // goroutines; 0: all processors. The result does not depend on it
}

func (o MotionOptions) withDefaults() MotionOptions {
	o.Layout = cmp.Or(o.Layout, feature.Human())
	o.Length = cmp.Or(o.Length, 240)
	if !o.Whole {
		o.Margin = cmp.Or(o.Margin, 24)
	}
	o.Hop = cmp.Or(o.Hop, (o.Length-2*o.Margin+1)/2)
	o.Shortest = cmp.Or(o.Shortest, Rate/2)
	o.Fast = cmp.Or(o.Fast, 2)
	o.Repeat = cmp.Or(o.Repeat, 1)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	return o
}

func (o MotionOptions) check() error {
	switch {
	case o.Whole && o.Margin != 0:
		return fmt.Errorf("dataset: Margin is %d, want 0 for whole windows", o.Margin)
	case o.Margin < 0 || o.Length <= 2*o.Margin:
		return fmt.Errorf("dataset: Length is %d frames and Margin %d, want a Margin of 0 or more and a Length of more than twice that", o.Length, o.Margin)
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
		return fmt.Errorf("dataset: Poses with Stand or Whole: held postures and stretches have no rotations")
	case o.Workers < 1:
		return fmt.Errorf("dataset: Workers is %d, want at least 1", o.Workers)
	}
	if err := CheckPatterns(o.HeldOut); err != nil {
		return fmt.Errorf("dataset: HeldOut: %w", err)
	}
	return o.Layout.Validate()
}

// HeldOut are the patterns of the recordings that training must not see. Of CMU: walks, runs and
// actions of most subjects, and all that the makers of the exponential-map sets put aside for tests.
// It also names the same takes under other names: daz43_11_01 is h21_kick and
// exp_test_soccer_soccer_1, h21_hop and h21_jump are exp_test_jumping_jumping_1. Of O3DE's sample:
// takes with walks, runs, turns and stops. Of ReActIdle: two of nine people.
var HeldOut = []string{
	"02_02", "05_10", "06_06", "07_04", "07_08", "08_05", "08_10", "09_04", "09_10", "131_02",
	"daz43_11_01", "daz43_martial_05", "exp_test_*", "h21_box-2", "h21_hop", "h21_jump", "h21_kick",
	"MixedLocomotion1", "RunPivotTurn1", "WalkStopTurn1",
	"003_acted", "003_genuine", "012_genuine",
}

// BuildMotion reads the BVH and AMC recordings in dirs, puts them on the human skeleton
// (retarget.Human) and returns those to train on and those held out. Clips shorter than Shortest
// are left out. Equal input gives equal bytes for any number of workers.
func BuildMotion(dirs []string, opt MotionOptions) (train, heldOut *MotionSet, err error) {
	opt = opt.withDefaults()
	if err := opt.check(); err != nil {
		return nil, nil, err
	}
	names, paths, err := Recordings(dirs, opt.Only, opt.Skip)
	if err != nil {
		return nil, nil, fmt.Errorf("dataset: %w", err)
	}
	src, held, err := opt.heldOut(dirs)
	if err != nil {
		return nil, nil, err
	}
	opt.Read.Note = nil // warnings have the notes
	sk := retarget.Human()
	clips, reports := make([]MotionClip, len(names)), make([]*retarget.Report, len(names))
	err = Parallel(opt.Workers, len(names), func(i int) error {
		p, err := openPerson(paths[i], opt.Layout, sk, opt.Read)
		if err != nil || p.clip.Frames < opt.Shortest {
			return err
		}
		reports[i] = p.report
		if clips[i] = (MotionClip{Name: names[i], Frames: p.clip.Frames, Rows: p.rows}); opt.Poses {
			clips[i].Poses = p.clip
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	train = &MotionSet{Layout: opt.Layout, Skeleton: sk, Source: src, Length: opt.Length, Margin: opt.Margin}
	heldOut = &MotionSet{Layout: opt.Layout, Skeleton: sk, Source: src, Length: opt.Length, Margin: opt.Margin}
	train.Warnings = warnings(opt.Layout, clips, reports, held)
	for _, c := range clips {
		into := train
		switch {
		case c.Frames == 0:
			continue
		case MatchesAny(held, c.Name):
			into = heldOut
		}
		if opt.Whole {
			into.Clips = append(into.Clips, c.steady(opt.Layout, opt.Length)...)
		} else {
			into.Clips = append(into.Clips, c)
		}
		if opt.Stand > 0 {
			into.Clips = append(into.Clips, standing(opt.Layout, &c, opt.Stand)...)
		}
	}
	if len(train.Clips) == 0 {
		return nil, nil, fmt.Errorf("dataset: no recording in %s is left to train on: all are held out, or shorter than %d frames", strings.Join(dirs, ", "), opt.Shortest)
	}
	for _, m := range []*MotionSet{train, heldOut} {
		if err := m.mirror(); err != nil {
			return nil, nil, err
		}
		m.cut(opt)
	}
	train.normalise(opt.Workers)
	heldOut.Mean, heldOut.Std = train.Mean, train.Std
	return train, heldOut, nil
}

// heldOut returns the first folder's Source and the patterns of recordings to hold out.
func (o MotionOptions) heldOut(dirs []string) (src *Source, held []string, err error) {
	for i, dir := range dirs {
		s, err := ReadSource(dir)
		if err != nil {
			return nil, nil, err
		}
		if s != nil {
			held = append(held, s.HeldOut...)
		}
		if i == 0 {
			src = s
		}
	}
	switch {
	case o.HeldOut != nil:
		held = o.HeldOut
	case src == nil:
		held = append(held, HeldOut...)
	}
	return src, held, nil
}

// OpenMotion reads the recordings of people at paths, of any format that retarget.Open
// knows, for measuring. Its clips are their steady stretches of at least the given frames,
// as with MotionOptions.Whole, and the mirror images. It has no windows, and its mean and
// deviation are its own.
func OpenMotion(paths []string, layout *feature.Motion, read retarget.Reading, atLeast, workers int) (*MotionSet, error) {
	m := &MotionSet{Layout: layout, Skeleton: retarget.Human(), Length: atLeast}
	read.Note = nil
	clips := make([]MotionClip, len(paths))
	err := Parallel(workers, len(paths), func(i int) error {
		p, err := openPerson(paths[i], layout, m.Skeleton, read)
		if err != nil {
			return err
		}
		clips[i] = MotionClip{Name: stem(paths[i]), Frames: p.clip.Frames, Rows: p.rows}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, c := range clips {
		m.Clips = append(m.Clips, c.steady(layout, atLeast)...)
	}
	if len(m.Clips) == 0 {
		return nil, fmt.Errorf("dataset: none of the %d recordings has %d frames on end", len(paths), atLeast)
	}
	if err := m.mirror(); err != nil {
		return nil, err
	}
	m.normalise(workers)
	return m, nil
}

func (m *MotionSet) mirror() error {
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
