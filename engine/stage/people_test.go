package stage

import (
	"slices"
	"testing"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// personRig has a human's joints and no more.
func personRig() *body.Rig {
	r := &body.Rig{}
	add := func(name string, parent int16, x, y, z float32) int16 {
		r.Names, r.Parents, r.Offsets = append(r.Names, name), append(r.Parents, parent), append(r.Offsets, m3.V(x, y, z))
		return int16(len(r.Names) - 1)
	}
	add("Hips", -1, 0, 0, 0)
	spine := add("Spine", 0, 0, 0.2, -0.01)
	add("Head", add("Neck", spine, 0, 0.17, 0), 0, 0.1, 0)
	for i, s := range []string{"Left", "Right"} {
		x := float32(1 - 2*i)
		add(s+"Hand", add(s+"ForeArm", add(s+"Arm", spine, 0.2*x, 0.11, 0), 0.3*x, 0, 0), 0.25*x, 0, 0)
		leg := add(s+"Leg", add(s+"UpLeg", 0, 0.09*x, -0.09, 0), 0, -0.42, 0)
		add(s+"ToeBase", add(s+"Foot", leg, 0, -0.43, 0), 0, -0.03, 0.12)
	}
	return r
}

// The tint is the shirt's; trousers and skin are of other colours.
func TestPeopleAreDressed(t *testing.T) {
	s := open(t, 320, 400)
	s.SetGround(flat)
	rig := personRig()
	b := grown(t, personBody)
	turned := m3.Xform{Rot: m3.YawQuat(2.5)} // toward the sun
	var bones []m3.Xform
	for _, x := range b.Bind {
		bones = append(bones, turned.Mul(x))
	}
	near := func(joint string, ahead, up float32) m3.Vec3 {
		return turned.Apply(b.Bind[slices.Index(rig.Names, joint)].Pos.Add(m3.V(0, up, ahead)))
	}
	c := newCrowd(t, s, b, bones, nil)
	s.Camera.Place(turned.Apply(m3.V(0, 1, 2.6)), m3.V(0, 0.85, 0))
	chest, thigh, cheek := near("Spine", 0.12, 0), near("LeftUpLeg", 0.08, -0.2), near("Head", 0.11, 0.02)
	seen := func(tint [3]float32, p m3.Vec3) [3]float64 {
		must.Do(t, c.Set(bones, [][3]float32{tint}))
		return at(t, s, shoot(t, s, View{}), p)
	}
	if got := seen([3]float32{0.02, 0.02, 0.8}, chest); got[2] < 2*got[0] {
		t.Errorf("a blue shirt is %v", got)
	}
	if got := seen([3]float32{0.8, 0.02, 0.02}, chest); got[0] < 2*got[2] {
		t.Errorf("a red shirt is %v", got)
	}
	for _, tint := range [][3]float32{{0.02, 0.02, 0.8}, {0.8, 0.02, 0.02}} {
		if got := seen(tint, thigh); max(got[0], got[1], got[2]) > 2*min(got[0], got[1], got[2]) {
			t.Errorf("trousers are %v under a shirt of %v", got, tint)
		}
		if got := seen(tint, cheek); got[0] < got[1] || got[1] < got[2] {
			t.Errorf("skin is %v over a shirt of %v", got, tint)
		}
	}
}

// A painted body has its own colours under any tint.
func TestPaint(t *testing.T) {
	s := open(t, 160, 200)
	s.SetGround(flat)
	b := *post(t)
	b.Cover = body.Paint
	b.Levels = slices.Clone(b.Levels)
	for k := range b.Levels {
		b.Levels[k].Coat = make([][4]float32, len(b.Levels[k].Pos))
		for i := range b.Levels[k].Coat {
			b.Levels[k].Coat[i] = [4]float32{0.7, 0.05, 0.02}
		}
	}
	bones := slices.Clone(b.Bind)
	newCrowd(t, s, &b, bones, [][3]float32{{0, 0, 1}})
	s.Camera.Place(m3.V(0, 1, 3), m3.V(0, 0.5, 0))
	mid := bones[0].Pos.Lerp(bones[len(bones)-1].Pos, 0.5)
	if got := at(t, s, shoot(t, s, View{}), mid); got[0] < 2*got[1] || got[0] < 2*got[2] {
		t.Errorf("a red body under a blue tint is %v", got)
	}
}
