package character

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	"mannequin/offline/eval/controller"
	"mannequin/offline/procgen"
)

func mannequin(args ...string) (code int, out, errs string) {
	return testcli.Run(testcli.Root(New()), args...)
}

// clips writes a dog's clips.
func clips(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, procgen.Write(dir, must.Get(procgen.Generate(procgen.Options{Minutes: 2}))(t)))
	return dir
}

// A folder of clips becomes a file that plays, with what was measured, a video and a sheet.
func TestMake(t *testing.T) {
	dir, out := clips(t), t.TempDir()
	file, sheet, video := filepath.Join(out, "rex.character"), filepath.Join(out, "rex.png"), filepath.Join(out, "rex.gif")
	labels := filepath.Join(out, "labels.toml")
	code, text, errs := mannequin("make", dir, "--out", file, "--sheet", sheet, "--video", video, "--review", labels, "--license", "CC0-1.0", "--json")
	var r report
	if err := json.Unmarshal([]byte(text), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, text, errs)
	}
	if r.Kind != "four legs" || r.Clips == 0 || !r.Mirrored || r.Measures == nil || !r.Measures.Finite || r.Seconds["sit"] < 1 {
		t.Errorf("%+v", r)
	}
	for _, v := range r.Measures.Speeds {
		if v.Way == "ahead" && (v.Got < 0.8*v.Asked || v.Got > 1.2*v.Asked) {
			t.Errorf("asked for %.2f m/s it goes at %.2f", v.Asked, v.Got)
		}
	}
	db := must.Get(matching.Open(file))(t)
	if want := fmt.Sprintf("%d jumps were cut out", r.Jumps); r.Jumps == 0 || !strings.Contains(db.Card, want) {
		t.Errorf("%d jumps, and the card says %q", r.Jumps, db.Card)
	}
	// It is asked for its gaits, and aside and backward.
	ways := map[string][]float64{}
	for _, v := range r.Measures.Speeds {
		ways[v.Way] = append(ways[v.Way], v.Asked/float64(r.Size))
	}
	for i, want := range db.Speeds(controller.Gaits) {
		if i >= len(ways["ahead"]) || math.Abs(ways["ahead"][i]-float64(want)) > 1e-3 {
			t.Errorf("it is asked for %v m/s ahead, want %v", ways["ahead"], db.Speeds(controller.Gaits))
			break
		}
	}
	if n := len(ways["ahead"]) - 1; n != len(db.Speeds(controller.Gaits)) || math.Abs(ways["ahead"][n]-float64(db.TopSpeed())) > 1e-3 {
		t.Errorf("it is asked for %v m/s ahead, want %g in the end", ways["ahead"], db.TopSpeed())
	}
	if len(ways["aside"]) != 1 || len(ways["backward"]) != 1 {
		t.Errorf("it is asked for %v", ways)
	}
	if db.Frames() != r.Frames || db.Name != "rex" || db.License != "CC0-1.0" || !strings.Contains(db.Card, "speed held") || db.Size != r.Size {
		t.Errorf("the file has %d frames, is called %q under %q, its card is %q", db.Frames(), db.Name, db.License, db.Card)
	}
	for _, path := range []string{sheet, video, filepath.Join(out, "labels.png")} {
		if info, err := os.Stat(path); err != nil || info.Size() < 1000 {
			t.Errorf("%s: %v", path, err)
		}
	}
	code, text, errs = mannequin("make", dir, "--out", filepath.Join(out, "plain.character"), "--plain", "--labels", labels, "--only", "walk*,trot*,idle*")
	if code != 0 || !strings.Contains(text, "four legs") || strings.Contains(text, "mirrored") {
		t.Errorf("code %d: %s%s", code, text, errs)
	}
}

func TestMakeRefuses(t *testing.T) {
	dir, out := clips(t), filepath.Join(t.TempDir(), "x.character")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no clips", []string{"make", t.TempDir(), "--out", out}},
		{"no such file", []string{"make", filepath.Join(t.TempDir(), "none"), "--out", out}},
		{"required", []string{"make", dir}},
		{"--unit", []string{"make", dir, "--out", out, "--unit", "-1"}},
		{"no clip walks", []string{"make", dir, "--out", out, "--only", "lie*"}},
		{"unknown flag", []string{"make", dir, "--out", out, "--trian", "3"}},
	} {
		if code, text, errs := mannequin(c.args...); code == 0 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: code %d, want %q: %s%s", c.args, code, c.want, text, errs)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v left a file", c.args)
		}
	}
}
