package transfer_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/metrics/transfer"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
)

// made is a small set: the first 70 frames of straight walks and, as another action,
// of slow ones, in two styles, two takes each.
var made = sync.OnceValue(func() *transfer.Set {
	takes, lines, err := human.Generate(human.Options{Styles: []string{"neutral", "proud"}, Actions: []string{human.Walk}})
	if err != nil {
		panic(err)
	}
	s := &transfer.Set{Name: "made", From: "neutral", Lines: lines}
	lines[slow] = lines[human.Walk]
	for _, t := range takes {
		switch t.Content {
		case "walk-slow":
			t.Action = slow
		case "walk-straight":
		default:
			continue
		}
		const frames = 70
		c := *t.Clip
		c.Frames, c.Pos, c.Rot = frames, c.Pos[:frames*c.Skel.Len()], c.Rot[:frames*c.Skel.Len()]
		t.Clip, t.Times, t.Stands = &c, t.Times[:frames], t.Stands[:frames]
		s.Takes = append(s.Takes, t)
	}
	return s
})

const slow = "slow walk"

func only(s *transfer.Set, action string) *transfer.Set {
	part := *s
	part.Takes = slices.DeleteFunc(slices.Clone(s.Takes), func(t *registration.Take) bool { return t.Action != action })
	return &part
}

func TestFolds(t *testing.T) {
	s := made()
	folds := must.Get(s.Folds(5))(t)
	if len(folds) != 2 {
		t.Fatalf("%d folds of two takes each, want 2", len(folds))
	}
	held := map[*registration.Take]int{}
	for k, f := range folds {
		if len(f.Cases) != 2 { // two actions into one style
			t.Errorf("fold %d: %d cases, want 2", k, len(f.Cases))
		}
		out := map[*registration.Take]bool{}
		for _, c := range f.Cases {
			out[c.In], out[c.Out] = true, true
			if c.In.Style != "neutral" || c.Out.Style == "neutral" || c.In.Content != c.Out.Content {
				t.Errorf("fold %d: %s is no counterpart of %s", k, c.Out.Name, c.In.Name)
			}
			if a, b := c.In.Name[len(c.In.Name)-3:], c.Out.Name[len(c.Out.Name)-3:]; a != b {
				t.Errorf("fold %d: take %s goes with %s", k, a, b)
			}
		}
		for take := range out {
			held[take]++
		}
		for _, take := range f.Train {
			if out[take] {
				t.Errorf("fold %d learns from %s, which is held out", k, take.Name)
			}
		}
		if len(f.Train)+len(out) != len(s.Takes) {
			t.Errorf("fold %d: %d takes are learnt from and %d held out, want %d in all", k, len(f.Train), len(out), len(s.Takes))
		}
	}
	if len(held) != len(s.Takes) {
		t.Errorf("%d of %d takes were held out", len(held), len(s.Takes))
	}
	if folds, _ = s.Folds(1); len(folds) != 1 {
		t.Errorf("%d folds, want the one that was asked for", len(folds))
	}
	alone := *s
	alone.From = "proudest"
	if _, err := alone.Folds(1); err == nil || !strings.Contains(err.Error(), "proudest") {
		t.Errorf("a style without takes: %v", err)
	}
}

// Takes of a content that one style shows only once are halved, all others stay.
func TestHalve(t *testing.T) {
	takes := slices.Clone(made().Takes)
	i := slices.IndexFunc(takes, func(t *registration.Take) bool { return t.Action == slow && t.Style == "proud" })
	takes = slices.Delete(takes, i, i+1)
	frames := 0
	names := map[string]bool{}
	for _, k := range transfer.Halve(takes) {
		frames += k.Clip.Frames
		names[k.Name] = true
		if k.Clip.Frames != len(k.Times) || len(k.Times) != len(k.Stands) || len(k.Clip.Rot) != k.Clip.Frames*k.Clip.Skel.Len() {
			t.Errorf("%s: %d frames, %d times, %d contacts", k.Name, k.Clip.Frames, len(k.Times), len(k.Stands))
		}
	}
	want := 0
	for _, k := range takes {
		want += k.Clip.Frames
		if halved := names[k.Name+"a"] && names[k.Name+"b"]; halved != (k.Action == slow) {
			t.Errorf("%s: halved is %v", k.Name, halved)
		}
	}
	if frames != want {
		t.Errorf("%d frames in halves, %d before", frames, want)
	}
}

