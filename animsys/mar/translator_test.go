package mar

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

func index1(list []string, s string) int { return slices.Index(list, s) }

// run returns rows and steps of a clip.
func (s *StyleTranslator) run(c *skel.Clip) (rows []float32, steps []float64) {
	s.Reset(0)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		row, step := s.Step(0, pos, rot)
		rows, steps = append(rows, row...), append(steps, float64(step))
	}
	return rows, steps
}

// A walk at a pace that no take has comes out as the other styles' walk at that pace would be, in
// their time, whether anything is known of it or not.
func TestTranslation(t *testing.T) {
	db := database(t)
	in := plain.take("walk", 7, 4, 1.04)
	for _, to := range []style{proud, old} {
		for _, known := range []bool{true, false} {
			s := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1})
			s.Weights[index1(db.Styles, to.name)] = 1
			if known {
				s.Labels[0].Actions[0], s.Labels[0].Styles = 1<<index1(db.Actions, "walk"), 1<<index1(db.Styles, "plain")
			}
			rows, steps := s.run(in.Clip)
			cols := len(db.Columns())
			// The truth, at the canonical times of the input.
			out := to.take("walk", 7, 5, 1.04)
			truth := db.layout.clip(out.Clip)
			var miss, raw, late float64
			from := 15
			for f := from; f < in.Clip.Frames; f++ {
				g := (in.Times[f] - out.Times[0]) / (to.tempo * 1.04)
				i := int(g)
				want := make([]float32, cols)
				for c := range want {
					want[c] = m3.Lerp(truth[i*cols+c], truth[(i+1)*cols+c], float32(g-float64(i)))
				}
				n := float64(in.Clip.Frames - from)
				miss += db.apart(rows[f*cols:][:cols], want) / n
				raw += db.apart(db.layout.clip(in.Clip)[f*cols:][:cols], want) / n
				late += math.Abs(steps[f]-plain.tempo/to.tempo) / n
			}
			t.Logf("%s, known %v: %.2f cm off, the input %.2f; steps %.3f off", to.name, known, 100*miss, 100*raw, late)
			if miss > 0.01 || raw < 0.05 || late > 0.02 {
				t.Errorf("%s, known %v: %.2f cm off, the input %.2f; steps %.3f off", to.name, known, 100*miss, 100*raw, late)
			}
		}
	}
}

// Without weights what comes in comes out, to the bit; in its own style nearly.
func TestOwnStyle(t *testing.T) {
	db := database(t)
	in := plain.take("walk", 7, 3, 1.04)
	s := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1})
	rows, steps := s.run(in.Clip)
	want := db.layout.clip(in.Clip)
	cols := len(db.Columns())
	if !slices.Equal(rows[cols:], want[cols:]) {
		t.Error("without weights the motion changes")
	}
	if slices.ContainsFunc(steps, func(x float64) bool { return x != 1 }) {
		t.Error("without weights time changes")
	}
	s.Weights[index1(db.Styles, "plain")] = 1
	rows, _ = s.run(in.Clip)
	for f := 15; f < in.Clip.Frames; f++ {
		if d := db.apart(rows[f*cols:][:cols], want[f*cols:][:cols]); d > 0.01 {
			t.Fatalf("frame %d in its own style is %.2f cm off", f, 100*d)
		}
	}
}

