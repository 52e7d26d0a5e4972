package recipes

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mannequin/animsys/latent"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

var spaceOnce = sync.OnceValues(func() (*netruntime.Net, error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	m := smallLatent(how(dir, 1))
	m.KL = 0
	if _, err := m.Run(context.Background()); err != nil {
		return nil, err
	}
	return netruntime.Open(filepath.Join(dir, "m.safetensors"))
})

// space returns a small latent space, which is trained once.
func space(t *testing.T) *netruntime.Net {
	t.Helper()
	net := must.Get(spaceOnce())(t)
	return net
}

// often cuts m into a window every 10 frames.
func often(m *dataset.MotionSet) *dataset.MotionSet {
	m.Windows = nil
	for c := range m.Clips {
		for from := 0; from+latent.Frames <= m.Clips[c].Frames; from += 10 {
			m.Windows = append(m.Windows, dataset.Window{Clip: int32(c), From: int32(from)})
		}
	}
	return m
}

// smallNext is a recipe that learns in a second or two.
func smallNext(net *netruntime.Net, how RunOptions) *Next {
	m := DefaultNext()
	m.Latent, m.Train, m.HeldOut, m.RunOptions = net, often(seconds(4, 201, 0)), often(seconds(2, 121, 5)), how
	m.Hidden, m.Epochs, m.Batch, m.AdamW.Rate = [2]int{32, 32}, 40, 4, 1e-2
	return &m
}

// The frozen decoder is the model's.
func TestNextDecodesAsTheModel(t *testing.T) {
	net := space(t)
	l := must.Get(newNextLoss(smallNext(net, how(t.TempDir(), 1))))(t)
	m := l.model
	tape := newTape(t)
	c := tape.Const(2, m.Values)
	for i := range c.Val {
		c.Val[i] = float32(math.Sin(float64(3 * i)))
	}
	got := l.frames(tape, c)
	coder := must.Get(m.NewCoder(latent.CoderOptions{Batch: 2, Workers: 1}))(t)
	defer coder.Close()
	cols := m.Layout.Columns()
	z, want := make([]float32, 2*m.Values), make([]float32, 2*latent.Frames*cols)
	for i := range 2 {
		m.Components.ToLatent(z[i*m.Values:][:m.Values], c.Val[i*m.Values:][:m.Values])
	}
	if err := coder.Decode(want, z, 2); err != nil {
		t.Fatal(err)
	}
	mean, _ := net.Tensor("mean")
	std, _ := net.Tensor("std")
	for i := range 2 {
		for k, v := range want[i*latent.Frames*cols:][:latent.Frames*cols] {
			if was := got.Val[i*latent.Padded*cols+k]*std.Data[k%cols] + mean.Data[k%cols]; math.Abs(float64(was-v)) > 1e-4 {
				t.Fatalf("value %d of clip %d: %g, the model decodes %g", k, i, was, v)
			}
		}
	}
}