// Errors known by construction. The truth has none. A pose lifted by 5 cm is off by 5 cm; a turned
// or moved one is not off. Steps that are a tenth too long drift apart by a tenth of a frame each.
func TestErrors(t *testing.T) {
	s := only(made(), human.Walk)
	scored := 0
	look := func(tr *transfer.Translation) {
		const height, left, yaw = 0, 3, 5 // columns
		n := len(tr.Truth.Step)
		_, cols := tr.Truth.Y.Dims()
		change := func(d int, by float64) *mat.Dense {
			y := mat.DenseCopyOf(tr.Truth.Y)
			for f := range n {
				y.Set(f, d, y.At(f, d)+by)
			}
			return y
		}
		longer := make([]float64, n)
		for f, v := range tr.Truth.Step {
			longer[f] = 1.1 * v
		}
		if columns := tr.Database.Columns(); len(columns) != cols || columns[height] != "root height" || columns[left] != "root velocity left" || columns[yaw] != "root yaw rate" {
			t.Fatalf("columns are %v", columns[:6])
		}
		for _, c := range []struct {
			name string
			y    *mat.Dense
			step []float64
			pose float64
		}{
			{"truth", tr.Truth.Y, tr.Truth.Step, 0},
			{"lifted", change(height, 0.05), tr.Truth.Step, 5},
			{"moved", change(left, 0.7), tr.Truth.Step, 0},
			{"turned", change(yaw, 0.7), tr.Truth.Step, 0},
			{"longer", tr.Truth.Y, longer, 0},
		} {
			e := tr.Errors(&transfer.Prediction{Method: c.name, Y: c.y, Step: c.step})
			total, sum := 0.0, 0.0
			for _, v := range tr.Truth.Step {
				total += v
				sum += total
			}
			want := transfer.Errors{Pose: c.pose}
			if c.name == "longer" {
				want.Time, want.Step, want.Tempo = 0.1*sum/float64(n), 0.1*total/float64(n), 0.1
			}
			for _, v := range []struct {
				what      string
				got, want float64
			}{{"pose", e.Pose, want.Pose}, {"time", e.Time, want.Time}, {"warp", e.Warp, 0}, {"step", e.Step, want.Step}, {"tempo", e.Tempo, want.Tempo}} {
				if math.Abs(v.got-v.want) > 1e-4*(1+v.want) {
					t.Errorf("%s: error of %s is %g, want %g", c.name, v.what, v.got, v.want)
				}
			}
		}
		scored++
	}
	must.Get(transfer.Evaluate(context.Background(), s, transfer.Options{Folds: 1, Local: true, Look: look}))(t)
	if scored != 1 {
		t.Errorf("%d translations, want 1", scored)
	}
}

