package retarget_test

import (
	"math"
	"strings"
	"testing"

	. "mannequin/animsys/retarget"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	tc "mannequin/internal/testing/testcharacter"
)

// barrel returns the options of a toy with a trunk of some radius, m.
func barrel(t testing.TB, w recording, radius float32) Options {
	o := tc.Options(t, w.sk, tc.Stands(w.sk), builds["toy"])
	own := func(name string) int { return o.From[w.sk.Index(name)] }
	o.Forearms = 0.03
	o.Flesh = []Tube{{From: own("Hips"), To: own("Spine1"), Radius: radius}, {From: own("Spine1"), To: own("Head"), Radius: radius}}
	return o
}

// between returns the distance of two bones, by samples.
func between(a, b, c, d m3.Vec3) float32 {
	least := float32(math.MaxFloat32)
	for i := range 41 {
		p := a.Lerp(b, float32(i)/40)
		least = min(least, p.Dist(p.OnSegment(c, d)))
	}
	return least
}

// Forearms stay out of a body that is wider than its motion's, without jerks, and bones keep their lengths.
func TestForearmsStayOut(t *testing.T) {
	w := must.Get(walk())(t)
	const radius = 0.08
	o := barrel(t, w, radius)
	c, free := must.Get(New(o))(t), must.Get(New(barrel(t, w, 0)))(t)
	now, last, bare, bareLast := make([]m3.Xform, c.Len()), make([]m3.Xform, c.Len()), make([]m3.Xform, c.Len()), make([]m3.Xform, c.Len())
	at := func(pose []m3.Xform, name string) m3.Vec3 { return pose[o.From[w.sk.Index(name)]].Pos }
	touched := 0
	for f, pose := range w.poses {
		copy(last, now)
		copy(bareLast, bare)
		c.Pose(now, pose, [2]float32{}, nil, nil)
		free.Pose(bare, pose, [2]float32{}, nil, nil)
		for _, side := range []string{"Left", "Right"} {
			gap := func(pose []m3.Xform) float32 {
				e, h := at(pose, side+"ForeArm"), at(pose, side+"Hand")
				return min(between(e, h, at(pose, "Hips"), at(pose, "Spine1")), between(e, h, at(pose, "Spine1"), at(pose, "Head")))
			}
			if gap(bare) < radius {
				touched++
			}
			if d := gap(now); d < radius+0.5*o.Forearms-0.02 {
				t.Fatalf("frame %d: the %s forearm is %g m from the middle of a trunk with a radius of %g m", f, side, d, radius)
			}
			for _, part := range []string{"Arm", "ForeArm", "Hand", "HandIndex1"} {
				k := o.From[w.sk.Index(side+part)]
				own, without := now[k].Rot.Angle(last[k].Rot), bare[k].Rot.Angle(bareLast[k].Rot)
				if f > 0 && own > 3*without+0.1 {
					t.Fatalf("frame %d: %s%s turns by %g rad, without a trunk by %g", f, side, part, own, without)
				}
			}
		}
		for j, p := range c.Skel.Parents {
			if p < 0 || o.Skel.Names[p] == "root" {
				continue
			}
			if d, want := now[j].Pos.Dist(now[p].Pos), c.Rest[j].Pos.Dist(c.Rest[p].Pos); m3.Abs(d-want) > 2e-5*(1+want) {
				t.Fatalf("frame %d: the bone to %s is %g m long, at rest %g m", f, c.Skel.Names[j], d, want)
			}
		}
	}
	if touched < len(w.poses)/2 {
		t.Errorf("only %d of %d forearms would be in the trunk: this shows nothing", touched, 2*len(w.poses))
	}
	// A hand that reaches goes where it is told.
	c.Pose(now, w.poses[500], [2]float32{1, 1}, nil, nil)
	free.Pose(bare, w.poses[500], [2]float32{1, 1}, nil, nil)
	if now[c.Len()-1] != bare[c.Len()-1] || at(now, "LeftHand") != at(bare, "LeftHand") {
		t.Error("a hand that reaches is kept away")
	}
	if n := testing.AllocsPerRun(10, func() { c.Pose(now, w.poses[100], [2]float32{}, nil, nil) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// The bodies of people move as without flesh, to the bit.
func TestSlimBodies(t *testing.T) {
	w := must.Get(walk())(t)
	slim := barrel(t, w, 0)
	scale := must.Get(New(slim))(t).Scale
	slim = barrel(t, w, 0.15*scale)
	slim.Forearms = 0.05 * scale
	bare := slim
	bare.Flesh = nil
	c, free := must.Get(New(slim))(t), must.Get(New(bare))(t)
	a, b := make([]m3.Xform, c.Len()), make([]m3.Xform, c.Len())
	for f, pose := range w.poses {
		c.Pose(a, pose, [2]float32{}, nil, nil)
		free.Pose(b, pose, [2]float32{}, nil, nil)
		for j := range a {
			if a[j] != b[j] {
				t.Fatalf("frame %d: %s is %v, want %v", f, c.Skel.Names[j], a[j], b[j])
			}
		}
	}
}

func TestFleshErrors(t *testing.T) {
	w := must.Get(walk())(t)
	many := barrel(t, w, 0.1)
	many.Flesh = make([]Tube, 5)
	if _, err := New(many); err == nil || !strings.Contains(err.Error(), "5 tubes of Flesh, want at most 4") {
		t.Error(err)
	}
	for _, tube := range []Tube{{From: -1}, {To: 9999}, {Radius: -1}, {Radius: float32(math.NaN())}, {Radius: float32(math.Inf(1))}} {
		o := barrel(t, w, 0.1)
		o.Flesh[1] = tube
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "tube 1 of Flesh") {
			t.Errorf("%+v: %v", tube, err)
		}
	}
}
