package dataset

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Clip is motion of a character, as rows of a mode-adaptive network are made of it.
type Clip struct {
	Name    string
	Motion  *skel.Clip      // at 60 frames per second; m, on a floor at height 0
	Roots   []feature.Place // (frames)
	Actions []string        // (frames) of the layout's
	HeldOut bool            // training must not see it
	Played  bool            // a character played it: its steps are less regular than recorded ones
}

// clipRamp is the number of frames from the end of an action to its key, see Options.Ramp.
const clipRamp = 8

// FromClips returns the rows of clips to train on and those that are held out. All clips are on the skeleton sk, whose joints
// are the layout's. In an epoch, recorded rows that move are visited four times, played ones twice; the fastest tenth of both, and those
// that go aside, backward or turn where they stand, eleven times; of the next fastest fifth recorded ones eleven times, played ones four
// times; others once.
// Equal input gives equal bytes for any number of workers; 0 is one per processor.
func FromClips(layout *feature.MANN, sk *skel.Skeleton, clips []Clip, workers int) (train, heldOut *MANN, err error) {
	opt := Options{Layout: layout, Unit: 1, Repeat: 1, Walk: 1, Fast: 1, Workers: cmp.Or(workers, runtime.GOMAXPROCS(0))}
	if err := layout.Validate(); err != nil {
		return nil, nil, err
	}
	var sets [2][]recording
	var played []bool // (clips to train on)
	for _, c := range clips {
		n := c.Motion.Frames
		if c.Motion.FPS != fps || len(c.Roots) != n || len(c.Actions) != n {
			return nil, nil, fmt.Errorf("dataset: clip %q: %d frames, %g per second, with %d roots and %d actions: want as many of each, %d per second",
				c.Name, n, c.Motion.FPS, len(c.Roots), len(c.Actions), fps)
		}
		hard := make([]int, n)
		for f, a := range c.Actions {
			if hard[f] = slices.Index(layout.Actions, a); hard[f] < 0 {
				return nil, nil, fmt.Errorf("dataset: clip %q shows the action %q in frame %d, which the layout %v lacks", c.Name, a, f, layout.Actions)
			}
		}
		r := recording{name: c.Name, clip: c.Motion, roots: c.Roots, labels: Labels{Frames: n, Train: []Range{{0, n - 1}}}, weights: ramps(hard, len(layout.Actions), clipRamp)}
		i := 0
		if c.HeldOut {
			i = 1
		}
		sets[i] = append(sets[i], r)
		if i == 0 {
			played = append(played, c.Played)
		}
	}
	if train, err = buildRows(sk, sets[0], opt); err != nil {
		return nil, nil, err
	}
	if heldOut, err = buildRows(sk, sets[1], opt); err != nil {
		return nil, nil, err
	}
	if train.Rows == 0 || heldOut.Rows == 0 {
		return nil, nil, fmt.Errorf("dataset: %d rows to train on and %d that are held out: want some of both", train.Rows, heldOut.Rows)
	}
	train.normalise(heldOut, opt.Workers)
	train.balance(played)
	return train, heldOut, nil
}

// Visits per epoch of rows that move and of those whose motion is rare, as in the recipe of the dogs.
const (
	walkVisits, playedVisits, rareVisits = 4, 2, 11
	briskVisits                          = 4    // of those that were played and are faster than most: trots, between the many walks and the fastest
	fastShare                            = 0.1  // of the rows that move
	briskShare                           = 0.3  // with the fastest
	aheadCos                             = 0.7  // cosine of the largest angle between facing and velocity of motion ahead: 45°
	spotSpeed                            = 0.3  // m/s, below which a body may turn on the spot
	slowSpeed                            = 0.1  // m/s, from which a played one steps aside or backward; a recorded one may sway
	spotTurn                             = 0.35 // sine of the least angle by which it turns in the next second there: 20°
)

// balance visits rows that move more often: most recordings stand and rest, and are easily learned. played says which clips are.
func (m *MANN) balance(played []bool) {
	l := m.Layout
	move := slices.Index(l.Actions, control.Move.String())
	vel := l.InSample(feature.TrajNow) + feature.SampleVel
	dir := l.InSample(feature.TrajSamples-1) + feature.SampleDir
	speed := func(r int) float32 {
		v := m.Input(r)[vel:]
		return m3.V(v[0], 0, v[1]).Len()
	}
	visits := slices.Repeat([]int{1}, m.Rows)
	var moving []int32
	for r := range m.Rows {
		x := m.Input(r)
		if move < 0 || x[l.InActions(feature.TrajNow)+move] < 0.5 {
			continue
		}
		moving = append(moving, int32(r))
		least := float32(spotSpeed)
		if visits[r] = walkVisits; played[m.Clip[r]] {
			visits[r], least = playedVisits, slowSpeed
		}
		v := speed(r)
		aside := v > least && x[vel+1] < aheadCos*v
		turns := v < spotSpeed && (x[dir+1] < 0 || m3.Abs(x[dir]) > spotTurn)
		if aside || turns {
			visits[r] = rareVisits
		}
	}
	// The fastest ones: of equally fast ones the first.
	slices.SortFunc(moving, func(a, b int32) int { return cmp.Or(cmp.Compare(speed(int(b)), speed(int(a))), cmp.Compare(a, b)) })
	for i, r := range moving[:int(briskShare*float64(len(moving)))] {
		switch {
		case i < int(fastShare*float64(len(moving))) || !played[m.Clip[r]]:
			visits[r] = rareVisits
		default:
			visits[r] = max(visits[r], briskVisits)
		}
	}
	m.Order = m.Order[:0]
	for r := range m.Rows {
		for range visits[r] {
			m.Order = append(m.Order, int32(r))
		}
	}
}

// normalise sets means and deviations of both sets to those of m's rows.
func (m *MANN) normalise(heldOut *MANN, workers int) {
	m.XMean, m.XStd = meanStd(m.X, m.Layout.Inputs(), workers)
	m.YMean, m.YStd = meanStd(m.Y, m.Layout.Outputs(), workers)
	heldOut.XMean, heldOut.XStd, heldOut.YMean, heldOut.YStd = m.XMean, m.XStd, m.YMean, m.YStd
}
