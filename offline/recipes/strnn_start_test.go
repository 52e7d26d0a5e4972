package recipes

import (
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/strnn"
	"mannequin/internal/testing/must"
	"mannequin/netruntime/grad"
)

// A network with manners that starts from one without predicts the same at first, whatever the
// manner, on its normalisation and filters.
func TestSTRNNStart(t *testing.T) {
	was := smallSTRNN(how(t.TempDir(), 1))
	was.Manner, was.Train = 0, wholly(strolls(2, 70, 9), was.Frames()) // other data, other normalisation
	start := trainedFile(t, was.Run, was.Out)
	model := must.Get(strnn.NewModel(start))(t)
	m := smallSTRNN(how(t.TempDir(), 1))
	m.Start = start
	l := must.Get(newSTRNNLoss(m))(t)
	tape := newTape(t)
	n, cols := m.Encode+m.Predict, m.Train.Layout.Columns()
	seen := tape.Frames(l.batch.frames(tape, []int32{1, 2}, false, n, 0), n, 0, m.Encode)
	h, c := l.net.state(tape, seen, m.Encode, &strnnPass{keep: 1})
	code := l.codes(tape, []int32{1, 2}, true, 0)
	if !slices.ContainsFunc(code.Val, func(v float32) bool { return v != 0 }) {
		t.Fatal("no manner")
	}
	z, _ := l.net.prior.forward(tape, known(tape, h, code))
	base := l.base(tape, seen, m.Encode, m.Predict)
	y := l.based(tape, l.net.frames(tape, l.net.after(tape, h, c, known(tape, z, code), base, m.Predict), &strnnPass{keep: 1}), base, m.Encode, m.Predict)
	raw := func(v []float32) (out []float32) {
		for i, x := range v {
			out = append(out, x*m.Train.Std[i%cols]+m.Train.Mean[i%cols])
		}
		return out
	}
	p := must.Get(model.NewPredictor(strnn.PredictorOptions{Batch: 2, Workers: 1, SkipFilter: true}))(t)
	defer p.Close()
	got, want := make([]float32, 2*m.Predict*cols), raw(y.Val)
	must.Do(t, p.Predict(got, raw(seen.Val), nil, 2))
	for i := range got {
		if d := got[i] - want[i]; d > 1e-4 || d < -1e-4 {
			t.Fatalf("value %d: the network to start from gives %g, the new one %g", i, got[i], want[i])
		}
	}
}

// A network of other sizes is no start.
func TestSTRNNStartErrors(t *testing.T) {
	was := smallSTRNN(how(t.TempDir(), 1))
	start := trainedFile(t, was.Run, was.Out)
	for want, change := range map[string]func(*STRNN){
		"4 frames from 6 with 3 latent values": func(m *STRNN) { m.Latent = 4 },
		"train one of the same units":          func(m *STRNN) { m.Units = 13 },
		"want Start":                           func(m *STRNN) { m.Start, m.Ahead = nil, true },
	} {
		m := smallSTRNN(how(t.TempDir(), 1))
		m.Start = start
		change(m)
		if _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// With Ahead, encoder, decoders and residual network stay as they are, and the predictor learns.
func TestSTRNNAhead(t *testing.T) {
	was := smallSTRNN(how(t.TempDir(), 1))
	m := smallSTRNN(how(t.TempDir(), 1))
	m.Start, m.Ahead, m.HeldOut = trainedFile(t, was.Run, was.Out), true, m.Train // the held-out loss shows what the network learns
	file := trainedFile(t, m.Run, m.Out)
	l := must.Get(newSTRNNLoss(m))(t)
	ahead, changed := l.net.ahead(), 0
	for _, p := range slices.Concat(l.net.temporal(), l.net.filter.params()) {
		a, _ := m.Start.Tensor(p.Name)
		b, _ := file.Tensor(p.Name)
		if slices.Contains(ahead, p) {
			if !slices.Equal(a.Data, b.Data) {
				changed++
			}
		} else if !slices.Equal(a.Data, b.Data) {
			t.Errorf("%s changed", p.Name)
		}
	}
	if changed == 0 {
		t.Error("nothing learned")
	}
}

// The manner of a held-out window, and of some of the others, is of the frames up to the last one
// seen, at most strnn.MannerFrames. The network has no manner in some windows.
func TestSTRNNCodes(t *testing.T) {
	m := smallSTRNN(how(t.TempDir(), 1))
	l := must.Get(newSTRNNLoss(m))(t)
	tape := newTape(t)
	rows := make([]int32, len(m.HeldOut.Windows))
	for i := range rows {
		rows[i] = int32(i)
	}
	before := slices.Clone(l.codes(tape, rows, true, 1).Val)
	if !slices.Equal(before, l.codes(tape, rows, true, 2).Val) {
		t.Error("held-out manners are random")
	}
	clip, cols := &m.HeldOut.Clips[m.HeldOut.Windows[0].Clip], m.HeldOut.Layout.Columns()
	for i := (int(m.HeldOut.Windows[0].From) + 2*m.Encode) * cols; i < len(clip.Rows); i++ {
		clip.Rows[i] = 9
	}
	if after := l.codes(tape, rows[:1], true, 1).Val; !slices.Equal(before[:m.Manner], after) {
		t.Error("a held-out manner is of frames that follow")
	}
	none := 0
	for key := range uint64(200) {
		all := l.codes(tape, []int32{1}, false, grad.Hash(key, 1))
		if all.Val[0] == 0 {
			none++
		}
	}
	if none < 10 || none > 60 {
		t.Errorf("%d of 200 windows have no manner, want about %g", none, 200*mannerNone)
	}
}
