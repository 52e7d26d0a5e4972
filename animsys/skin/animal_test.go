package skin

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// beast is an animal on pairs of legs. Its tail has joints, and its spine.
type beast struct {
	pairs, spine, tail int
	long               float32 // how much longer the tail is
	thigh, shin        float32 // lengths relative to those of the plain one
	names              func(string) string
	to                 m3.Quat // how its file is turned
	unit               float32
}

// joints returns the skeleton at rest, each with the axes of the file's space.
func (b beast) joints() *skel.Skeleton {
	s := &skel.Skeleton{}
	at := map[string]m3.Vec3{}
	add := func(name, parent string, p m3.Vec3) {
		at[name] = p
		s.Names, s.Parents = append(s.Names, name), append(s.Parents, int16(s.Index(parent)))
		s.Offsets, s.EndSite = append(s.Offsets, b.to.Rotate(p.Sub(at[parent])).Scale(b.unit)), append(s.EndSite, false)
	}
	up := float32(0.5) * (b.thigh + b.shin) / 2
	add("hips", "", m3.V(0, up+0.1, -0.4))
	last := "hips"
	for i := range b.spine {
		name := fmt.Sprint("spine", i)
		add(name, last, m3.V(0, up+0.12, -0.4+0.7*float32(i+1)/float32(b.spine)))
		last = name
	}
	chest := last
	add("neck", chest, m3.V(0, up+0.2, 0.4))
	add("head", "neck", m3.V(0, up+0.35, 0.55))
	last = "hips"
	for i := range b.tail {
		name := fmt.Sprint("tail", i)
		add(name, last, m3.V(0, up+0.1, -0.5-(0.4+b.long)*float32(i)/float32(b.tail)))
		last = name
	}
	for k := range b.pairs {
		parent, z := "hips", float32(-0.4)
		switch {
		case b.pairs == 2 && k == 0:
			parent, z = chest, 0.3
		case b.pairs > 2:
			parent, z = "hips", 0.35-0.7*float32(k)/float32(b.pairs-1)
		}
		for _, side := range []string{"left", "right"} {
			x, out := float32(1), float32(0)
			if side == "right" {
				x = -1
			}
			if b.pairs > 2 {
				out = 0.3 // legs lead aside
			}
			bend := float32(0.05)
			if k == 0 && b.pairs == 2 {
				bend = -0.05
			}
			knee := m3.V(x*(0.1+out), up-up*b.thigh/(b.thigh+b.shin), z+bend)
			name := fmt.Sprintf("%s leg%d ", side, k)
			add(name+"hip", parent, m3.V(x*0.1, up, z))
			add(name+"knee", name+"hip", knee)
			add(name+"foot", name+"knee", m3.V(x*(0.1+2*out), 0.05, z))
			add(name+"toe", name+"foot", m3.V(x*(0.1+2*out), 0, z+0.06))
		}
	}
	if b.names != nil {
		for j, n := range s.Names {
			s.Names[j] = b.names(n)
		}
	}
	return s
}

func plainBeast(pairs int) beast {
	return beast{pairs: pairs, spine: 2, tail: 2, thigh: 1, shin: 1, to: m3.Ident, unit: 1}
}

// skin returns a mesh that has a triangle at each joint.
func (b beast) skin() *Skin {
	sk := b.joints()
	s := &Skin{Name: "beast.glb"}
	for j, x := range sk.Rest() {
		s.joints = append(s.joints, joint{name: sk.Names[j], parent: int(sk.Parents[j]), pos: x.Pos, rot: b.to})
		for k := range 3 {
			d := m3.V([]float32{0, 0.01, 0}[k], []float32{0, 0, 0.01}[k], 0).Scale(b.unit)
			s.mesh.pos, s.mesh.normal = append(s.mesh.pos, x.Pos.Add(d)), append(s.mesh.normal, m3.Up)
			s.mesh.colour, s.mesh.influences = append(s.mesh.colour, [3]float32{}), append(s.mesh.influences, []influence{{int32(j), 1}})
			s.mesh.index = append(s.mesh.index, uint32(3*j+k))
		}
	}
	return s
}

