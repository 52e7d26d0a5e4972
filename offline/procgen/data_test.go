package procgen

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
	"mannequin/offline/dataset"
	"mannequin/offline/metrics"
	"mannequin/offline/procgen/internal/clips"
)

// A seed gives the same clips and files for any number of workers; another gives others.
func TestSameSeedSameBytes(t *testing.T) {
	gen := func(seed uint64, workers int) []*Take {
		return must.Get(Generate(Options{Minutes: 1.5, Seed: seed, Workers: workers}))(t)
	}
	a, b := gen(3, 1), gen(3, 5)
	if !reflect.DeepEqual(a, b) {
		t.Fatal("two runs of one seed differ")
	}
	if c := gen(4, 2); reflect.DeepEqual(a[0].Clip.Rot, c[0].Clip.Rot) {
		t.Error("two seeds give one clip")
	}
	one, two := filepath.Join(t.TempDir(), "new", "folder"), t.TempDir()
	for dir, takes := range map[string][]*Take{one: a, two: b} {
		must.Do(t, Write(dir, takes))
	}
	files, err := os.ReadDir(one)
	if err != nil || len(files) != len(a)+3 {
		t.Fatalf("%d files for %d clips: %v", len(files), len(a), err)
	}
	for _, f := range files {
		x, _ := os.ReadFile(filepath.Join(one, f.Name()))
		y, _ := os.ReadFile(filepath.Join(two, f.Name()))
		if len(x) == 0 || !bytes.Equal(x, y) {
			t.Errorf("%s differs", f.Name())
		}
	}
}

func TestGenerateRejects(t *testing.T) {
	for _, o := range []Options{{Minutes: -1}, {Minutes: math.NaN()}, {Minutes: 1e9}, {Minutes: 1, Workers: -1}} {
		if _, err := Generate(o); err == nil || !strings.HasPrefix(err.Error(), "procgen: ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o644))
	if err := Write(file, nil); err == nil {
		t.Error("a file taken for a folder")
	}
}

// Labels written by hand are not overwritten. A folder made by Write is.
func TestWriteSparesOthersLabels(t *testing.T) {
	dir := t.TempDir()
	labels := filepath.Join(dir, dataset.LabelsFile)
	for range 2 {
		must.Do(t, Write(dir, nil))
	}
	for _, licence := range []string{"", "mine"} {
		must.Do(t, os.WriteFile(labels, []byte("hours of work"), 0o644))
		must.Do(t, os.Remove(filepath.Join(dir, clips.LicenceFile)))
		if licence != "" {
			must.Do(t, os.WriteFile(filepath.Join(dir, clips.LicenceFile), []byte(licence), 0o644))
		}
		err := Write(dir, nil)
		if b, _ := os.ReadFile(labels); err == nil || !strings.Contains(err.Error(), "other recordings") || string(b) != "hours of work" {
			t.Errorf("licence %q: %v, and the labels are now %q", licence, err, b)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, clips.LicenceFile), nil, 0o644))
	}
}

// The trainer reads the folder: every action has rows to train on and to hold out, weights sum to
// one, and speeds match the gaits' names.
func TestDataset(t *testing.T) {
	takes := some(t)
	dir := t.TempDir()
	must.Do(t, Write(dir, takes))
	train, held := must.Get2(dataset.BuildMANN(dir, dataset.Options{}))(t)
	if s := train.Source; s == nil || s.Name != ModelName || s.License != License {
		t.Errorf("the folder says it is %+v", train.Source)
	}
	if len(train.Order) != train.Rows {
		t.Errorf("%d visits of %d rows: gaits are balanced already", len(train.Order), train.Rows)
	}
	if share := float64(held.Rows) / float64(held.Rows+train.Rows); held.Rows == 0 || share > 0.4 {
		t.Errorf("%.0f %% of the rows are held out", 100*share)
	}
	for j, o := range Skeleton().Offsets[1:] {
		if d := o.Dist(train.Skeleton.Offsets[j+1]); d > 1e-5 {
			t.Errorf("%s lies %g m from where the skeleton has it", train.Skeleton.Names[j+1], d)
		}
	}
	l := train.Layout
	var top [6]float32
	for _, set := range []*dataset.MANN{train, held} {
		for r := range set.Rows / 2 {
			for s := range feature.TrajSamples {
				var sum float32
				for a, w := range set.Input(r)[l.InActions(s):][:len(l.Actions)] {
					sum += w
					if s == feature.TrajNow {
						top[a] = max(top[a], w)
					}
				}
				if math.Abs(float64(sum)-1) > 1e-5 {
					t.Fatalf("row %d sample %d: actions sum to %g", r, s, sum)
				}
			}
		}
	}
	for a, w := range top {
		if w != 1 {
			t.Errorf("action %s never reaches full weight", l.Actions[a])
		}
	}
	if p := train.RestPose(); p == nil {
		t.Error("there is no pose to begin from")
	} else if h := p[feature.BonePos+1]; math.Abs(float64(h)-hipHeight) > 0.04 {
		t.Errorf("at rest the hips are %g m high", h)
	}

	// The speeds of a clip's parts match the gaits of package metrics.
	gaits := metrics.Gaits()
	truth := must.Get(metrics.GroundTruth(gaits, train, held))(t)
	for i, g := range gaits {
		t.Logf("%s: %+v", g.Name, truth[i])
		if truth[i].Frames < 100 {
			t.Errorf("only %d frames of %s", truth[i].Frames, g.Name)
		}
	}
	ranges := map[string][2]float64{}
	for _, g := range gaits {
		ranges[g.Name] = g.Speed
	}
	inside, all := 0, 0
	for _, tk := range takes {
		k, _, _ := strings.Cut(tk.Name, "_")
		if k == "side" || k == "turn" || k == "idle" { // steps aside and on the spot are slower
			continue
		}
		pos := positions(tk)
		for _, p := range tk.Parts {
			r, moves := ranges[p.Name]
			if !moves {
				continue
			}
			for f := p.From; f+30 <= p.To; f += 6 {
				v := float64(pos[f+29][hips].Sub(pos[f][hips]).Flat().Len()) / 29 * fps
				all++
				// The body sways within a stride.
				if v > r[0]-0.12 && v < r[1]+0.12 {
					inside++
				}
			}
		}
	}
	if float64(inside) < 0.97*float64(all) {
		t.Errorf("%d of %d half seconds are as fast as their gait", inside, all)
	}
}
