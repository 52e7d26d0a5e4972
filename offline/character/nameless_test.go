package character

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/anatomy"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/fbx"
)

// nameless returns a GLB whose nodes are called joint_0, joint_1, …, or nothing, and without its animations if it is still.
func nameless(t *testing.T, glb []byte, numbered, still bool) []byte {
	t.Helper()
	return edited(t, glb, func(d map[string]any) {
		for i, node := range d["nodes"].([]any) {
			if delete(node.(map[string]any), "name"); numbered {
				node.(map[string]any)["name"] = fmt.Sprintf("joint_%d", i)
			}
		}
		if still {
			delete(d, "animations")
		}
	})
}

// edited returns a GLB whose JSON part was changed.
func edited(t *testing.T, glb []byte, change func(d map[string]any)) []byte {
	t.Helper()
	n := binary.LittleEndian.Uint32(glb[12:])
	var d map[string]any
	must.Do(t, json.Unmarshal(glb[20:20+n], &d))
	change(d)
	text := must.Get(json.Marshal(d))(t)
	for len(text)%4 != 0 {
		text = append(text, ' ')
	}
	rest := glb[20+n:]
	out := binary.LittleEndian.AppendUint32([]byte("glTF\x02\x00\x00\x00"), uint32(20+len(text)+len(rest)))
	out = append(binary.LittleEndian.AppendUint32(out, uint32(len(text))), "JSON"...)
	return append(append(out, text...), rest...)
}

// asGLB returns a character as a GLB; false if the file is not here.
func asGLB(t *testing.T, file string) ([]byte, bool) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil || filepath.Ext(file) == ".gltf" {
		return nil, false
	}
	if filepath.Ext(file) == ".fbx" {
		var b bytes.Buffer
		must.Do(t, must.Get(fbx.OpenCharacter(file))(t).Write(&b))
		data = b.Bytes()
	}
	return data, true
}

// sameLimbs reports whether two bodies have the same hips, knees and ankles, shoulders, elbows and wrists, left and right.
func sameLimbs(want, got *anatomy.Body) bool {
	if want.Kind != got.Kind {
		return false
	}
	for _, limbs := range [][2][]anatomy.Limb{{want.Legs, got.Legs}, {want.Arms, got.Arms}} {
		if len(limbs[0]) != len(limbs[1]) {
			return false
		}
		for i, a := range limbs[0] {
			if b := limbs[1][i]; a.Upper != b.Upper || a.Middle != b.Middle || a.Lower != b.Lower {
				return false
			}
		}
	}
	return true
}

// eachRig visits the public characters with legs that are found right, as glTF; roles finds those of a changed file.
func eachRig(t *testing.T, visit func(path string, glb []byte, roles func(glb []byte) *anatomy.Body)) {
	dir := mocapdata.Dir(t)
	for _, r := range readRigs(t) {
		if r.verdict != "right" || strings.HasPrefix(r.found, "no legs") {
			continue
		}
		data, ok := asGLB(t, filepath.Join(dir, filepath.FromSlash(r.file)))
		if !ok {
			continue
		}
		visit(r.file, data, func(glb []byte) *anatomy.Body {
			file := filepath.Join(t.TempDir(), filepath.Base(r.file)+".glb")
			must.Do(t, os.WriteFile(file, glb, 0o644))
			return must.Get(Open(file))(t).Roles(nil)
		})
	}
}

// Without names, public characters have the limbs that their names tell: by shape, and by the motions of their own files.
// docs/rigs.md has the sums: go test -v -run Nameless ./offline/character
func TestNameless(t *testing.T) {
	type count struct{ moving, still, all int }
	counts := map[anatomy.Kind]*count{}
	eachRig(t, func(path string, data []byte, roles func(glb []byte) *anatomy.Body) {
		want := roles(data)
		c := counts[want.Kind]
		if c == nil {
			c = new(count)
			counts[want.Kind] = c
		}
		c.all++
		if got := roles(nameless(t, data, false, false)); sameLimbs(want, got) {
			c.moving++
		} else {
			t.Logf("%s: %v: other limbs", path, got.Kind)
		}
		if got := roles(nameless(t, data, true, true)); sameLimbs(want, got) {
			c.still++
		} else {
			t.Logf("%s, without its motions: %v: other limbs", path, got.Kind)
		}
	})
	for _, bar := range []struct {
		kind  anatomy.Kind
		least float64
	}{{anatomy.TwoLegs, 0.85}, {anatomy.Bird, 0.7}, {anatomy.FourLegs, 0.85}, {anatomy.EightLegs, 1}} {
		c := counts[bar.kind]
		if c == nil {
			continue
		}
		t.Logf("%v: %d of %d as with names, %d without the motions of their files", bar.kind, c.moving, c.all, c.still)
		if float64(min(c.moving, c.still)) < bar.least*float64(c.all) {
			t.Errorf("%v: %d and %d of %d", bar.kind, c.moving, c.still, c.all)
		}
	}
}
