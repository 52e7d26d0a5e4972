package skel

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

func genVec(t *rapid.T, name string, r float32) m3.Vec3 {
	g := rapid.Float32Range(-r, r)
	return m3.V(g.Draw(t, name+".x"), g.Draw(t, name+".y"), g.Draw(t, name+".z"))
}

func genQuat(t *rapid.T, name string) m3.Quat { return m3.FromRotationVector(genVec(t, name, 1.8)) }

func genSkeleton(t *rapid.T) *Skeleton {
	s := &Skeleton{}
	for j := range rapid.IntRange(1, 12).Draw(t, "joints") {
		s.Names = append(s.Names, "j"+string(rune('a'+j)))
		s.Parents = append(s.Parents, int16(rapid.IntRange(-1, j-1).Draw(t, "parent")))
		s.Offsets = append(s.Offsets, genVec(t, "offset", 2))
		s.EndSite = append(s.EndSite, false)
	}
	return s
}

func genClip(t *rapid.T, s *Skeleton, fps float64, frames int) *Clip {
	c := NewClip(s, fps, frames)
	for i := range c.Pos {
		c.Pos[i] = c.Pos[i].Add(genVec(t, "pos", 1))
		c.Rot[i] = genQuat(t, "rot")
	}
	return c
}

// A joint's model transform is the product along its chain, and ModelToLocal takes it apart again.
func TestLocalModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSkeleton(t)
		pos, rot := genClip(t, s, 60, 1).Frame(0)
		model := make([]m3.Xform, s.Len())
		s.LocalToModel(model, pos, rot)
		p := genVec(t, "point", 1)
		for j := range model {
			want := p
			for k := j; k >= 0; k = int(s.Parents[k]) {
				want = rot[k].Rotate(want).Add(pos[k])
			}
			if got := model[j].Apply(p); !(got.Dist(want) <= 1e-4) {
				t.Fatalf("joint %d carries %v to %v, not %v", j, p, got, want)
			}
		}
		pos2, rot2 := make([]m3.Vec3, s.Len()), make([]m3.Quat, s.Len())
		s.ModelToLocal(pos2, rot2, model)
		for j := range pos {
			if !(pos[j].Dist(pos2[j]) <= 1e-4) || !(rot[j].Angle(rot2[j]) <= 1e-4) {
				t.Fatalf("joint %d came back as %v %v, not %v %v", j, pos2[j], rot2[j], pos[j], rot[j])
			}
		}
	})
}

// Uniform motion and uniform turning have the same closed form at any rate.
func TestResampled(t *testing.T) {
	s := &Skeleton{Names: []string{"a", "b"}, Parents: []int16{-1, 0}, Offsets: make([]m3.Vec3, 2), EndSite: make([]bool, 2)}
	vel, axis := m3.V(3, -1, 0.5), m3.V(1, 2, 2).Scale(1./3)
	at := func(sec float64) (m3.Vec3, m3.Quat) {
		return vel.Scale(float32(sec)), m3.AxisAngle(axis, float32(2.5*sec))
	}
	make := func(fps float64, frames int) *Clip {
		c := NewClip(s, fps, frames)
		for f := range frames {
			c.Pos[2*f], c.Rot[2*f] = at(float64(f) / fps)
			c.Rot[2*f+1] = c.Rot[2*f].Conj().Neg() // the other sign of the same rotation
		}
		return c
	}
	for _, r := range []struct {
		from   float64
		frames int
		to     float64
		want   int
	}{
		{30, 31, 60, 61}, {120, 121, 60, 61}, {120, 120, 60, 60}, {1 / 0.041708333, 50, 60, 123},
		{29.97, 12, 59.94, 23}, {25, 1, 60, 1}, {60, 0, 30, 0}, {60, 7, 60, 7}, {24, 2, 1000, 42},
	} {
		got := make(r.from, r.frames).Resampled(r.to)
		if got.Frames != r.want || got.FPS != r.to || len(got.Pos) != 2*r.want {
			t.Errorf("%d frames at %g became %d at %g, want %d at %g", r.frames, r.from, got.Frames, got.FPS, r.want, r.to)
			continue
		}
		for f := range got.Frames {
			p, q := at(float64(f) / r.to)
			if !(got.Pos[2*f].Dist(p) <= 1e-4) || !(got.Rot[2*f].Angle(q) <= 1e-4) || !(got.Rot[2*f+1].Angle(q.Conj()) <= 1e-4) {
				t.Errorf("%g to %g: frame %d is %v %v, want %v %v", r.from, r.to, f, got.Pos[2*f], got.Rot[2*f], p, q)
			}
		}
	}
}

