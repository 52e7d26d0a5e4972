package manifold

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// hiddenOf returns a motion's hidden values, with its ends held, in float64.
func (m *Model) hiddenOf(t testing.TB, rows []float32) []float64 {
	t.Helper()
	cols := m.Layout.Columns()
	frames := len(rows) / cols
	var x []float32
	for f := -24; f < frames+24; f++ {
		x = append(x, rows[min(max(f, 0), frames-1)*cols:][:cols]...)
	}
	h := make([]float32, len(x)/cols/2*m.Units)
	s := must.Get(m.Encoder.NewSession(netruntime.SessionOptions{Batch: 1, Length: len(x) / cols, Workers: 1}))(t)
	defer s.Close()
	must.Do(t, s.RunSequences([][]float32{h}, [][]float32{x}, 1, len(x)/cols))
	return wide(h[12*m.Units:][:frames/2*m.Units])
}

func wide(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

// gramOracle computes eq. 15 entry by entry.
func gramOracle(h []float64, units int) []float64 {
	g := make([]float64, units*units)
	for i := range units {
		for j := range units {
			for f := range len(h) / units {
				g[i*units+j] += h[f*units+i] * h[f*units+j] * float64(units) / float64(len(h))
			}
		}
	}
	return g
}

func squaredDistance(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return sum
}

// styleOracle computes the cost of eq. 14, with both terms as means over time, and its gradient.
func styleOracle(h, content, style []float64, units int, w StyleWeights) (cost float64, g []float64) {
	gram := gramOracle(h, units)
	frames := len(h) / units
	s, c := float64(w.Style), float64(w.Content)/float64(frames)
	g = make([]float64, len(h))
	for f := range frames {
		for i := range units {
			g[f*units+i] = 2 * c * (h[f*units+i] - content[f*units+i])
			for j := range units {
				g[f*units+i] += 4 * s / float64(frames) * h[f*units+j] * (gram[j*units+i] - style[j*units+i])
			}
		}
	}
	return s*squaredDistance(gram, style) + c*squaredDistance(h, content), g
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// styled returns a model, an optimizer and a job that gives random motions the style of a clip of
// style frames.
func styled(t *testing.T, units, batch, length, style, workers int) (*Model, *GramOptimizer, *StyleJob) {
	m := made(t, units, 9)
	st := must.Get(m.NewStyle(m.stray(t, 1, style, 20), 1))(t)
	s := must.Get(m.NewGramOptimizer(GramOptimizerOptions{Batch: batch, Length: length, Workers: workers}))(t)
	t.Cleanup(func() { s.Close() })
	return m, s, &StyleJob{Batch: batch, Length: length, Rows: m.stray(t, batch, length, 21), Styles: []*Style{st},
		Seed: 5, Iterations: 300, Edit: 10}
}

func TestStyleGram(t *testing.T) {
	m := made(t, 12, 9)
	for _, frames := range []int{MinStyleFrames, 64} {
		rows := m.stray(t, 1, frames, 22)
		st := must.Get(m.NewStyle(rows, 1))(t)
		want := gramOracle(m.hiddenOf(t, rows), m.Units)
		for i, v := range st.gram {
			if math.Abs(float64(v)-want[i]) > 1e-5*(1+math.Abs(want[i])) {
				t.Fatalf("%d frames: entry %d, %d is %g, want %g", frames, i/m.Units, i%m.Units, v, want[i])
			}
		}
		trace := 0.0
		for i := range m.Units {
			trace += want[i*m.Units+i]
		}
		near(t, "the weight of the style", float64(st.Weights().Style), 32/trace, 1e-4)
	}
}

// The oracle's gradient agrees with finite differences, and the optimizer's with the oracle's.
func TestStyleGradient(t *testing.T) {
	m, s, job := styled(t, 10, 1, 30, 44, 1)
	job.Iterations, job.Weights = 1, []StyleWeights{{0.3, 0.7}}
	content, style := m.hiddenOf(t, job.Rows), wide(job.Styles[0].gram)
	if _, _, err := s.Run(job); err != nil {
		t.Fatal(err)
	}
	noise := make([]float32, len(content))
	whiteNoise(noise, job.Seed)
	h := wide(noise)
	mean, square := 0.0, 0.0
	for _, v := range h {
		mean += v / float64(len(h))
		square += v * v / float64(len(h))
	}
	if math.Abs(mean) > 0.25 || math.Abs(square-1) > 0.35 {
		t.Errorf("noise has the mean %g and the variance %g", mean, square)
	}
	_, g := styleOracle(h, content, style, m.Units, job.Weights[0])
	for i := range h {
		const d = 1e-4
		was := h[i]
		h[i] = was + d
		up, _ := styleOracle(h, content, style, m.Units, job.Weights[0])
		h[i] = was - d
		down, _ := styleOracle(h, content, style, m.Units, job.Weights[0])
		h[i] = was
		if want := (up - down) / (2 * d); math.Abs(g[i]-want) > 1e-6*(1+math.Abs(want)) {
			t.Fatalf("the oracle's gradient of value %d is %g, by differences %g", i, g[i], want)
		}
		if math.Abs(float64(s.grad[i])-g[i]) > 1e-4*(1+math.Abs(g[i])) {
			t.Fatalf("the gradient of value %d is %g, want %g", i, s.grad[i], g[i])
		}
	}
}

// From either start the descent ends where the cost's gradient vanishes, below the cost of 250 steps
// of Adam (lr 0.01, eps 1e-5, as the authors'). The report is correct.
func TestStyleAgainstAdam(t *testing.T) {
	for _, c := range []struct {
		length, style int
		w             []StyleWeights
	}{{30, 60, nil}, {60, 34, []StyleWeights{PaperStyle}}, {48, 48, []StyleWeights{{1, 0.5}}}} {
		m, s, job := styled(t, 14, 1, c.length, c.style, 2)
		job.Weights, job.Hidden = c.w, make([]float32, c.length/2*m.Units)
		contents := slices.Clone(job.Rows)
		content, style := m.hiddenOf(t, contents), wide(job.Styles[0].gram)
		w := job.Styles[0].Weights()
		if c.w != nil {
			w = c.w[0]
		}
		noise := make([]float32, len(content))
		whiteNoise(noise, job.Seed)
		h := wide(noise)
		first, second := make([]float64, len(h)), make([]float64, len(h))
		start, _ := styleOracle(h, content, style, m.Units, w)
		for step := 1; step <= 250; step++ {
			_, g := styleOracle(h, content, style, m.Units, w)
			for i, v := range g {
				first[i] = 0.9*first[i] + 0.1*v
				second[i] = 0.999*second[i] + 0.001*v*v
				a, b := first[i]/(1-math.Pow(0.9, float64(step))), second[i]/(1-math.Pow(0.999, float64(step)))
				h[i] -= 0.01 * a / (math.Sqrt(b) + 1e-5)
			}
		}
		adam, _ := styleOracle(h, content, style, m.Units, w)
		cost := 0.0
		for _, job.Start = range []StyleStart{FromNoise, FromContent} {
			copy(job.Rows, contents)
			reports, _, err := s.Run(job)
			if err != nil {
				t.Fatal(err)
			}
			r := reports[0]
			found := wide(job.Hidden)
			after, g := styleOracle(found, content, style, m.Units, w)
			near(t, "the cost", r.After, after, 1e-4)
			if job.Start == FromNoise {
				near(t, "the cost before", r.Before, start, 1e-4)
				t.Logf("cost %.4g, after 250 steps of Adam %.4g, after %d of the optimizer %.4g", start, adam, r.Steps, after)
				if cost = after; after > adam {
					t.Errorf("the optimizer ends at %g, Adam at %g", after, adam)
				}
			} else {
				near(t, "the minimum from the content", after, cost, 5e-3)
			}
			near(t, "the content's term", r.Content, squaredDistance(found, content)/float64(c.length/2), 1e-3)
			near(t, "the Gram distance of the content", r.GramContent, squaredDistance(gramOracle(content, m.Units), style), 1e-4)
			near(t, "the Gram distance of the hidden values", r.GramHidden, squaredDistance(gramOracle(found, m.Units), style), 1e-2)
			near(t, "the Gram distance of the result", r.GramResult, squaredDistance(gramOracle(m.hiddenOf(t, job.Rows), m.Units), style), 1e-4)
			near(t, "the ratio", r.Ratio(), r.GramResult/r.GramContent, 0)
			slope, size := 0.0, 0.0
			for i := range g {
				slope += g[i] * g[i]
				size += math.Pow(2*float64(w.Content)/float64(c.length/2)*(found[i]-content[i]), 2)
			}
			if slope > 1e-3*size {
				t.Errorf("at the end the gradient has length %g, the content's term %g", math.Sqrt(slope), math.Sqrt(size))
			}
		}
	}
}

// Without an edit the result is the decoded motion of the hidden values found. The body's motion
// and the contacts stay bit-identical to the content's.
func TestStyleMotion(t *testing.T) {
	m, s, job := styled(t, 14, 1, 60, 48, 1)
	cols := m.Layout.Columns()
	for f := range 60 {
		for i := range m.Layout.Contacts {
			job.Rows[f*cols+m.Layout.Contact(i)] = float32((f/10 + i/2) % 2)
		}
	}
	contents := slices.Clone(job.Rows)
	job.Edit, job.Hidden = 0, make([]float32, 30*m.Units)
	if _, _, err := s.Run(job); err != nil {
		t.Fatal(err)
	}
	plain, all := slices.Clone(job.Rows), make([]float32, 60*cols)
	m.decode(t, all, job.Hidden, 1, 60)
	for f := range 60 {
		for i := range cols {
			v := plain[f*cols+i]
			switch {
			case i >= m.Layout.Body():
				if v != contents[f*cols+i] {
					t.Fatalf("frame %d: column %d is %g, the content's %g", f, i, v, contents[f*cols+i])
				}
			case f >= 5 && f < 55 && math.Abs(float64(v-all[f*cols+i])) > 1e-4: // margins reach half a filter into the motion
				t.Fatalf("frame %d: column %d is %g, decoded %g", f, i, v, all[f*cols+i])
			}
		}
	}
	copy(job.Rows, contents)
	job.Edit = 200
	_, edit, err := s.Run(job)
	if err != nil {
		t.Fatal(err)
	}
	slide := func(rows []float32) (sum float64) {
		for f := range 59 {
			body := rows[f*cols+m.Layout.Body():]
			yaw := float64(body[feature.MotionYaw]) / Rate
			for i, p := range m.feet() {
				if contents[f*cols+m.Layout.Contact(i)] == 0 {
					continue
				}
				x, z := float64(rows[(f+1)*cols+p]), float64(rows[(f+1)*cols+p+2])
				sum += math.Hypot(math.Cos(yaw)*x+math.Sin(yaw)*z+float64(body[0])/Rate-float64(rows[f*cols+p]),
					math.Cos(yaw)*z-math.Sin(yaw)*x+float64(body[1])/Rate-float64(rows[f*cols+p+2]))
			}
		}
		return sum
	}
	after := slide(job.Rows)
	copy(job.Rows, contents)
	for f := range 60 {
		clear(job.Rows[f*cols+m.Layout.Contact(0):][:len(m.Layout.Contacts)])
	}
	if _, _, err := s.Run(job); err != nil {
		t.Fatal(err)
	}
	t.Logf("standing feet slide %.3g m, without an edit %.3g, with an edit without contacts %.3g", after, slide(plain), slide(job.Rows))
	if after > 0.3*slide(plain) || after > 0.5*slide(job.Rows) || edit.After >= edit.Before {
		t.Errorf("standing feet slide %g m; the edit's cost went from %g to %g", after, edit.Before, edit.After)
	}
}
