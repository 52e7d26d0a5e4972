package mar

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mannequin/engine/m3"
)

// near returns neighbours of the last frame of a walk in one class, and what the stylist then
// knows.
func near(t *testing.T, db *Database, frames int) (s *StyleTranslator, nb []neighbour) {
	t.Helper()
	s = db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1})
	in := plain.take("walk", 7, 3, 1.04)
	for f := range frames {
		pos, rot := in.Clip.Frame(f)
		s.Step(0, pos, rot)
	}
	for _, n := range s.Nearest(nil, 0, index1(db.Actions, "walk"), index1(db.Styles, "plain")) {
		nb = append(nb, neighbour{int32(n.Frame), n.Distance})
	}
	return s, nb
}

// The outputs of neighbours are their counterparts in the styles, and of the rest themselves; time
// passes as it does there.
func TestGather(t *testing.T) {
	db := database(t)
	s, nb := near(t, db, 60)
	r := newRegression(len(nb), s.cols)
	weights := make([]float32, len(db.Styles))
	weights[index1(db.Styles, "proud")], weights[index1(db.Styles, "old")] = 0.5, 0.2
	r.gather(db, nb, weights)
	if r.n < len(nb)/2 {
		t.Fatalf("%d of %d neighbours", r.n, len(nb))
	}
	a, b := make([]float32, s.cols), make([]float32, s.cols)
	var slowest, fastest float32 = 0, 10
	for i := range r.n {
		f := int(r.window[i])
		sa, _ := db.Counterpart(a, f, index1(db.Styles, "proud"))
		sb, _ := db.Counterpart(b, f, index1(db.Styles, "old"))
		step := 0.5*sa + 0.2*sb + 0.3
		slowest, fastest = max(slowest, step), min(fastest, step)
		y, _ := r.output(i)
		for c, v := range y {
			if want := 0.5*a[c] + 0.2*b[c] + 0.3*db.Row(f)[c]; m3.Abs(v-want) > 1e-5 {
				t.Fatalf("%s of neighbour %d becomes %g, want %g", db.Columns()[c], i, v, want)
			}
		}
	}
	b0 := &s.bodies[0]
	r.predict(db, b0.x, b0.xp, b0.yp, 0.1, &s.opt)
	if step := r.timing(db, b0.x, b0.xp, b0.yp, weights); step < fastest-1e-4 || step > slowest+1e-4 {
		t.Errorf("a step of %g, the neighbours' are %g to %g", step, fastest, slowest)
	}
	if fastest > 0.99 && slowest < 1.01 {
		t.Fatal("the styles have the same time")
	}
	x, xp := slices.Clone(b0.x), slices.Clone(b0.xp)
	for c := colJoints; c < s.cols; c++ {
		x[c], xp[c] = x[c]+1, xp[c]+1
	}
	r.predict(db, x, xp, b0.yp, 0.1, &s.opt)
	if step := r.timing(db, x, xp, b0.yp, weights); m3.Abs(step-1) > 1e-6 {
		t.Errorf("input beyond all neighbours takes a step of %g", step)
	}
}

// The prediction is that of eq. 2, 6 and 7, solved by another way in float64, for input among the
// neighbours' and far from it.
func TestPredict(t *testing.T) {
	db := database(t)
	s, nb := near(t, db, 60)
	r := newRegression(len(nb), s.cols)
	weights := make([]float32, len(db.Styles))
	weights[index1(db.Styles, "old")] = 1
	b := &s.bodies[0]
	for _, o := range []Options{{}, {Focus: -1}, {Confidence: 0.5, Keep: 0.3}, {Ridge: 3, Keep: -1}} {
		o = o.withDefaults()
		for _, off := range []float32{0, 0.8, -2} {
			x, xp := slices.Clone(b.x), slices.Clone(b.xp)
			for c := range x {
				x[c] += off
				xp[c] += off
			}
			r.gather(db, nb, weights)
			r.predict(db, x, xp, b.yp, 0.2, &o)
			total, mean, least := 0.0, 0.0, math.Inf(1)
			for _, d := range r.d[:r.n] {
				mean += float64(d*d) / float64(r.n)
				least = min(least, float64(d*d))
			}
			w := make([]float64, r.n)
			for i, d := range r.d[:r.n] {
				w[i] = math.Exp(-float64(max(o.Focus, 0)) * (1 + smallClassFocus*0.2) * (float64(d*d) - least) / mean)
				total += w[i]
			}
			for c := range s.cols {
				// Rows scaled by √w, and three of √λ beneath, none for the constant: least squares
				// by QR.
				a, y := mat.NewDense(r.n+3, 4, nil), mat.NewVecDense(r.n+3, nil)
				var m1, m2 float64
				for i := range r.n {
					f, h := int(r.window[i]), math.Sqrt(w[i])
					out, before := r.output(i)
					a.SetRow(i, []float64{h * float64(db.Row(f - 1)[c]), h * float64(before[c]), h * float64(db.Row(f)[c]), h})
					y.SetVec(i, h*float64(out[c]))
					m1 += h * h * float64(db.Row(f)[c]) / total
					m2 += h * h * float64(db.Row(f)[c]) * float64(db.Row(f)[c]) / total
				}
				for k := range 3 {
					a.Set(r.n+k, k, math.Sqrt(float64(o.Ridge)))
				}
				var qr mat.QR
				qr.Factorize(a)
				var beta mat.VecDense
				if err := qr.SolveVecTo(&beta, false, y); err != nil {
					t.Fatal(err)
				}
				reach := float64(o.Confidence) * math.Sqrt(max(0, m2-m1*m1))
				v := float64(x[c])
				bias := 0.0
				switch {
				case v > m1+reach:
					bias = v - (m1 + reach)
				case v < m1-reach:
					bias = v - (m1 - reach)
				}
				kept := float64(o.Keep) * bias
				want := (float64(xp[c])-bias)*beta.AtVec(0) + (float64(b.yp[c])-kept)*beta.AtVec(1) + (v-bias)*beta.AtVec(2) + beta.AtVec(3) + kept
				if math.Abs(float64(r.out[c])-want) > 2e-4 {
					t.Fatalf("%+v, input off by %g: %s is %g, want %g", o, off, db.Columns()[c], r.out[c], want)
				}
			}
		}
	}
}

