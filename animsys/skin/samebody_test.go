package skin

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// Joints of the same body are paired whatever they are called. Another body has no partners.
func TestSameBody(t *testing.T) {
	plain := must.Get(Open("testdata/plain-person.glb"))(t)
	sk, at := plain.Skeleton()
	motion := func(edit func(sk *skel.Skeleton)) *Motion {
		own := &skel.Skeleton{Names: slices.Clone(sk.Names), Parents: sk.Parents, EndSite: sk.EndSite, Offsets: make([]m3.Vec3, sk.Len())}
		for j, p := range sk.Parents {
			if own.Offsets[j] = at[j].Scale(100); p >= 0 {
				own.Offsets[j] = at[j].Sub(at[p]).Scale(100)
			}
			own.Names[j] = fmt.Sprint("b", j)
		}
		edit(own)
		return &Motion{Clip: skel.NewClip(own, 30, 1)}
	}
	got := plain.SameBody(motion(func(*skel.Skeleton) {}))
	for j, name := range sk.Names {
		if got[fmt.Sprint("b", j)] != name {
			t.Errorf("b%d is %q, want %s", j, got[fmt.Sprint("b", j)], name)
		}
	}
	foot := sk.Index("LeftFoot")
	for what, edit := range map[string]func(sk *skel.Skeleton){
		"a longer shin": func(own *skel.Skeleton) { own.Offsets[foot] = own.Offsets[foot].Scale(1.1) },
		"a name that is taken": func(own *skel.Skeleton) {
			own.Names, own.Parents = append(own.Names, "LeftFoot"), append(slices.Clone(own.Parents), int16(sk.Index("Head")))
			own.Offsets, own.EndSite = append(own.Offsets, m3.V(0, 0, 5)), append(slices.Clone(own.EndSite), false)
		},
	} {
		if got := plain.SameBody(motion(edit)); got != nil {
			t.Errorf("%s: %v", what, got)
		}
	}
	if got := must.Get(Open("testdata/toy-proportions.glb"))(t).SameBody(motion(func(*skel.Skeleton) {})); got != nil {
		t.Errorf("a toy: %v", got)
	}
	for _, m := range []*Motion{nil, {}, {Clip: &skel.Clip{}}} {
		if got := plain.SameBody(m); got != nil {
			t.Errorf("no motion: %v", got)
		}
	}
}

// A rig may have a turned node above each of its joints, which have axes of their own.
func TestOntoRigWithNodesBetween(t *testing.T) {
	sk := person(t)
	turn, axes := m3.AxisAngle(m3.V(1, 2, 3).Normalize(m3.Up), 1), m3.AxisAngle(m3.V(3, -1, 2).Normalize(m3.Up), 2)
	rig, local := &Rig{Skel: &skel.Skeleton{}}, []m3.Quat{}
	add := func(name string, parent int, offset m3.Vec3, rot m3.Quat, end bool) int {
		s := rig.Skel
		s.Names, s.Parents = append(s.Names, name), append(s.Parents, int16(parent))
		s.Offsets, s.EndSite, local = append(s.Offsets, offset), append(s.EndSite, end), append(local, rot)
		return s.Len() - 1
	}
	own := make([]int, sk.Len())
	for j, p := range sk.Parents {
		up, frame := -1, m3.Ident
		if p >= 0 {
			up, frame = own[p], axes
		}
		above := add(sk.Names[j]+"_offset", up, frame.Conj().Rotate(sk.Offsets[j]), turn, false)
		own[j] = add(sk.Names[j], above, m3.Vec3{}, frame.Mul(turn).Conj().Mul(axes), sk.EndSite[j])
	}
	rig.Rest = make([]m3.Xform, rig.Skel.Len())
	rig.Skel.LocalToModel(rig.Rest, rig.Skel.Offsets, local)
	in := wave(sk, 30)
	if _, _, err := OntoRig(rig, in, nil); !errors.Is(err, ErrOtherRig) {
		t.Errorf("without a rest pose: %v", err)
	}
	got, _, err := OntoRig(rig, in, slices.Repeat([]m3.Quat{m3.Ident}, sk.Len()))
	must.Do(t, err)
	x, y := make([]m3.Xform, sk.Len()), make([]m3.Xform, got.Skel.Len())
	for f := range in.Frames {
		in.Model(x, f)
		got.Model(y, f)
		for j, name := range sk.Names {
			if d := x[j].Pos.Dist(y[got.Skel.Index(name)].Pos); d > 1e-3 {
				t.Fatalf("frame %d: %s is %.3f m off", f, name, d)
			}
		}
	}
}
