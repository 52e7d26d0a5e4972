package train

import (
	"math"
	"slices"

	"mannequin/netruntime/grad"
	"mannequin/netruntime/vec"
)

// whole reports whether the optimiser needs all gradients at once: for clipping by norm, or because they are
// summed over shards.
func (r *run) whole() bool { return r.ClipNorm > 0 || r.shards != nil }

// attach lets Backward pass the gradients on while they are in the cache: to the sums over shards, or to the
// optimiser if it may.
func (r *run) attach() {
	r.detach()
	if r.shards == nil && r.whole() {
		return
	}
	for i, p := range r.Params {
		if p.Frozen {
			continue
		}
		if r.shards != nil {
			p.Update = func(at int, g []float32) { r.put(i, at, g, true) }
			continue
		}
		penalised := r.penalises(p)
		p.Update = func(at int, g []float32) {
			if penalised {
				grad.Penalize(g, p.Val[at:at+len(g)], float32(r.L1), float32(2*r.L2))
			}
			r.apply(i, at, g)
		}
	}
}

func (r *run) detach() {
	for _, p := range r.Params {
		p.Update = nil
	}
}

// apply changes values of parameter i, beginning with index at, by their gradient g.
func (r *run) apply(i, at int, g []float32) {
	if r.ClipValue > 0 {
		vec.Clamp(g, float32(r.ClipValue))
	}
	end := at + len(g)
	var slots [maxSlots][]float32
	for k, s := range r.state.slots {
		slots[k] = s[i][at:end]
	}
	r.Optimizer.Step(r.Params[i].Val[at:end], g, slots, r.moment)
}

// penalises reports whether L1 and L2 act on p.
func (r *run) penalises(p *grad.Param) bool {
	if r.L1 == 0 && r.L2 == 0 {
		return false
	}
	return r.Penalised == nil || slices.Contains(r.Penalised, p)
}

// update updates the weights when all gradients are there and measured, with a bounded norm of them.
func (r *run) update() error {
	var sum float64
	for i := range r.chunks { // in order, for any number of workers
		sum += r.chunks[i].squares
	}
	r.shrink = 1
	if norm := math.Sqrt(sum); r.ClipNorm > 0 && norm > r.ClipNorm {
		r.shrink = float32(r.ClipNorm / norm)
	}
	r.pool.Run(len(r.mine), r.change)
	return r.gatherWeights()
}

// chunk is the part of a parameter that one task works on.
type chunk struct {
	index, param, at, end int
	penalised, frozen     bool

	g       []float32 // its gradient in this step, if there is one
	reached bool      // there is one
	squares float64   // of its gradient

	// With shards:
	rank   int // that updates it
	offset int // in a sum
	placed int // its values, in its rank's memory
}

const chunkSize = 1 << 15

// cut makes the chunks and the functions that work on them.
func (r *run) cut() {
	for i, p := range r.Params {
		for at := 0; at < len(p.Val); at += chunkSize {
			r.chunks = append(r.chunks, chunk{index: len(r.chunks), param: i, at: at, end: min(at+chunkSize, len(p.Val)), penalised: r.penalises(p), frozen: p.Frozen})
		}
	}
	r.mine = r.chunks
	r.measure = func(_, k int) {
		c := &r.mine[k]
		p := r.Params[c.param]
		if r.shards != nil {
			r.collect(c)
		} else {
			c.g, c.reached = p.Grad[c.at:c.end], r.tape.Reached(p)
		}
		if c.squares = 0; !c.reached || c.frozen {
			return
		}
		if c.penalised {
			grad.Penalize(c.g, p.Val[c.at:c.end], float32(r.L1), float32(2*r.L2))
		}
		c.squares = vec.SumSquares(c.g)
	}
	r.change = func(_, k int) {
		c := &r.mine[k]
		p := r.Params[c.param]
		switch {
		case c.frozen:
			if r.shards != nil { // the mean of what the shards have made of it
				copy(p.Val[c.at:c.end], c.g)
			}
		case c.reached:
			if r.shrink != 1 {
				vec.Scale(c.g, r.shrink, c.g)
			}
			r.apply(c.param, c.at, c.g)
		}
	}
}
