package dataset

import (
	"fmt"
	"path/filepath"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/ik"
	"mannequin/offline/retarget"
)

// CMUHeldOut are the patterns of the CMU recordings that are held back from
// training: walks, runs and actions of most subjects, all that the makers of the
// exponential-map sets put aside for tests, and the same takes under other names:
// daz43_11_01 is h21_kick and exp_test_soccer_soccer_1, h21_hop and h21_jump are
// exp_test_jumping_jumping_1.
var CMUHeldOut = []string{
	"02_02", "05_10", "06_06", "07_04", "07_08", "08_05", "08_10", "09_04", "09_10", "131_02",
	"daz43_11_01", "daz43_martial_05", "exp_test_*", "h21_box-2", "h21_hop", "h21_jump", "h21_kick",
}

// BuildMotion reads the BVH and AMC recordings in dirs, puts them on the human
// skeleton (retarget.Human) and returns those to train on and those held out.
// Clips shorter than Shortest are left out. Equal input gives equal bytes for
// any number of workers.
func BuildMotion(dirs []string, opt MotionOptions) (train, heldOut *Motion, err error) {
	opt = opt.withDefaults()
	if err := opt.check(); err != nil {
		return nil, nil, err
	}
	names, paths, err := files(dirs, opt)
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("dataset: no BVH or AMC file in %s", strings.Join(dirs, ", "))
	}
	held := opt.HeldOut
	var src *Source
	for i, dir := range dirs {
		s, err := ReadSource(dir)
		if err != nil {
			return nil, nil, err
		}
		if s != nil && opt.HeldOut == nil {
			held = append(held, s.HeldOut...)
		}
		if i == 0 {
			src = s
		}
	}
	if opt.HeldOut == nil && src == nil {
		held = append(held, CMUHeldOut...)
	}
	sk := retarget.Human()
	clips := make([]MotionClip, len(names))
	err = parallel(opt.Workers, len(names), func(i int) error {
		clip, rows, _, err := openPerson(paths[i], opt.Layout, sk)
		if err != nil || clip.Frames < opt.Shortest {
			return err
		}
		if clips[i] = (MotionClip{Name: names[i], Frames: clip.Frames, Rows: rows}); opt.Poses {
			clips[i].Poses = clip
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	train = &Motion{Layout: opt.Layout, Skeleton: sk, Source: src, Length: opt.Length, Margin: opt.Margin}
	heldOut = &Motion{Layout: opt.Layout, Skeleton: sk, Source: src, Length: opt.Length, Margin: opt.Margin}
	for _, c := range clips {
		into := train
		switch {
		case c.Frames == 0:
			continue
		case matchesAny(held, c.Name):
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
	for _, m := range []*Motion{train, heldOut} {
		if err := m.mirror(); err != nil {
			return nil, nil, err
		}
		if opt.Whole {
			m.whole(opt.Hop, opt.Fast, opt.Repeat)
		} else {
			m.windows(opt.Hop, opt.Fast, opt.Repeat)
		}
	}
	train.normalise(opt.Workers)
	heldOut.Mean, heldOut.Std = train.Mean, train.Std
	return train, heldOut, nil
}

// OpenMotion reads recordings of people at paths, as OpenClip, to measure on: whole
// stretches of at least so many frames, as of MotionOptions.Whole, and their mirror
// images, but no windows. Mean and deviation are their own.
func OpenMotion(paths []string, layout *feature.Motion, atLeast, workers int) (*Motion, error) {
	m := &Motion{Layout: layout, Skeleton: retarget.Human(), Length: atLeast}
	clips := make([]MotionClip, len(paths))
	err := parallel(workers, len(paths), func(i int) error {
		clip, rows, _, err := openPerson(paths[i], layout, m.Skeleton)
		if err != nil {
			return err
		}
		clips[i] = MotionClip{Name: strings.TrimSuffix(filepath.Base(paths[i]), filepath.Ext(paths[i])), Frames: clip.Frames, Rows: rows}
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

// OpenPerson reads the recording of a person at path, as OpenClip, and returns its
// frames, (frames, layout.Columns()) at Rate, on the skeleton sk, and where the
// first one stands. Its skeleton must fit a profile of package retarget.
func OpenPerson(path string, layout *feature.Motion, sk *skel.Skeleton) (rows []float32, start feature.Place, err error) {
	_, rows, start, err = openPerson(path, layout, sk)
	return rows, start, err
}

// sole is how high the joints of toes are over the ground when somebody stands, m.
var sole = ik.DefaultHuman().Sole

// grounded is the length in frames from which on a clip shows where its ground is.
const grounded = Rate / 2

// OpenStanding is OpenClip at Rate of people who stand on the ground: recordings'
// floors lie up to a hand's breadth high or low. The ground is that of
// feature.Motion.FromWorld, under soles. A recording shorter than half a second may be
// of somebody in the air, and stays as it is.
func OpenStanding(path string, layout *feature.Motion, sk *skel.Skeleton) (*skel.Clip, error) {
	clip, err := OpenClip(path, sk, Rate)
	if err != nil || clip.Frames < grounded {
		return clip, err
	}
	_, start, err := rowsOf(layout, sk, clip)
	if err != nil {
		return nil, fmt.Errorf("dataset: %s: %w", path, err)
	}
	stand(clip, start.Pos.Y)
	return clip, nil
}

// stand moves a clip whose ground is at a height so that people stand at 0.
func stand(c *skel.Clip, ground float32) {
	for f := range c.Frames {
		pos, _ := c.Frame(f)
		pos[0].Y += sole - ground
	}
}

// openPerson is OpenPerson that returns what OpenStanding does, too.
func openPerson(path string, layout *feature.Motion, sk *skel.Skeleton) (clip *skel.Clip, rows []float32, start feature.Place, err error) {
	if clip, err = OpenClip(path, sk, Rate); err != nil {
		return nil, nil, feature.Place{}, err
	}
	if rows, start, err = rowsOf(layout, sk, clip); err != nil {
		return nil, nil, feature.Place{}, fmt.Errorf("dataset: %s: %w", path, err)
	}
	if clip.Frames >= grounded {
		stand(clip, start.Pos.Y)
	}
	return clip, rows, start, nil
}

// OpenClip is retarget.Open onto sk at fps frames per second, on this goroutine alone.
func OpenClip(path string, sk *skel.Skeleton, fps float64) (*skel.Clip, error) {
	clip, _, err := retarget.Open(path, retarget.OpenOptions{Target: sk, FPS: fps, Workers: 1})
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	return clip, nil
}
