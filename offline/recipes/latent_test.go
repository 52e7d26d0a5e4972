package recipes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"mannequin/animsys/feature"
	"mannequin/animsys/latent"
	"mannequin/internal/testing/must"
	"mannequin/offline/dataset"
)

// seconds are strolls in whole windows of a second, whose traits differ.
func seconds(clips, frames int, first float64) *dataset.MotionSet {
	m := strolls(clips, frames, first)
	m.Length, m.Margin, m.Windows = latent.Frames, 0, nil
	for c := range m.Clips {
		for from := 0; from+latent.Frames <= frames; from += 20 {
			m.Windows = append(m.Windows, dataset.Window{Clip: int32(c), From: int32(from)})
		}
	}
	return m
}

// smallLatent is a recipe that learns in a second or two.
func smallLatent(how RunOptions) *Latent {
	m := DefaultLatent()
	m.Train, m.HeldOut, m.RunOptions = seconds(4, 101, 0), seconds(2, 81, 5), how
	m.Hidden, m.Widths, m.Values, m.Spread = [3]int{6, 8, 8}, [3]int{5, 3, 3}, 6, 8
	m.Epochs, m.Batch, m.AdamW.Rate = 30, 2, 3e-3
	return &m
}

// The divergence is that of eq. 4.9. Samples have the given mean and deviation and depend on the
// key alone.
func TestSampleAndDivergence(t *testing.T) {
	tape := newTape(t)
	const clips, values = 4000, 2
	mean, logVar := tape.Const(clips, values), tape.Const(clips, values)
	mu, sigma := []float64{0.7, -2}, []float64{0.3, 1.5}
	want := 0.0
	for k := range values {
		want += 0.5 * (mu[k]*mu[k] + sigma[k]*sigma[k] - 1 - 2*math.Log(sigma[k]))
		for i := range clips {
			mean.Val[i*values+k], logVar.Val[i*values+k] = float32(mu[k]), float32(2*math.Log(sigma[k]))
		}
	}
	if got := float64(divergence(tape, mean, logVar).Val[0]); math.Abs(got-want) > 1e-4*want {
		t.Errorf("divergence %g, want %g", got, want)
	}
	z := sample(tape, mean, logVar, 5)
	again, other := sample(tape, mean, logVar, 5), sample(tape, mean, logVar, 6)
	if !slices.Equal(z.Val, again.Val) || slices.Equal(z.Val, other.Val) {
		t.Error("samples do not follow from the key alone")
	}
	for k := range values {
		v := make([]float64, clips)
		for i := range v {
			v[i] = float64(z.Val[i*values+k])
		}
		if m, s := stat.MeanStdDev(v, nil); math.Abs(m-mu[k]) > 0.06*sigma[k] || math.Abs(s/sigma[k]-1) > 0.04 || math.Abs(stat.Skew(v, nil)) > 0.15 {
			t.Errorf("value %d: mean %g, deviation %g, want %g and %g", k, m, s, mu[k], sigma[k])
		}
	}
}