// A chain continues in its recording half a second later, or jumps to the most similar clip among
// those with the wanted steps.
func TestNextChains(t *testing.T) {
	m := smallNext(space(t), how(t.TempDir(), 1))
	l := must.Get(newNextLoss(m))(t)
	c := &l.sets[0]
	for i, next := range c.after {
		w := m.Train.Windows[i]
		if w.From += latent.Frames - latent.Overlap; next >= 0 && m.Train.Windows[next] != w {
			t.Errorf("window %v goes on with %v", m.Train.Windows[i], m.Train.Windows[next])
		} else if next < 0 && slices.Contains(m.Train.Windows, w) {
			t.Errorf("nothing goes on from %v", m.Train.Windows[i])
		}
	}
	if c.step < 0 {
		t.Fatal("no component of steps")
	}
	apart := func(i, j int32) (sum float64) {
		cols := m.Train.Layout.Columns()
		rows := func(k int32) []float32 {
			w := m.Train.Windows[k]
			return m.Train.Clips[w.Clip].Rows[int(w.From)*cols:]
		}
		a, b := rows(i)[(latent.Frames-latent.Overlap)*cols:], rows(j)
		for f := 0; f < latent.Overlap; f += nextLooks {
			for k := range m.Train.Layout.Body() {
				d := float64(a[f*cols+k] - b[f*cols+k])
				sum += d * d
			}
		}
		return sum
	}
	jumps := 0
	for i := range int32(len(c.after)) {
		for other := range int32(len(c.after)) {
			best := c.like(i, other)
			steps := func(k int32) float64 { return float64(c.components[int(k)*c.values+c.step]) }
			if math.Abs(steps(best)-steps(other)) > nextNear {
				t.Fatalf("steps of %g are wanted, got %g", steps(other), steps(best))
			}
			for k := range int32(len(c.after)) {
				if math.Abs(steps(k)-steps(other)) < nextNear-1e-6 && apart(i, k) < apart(i, best)-1e-3 {
					t.Fatalf("%d goes on with %d, %g off, not with %d, %g off", i, best, apart(i, best), k, apart(i, k))
				}
			}
			if best != c.after[i] {
				jumps++
			}
		}
	}
	if jumps == 0 {
		t.Error("no chain ever goes over to another recording")
	}
}

// A chain is asked for the recorded components, with additions to the named ones except the step.
// Held-out chains are the same in every epoch.
func TestNextAsks(t *testing.T) {
	l := must.Get(newNextLoss(smallNext(space(t), how(t.TempDir(), 1))))(t)
	set, v := &l.sets[0], l.model.Values
	x, want, recorded := make([]float32, 3*v), make([]float32, v), make([]float32, v)
	var added, jumps, long int
	for key := range uint64(300) {
		c := l.chain(set, int32(key), key)
		clips := 0
		for was := c.clip; c.step(x, want); was = c.clip {
			if clips++; c.clip != set.after[was] {
				jumps++
			}
			copy(recorded, set.components[int(c.clip)*v:])
			for k, held := range c.held {
				asked := [2]float32{}
				if held {
					asked = [2]float32{want[k], 1}
				}
				if got := [2]float32{x[v+k], x[2*v+k]}; got != asked {
					t.Fatalf("component %d of a chain to %v is asked for as %v, want %v", k, want, got, asked)
				}
				if change := want[k] - recorded[k]; change != 0 {
					if added++; !held || k == set.step {
						t.Fatalf("%g is added to component %d", change, k)
					}
				}
			}
		}
		if clips < 1 || clips >= nextLength {
			t.Fatalf("a chain of %d clips after the first", clips)
		}
		if clips > 2 {
			long++
		}
	}
	if added == 0 || jumps == 0 || long == 0 {
		t.Errorf("of 300 chains %d are long, with %d changes and %d jumps", long, added, jumps)
	}
	tape := newTape(t)
	loss := func(heldOut bool, key uint64) float32 {
		tape.Reset()
		return l.loss(tape, []int32{0, 1, 2}, heldOut, key).Val[0]
	}
	if loss(true, 3) != loss(true, 4) || loss(false, 3) == loss(false, 4) {
		t.Error("held-out chains differ between epochs, or training chains do not")
	}
}

// The gradient of the loss agrees with finite differences.
func TestNextGradient(t *testing.T) {
	l := must.Get(newNextLoss(smallNext(space(t), how(t.TempDir(), 1))))(t)
	tape := newTape(t)
	// Chains of one clip, because earlier clips of a chain have no gradient.
	short := uint64(1)
	rows := []int32{0, 3, 5}
	long := func(key uint64) bool {
		for _, r := range rows {
			if l.chain(&l.sets[0], r, grad.Hash(key, uint64(r))).left > 1 {
				return true
			}
		}
		return false
	}
	for long(short) {
		short++
	}
	value := func() float64 {
		tape.Reset()
		return float64(l.loss(tape, rows, false, short).Val[0])
	}
	tape.Reset()
	tape.Backward(l.loss(tape, rows, false, short))
	for _, p := range l.net.params() {
		g, was := slices.Clone(p.Grad), slices.Clone(p.Val)
		want := 0.0
		for _, v := range g {
			want += math.Abs(float64(v))
		}
		h := 1e-2 / math.Sqrt(float64(len(g)))
		at := func(k float64) float64 {
			for i := range p.Val {
				p.Val[i] = was[i] + float32(k*h*math.Copysign(1, float64(g[i])))
			}
			return value()
		}
		got := (at(1) - at(-1)) / (2 * h)
		copy(p.Val, was)
		if !(math.Abs(got-want) <= 0.05*want+1e-3) {
			t.Errorf("%s: slope %g, the tape says %g", p.Name, got, want)
		}
	}
}

