package recipes

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"

	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Constants of OwnIdles.
const (
	idleLooks = 8             // keys of a recorded idle from one of which a pose is made to the next
	idleSteps = 15            // ticks after which a pose is another
	idleNear  = 0.75          // share of the other poses to which a body goes: the nearer ones
	idleHop   = 8             // least keys from one pose to the next
	idleMore  = idleHop/2 + 1 // up to so many keys more, less one
)

// OwnIdles returns l with as many idles that are of its networks' own making, for files that shall hold no stretch of a
// recording: slow ways between poses that the projector makes of what is asked for in the idles that l has.
func OwnIdles(l *matching.Learned) (*matching.Learned, error) {
	n := l.Networks()
	if n.Projector == nil {
		return nil, errors.New("recipes: OwnIdles of networks that are not trained")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var own []matching.Idle
	for i, idle := range n.Idles {
		if slices.ContainsFunc(n.Idles[:i], func(k matching.Idle) bool { return k.Tags == idle.Tags }) {
			continue
		}
		poses, err := projected(l, &n, idle.Tags)
		if err != nil {
			return nil, err
		}
		for k := range n.Idles {
			if n.Idles[k].Tags == idle.Tags {
				own = append(own, matching.Idle{Tags: idle.Tags, States: wander(poses, (k*matching.IdleKeys/idleLooks)%len(poses), &n, rng)})
			}
		}
	}
	n.Idles = own
	return matching.NewLearned(&matching.Database{Character: l.Character}, n)
}

// projected returns the states that the projector makes of some keys of the idles of a stance, and those to which the
// stepper brings them.
func projected(l *matching.Learned, n *matching.Networks, tags matching.Tags) (out [][]float32, err error) {
	state, cols := len(n.Rest), l.Columns()
	var x []float32
	for _, idle := range n.Idles {
		for key := 0; idle.Tags == tags && key < matching.IdleKeys; key += idleLooks {
			x = append(x, idle.States[key*(state+3):][:cols]...)
			at := len(x)
			x = append(x, make([]float32, len(l.Tags))...)
			matching.WriteTags(x[at:], tags)
		}
	}
	rows := len(x) / n.Projector.Inputs()
	s, err := n.Projector.NewSession(netruntime.SessionOptions{Batch: rows, Workers: 1})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	y := make([]float32, rows*state)
	if err := s.Run(y, x, rows); err != nil {
		return nil, err
	}
	clamp := func() {
		for i, v := range y {
			y[i] = m3.Clamp(v, n.Least[i%state], n.Most[i%state])
		}
		out = append(out, slices.Collect(slices.Chunk(slices.Clone(y), state))...)
	}
	clamp()
	step, err := n.Stepper.NewSession(netruntime.SessionOptions{Batch: rows, Workers: 1})
	if err != nil {
		return nil, err
	}
	defer step.Close()
	change := make([]float32, rows*(state+3))
	for range idleSteps {
		if err := step.Run(change, y, rows); err != nil {
			return nil, err
		}
		for i := range y {
			y[i] += change[i/state*(state+3)+i%state]
		}
	}
	clamp()
	return out, nil
}

// wander returns an idle that begins with one of some poses, and goes from one to another. Its root stays where it is.
func wander(poses [][]float32, at int, n *matching.Networks, rng *rand.Rand) (out []float32) {
	to, begun, end := at, 0, 0
	for key := range matching.IdleKeys {
		if key >= end {
			at, begun, end = to, key, key+idleHop+rng.IntN(idleMore)
			to = another(poses, at, n, rng)
		}
		u := float32(key-begun) / float32(end-begun)
		u = u * u * (3 - 2*u)
		for i, v := range poses[at] {
			out = append(out, v+u*(poses[to][i]-v))
		}
		out = append(out, 0, 0, 0)
	}
	return out
}

// another chooses one of the nearer poses, at random.
func another(poses [][]float32, at int, n *matching.Networks, rng *rand.Rand) int {
	type pose struct {
		of  int
		far float32
	}
	var all []pose
	for k, p := range poses {
		if k == at {
			continue
		}
		far := float32(0)
		for i, v := range p {
			if span := n.Most[i] - n.Least[i]; span > 0 {
				d := (v - poses[at][i]) / span
				far += d * d
			}
		}
		all = append(all, pose{k, far})
	}
	if len(all) == 0 {
		return at
	}
	slices.SortStableFunc(all, func(a, b pose) int { return cmp.Compare(a.far, b.far) })
	return all[rng.IntN(max(1, int(idleNear*float32(len(all)))))].of
}