// A sine wave that is resampled from 24 to 60 frames per second keeps its shape and its largest jerk.
func TestResampledIsSmooth(t *testing.T) {
	s := &Skeleton{Names: []string{"a"}, Parents: []int16{-1}, Offsets: make([]m3.Vec3, 1), EndSite: make([]bool, 1)}
	const amplitude, omega = 0.5, 2 * math.Pi * 1.2 // m and rad; rad/s
	at := func(sec float64) (m3.Vec3, m3.Quat) {
		v := float32(amplitude * math.Sin(omega*sec))
		return m3.V(v, 0, 0), m3.AxisAngle(m3.V(0, 0.6, 0.8), v)
	}
	c := NewClip(s, 24, 49)
	for f := range c.Frames {
		c.Pos[f], c.Rot[f] = at(float64(f) / 24)
	}
	d := c.Resampled(60)
	var worst, turned, jerk float64
	for f := range d.Frames {
		p, q := at(float64(f) / 60)
		worst, turned = max(worst, float64(d.Pos[f].Dist(p))), max(turned, float64(d.Rot[f].Angle(q)))
		if f >= 3 {
			j := d.Pos[f].Sub(d.Pos[f-3]).Sub(d.Pos[f-1].Sub(d.Pos[f-2]).Scale(3)).Len()
			jerk = max(jerk, float64(j)*60*60*60)
		}
	}
	const own = amplitude * omega * omega * omega // m/s³; straight lines have 20 times as much, and are off by 6 mm; the ends by 1 mm
	if worst > 0.0012 || turned > 0.0012 || jerk > 3*own {
		t.Errorf("off by %.4f m and %.4f rad, jerk %.1f times its own", worst, turned, jerk/own)
	}
}

// A body that jumps elsewhere from one frame to the next is never beyond where it was and is.
func TestResampledJumps(t *testing.T) {
	s := &Skeleton{Names: []string{"a"}, Parents: []int16{-1}, Offsets: make([]m3.Vec3, 1), EndSite: make([]bool, 1)}
	c := NewClip(s, 30, 12)
	for f := range c.Frames {
		c.Pos[f], c.Rot[f] = m3.V(0.01*float32(f), 0, 0), m3.Ident
		if f >= 6 {
			c.Pos[f].X += 2
		}
	}
	d := c.Resampled(60)
	for f := 1; f < d.Frames; f++ {
		if by := d.Pos[f].X - d.Pos[f-1].X; by < 0 || by > 1.01 {
			t.Errorf("from frame %d to %d it goes %.3f m", f-1, f, by)
		}
	}
}

// A clip at a whole multiple of its rate still holds the old frames.
func TestResampledKeepsFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := genClip(t, genSkeleton(t), 30, rapid.IntRange(1, 5).Draw(t, "frames"))
		k := rapid.IntRange(2, 4).Draw(t, "factor")
		d := c.Resampled(30 * float64(k))
		n := c.Skel.Len()
		if d.Frames != (c.Frames-1)*k+1 {
			t.Fatalf("%d frames times %d became %d", c.Frames, k, d.Frames)
		}
		for i := range c.Pos {
			f, j := i/n, i%n
			if o := f*k*n + j; !(d.Pos[o].Dist(c.Pos[i]) <= 1e-5) || !(d.Rot[o].Angle(c.Rot[i]) <= 1e-4) {
				t.Fatalf("frame %d changed", f)
			}
		}
	})
}

func TestScaled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := genClip(t, genSkeleton(t), 30, 2)
		d := c.Scaled(0.01)
		a, b := make([]m3.Xform, c.Skel.Len()), make([]m3.Xform, c.Skel.Len())
		c.Model(a, 1)
		d.Model(b, 1)
		for j := range a {
			if !(a[j].Pos.Scale(0.01).Dist(b[j].Pos) <= 1e-5) || a[j].Rot != b[j].Rot {
				t.Fatalf("joint %d: %v became %v", j, a[j], b[j])
			}
			if c.Skel.Offsets[j].Scale(0.01) != d.Skel.Offsets[j] {
				t.Fatal("offsets")
			}
		}
	})
}

