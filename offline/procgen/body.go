package procgen

import (
	"math"

	"mannequin/engine/m3"
	"mannequin/offline/procgen/internal/smooth"
)

// trunkPose is the pose of the trunk at one time, before legs and head.
type trunkPose struct {
	hips                 m3.Vec3
	pelvis, loin, thorax m3.Quat // rotate the animal that faces +Z
	nod                  float64 // of the gait, added to the neck's pitch
	yaw                  float64 // of the chest
	chestUp              float64 // by the gait, m
	still                float64 // weight of idle noise
}

// turned returns the rotation by roll, then pitch (up), then yaw.
func turned(yaw, pitch, roll float64) m3.Quat {
	return m3.YawQuat(float32(yaw)).Mul(m3.AxisAngle(m3.V(1, 0, 0), float32(-pitch))).Mul(m3.AxisAngle(m3.V(0, 0, 1), float32(roll)))
}

func (w *walker) trunk(f int) trunkPose {
	t := float64(f) / fps
	g := w.place[f]
	s := &w.tl.style
	var hip, chest, sway, roll, rollChest, yaw, yawChest, flex, nod, surge float64
	for i := range w.tl.layers {
		l := &w.tl.layers[i]
		k := l.weight.at(t)
		if k == 0 {
			continue
		}
		ph := w.tl.phase[f] - l.shift
		hip += k * l.hip.amp * math.Cos(smooth.Tau*l.beats*(ph-l.hip.at))
		chest += k * l.chest.amp * math.Cos(smooth.Tau*l.beats*(ph-l.chest.at))
		nod += k * l.nod.amp * math.Cos(smooth.Tau*l.beats*(ph-l.nod.at))
		surge += k * l.surge.amp * math.Cos(smooth.Tau*l.beats*(ph-l.surge.at))
		sway += k * l.sway.value(ph)
		roll += k * l.roll.value(ph)
		rollChest += k * l.rollChest.value(ph)
		yaw += k * (l.yaw.value(ph) - l.lead)
		yawChest += k * (l.yawChest.value(ph) - l.lead)
		flex += k * l.flex.value(ph)
	}
	hip, chest, sway, nod = hip*s.bob, chest*s.bob, sway*s.sway, nod*s.nod

	p := trunkPose{still: w.param(noiseWeight, t), nod: nod, chestUp: chest}
	n := func(i int) float64 { return p.still * w.drift[i].At(t) }
	// Breath lifts the chest a little.
	breath := math.Sin(smooth.Tau*s.breath*t) * 0.003 * min(1, p.still)
	sway += 0.009 * n(0)
	surge += 0.009 * n(1)
	yaw += rad(1.1) * n(2)
	yawChest -= rad(0.9) * n(2)
	roll += rad(1) * n(3)
	flex += rad(1.2) * n(6)
	hip += 0.004 * n(7)
	chest += 0.004 * n(8)

	b := w.bend(t)
	at := g.apply(sway, w.param(hipAhead, t)+surge)
	hipY := hipHeight + w.param(hipUp, t) + hip + w.tl.up[0].at(t) - w.sink[0][f]
	at.Y = float32(hipY)
	p.hips = at
	// Hips and chest rise and fall separately. The pitch follows.
	rise := chest + breath + w.tl.up[1].at(t) - w.sink[1][f] - (hip + w.tl.up[0].at(t) - w.sink[0][f])
	up := w.param(pitch, t) + rise/(trunkLen*math.Max(0.4, math.Cos(w.param(pitch, t))))
	k := w.param(flexion, t) + flex
	lean := -0.5 * math.Tanh(w.tl.turn.at(t)*w.tl.ahead.at(t)/gravity) // into the curve
	p.pelvis = turned(g.yaw+yaw-0.3*b, up+1.2*k, roll+0.4*lean)
	p.loin = turned(g.yaw+0.15*b+0.5*(yaw+yawChest), up+k, 0.5*(roll+rollChest)+0.4*lean)
	p.thorax = turned(g.yaw+0.6*b+yawChest, up-k*loinLen/chestLen, rollChest+0.4*lean)
	p.yaw = g.yaw + 0.6*b
	return p
}

// pose is the pose of the animal at one frame, and what is missing to reach it.
type pose struct {
	root  m3.Vec3
	rot   [numJoints]m3.Quat // world
	need  [2]float64         // how far hips and chest must sink for the legs to reach
	low   [2]float64         // how far hips and chest must rise for knees and elbows to clear the ground
	short [numLegs]float64   // how much too short a leg in the air is
}

