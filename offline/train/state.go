package train

import (
	"math"
	"slices"

	"mannequin/netruntime/grad"
)

// state is what a run carries from step to step.
type state struct {
	position
	params []*grad.Param
	slots  [][][]float32 // what the optimiser keeps, by slot and parameter
	best   [][]float32   // weights of the best epoch
}

func newState(params []*grad.Param, o Optimizer) *state {
	s := &state{params: params, best: like(params)}
	for range o.Slots() {
		s.slots = append(s.slots, like(params))
	}
	return s
}

func like(params []*grad.Param) (out [][]float32) {
	for _, p := range params {
		out = append(out, make([]float32, len(p.Val)))
	}
	return out
}

// keep makes the current weights the best ones.
func (s *state) keep(loss float64) {
	for i, p := range s.params {
		copy(s.best[i], p.Val)
	}
	s.Best, s.BestEpoch = loss, s.Epoch
}

// arrays returns the values of tensor i in a checkpoint: weights, slots, best weights.
func (s *state) arrays(i int) [][]float32 {
	out := [][]float32{s.params[i].Val}
	for _, k := range s.slots {
		out = append(out, k[i])
	}
	return append(out, s.best[i])
}

// live returns the values that steps change: weights and slots.
func (s *state) live() (out [][]float32) {
	for i := range s.params {
		a := s.arrays(i)
		out = append(out, a[:len(a)-1]...)
	}
	return out
}

// finite reports whether the run can continue from s.
func (s *state) finite() bool {
	return !slices.ContainsFunc(s.live(), func(x []float32) bool { return !finite(x) })
}

func finite(x []float32) bool {
	const inf = 0x7f800000
	for _, v := range x {
		if math.Float32bits(v)&inf == inf {
			return false
		}
	}
	return true
}

// snapshot is a copy of a state, without its best weights.
type snapshot struct {
	position
	live [][]float32
}

// take copies s.
func (c *snapshot) take(s *state) {
	c.position = s.position
	live := s.live()
	c.live = slices.Grow(c.live, len(live))[:len(live)]
	for i, v := range live {
		c.live[i] = append(c.live[i][:0], v...)
	}
}

// restore sets s back to the copy, except for the elapsed time.
func (c *snapshot) restore(s *state) {
	elapsed := s.Elapsed
	s.position = c.position
	s.Elapsed = elapsed
	for i, v := range s.live() {
		copy(v, c.live[i])
	}
}