// dogLike is a skeleton whose bones run along local +X and whose left and right offsets differ in
// the sign of Z, with two small asymmetries.
func dogLike() *Skeleton {
	return &Skeleton{
		Names:   []string{"Hips", "Spine", "LeftShoulder", "LeftArm", "LeftArmSite", "RightShoulder", "RightArm", "RightArmSite", "Tail", "LeftLeg", "RightLeg", "Tip"},
		Parents: []int16{-1, 0, 1, 2, 3, 1, 5, 6, 0, 0, 0, 8},
		Offsets: []m3.Vec3{{X: 1, Y: 2, Z: 3}, {X: 19}, {X: 19, Y: 3, Z: 4}, {X: 8}, {X: 7, Y: -1}, {X: 19, Y: 3, Z: -4}, {X: 8, Z: 0.15}, {X: 7, Y: -1}, {X: -6}, {Y: -7, Z: 5}, {Y: -7, Z: -5}, {X: -5, Z: 0.02}},
		EndSite: []bool{false, false, false, false, true, false, false, true, false, false, false, false},
	}
}

func TestMirrored(t *testing.T) {
	s := dogLike()
	m := must.Get(NewMirror(s))(t)
	for j, a := range m.Axis {
		if a != 2 {
			t.Errorf("the lateral axis of %s is %d, want 2", s.Names[j], a)
		}
	}
	n := s.Len()
	rapid.Check(t, func(t *rapid.T) {
		c := NewClip(s, 30, 2)
		for i := range c.Rot {
			if !s.EndSite[i%n] {
				c.Rot[i] = genQuat(t, "rot")
			}
		}
		c.Pos[0], c.Pos[n] = genVec(t, "root", 5), genVec(t, "root", 5)
		// Any lateral axis of a joint without sideways children must do.
		axes := Mirror{Pair: m.Pair, Axis: append([]uint8(nil), m.Axis...)}
		tail := s.Index("Tail")
		axes.Axis[tail] = uint8(rapid.IntRange(0, 2).Draw(t, "axis"))
		d := c.Mirrored(&axes)
		if d.Pos[n] != reflect(c.Pos[n], 0) {
			t.Fatalf("the root is at %v, not at the reflection of %v", d.Pos[n], c.Pos[n])
		}
		a, b := make([]m3.Xform, n), make([]m3.Xform, n)
		c.Model(a, 1)
		d.Model(b, 1)
		for j, k := range m.Pair {
			if want := reflect(a[k].Pos, 0); !(b[j].Pos.Dist(want) <= 1e-4) {
				t.Fatalf("%s is at %v, the reflection of %s at %v", s.Names[j], b[j].Pos, s.Names[k], want)
			}
			if j > 0 && d.Pos[n+j] != d.Skel.Offsets[j] {
				t.Fatalf("%s left its offset %v for %v", s.Names[j], d.Skel.Offsets[j], d.Pos[n+j])
			}
			if l := d.Skel.Offsets[j].Len() - s.Offsets[k].Len(); !(m3.Abs(l) <= 1e-6) {
				t.Fatalf("bone %s changed by %g", s.Names[j], l)
			}
			if s.EndSite[j] && d.Rot[n+j] != m3.Ident {
				t.Fatalf("End Site %s turned: %v", s.Names[j], d.Rot[n+j])
			}
			// The reflected frame of the partner, one axis turned round.
			for ax, e := range [3]m3.Vec3{{X: 1}, {Y: 1}, {Z: 1}} {
				want := reflect(a[k].Rot.Rotate(e), 0)
				if ax == int(axes.Axis[j]) {
					want = want.Neg()
				}
				if !(b[j].Rot.Rotate(e).Dist(want) <= 1e-4) {
					t.Fatalf("%s: axis %d points along %v, want %v", s.Names[j], ax, b[j].Rot.Rotate(e), want)
				}
			}
		}
		e := d.Mirrored(&axes)
		for i := range c.Pos {
			if e.Pos[i] != c.Pos[i] || e.Rot[i] != c.Rot[i] {
				t.Fatalf("mirrored twice, transform %d is %v %v, was %v %v", i, e.Pos[i], e.Rot[i], c.Pos[i], c.Rot[i])
			}
		}
		for j := range s.Offsets {
			if e.Skel.Offsets[j] != s.Offsets[j] {
				t.Fatalf("offset %d changed", j)
			}
		}
	})
}