// What classes say is blended by eq. 4.
func TestMixture(t *testing.T) {
	db := database(t)
	s := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1})
	to := index1(db.Styles, "old")
	s.Weights[to] = 1
	// Between a walk and an amble, so that several classes count.
	one, two := plain.take("walk", 7, 3, 1).Clip, plain.take("amble", 7, 3, 1).Clip
	pos, rot := make([]m3.Vec3, one.Skel.Len()), make([]m3.Quat, one.Skel.Len())
	several := 0
	for f := range 50 {
		pa, ra := one.Frame(f)
		pb, rb := two.Frame(f)
		for j := range pos {
			pos[j], rot[j] = pa[j].Lerp(pb[j], 0.5), ra[j].Slerp(rb[j], 0.5)
		}
		yp := slices.Clone(s.bodies[0].yp)
		row, _ := s.Step(0, pos, rot)
		if f == 0 {
			continue // the output before the first is the first input
		}
		least := math.Inf(1)
		type vote struct {
			d   float64
			out []float32
		}
		var votes []vote
		for i, c := range db.classes {
			var nb []neighbour
			d := 0.0
			for _, n := range s.Nearest(nil, 0, int(c.action), int(c.style)) {
				nb = append(nb, neighbour{int32(n.Frame), n.Distance})
				d += float64(n.Distance * n.Distance)
			}
			r := newRegression(len(nb), s.cols)
			r.gather(db, nb, s.Weights)
			r.predict(db, s.bodies[0].x, s.bodies[0].xp, yp, float32(len(nb))/float32(db.poses.classes[i].windows), &s.opt)
			votes = append(votes, vote{d / float64(len(nb)), r.out})
			least = min(least, d/float64(len(nb)))
		}
		want, total, counted := make([]float64, s.cols), 0.0, 0
		for _, v := range votes {
			w := math.Exp(-(v.d/least - 1) / float64(s.opt.Width))
			if w < minClassWeight {
				continue
			}
			counted++
			total += w
			for c, x := range v.out {
				want[c] += w * float64(x)
			}
		}
		if counted > 1 {
			several++
		}
		for c, x := range row {
			if math.Abs(float64(x)-want[c]/total) > 1e-3 {
				t.Fatalf("frame %d: %s is %g, eq. 5 says %g", f, db.Columns()[c], x, want[c]/total)
			}
		}
	}
	if several < 20 {
		t.Errorf("several classes counted in %d frames only", several)
	}
}

// What is known from the frame before saves work and changes nothing.
func TestWhatIsKnown(t *testing.T) {
	db := database(t)
	fresh, kept := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1}), db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1})
	to := index1(db.Styles, "old")
	fresh.Weights[to], kept.Weights[to] = 1, 1
	for _, k := range []*Take{plain.take("walk", 7, 2, 1.04), old.take("amble", 3, 1, 1.3), proud.take("walk", 1, 2, 0.8), plain.take("amble", 2, 2, 1)} {
		for f := range k.Clip.Frames { // takes follow one another without a break
			pos, rot := k.Clip.Frame(f)
			b := &fresh.bodies[0]
			for i := range b.known {
				b.known[i] = unknown
			}
			b.legsCache = unknown
			want, step := fresh.Step(0, pos, rot)
			got, other := kept.Step(0, pos, rot)
			if !slices.Equal(got, want) || step != other || fresh.Stands(0) != kept.Stands(0) {
				t.Fatalf("frame %d of %s changes by what is known", f, k.Name)
			}
		}
		if k.Name == "walk-plain-7" {
			fresh.Reset(0)
			kept.Reset(0)
		}
	}
}

// Vectors of a joint that turns past half a turn go on; a row tells the rotation all the same.
func TestVectorsGoOn(t *testing.T) {
	db := database(t)
	l := db.layout
	in := plain.take("walk", 0, 2, 1).Clip
	for f := range in.Frames {
		_, rot := in.Frame(f)
		rot[l.joints[3]] = m3.AxisAngle(m3.V(0, 1, 0), 0.1*float32(f))
	}
	rows := l.clip(in)
	cols := l.columns()
	pos, rot := make([]m3.Vec3, in.Skel.Len()), make([]m3.Quat, in.Skel.Len())
	for f := range min(in.Frames, 50) {
		row := rows[f*cols:][:cols]
		db.Pose(pos, rot, row)
		_, want := in.Frame(f)
		for _, j := range l.joints {
			if a := rot[j].Angle(want[j]); a > 1e-2 {
				t.Fatalf("frame %d: joint %d comes back %g rad off", f, j, a)
			}
		}
		if f > 0 {
			for c := colJoints; c < cols; c++ {
				if m3.Abs(row[c]-rows[(f-1)*cols+c]) > 1 {
					t.Fatalf("frame %d: %s leaps from %g to %g", f, db.Columns()[c], rows[(f-1)*cols+c], row[c])
				}
			}
		}
	}
}