// Where somebody stands and faces changes nothing but that.
func TestStyleTranslatorIsInvariant(t *testing.T) {
	db := database(t)
	in := plain.take("walk", 7, 3, 1.04)
	moved := skel.NewClip(in.Clip.Skel, 60, in.Clip.Frames)
	turn := m3.YawQuat(2.1)
	for f := range in.Clip.Frames {
		pos, rot := in.Clip.Frame(f)
		p, r := moved.Frame(f)
		copy(p, pos)
		copy(r, rot)
		p[0], r[0] = turn.Rotate(pos[0]).Add(m3.V(31, 0, -17)), turn.Mul(rot[0])
	}
	s := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1})
	s.Weights[index1(db.Styles, "old")] = 0.7
	s.Weights[index1(db.Styles, "proud")] = 0.3
	a, sa := s.run(in.Clip)
	b, sb := s.run(moved)
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 2e-3 {
			t.Fatalf("%s of frame %d is %g, elsewhere %g", db.Columns()[i%s.cols], i/s.cols, a[i], b[i])
		}
	}
	for f := range sa {
		if math.Abs(sa[f]-sb[f]) > 1e-3 {
			t.Fatalf("step %d is %g, elsewhere %g", f, sa[f], sb[f])
		}
	}
}

// Any number of workers, and anybody beside them, gives everybody the same bits; a frame that is
// not finite is passed over, and stays where it is.
func TestStyleTranslatorOfMany(t *testing.T) {
	db := database(t)
	clips := []*skel.Clip{plain.take("walk", 7, 3, 1.04).Clip, old.take("amble", 8, 3, 0.95).Clip, proud.take("walk", 9, 4, 1).Clip}
	const n, frames = 9, 80
	joints := db.Skeleton().Len()
	run := func(workers, people int, bad bool) (out [][]float32) {
		s := db.stylist(t, StyleTranslatorOptions{Characters: people, Workers: workers})
		pos, rot := make([]m3.Vec3, people*joints), make([]m3.Quat, people*joints)
		for c := range people {
			s.Weights[c*len(db.Styles)+c%3] = 0.8
		}
		for f := range frames {
			for c := range people {
				p, r := clips[c%3].Frame(f + c)
				copy(pos[c*joints:], p)
				copy(rot[c*joints:], r)
			}
			if bad && f >= 40 && f < 50 {
				rot[4*joints+3].X = float32(math.NaN())
			}
			s.Run(everybody(people), pos, rot)
			var row []float32
			for c := range people {
				row = append(row, s.Row(c)...)
				row = append(row, s.Frames(c), float32(s.Stands(c)))
			}
			out = append(out, row)
		}
		return out
	}
	one := run(1, n, false)
	if three := run(3, n, false); !slices.EqualFunc(one, three, slices.Equal[[]float32]) {
		t.Error("the number of workers changes what comes out")
	}
	width := len(one[0]) / n
	for f, row := range run(1, 1, false) {
		if !slices.Equal(row, one[f][:width]) {
			t.Fatalf("alone, frame %d is another", f)
		}
	}
	for f, row := range run(2, n, true) {
		for c := range n {
			got, want := row[c*width:][:width], one[f][c*width:][:width]
			for i, v := range got {
				if !m3.Finite(v) {
					t.Fatalf("frame %d of character %d: value %d is %g", f, c, i, v)
				}
			}
			if c != 4 && !slices.Equal(got, want) {
				t.Fatalf("a frame of another that is not finite changes frame %d of character %d", f, c)
			}
		}
	}
}

// A switch of weights or of labels takes effect at once, and labels are heeded.
func TestLabels(t *testing.T) {
	db := database(t)
	in := plain.take("walk", 7, 3, 1.04)
	s := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1})
	s.Weights[index1(db.Styles, "old")] = 1
	rows, _ := s.run(in.Clip)
	s.Labels[0].Actions[0] = 1 << index1(db.Actions, "amble")
	other, _ := s.run(in.Clip)
	cols, f := len(db.Columns()), in.Clip.Frames-1
	if d := db.apart(rows[f*cols:], other[f*cols:]); d < 0.01 {
		t.Errorf("called an amble a walk differs by %.2f cm only", 100*d)
	}
	// Nothing in the database is of this kind: what comes in comes out.
	s.Labels[0] = Label{Styles: 1 << 40}
	rows, _ = s.run(in.Clip)
	if want := db.layout.clip(in.Clip); !slices.Equal(rows[cols:], want[cols:]) {
		t.Error("with a label of no class the motion changes")
	}
}

