package retarget

import (
	"fmt"
	"slices"
	"testing"

	"mannequin/animsys/anatomy"
	"mannequin/internal/testing/must"
)

// Of a person whose joints have no names, toes and knees tell left from right.
func TestTurnSides(t *testing.T) {
	c := walk(120, 1)
	joints := map[string]int{}
	for j, name := range c.Skel.Names {
		joints[name] = j
	}
	s := *c.Skel
	s.Names = make([]string, s.Len())
	for j := range s.Names {
		s.Names[j] = fmt.Sprint("joint ", j)
	}
	c.Skel = &s
	for _, swapped := range []bool{false, true} {
		as := joints
		if swapped {
			as = anatomy.OtherSides(joints)
		}
		out := suggest(&Profile{Name: "walk", Joints: map[string]string{}}, c, as)
		must.Do(t, out.Err)
		out = turnSides(out, c, as)
		must.Do(t, out.Err)
		for name, j := range joints {
			if got, ok := out.Profile.Joints[name]; ok && got != s.Names[j] {
				t.Errorf("sides exchanged %v: %s is %s, want %s", swapped, name, got, s.Names[j])
			}
		}
	}
	if anatomy.Sided(s.Names) || !anatomy.Sided(slices.Collect(func(yield func(string) bool) {
		for name := range joints {
			if !yield(name) {
				return
			}
		}
	})) {
		t.Error("names without sides are taken for others")
	}
}
