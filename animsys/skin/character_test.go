package skin

import (
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// A character that was written on our skeleton moves as that does, whatever its size.
func TestCharacterOfOurs(t *testing.T) {
	for name, sk := range map[string]*skel.Skeleton{"person": person(t), "dog": dog(t)} {
		body := grown(t, sk)
		s := must.Get(readAlone("made.glb", written(t, sk, body, nil)))(t)
		for _, size := range []float32{0, 0.5, 2} {
			c := must.Get(s.Character(sk, CharacterOptions{Size: size}))(t)
			want := max(size, 1)
			if size == 0.5 {
				want = 0.5
			}
			if m3.Abs(c.Bones.Scale-want) > 1e-3 {
				t.Errorf("%s of size %g: the scale is %g", name, size, c.Bones.Scale)
			}
			pose := append([]m3.Xform(nil), body.Bind...)
			for j := range pose { // a bow, and a step
				pose[j].Rot = m3.AxisAngle(m3.V(1, 0.2, 0.1), 0.1*float32(j%4)).Mul(pose[j].Rot).Normalize()
				if p := sk.Parents[j]; p >= 0 {
					pose[j].Pos = pose[p].Apply(sk.Offsets[j])
				}
			}
			got := make([]m3.Xform, c.Bones.Len())
			c.Bones.Pose(got, pose, [2]float32{}, nil, nil)
			for j := range pose {
				x := got[c.Bones.Skel.Index(sk.Names[j])]
				if d := x.Pos.Dist(pose[j].Pos.Scale(want)); d > 5e-3*want || x.Rot.Angle(pose[j].Rot) > 0.02 {
					t.Errorf("%s of size %g: %s is %g m elsewhere, turned by %g", name, size, sk.Names[j], d, x.Rot.Angle(pose[j].Rot))
				}
			}
			if n := len(c.Body.Bind); n != sk.Len() || c.Body.Levels[0].Triangles() != body.Levels[0].Triangles() {
				t.Errorf("%s: a body of %d joints", name, n)
			}
		}
	}
}

// The cases: characters of any proportions keep their bones, in the file's metres.
func TestCharacterCases(t *testing.T) {
	sk := person(t)
	for file, scale := range map[string]float32{"toy-proportions.glb": 0.3, "plain-person.glb": 1.05} {
		s := must.Get(Open(filepath.Join("testdata", file)))(t)
		c := must.Get(s.Character(sk, CharacterOptions{}))(t)
		if m3.Abs(c.Bones.Scale-scale) > 0.1*scale {
			t.Errorf("%s: its legs are %g of ours, want %g", file, c.Bones.Scale, scale)
		}
		for j, p := range c.Bones.Skel.Parents {
			if p < 0 {
				continue
			}
			is, was := c.Bones.Rest[j].Pos.Dist(c.Bones.Rest[p].Pos), s.joints[j].pos.Dist(s.joints[p].pos)
			if m3.Abs(is-was) > 1e-5 {
				t.Errorf("%s: the bone to %s is %g m long, in the file %g m", file, c.Bones.Skel.Names[j], is, was)
			}
		}
		low := lowest(c.Body.Levels[0].Pos)
		if m3.Abs(low) > 1e-4 {
			t.Errorf("%s: stands at %g m", file, low)
		}
	}
	s := must.Get(Open(filepath.Join("testdata", "plain-person.glb")))(t)
	if _, err := s.Character(sk, CharacterOptions{Size: -1}); err == nil || !strings.Contains(err.Error(), "want 0 or more") {
		t.Errorf("a negative size: %v", err)
	}
}
