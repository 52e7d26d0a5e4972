package manifold

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
)

// job returns an edit of random motions with every kind of constraint.
func (m *Model) job(t testing.TB, batch, length int, seed uint64) *Edit {
	rng := rand.New(rand.NewPCG(3, seed))
	frames, cols := batch*length, m.Layout.Columns()
	j := &Edit{Batch: batch, Length: length, Iterations: 30, Rows: m.stray(t, batch, length, seed),
		Body: make([]float32, frames*feature.MotionLen), Stand: make([]float32, frames*len(m.feet())), Level: make([]float32, frames*len(m.feet())),
		Want: make([]float32, frames*cols), Weight: make([]float32, frames*cols)}
	for f := range frames {
		j.Body[f*feature.MotionLen+feature.MotionZ] = 1.2
		j.Body[f*feature.MotionLen+feature.MotionYaw] = float32(math.Sin(float64(f) / 20))
		for i := range m.feet() {
			if (f/20+i/2)%2 == 0 {
				j.Stand[f*len(m.feet())+i] = 1
			}
			j.Level[f*len(m.feet())+i] = float32(f%5) / 4
		}
		at := f*cols + m.Layout.Pos(m.Layout.Joint("LeftHand"))
		for k := range 3 {
			j.Want[at+k], j.Weight[at+k] = j.Rows[at+k]+0.1*float32(rng.NormFloat64()), 0.5
		}
	}
	return j
}

// feet returns the columns of the positions of the joints that have contacts.
func (m *Model) feet() (cols []int) {
	for _, c := range m.Layout.Contacts {
		cols = append(cols, m.Layout.Pos(m.Layout.Joint(c.Joint)))
	}
	return cols
}

// costs returns the cost of the job's motions and its gradient.
func (m *Model) costs(j *Edit, x []float32) (total float64, grad []float32) {
	return m.costsOf(j, x, m.person.DefaultWeights())
}

func (m *Model) costsOf(j *Edit, x []float32, w feature.CostWeights) (total float64, grad []float32) {
	e := &Editor{Weights: w, model: m, body: j.Body}
	grad = make([]float32, len(x))
	n := j.Length * m.Layout.Columns()
	for b := range j.Batch {
		c := e.costOf(j, b)
		total += c.At(grad[b*n:][:n], x[b*n:][:n], nil)
	}
	return total, grad
}

// The gradient agrees with finite differences in every column.
func TestCostGradient(t *testing.T) {
	m := made(t, 16, 9)
	j := m.job(t, 2, 6, 1)
	x := slices.Clone(j.Rows)
	_, g := m.costs(j, x)
	counted := 0
	for i := range x {
		const d = 1e-2
		was := x[i]
		x[i] = was + d
		up, _ := m.costs(j, x)
		x[i] = was - d
		down, _ := m.costs(j, x)
		x[i] = was
		want := (up - down) / (2 * d)
		if col := i % m.Layout.Columns(); col < m.Layout.Body() && col%3 == 1 && math.Abs(float64(was)) < d {
			continue // the cost has a kink for a foot this near the ground
		}
		if math.Abs(float64(g[i])-want) > 2e-3*(1+math.Abs(want)) {
			t.Fatalf("column %d of frame %d, %g: gradient %g, by differences %g", i%m.Layout.Columns(), i/m.Layout.Columns(), was, g[i], want)
		}
		if want != 0 {
			counted++
		}
	}
	if counted < len(x)/2 {
		t.Errorf("only %d of %d values have a gradient", counted, len(x))
	}
}

// If all terms are squares of linear values, the curvature along a direction is the second difference
// of the cost.
func TestCostCurvature(t *testing.T) {
	m := made(t, 16, 9)
	j := m.job(t, 1, 8, 2)
	w := m.person.DefaultWeights()
	w.Bone = 0
	rng := rand.New(rand.NewPCG(4, 4))
	x, d := slices.Clone(j.Rows), make([]float32, len(j.Rows))
	for i := range d {
		d[i] = 0.01 * float32(rng.NormFloat64())
	}
	for f := range j.Length {
		for _, p := range m.feet() {
			x[f*m.Layout.Columns()+p+1] = 1 // off the ground, where the depth term is no square
		}
	}
	e := &Editor{Weights: w, model: m, body: j.Body}
	c := e.costOf(j, 0)
	h := make([]float32, len(x))
	curve := c.At(h, x, d)
	moved := func(by float64) float64 {
		y := slices.Clone(x)
		axpy(y, d, by)
		v, _ := m.costsOf(j, y, w)
		return v
	}
	want := (moved(1) + moved(-1) - 2*moved(0)) / 2
	if math.Abs(curve-want) > 1e-3*math.Abs(want) {
		t.Errorf("curvature %g, by differences %g", curve, want)
	}
	if got := dot(h, d) / 2; math.Abs(got-curve) > 1e-5*curve {
		t.Errorf("the Hessian's product gives %g along d, the curvature is %g", got, curve)
	}
}

