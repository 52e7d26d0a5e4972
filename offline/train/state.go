package train

import (
	"math"

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

// finite reports whether the run can continue from s.
func (s *state) finite() bool {
	for i, p := range s.params {
		if !finite(p.Val) {
			return false
		}
		for _, k := range s.slots {
			if !finite(k[i]) {
				return false
			}
		}
	}
	return true
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
	val   [][]float32
	slots [][][]float32
}

// take copies s.
func (c *snapshot) take(s *state) {
	if c.val == nil {
		c.val = like(s.params)
		for range s.slots {
			c.slots = append(c.slots, like(s.params))
		}
	}
	c.position = s.position
	for i, p := range s.params {
		copy(c.val[i], p.Val)
		for k := range s.slots {
			copy(c.slots[k][i], s.slots[k][i])
		}
	}
}

// restore sets s back to the copy, except for the elapsed time.
func (c *snapshot) restore(s *state) {
	elapsed := s.Elapsed
	s.position = c.position
	s.Elapsed = elapsed
	for i, p := range s.params {
		copy(p.Val, c.val[i])
		for k := range s.slots {
			copy(s.slots[k][i], c.slots[k][i])
		}
	}
}