func TestStyleTranslatorRefuses(t *testing.T) {
	db := database(t)
	for _, o := range []StyleTranslatorOptions{{}, {Characters: 1, Options: Options{Neighbours: -1}}, {Characters: 1, Options: Options{Ridge: -1}}} {
		if _, err := db.NewStyleTranslator(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

func TestStyleTranslatorDoesNotAllocate(t *testing.T) {
	db := database(t)
	in := plain.take("walk", 7, 4, 1.04)
	s := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1})
	s.Weights[0], s.Weights[1] = 0.5, 0.5
	f := 0
	if n := testing.AllocsPerRun(100, func() {
		pos, rot := in.Clip.Frame(f)
		s.Step(0, pos, rot)
		f++
	}); n != 0 {
		t.Errorf("%g allocations per frame", n)
	}
}

// Contacts of a walk are those of the takes.
func TestStands(t *testing.T) {
	db := database(t)
	in := plain.take("walk", 7, 4, 1.04)
	s := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1})
	wrong := 0
	for f := range in.Clip.Frames {
		pos, rot := in.Clip.Frame(f)
		s.Step(0, pos, rot)
		if f > 10 && s.Stands(0) != in.Stands[f] {
			wrong++
		}
	}
	// Edges come two frames late: likelihoods are smoothed over the past.
	if most := 8 * 3; wrong > most {
		t.Errorf("%d of %d frames have other feet standing", wrong, in.Clip.Frames)
	}
}

// Rows at steps of a half make two frames of one; what is between is half way.
func TestRetimer(t *testing.T) {
	db := database(t)
	in := plain.take("walk", 7, 3, 1.04)
	rows := db.layout.clip(in.Clip)
	cols := len(db.Columns())
	for _, step := range []float32{0.5, 1, 2, 0.75} {
		start, _ := in.Clip.Frame(0)
		r := db.NewRetimer(start[0], 0)
		var roots []m3.Vec3
		for f := range in.Clip.Frames {
			r.Push(rows[f*cols:][:cols], step, func(pos []m3.Vec3, rot []m3.Quat) { roots = append(roots, pos[0]) })
		}
		if want := int(float32(in.Clip.Frames-1)*step) + 1; len(roots) != want {
			t.Fatalf("steps of %g: %d frames, want %d", step, len(roots), want)
		}
		// A body goes as fast as its rows say, whatever the step: the way grows with the time.
		way := 0.0
		for i := 1; i < len(roots); i++ {
			way += math.Hypot(float64(roots[i].X-roots[i-1].X), float64(roots[i].Z-roots[i-1].Z))
		}
		mean := 0.0
		for f := 1; f < in.Clip.Frames; f++ {
			mean += math.Hypot(float64(rows[f*cols+colVelX]), float64(rows[f*cols+colVelZ])) / float64(in.Clip.Frames-1)
		}
		if want := mean * float64(len(roots)-1) / 60; math.Abs(way-want) > 0.02*want {
			t.Errorf("steps of %g: %.3f m in %d frames, want %.3f", step, way, len(roots), want)
		}
		if step == 1 {
			for f := range roots {
				p, _ := in.Clip.Frame(f)
				if roots[f].Dist(p[0]) > 1e-3 {
					t.Fatalf("frame %d comes back %.4f m off", f, roots[f].Dist(p[0]))
				}
			}
		}
	}
}