// K·g is the change of frames along the gradient of hidden values that belongs to g, which the tape
// computes through the decoder.
func TestKernel(t *testing.T) {
	m := made(t, 24, 9)
	const length = 80
	cols := m.Layout.Columns()
	rng := rand.New(rand.NewPCG(5, 5))
	g := make([]float32, length*cols)
	for f := 30; f < 50; f++ { // away from the ends, because K reaches beyond them
		for i := range cols {
			g[f*cols+i] = float32(rng.NormFloat64())
		}
	}
	h := m.towards(t, g, length)
	still, moved := make([]float32, length*cols), make([]float32, length*cols)
	m.decode(t, still, make([]float32, len(h)), 1, length)
	m.decode(t, moved, h, 1, length)
	k := must.Get(m.kernel())(t)
	s := must.Get(k.NewSession(netruntime.SessionOptions{Batch: 1, Length: length / 2, Workers: 1}))(t)
	defer s.Close()
	z := make([]float32, length*cols)
	must.Do(t, s.RunSequences([][]float32{z}, [][]float32{g}, 1, length/2))
	size := math.Sqrt(dot(z, z) / float64(len(z)))
	for i := range z {
		if d := math.Abs(float64(moved[i] - still[i] - z[i])); d > 1e-3*size {
			t.Fatalf("column %d of frame %d: K gives %g, the decoder %g", i%cols, i/cols, z[i], moved[i]-still[i])
		}
	}
}

// decoderParams returns the decoder's weights for the tape.
func (m *Model) decoderParams() (w, b *grad.Param, mean, std []float32, width int) {
	tensor := func(name string) netruntime.Tensor { v, _ := m.Net.Tensor(name); return v }
	t := tensor("encoder.weight")
	units, cols := t.Shape[0], t.Shape[1]
	width = t.Shape[2]
	w, b = grad.NewParam("w", units, width*cols), grad.NewParam("b", 1, cols)
	for o := range units {
		for i := range cols {
			for k := range width {
				w.Val[(o*width+k)*cols+i] = t.Data[(o*cols+i)*width+k]
			}
		}
	}
	copy(b.Val, tensor("decoder.bias").Data)
	w.Frozen, b.Frozen = true, true
	return w, b, tensor("mean").Data, tensor("std").Data, width
}

// towards returns Eᵀ·g, computed by the tape.
func (m *Model) towards(t testing.TB, g []float32, length int) []float32 {
	pool := grad.NewPool(1)
	defer pool.Close()
	tape := grad.NewTape(pool)
	w, b, mean, std, width := m.decoderParams()
	h := tape.Input(length/2, m.Units)
	clear(h.Val)
	y := tape.Affine(tape.ConvT(tape.Depool(h, 2, false, 0), length, w, b, width, true), std, mean)
	c := tape.Const(length, m.Layout.Columns())
	copy(c.Val, g)
	tape.Backward(tape.Sum(tape.Mul(y, c)))
	return slices.Clone(h.Grad)
}

