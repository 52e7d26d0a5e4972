package retarget

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// walk is a made-up motion of the uniform skeleton: it moves ahead, swings
// everything a little, and bends knees and elbows the right way.
func walk(frames int, seed uint64) *skel.Clip {
	s := Human()
	c := skel.NewClip(s, 60, frames)
	rng := rand.New(rand.NewPCG(seed, 2))
	type swing struct{ size, rate, phase m3.Vec3 }
	swings := make([]swing, s.Len())
	for j := range swings {
		v := func(r float32) m3.Vec3 { return m3.V(r*rng.Float32(), r*rng.Float32(), r*rng.Float32()) }
		swings[j] = swing{v(0.3), v(3), v(6)}
	}
	for f := range frames {
		pos, rot := c.Frame(f)
		t := float32(f) / 60
		pos[0] = m3.V(0.1*m3.Sin(t), 0.95, 1.2*t)
		for j, w := range swings {
			if s.EndSite[j] {
				continue
			}
			sin := func(r, p float32) float32 { return m3.Sin(r*t*2 + p) }
			v := m3.V(w.size.X*sin(w.rate.X, w.phase.X), w.size.Y*sin(w.rate.Y, w.phase.Y), w.size.Z*sin(w.rate.Z, w.phase.Z))
			rot[j] = m3.FromRotationVector(v)
			bend := 0.7 + 0.5*sin(2, w.phase.X)
			switch name := s.Names[j]; {
			case name == "LeftLeg" || name == "RightLeg":
				rot[j] = m3.AxisAngle(m3.V(1, 0, 0), bend)
			case name == "LeftForeArm":
				rot[j] = m3.AxisAngle(m3.V(0, -1, 0), bend)
			case name == "RightForeArm":
				rot[j] = m3.AxisAngle(m3.V(0, 1, 0), bend)
			case strings.HasSuffix(name, "Foot"):
				rot[j] = m3.AxisAngle(m3.V(1, 0, 0), v.X/2)
			}
		}
	}
	return c
}

// disguise returns c with each joint's frame turned by turns (nil: none), in
// another unit of length: the same motion in another form.
func disguise(c *skel.Clip, turns []m3.Quat, unit float32) *skel.Clip {
	n := c.Skel.Len()
	if turns == nil {
		turns = make([]m3.Quat, n)
		for j := range turns {
			turns[j] = m3.Ident
		}
	}
	s := *c.Skel
	s.Offsets = make([]m3.Vec3, n)
	up := func(j int) m3.Quat {
		if p := s.Parents[j]; p >= 0 {
			return turns[p]
		}
		return m3.Ident
	}
	for j, o := range c.Skel.Offsets {
		s.Offsets[j] = up(j).Conj().Rotate(o).Scale(unit)
	}
	out := skel.NewClip(&s, c.FPS, c.Frames)
	for i := range c.Pos {
		j := i % n
		out.Pos[i] = up(j).Conj().Rotate(c.Pos[i]).Scale(unit)
		out.Rot[i] = up(j).Conj().Mul(c.Rot[i]).Mul(turns[j])
		if s.EndSite[j] {
			out.Rot[i] = m3.Ident
		}
	}
	return out
}

// stretched returns c on a skeleton whose joints other than the root have offsets of their own.
func stretched(c *skel.Clip, offset func(name string, o m3.Vec3) m3.Vec3) *skel.Clip {
	out := disguise(c, nil, 1)
	s := out.Skel
	for j, p := range s.Parents {
		if p < 0 {
			continue
		}
		s.Offsets[j] = offset(s.Names[j], s.Offsets[j])
		for f := range out.Frames {
			out.Pos[f*s.Len()+j] = s.Offsets[j]
		}
	}
	return out
}

// quarter returns one of the 24 rotations that carry axes onto axes.
func quarter(rng *rand.Rand) m3.Quat {
	q := m3.Ident
	for range 4 {
		axis := [3]m3.Vec3{{X: 1}, {Y: 1}, {Z: 1}}[rng.IntN(3)]
		q = m3.AxisAngle(axis, float32(rng.IntN(4))*math.Pi/2).Mul(q)
	}
	return q
}

// apart returns the largest distance between the joints of two clips of the
// uniform skeleton, and the largest angle between joints that turn.
func apart(t *testing.T, a, b *skel.Clip) (dist, angle float32) {
	t.Helper()
	if a.Frames != b.Frames || a.FPS != b.FPS {
		t.Fatalf("%d frames at %g, want %d at %g", a.Frames, a.FPS, b.Frames, b.FPS)
	}
	n := a.Skel.Len()
	x, y := make([]m3.Xform, n), make([]m3.Xform, n)
	for f := range a.Frames {
		a.Model(x, f)
		b.Model(y, f)
		for j := range n {
			dist = max(dist, x[j].Pos.Dist(y[j].Pos))
			if !a.Skel.EndSite[j] {
				angle = max(angle, x[j].Rot.Angle(y[j].Rot))
			}
		}
	}
	return dist, angle
}

func run(t *testing.T, r Retargeter) (*skel.Clip, *Report) {
	t.Helper()
	out, rep := must.Get2(r.Run())(t)
	return out, rep
}

func job(c *skel.Clip, p *Profile) Retargeter {
	r := Default()
	r.Source, r.Profile = c, p
	return r
}