// scapula is the direction of the left shoulder blade of a standing leg in the thorax's axes,
// scapulaZ the direction of its local +Z.
var (
	scapula  = m3.V(0.32, -0.72, 0.62).Normalize(m3.Up)
	scapulaZ = m3.V(-0.63, -0.75, -0.12)
)

func mirrorX(v m3.Vec3, side float64) m3.Vec3 {
	if side < 0 {
		v.X = -v.X
	}
	return v
}

func (w *walker) pose(f int) pose {
	t := float64(f) / fps
	tr := w.trunk(f)
	var p pose
	p.root = tr.hips
	p.rot[hips] = tr.pelvis.Mul(pelvisFrame)
	p.rot[spine] = tr.loin.Mul(spineFrame)
	p.rot[spine1] = tr.thorax.Mul(spineFrame)
	thorax := tr.hips.Add(p.rot[spine].Rotate(m3.V(loinLen, 0, 0)))

	w.head(&p, &tr, t)
	for leg := range numLegs {
		if isFore(leg) {
			w.foreleg(&p, leg, f, thorax, tr.thorax)
		} else {
			w.hindleg(&p, leg, f, tr.hips, tr.pelvis)
		}
	}
	return p
}

// head poses neck and head. They keep heading and pitch in the world, except for the gait's nod.
func (w *walker) head(p *pose, tr *trunkPose, t float64) {
	look := w.tl.look.at(t) + 0.06*tr.still*w.drift[4].At(t)
	up := w.tl.nod.at(t)
	// The head turns before the body.
	ahead := 0.8 * (w.bend(t+0.2) - 0.2*w.bend(t))
	neckUp := w.param(neckPitch, t) + 0.55*up + tr.nod - 0.6*tr.chestUp/neckLen + rad(1.2)*tr.still*w.drift[5].At(t)
	headUp := w.param(headPitch, t) + 0.8*up - 0.3*tr.nod + rad(1.5)*tr.still*w.drift[4].At(t+3)
	p.rot[neck] = turned(tr.yaw+0.45*look+0.5*ahead, neckUp, 0).Mul(spineFrame)
	p.rot[head] = turned(tr.yaw+look+ahead, headUp, -0.12*look).Mul(headFrame)
	p.rot[headSite] = p.rot[head]
}

// clearance is the least height of knees and elbows, m. Wrists may be half as high.
const clearance = 0.012

// legStretch is the largest distance of a paw, as a share of the leg's length.
const legStretch = 0.955

func (w *walker) foreleg(p *pose, leg, f int, thorax m3.Vec3, turn m3.Quat) {
	t := float64(f) / fps
	side := sideOf(leg)
	left := turn.Rotate(m3.V(1, 0, 0))
	top := thorax.Add(turn.Rotate(m3.V(float32(side)*shoulderOut, -shoulderLow, shoulderFwd)))
	paw := w.paw(leg, t, func() m3.Vec3 {
		out := m3.V(float32(side*(shoulderOut+0.02)), 0, 0)
		fwd := m3.YawQuat(float32(w.placeAt(t).yaw)).Rotate(out.Add(m3.V(0, float32(-w.param(pawsLow, t)), float32(w.param(pawsAhead, t)))))
		return top.Add(turn.Rotate(scapula.Scale(scapulaLen))).Add(fwd)
	})
	// The shoulder blade swings with the leg.
	to := turn.Conj().Rotate(paw.at.Sub(top))
	reach := math.Atan2(float64(to.Z), -float64(to.Y)) - 0.06
	blade := m3.AxisAngle(m3.V(1, 0, 0), float32(-0.55*math.Tanh(reach)))
	dir := turn.Mul(blade).Rotate(mirrorX(scapula, side))
	z := turn.Mul(blade).Rotate(mirrorX(scapulaZ, side))
	z = z.Sub(dir.Scale(z.Dot(dir))).Normalize(m3.Up)
	j := leftShoulder + leg*(rightShoulder-leftShoulder)
	p.rot[j] = m3.FromAxes(dir, z.Cross(dir), z)

	l := limb{root: top.Add(dir.Scale(scapulaLen)), tip: paw.at, left: left}
	bend := w.param(wristBend, t)
	w.reachable(p, leg, f, &l, paw, foreReach(bend))
	bend -= rad(72) * paw.swing * min(1, float64(w.tl.clear[0].at(t))/0.07+0.35) * (1 - 0.9*w.param(pawsUp, t))
	pl := l.plane()
	arm, forearm, meta := pl.fore(bend)
	elbow := float64(l.root.Y + humerusLen*arm.Y)
	p.low[1] = max(p.low[1], clearance-elbow, clearance/2-(elbow+float64(radiusLen*forearm.Y)))
	p.rot[j+1] = boneFrame(arm, pl.left)
	p.rot[j+2] = boneFrame(forearm, pl.left)
	p.rot[j+3] = boneFrame(meta, pl.left)
	p.rot[j+4] = p.rot[j+3]
}

