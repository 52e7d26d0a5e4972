package skin

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// A motion comes onto the same animal that faces another way, or whose file has another axis up: all joints are where
// they were, turned with the whole.
func TestOntoRigOtherWay(t *testing.T) {
	horse := &skel.Skeleton{}
	add := func(name, parent string, x, y, z float32) {
		horse.Names, horse.Parents = append(horse.Names, name), append(horse.Parents, int16(horse.Index(parent)))
		horse.Offsets, horse.EndSite = append(horse.Offsets, m3.V(x, y, z)), append(horse.EndSite, false)
	}
	add("Hips", "", 0, 0.6, -0.4)
	add("Spine", "Hips", 0, 0.02, 0.25)
	add("Chest", "Spine", 0, 0, 0.35)
	add("Neck", "Chest", 0, 0.15, 0.2)
	add("Head", "Neck", 0, 0.15, 0.12)
	add("Tail", "Hips", 0, 0.02, -0.1)
	add("Tail1", "Tail", 0, -0.05, -0.15)
	for _, side := range []string{"Left", "Right"} {
		x := map[string]float32{"Left": 0.1, "Right": -0.1}[side]
		add(side+"HindLeg", "Hips", x, -0.05, 0)
		add(side+"HindShin", side+"HindLeg", 0, -0.25, 0.05)
		add(side+"HindFoot", side+"HindShin", 0, -0.2, -0.08)
		add(side+"HindToe", side+"HindFoot", 0, -0.09, 0.06)
		add(side+"ForeLeg", "Chest", x, -0.08, 0)
		add(side+"ForeShin", side+"ForeLeg", 0, -0.25, -0.04)
		add(side+"ForeFoot", side+"ForeShin", 0, -0.22, 0.02)
		add(side+"ForeToe", side+"ForeFoot", 0, -0.06, 0.05)
	}
	n := horse.Len()
	walk := skel.NewClip(horse, 30, 20)
	for f := range walk.Frames {
		pos, rot := walk.Frame(f)
		copy(pos, horse.Offsets)
		pos[0].Z += 0.03 * float32(f)
		for j := range rot {
			rot[j] = m3.AxisAngle(m3.V(1, 0, 0), 0.1*m3.Sin(float32(f+3*j)/4))
		}
	}
	rest := make([]m3.Xform, n)
	horse.LocalToModel(rest, horse.Offsets, slices.Repeat([]m3.Quat{m3.Ident}, n))
	rig := &Rig{Skel: horse, Rest: rest}
	for name, by := range map[string]m3.Quat{"back": m3.AxisAngle(m3.Up, math.Pi), "z up": m3.AxisAngle(m3.V(1, 0, 0), math.Pi/2)} {
		s := *horse // the motion's file has all joints without rotations, too
		s.Offsets = make([]m3.Vec3, n)
		for j, o := range horse.Offsets {
			s.Offsets[j] = by.Rotate(o)
		}
		other := skel.NewClip(&s, 30, walk.Frames)
		for i := range other.Pos {
			other.Pos[i], other.Rot[i] = by.Rotate(walk.Pos[i]), by.Mul(walk.Rot[i]).Mul(by.Conj())
		}
		got, fit := must.Get2(OntoRig(rig, other, slices.Repeat([]m3.Quat{m3.Ident}, n)))(t)
		if fit.Turned != n {
			t.Fatalf("%s: %+v", name, fit)
		}
		x, y, far := make([]m3.Xform, n), make([]m3.Xform, n), float32(0)
		for f := range walk.Frames {
			walk.Model(x, f)
			got.Model(y, f)
			for j := range x {
				far = max(far, x[j].Pos.Dist(y[j].Pos))
			}
		}
		if far > 1e-3 {
			t.Errorf("%s: a joint is %g m off", name, far)
		}
	}
}
