package human

import (
	"math"
	"math/rand/v2"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/procgen/internal/smooth"
	"mannequin/offline/registration"
	"mannequin/offline/retarget"
)

// rig is the uniform skeleton and the first joints of its limbs.
type rig struct {
	*skel.Skeleton
	upLeg, shoulder               [2]int // left, right; the rest of the limb follows in order
	lowerBack, spine, chest, neck int
}

func newBody() *rig {
	s := retarget.Human()
	return &rig{Skeleton: s,
		upLeg:     [2]int{s.Index("LeftUpLeg"), s.Index("RightUpLeg")},
		shoulder:  [2]int{s.Index("LeftShoulder"), s.Index("RightShoulder")},
		lowerBack: s.Index("LowerBack"), spine: s.Index("Spine"), chest: s.Index("Spine1"), neck: s.Index("Neck"),
	}
}

// performer performs scripts: a style and one person's variation of it.
type performer struct {
	body      *rig
	style     style
	person    *rand.Rand // variation of the person
	rng       *rand.Rand // variation from step to step
	variation float64    // scale of all variation; 0: none
}

// figure is a person in motion: everything that the frames of a take share.
type figure struct {
	*performer
	m      personGait
	course *course
	feet   [2][]stance
	drift  [17]smooth.Noise
	breath float64 // phase of breathing, cycles

	chestYaw, chestPitch, chestRoll float64 // of the present frame
}

// deviate returns a random number with a deviation of about 1, at most 2.5.
func (p *performer) deviate() float64 { return p.of(p.rng) }

func (p *performer) of(r *rand.Rand) float64 {
	return (r.Float64() + r.Float64() + r.Float64() - 1.5) * 2 * p.variation
}

// footOffset returns a random offset of a foot from its best place.
func (g *figure) footOffset(yaw float64) m3.Vec3 {
	d := m3.V(float32(0.006*g.deviate()), 0, float32(0.009*g.deviate()))
	return m3.YawQuat(float32(yaw)).Rotate(d)
}

// figure applies the performer to a script.
func (p *performer) figure(s *script) *figure {
	g := &figure{performer: p, m: newPersonGait(gaitOf(s.action), &p.style)}
	g.m.vary(func() float64 { return p.of(p.person) })
	g.m.noise *= p.variation
	for i := range g.drift {
		g.drift[i] = smooth.NewNoise(p.rng, 0.35)
	}
	g.breath = 0.04 * p.deviate() // otherwise the script sets the breath
	g.course = newCourse(s, &g.m)
	for i := range g.feet {
		g.feet[i] = g.stances(i)
	}
	for i := range g.feet {
		g.clear(i)
	}
	return g
}

func (p *performer) perform(s *script) *registration.Take {
	g := p.figure(s)
	frames := int(math.Floor(g.course.at(s.cycles).time*FPS)) + 1
	t := &registration.Take{Take: mar.Take{Action: s.action, Style: p.style.name, Content: s.name,
		Clip: skel.NewClip(p.body.Skeleton, FPS, frames), Times: make([]float64, frames), Stands: make([]uint8, frames)}}
	beats := make([]beat, frames)
	for f := range beats {
		sec := float64(f) / FPS
		beats[f] = g.beatAt(g.course.when(sec), sec)
		t.Times[f] = beats[f].t * Period
		for foot := range g.feet {
			if g.stands(foot, beats[f].t) {
				t.Stands[f] |= 1 << foot
			}
		}
	}
	sink := g.sink(beats)
	for f := range beats {
		po := g.pose(&beats[f], sink[f])
		g.write(t.Clip, f, po)
	}
	return t
}

func (g *figure) stands(foot int, t float64) bool { return g.foot(foot, t).free == 0 }

// sink returns how far the pelvis must be below straight legs in each frame, so that no standing
// leg is overstretched. It is nearly constant over a cycle, so that the pelvis keeps its bounce.
func (g *figure) sink(beats []beat) []float64 {
	half := int(0.3 * FPS / g.m.cadence)
	lack := make([]float64, len(beats)) // need beyond sink
	po := pose{rot: make([]m3.Quat, g.body.Len())}
	for f := range beats {
		g.trunk(&po, &beats[f], 0)
		lack[f] = max(g.leg(&po, 0, beats[f].t), g.leg(&po, 1, beats[f].t))
	}
	sink := make([]float64, len(beats))
	for range 3 { // the first bound is loose
		for f, s := range smooth.UpperBound(lack, half) {
			sink[f] += s
			lack[f] -= s
		}
	}
	// Who stands has straight legs, unless the style is one of a crouch.
	const crouch = 0.025 // m
	straight := max(g.m.bend-crouch, 0)
	for f := range sink {
		sink[f] += g.m.bend + beats[f].stand*(straight-g.m.bend)
	}
	return sink
}

func (g *figure) pose(b *beat, sink float64) *pose {
	p := &pose{rot: make([]m3.Quat, g.body.Len())}
	g.trunk(p, b, sink)
	for i := range 2 {
		g.leg(p, i, b.t)
		g.arm(p, i, b)
	}
	return p
}

// write puts a pose into frame f of a clip. Quaternions stay on the side of the frame before.
func (g *figure) write(c *skel.Clip, f int, p *pose) {
	pos, rot := c.Frame(f)
	pos[0] = p.root
	for j := range rot {
		parent := c.Skel.Parents[j]
		switch {
		case c.Skel.EndSite[j]:
			continue
		case parent < 0:
			rot[j] = p.rot[j].Normalize()
		default:
			rot[j] = p.rot[parent].Conj().Mul(p.rot[j]).Normalize()
		}
		before := m3.Ident
		if f > 0 {
			before = c.Rot[(f-1)*len(rot)+j]
		}
		if rot[j].Dot(before) < 0 {
			rot[j] = rot[j].Neg()
		}
	}
}