func TestNewMirrorNames(t *testing.T) {
	for name, want := range map[string]string{"LeftArm": "RightArm", "Char_rightFoot": "Char_leftFoot", "LHipJoint": "RHipJoint",
		"lThigh": "rThigh", "hand_l": "hand_r", "metacarpal1.R": "metacarpal1.L", "LowerBack": "", "Head": "", "L_Wrist": "R_Wrist", "": "", "l": "",
		"Hand_LSite": "Hand_RSite", "Bip01 L Thigh": "Bip01 R Thigh", "thigh.L.001": "thigh.R.001", "DEF-toe.RSite": "DEF-toe.LSite", "Site": "", "RSite": "", "RL_Thigh_L": "RL_Thigh_R", "r_hand_l": "r_hand_r", "lfemur": "rfemur"} {
		if got, _ := otherSides(name); !slices.Contains(got, want) && (want != "" || got != nil) {
			t.Errorf("the other side of %q is %q, want %q", name, got, want)
		}
	}
	s := dogLike()
	s.Names[2] = "LeftWing"
	if _, err := NewMirror(s); err == nil || !strings.Contains(err.Error(), `"RightWing"`) {
		t.Error(err)
	}
	s = dogLike()
	s.EndSite[7] = false
	if _, err := NewMirror(s); err == nil {
		t.Error("an End Site mirrors a joint")
	}
	s = dogLike()
	s.Parents[5] = 0
	if _, err := NewMirror(s); err == nil || !strings.Contains(err.Error(), "parents") {
		t.Error(err)
	}
	s = dogLike()
	s.Names[8] = "LTail" // no RTail: a tail that happens to begin with L
	if m, err := NewMirror(s); err != nil || m.Pair[8] != 8 {
		t.Error(err)
	}
}

// Motions that are not of the skeleton are refused, and an asymmetrical pose does not decide.
func TestNewMirrorMotions(t *testing.T) {
	s := dogLike()
	blind := must.Get(NewMirror(s))(t)
	other := dogLike()
	other.Names, other.Parents, other.Offsets, other.EndSite = other.Names[:1], other.Parents[:1], other.Offsets[:1], other.EndSite[:1]
	for _, bad := range []*Clip{nil, NewClip(other, 60, 3), {Skel: s, Frames: 2, Rot: make([]m3.Quat, s.Len())}} {
		if _, err := NewMirror(s, bad); err == nil || !strings.Contains(err.Error(), "motion 0") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	c := NewClip(s, 60, 1)
	for j := range c.Rot {
		c.Rot[j] = m3.Ident
	}
	arm := s.Index("RightArm")
	c.Rot[arm] = m3.AxisAngle(m3.V(1, 0, 0), 100*math.Pi/180)
	if m := must.Get(NewMirror(s, c))(t); !slices.Equal(m.Axis, blind.Axis) {
		t.Errorf("with an arm twisted: %v, want %v", m.Axis, blind.Axis)
	}
}

func TestValidate(t *testing.T) {
	must.Do(t, dogLike().Validate())
	deep := &Skeleton{}
	for j := range MaxDepth + 1 {
		deep.Names = append(deep.Names, "x")
		deep.Parents = append(deep.Parents, int16(j-1))
	}
	deep.Offsets, deep.EndSite = make([]m3.Vec3, MaxDepth+1), make([]bool, MaxDepth+1)
	spoilt := func(f func(*Skeleton)) *Skeleton { s := dogLike(); f(s); return s }
	for want, s := range map[string]*Skeleton{
		"no joints":      {},
		"deeper than":    deep,
		"equal counts":   spoilt(func(s *Skeleton) { s.EndSite = s.EndSite[1:] }),
		"before child":   spoilt(func(s *Skeleton) { s.Parents[3] = 3 }),
		"non-finite":     spoilt(func(s *Skeleton) { s.Offsets[4].Y = float32(math.Inf(1)) }),
		"has parent -2:": spoilt(func(s *Skeleton) { s.Parents[0] = -2 }),
		"nothing to end": spoilt(func(s *Skeleton) { s.EndSite[0] = true }),
	} {
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
