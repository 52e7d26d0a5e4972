package mann

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Gather writes the network's inputs for rows r0 to r1 into x, which holds Layout.Inputs() values
// per row from row 0 on.
func (b *Batch) Gather(x []float32, r0, r1 int) {
	b.check(r0, r1)
	n := b.Model.Layout.Inputs()
	for r := r0; r < r1; r++ {
		b.gather(x[r*n:(r+1)*n], r)
	}
}

// GatherRow writes the network's inputs for row r into x, Layout.Inputs() values.
func (b *Batch) GatherRow(x []float32, r int) {
	b.check(r, r+1)
	b.gather(x[:b.Model.Layout.Inputs()], r)
}

func (b *Batch) gather(x []float32, r int) {
	m := b.Model.Layout
	root := b.root(r)
	for s := range feature.TrajSamples {
		i := r*points + min(s*feature.TrajStep, points-1)
		c := x[m.InSample(s):]
		put2(c[feature.SamplePos:], root.in(b.pos[i].sub(root.pos)))
		put2(c[feature.SampleDir:], root.in(b.dir[i]))
		put2(c[feature.SampleVel:], root.in(b.vel[i]))
		if !m.NoSpeed {
			c[feature.SampleSpeed] = b.speed[i]
		}
		copy(x[m.InActions(s):], b.act[i*b.actions:(i+1)*b.actions])
	}
	// The bones were predicted in the frame of the step before.
	before := r*points + now - int(b.stride[r])
	last := frame{b.pos[before], b.dir[before]}
	for j := range b.joints {
		k := r*b.joints + j
		c := x[m.InBone(j):][:feature.BoneChannels]
		put3(c[feature.BonePos:], last, b.bonePos[k].Sub(last.pos.vec3()))
		put3(c[feature.BoneForward:], last, b.boneFwd[k])
		put3(c[feature.BoneUp:], last, b.boneUp[k])
		put3(c[feature.BoneVel:], last, b.boneVel[k])
	}
	copy(x[m.InPhase(0):], b.phases(r))
}

func put2(dst []float32, v vec2) { dst[0], dst[1] = v.X, v.Z }

// put3 writes the world vector v in the axes of f.
func put3(dst []float32, f frame, v m3.Vec3) {
	l := f.in(flat(v))
	dst[0], dst[1], dst[2] = l.X, v.Y, l.Z
}

// get3 is the inverse of put3.
func get3(f frame, src []float32) m3.Vec3 {
	w := f.out(vec2{src[0], src[2]})
	return m3.V(w.X, src[1], w.Z)
}

func get2(f frame, src []float32) vec2 { return f.out(vec2{src[0], src[1]}) }

// Scatter advances rows r0 to r1 by one tick, or a row by its stride, with the network's outputs y,
// which holds Layout.Outputs() values per row from row 0 on. A row whose outputs are not finite, or
// whose state they take out of the training data's range, goes back to its last good pose, stands
// there, and is counted in Restored; the others do not notice.
func (b *Batch) Scatter(y []float32, r0, r1 int) {
	b.check(r0, r1)
	n := b.Model.Layout.Outputs()
	for r := r0; r < r1; r++ {
		b.advanceRow(y[r*n:(r+1)*n], r)
	}
}

// ScatterRow is Scatter for row r, whose outputs are the first of y.
func (b *Batch) ScatterRow(y []float32, r int) {
	b.check(r, r+1)
	b.advanceRow(y[:b.Model.Layout.Outputs()], r)
}

func (b *Batch) advanceRow(y []float32, r int) {
	from := b.root(r)
	if !sound(y) {
		b.restore(r, from, b.inRange(r))
		return
	}
	b.scatter(y, r)
	if b.inRange(r) {
		b.keep(r)
		b.display(r)
	} else {
		b.restore(r, from, false)
	}
}

func (b *Batch) scatter(y []float32, r int) {
	m := b.Model.Layout
	t := r * points
	root := b.root(r)

	// The past moves back by a point per tick.
	step := int(b.stride[r])
	copy(b.pos[t:t+now], b.pos[t+step:])
	copy(b.dir[t:t+now], b.dir[t+step:])
	copy(b.vel[t:t+now], b.vel[t+step:])
	copy(b.speed[t:t+now], b.speed[t+step:])
	copy(b.act[t*b.actions:(t+now)*b.actions], b.act[(t+step)*b.actions:])

	// The root moves, the less the more the character rests.
	out := y[m.OutRoot():]
	rest := b.Weight(r, control.Sit) + b.Weight(r, control.Stand) + b.Weight(r, control.Lie)
	scale := min(m3.Pow(max(1-b.Weight(r, control.Idle), 0), 0.25), m3.Sqrt(max(1-rest, 0))) * float32(step) / Rate
	sin64, cos64 := math.Sincos(float64(out[feature.RootYaw] * scale * math.Pi / 180))
	sin, cos := float32(sin64), float32(cos64)
	shift := root.out(vec2{out[feature.RootX], out[feature.RootZ]}).scale(scale)
	next := frame{root.pos.add(shift), root.fwd.rotate(sin, cos).unit(root.fwd)}
	b.pos[t+now], b.dir[t+now], b.vel[t+now] = next.pos, next.fwd, shift.scale(Rate/float32(step))
	b.between(r, step)

	b.advance(y, r, next, shift, sin, cos)

	dt := float32(step) / Rate
	for j := range b.joints {
		k := r*b.joints + j
		prev := b.bonePos[k]
		b.setBone(k, root, y[m.OutBone(j):])
		// Position and velocity are two estimates of the same place.
		b.bonePos[k] = prev.Add(b.boneVel[k].Scale(dt)).Lerp(b.bonePos[k], 0.5)
	}
	b.step(r, y[m.OutPhase(0):])
	b.sink(r)
}

