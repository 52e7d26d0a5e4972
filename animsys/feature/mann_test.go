package feature

import (
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// The published layout: 480 inputs, 363 outputs and the gating columns of the authors' release.
func TestDogLayout(t *testing.T) {
	m := Dog()
	if m.Inputs() != 480 || m.Outputs() != 363 {
		t.Fatalf("%d inputs, %d outputs", m.Inputs(), m.Outputs())
	}
	want := []int{285, 286, 287, 345, 346, 347, 393, 394, 395, 441, 442, 443, 84, 85, 86, 87, 88, 89, 90}
	if got := m.Gating(); !slices.Equal(got, want) {
		t.Errorf("gating columns %v", got)
	}
	m.NoSpeed = true
	want = []int{273, 274, 275, 333, 334, 335, 381, 382, 383, 429, 430, 431, 78, 79, 80, 81, 82, 83}
	if got := m.Gating(); m.Inputs() != 468 || !slices.Equal(got, want) {
		t.Errorf("April 2018: %d inputs, gating columns %v", m.Inputs(), got)
	}
}

// Phases, one per tip, come after the bones. In gating they replace the tips' velocities.
func TestPhasesFollowTheBones(t *testing.T) {
	m := Dog()
	m.Phases = true
	if m.Inputs() != 488 || m.Outputs() != 371 || m.OutRoot() != 368 || m.PoseLen() != 332 {
		t.Fatalf("%d inputs, %d outputs, root at %d, pose of %d", m.Inputs(), m.Outputs(), m.OutRoot(), m.PoseLen())
	}
	want := []int{480, 481, 482, 483, 484, 485, 486, 487, 84, 85, 86, 87, 88, 89, 90}
	if got := m.Gating(); !slices.Equal(got, want) {
		t.Errorf("gating columns %v", got)
	}
}

// Spans tile the rows: no gap, no overlap, no name twice.
func TestSpansTile(t *testing.T) {
	for _, with := range []struct{ noSpeed, phases bool }{{false, false}, {true, false}, {false, true}} {
		m := Dog()
		m.NoSpeed, m.Phases = with.noSpeed, with.phases
		for _, c := range []struct {
			spans []Span
			n     int
		}{{m.InputSpans(), m.Inputs()}, {m.OutputSpans(), m.Outputs()}} {
			at, seen := 0, map[string]bool{}
			for _, s := range c.spans {
				if s.Start != at || seen[s.Name] {
					t.Fatalf("span %+v, want start %d and a new name", s, at)
				}
				seen[s.Name] = true
				at += s.Len
			}
			if at != c.n {
				t.Errorf("spans cover %d of %d columns", at, c.n)
			}
		}
	}
}

func TestHashTellsLayoutsApart(t *testing.T) {
	a, b := Dog(), Dog()
	// In model files: another value, and they are refused.
	if got := a.Hash(); got != "455df4d0bc9a75d11fcfe8441b009d56" || b.Hash() != got {
		t.Errorf("the dog's hash became %s", got)
	}
	b.Actions[5] = "beg"
	if a.Hash() == b.Hash() {
		t.Error("renaming an action does not change the hash")
	}
	b = Dog()
	b.Phases = true
	if a.Hash() == b.Hash() {
		t.Error("phases do not change the hash")
	}
	b = Dog()
	b.Tips[0], b.Tips[1] = b.Tips[1], b.Tips[0]
	if a.Hash() == b.Hash() {
		t.Error("swapping gating tips does not change the hash")
	}
}

func TestValidate(t *testing.T) {
	m := Dog()
	must.Do(t, m.Validate())
	m.Tips[2] = "Wheel"
	if m.Validate() == nil {
		t.Error("unknown tip accepted")
	}
	for _, names := range []func(*MANN) []string{
		func(m *MANN) []string { return m.Joints }, func(m *MANN) []string { return m.Tips }, func(m *MANN) []string { return m.Actions },
	} {
		m := Dog()
		names(m)[1] = names(m)[0]
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%q twice: %v", names(m)[0], err)
		}
	}
	if (&MANN{}).Validate() == nil {
		t.Error("the zero layout accepted")
	}
}