// On walks made from rules the truth is known, and all that learns from them comes
// far nearer to it than the input is. Scores do not depend on the workers.
func TestEvaluate(t *testing.T) {
	s := made()
	opt := transfer.Options{Folds: 1, Local: true}
	one := must.Get(transfer.Evaluate(context.Background(), s, opt))(t)
	opt.Workers = 2
	two := must.Get(transfer.Evaluate(context.Background(), s, opt))(t)
	if len(one) == 0 || !slices.Equal(one, two) {
		t.Error("the scores depend on the workers")
	}
	all := must.Get(transfer.Evaluate(context.Background(), only(s, human.Walk), transfer.Options{Folds: 1}))(t)
	means := map[string]transfer.Mean{}
	for _, m := range transfer.Means(all, nil) {
		means[m.Method] = m
	}
	still := means[transfer.Identity]
	for _, name := range []string{transfer.MAR, transfer.MARAction, transfer.MARStyle, transfer.MAR + transfer.Unlabelled, transfer.Another, "NN", "KNN 1/d", "local AR" + transfer.Unlabelled,
		transfer.LTIOwn, transfer.LTIPose, transfer.GlobalAR, transfer.GP} {
		m, ok := means[name]
		if !ok || m.Cases != 1 || !(m.Pose > 0 && m.Pose < still.Pose) {
			t.Errorf("%s: %d cases, an error of %.2f cm: want 1 and less than the input's %.2f", name, m.Cases, m.Pose, still.Pose)
		}
	}
	// Nearest knows the true pose: no other choice of a single frame is nearer. The only take but the
	// held-out one is the mean of takes.
	near, mean := means[transfer.Nearest], means[transfer.Average]
	if near.Cases != 1 || near.Pose >= mean.Pose || near.Pose >= means["NN"].Pose {
		t.Errorf("%s is %.2f cm off, %s %.2f, NN %.2f", transfer.Nearest, near.Pose, transfer.Average, mean.Pose, means["NN"].Pose)
	}
	if another := means[transfer.Another]; math.Abs(mean.Pose-another.Pose) > 0.01 || math.Abs(mean.Tempo-another.Tempo) > 0.01 {
		t.Errorf("%s: %+v, the only take: %+v", transfer.Average, mean, another)
	}
	if m := means[transfer.MAR]; m.Pose > 2.5 || m.Pose > 0.6*still.Pose {
		t.Errorf("MAR is off by %.2f cm, the input by %.2f", m.Pose, still.Pose)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := transfer.Evaluate(ctx, s, transfer.Options{Folds: 1}); err == nil {
		t.Error("interrupted, but no error")
	}
}

// The input's speed is the clip's own. A walk of the database is not much faster in another style.
func TestFar(t *testing.T) {
	s := only(made(), human.Walk)
	db := must.Get(registration.Database(s.Takes, s.Lines))(t)
	in := s.Takes[slices.IndexFunc(s.Takes, func(t *registration.Take) bool { return t.Style == "neutral" })]
	f := must.Get(transfer.Far(db, in.Name, in.Clip, slices.Index(db.Styles, "proud"), mar.Options{}))(t)
	want := 0.0
	n := in.Clip.Skel.Len()
	a, b := make([]m3.Xform, n), make([]m3.Xform, n)
	for i := 1; i < in.Clip.Frames; i++ {
		pos, rot := in.Clip.Frame(i - 1)
		in.Clip.Skel.LocalToModel(a, pos, rot)
		pos, rot = in.Clip.Frame(i)
		in.Clip.Skel.LocalToModel(b, pos, rot)
		for j := range a {
			want = max(want, 60*float64(a[j].Pos.Dist(b[j].Pos)))
		}
	}
	if !f.Finite || math.Abs(f.Input-want) > 1e-5 || f.Ratio() < 0.5 || f.Ratio() > 1.6 {
		t.Errorf("%+v: want finite, an input of %.3f m/s, and a ratio of about 1", f, want)
	}
	spoilt := *in.Clip
	other := *in.Clip.Skel
	other.Offsets = slices.Clone(other.Offsets)
	other.Offsets[3].Y += 0.1
	spoilt.Skel = &other
	if _, err := transfer.Far(db, "spoilt", &spoilt, 0, mar.Options{}); err == nil {
		t.Error("a clip of another skeleton is taken")
	}
}

func TestTime(t *testing.T) {
	s := only(made(), human.Walk)
	db := must.Get(registration.Database(s.Takes, s.Lines))(t)
	clock := 0.0
	r := must.Get(transfer.Time(db, clipsOf(s.Takes[:1]), mar.Label{}, func() float64 { clock += 0.5; return clock }))(t)
	each := 0.5 / float64(s.Takes[0].Clip.Frames)
	if want := (transfer.Rate{Frames: s.Takes[0].Clip.Frames, Total: each, Enter: each, Known: each, Blend: each}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}

func clipsOf(takes []*registration.Take) (clips []*skel.Clip) {
	for _, t := range takes {
		clips = append(clips, t.Clip)
	}
	return clips
}
