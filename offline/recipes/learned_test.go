package recipes

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
	"mannequin/netruntime/grad"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
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
}

// Networks take an eighth of the memory of what they learn, with the poses of those who stand.
func TestLearnedMemory(t *testing.T) {
	takes, _, err := human.Generate(human.Options{Minutes: 1, Actions: []string{human.Stand}, Styles: []string{"neutral"}})
	must.Do(t, err)
	stand := takes[0].Clip
	var clips []matching.Clip
	for range 8 {
		still := skel.NewClip(stand.Skel, stand.FPS, 12*matching.TickRate)
		for f := range still.Frames { // at one place
			pos, rot := stand.Frame(0)
			p, q := still.Frame(f)
			copy(p, pos)
			copy(q, rot)
		}
		clips = append(clips, matching.Clip{Motion: still, Tags: []matching.Tags{1}}, matching.Clip{Motion: stand, Tags: []matching.Tags{2}})
	}
	d := must.Get(matching.Build(stand.Skel, clips, matching.Options{Tags: []string{"idle", "move"}}))(t)
	m := DefaultLearned(d, 1)
	m.Steps, m.Folder, m.Log, m.Now = [3]int{1, 1, 1}, t.TempDir(), slog.New(slog.DiscardHandler), time.Now
	out, _, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	idles := len(out.Networks().Idles)
	if n := m.bytes(idles); out.Bytes() > n || idles == 0 || idles != idlesOf(d) {
		t.Errorf("%d bytes, said to be %d at most; %d idles", out.Bytes(), n, idles)
	}
	if m.Hidden == 64 || learnedShare*out.Bytes() > d.Bytes() {
		t.Errorf("%d bytes of networks of %d units for %d", out.Bytes(), m.Hidden, d.Bytes())
	}
}

// Actions and ways that few frames show are drawn more often, each as often as another; the rest as often as there are frames of it.
func TestLearnedDraws(t *testing.T) {
	d := ways(t)
	f := must.Get(newLearnedFrames(d))(t)
	const n = 40000
	draws, counts := map[string]float64{}, map[string]float64{}
	name := func(frame int) string { name, _ := d.Clip(frame); return name }
	for k := range n {
		draws[name(f.starts.draw(grad.Hash(7, uint64(k))))] += 1.0 / n
	}
	for _, i := range f.starts.all {
		counts[name(i)] += 1 / float64(len(f.starts.all))
	}
	var actions, ways float64
	rare := func(clip string) (action, way bool) {
		action = counts[clip] < fewFrames && strings.HasPrefix(clip, "action")
		return action, counts[clip] < fewFrames && !strings.HasPrefix(clip, "action") && clip != "stands"
	}
	for clip := range counts {
		action, way := rare(clip)
		if action {
			actions++
		}
		if way {
			ways += math.Sqrt(counts[clip])
		}
	}
	if actions != 2 || ways == 0 {
		t.Fatalf("%g actions are rare: %v", actions, counts)
	}
	for clip, share := range counts {
		want := share * (1 - actionShare - wayShare)
		switch action, way := rare(clip); {
		case action:
			want += actionShare / actions
		case way:
			want += wayShare * math.Sqrt(share) / ways
		}
		if math.Abs(draws[clip]-want) > 0.01 {
			t.Errorf("%s, %.3f of the frames: %.3f of the draws, want %.3f", clip, share, draws[clip], want)
		}
	}
}

// ways returns a database of a person who goes ahead for long, goes other ways and turns on the spot for short, and shows two actions.
func ways(t testing.TB) *matching.Database {
	takes, _, err := human.Generate(human.Options{Minutes: 1, Actions: []string{human.Walk, human.Stand}, Styles: []string{"neutral"}})
	must.Do(t, err)
	var clips []matching.Clip
	// led returns a stand that moves, m/s, and turns, rad/s.
	led := func(v m3.Vec3, rate float32, seconds int) *skel.Clip {
		i := slices.IndexFunc(takes, func(k *registration.Take) bool { return k.Action == human.Stand })
		stand := takes[i].Clip
		out := *stand.Section(0, seconds*matching.TickRate)
		out.Pos, out.Rot = slices.Clone(out.Pos), slices.Clone(out.Rot)
		ahead := m3.YawQuat(stand.Rot[0].Yaw())
		for f := range out.Frames {
			s := float32(f) / matching.TickRate
			pos, rot := out.Frame(f)
			rot[0] = m3.YawQuat(rate * s).Mul(rot[0])
			pos[0] = pos[0].Add(ahead.Rotate(v).Scale(s))
		}
		return &out
	}
	add := func(name, tag string, motion *skel.Clip) {
		tags := map[string]matching.Tags{"idle": 1, "move": 2, "sit": 4, "lie": 8}
		clips = append(clips, matching.Clip{Name: name, Motion: motion, Tags: []matching.Tags{tags[tag]}})
	}
	for i := range 6 {
		add("ahead", "move", led(m3.V(0.2, 0, 1+0.1*float32(i)), 0.2, 5))
	}
	add("stands", "move", led(m3.Vec3{}, 0, 2))
	add("back", "move", led(m3.V(0.2, 0, -1), 0, 2))
	add("left", "move", led(m3.V(1, 0, 0.3), 0, 2))
	add("right", "move", led(m3.V(-1, 0, -0.3), 0, 2))
	add("turns left", "move", led(m3.Vec3{}, 1, 2))
	add("turns right", "move", led(m3.Vec3{}, -1, 2))
	add("action, sits", "sit", led(m3.Vec3{}, 0, 2))
	add("action, lies", "lie", led(m3.V(0, 0, -1), 0, 2))
	return must.Get(matching.Build(takes[0].Clip.Skel, clips, matching.Options{Tags: []string{"idle", "move", "sit", "lie"}}))(t)
}
