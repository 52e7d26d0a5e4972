package fbx

import (
	"math"
	"slices"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/internal/boundedfile"
)

// animations samples the animations of a file at its frame rate. Models keep the parts of their
// transforms that do not change.
func (c *characterReader) animations() error {
	r := &reader{scene: c.scene, poses: c.poses}
	rest := make([]parts, len(c.models))
	for i, m := range c.models {
		rest[i], _ = c.split(m, c.poses)
	}
	poses := make([]pose, len(c.models))
	r.poses = poses
	for _, k := range c.stacks {
		first, fps, frames, err := r.span(k, true)
		if err != nil {
			return err
		}
		if frames == 0 {
			continue
		}
		moves := c.follow(k)
		tracks := make([][]parts, len(c.models))
		times := make([]float32, frames)
		for f := range frames {
			r.place(k, frame(first, f, fps))
			times[f] = float32(float64(f) / fps)
			for i, m := range c.models {
				if !moves[i] {
					continue
				}
				if tracks[i] == nil {
					tracks[i] = make([]parts, frames)
				}
				tracks[i][f], _ = c.split(m, poses)
				if !poses[i].world.Finite() {
					return c.errorf(m.at, "the place of %.60q is not finite at %.3f s", m.name, times[f])
				}
			}
		}
		a := &gltf.Animation{Name: boundedfile.Printable(k.name)}
		input := -1
		for i, t := range tracks {
			if t == nil {
				continue
			}
			c.input(&input, times)
			c.channels(a, input, i, rest[i], t)
		}
		if err := c.slide(r, a, k, first, fps, times, &input); err != nil {
			return err
		}
		if len(a.Channels) > 0 {
			c.doc.Animations = append(c.doc.Animations, a)
		}
	}
	return nil
}

// input writes the times of an animation's frames, once.
func (c *characterReader) input(at *int, times []float32) {
	if *at < 0 {
		*at = modeler.WriteAccessor(c.doc, gltf.TargetNone, times)
		c.doc.Accessors[*at].Min, c.doc.Accessors[*at].Max = []float64{0}, []float64{float64(times[len(times)-1])}
	}
}

// slide writes how the weights of blend shapes change.
func (c *characterReader) slide(r *reader, a *gltf.Animation, k *stack, first int64, fps float64, times []float32, input *int) error {
	for _, b := range c.blended {
		moves := false
		for _, y := range k.layers {
			moves = moves || slices.ContainsFunc(b.channels, func(s blendChannel) bool { return y.sliders[s.id] != nil })
		}
		if !moves {
			continue
		}
		var all []float32
		for f := range times {
			t := frame(first, f, fps)
			for _, w := range weights(b.channels, func(s *blendChannel) float64 { return k.percent(s, t) }) {
				if !(math.Abs(w) < math.MaxFloat32) {
					return c.errorf(-1, "the animation %.60q has a weight of a blend shape that is not finite at %.3f s", k.name, times[f])
				}
				all = append(all, float32(w))
			}
			if f == 0 {
				if r.placed += len(all) * len(times); r.placed > MaxTransforms {
					return c.errorf(-1, "the animation %.60q: its %d frames of blend shapes are too many", k.name, len(times))
				}
			}
		}
		c.input(input, times)
		a.Samplers = append(a.Samplers, &gltf.AnimationSampler{Input: *input, Output: modeler.WriteAccessor(c.doc, gltf.TargetNone, all)})
		a.Channels = append(a.Channels, &gltf.AnimationChannel{Sampler: len(a.Samplers) - 1, Target: gltf.AnimationChannelTarget{Node: gltf.Index(b.node), Path: gltf.TRSWeights}})
	}
	return nil
}

// follow returns which models' local transforms an animation may change: those that it moves, and those
// below that do not follow their parents' scales.
func (c *characterReader) follow(k *stack) []bool {
	out, moved := make([]bool, len(c.models)), make([]bool, len(c.models))
	for i, m := range c.models {
		for _, y := range k.layers {
			moved[i] = moved[i] || y.tracks[m] != nil
		}
		out[i] = moved[i]
		if m.parent != nil && moved[m.parent.index] {
			out[i] = out[i] || m.inherit != 1
			moved[i] = true
		}
		out[i] = out[i] && !c.placeless[i]
	}
	return out
}

// channels writes what changes of a node.
func (c *characterReader) channels(a *gltf.Animation, input, node int, rest parts, t []parts) {
	same := func(x, y []float64) bool {
		for i := range x {
			if d := x[i] - y[i]; d > 1e-9 || d < -1e-9 {
				return false
			}
		}
		return true
	}
	at, turn, scale := false, false, false
	for i := range t {
		p := &t[i]
		q, last := &p.turn, rest.turn
		if i > 0 {
			last = t[i-1].turn
		}
		if q[0]*last[0]+q[1]*last[1]+q[2]*last[2]+q[3]*last[3] < 0 { // the short way between two keys
			*q = [4]float64{-q[0], -q[1], -q[2], -q[3]}
		}
		at, turn, scale = at || !same(p.at[:], rest.at[:]), turn || !same(q[:], rest.turn[:]), scale || !same(p.scale[:], rest.scale[:])
	}
	add := func(path gltf.TRSProperty, values any) {
		a.Samplers = append(a.Samplers, &gltf.AnimationSampler{Input: input, Output: modeler.WriteAccessor(c.doc, gltf.TargetNone, values)})
		a.Channels = append(a.Channels, &gltf.AnimationChannel{Sampler: len(a.Samplers) - 1, Target: gltf.AnimationChannelTarget{Node: gltf.Index(node), Path: path}})
	}
	three := func(of func(*parts) [3]float64) [][3]float32 {
		out := make([][3]float32, len(t))
		for i := range t {
			for k, x := range of(&t[i]) {
				out[i][k] = float32(x)
			}
		}
		return out
	}
	if at {
		add(gltf.TRSTranslation, three(func(p *parts) [3]float64 { return p.at }))
	}
	if turn {
		out := make([][4]float32, len(t))
		for i := range t {
			for k, x := range t[i].turn {
				out[i][k] = float32(x)
			}
		}
		add(gltf.TRSRotation, out)
	}
	if scale {
		add(gltf.TRSScale, three(func(p *parts) [3]float64 { return p.scale }))
	}
	if n := c.doc.Nodes[node]; (at || turn || scale) && n.Matrix != gltf.DefaultMatrix && n.Matrix != [16]float64{} {
		n.Matrix = [16]float64{} // glTF allows no matrix on nodes that move
		n.Translation, n.Rotation, n.Scale = rest.at, rest.turn, rest.scale
	}
}