// between fills in the points of a stride's ticks but the last, of which the past has the point
// before the stride in their stead.
func (b *Batch) between(r, step int) {
	t := r * points
	last := t + now - step
	for i := 1; i < step; i++ {
		k, u := last+i, float32(i)/float32(step)
		b.pos[k] = b.pos[last].lerp(b.pos[t+now], u)
		b.dir[k] = b.dir[last].lerp(b.dir[t+now], u).unit(b.dir[last])
		b.vel[k] = b.vel[t+now]
		b.speed[k] = b.speed[t+now]
		copy(b.act[k*b.actions:(k+1)*b.actions], b.act[(t+now)*b.actions:])
	}
}

// MaxPhase bounds the amplitude of a phase of stepping that a network goes on with: 99 of 100
// recorded ones are smaller.
const MaxPhase = 0.9

// step takes over the phases of stepping. Their amplitude is bounded: a network that is asked for
// what it hardly knows may answer a larger one with a still larger one, until its legs break.
func (b *Batch) step(r int, y []float32) {
	p := b.phases(r)
	for k := 0; k < len(p); k += feature.PhaseLen {
		v := vec2{y[k], y[k+1]}
		if l := v.length(); l > MaxPhase {
			v = v.scale(MaxPhase / l)
		}
		p[k], p[k+1] = v.X, v.Z
	}
}

const (
	sinkForget = 1. / (1.5 * Rate) // share per tick in which the lowest of late is forgotten: gallops fly for a fifth of a second
	sinkShare  = 0.1               // of what is above, per tick
)

// sink brings a row down that hangs in the air without having jumped. Networks go on at the height
// that they are fed, so that a start that took off too quickly would walk above the ground for
// good.
func (b *Batch) sink(r int) {
	const ground = 0.03 // m: recorded dogs that do not jump have a joint below it in every stride
	s := &b.shares[b.stride[r]]
	if b.Weight(r, control.Jump) > 0.05 {
		b.lowest[r] = 0
		return
	}
	bones := b.bonePos[r*b.joints : (r+1)*b.joints]
	low := bones[0].Y
	for _, p := range bones {
		low = min(low, p.Y)
	}
	b.lowest[r] = min(low, m3.Lerp(b.lowest[r], low, s.forget))
	over := s.sink * (b.lowest[r] - ground)
	if !(over > 0) {
		return
	}
	b.lowest[r] -= over
	for j := range bones {
		bones[j].Y -= over
	}
}

// advance takes the future a step on: along with the root, then toward the network's own
// prediction, seen from next, by the row's correction.
func (b *Batch) advance(y []float32, r int, next frame, shift vec2, sin, cos float32) {
	m, t, weight := b.Model.Layout, r*points, b.correct[r]
	dt := float32(b.stride[r]) / Rate
	for i := now + 1; i < points; i++ {
		// Network samples stand ten points apart; between them it is linear.
		s, u := (i-now)/feature.TrajStep, float32((i-now)%feature.TrajStep)/feature.TrajStep
		lo := y[m.OutSample(s):]
		hi := y[m.OutSample(min(s+1, feature.TrajFuture-1)):]
		at := func(c int) vec2 {
			return get2(next, lo[c:]).lerp(get2(next, hi[c:]), u)
		}
		k := t + i
		vel := at(feature.SampleVel)
		pos := b.pos[k].add(vel.scale(dt)).lerp(next.pos.add(at(feature.SamplePos)), 0.5)
		dir := at(feature.SampleDir)

		b.pos[k] = b.pos[k].add(shift).lerp(pos, weight)
		d := b.dir[k].rotate(sin, cos)
		b.dir[k] = d.lerp(dir.unit(d), weight).unit(d)
		b.vel[k] = b.vel[k].lerp(vel, weight)
	}
}

// setBone takes bone k from src, a bone of an input or output row seen from f. Axes come out of
// unit length.
func (b *Batch) setBone(k int, f frame, src []float32) {
	p := get3(f, src[feature.BonePos:])
	p.X, p.Z = p.X+f.pos.X, p.Z+f.pos.Z
	b.bonePos[k] = p
	fwd := get3(f, src[feature.BoneForward:]).Normalize(m3.V(0, 0, 1))
	up := get3(f, src[feature.BoneUp:])
	b.boneFwd[k] = fwd
	b.boneUp[k] = up.Normalize(m3.Up)
	b.boneVel[k] = get3(f, src[feature.BoneVel:])
}