// The network learns. The model file computes what was trained and has the same bytes for any
// number of threads.
func TestNextLearns(t *testing.T) {
	net := space(t)
	var files [2][]byte
	for i := range files {
		dir := t.TempDir()
		m := smallNext(net, how(dir, 1+2*i))
		r := must.Get(m.Run(t.Context()))(t)
		if !(r.Best < 0.9*r.Initial && r.Train < 0.6*r.Initial) {
			t.Errorf("held-out loss %g, before training %g; training loss %g", r.Best, r.Initial, r.Train)
		}
		files[i] = must.Get(os.ReadFile(filepath.Join(dir, "m.safetensors")))(t)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("1 and 3 threads make different files")
	}
	file := must.Get(netruntime.Decode(files[0]))(t)
	l := must.Get(newNextLoss(smallNext(net, how(t.TempDir(), 1))))(t)
	for i, name := range []string{"next1", "next2", "y"} {
		w, _ := file.Tensor(name + ".weight")
		b, _ := file.Tensor(name + ".bias")
		copy(l.net[i].w.Val, w.Data)
		copy(l.net[i].b.Val, b.Data)
	}
	v := l.model.Values
	tape := newTape(t)
	x := tape.Const(2, 3*v)
	asked, before := make([]latent.Sliders, 2), make([]float32, 2*v)
	clear(x.Val)
	for i := range 2 {
		for k := range v {
			before[i*v+k] = float32(math.Cos(float64(i*v + k)))
		}
		copy(x.Val[3*i*v:], before[i*v:][:v])
		asked[i].Set(i+1, 0.5)
		x.Val[3*i*v+v+i+1], x.Val[3*i*v+2*v+i+1] = 0.5, 1
	}
	want := l.forward(tape, x)
	next := must.Get(l.model.NewNextClip(file, latent.CoderOptions{Batch: 2, Workers: 1}))(t)
	defer next.Close()
	after := make([]float32, 2*v)
	if err := next.Run(after, before, asked); err != nil {
		t.Fatal(err)
	}
	for i := range after {
		if math.Abs(float64(after[i]-want.Val[i])) > 1e-5 {
			t.Errorf("component %d: the file makes %g, training %g", i, after[i], want.Val[i])
		}
	}
}

func TestNextRefuses(t *testing.T) {
	net := space(t)
	dir := t.TempDir()
	wide := smallLatent(how(dir, 1))
	wide.Train, wide.Values, wide.Epochs = seconds(8, 161, 0), latent.MaxSliders+1, 1
	many := trainedFile(t, wide.Run, wide.Out)
	for _, c := range []struct {
		want  string
		spoil func(m *Next)
	}{
		{"missing", func(m *Next) { m.Latent = nil }},
		{"33 values", func(m *Next) { m.Latent = many }},
		{"units", func(m *Next) { m.Hidden[1] = 0 }},
		{"margins", func(m *Next) { m.Train.Margin = 2 }},
		{"held out", func(m *Next) { m.HeldOut.Windows = nil }},
		{"goes on", func(m *Next) { m.HeldOut = seconds(2, 81, 5) }},
		{"goes on", func(m *Next) { m.Train.Windows = nil }},
	} {
		m := smallNext(net, how(t.TempDir(), 1))
		c.spoil(m)
		if _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error with %q", err, c.want)
		}
	}
}
