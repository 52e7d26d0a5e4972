package skin

import (
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

func openRig(t *testing.T, name string) *Skin {
	t.Helper()
	return must.Get(Open(filepath.Join("testdata", name+".glb")))(t)
}

// Files of kinds that names alone do not tell: each is a person, with the same roles.
func TestRolesOfCases(t *testing.T) {
	plain := openRig(t, "plain-person")
	want := plain.Roles(nil).Uniform()
	if len(want) != 22 || plain.joints[want["LeftHand"]].name != "LeftHand" {
		t.Fatalf("a plain person has %v", want)
	}
	for _, name := range []string{"legs-on-root", "nameless-joints", "toy-proportions"} {
		s := openRig(t, name)
		roles := s.Roles(nil)
		if up, err := roles.Upright(); !up || err != nil {
			t.Errorf("%s: %v, %v", name, up, err)
		}
		got := roles.Uniform()
		for ours, j := range want {
			k, ok := got[ours]
			// The files have the same joints; one has a root more.
			if extra := len(s.joints) - len(plain.joints); !ok || k != j+extra {
				t.Errorf("%s: %s is joint %d (%v), want %d", name, ours, k, ok, j+extra)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d roles, want %d", name, len(got), len(want))
		}
		if _, err := s.Character(person(t), CharacterOptions{}); err != nil {
			t.Error(err)
		}
	}
}

// Nameless joints are called by their index in maps and messages.
func TestMapByIndex(t *testing.T) {
	s := openRig(t, "nameless-joints")
	c, err := s.Character(person(t), CharacterOptions{Map: map[string]string{"Head": "#4", "Neck1": ""}})
	if err != nil {
		t.Fatal(err)
	}
	r, found := c.Report, false
	for _, p := range r.Pairs {
		found = found || p == Pair{"Head", "#4"}
	}
	if !found {
		t.Error(r)
	}
	for _, bad := range []string{"#22", "#", "#-1", "#x", "#99999999999999999999", "neck"} {
		if _, err := s.Character(person(t), CharacterOptions{Map: map[string]string{"Head": bad}}); err == nil || !strings.Contains(err.Error(), "it has #0, #1, ") && !strings.Contains(err.Error(), "does not have") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Bodies of another kind than the skeleton are refused, with the reason; a map that names the hips is
// believed.
func TestFitKinds(t *testing.T) {
	onDog := must.Get(readAlone("hound.glb", written(t, renamed(dog(t), foreign), grown(t, dog(t)), nil)))(t)
	onPerson := openRig(t, "plain-person")
	if _, err := onDog.Character(person(t), CharacterOptions{}); err == nil || !strings.Contains(err.Error(), "hound.glb: it stands on four legs and has a tail: it is not a person") {
		t.Error(err)
	}
	if _, err := onPerson.Character(dog(t), CharacterOptions{}); err == nil || !strings.Contains(err.Error(), "it stands upright on two legs: it is no dog") {
		t.Error(err)
	}
	if _, err := onDog.Character(person(t), CharacterOptions{Map: map[string]string{"Hips": foreign("Hips")}}); err != nil && strings.Contains(err.Error(), "no person") {
		t.Error(err)
	}
}

// Arms may hang below the top of the spine: joints with names of ours do not fill gaps in another order than ours.
func TestFitArmsBelowChest(t *testing.T) {
	s := openRig(t, "plain-person")
	for i, j := range s.joints {
		if strings.HasSuffix(j.name, "Shoulder") {
			s.joints[i].parent = s.joint("Spine")
		}
	}
	must.Get(s.Character(person(t), CharacterOptions{}))(t)
}

// foreign returns a name by which a dog's joint is still known.
func foreign(name string) string {
	return strings.NewReplacer("Left", "L_", "Right", "R_").Replace("rig_" + name)
}

// A file without joints for hands and feet has them where its mesh ends.
func TestFitWithoutEnds(t *testing.T) {
	s := openRig(t, "plain-person")
	for i := range s.joints {
		if n := s.joints[i].name; strings.HasSuffix(n, "Hand") || strings.HasSuffix(n, "Foot") || strings.HasSuffix(n, "ToeBase") {
			s.joints[i].name = "ik_" + n
		}
	}
	for v := range s.mesh.influences {
		for i, q := range s.mesh.influences[v] {
			for strings.HasPrefix(s.joints[q.joint].name, "ik_") {
				q.joint = int32(s.joints[q.joint].parent)
			}
			s.mesh.influences[v][i] = q
		}
	}
	c, err := s.Character(person(t), CharacterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, r := c.Body, c.Report
	if len(r.Notes) != 4 || !strings.Contains(r.Notes[0], "no joint for LeftFoot: it is taken to be where the mesh of LeftLeg ends") {
		t.Error(r.Notes)
	}
	for _, p := range b.Levels[0].Pos {
		if !p.Finite() {
			t.Fatal("a vertex is not finite")
		}
	}
	// They have joints, so that feet can be taken to places.
	foot := c.Bones.Skel.Index("LeftLeg_end")
	if foot < 0 || c.Bones.Skel.Names[c.Bones.Skel.Parents[foot]] != "LeftLeg" || c.Bones.Rest[foot].Pos.Y > 0.2 {
		t.Errorf("%v", c.Bones.Skel.Names)
	}
}

// Both forms of a map are read: lines alone, and a profile's table.
func TestReadMapForms(t *testing.T) {
	for _, text := range []string{"Hips = \"pelvis\"\n", "name = \"x\"\nup = \"z\"\nturn_only = [\"Hips\"]\n[joints]\nHips = \"pelvis\"\n[axes]\nHips = \"z -x\"\n", "[joints]\nHips = \"pelvis\"\n"} {
		if m, err := ReadMap("m.toml", []byte(text)); err != nil || m["Hips"] != "pelvis" || len(m) != 1 {
			t.Errorf("%q: %v, %v", text, m, err)
		}
	}
	if _, err := ReadMap("m.toml", []byte("joins = 3\n[joints]\nHips = \"pelvis\"\n")); err == nil || !strings.Contains(err.Error(), "m.toml:1: unknown key") {
		t.Error(err)
	}
}
