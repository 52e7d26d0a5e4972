package fbx

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skin"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

// A motion rests as its meshes were bound. Without such a pose, or if bones have other lengths in it, it rests as its
// models stand.
func TestRest(t *testing.T) {
	bend := m3.AxisAngle(m3.V(1, 0, 0), math.Pi/4)
	up := m3.AxisAngle(m3.V(1, 0, 0), -math.Pi/2) // from +Z up
	pose := rec("Pose", 30, "\x00\x01Pose", "BindPose",
		rec("PoseNode", rec("Node", 2), rec("Matrix", matrixAt(0, 0, 5))), rec("PoseNode", rec("Node", 3), rec("Matrix", matrixAt(0, 0, 45))))
	bare := func(records []tree, keep func(r tree) bool) []tree {
		records[1].below = slices.DeleteFunc(slices.Clone(records[1].below), func(r tree) bool { return !keep(r) })
		return records
	}
	noClusters := func(r tree) bool { return r.name != "Deformer" }
	for name, c := range map[string]struct {
		records []tree
		head    m3.Vec3 // with +Y up
		chest   m3.Quat
		note    string
	}{
		"clusters":       {doll(t, strip()), m3.V(0, 0.8, 0), up, ""},
		"version 6":      {append(doll6()[:2:2], rec("Takes", rec("Take", "a", rec("Model", "Model::Chest", rec("Channel", "Transform", rec("Channel", "R", rec("Channel", "X", rec("Key", int64(0), 0.0, "L", second, 90.0, "L")))))))), m3.V(0, 0.8, 0), up, ""},
		"a bind pose":    {bare(doll(t, strip(), pose), noClusters), m3.V(0, 0.85, 0), up, ""},
		"both":           {doll(t, strip(), pose), m3.V(0, 0.8, 0), up, ""},
		"none":           {bare(doll(t, strip()), noClusters), m3.V(0, float32(0.4+0.4*math.Sqrt2/2), float32(0.4*math.Sqrt2/2)), up.Mul(bend), ""},
		"longer bones":   {doll(t, strip(), cluster7(20, nil, nil, matrixAt(0, 5, 0), matrixAt(0, 0, 99)), link2(20, 7), link2(4, 20)), m3.V(0, float32(0.4+0.4*math.Sqrt2/2), float32(0.4*math.Sqrt2/2)), up.Mul(bend), "do not fit its bones"},
		"a turned joint": {doll(t, strip(), cluster7(20, nil, nil, matrixAt(0, 5, 0), []float64{0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 80, 1}), link2(20, 7), link2(4, 20)), m3.V(0, 0.8, 0), up, ""},
	} {
		data := binaryFile(7400, c.records)
		if name == "version 6" {
			data = asciiFile(6100, c.records)
		}
		all := must.Get(Read("a.fbx", data))(t)
		m := all[0]
		chest, head := slices.Index(m.Clip.Skel.Names, "Chest"), slices.Index(m.Clip.Skel.Names, "Head")
		if m.Rest[head].Pos.Dist(c.head) > 1e-6 || m.Rest[chest].Rot.Angle(c.chest) > 1e-3 {
			t.Errorf("%s: the head rests at %v, want %v; the chest is turned by %v, want %v", name, m.Rest[head].Pos, c.head, m.Rest[chest].Rot, c.chest)
		}
		if note := strings.Join(m.Notes, ""); (note != "") != (c.note != "") || !strings.Contains(note, c.note) {
			t.Errorf("%s: notes %q, want %q", name, note, c.note)
		}
		// The skeleton's offsets are those of the models.
		if got := m.Clip.Skel.Offsets[chest]; got.Dist(m3.V(0, 0, 0.4)) > 1e-6 {
			t.Errorf("%s: the chest's offset is %v", name, got)
		}
	}
}

// A character that becomes glTF rests as its FBX does: all joints lie alike about their top joint.
func TestRestInGLTF(t *testing.T) {
	dir := mocapdata.Dir(t)
	files, worst := 0, float32(0)
	for _, pattern := range samples {
		all, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range all {
			base := filepath.Base(file)
			ours, err := Open(file)
			if err != nil || strings.Contains(base, "sausage_rrss") { // its bones have other lengths when bound
				continue
			}
			c, err := OpenCharacter(file)
			if err != nil || len(c.Doc.Skins) == 0 || len(c.Doc.Animations) == 0 {
				continue
			}
			var glb bytes.Buffer
			must.Do(t, c.Write(&glb))
			theirs := must.Get(skin.ReadMotions(file, glb.Bytes()))(t)[0]
			files++
			sk := ours[0].Clip.Skel
			top, size := make([]int, sk.Len()), float32(0)
			for j, p := range sk.Parents {
				if top[j] = j; p >= 0 {
					top[j] = top[p]
				}
				size = max(size, ours[0].Rest[j].Pos.Dist(ours[0].Rest[0].Pos))
			}
			for j, name := range sk.Names {
				k, up := slices.Index(theirs.Clip.Skel.Names, name), slices.Index(theirs.Clip.Skel.Names, sk.Names[top[j]])
				if k < 0 || up < 0 {
					continue
				}
				a := ours[0].Rest[top[j]].Rot.Conj().Rotate(ours[0].Rest[j].Pos.Sub(ours[0].Rest[top[j]].Pos))
				b := theirs.Rest[up].Rot.Conj().Rotate(theirs.Rest[k].Pos.Sub(theirs.Rest[up].Pos))
				if worst = max(worst, a.Dist(b)/size); float64(a.Dist(b)) > 1e-3*float64(size) {
					t.Errorf("%s: %s rests at %v, in glTF at %v", base, name, a, b)
				}
			}
		}
	}
	if t.Logf("%d files, off by %.2g of their size at most", files, worst); files < 45 {
		t.Errorf("only %d files have a skin and motions", files)
	}
}