// adam returns the cost of the job after a number of steps of Adam on the hidden values h, as in the
// authors' release of Holden et al. 2016.
func (m *Model) adam(t testing.TB, job *Edit, h []float32, steps int) (cost float64) {
	first, second := make([]float64, len(h)), make([]float64, len(h))
	w, b, mean, std, width := m.decoderParams()
	pool := grad.NewPool(1)
	defer pool.Close()
	tape := grad.NewTape(pool)
	for step := 1; ; step++ {
		tape.Reset()
		hidden := tape.Input(job.Length/2, m.Units)
		copy(hidden.Val, h)
		y := tape.Affine(tape.ConvT(tape.Depool(hidden, 2, false, 0), job.Length, w, b, width, true), std, mean)
		cost, g := m.costs(job, y.Val)
		if step > steps {
			return cost
		}
		slope := tape.Const(job.Length, m.Layout.Columns())
		copy(slope.Val, g)
		tape.Backward(tape.Sum(tape.Mul(y, slope)))
		for i, v := range hidden.Grad {
			first[i] = 0.9*first[i] + 0.1*float64(v)
			second[i] = 0.999*second[i] + 0.001*float64(v)*float64(v)
			a, b := first[i]/(1-math.Pow(0.9, float64(step))), second[i]/(1-math.Pow(0.999, float64(step)))
			h[i] -= float32(0.01 * a / (math.Sqrt(b) + 1e-5))
		}
	}
}

// The editor reaches the cost of many more steps of Adam on the hidden values, as in the paper.
func TestEditAgainstAdam(t *testing.T) {
	m := made(t, 32, 9)
	const length = 60
	job := m.job(t, 1, length, 6)
	rng := rand.New(rand.NewPCG(2, 6))
	h := make([]float32, length/2*m.Units)
	for i := range h {
		h[i] = float32(0.5 * rng.Float64())
	}
	start, _ := m.costs(job, job.Rows)
	if same := m.adam(t, job, slices.Clone(h), 0); math.Abs(same-start) > 1e-3*start {
		t.Fatalf("hidden values cost %g, their motion %g", same, start)
	}
	m.race(t, job, h, 250, 40)
}

// race edits the motion of the hidden values h with Adam and with the editor. The editor must not
// end higher.
func (m *Model) race(t testing.TB, job *Edit, h []float32, adam, editor int) {
	t.Helper()
	e := must.Get(m.NewEditor(EditorOptions{Batch: 1, Length: job.Length, Workers: 1}))(t)
	defer e.Close()
	job.Iterations = editor
	before := *job
	before.Rows = slices.Clone(job.Rows)
	r := must.Get(e.Run(job))(t)
	after := m.adam(t, &before, h, adam) / float64(job.Length)
	t.Logf("cost %.3g, after %d steps of Adam %.3g, after %d of the editor %.3g", r.Before, adam, after, r.Steps, r.After)
	if !(r.After <= after) {
		t.Errorf("the editor ends at %g, Adam at %g", r.After, after)
	}
}

// The same for the shipped networks' walk and run round a bend: with the default steps, and with a
// crowd's steps against the release's ten.
func TestEditPeopleAgainstAdam(t *testing.T) {
	race.Single(t)
	base, steps, motion := shipped(t)
	m := must.Get(NewModel(base))(t)
	encode := must.Get(motion.Part([]string{"x"}, []string{"hidden"}))(t)
	const length = 120
	w := must.Get(m.With(steps, motion).NewWalker(WalkerOptions{Batch: 1, Length: length, Workers: 1}))(t)
	defer w.Close()
	s := must.Get(encode.NewSession(netruntime.SessionOptions{Batch: 1, Length: length, Workers: 1}))(t)
	defer s.Close()
	for _, speed := range []float32{1.3, 3.3} {
		walk := m.walks(1, length)
		for f := range length {
			walk.Body[f*feature.MotionLen+feature.MotionZ] = speed
		}
		must.Do(t, w.Run(walk))
		h := make([]float32, length/2*m.Units)
		must.Do(t, s.RunSequences([][]float32{h}, [][]float32{w.motionInput[:length*(feature.MotionLen+len(m.feet())+w.manner)]}, 1, length))
		for _, n := range [][2]int{{250, DefaultIterations}, {10, CrowdIterations}} {
			rows := make([]float32, len(walk.Rows))
			m.decode(t, rows, h, 1, length)
			m.race(t, &Edit{Batch: 1, Length: length, Rows: rows, Body: walk.Body, Stand: walk.Contacts}, slices.Clone(h), n[0], n[1])
		}
	}
}

