package character

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
	"mannequin/offline/eval/controller"
	"mannequin/offline/recipes"
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
	if n == nil || len(n.Of) != 2 || n.Plays != "motion matching" {
		t.Fatalf("networks that were trained for a second play: %+v", n)
	}
	for _, net := range n.Of {
		if net.Measures == nil || net.Fault == "" || net.Minutes <= 0 {
			t.Errorf("%+v", net)
		}
	}
	if p := n.Of[0].Poses; p == nil || p.Pose <= 0 || p.Networks*8 > p.Database {
		t.Errorf("%+v", p)
	}
	both, only := must.Get(matching.OpenFile(file))(t), must.Get(matching.OpenFile(alone))(t)
	same := must.Get(recipes.OwnIdles(both.Learned))(t)
	if both.Plays != matching.Matching || len(both.Ways()) != 3 || len(only.Ways()) != 1 || only.Learned.Fingerprint() != same.Fingerprint() {
		t.Errorf("the files hold %v and %v", both.Ways(), only.Ways())
	}
	if acts := both.Adaptive.Model().Layout.Actions; !slices.Equal(acts, []string{"idle", "jump", "lie", "move", "sit", "stand"}) {
		t.Errorf("the mode-adaptive network knows %v", acts)
	}
	if c := only.Character(); c.Name != "rex" || c.License != "CC0-1.0" || !strings.Contains(c.Card, "learned motion matching, trained for") || c.Size != r.Size {
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

// A network is as good as the clips unless one of its measures is worse.
func TestFault(t *testing.T) {
	held := func(way string, asked, got, slip float64) controller.Held {
		return controller.Held{Way: way, Asked: asked, Got: got, Gait: controller.Gait{Slip: slip}}
	}
	change := func(from, asked, slip float64) controller.Change {
		return controller.Change{From: from, Asked: asked, Got: 2, Gait: controller.Gait{Slip: slip}}
	}
	good := controller.Report{Finite: true, Start: 0.5, Stop: 0.5, Turn90: 0.5, Turn180: 0.5, Speeds: []controller.Held{held("ahead", 1, 1, 0.1), held("ahead", 3, 3, 0.4), held("aside", 1, 0.5, 0.7)},
		Changes: []controller.Change{change(0, 2, 0.1), change(1, 2, 0.3), change(3, 2, 0.2), change(0, 3, 0.4)},
		Slide:   controller.Pair{Shown: 0.05, Clips: 0.08}, Jerk: controller.Pair{Shown: 100, Clips: 100}}
	if why := fault(&good, &good, 1); why != "" {
		t.Error(why)
	}
	at := func(i int, h controller.Held) func(r *controller.Report) {
		return func(r *controller.Report) { r.Speeds = slices.Clone(r.Speeds); r.Speeds[i] = h }
	}
	after := func(i int, got, slip float64) func(r *controller.Report) {
		return func(r *controller.Report) {
			r.Changes = slices.Clone(r.Changes)
			r.Changes[i].Got, r.Changes[i].Slip = got, slip
		}
	}
	for want, change := range map[string]func(r *controller.Report){
		"glides at 2.00 m/s after 1.00 m/s": after(1, 2, 0.5), // between two gaits, from one of several starts
		"speed at 2.00 m/s after 3.00 m/s":  after(2, 2.3, 0.2),
		"not finite":                        func(r *controller.Report) { r.Finite = false },
		"later":                             func(r *controller.Report) { r.Turn180 = 1.2 },
		"path":                              func(r *controller.Report) { r.Path.Distance = 0.2 },
		"jerk":                              func(r *controller.Report) { r.Jerk.Shown = 130 },
		"slide":                             func(r *controller.Report) { r.Slide.Shown = 0.09 },
		"speed at 1.00 m/s ahead":           at(0, held("ahead", 1, 0.8, 0.1)),
		"glides at 1.00 m/s":                at(0, held("ahead", 1, 1, 0.4)),
		"speed at 3.00 m/s ahead":           at(1, held("ahead", 3, 3.4, 0.4)),
		"glides at 3.00 m/s ahead":          at(1, held("ahead", 3, 3, 0.7)), // in its trot alone
		"speed at 1.00 m/s aside":           at(2, held("aside", 1, 0.4, 0.7)),
	} {
		worse := good
		change(&worse)
		if why := fault(&good, &worse, 1); !strings.Contains(why, want) {
			t.Errorf("%q; want %s", why, want)
		}
	}
	far := good
	if after(3, 2.1, 0.4)(&far); fault(&good, &far, 1) != "" { // the clips do not go faster
		t.Error(fault(&good, &far, 1))
	}
	better := good
	at(2, held("aside", 1, 0.9, 0.7))(&better) // the clips hardly go aside
	if why := fault(&good, &better, 1); why != "" {
		t.Error(why)
	}
}

// At a slow speed feet may slip by 10 cm/s more than the clips' of a character of the usual size, and by less in a small one.
func TestSlowFeet(t *testing.T) {
	slow := func(slip float64) *controller.Held {
		return &controller.Held{Asked: 0.2, Got: 0.2, Gait: controller.Gait{Slip: slip}}
	}
	for _, c := range []struct {
		slip   float64
		size   float32
		glides bool
	}{{0.65, 1, false}, {0.75, 1, true}, {0.65, 0.3, true}, {1, 1, true}} {
		if why := misses(slow(0.2), slow(c.slip), c.size); (why != "") != c.glides {
			t.Errorf("slip %.2f at size %.1f: %q", c.slip, c.size, why)
		}
	}
}

// What plays is the cheapest network without a fault, or the clips.
func TestChoose(t *testing.T) {
	net := func(way matching.Way, micros float64, fault string) network {
		return network{way: way, Way: way.String(), Measures: &controller.Report{Micros: micros}, Fault: fault}
	}
	for _, c := range []struct {
		of   []network
		want matching.Way
	}{
		{nil, matching.Matching},
		{[]network{net(matching.LearnedMatching, 9, ""), net(matching.AdaptiveNetwork, 40, "")}, matching.LearnedMatching},
		{[]network{net(matching.LearnedMatching, 9, "it jerks"), net(matching.AdaptiveNetwork, 40, "")}, matching.AdaptiveNetwork},
		{[]network{net(matching.LearnedMatching, 9, "it jerks"), net(matching.AdaptiveNetwork, 40, "its feet slide")}, matching.Matching},
	} {
		l := learner{file: &matching.File{Database: new(matching.Database), Learned: new(matching.Learned), Adaptive: new(matching.Adaptive)}, report: &report{Networks: &networks{Of: c.of}}}
		if l.choose(); l.file.Plays != c.want || l.report.Networks.Plays != c.want.String() {
			t.Errorf("%v plays and is reported as %q, want %v", l.file.Plays, l.report.Networks.Plays, c.want)
		}
	}
}
