package skin

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/affine"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

// Joints of animations are where three.js puts them, in all glTF files of the test data.
func TestThreeJoints(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all glTF files of the test data")
	}
	type frame struct {
		Time   float64
		Places [][3]float32
	}
	type file struct {
		Path    string
		Nodes   []int
		Motions [][]frame
	}
	var files []file
	must.Do(t, filepath.WalkDir(mocapdata.Dir(t), func(path string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err != nil || ext != ".glb" && ext != ".vrma" {
			return err
		}
		all, err := OpenMotions(path)
		if err != nil {
			return nil // no animations
		}
		out := file{Path: path, Nodes: jointNodes(t, path)}
		if out.Nodes == nil {
			return nil
		}
		for _, m := range all {
			var frames []frame
			model := make([]m3.Xform, m.Clip.Skel.Len())
			for k := range 9 {
				f := k * (m.Clip.Frames - 1) / 8
				m.Clip.Model(model, f)
				one := frame{Time: float64(f) / m.Clip.FPS}
				for _, x := range model {
					one.Places = append(one.Places, [3]float32{x.Pos.X, x.Pos.Y, x.Pos.Z})
				}
				frames = append(frames, one)
			}
			out.Motions = append(out.Motions, frames)
		}
		files = append(files, out)
		return nil
	}))
	list := filepath.Join(t.TempDir(), "joints.json")
	must.Do(t, os.WriteFile(list, must.Get(json.Marshal(files))(t), 0o644))
	places, motions := 0, 0
	for _, line := range runNode(t, "three", "joints.cjs", list) {
		var r struct {
			Path      string
			Far, Size float64
			Places    int
		}
		must.Do(t, json.Unmarshal(line, &r))
		places += r.Places
		if r.Far > 2e-5*r.Size {
			t.Errorf("%s: up to %g of %g off", r.Path, r.Far, r.Size)
		}
	}
	for _, f := range files {
		motions += len(f.Motions)
	}
	t.Logf("%d files, %d animations, %d places of joints", len(files), motions, places)
	if places == 0 {
		t.Error("nothing was compared")
	}
}

// jointNodes returns the nodes of the joints of a file's motions, or nil if three.js needs more to read it.
func jointNodes(t *testing.T, path string) []int {
	f := must.Get(newFile(path, must.Get(os.ReadFile(path))(t), nil))(t)
	if f.compressed {
		return nil
	}
	r := &motionReader{file: f, tree: must.Get(f.newTree())(t), still: make([]affine.Transform, len(f.doc.Nodes))}
	for n, node := range f.doc.Nodes {
		r.still[n] = local(node)
	}
	must.Do(t, r.findJoints(must.Get(f.humanoid())(t)))
	return r.nodes
}
