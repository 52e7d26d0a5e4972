package matching

import (
	"math"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
)

// glide is a dog in its rest pose that goes at a speed and turns at a rate, for frames at 60 a second.
func glide(sk *skel.Skeleton, speed, turn float64, frames int) *skel.Clip {
	c := skel.NewClip(sk, 60, frames)
	for f := range frames {
		pos, rot := c.Frame(f)
		x := gliding(speed, turn, float64(f)/60)
		pos[0], rot[0] = x.Apply(sk.Offsets[0]), x.Rot
	}
	return c
}

// gliding is where it is after t seconds, from the origin toward +Z.
func gliding(speed, turn, t float64) m3.Xform {
	x, z := 0.0, speed*t
	if turn != 0 {
		x, z = speed/turn*(1-math.Cos(turn*t)), speed/turn*math.Sin(turn*t)
	}
	return m3.Xform{Pos: m3.V(float32(x), 0, float32(z)), Rot: m3.YawQuat(float32(turn * t))}
}

// raw returns the features of a frame before they were normalised.
func (d *Database) raw(frame int) []float32 {
	out := make([]float32, d.Columns())
	for c, v := range d.AppendFeatures(nil, frame) {
		out[c] = d.mean[c]
		if d.scale[c] != 0 {
			out[c] += v / d.scale[c]
		}
	}
	return out
}

// The features of a body that glides along a circle follow from its speed and turn rate.
func TestFeatures(t *testing.T) {
	sk := testdog.Skeleton()
	const speed, turn = 1.2, 0.8
	d := must.Get(Build(sk, []Clip{{Name: "circle", Motion: glide(sk, speed, turn, 300)}, {Name: "line", Motion: glide(sk, 2, 0, 300)}}, Options{}))(t)
	const frame = 120
	got := d.raw(frame)
	near := func(what string, c int, want ...float64) {
		t.Helper()
		for i, w := range want {
			if math.Abs(float64(got[c+i])-w) > 2e-3 {
				t.Errorf("%s: value %d is %.4f, want %.4f", what, i, got[c+i], w)
			}
		}
	}
	model := make([]m3.Xform, sk.Len())
	rest := skel.NewClip(sk, 60, 1)
	rest.Model(model, 0)
	for i, leg := range d.Roles.Legs {
		p := model[leg[len(leg)-1]].Pos
		near("foot", 3*i, float64(p.X), float64(p.Y), float64(p.Z))
		// v + ω×r, with ω about +Y.
		near("velocity of the foot", d.footVelocity()+3*i, turn*float64(p.Z), 0, speed-turn*float64(p.X))
	}
	hips := model[0].Pos
	near("velocity of the hips", d.hipsVelocity(), turn*float64(hips.Z), 0, speed)
	for i, ahead := range horizon {
		x := gliding(speed, turn, float64(ahead)/60)
		forward := x.Rot.Forward()
		near("place ahead", d.trajectory()+2*i, float64(x.Pos.X), float64(x.Pos.Z))
		near("facing ahead", d.facings()+2*i, float64(forward.X), float64(forward.Z))
	}
	m := d.moves[frame]
	if x := gliding(speed, turn, 1.0/60); m3.Abs(m.X-x.Pos.X) > 1e-4 || m3.Abs(m.Z-x.Pos.Z) > 1e-4 || m3.Abs(m.Yaw-turn/60) > 1e-4 {
		t.Errorf("moves by %+v a tick, want %v and %.5f", m, x.Pos, turn/60)
	}
}

// Each group of features has one deviation times its weight.
func TestNormalised(t *testing.T) {
	sk := testdog.Skeleton()
	w := Weights{1, 2, 3, 0.5, 0}
	d := must.Get(Build(sk, []Clip{{Motion: glide(sk, 1, 0.8, 300)}, {Motion: glide(sk, 2, -0.3, 300)}}, Options{Weights: w}))(t)
	for i, g := range d.groups() {
		var square float64
		for f := range d.Frames() {
			for _, v := range d.AppendFeatures(nil, f)[g.from:g.to] {
				square += float64(v) * float64(v)
			}
		}
		if got := math.Sqrt(square / float64(d.Frames()*(g.to-g.from))); i > 0 && math.Abs(got-float64(g.weight)) > 1e-3 {
			t.Errorf("group %d has the deviation %.4f, want its weight %g", i, got, g.weight)
		}
	}
}