// A motion's result is bit-identical alone or in a batch and for any number of workers. One that is
// not finite is unchanged and does not change the others.
func TestEditBatchInvariance(t *testing.T) {
	m := made(t, 16, 9)
	const batch, length = 5, 40
	n := length * m.Layout.Columns()
	var want []float32
	for _, workers := range []int{1, 3} {
		e := must.Get(m.NewEditor(EditorOptions{Batch: batch, Length: length, Workers: workers}))(t)
		job := m.job(t, batch, length, 7)
		job.Loosen = DefaultLoosen
		if want == nil {
			for b := range batch {
				one := *job
				cut := func(v []float32) []float32 { return slices.Clone(v[b*len(v)/batch : (b+1)*len(v)/batch]) }
				one.Batch, one.Rows, one.Body, one.Stand, one.Level, one.Want, one.Weight = 1, cut(job.Rows), cut(job.Body),
					cut(job.Stand), cut(job.Level), cut(job.Want), cut(job.Weight)
				must.Get(e.Run(&one))(t)
				want = append(want, one.Rows...)
			}
		}
		job.Rows[2*n+17] = float32(math.NaN())
		was := slices.Clone(job.Rows[2*n : 3*n])
		r := must.Get(e.Run(job))(t)
		if r.Failed != 1 || math.IsNaN(r.After) || r.After >= r.Before {
			t.Errorf("report %+v, want one failed motion and a lower cost", r)
		}
		for i, v := range job.Rows {
			switch b := i / n; {
			case b == 2:
				if math.Float32bits(v) != math.Float32bits(was[i-2*n]) {
					t.Fatalf("%d workers: the motion with a NaN was changed", workers)
				}
			case v != want[i]:
				t.Fatalf("%d workers: value %d of motion %d is %g, alone %g", workers, i%n, b, v, want[i])
			}
		}
		e.Close()
	}
}

// The body's motion is exactly the wanted one, and a time budget ends an edit.
func TestEditBodyAndBudget(t *testing.T) {
	m := made(t, 16, 9)
	e := must.Get(m.NewEditor(EditorOptions{Batch: 2, Length: 40, Workers: 1}))(t)
	defer e.Close()
	job := m.job(t, 2, 40, 8)
	asked := 0
	job.Stop = func() bool { asked++; return asked == 4 }
	r := must.Get(e.Run(job))(t)
	if r.Steps != 4 {
		t.Errorf("%d steps, the budget ends after 4", r.Steps)
	}
	// So it does at the end of a part.
	loose := m.job(t, 2, 40, 8)
	loose.Loosen, loose.Iterations = DefaultLoosen, 16
	loose.Stop = func() bool { asked++; return asked == 8 }
	if r := must.Get(e.Run(loose))(t); r.Steps != 4 {
		t.Errorf("%d steps of an edit in parts, the budget ends after 4", r.Steps)
	}
	for f := range 80 {
		for k := range feature.MotionLen {
			if got, want := job.Rows[f*m.Layout.Columns()+m.Layout.Body()+k], job.Body[f*feature.MotionLen+k]; got != want {
				t.Fatalf("frame %d: the body moves by %g, want %g", f, got, want)
			}
		}
	}
	job.Stop, job.Iterations, job.Loosen = nil, 3, DefaultLoosen
	if n := testing.AllocsPerRun(3, func() { e.Run(job) }); n > 0 {
		t.Errorf("an edit allocates %g times", n)
	}
}

func TestEditRefuses(t *testing.T) {
	m := made(t, 16, 9)
	for _, o := range []EditorOptions{{}, {1, 0, 1, nil}, {1, 3, 1, nil}, {1, 2, 0, nil}} {
		if _, err := m.NewEditor(o); err == nil {
			t.Errorf("options %+v accepted", o)
		}
	}
	e := must.Get(m.NewEditor(EditorOptions{Batch: 2, Length: 10, Workers: 1}))(t)
	defer e.Close()
	for name, spoil := range map[string]func(*Edit){
		"3 motions": func(j *Edit) { j.Batch = 3 }, "12 frames": func(j *Edit) { j.Length = 12 }, "9 frames": func(j *Edit) { j.Length = 9 },
		"Rows": func(j *Edit) { j.Rows = j.Rows[1:] }, "Body": func(j *Edit) { j.Body = j.Body[1:] }, "Stand": func(j *Edit) { j.Stand = nil; j.Stand = []float32{} },
		"Level":       func(j *Edit) { j.Level = j.Level[1:] },
		"go together": func(j *Edit) { j.Want = nil }, "Loosen": func(j *Edit) { j.Loosen = float32(math.NaN()) },
	} {
		job := m.job(t, 2, 10, 9)
		spoil(job)
		must.Fail(e.Run(job))(t, name)
	}
}