// The gradient of the whole loss agrees with finite differences along a random direction of each
// parameter.
func TestLatentGradient(t *testing.T) {
	m := smallLatent(how(t.TempDir(), 1))
	m.Path, m.Traits, m.KL = 0.7, 0.5, 3
	l := must.Get(newLatentLoss(m, newLatentNet(m)))(t)
	l.begin(m.Epochs - 1) // all terms at their weight
	tape := newTape(t)
	rows := []int32{0, 3, 5}
	value := func() float64 {
		tape.Reset()
		return float64(l.loss(tape, rows, false, 77).Val[0])
	}
	tape.Reset()
	tape.Backward(l.loss(tape, rows, false, 77))
	gradients := map[string][]float32{}
	for _, p := range l.net.params() {
		gradients[p.Name] = slices.Clone(p.Grad)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, p := range l.net.params() {
		along, g := make([]float64, len(p.Val)), gradients[p.Name]
		want, size := 0.0, 0.0
		for i := range along {
			// Mostly along the gradient's signs, or rounding would hide the difference.
			along[i] = math.Copysign(1, float64(g[i])) + 0.3*rng.NormFloat64()
			want += along[i] * float64(g[i])
			size += along[i] * along[i]
		}
		h := 2e-3 / math.Sqrt(size)
		was := slices.Clone(p.Val)
		at := func(k float64) float64 {
			for i := range p.Val {
				p.Val[i] = was[i] + float32(k*h*along[i])
			}
			return value()
		}
		got := (at(1) - at(-1)) / (2 * h)
		copy(p.Val, was)
		if !(math.Abs(got-want) <= 0.03*math.Abs(want)+1e-3*math.Sqrt(size)) {
			t.Errorf("%s: slope %g, the tape says %g", p.Name, got, want)
		}
	}
}

// The model file computes what was trained, from raw frames to raw frames. Its components are white
// over the training clips.
func TestLatentComputesWhatWasTrained(t *testing.T) {
	dir := t.TempDir()
	m := smallLatent(how(dir, 1))
	m.Epochs = 4
	file := trainedFile(t, m.Run, m.Out)
	model := must.Get(latent.NewModel(file))(t)
	// The trained network, from the file's tensors.
	net := newLatentNet(m)
	if err := slices.Concat(net.encoder, net.decoder, convNet{net.code}).copyTensors(file); err != nil {
		t.Fatal(err)
	}
	for _, p := range net.start {
		w, _ := file.Tensor(p.Name)
		copy(p.Val, w.Data)
	}
	tape := newTape(t)
	rows := []int32{1, 4}
	l := must.Get(newLatentLoss(m, net))(t)
	x, _ := l.clips(tape, rows, false)
	mean, logVar := net.encode(tape, x, 1, 0)
	y := net.decode(tape, mean)
	coder := must.Get(model.NewCoder(latent.CoderOptions{Batch: 1, Workers: 1}))(t)
	defer coder.Close()
	cols := m.Train.Layout.Columns()
	z, deviation, made := make([]float32, m.Values), make([]float32, m.Values), make([]float32, latent.Frames*cols)
	for i, r := range rows {
		w := m.Train.Windows[r]
		if err := coder.Encode(z, deviation, m.Train.Clips[w.Clip].Rows[int(w.From)*cols:][:latent.Frames*cols], 1); err != nil {
			t.Fatal(err)
		}
		for k := range z {
			if d := math.Abs(float64(z[k] - mean.Val[i*m.Values+k])); d > 1e-4 {
				t.Errorf("value %d of clip %d: the file gives %g, training %g", k, i, z[k], mean.Val[i*m.Values+k])
			}
			if want := math.Exp(0.5 * float64(logVar.Val[i*m.Values+k])); math.Abs(float64(deviation[k])-want) > 1e-4*want {
				t.Errorf("deviation %d of clip %d: the file gives %g, training %g", k, i, deviation[k], want)
			}
		}
		if err := coder.Decode(made, z, 1); err != nil {
			t.Fatal(err)
		}
		for k, v := range made {
			f, c := k/cols, k%cols
			if want := y.Val[(i*latent.Padded+f)*cols+c]*m.Train.Std[c] + m.Train.Mean[c]; math.Abs(float64(v-want)) > 1e-4 {
				t.Fatalf("column %d of frame %d: the file gives %g, training %g", c, f, v, want)
			}
		}
	}
	encoded, clips, err := EncodeClips(model, m.Train, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(clips) != len(m.Train.Windows) {
		t.Errorf("%d clips of %d windows", len(clips), len(m.Train.Windows))
	}
	c, first := make([]float32, m.Values), make([]float64, len(clips))
	for i := range clips {
		model.Components.FromLatent(c, floats(encoded.RawRowView(i)))
		first[i] = float64(c[0])
	}
	if mu, s := stat.PopMeanStdDev(first, nil); math.Abs(mu) > 1e-2 || math.Abs(s-1) > 1e-2 {
		t.Errorf("the first component has mean %g and deviation %g over the clips trained on", mu, s)
	}
}

// Directions of traits are found among values that mix them at any scale. They are white, and the
// remaining ones are ordered by their effect.
func TestLatentComponents(t *testing.T) {
	const clips, values = 800, 5
	rng := rand.New(rand.NewPCG(2, 2))
	sources := mat.NewDense(clips, values, nil)
	for i := range clips {
		for k := range values {
			sources.Set(i, k, rng.NormFloat64())
		}
	}
	mix := mat.NewDense(values, values, nil)
	for i := range values {
		for k := range values {
			mix.Set(i, k, rng.NormFloat64())
		}
	}
	for k := range values {
		mix.Set(4, k, 0) // the values do not depend on the last source
	}
	var z mat.Dense
	z.Mul(sources, mix)
	// Frames: source 3 moves them more than source 2.
	frames, traits := mat.NewDense(clips, 40, nil), mat.NewDense(clips, 3, nil)
	for i := range clips {
		for k := range 40 {
			frames.Set(i, k, (0.2+0.8*float64(k/20))*sources.At(i, 2+k/20)+float64(k))
		}
		traits.Set(i, 0, 100*sources.At(i, 1)+7)
		traits.Set(i, 1, 3) // all clips share it
		traits.Set(i, 2, sources.At(i, 0)+0.5*sources.At(i, 1))
	}
	c := must.Get(latentComponents([]string{"a", "same", "b"}, &z, frames, traits))(t)
	if !slices.Equal(c.Names, []string{"a", "b"}) {
		t.Fatalf("names %v", c.Names)
	}
	scores := make([][]float64, values)
	k := make([]float32, values)
	for i := range clips {
		c.FromLatent(k, floats(z.RawRowView(i)))
		for j, v := range k {
			scores[j] = append(scores[j], float64(v))
		}
	}
	for j, source := range []int{1, 0, 3, 2} {
		// The sources of a sample are slightly correlated.
		if r := stat.Correlation(scores[j], mat.Col(nil, source, sources), nil); math.Abs(r) < 0.99 {
			t.Errorf("component %d goes with source %d by %g", j, source, r)
		}
		if j < 2 && stat.Correlation(scores[j], mat.Col(nil, source, sources), nil) < 0 {
			t.Errorf("component %d goes against its trait", j)
		}
	}
	for a := range 4 {
		for b := range a + 1 {
			want := 0.0
			if a == b {
				want = 1
			}
			if v := stat.Covariance(scores[a], scores[b], nil); math.Abs(v-want) > 0.01 {
				t.Errorf("components %d and %d have covariance %g, want %g", a, b, v, want)
			}
		}
	}
}

// Principal components are the same from either product of the matrix.
func TestPrincipal(t *testing.T) {
	x := mat.NewDense(6, 4, nil)
	for i := range 6 {
		a, b := float64(i%2*2-1), float64(i/2-1) // they do not go together
		x.SetRow(i, []float64{3*a + 1, 4 * a, 2 * b, 0})
	}
	_, long, axes := Principal(x)
	wide := mat.NewDense(6, 9, nil) // the same, with columns of a constant
	for i := range 6 {
		wide.SetRow(i, append(slices.Clone(x.RawRowView(i)), 1, 2, 3, 4, 5))
	}
	_, short, other := Principal(wide)
	for k := range 2 {
		if math.Abs(long[k]-short[k]) > 1e-9 {
			t.Errorf("deviation %d is %g and %g", k, long[k], short[k])
		}
		dot := 0.0
		for i := range 4 {
			dot += axes.At(i, k) * other.At(i, k)
		}
		if math.Abs(math.Abs(dot)-1) > 1e-6 {
			t.Errorf("axis %d of both has product %g", k, dot)
		}
	}
	if math.Abs(math.Abs(axes.At(0, 0))-0.6) > 1e-6 && math.Abs(math.Abs(axes.At(0, 1))-0.6) > 1e-6 {
		t.Errorf("no axis is 3, 4: %v", mat.Formatted(axes))
	}
	if long[2] > 1e-6 {
		t.Errorf("a third deviation %g of two sources", long[2])
	}
}

// The weights of the path sum the body's motion.
func TestPathWeights(t *testing.T) {
	set := seconds(1, 61, 0)
	w := pathWeights(set)[0]
	n := latent.Frames * feature.MotionLen
	miss := make([]float64, n)
	for f := range latent.Frames {
		miss[f*feature.MotionLen+feature.MotionYaw] = 0.6 / float64(set.Std[set.Layout.Body()+feature.MotionYaw]) // rad/s
	}
	for f := range latent.Frames {
		for k := range feature.MotionLen {
			sum := 0.0
			for i, v := range miss {
				sum += float64(w.Val[(f*feature.MotionLen+k)*n+i]) * v
			}
			want := 0.0
			if k == feature.MotionYaw {
				want = 0.01 * float64(f+1) / float64(set.Std[0])
			}
			if math.Abs(sum-want) > 1e-4 {
				t.Fatalf("value %d after frame %d is %g, want %g", k, f, sum, want)
			}
		}
	}
}

// A varied clip is the recording played faster or slower, within its length, with another turn.
// Without variation it is the recording.
func TestVary(t *testing.T) {
	m := smallLatent(how(t.TempDir(), 1))
	set := m.Train
	cols, body := set.Layout.Columns(), set.Layout.Body()
	clip := &set.Clips[0]
	for f := range clip.Frames {
		row := clip.Rows[f*cols:]
		row[0], row[body+feature.MotionZ], row[body+feature.MotionYaw] = float32(f), 2, 0.5
	}
	vary := func(from int, key uint64) (rows []float32, by float64) {
		rows = slices.Clone(clip.Rows[from*cols:][:latent.Frames*cols])
		m.vary(rows, set, clip, from, key)
		return rows, float64(rows[(latent.Frames-1)*cols]-float32(from)) / (latent.Frames - 1)
	}
	m.Stretch, m.Bend = 0, 0
	if rows, _ := vary(5, 1); !slices.Equal(rows, clip.Rows[5*cols:][:latent.Frames*cols]) {
		t.Error("without variation it is another clip")
	}
	m.Stretch, m.Bend = 0.3, 0.4
	var least, most, turns, n float64 = 2, 0, 0, 400
	for key := range uint64(n) {
		rows, by := vary(5, key)
		least, most = min(least, by), max(most, by)
		if speed := float64(rows[body+feature.MotionZ]); math.Abs(speed-2*by) > 1e-3 {
			t.Fatalf("played %g times as fast it goes at %g m/s", by, speed)
		}
		turn := float64(rows[body+feature.MotionYaw]) - 0.5*by
		turns += turn * turn / n
		for i := range set.Layout.Contacts {
			if v := rows[7*cols+set.Layout.Contact(i)]; v != 0 && v != 1 {
				t.Fatalf("contact %g", v)
			}
		}
	}
	if least > 0.72 || least < 0.7 || most < 1.28 || most > 1.3 {
		t.Errorf("played %g to %g times as fast", least, most)
	}
	if math.Abs(math.Sqrt(turns)-0.4) > 0.04 {
		t.Errorf("turned by a deviation of %g rad/s", math.Sqrt(turns))
	}
	if _, by := vary(clip.Frames-latent.Frames, 3); by > 1 {
		t.Errorf("played %g times as fast where the recording ends", by)
	}
}

// Impossible options are refused before training.
func TestLatentRefuses(t *testing.T) {
	for name, spoil := range map[string]func(m *Latent){
		"windows with margins": func(m *Latent) { m.Train = strolls(2, 80, 0) },
		"no channels":          func(m *Latent) { m.Hidden[1] = 0 },
		"no latent values":     func(m *Latent) { m.Values = 0 },
		"more traits":          func(m *Latent) { m.Values = 4 },
		"a negative weight":    func(m *Latent) { m.KL = -1 },
		"fewer clips":          func(m *Latent) { m.Values = len(m.Train.Windows) },
		"nothing held out":     func(m *Latent) { m.HeldOut = seconds(0, 0, 0) },
	} {
		m := smallLatent(how(t.TempDir(), 1))
		spoil(m)
		if _, err := m.Run(t.Context()); err == nil {
			t.Errorf("%s accepted", name)
		}
	}
}
