package mann

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Gather writes the inputs of the network for rows r0 to r1 into x, Layout.Inputs() values per row
// from row 0 on.
func (b *Batch) Gather(x []float32, r0, r1 int) {
	b.check(r0, r1)
	if b.Model == nil {
		return
	}
	n := b.Model.Layout.Inputs()
	for r := r0; r < r1; r++ {
		b.gather(x[r*n:(r+1)*n], r)
	}
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
	before := r*points + now - int(b.agent[r].stride)
	last := frame{b.pos[before], b.dir[before]}
	for j := range b.joints {
		b.putBone(x[m.InBone(j):][:feature.BoneChannels], r*b.joints+j, last)
	}
	copy(x[m.InPhase(0):], b.phases(r))
}

// putBone writes bone k, seen from f.
func (b *Batch) putBone(dst []float32, k int, f frame) {
	put3(dst[feature.BonePos:], f, b.bonePos[k].Sub(f.pos.vec3()))
	put3(dst[feature.BoneForward:], f, b.boneFwd[k])
	put3(dst[feature.BoneUp:], f, b.boneUp[k])
	put3(dst[feature.BoneVel:], f, b.boneVel[k])
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

// Scatter advances rows r0 to r1 by one tick, or by their strides, with the network's outputs y,
// Layout.Outputs() values per row from row 0 on. If a row's outputs are not finite, or take it out
// of the range of the training data, it goes back to its last good pose, stands there and is
// counted in Restored. Other rows are not affected.
func (b *Batch) Scatter(y []float32, r0, r1 int) {
	b.check(r0, r1)
	if b.Model == nil {
		return
	}
	n := b.Model.Layout.Outputs()
	for r := r0; r < r1; r++ {
		b.advanceRow(y[r*n:(r+1)*n], r)
	}
}

func (b *Batch) advanceRow(y []float32, r int) {
	from := b.root(r)
	if !feature.Within(y, limit) {
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
	before := t + now - int(b.agent[r].stride)
	last := frame{b.pos[before], b.dir[before]} // of the bones as they are

	// The past moves back by a point per tick.
	step := int(b.agent[r].stride)
	copy(b.pos[t:t+now], b.pos[t+step:])
	copy(b.dir[t:t+now], b.dir[t+step:])
	copy(b.vel[t:t+now], b.vel[t+step:])
	copy(b.speed[t:t+now], b.speed[t+step:])
	copy(b.act[t*b.actions:(t+now)*b.actions], b.act[(t+step)*b.actions:])

	// A resting character moves less.
	out := y[m.OutRoot():]
	rest := b.Weight(r, control.Sit) + b.Weight(r, control.Stand) + b.Weight(r, control.Lie)
	scale := float32(step) / Rate
	if !b.follows {
		scale *= min(m3.Pow(max(1-b.Weight(r, control.Idle), 0), 0.25), m3.Sqrt(max(1-rest, 0)))
	}
	sin64, cos64 := math.Sincos(float64(out[feature.RootYaw] * scale * math.Pi / 180))
	sin, cos := float32(sin64), float32(cos64)
	shift := root.out(vec2{out[feature.RootX], out[feature.RootZ]}).scale(scale)
	next := frame{root.pos.add(shift), root.fwd.rotate(sin, cos).unit(root.fwd)}
	b.pos[t+now], b.dir[t+now], b.vel[t+now] = next.pos, next.fwd, shift.scale(Rate/float32(step))
	b.fillStep(r, step)

	if !b.follows { // SetFuture writes all of it
		b.advance(y, r, next, shift, sin, cos)
	}

	dt := float32(step) / Rate
	var from [feature.BoneChannels]float32
	for j := range b.joints {
		k := r*b.joints + j
		prev, bone := b.bonePos[k], [feature.BoneChannels]float32{}
		copy(bone[:], y[m.OutBone(j):])
		if lead := b.lead(r, j, y); lead > 0 {
			b.putBone(from[:], k, last)
			for c := range feature.BoneVel {
				bone[c] += lead * (bone[c] - from[c])
			}
		}
		b.setBone(k, root, bone[:])
		// Position and velocity are two estimates of the same place.
		b.bonePos[k] = prev.Add(b.boneVel[k].Scale(dt)).Lerp(b.bonePos[k], 0.5)
	}
	b.updatePhases(r, y[m.OutPhase(0):])
	if !b.plainHead {
		b.turnHead(r)
	}
	b.lowerToGround(r)
}

// A network answers with the mean of all poses that may come next, in which legs move too little, most
// of all in slow motion. They move on by a larger share of what it predicts. In the swing that is more,
// because on the ground paws would slide.
const (
	leadSwing, leadStance         = 0.8, 0.26 // in slow motion
	leadFastSwing, leadFastStance = 0.35, 0.05
	leadSlow, leadFast            = 0.4, 1.2 // speeds between which the shares change, m/s
	swingFull                     = 0.3      // phase, amplitude × cosine, from which on a leg swings
)

// lead returns how much further joint j of row goes than the outputs y say, as a share of the way.
func (b *Batch) lead(r, j int, y []float32) float32 {
	tip := b.Model.leg[j]
	if tip < 0 || b.plainLegs {
		return 0
	}
	fast := m3.Clamp((b.vel[r*points+now].length()-leadSlow)/(leadFast-leadSlow), 0, 1)
	swing, stance := m3.Lerp(leadSwing, leadFastSwing, fast), m3.Lerp(leadStance, leadFastStance, fast)
	in := y[b.Model.Layout.OutPhase(tip)] / swingFull
	return b.Weight(r, control.Move) * m3.Clamp(swing*in, stance, swing)
}

// fillStep interpolates the trajectory's points for the inner ticks of a step of several ticks.
func (b *Batch) fillStep(r, step int) {
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

// MaxPhase bounds the amplitude of a phase of stepping. 99 % of the recorded ones are smaller.
const MaxPhase = 0.9

// updatePhases takes over the phases of stepping, with bounded amplitudes: a network far from its
// training data may answer a larger amplitude with a still larger one, until its legs break.
func (b *Batch) updatePhases(r int, y []float32) {
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
	sinkForget = 1. / (1.5 * Rate) // share per tick in which the lowest height is forgotten: gallops fly for a fifth of a second
	sinkShare  = 0.1               // share of the excess height removed per tick
)

// lowerToGround lowers a row that hangs in the air without a jump. Networks keep the height of
// their input, so after a start that took off too quickly a row would walk above the ground.
func (b *Batch) lowerToGround(r int) {
	ground := b.sole + 0.03 // m; without a jump, recorded dogs have a joint below it in every stride
	s := &b.shares[b.agent[r].stride]
	if b.Weight(r, control.Jump) > 0.05 {
		b.agent[r].lowest = 0
		return
	}
	bones := b.bonePos[r*b.joints : (r+1)*b.joints]
	low := bones[0].Y
	for _, p := range bones {
		low = min(low, p.Y)
	}
	b.agent[r].lowest = min(low, m3.Lerp(b.agent[r].lowest, low, s.forget))
	over := s.sink * (b.agent[r].lowest - ground)
	if !(over > 0) {
		return
	}
	b.agent[r].lowest -= over
	for j := range bones {
		bones[j].Y -= over
	}
}

// advance moves the future a step on: along with the root, then toward the network's prediction,
// seen from next, with the row's weight of correction.
func (b *Batch) advance(y []float32, r int, next frame, shift vec2, sin, cos float32) {
	m, t, weight := b.Model.Layout, r*points, b.agent[r].correct
	dt := float32(b.agent[r].stride) / Rate
	for i := now + 1; i < points; i++ {
		// The network's samples are ten points apart, with linear interpolation between them.
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

// setBone reads bone k from src, a bone of an input or output row seen from f. The axes become unit
// vectors.
func (b *Batch) setBone(k int, f frame, src []float32) {
	p := get3(f, src[feature.BonePos:])
	p.X, p.Z = p.X+f.pos.X, p.Z+f.pos.Z
	b.bonePos[k] = p
	b.boneFwd[k] = get3(f, src[feature.BoneForward:]).Normalize(m3.V(0, 0, 1))
	b.boneUp[k] = get3(f, src[feature.BoneUp:]).Normalize(m3.Up)
	b.boneVel[k] = get3(f, src[feature.BoneVel:])
}
