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

// reached reports whether the step has a gradient of parameter i.
func (r *run) reached(i int) bool {
	if r.shards != nil {
		return r.shards.reached[i]
	}
	return r.tape.Reached(r.Params[i])
}

// attach lets Backward pass the gradients to the optimiser while they are in the cache, if it may.
func (r *run) attach() {
	r.detach()
	if r.whole() {
		return
	}
	for i, p := range r.Params {
		if p.Frozen {
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

// update updates the weights when all gradients are there, with a bounded norm of them.
func (r *run) update() {
	if r.chunks == nil {
		r.cut()
	}
	r.pool.Run(len(r.chunks), r.measure)
	var sum float64
	for _, c := range r.chunks { // in order, for any number of workers
		sum += c.squares
	}
	r.shrink = 1
	if norm := math.Sqrt(sum); r.ClipNorm > 0 && norm > r.ClipNorm {
		r.shrink = float32(r.ClipNorm / norm)
	}
	r.pool.Run(len(r.chunks), r.change)
}

// chunk is the part of a parameter that one task works on.
type chunk struct {
	param, at, end int
	penalised      bool
	squares        float64 // of its gradient
}

// cut makes the chunks and the functions that work on them.
func (r *run) cut() {
	const size = 1 << 15
	for i, p := range r.Params {
		for at := 0; at < len(p.Val) && !p.Frozen; at += size {
			r.chunks = append(r.chunks, chunk{param: i, at: at, end: min(at+size, len(p.Val)), penalised: r.penalises(p)})
		}
	}
	r.measure = func(_, k int) {
		c := &r.chunks[k]
		p := r.Params[c.param]
		if c.squares = 0; !r.reached(c.param) {
			return
		}
		g := p.Grad[c.at:c.end]
		if c.penalised {
			grad.Penalize(g, p.Val[c.at:c.end], float32(r.L1), float32(2*r.L2))
		}
		c.squares = vec.SumSquares(g)
	}
	r.change = func(_, k int) {
		c := &r.chunks[k]
		p := r.Params[c.param]
		if !r.reached(c.param) {
			return
		}
		g := p.Grad[c.at:c.end]
		if r.shrink != 1 {
			vec.Scale(g, r.shrink, g)
		}
		r.apply(c.param, c.at, g)
	}
}
