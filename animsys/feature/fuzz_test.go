package feature_test

import (
	"encoding/json"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// What a model file says of a person is refused with its differences, or makes a person whose
// frames can be posed, mirrored and described again.
func FuzzReadPerson(f *testing.F) {
	schema, _, skeleton, err := feature.DescribePerson(biped())
	must.Do(f, err)
	f.Add(schema, skeleton)
	f.Add(string(must.Get(json.Marshal(feature.Human()))(f)), skeleton)
	f.Fuzz(func(t *testing.T, schema, skeleton string) {
		hash := ""
		var own feature.Motion
		if json.Unmarshal([]byte(schema), &own) == nil {
			hash = own.Hash()
		}
		p, differ := feature.ReadPerson(schema, hash, skeleton)
		if (p == nil) != (len(differ) > 0) {
			t.Fatalf("a person, and %q", differ)
		}
		if p == nil {
			return
		}
		_, again, _, err := feature.DescribePerson(p.Layout, p.Skel)
		if err != nil || again != hash {
			t.Fatalf("its hash is %s, not %s: %v", again, hash, err)
		}
		p.Layout.MirrorColumns()
		c, err := p.Clip(make([]float32, p.Layout.Columns()), 60, feature.Place{})
		if err == nil && slices.ContainsFunc(c.Pos, func(v m3.Vec3) bool { return !v.Finite() }) {
			t.Fatal("a clip that is not finite")
		}
	})
}
