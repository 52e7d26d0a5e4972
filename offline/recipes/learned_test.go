package recipes

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
	"mannequin/netruntime/grad"
	"mannequin/offline/train"
)

// learnedRecipe returns a recipe of few steps.
func learnedRecipe(t testing.TB, d *matching.Database, steps int) Learned {
	t.Helper()
	m := DefaultLearned(d, 1)
	m.Hidden, m.Project, m.Steps = 16, 16, [3]int{steps, steps, steps}
	m.Folder, m.Log, m.Now = t.TempDir(), slog.New(slog.DiscardHandler), time.Now
	return m
}

func learnedBytes(t testing.TB, l *matching.Learned) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, (&matching.File{Learned: l}).Encode(&b))
	return b.Bytes()
}

// Training has the same bytes for any number of workers, and when it was interrupted and resumed.
func TestLearnedSame(t *testing.T) {
	d := testmatching.Actors(t)
	m := learnedRecipe(t, d, 30)
	m.Threads = 1
	l, report, err := m.Run(t.Context())
	must.Do(t, err)
	if report.Projector.Steps != 30 || len(report.Latent) != 32*d.Frames() {
		t.Errorf("%d steps and %d latent values", report.Projector.Steps, len(report.Latent))
	}
	if acts := l.Networks().Acts; len(acts) != 2 || acts[0].Holds == acts[1].Holds || acts[0].Ticks != 49 {
		t.Errorf("what is played once: %+v", acts)
	}
	want := learnedBytes(t, l)
	m.Folder, m.Threads = t.TempDir(), 3
	ctx, stop := context.WithCancel(t.Context())
	m.Progress = func(part string, p train.Progress) {
		if part == "stepper" && p.Step == 11 {
			stop()
		}
	}
	if _, _, err := m.Run(ctx); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Fatalf("interrupted: %v", err)
	}
	m.Resume, m.Progress = true, nil
	l, report, err = m.Run(t.Context())
	must.Do(t, err)
	if report.Stepper.Resumed == 0 {
		t.Error("the stepper began again")
	}
	if !bytes.Equal(want, learnedBytes(t, l)) {
		t.Error("resumed, with three workers, the networks differ")
	}
	m.Steps[2]++
	if _, _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "the projector") {
		t.Errorf("resumed with another number of steps: %v", err)
	}
}

// The places of joints on the tape are those of the skeleton.
func TestLearnedPlaces(t *testing.T) {
	for name, d := range map[string]*matching.Database{"person": testmatching.People(t), "dog": testmatching.Dogs(t)} {
		f := must.Get(newLearnedFrames(d))(t)
		n := d.Skel.Len()
		pos, rot, model := make([]m3.Vec3, n), make([]m3.Quat, n), make([]m3.Xform, n)
		tape := grad.NewTape(grad.NewPool(1))
		for _, frame := range []int{0, 100, d.Frames() - 1} {
			tape.Reset()
			y := tape.Const(1, f.outputs)
			f.pose(y.Val, frame)
			got := f.places(tape, y).Val
			d.Pose(frame, pos, rot)
			d.Skel.LocalToModel(model, pos, rot)
			for j, x := range model {
				if p := m3.V(got[3*j], got[3*j+1], got[3*j+2]); p.Dist(x.Pos) > 2e-3 { // joints that hardly turn do not
					t.Errorf("%s, frame %d: %s is at %v, want %v", name, frame, d.Skel.Names[j], p, x.Pos)
				}
			}
		}
	}
}

// A recipe with fields out of range is refused.
func TestLearnedChecks(t *testing.T) {
	d := testmatching.Actors(t)
	for want, change := range map[string]func(m *Learned){
		"a database is missing": func(m *Learned) { m.Database = nil },
		"latent values":         func(m *Learned) { m.Latent = 0 },
		"units of a layer":      func(m *Learned) { m.Project = 1 << 13 },
		"steps":                 func(m *Learned) { m.Steps[1] = 0 },
		"no such file":          func(m *Learned) { m.Folder = filepath.Join(m.Folder, "none") },
	} {
		m := learnedRecipe(t, d, 1)
		change(&m)
		if _, _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	// Networks take an eighth of the memory of what they learn.
	if m := DefaultLearned(d, 10); learnedShare*m.bytes() > d.Bytes() {
		t.Errorf("%d bytes of networks for %d", m.bytes(), d.Bytes())
	}
}

// Actions that few frames show are drawn more often, each as often as another; the rest as often as there are frames of it.
func TestLearnedDraws(t *testing.T) {
	d := testmatching.Actors(t)
	f := must.Get(newLearnedFrames(d))(t)
	const n = 40000
	count := map[matching.Tags]float64{}
	for k := range n {
		count[d.TagsOf(f.starts.draw(grad.Hash(7, uint64(k))))] += 1.0 / n
	}
	frames, rare := map[matching.Tags]float64{}, 0.0
	for _, i := range f.starts.all {
		frames[d.TagsOf(i)] += 1 / float64(len(f.starts.all))
	}
	for _, share := range frames {
		if share < fewFrames {
			rare++
		}
	}
	if rare == 0 {
		t.Fatalf("all actions are frequent: %v", frames)
	}
	for tags, share := range frames {
		want := share * (1 - rareShare)
		if share < fewFrames {
			want += rareShare / rare
		}
		if math.Abs(count[tags]-want) > 0.01 {
			t.Errorf("tags %b, %.3f of the frames: %.3f of the draws, want %.3f", tags, share, count[tags], want)
		}
	}
}
