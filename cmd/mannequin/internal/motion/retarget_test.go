package motion

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testcli"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// personBVH writes a clip of a person in centimetres, joints renamed by rename,
// and returns its path.
func personBVH(t *testing.T, dir, name string, rename func(string) string) string {
	t.Helper()
	s := retarget.Human()
	c := skel.NewClip(s, 30, 6)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		pos[0] = m3.V(0, 0.95, 0.03*float32(f))
		for j := range rot {
			if !s.EndSite[j] {
				rot[j] = m3.AxisAngle(m3.V(1, 0, 0), 0.05*float32(f+1))
			}
		}
	}
	for j, n := range s.Names {
		if !s.EndSite[j] {
			s.Names[j] = rename(n)
		}
	}
	var b bytes.Buffer
	if err := mocap.WriteClip(&b, c.Scaled(100)); err != nil {
		t.Fatal(err)
	}
	return testcli.WriteFile(t, dir, name, b.String())
}

func same(n string) string { return n }

// other gives the joints names that no built-in profile has.
func other(n string) string {
	n = strings.NewReplacer("UpLeg", "Thigh", "ForeArm", "Elbow").Replace(n)
	return "rig:" + n
}

func TestImportRetarget(t *testing.T) {
	dir := t.TempDir()
	path, out := personBVH(t, dir, "a.bvh", same), filepath.Join(dir, "out.bvh")
	code, text, errs := mannequin("import", path, "--retarget", "--fps", "60", "--out", out)
	if code != 0 || errs != "" {
		t.Fatalf("code %d, %s", code, errs)
	}
	for _, want := range []string{"profile      cmu", "6 at 30 per second", "0.01 metres per unit", "1.000 of life-size", "mean error   0.0", "written      " + out, "RightHandIndex1  RightHandIndex1"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	b, err := mocap.OpenBVH(out)
	if err != nil {
		t.Fatal(err)
	}
	s := b.Clip.Skel
	if b.Clip.FPS != 60 || b.Clip.Frames != 11 || s.Len() != retarget.Human().Len() || s.Offsets[s.Index("LeftFoot")].Y != -0.427 {
		t.Errorf("%d frames at %g, %d joints", b.Clip.Frames, b.Clip.FPS, s.Len())
	}
	if at := b.Clip.Pos[10*s.Len()]; at.Dist(m3.V(0, 0.95, 0.15)) > 2e-3 {
		t.Errorf("the root ends at %v", at)
	}

	code, text, _ = mannequin("import", path, "--retarget", "--json")
	var got struct {
		File    string
		Profile string
		Frames  int
		MeanCM  float64 `json:"mean_cm"`
		Worst   string  `json:"worst_joint"`
		Joints  []retarget.JointError
	}
	if err := json.Unmarshal([]byte(text), &got); code != 0 || err != nil || got.File != path || got.Profile != "cmu" || got.Frames != 6 || got.Worst == "" || len(got.Joints) != 21 {
		t.Errorf("code %d, %v, %+v", code, err, got)
	}
}

// Several files make a table, with sums per profile where there are several, and
// a broken one does not keep the others from theirs.
func TestImportRetargetTable(t *testing.T) {
	dir := t.TempDir()
	a, b := personBVH(t, dir, "a.bvh", same), personBVH(t, dir, "b.bvh", other)
	broken := testcli.WriteFile(t, dir, "broken.bvh", "HIERARCHY")
	code, text, errs := mannequin("import", a, broken, b, "--retarget")
	if code != 1 || !strings.Contains(errs, "1 of 3 files failed") || !strings.Contains(errs, "broken.bvh") {
		t.Errorf("code %d, %s", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, want := range []string{"clip", "a.bvh       cmu ", "b.bvh       guessed ", "cmu: 1 clips, 6 frames", "guessed: 1 clips", "all: 2 clips, 12 frames, mean 0.0"} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Fatalf("line %d does not begin with %q:\n%s", i+1, want, text)
		}
	}
	if _, text, _ = mannequin("import", a, a, "--retarget"); !strings.Contains(text, "all: 2 clips") || strings.Contains(text, "cmu: ") {
		t.Errorf("one profile:\n%s", text)
	}
	code, text, _ = mannequin("import", a, b, "--retarget", "--json")
	var got struct{ Files []map[string]any }
	if err := json.Unmarshal([]byte(text), &got); code != 0 || err != nil || len(got.Files) != 2 || got.Files[1]["guessed"] == nil || got.Files[0]["guessed"] != nil {
		t.Errorf("code %d, %v\n%s", code, err, text)
	}
}

// A suggestion is a profile: written, and used.
func TestImportSuggest(t *testing.T) {
	dir := t.TempDir()
	path, toml := personBVH(t, dir, "rig.bvh", other), filepath.Join(dir, "rig.toml")
	code, text, errs := mannequin("import", path, "--suggest")
	if code != 0 || errs != "" || !strings.Contains(text, `LeftUpLeg = "rig:LeftThigh"`) || !strings.Contains(text, "# 25 of 25 joints") {
		t.Fatalf("code %d, %s\n%s", code, errs, text)
	}
	if err := os.WriteFile(toml, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, text, errs := mannequin("import", path, "--retarget", "--profile", toml); code != 0 || !strings.Contains(text, "profile      rig\n") {
		t.Errorf("code %d, %s\n%s", code, errs, text)
	}
	other := filepath.Join(dir, "other.toml")
	if code, text, _ := mannequin("import", path, "--suggest", "--out", other); code != 0 || !strings.Contains(text, "LeftUpLeg        rig:LeftThigh") {
		t.Errorf("code %d\n%s", code, text)
	}
	if _, err := retarget.OpenProfile(other); err != nil {
		t.Error(err)
	}
	code, text, _ = mannequin("import", path, "--suggest", "--json")
	var got struct{ Joints map[string]string }
	if err := json.Unmarshal([]byte(text), &got); code != 0 || err != nil || got.Joints["LeftForeArm"] != "rig:LeftElbow" {
		t.Errorf("code %d, %v\n%s", code, err, text)
	}
	if _, _, errs := mannequin("import", personBVH(t, dir, "a.bvh", same), "--suggest"); !strings.Contains(errs, "profile cmu fits") {
		t.Errorf("%q", errs)
	}
}

func TestImportRetargetErrors(t *testing.T) {
	dir := t.TempDir()
	good := personBVH(t, dir, "good.bvh", same)
	leg := testcli.WriteFile(t, dir, "leg.bvh", testcli.TinyBVH)
	bad := testcli.WriteFile(t, dir, "bad.toml", "name = \"x\"\njoints = 3\n")
	broken := testcli.WriteFile(t, dir, "broken.toml", "name = \"x\"\nabout = five\n")
	out := filepath.Join(dir, "out.bvh")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "--retarget and --suggest", []string{good, "--retarget", "--suggest"}},
		{2, "--scale is of no use", []string{good, "--retarget", "--scale", "0.01"}},
		{2, "--fps is of no use", []string{good, "--suggest", "--fps", "60"}},
		{2, "--suggest takes one", []string{good, good, "--suggest"}},
		{2, "--profile is for --retarget", []string{good, "--profile", "cmu"}},
		{2, "--profile is empty", []string{good, "--retarget", "--profile", ""}},
		{2, "want a folder", []string{good, good, "--retarget", "--out", out}},
		{2, `none.toml", want asf, bandai, cmu`, []string{good, "--retarget", "--profile", "none.toml", "--out", out}},
		{2, "bad.toml", []string{good, "--retarget", "--profile", bad, "--out", out}},
		{2, "broken.toml:2:", []string{good, "--retarget", "--profile", broken, "--out", out}},
		{1, `good.bvh: retarget: profile bandai: joints.LeftUpLeg: the file has no joint`, []string{good, "--retarget", "--profile", "bandai", "--out", out}},
		{1, "leg.bvh: no profile fits its skeleton of Hips, Leg, LegSite, …, and a guess is incomplete: joints.LeftUpLeg is missing", []string{leg, "--retarget", "--out", out}},
		{1, "would take", []string{testcli.WriteFile(t, dir, "slow.bvh", slow(t, good)), "--retarget", "--frame-rate", "0.001", "--fps", "100000", "--out", out}},
		{1, "none.bvh", []string{filepath.Join(dir, "none.bvh"), "--suggest"}},
	} {
		code, _, errs := mannequin(append([]string{"import"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: code %d, %s\nwant %d, %q", c.args, code, errs, c.code, c.want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*out*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// slow returns the file's text with an hour between frames.
func slow(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "Frame Time:") {
			lines[i] = "Frame Time: 3600"
		}
	}
	return strings.Join(lines, "\n")
}