// steps returns how the beast walks: a pair's legs take turns, trunk and tail sway.
func (b beast) steps() *Motion {
	sk := b.joints()
	c := skel.NewClip(sk, 30, 60)
	plain := b
	plain.to, plain.names = m3.Ident, nil
	names := plain.joints().Names
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		copy(pos, sk.Offsets)
		t := 2 * math.Pi * float32(f) / 30
		pos[0] = pos[0].Add(b.to.Rotate(m3.V(0, -0.03-0.01*m3.Sin(2*t), 0.02*float32(f))).Scale(b.unit))
		for j, name := range names {
			axis, angle := m3.V(1, 0, 0), float32(0)
			phase := t
			if strings.HasPrefix(name, "right") {
				phase += math.Pi
			}
			switch {
			case strings.HasSuffix(name, "hip"):
				angle = 0.3 * m3.Sin(phase)
			case strings.HasSuffix(name, "knee"):
				angle = 0.2 + 0.2*m3.Cos(phase)
			case strings.HasSuffix(name, "foot"):
				angle = -0.2 * m3.Sin(phase)
			case strings.HasPrefix(name, "tail"), strings.HasPrefix(name, "spine"), name == "neck":
				axis, angle = m3.Up, 0.1*m3.Sin(t+float32(len(name)))
			}
			rot[j] = m3.AxisAngle(b.to.Rotate(axis), angle)
		}
	}
	return &Motion{Name: "walk", Clip: c, Rest: sk.Rest()}
}

var roundabout = m3.AxisAngle(m3.V(1, 0, 0), -math.Pi/2).Mul(m3.AxisAngle(m3.Up, math.Pi/2)) // z up, ahead elsewhere

// An animal's motion goes onto its own body with other names, another unit, another axis up and another way ahead:
// then all joints are where the motion has them, scaled.
func TestAnimalItself(t *testing.T) {
	for pairs := 2; pairs <= 4; pairs++ {
		from, to := plainBeast(pairs), plainBeast(pairs)
		from.names = func(n string) string { return "rig_" + strings.ToUpper(n) }
		from.unit = 0.01
		for _, turned := range []m3.Quat{m3.Ident, roundabout} {
			from.to = turned
			m := from.steps()
			c, clip, err := to.skin().Animal(m, nil, CharacterOptions{})
			must.Do(t, err)
			got := must.Get(c.InFile(clip))(t)
			n := got.Skel.Len()
			x, y, far, where := make([]m3.Xform, n), make([]m3.Xform, n), float32(0), ""
			for f := range got.Frames {
				m.Clip.Model(x, f)
				got.Model(y, f)
				for j := range x {
					if d := turned.Conj().Rotate(x[j].Pos).Scale(100).Dist(y[j].Pos); d > far {
						far, where = d, fmt.Sprintf("%s in frame %d", got.Skel.Names[j], f)
					}
				}
			}
			t.Logf("%d legs, turned %v: at most %.2g m", 2*pairs, turned, far)
			if far > 2e-3 {
				t.Errorf("%d legs, turned %v: %s is %g m off", 2*pairs, turned, where, far)
			}
		}
	}
}

