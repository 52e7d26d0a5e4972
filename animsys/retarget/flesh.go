package retarget

import (
	"fmt"

	"mannequin/engine/m3"
)

// Tube is a bone with flesh around it.
type Tube struct {
	From, To int     // own joints at its ends
	Radius   float32 // m
	Leg      bool    // it is no part of the trunk: forearms keep out of it however thin it is
}

const (
	// touching is how deep two tubes may be in each other, by the radius of the thinner one: clothes and bellies give way.
	touching = 0.5
	// slim is the radius of a trunk with a forearm, in the source's metres, up to which a body is as slim as people are, whose
	// motion goes through no trunk: public people have up to 0.23.
	slim     = 0.26
	maxTubes = 4
	// mostAway is by how much an arm turns away from a tube at most, rad.
	mostAway = 0.7
	// forearmSamples are the places on a forearm that are kept out of tubes, and awayPasses how often all tubes are gone
	// through at most: an arm that leaves one may come into another.
	forearmSamples, awayPasses = 2, 3
	// leastLever is the lever, by the length of the arm, below which a turn would be large and do little.
	leastLever = 0.3
)

// guard keeps the forearm of a limb out of a tube.
type guard struct {
	from, to int
	keep     float32 // least distance between the two bones, m
}

func (o *Options) checkFlesh() error {
	if len(o.Flesh) > maxTubes {
		return fmt.Errorf("there are %d tubes of Flesh, want at most %d", len(o.Flesh), maxTubes)
	}
	for i, t := range o.Flesh {
		if t.From < 0 || t.From >= len(o.Rest) || t.To < 0 || t.To >= len(o.Rest) || !(t.Radius >= 0) || !m3.Finite(t.Radius) {
			return fmt.Errorf("tube %d of Flesh joins the joints %d and %d with a radius of %g m, and there are %d joints", i, t.From, t.To, t.Radius, len(o.Rest))
		}
	}
	return nil
}

// addGuards finds what keeps the forearms away from the body. What touches at rest may go on to do so.
func (b *builder) addGuards() {
	for i := range b.c.limbs[b.c.legs:] {
		l := &b.c.limbs[b.c.legs+i]
		for _, t := range b.Flesh {
			if !t.Leg && t.Radius+b.Forearms < slim*b.c.Scale {
				continue
			}
			g := guard{from: t.From, to: t.To, keep: t.Radius + b.Forearms - touching*min(t.Radius, b.Forearms)}
			elbow, wrist := b.Rest[l.mid.joint].Pos, b.Rest[l.end.joint].Pos
			at, near := g.now(b.Rest, b.Rest[l.upper.joint].Pos), g.keep
			for k := range forearmSamples + 1 {
				out := at.out(elbow.Lerp(wrist, float32(k)/forearmSamples))
				near = min(near, out.Len())
			}
			g.keep = near
			l.guards = append(l.guards, g)
		}
	}
}

// tubeNow is where a tube is in a pose, as seen from the root of an arm.
type tubeNow struct {
	from, way m3.Vec3
	inverse   float32 // 1 over the square of the length of way
	side      m3.Vec3 // from its bone to the arm's root, unit
}

func (g *guard) now(dst []m3.Xform, root m3.Vec3) (t tubeNow) {
	t.from = dst[g.from].Pos
	t.way = dst[g.to].Pos.Sub(t.from)
	t.inverse = 1 / max(t.way.Dot(t.way), 1e-9)
	t.side = t.out(root).Normalize(m3.Vec3{})
	return t
}

// out returns the way from the tube's bone to place p.
func (t *tubeNow) out(p m3.Vec3) m3.Vec3 {
	d := p.Sub(t.from)
	return d.Sub(t.way.Scale(m3.Clamp(d.Dot(t.way)*t.inverse, 0, 1)))
}

// keepAway turns an arm about its shoulder, so that its forearm leaves the body, and returns by what, if it does. Every
// place on the forearm asks for a turn of its own, by how deep it is, and least where a turn does little: so their mean has
// no jumps.
func (l *limb) keepAway(dst []m3.Xform) (by m3.Quat, moved bool) {
	by = m3.Ident
	if len(l.guards) == 0 {
		return by, false
	}
	joints := [...]int{l.upper.joint, l.mid.joint, l.end.joint}
	root := dst[joints[0]].Pos
	least := leastLever * (l.a + l.b)
	var tubes [maxTubes]tubeNow
	for i := range l.guards {
		tubes[i] = l.guards[i].now(dst, root)
	}
	for range awayPasses {
		var axis m3.Vec3 // of the turn, times its angle and weights
		var weights float32
		elbow, wrist := dst[joints[1]].Pos, dst[joints[2]].Pos
		for i := range l.guards {
			t, keep := &tubes[i], l.guards[i].keep
			for k := range forearmSamples + 1 {
				p := elbow.Lerp(wrist, float32(k)/forearmSamples)
				out := t.out(p)
				if out.Dot(out) >= keep*keep {
					continue
				}
				// Away from the bone, and the deeper the more to the side of the shoulder.
				depth := keep - out.Len()
				a := p.Sub(root).Cross(out.Add(t.side.Scale(depth)).Normalize(t.side))
				axis = axis.Add(a.Scale(depth * depth / (a.Dot(a) + least*least)))
				weights += depth
			}
		}
		length := axis.Len()
		if !(length > 1e-5*weights) {
			break
		}
		turn := m3.AxisAngle(axis.Scale(1/length), min(length/weights, mostAway))
		by, moved = turn.Mul(by), true
		for _, j := range joints[1:] {
			dst[j].Pos = root.Add(turn.Rotate(dst[j].Pos.Sub(root)))
		}
		if length < 0.02*weights {
			break
		}
	}
	if moved {
		by = by.Normalize()
		for _, j := range joints {
			dst[j].Rot = by.Mul(dst[j].Rot).Normalize()
		}
	}
	return by, moved
}