// A loop goes on without end: after the last frame comes the first, and its features look beyond the end.
func TestLoop(t *testing.T) {
	sk := testdog.Skeleton()
	const speed, turn, frames = 1.2, 0.8, 46
	d := must.Get(Build(sk, []Clip{{Name: "round", Motion: glide(sk, speed, turn, frames), Loop: true}}, Options{}))(t)
	if d.Frames() != frames-1 || d.next(frames-2) != 0 {
		t.Fatalf("%d frames, and %d after the last, want %d and 0", d.Frames(), d.next(frames-2), frames-1)
	}
	long := must.Get(Build(sk, []Clip{{Motion: glide(sk, speed, turn, 400)}}, Options{}))(t)
	for f := range d.Frames() {
		a, b := d.raw(f), long.raw(200)
		for c := range a {
			if m3.Abs(a[c]-b[c]) > 3e-3 {
				t.Fatalf("frame %d: feature %d is %.4f, of a long clip %.4f", f, c, a[c], b[c])
			}
		}
		if m, w := d.moves[f], long.moves[200]; m3.Abs(m.X-w.X)+m3.Abs(m.Z-w.Z)+m3.Abs(m.Yaw-w.Yaw) > 3e-4 {
			t.Fatalf("frame %d moves by %+v, of a long clip %+v", f, m, w)
		}
	}
}

// Rotations lose less than a fifth of a milliradian.
func TestPacked(t *testing.T) {
	for i := range 100 {
		q := m3.FromRotationVector(m3.V(float32(i)/30, 1-float32(i)/50, float32(i%7)))
		if d := q.Angle(pack(q).quat()); !(d < 2e-4) {
			t.Errorf("%v comes back %g rad off", q, d)
		}
	}
}

// A clip comes back as it was, from the origin.
func TestMotion(t *testing.T) {
	sk := testdog.Skeleton()
	clip := glide(sk, 1.2, 0.8, 200)
	for f := range clip.Frames {
		_, rot := clip.Frame(f)
		rot[3] = m3.AxisAngle(m3.V(0, 0, 1), float32(f)/300)
	}
	d := must.Get(Build(sk, []Clip{{Motion: glide(sk, 2, 0, 100)}, {Motion: clip, Tags: []Tags{5}}}, Options{Tags: []string{"a", "b", "c"}}))(t)
	got, tags := d.Motion(1)
	if got.Frames != 200 || len(tags) != 200 || tags[7] != 5 {
		t.Fatalf("%d frames with %d tags", got.Frames, len(tags))
	}
	a, b := make([]m3.Xform, sk.Len()), make([]m3.Xform, sk.Len())
	clip.Model(a, 0)
	got.Model(b, 0)
	back := b[0].Mul(a[0].Inv()) // where the clip begins does not matter
	for f := range got.Frames {
		clip.Model(a, f)
		got.Model(b, f)
		for j := range a {
			if off := back.Apply(a[j].Pos).Dist(b[j].Pos); off > 3e-3 {
				t.Fatalf("frame %d: %s is %.4f m from where it was", f, sk.Names[j], off)
			}
		}
	}
	if c, _ := d.Motion(2); c != nil {
		t.Error("a third clip")
	}
}

// A body whose neck is behind its hips, as spiders' may be, faces where its legs do.
func TestFacesAsItsLegs(t *testing.T) {
	sk := testdog.Skeleton()
	for _, name := range []string{"Spine1", "Neck"} {
		o := &sk.Offsets[sk.Index(name)]
		o.Z = -o.Z
	}
	d := must.Get(Build(sk, []Clip{{Motion: glide(sk, 1.2, 0, 100)}}, Options{}))(t)
	if m := d.moves[50]; m3.Abs(m.Z-0.02) > 1e-4 || m3.Abs(m.X) > 1e-4 {
		t.Errorf("at 1.2 m/s ahead it moves by %+v a tick, want 2 cm ahead", m)
	}
}

// Feet count as much together, however many there are.
func TestFeetTogether(t *testing.T) {
	for _, legs := range []int{2, 4, 8} {
		d := &Character{legs: legs, weight: DefaultWeights()}
		g := d.groups()[0]
		if sum := g.weight * g.weight * float32(g.to-g.from); m3.Abs(sum-6*0.75*0.75) > 1e-4 {
			t.Errorf("the feet of %d legs count %.3f together, want those of two: %.3f", legs, sum, 6*0.75*0.75)
		}
	}
}

// The bound on the acceleration of feet follows that of loops: of a body that goes around a circle of 2.5 m at 8 rad/s here.
// Recordings are bounded as other motion is.
func TestBrakes(t *testing.T) {
	sk := testdog.Skeleton()
	for _, loop := range []bool{false, true} {
		d := must.Get(Build(sk, []Clip{{Motion: glide(sk, 20, 8, 46), Loop: loop}}, Options{}))(t)
		rig := must.Get(must.Get(d.NewStream(StreamOptions{Capacity: 1}))(t).Rig(nil))(t)
		if got := rig.Ground.MaxFootAccel; loop != (got > 140 && got < 200) || !loop && got != ik.DefaultDog().MaxFootAccel {
			t.Errorf("loop %t: the bound is %.0f m/s²", loop, got)
		}
	}
}