// On an animal of other proportions bones keep their lengths, and feet are where the motion's are, by the height of the
// legs: they neither slide nor sink in.
func TestAnimalOther(t *testing.T) {
	for pairs := 2; pairs <= 4; pairs++ {
		from, to := plainBeast(pairs), beast{pairs: pairs, spine: 4, tail: 5, thigh: 1.5, shin: 1.2, to: roundabout, unit: 1}
		m := from.steps()
		c, clip, err := to.skin().Animal(m, nil, CharacterOptions{})
		must.Do(t, err)
		if want := clip.Skel.Len(); want != to.joints().Len() {
			t.Errorf("%d legs: %d of %d joints play a part", 2*pairs, want, to.joints().Len())
		}
		got := must.Get(c.InFile(clip))(t)
		sk, n := got.Skel, got.Skel.Len()
		y, src := make([]m3.Xform, n), make([]m3.Xform, clip.Skel.Len())
		rest, its := to.joints().Rest(), make([]m3.Xform, m.Clip.Skel.Len())
		var slide, slideSource float64
		last, lastSource := map[string]m3.Vec3{}, map[string]m3.Vec3{}
		for f := range got.Frames {
			got.Model(y, f)
			clip.Model(src, f)
			for j, p := range sk.Parents {
				if p >= 0 {
					if d := y[j].Pos.Dist(y[p].Pos) - rest[j].Pos.Dist(rest[p].Pos); m3.Abs(d) > 1e-5 {
						t.Fatalf("%d legs, frame %d: the bone to %s has changed by %g m", 2*pairs, f, sk.Names[j], d)
					}
				}
			}
			// The third of four joints of the spine has its middle at 5/6, those of the motion's two are at 1/2 and 1.
			m.Clip.Model(its, f)
			yaw := func(of []m3.Xform, s *skel.Skeleton, joint string, to m3.Quat) float32 {
				return to.Conj().Mul(of[s.Index(joint)].Rot).Yaw()
			}
			low, high := yaw(its, m.Clip.Skel, "spine0", m3.Ident), yaw(its, m.Clip.Skel, "spine1", m3.Ident)
			if got, want := yaw(y, sk, "spine2", roundabout), low+(high-low)*2/3; m3.Abs(got-want) > 2e-3 {
				t.Errorf("%d legs, frame %d: the spine is turned by %g, want %g", 2*pairs, f, got, want)
			}
			for _, p := range c.Report.Pairs {
				if !strings.HasSuffix(p.Joint, "tip") {
					continue
				}
				own, its := roundabout.Conj().Rotate(y[sk.Index(p.Source)].Pos), src[clip.Skel.Index(p.Joint)].Pos.Scale(c.Bones.Scale)
				if d := m3.Abs(own.Y - its.Y); d > 0.01*c.Bones.Scale {
					t.Errorf("%d legs, frame %d: %s is %g m high, the motion's %g", 2*pairs, f, p.Source, own.Y, its.Y)
				}
				if f > 0 && its.Y < 0.02*c.Bones.Scale {
					slide += float64(own.Sub(last[p.Source]).Flat().Len())
					slideSource += float64(its.Sub(lastSource[p.Source]).Flat().Len())
				}
				last[p.Source], lastSource[p.Source] = own, its
			}
		}
		t.Logf("%d legs: feet slide %.2f m, the motion's %.2f", 2*pairs, slide, slideSource)
		if slide > 1.2*slideSource {
			t.Errorf("%d legs: feet slide %.2f m, the motion's %.2f", 2*pairs, slide, slideSource)
		}
	}
}

// A tail that would come under the ground sways about how its body carries it.
func TestAnimalTail(t *testing.T) {
	from, to := plainBeast(2), plainBeast(2)
	m := from.steps()
	n := m.Clip.Skel.Len()
	hang := m.Clip.Skel.Index("tail0")
	for f := range m.Clip.Frames {
		m.Clip.Rot[f*n+hang] = m3.AxisAngle(m3.V(1, 0, 0), -1.2+0.2*m3.Sin(float32(f)/3))
	}
	for long, want := range map[float32]float32{0: -1.2, 1.5: 0} { // mean pitch
		to.long = long
		c, clip := must.Get2(to.skin().Animal(m, nil, CharacterOptions{}))(t)
		got := must.Get(c.Bones.Clip(clip))(t)
		x, mean, low := make([]m3.Xform, n), float32(0), float32(1)
		for f := range got.Frames {
			got.Model(x, f)
			mean += x[hang].Rot.RotationVector().X / float32(got.Frames)
			low = min(low, x[hang+1].Pos.Y)
		}
		if m3.Abs(mean-want) > 0.05 || low < 0 {
			t.Errorf("%g m longer: the tail hangs by %.2f rad, want %.2f; its end is %.2f m high", long, mean, want, low)
		}
	}
}

// Bodies of other kinds are refused with the reason.
func TestAnimalRefused(t *testing.T) {
	for _, c := range []struct {
		from, onto int
		want       string
	}{
		{2, 4, "it stands on eight legs and has a tail, and the motion is of a body on four legs and has a tail"},
		{3, 4, "and the motion is of a body on six legs"},
		{4, 2, "it stands on four legs and has a tail, and the motion is of a body on eight legs"},
	} {
		_, _, err := plainBeast(c.onto).skin().Animal(plainBeast(c.from).steps(), nil, CharacterOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d onto %d pairs: %v", c.from, c.onto, err)
		}
	}
	walk := wave(person(t), 30)
	_, _, err := plainBeast(2).skin().Animal(&Motion{Clip: walk}, nil, CharacterOptions{})
	if err == nil || !strings.Contains(err.Error(), "it stands on four legs and has a tail, and the motion is of a body on two legs, upright") {
		t.Error(err)
	}
	_, _, err = plainBeast(2).skin().Animal(nil, nil, CharacterOptions{})
	must.Fail(0, err)(t, "the motion is missing")
}
