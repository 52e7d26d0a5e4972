package skin

import (
	"testing"

	"github.com/qmuntal/gltf"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// A person's motion goes into a file whose character stands elsewhere, turned: it moves there as it does in a
// crowd, on its own ground.
func TestInFile(t *testing.T) {
	sk := person(t)
	plain := written(t, renamed(sk, func(n string) string { return "rig:" + n }), grown(t, sk), nil)
	turned := edited(t, plain, func(d *gltf.Document) {
		n := root(d)
		n.Rotation = [4]float64{0, 0.70710678, 0, 0.70710678} // ahead is +X
		n.Translation = [3]float64{0, 0.5, 0}
	})
	walk := wave(sk, 30)
	low := map[string]float32{"plain": 0, "turned": 0.5} // of the ground
	for name, data := range map[string][]byte{"plain": plain, "turned": turned} {
		s := must.Get(readAlone(name, data))(t)
		ch := must.Get(s.Character(sk, CharacterOptions{}))(t)
		if m3.Abs(ch.low-low[name]) > 0.01 {
			t.Errorf("%s: the ground is at %g m", name, ch.low)
		}
		clip := must.Get(ch.InFile(walk))(t)
		crowd := must.Get(ch.Bones.Clip(walk))(t)
		out, report, err := AppendMotions(name, data, []Motion{{Name: "walk", Clip: clip}}, AddOptions{})
		must.Do(t, err)
		if report.Missing != nil {
			t.Errorf("missing %v", report.Missing)
		}
		all := must.Get(ReadMotions(name, out))(t)
		got := all[0].Clip
		x, y := make([]m3.Xform, crowd.Skel.Len()), make([]m3.Xform, got.Skel.Len())
		for f := range crowd.Frames {
			crowd.Model(x, f)
			got.Model(y, f)
			for j, joint := range crowd.Skel.Names {
				want := x[j].Pos.Add(m3.V(0, ch.low, 0))
				if name == "turned" {
					want = m3.V(want.Z, want.Y, -want.X)
				}
				if d := y[got.Skel.Index(joint)].Pos.Dist(want); d > 2e-4 {
					t.Fatalf("%s, frame %d: %s is %g m off: %v, want %v", name, f, joint, d, y[got.Skel.Index(joint)].Pos, want)
				}
			}
		}
		must.Fail(ch.InFile(skel.NewClip(dog(t), 30, 1)))(t, "the motion is not on the source's skeleton")
	}
}
