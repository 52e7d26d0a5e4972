package motion

import (
	"encoding/json"
	"mannequin/animsys/skin"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	"mannequin/offline/mocap"
)

// Files with faults, made by other code.
const (
	surplus = "../../../../offline/mocap/testdata/one-row-too-many.bvh"
	millis  = "../../../../offline/mocap/testdata/frame-time-in-ms.bvh"
	zUp     = "../../../../offline/retarget/testdata/z-up-with-h21-names.bvh"
	tPose   = "../../../../offline/character/testdata/rest-tpose-same-motion.bvh"
	boneY   = "../../../../offline/character/testdata/rest-bones-along-y.bvh"
	person  = "../../../../animsys/skin/testdata/plain-person.glb"
)

// A damaged file is refused with the way on, and read with --salvage, by all commands.
func TestSalvageFlag(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.bvh")
	for _, args := range [][]string{{"import", surplus, "--out", out}, {"import", surplus, "--retarget", "--out", out}, {"convert", surplus, "--out", strings.Replace(out, ".bvh", ".glb", 1)}} {
		code, _, errs := mannequin(args...)
		if code != 1 || !strings.Contains(errs, "one-row-too-many.bvh:158: ") || !strings.Contains(errs, "--salvage keeps those") {
			t.Errorf("%v: code %d, %s", args, code, errs)
		}
		code, text, errs := mannequin(append(args, "--salvage")...)
		if code != 0 || !strings.Contains(text, "24") || !strings.Contains(text, "kept 24 whole frames of the 23 that the file says") {
			t.Errorf("%v: code %d, %s%s", args, code, text, errs)
		}
	}
}

// A frame time in milliseconds is told, sets no rate by itself, and is not resampled at its word.
func TestFrameRateFlag(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.bvh")
	const likely = "in milliseconds it is 30 frames per second; --frame-rate sets the rate"
	for _, args := range [][]string{{"import", millis}, {"import", millis, "--retarget"}} {
		if code, text, errs := mannequin(args...); code != 0 || !strings.Contains(text, likely) {
			t.Errorf("%v: code %d, %s%s", args, code, text, errs)
		}
	}
	glb := strings.Replace(out, ".bvh", ".glb", 1)
	for _, args := range [][]string{{"import", millis, "--fps", "60", "--out", out}, {"import", millis, "--retarget", "--fps", "60", "--out", out}, {"convert", millis, "--fps", "60", "--out", glb}, {"predict", millis, "--out", out}} {
		if code, _, errs := mannequin(args...); code != 1 || !strings.Contains(errs, likely) {
			t.Errorf("%v: code %d, %s", args, code, errs)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%v wrote a file", args)
		}
	}
	if code, text, errs := mannequin("import", millis, "--frame-rate", "30", "--out", out); code != 0 || !strings.Contains(text, "24 frames at 30 per second") || strings.Contains(text, "note") {
		t.Errorf("code %d, %s%s", code, text, errs)
	}
	if b := must.Get(mocap.OpenBVH(out))(t); b.Clip.Frames != 24 || b.Clip.FPS != 30 {
		t.Errorf("%d frames at %g", b.Clip.Frames, b.Clip.FPS)
	}
	if code, text, errs := mannequin("import", millis, "--frame-rate", "30", "--fps", "60", "--out", out, "--force"); code != 0 || !strings.Contains(text, "47 frames at 60 per second") {
		t.Errorf("code %d, %s%s", code, text, errs)
	}
}

// z up is found and told, and --up has the last word.
func TestUpFlag(t *testing.T) {
	code, text, errs := mannequin("import", zUp, "--retarget")
	if code != 0 || !strings.Contains(text, "axes         z up, which is y of the result; the person faces -y at first") || !strings.Contains(text, "ground       y = -0.0") {
		t.Errorf("code %d, %s%s", code, text, errs)
	}
	if code, text, _ := mannequin("import", zUp, zUp, "--retarget"); code != 0 || !strings.Contains(text, "z up") {
		t.Errorf("code %d, %s", code, text)
	}
	if _, text, _ := mannequin("import", zUp, "--retarget", "--up", "y"); !strings.Contains(text, "ground       y = -1.3") {
		t.Errorf("%s", text)
	}
	out := filepath.Join(t.TempDir(), "out.glb")
	for up, want := range map[string]bool{"": true, "z": true, "y": false} { // is its height along y
		args := []string{"convert", zUp, "--out", out, "--force", "--json"}
		if up != "" {
			args = append(args, "--up", up)
		}
		code, text, errs := mannequin(args...)
		var r convertReport
		if err := json.Unmarshal([]byte(text), &r); err != nil || code != 0 || (r.Up == "z") != (up == "") {
			t.Fatalf("up %q: code %d, %v, %+v, %s", up, code, err, r, errs)
		}
		s := mocap.Summarize(must.Get(mocap.Open(out, mocap.OpenOptions{}))(t).Clip)
		if got := s.BoundsMax[1] > 1.5 && s.BoundsMin[1] > -0.2; got != want {
			t.Errorf("up %q: y from %g to %g m", up, s.BoundsMin[1], s.BoundsMax[1])
		}
	}
}

// A motion of the file's rig comes onto its own bones, whatever the rest pose and the names; one of another body is retargeted.
func TestConvertSameRig(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.glb")
	mixamo := testcli.WriteFile(t, dir, "mixamo.bvh", strings.NewReplacer("ROOT ", "ROOT mixamorig:", "JOINT ", "JOINT mixamorig:").Replace(testcli.Read(t, tPose)))
	for _, motion := range []string{tPose, boneY, mixamo} {
		code, text, errs := mannequin("convert", motion, "--into", person, "--out", out, "--force")
		if code != 0 || !strings.Contains(text, "22 joints move") || strings.Contains(text, "retargeted") || strings.Contains(text, "turned") != (motion == boneY) {
			t.Errorf("%s: code %d, %s%s", motion, code, text, errs)
		}
		all := must.Get(skin.OpenMotions(out))(t)
		if b := all[len(all)-1]; len(b.Clip.Skel.Names) != 22 || b.Clip.Frames < 24 {
			t.Errorf("%s: %d joints, %d frames", motion, len(b.Clip.Skel.Names), b.Clip.Frames)
		}
	}
	rig := testcli.WriteFile(t, dir, "rig.bvh", strings.NewReplacer("Left", "l_", "Right", "r_", "UpLeg", "thigh", "Leg", "shin").Replace(testcli.Read(t, tPose)))
	toy := filepath.Join(filepath.Dir(person), "toy-proportions.glb")
	for file, other := range map[string]bool{person: false, toy: true} { // the same body under other names, and another body
		code, text, errs := mannequin("convert", rig, "--into", file, "--out", out, "--force")
		if code != 0 || strings.Contains(text, "retargeted, ") != other {
			t.Errorf("%s: code %d, %s%s", file, code, text, errs)
		}
	}
}

// Commands that read people tell what is unusual about a recording.
func TestNotesOfReading(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.bvh")
	code, _, errs := mannequin("predict", zUp, "--frame-rate", "10", "--seconds", "0.1", "--out", out)
	if code != 0 || !strings.Contains(errs, "note: "+zUp+": z is up") {
		t.Errorf("code %d, %s", code, errs)
	}
	code, _, errs = mannequin("predict", boneY, "--frame-rate", "10", "--seconds", "0.1", "--out", out, "--force")
	if code != 0 || !strings.Contains(errs, "22 joints guessed from their names") {
		t.Errorf("code %d, %s", code, errs)
	}
}
