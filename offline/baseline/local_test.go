package baseline_test

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"mannequin/animsys/mar"
	"mannequin/internal/testing/must"
	"mannequin/offline/baseline"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
)

// people is a small database of walks in three styles, and a neutral one that it does not hold.
var people = sync.OnceValues(func() (*mar.Database, *registration.Take) {
	takes, lines, err := human.Generate(human.Options{Actions: []string{human.Walk}, Styles: []string{"neutral", "proud", "old"}, Minutes: 0.1})
	if err != nil {
		panic(err)
	}
	straight := slices.DeleteFunc(takes, func(t *registration.Take) bool { return t.Content != "walk-straight" })
	db, err := registration.Database(straight, lines)
	if err != nil {
		panic(err)
	}
	others, _, err := human.Generate(human.Options{Seed: 9, Actions: []string{human.Walk}, Styles: []string{"neutral"}, Minutes: 0.1})
	if err != nil {
		panic(err)
	}
	return db, others[0]
})

func known(db *mar.Database) (l mar.Label) {
	l.Actions[0] = 1 << slices.Index(db.Actions, human.Walk)
	l.Styles = 1 << slices.Index(db.Styles, "neutral")
	return l
}

// Two implementations of Xia et al.'s equation 2 agree: package mar's, in float32 over all degrees
// of freedom at once, and this one. Neighbours have equal weights, and all confidence is full.
func TestLocalARIsMAR(t *testing.T) {
	db, in := people()
	const k = 40
	to := slices.Index(db.Styles, "proud")
	s := must.Get(db.NewStyleTranslator(mar.StyleTranslatorOptions{Characters: 1, Workers: 1,
		Options: mar.Options{Neighbours: k, Focus: -1, Ridge: 0.1, Confidence: 1e6, Keep: -1}}))(t)
	defer s.Close()
	s.Weights[to], s.Labels[0] = 1, known(db)
	// The first frame twice: clips begin with the second frame's velocity, streams with none.
	clip := *in.Clip
	n := clip.Skel.Len()
	clip.Frames++
	clip.Pos, clip.Rot = slices.Concat(clip.Pos[:n], clip.Pos), slices.Concat(clip.Rot[:n], clip.Rot)
	local := baseline.Local{Database: db, Label: known(db), Style: to, Neighbours: k, Lambda: 0.1, Methods: []baseline.LocalMethod{baseline.LocalAR}}
	got := must.Get(local.Translate(&clip))(t)
	worst, moved := 0.0, 0.0
	first := got[0].Y.RawRowView(0)
	for f := range clip.Frames {
		pos, rot := clip.Frame(f)
		row, _ := s.Step(0, pos, rot)
		if f < 30 { // mar's first output comes from itself, this one's from the input: what is left of that fades
			continue
		}
		for d, v := range row {
			worst = max(worst, math.Abs(float64(v)-got[0].Y.At(f, d)))
			moved = max(moved, math.Abs(float64(v)-first[d]))
		}
	}
	if worst > 1e-4 || moved < 0.3 {
		t.Errorf("the two differ by up to %.2g in a motion that goes %.2g: want at most 1e-4 of at least 0.3", worst, moved)
	}
}

// A frame of the database is its own nearest neighbour, and becomes its counterpart.
func TestNearestNeighbour(t *testing.T) {
	takes, lines := must.Get2(human.Generate(human.Options{Actions: []string{human.Walk}, Styles: []string{"neutral", "old"}, Minutes: 0.1}))(t)
	straight := slices.DeleteFunc(takes, func(t *registration.Take) bool { return t.Content != "walk-straight" })
	db := must.Get(registration.Database(straight, lines))(t)
	to := slices.Index(db.Styles, "old")
	local := baseline.Local{Database: db, Style: to, Methods: baseline.LocalMethods()}
	got := must.Get(local.Translate(straight[slices.IndexFunc(straight, func(t *registration.Take) bool { return t.Style == "neutral" })].Clip))(t)
	row := make([]float32, len(db.Columns()))
	same := 0
	for f := range db.Frames() {
		_, _, style, number := db.Of(f)
		step, ok := db.Counterpart(row, f, to)
		if db.Styles[style] != "neutral" || number < mar.Window || !ok {
			continue
		}
		same++
		for d, v := range row {
			if e := math.Abs(got[0].Y.At(number, d) - float64(v)); e > 1e-6 {
				t.Fatalf("frame %d, column %d: off its counterpart by %g", number, d, e)
			}
			// A weight of 1/d with d = 0 (up to rounding) outweighs all others.
			if e := math.Abs(got[1].Y.At(number, d) - float64(v)); e > 0.05 {
				t.Fatalf("frame %d, column %d: KNN is off the counterpart by %g", number, d, e)
			}
		}
		if got[0].Step[number] != float64(step) {
			t.Fatalf("frame %d: a step of %g, want %g", number, got[0].Step[number], step)
		}
	}
	if same < 100 {
		t.Fatalf("only %d frames compared", same)
	}
}

func TestLocalValidate(t *testing.T) {
	db, in := people()
	nn := []baseline.LocalMethod{baseline.NearestNeighbour}
	for _, c := range []struct {
		l    baseline.Local
		want string
	}{
		{baseline.Local{}, "Database"},
		{baseline.Local{Database: db, Style: 3, Methods: nn}, "Style is 3"},
		{baseline.Local{Database: db, Neighbours: -1, Methods: nn}, "Neighbours is -1"},
		{baseline.Local{Database: db, Lambda: math.NaN(), Methods: nn}, "Lambda"},
		{baseline.Local{Database: db}, "Methods"},
		{baseline.Local{Database: db, Methods: []baseline.LocalMethod{9}}, "method 9"},
	} {
		if _, err := c.l.Translate(in.Clip); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want an error about %q", err, c.want)
		}
	}
}
