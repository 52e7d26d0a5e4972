package ik

import "mannequin/engine/m3"

// Places on the body whose ground is looked at: hips, chest, neck and the roots
// of the forelegs.
const (
	underHips = iota
	underChest
	underNeck
	underLeft
	underRight
	soils
)

const (
	// half is the share of the way that pelvis and chest turn with the terrain.
	half = 0.5
	// window is the length along the body over which its ground is averaged, m:
	// a step is a ramp for it.
	window = 0.5
	// A body's ground may push it up and down by bump, m/s²; what is harder is
	// eased over with the half-life soft, s.
	bump, soft = 5, 0.1
	// deep is how deep the flat pose may have its paws in the ground, m, before
	// that lifts the body.
	deep = 0.02
	// tries is the number of passes in which a new body sinks: sinking the chest
	// swings the forelegs, so that once does not do.
	tries = 3
	// wag is how hard the joints of tail and head are pushed at most, m/s².
	wag = 60
)

// Body is what the solver remembers of one body. The zero Body has seen nothing
// yet; set it for agents that are new or were moved.
type Body struct {
	soil [soils]glide    // the ground's height under places of the body, m (Y)
	sink [2]spring       // how far hips and chest are lowered for their legs, m
	tail [maxChain]glide // where its joints went in the world
	head [maxChain]glide // the same
	at   m3.Vec3         // the flat pose's hips at the last tick
	pace float32         // their speed over the ground, eased, m/s
	seen bool
}

type spring struct{ x, v float32 }

// see notes where the flat pose has the hips now and returns their speed over the
// ground, m/s.
func (b *Body) see(hips m3.Vec3, dt float32) float32 {
	if b.seen {
		b.pace = m3.DampTo(b.pace, hips.Sub(b.at).Flat().Len()/dt, soft, dt)
	}
	b.at = hips
	return b.pace
}

// under returns the ground's height under p for a body that points ahead.
func (s *Legged) under(p, ahead m3.Vec3) float32 {
	const n = 5
	var sum float32
	for i := range n {
		d := window * (float32(i)/(n-1) - 0.5)
		sum += s.soil(p.X+d*ahead.X, p.Z+d*ahead.Z)
	}
	return sum / n
}

// feel looks at the ground under the flat pose m.
func (s *Legged) feel(m []m3.Xform, b *Body) {
	spine := s.Rig.Roles.Spine
	joints := [soils]int{spine[0], spine[len(spine)-1], s.Rig.Roles.Neck, s.Rig.sides[0], s.Rig.sides[1]}
	ahead := m[s.Rig.Roles.Neck].Pos.Sub(m[spine[0]].Pos)
	if l, r := s.Rig.hips[0], s.Rig.hips[1]; l >= 0 { // upright: the trunk goes where the hips go
		ahead = m[l].Pos.Sub(m[r].Pos).Cross(m3.Up)
		joints = [soils]int{spine[0], -1, -1, -1, -1}
	}
	ahead = ahead.Flat().Normalize(m3.Vec3{})
	for i, j := range joints {
		if j >= 0 {
			b.soil[i].next(m3.V(0, s.under(m[j].Pos, ahead), 0), bump, soft, s.DT)
		}
	}
}

// spine lifts the flat pose m to the ground: the hips move, half of the pelvis
// turns toward the neck's lifted place, the rest of the spine follows until
// chest and neck stand over the ground as they stood over the flat, and the
// chest rolls with the ground under the forelegs. Hips and chest sink as far as
// b says. A trunk that stands upright is lifted as it is.
func (s *Legged) spine(m []m3.Xform, b *Body) {
	t, joints, neck := s.Rig.Tree, s.Rig.Roles.Spine, s.Rig.Roles.Neck
	lift := func(j, under int, sink float32) m3.Vec3 {
		p := m[j].Pos
		p.Y += b.soil[under].out.Y - sink
		return p
	}
	last := len(joints) - 1
	hips, chest := joints[0], joints[last]
	sinkHips, sinkChest := b.sink[0].x, b.sink[1].x
	neckTo, chestTo := lift(neck, underNeck, sinkChest), lift(chest, underChest, (sinkHips+sinkChest)/2)
	var line, lineTo m3.Vec3
	if l, r := s.Rig.sides[0], s.Rig.sides[1]; l >= 0 {
		line, lineTo = m[l].Pos.Sub(m[r].Pos), lift(l, underLeft, 0).Sub(lift(r, underRight, 0))
	}
	up := m3.V(0, b.soil[underHips].out.Y-sinkHips, 0)
	for j := hips; j < int(t.ends[hips]); j++ {
		m[j].Pos = m[j].Pos.Add(up)
	}
	if s.Rig.hips[0] >= 0 {
		return
	}
	t.aim(m, hips, m[neck].Pos, neckTo, half)
	for i := 1; i < last; i++ {
		t.aim(m, joints[i], m[chest].Pos, chestTo, 1/float32(last-i))
	}
	t.aim(m, chest, m[neck].Pos, neckTo, 1)
	t.aim(m, chest, m[chest].Pos.Add(line), m[chest].Pos.Add(lineTo), half)
}

// sink lowers hips and chest toward where the standing paws of the pose m, made
// with b, come within reach, as far as the body has room over the ground, and
// reports whether that changed anything.
func (s *Legged) sink(m []m3.Xform, legs []plan, b *Body) bool {
	var goal [2]float32
	room := [2]float32{s.MaxDrop, s.MaxDrop}
	for i, l := range s.Rig.Roles.Legs {
		end := 0
		if s.Rig.fore[i] {
			end = 1
		}
		top, knee, paw := m[l.upper()].Pos, m[l.lower()].Pos, m[l.paw()].Pos
		length := top.Dist(knee) + knee.Dist(paw)
		reach, least := legs[i].reach*length, legs[i].least*length
		d := top.Sub(legs[i].wrist)
		flat := d.Flat().Len()
		short := d.Y - m3.Sqrt(max(reach*reach-flat*flat, 0))
		goal[end] = max(goal[end], legs[i].load*(b.sink[end].x+short))
		// The joints on which legs hang stay above the ground, and so high that
		// legs need not fold up.
		high := top.Y - s.soil(top.X, top.Z) - gap
		if flat < least {
			high = min(high, d.Y-m3.Sqrt(least*least-flat*flat))
		}
		room[end] = min(room[end], b.sink[end].x+high)
		if legs[i].under > deep {
			room[end] = min(room[end], deep-legs[i].under)
		}
	}
	changed := false
	for i := range goal {
		x, to := b.sink[i].x, max(min(goal[i], room[i]), -s.MaxDrop)
		if b.sink[i].x = to; b.seen {
			b.sink[i].x, b.sink[i].v = m3.Spring(x, b.sink[i].v, to, s.Sink, s.DT)
		}
		changed = changed || m3.Abs(b.sink[i].x-x) > 1e-5
	}
	return changed
}