// boneFrame returns the frame of a bone along dir (local +X), with +Z to the left.
func boneFrame(dir, left m3.Vec3) m3.Quat {
	x := dir.Normalize(m3.V(0, -1, 0))
	z := left.Sub(x.Scale(left.Dot(x))).Normalize(m3.V(1, 0, 0))
	return m3.FromAxes(x, z.Cross(x), z)
}

func (w *walker) hindleg(p *pose, leg, f int, at m3.Vec3, pelvis m3.Quat) {
	t := float64(f) / fps
	side := sideOf(leg)
	paw := w.paw(leg, t, nil)
	l := limb{
		root: at.Add(pelvis.Rotate(m3.V(float32(side)*hipHalf, -hipDrop, -hipBehind))),
		tip:  paw.at, left: pelvis.Rotate(m3.V(1, 0, 0)),
	}
	bend := w.param(hockBend, t)
	w.reachable(p, leg, f, &l, paw, hindReach(bend))
	bend += rad(18) * paw.swing
	pl := l.plane()
	thigh, shank, meta := pl.hind(bend, w.param(heel, t), w.param(heelAngle, t))
	p.low[0] = max(p.low[0], clearance-float64(l.root.Y+femurLen*thigh.Y))
	j := leftUpLeg + (leg-leftHind)*(rightUpLeg-leftUpLeg)
	p.rot[j] = boneFrame(thigh, pl.left)
	p.rot[j+1] = boneFrame(shank, pl.left)
	// The metatarsus has −Y along the bone and +Z to the left.
	y := meta.Normalize(m3.V(0, -1, 0)).Neg()
	z := pl.left
	p.rot[j+2] = m3.FromAxes(y.Cross(z), y, z)
	p.rot[j+3] = p.rot[j+2]
}

// reachable records how far hips (0) or chest (1) must sink for a leg to reach its paw, if it
// stands or is about to. A paw in the air is pulled toward the leg's root instead.
func (w *walker) reachable(p *pose, leg, f int, l *limb, paw paw, reach float64) {
	d := l.root.Sub(l.tip)
	end := 0
	if isFore(leg) {
		end = 1
	}
	soon := 0.05
	if _, v, _ := w.tl.up[end].state(float64(f) / fps); math.Abs(v) > 0.3 {
		soon = 0.015 // in a jump the trunk must not follow the paw
	}
	limit := legStretch * reach
	if paw.free < soon {
		flat := float64(d.Flat().Len())
		short := float64(d.Y) - math.Sqrt(max(limit*limit-flat*flat, 0))
		p.need[end] = max(p.need[end], short)
	}
	if paw.free == 0 {
		return
	}
	far := float64(d.Len())
	p.short[leg] = max(0, far-limit)
	if w.pull[leg] != nil {
		near := far - w.pull[leg][f]*smooth.Step(paw.free/0.09)
		if hard := 0.985 * reach; near > limit {
			near = limit + (hard-limit)*math.Tanh((near-limit)/(hard-limit))
		}
		l.tip = l.root.Sub(d.Scale(float32(near / far)))
	}
}

// fitHeights finds, for each frame, how far hips and chest must sink or rise, and how far paws in the
// air must be pulled in. Each is a smooth upper bound of what is needed.
func (w *walker) fitHeights() {
	w.sink[0], w.sink[1] = make([]float64, w.frames), make([]float64, w.frames)
	for range 3 {
		need, low, _ := w.measure()
		for i := range need {
			down, up := smooth.UpperBound(need[i], 8), smooth.UpperBound(low[i], 12)
			for f := range w.frames {
				w.sink[i][f] += down[f] - up[f]
			}
		}
	}
	_, _, short := w.measure()
	for leg := range w.pull {
		w.pull[leg] = smooth.UpperBound(short[leg], 6)
	}
}

// measure returns what the poses of all frames need.
func (w *walker) measure() (need, low [2][]float64, short [numLegs][]float64) {
	clear(w.cursor[:])
	for f := range w.frames {
		p := w.pose(f)
		for i := range need {
			need[i], low[i] = append(need[i], p.need[i]), append(low[i], p.low[i])
		}
		for i := range short {
			short[i] = append(short[i], p.short[i])
		}
	}
	clear(w.cursor[:])
	return need, low, short
}