// A switch of styles is a way, not a leap: nothing moves much faster in it than before and after,
// while with weights that count at once it does.
func TestSwitch(t *testing.T) {
	db := database(t)
	in := plain.take("walk", 7, 6, 1.04)
	fastest := func(o Options) (steady, switching float64, last []float32) {
		s := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1, Options: o})
		n := len(db.Styles)
		s.Weights[index1(db.Styles, "proud")] = 1
		var was []float32
		for f := range in.Clip.Frames {
			if f == 150 {
				copy(s.Weights, make([]float32, n))
				s.Weights[index1(db.Styles, "old")] = 1
			}
			pos, rot := in.Clip.Frame(f)
			row, _ := s.Step(0, pos, rot)
			if f > 30 {
				if v := db.apart(row, was); f >= 150 && f < 200 {
					switching = max(switching, v)
				} else {
					steady = max(steady, v)
				}
			}
			was = slices.Clone(row)
		}
		return steady, switching, was
	}
	steady, slow, end := fastest(Options{})
	_, leap, other := fastest(Options{Switch: -1})
	t.Logf("joints move up to %.2f cm a frame, %.2f while styles change, %.2f where they change at once", 100*steady, 100*slow, 100*leap)
	if slow > 1.5*steady || leap < 1.5*slow {
		t.Errorf("joints move up to %.2f cm a frame, %.2f while styles change, %.2f where they change at once", 100*steady, 100*slow, 100*leap)
	}
	if d := db.apart(end, other); d > 2e-3 {
		t.Errorf("in the end they are %.2f cm apart", 100*d)
	}
}

// The first frame has the style, and nothing leaps in those that follow.
func TestFirstFrames(t *testing.T) {
	db := database(t)
	in := plain.take("walk", 7, 3, 1.04)
	s := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1})
	s.Weights[index1(db.Styles, "old")] = 1
	rows, _ := s.run(in.Clip)
	cols := len(db.Columns())
	v := func(f int) float64 { return db.apart(rows[f*cols:][:cols], rows[(f-1)*cols:][:cols]) }
	var first, later float64
	for f := 1; f < in.Clip.Frames; f++ {
		if f < 6 {
			first = max(first, v(f))
		} else {
			later = max(later, v(f))
		}
	}
	t.Logf("joints move up to %.2f cm a frame, %.2f in the first frames", 100*later, 100*first)
	if first > 1.5*later {
		t.Errorf("joints move up to %.2f cm a frame, %.2f in the first frames", 100*later, 100*first)
	}
}

// Weights that cannot be are none, or all.
func TestWeights(t *testing.T) {
	db := database(t)
	in := plain.take("walk", 7, 2, 1.04)
	both := func(w, other float32) []float32 {
		s := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1})
		s.Weights[index1(db.Styles, "old")], s.Weights[index1(db.Styles, "proud")] = w, other
		rows, _ := s.run(in.Clip)
		return rows
	}
	run := func(w float32) []float32 { return both(w, 0) }
	if !slices.Equal(both(1, 1), both(0.5, 0.5)) {
		t.Error("weights of a sum above 1 are not taken for shares")
	}
	if !slices.Equal(run(float32(math.NaN())), run(0)) || !slices.Equal(run(-3), run(0)) || !slices.Equal(run(7), run(1)) {
		t.Error("weights that are not 0 to 1 are not taken for 0 or 1")
	}
}

func everybody(n int) (all []int32) {
	for c := range n {
		all = append(all, int32(c))
	}
	return all
}

// Who moves to another place goes on there as if nothing had been; who comes in its place begins
// anew.
func TestMove(t *testing.T) {
	db := database(t)
	in := plain.take("walk", 7, 3, 1.04)
	one, two := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1}), db.stylist(t, StyleTranslatorOptions{Characters: 3, Workers: 1})
	one.Weights[1], two.Weights[2*len(db.Styles)+1] = 0.7, 0.7
	at := 2
	for f := range 80 {
		if f == 40 {
			two.Move(0, 2)
			at = 0
			if !two.Unstyled(2) {
				t.Error("something is left of who has gone")
			}
		}
		pos, rot := in.Clip.Frame(f)
		want, step := one.Step(0, pos, rot)
		got, other := two.Step(at, pos, rot)
		if !slices.Equal(want, got) || step != other || one.Stands(0) != two.Stands(at) {
			t.Fatalf("frame %d changes by a move", f)
		}
	}
	if two.Unstyled(0) {
		t.Error("who has a style is called still")
	}
}
