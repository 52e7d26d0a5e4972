package character

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
	"mannequin/offline/eval/controller"
)

// With --train a file holds networks too, and says what plays; they have a file of their own.
func TestMakeTrains(t *testing.T) {
	dir, out := clips(t), t.TempDir()
	file, alone := filepath.Join(out, "rex.character"), filepath.Join(out, "small.character")
	code, text, errs := mannequin("make", dir, "--out", file, "--networks", alone, "--train", "0.02", "--license", "CC0-1.0", "--json")
	var r report
	if err := json.Unmarshal([]byte(text), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, text, errs)
	}
	n := r.Networks
	if n == nil || n.Measures == nil || n.Why == "" || n.Poses.Pose <= 0 || n.Poses.Networks*8 > n.Poses.Database {
		t.Fatalf("%+v", n)
	}
	if n.Play {
		t.Error("networks that were trained for a second play")
	}
	both, only := must.Get(matching.OpenFile(file))(t), must.Get(matching.OpenFile(alone))(t)
	if both.Database == nil || both.Learned == nil || both.Learns != n.Play || only.Database != nil || only.Learned.Fingerprint() != both.Learned.Fingerprint() {
		t.Error("the files do not hold what the report says")
	}
	if c := only.Character(); c.Name != "rex" || c.License != "CC0-1.0" || !strings.Contains(c.Card, "networks, trained for") || c.Size != r.Size {
		t.Errorf("the networks' file is called %q under %q, its size is %g, its card %q", c.Name, c.License, c.Size, c.Card)
	}
	if info := must.Get(os.Stat(alone))(t); info.Size() != n.Bytes {
		t.Errorf("the networks' file has %d bytes, the report says %d", info.Size(), n.Bytes)
	}
	if _, err := os.Stat(file + ".train"); err == nil {
		t.Error("the folder of the training is left")
	}
	for _, flag := range [][]string{{"--networks", alone}, {"--resume"}} {
		if code, text, errs := mannequin(append([]string{"make", dir, "--out", file}, flag...)...); code != 2 || !strings.Contains(errs, "--train") {
			t.Errorf("%v without --train: code %d: %s%s", flag, code, text, errs)
		}
	}
}

// Networks play unless one of their measures is worse.
func TestChoose(t *testing.T) {
	good := controller.Report{Finite: true, Start: 0.5, Stop: 0.5, Turn90: 0.5, Turn180: 0.5, Speeds: []controller.Speed{{Asked: 1, Got: 1}},
		Slide: controller.Pair{Shown: 0.05, Clips: 0.08}, Jerk: controller.Pair{Shown: 100, Clips: 100}}
	if play, why := choose(&good, &good); !play {
		t.Error(why)
	}
	for want, change := range map[string]func(r *controller.Report){
		"not finite": func(r *controller.Report) { r.Finite = false },
		"later":      func(r *controller.Report) { r.Turn180 = 1.2 },
		"speed":      func(r *controller.Report) { r.Speeds = []controller.Speed{{Asked: 1, Got: 0.8}} },
		"path":       func(r *controller.Report) { r.Path.Distance = 0.2 },
		"jerk":       func(r *controller.Report) { r.Jerk.Shown = 130 },
		"slide":      func(r *controller.Report) { r.Slide.Shown = 0.09 },
	} {
		worse := good
		change(&worse)
		if play, why := choose(&good, &worse); play || !strings.Contains(why, want) {
			t.Errorf("%t, %q; want no, because %s", play, why, want)
		}
	}
}
