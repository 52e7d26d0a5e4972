package clipset

import (
	"path/filepath"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

// The lateral axes of the recorded dogs' joints are those that the authors' layout needs. Bones lie along X, and small errors of
// their offsets must not decide.
func TestSymmetryOfRecordedDogs(t *testing.T) {
	dir := filepath.Join(mocapdata.Dir(t), "dog")
	s := must.Get(Open(dir, Options{Only: []string{"D1_00*"}}))(t)
	m, l := s.Symmetry(), feature.Dog()
	if m == nil {
		t.Fatal(s.Notes)
	}
	for j, name := range s.Skel.Names {
		want := uint8(2)
		if slices.Contains(l.MirrorY, name) {
			want = 1
		}
		if m.Axis[j] != want {
			t.Errorf("%s: the lateral axis is %d, want %d", name, m.Axis[j], want)
		}
	}
}
