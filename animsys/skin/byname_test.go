package skin

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
)

// A file of another unit that faces elsewhere shows a skeleton's poses joint by joint.
func TestCharacterByName(t *testing.T) {
	sk := dog(t)
	roles := must.Get(ik.DogRoles(sk.Names))(t)
	s := must.Get(readAlone("dog.glb", written(t, sk, grown(t, sk), nil)))(t)
	turn := m3.AxisAngle(m3.Up, math.Pi/2)
	for j := range s.joints { // a file in centimetres that faces +X
		s.joints[j].pos, s.joints[j].rot = turn.Rotate(s.joints[j].pos).Scale(100), turn.Mul(s.joints[j].rot)
	}
	if !s.Named(sk) {
		t.Fatalf("the file lacks %s", s.unnamed(sk))
	}
	// The pose of the file, with the frames of the skeleton: as of a database of its clips.
	flat := &skel.Skeleton{Names: sk.Names, Parents: sk.Parents, EndSite: sk.EndSite, Offsets: slices.Clone(sk.Offsets)}
	for j, p := range sk.Parents {
		if k := s.joint(sk.Names[j]); p >= 0 && k >= 0 {
			flat.Offsets[j] = turn.Conj().Rotate(s.joints[k].pos.Sub(s.joints[s.joint(sk.Names[p])].pos)).Scale(0.01)
		}
	}
	c := must.Get(s.CharacterByName(flat, roles, 1))(t)
	if m3.Abs(c.Report.Scale-0.01) > 1e-4 || m3.Abs(c.Bones.Scale-1) > 0.01 {
		t.Errorf("a unit is %g m, and it is %g times as large", c.Report.Scale, c.Bones.Scale)
	}
	pose := make([]m3.Xform, flat.Len())
	flat.LocalToModel(pose, flat.Offsets, slices.Repeat([]m3.Quat{m3.Ident}, flat.Len()))
	lift(pose)
	bones := make([]m3.Xform, c.Bones.Len())
	c.Bones.Pose(bones, pose, [2]float32{}, nil, nil)
	for j, name := range flat.Names {
		if k := s.joint(name); k >= 0 && bones[k].Pos.Dist(pose[j].Pos) > 0.01 {
			t.Errorf("%s is at %v, want %v", name, bones[k].Pos, pose[j].Pos)
		}
	}
}

func TestCharacterByNameRefuses(t *testing.T) {
	sk := dog(t)
	roles := must.Get(ik.DogRoles(sk.Names))(t)
	s := must.Get(readAlone("dog.glb", written(t, sk, grown(t, sk), nil)))(t)
	other := renamed(sk, func(name string) string { return "my" + name })
	if s.Named(other) || s.Named(nil) {
		t.Error("it has joints with other names")
	}
	for want, make := range map[string]func() (*Character, error){
		`no joint "my`: func() (*Character, error) { return s.CharacterByName(other, roles, 1) },
		"the size -1":  func() (*Character, error) { return s.CharacterByName(sk, roles, -1) },
		"no skeleton":  func() (*Character, error) { return s.CharacterByName(nil, roles, 1) },
		"dog.glb: ":    func() (*Character, error) { return s.CharacterByName(sk, ik.Roles{}, 1) },
	} {
		if _, err := make(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
