package character

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/anatomy"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

// nameless returns a GLB without the names of its nodes.
func nameless(t *testing.T, glb []byte) []byte {
	t.Helper()
	n := binary.LittleEndian.Uint32(glb[12:])
	var d map[string]any
	must.Do(t, json.Unmarshal(glb[20:20+n], &d))
	for _, node := range d["nodes"].([]any) {
		delete(node.(map[string]any), "name")
	}
	text := must.Get(json.Marshal(d))(t)
	for len(text)%4 != 0 {
		text = append(text, ' ')
	}
	rest := glb[20+n:]
	out := binary.LittleEndian.AppendUint32([]byte("glTF\x02\x00\x00\x00"), uint32(20+len(text)+len(rest)))
	out = append(binary.LittleEndian.AppendUint32(out, uint32(len(text))), "JSON"...)
	return append(append(out, text...), rest...)
}

// Without names, public characters have the limbs that their names tell: by shape, and by the motions of their own files.
// docs/rigs.md has the sums: go test -v -run Nameless ./offline/character
func TestNameless(t *testing.T) {
	dir := mocapdata.Dir(t)
	right, all := map[anatomy.Kind]int{}, map[anatomy.Kind]int{}
	for _, r := range readRigs(t) {
		if filepath.Ext(r.file) != ".glb" || r.verdict != "right" || strings.HasPrefix(r.found, "no legs") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(r.file)))
		if err != nil {
			continue
		}
		file := filepath.Join(t.TempDir(), filepath.Base(r.file))
		must.Do(t, os.WriteFile(file, nameless(t, data), 0o644))
		named, without := must.Get(Open(filepath.Join(dir, filepath.FromSlash(r.file))))(t), must.Get(Open(file))(t)
		want, got := named.Roles(nil), without.Roles(nil)
		same := want.Kind == got.Kind
		for _, limbs := range [][2][]anatomy.Limb{{want.Legs, got.Legs}, {want.Arms, got.Arms}} {
			same = same && len(limbs[0]) == len(limbs[1])
			for i := range limbs[0] {
				if a := limbs[0][i]; same {
					b := limbs[1][i]
					same = a.Upper == b.Upper && a.Middle == b.Middle && a.Lower == b.Lower
				}
			}
		}
		if all[want.Kind]++; same {
			right[want.Kind]++
		} else {
			t.Logf("%s: %v: other limbs", r.file, got.Kind)
		}
	}
	for kind, least := range map[anatomy.Kind]float64{anatomy.TwoLegs: 0.75, anatomy.FourLegs: 0.55, anatomy.EightLegs: 1} {
		t.Logf("%v: %d of %d as with names", kind, right[kind], all[kind])
		if float64(right[kind]) < least*float64(all[kind]) {
			t.Errorf("%v: %d of %d", kind, right[kind], all[kind])
		}
	}
	t.Logf("two legs, trunk level: %d of %d", right[anatomy.Bird], all[anatomy.Bird])
}
