package character

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

// The content decides, whatever the name; other formats are named.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, data, 0o644))
		return path
	}
	for name, c := range map[string]struct{ text, want string }{
		"a.glb":  {"; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n\tFBXVersion: 7400\n}\n", "has no objects"},
		"b.fbx":  {"hello", "is not an FBX file"},
		"c.glb":  {"hello", "is not a glTF file"},
		"d.usdc": {"PXR-USDC", "is a USD scene, which is not read: open it in Blender, and export glTF"},
		"e.obj":  {"# cube\nv 1 2 3\n", "is an OBJ mesh, which is not read: it has no joints"},
		"f.pdf":  {"%PDF-1.4", "is a PDF document, which is not read: export it as glTF or FBX"},
	} {
		path := write(name, []byte(c.text))
		if _, err := Open(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	// The name of one of several characters follows a #, unless a file is called so.
	for name, want := range map[string]string{
		"c.glb#Bob": "c.glb: is not a glTF file", "a.glb#Bob": "a.glb#Bob: the name of a character is for glTF", "c.glb#": "c.glb#: the name of a character", "d.usdc#Bob": "is a USD scene", "none.glb#Bob": "no such file",
	} {
		must.Fail(Open(filepath.Join(dir, name)))(t, want)
	}
	must.Fail(Open(write("g.glb#Bob", []byte("hello"))))(t, "g.glb#Bob: is not a glTF file")
	if _, err := Open(filepath.Join(dir, "none.fbx")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file: %v", err)
	}
}

// Motions come into glTF files, with the files beside them, and into FBX characters, as one GLB.
func TestAddMotions(t *testing.T) {
	dir := t.TempDir()
	hero, beside := "../../animsys/skin/testdata/plain-person.glb", filepath.Join(dir, "hero.gltf")
	doc := must.Get(gltf.Open(hero))(t)
	doc.Buffers[0].URI = "hero.bin"
	must.Do(t, gltf.Save(doc, beside))
	add := func(path string) {
		t.Helper()
		s := must.Get(Open(path))(t)
		clip := skel.NewClip(&skel.Skeleton{Names: s.Joints()[:1], Parents: []int16{-1}, Offsets: make([]m3.Vec3, 1), EndSite: make([]bool, 1)}, 30, 5)
		for f := range clip.Pos {
			clip.Pos[f].X = float32(f)
		}
		glb, r := must.Get2(AddMotions(path, []skin.Motion{{Name: "goes", Clip: clip}}, skin.AddOptions{}))(t)
		all := must.Get(skin.ReadMotions("out.glb", glb))(t)
		last := all[len(all)-1]
		if j := last.Clip.Skel.Index(s.Joints()[0]); last.Name != "goes" || r.Joints != 1 || j < 0 || m3.Abs(last.Clip.Pos[4*last.Clip.Skel.Len()+j].X-4) > 1e-4 {
			t.Errorf("%s: %+v, %s", path, r, last.Name)
		}
	}
	for _, path := range []string{hero, beside, beside + "#Hips"} {
		add(path)
	}
	_, _, err := AddMotions(filepath.Join(dir, "none.glb"), nil, skin.AddOptions{})
	must.FailWith(t, err, "no such file")
	add(filepath.Join(mocapdata.Dir(t), "quaternius-fbx", "Zombie.fbx"))
}
