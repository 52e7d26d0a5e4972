package inspect

import (
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
)

// A sound character passes, one of another kind does not, and the exit code says so. A broken file is an error.
func TestCertify(t *testing.T) {
	run := func(args ...string) (int, string, string) {
		return testcli.Run(testcli.Root(Certify()), append([]string{"certify"}, args...)...)
	}
	person := "../../../../animsys/skin/testdata/plain-person.glb"
	code, stdout, stderr := run(person)
	if code != 0 || !strings.Contains(stdout, "passes: a person, 1.79 m high") || !strings.Contains(stdout, "feet on the ground") {
		t.Errorf("a person: exit %d\n%s%s", code, stdout, stderr)
	}
	drawn := filepath.Join(t.TempDir(), "a.png")
	if code, _, stderr := run(person, "--picture", drawn); code != 0 {
		t.Errorf("a picture: exit %d: %s", code, stderr)
	}
	if i := must.Get(png.Decode(must.Get(os.Open(drawn))(t)))(t).Bounds(); i.Dx() < 1000 || i.Dy() < 500 {
		t.Errorf("a picture of %v", i)
	}
	// Joints without names have those by which their file gets motion.
	if code, stdout, stderr := run(rig); code != 0 || !strings.Contains(stdout, "glTF 0.0") || !strings.Contains(stdout, "mm at node") {
		t.Errorf("nameless: exit %d\n%s%s", code, stdout, stderr)
	}
	names := filepath.Join(t.TempDir(), "names.toml")
	must.Do(t, os.WriteFile(names, []byte("Head = \"\"\n"), 0o644))
	code, stdout, stderr = run(person, "--skin-map", names)
	if code != 1 || !strings.Contains(stdout, "FAIL  roles") || !strings.Contains(stdout, "roles: name the joints") || !strings.Contains(stderr, "not certified") {
		t.Errorf("without a head: exit %d\n%s%s", code, stdout, stderr)
	}
	// The picture shows what was found, and --profile is the map, too.
	must.Do(t, os.Remove(drawn))
	if code, stdout, _ = run(person, "--profile", names, "--picture", drawn); code != 1 || !strings.Contains(stdout, "FAIL  roles") {
		t.Errorf("with a profile: exit %d\n%s", code, stdout)
	}
	if i := must.Get(png.Decode(must.Get(os.Open(drawn))(t)))(t).Bounds(); i.Dx() < 1000 || i.Dy() < 500 {
		t.Errorf("without a head: a picture of %v", i)
	}
	code, stdout, _ = run(person, "--json")
	var r struct {
		Kind  string
		Gates []struct {
			Gate string
			Pass bool
		}
	}
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil || r.Kind != "person" || len(r.Gates) < 8 || !r.Gates[0].Pass {
		t.Errorf("as JSON: exit %d, %v, %+v", code, err, r)
	}
	broken := filepath.Join(t.TempDir(), "broken.glb")
	must.Do(t, os.WriteFile(broken, []byte("glTF"), 0o644))
	if code, _, stderr = run(broken); code != 1 || !strings.Contains(stderr, "broken.glb: ") {
		t.Errorf("a broken file: exit %d: %s", code, stderr)
	}
}
