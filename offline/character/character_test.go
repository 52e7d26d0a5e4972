package character

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
