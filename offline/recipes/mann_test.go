package recipes

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// small returns a set of made-up rows over five joints, of which only the head belongs to no leg.
// Outputs are smooth functions of the inputs, so the network can learn them.
func small(rows, from int, clip string) *dataset.MANN {
	layout := &feature.MANN{Joints: []string{"Hips", "Neck", "Tail", "Tip", "Head"}, Tips: []string{"Neck", "Tip"}, Actions: []string{"idle", "move"}, Phases: true}
	m := &dataset.MANN{
		Layout: layout,
		Skeleton: &skel.Skeleton{Names: layout.Joints, Parents: []int16{-1, 0, 0, 2, 0},
			Offsets: []m3.Vec3{{}, m3.V(0, 0, 0.5), m3.V(0, 0, -0.5), m3.V(0, -0.2, 0), m3.V(0, 0.1, 0.5)}, EndSite: []bool{false, false, false, true, false}},
		Rows: rows, Clips: []string{clip}, Clip: make([]int32, rows), Frame: make([]int32, rows),
	}
	in, out := layout.Inputs(), layout.Outputs()
	for r := range rows {
		phase := float64(r+from) * 0.37
		for c := range in {
			m.X = append(m.X, float32(math.Sin(phase+float64(c))*float64(1+c%3)+5))
		}
		for c := range out {
			m.Y = append(m.Y, float32(math.Cos(phase*float64(1+c%2))-2))
		}
		m.Order = append(m.Order, int32(r))
		m.Frame[r] = int32(r)
	}
	m.Order = append(m.Order, 0, 0, 1)
	fill := func(n int, v float32) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = v
		}
		return s
	}
	m.XMean, m.XStd, m.YMean, m.YStd = fill(in, 5), fill(in, 1.5), fill(out, -2), fill(out, 0.7)
	return m
}

func smallRecipe(t *testing.T) *MANN {
	m := PaperMANN()
	m.Train, m.HeldOut = small(64, 0, "walk"), small(20, 1000, "run")
	m.Experts, m.Hidden, m.GatingHidden, m.Batch, m.Epochs = 3, 16, 8, 8, 4
	m.AdamW.Rate = 3e-3
	m.Threads = 2
	dir := t.TempDir()
	m.Checkpoint, m.Out = filepath.Join(dir, "m.ckpt"), filepath.Join(dir, "m.safetensors")
	m.Every = time.Hour
	m.Log = slog.New(slog.DiscardHandler)
	m.Now = func() time.Time { return time.Unix(0, 0) }
	return &m
}

func mustRun(t *testing.T, m *MANN) *train.Report {
	t.Helper()
	r := must.Get(m.Run(context.Background()))(t)
	return r
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b := must.Get(os.ReadFile(path))(t)
	return b
}

// The model file computes from raw rows what the trained network computes from normalised ones.
func TestModelComputesWhatWasTrained(t *testing.T) {
	m := smallRecipe(t)
	rep := mustRun(t, m)
	if !(rep.Best < 0.9*rep.Initial) {
		t.Errorf("held-out loss fell from %v to %v only", rep.Initial, rep.Best)
	}
	n := must.Get(netruntime.Open(m.Out))(t)
	set := m.HeldOut
	in, out := set.Layout.Inputs(), set.Layout.Outputs()
	s := must.Get(n.NewSession(netruntime.SessionOptions{Batch: set.Rows, Workers: 1}))(t)
	defer s.Close()
	y := make([]float32, set.Rows*out)
	if err := s.Run(y, set.X, set.Rows); err != nil {
		t.Fatal(err)
	}
	// The loss of the file's outputs is the reported one.
	var sum float64
	for i, v := range y {
		d := float64(v-set.Y[i]) / float64(set.YStd[i%out])
		sum += d * d
	}
	if got := sum / float64(len(y)); math.Abs(got/rep.Best-1) > 1e-4 {
		t.Errorf("held-out loss of the model file is %v, the report says %v", got, rep.Best)
	}
	// The trainer's network with the best weights gives the same rows.
	net := newMANNNet(in, out, m.Experts, m.Hidden, m.GatingHidden, set.Layout.Gating())
	if err := net.copyTensors(n); err != nil {
		t.Fatal(err)
	}
	tape := newTape(t)
	x := tape.Const(set.Rows, in)
	for r := range set.Rows {
		newNormalised(set).input(x.Val[r*in:], r)
	}
	want, omega := net.forward(tape, x, 1, 0)
	for i := range y {
		if w := want.Val[i]*set.YStd[i%out] + set.YMean[i%out]; math.Abs(float64(y[i]-w)) > 2e-5 {
			t.Fatalf("output %d of the model file is %v, the trainer's %v", i, y[i], w)
		}
	}
	for i, g := range s.Gating() {
		if math.Abs(float64(g-omega.Val[i])) > 1e-5 {
			t.Fatalf("gating %d of the model file is %v, the trainer's %v", i, g, omega.Val[i])
		}
	}
}

func TestModelSaysWhatItIs(t *testing.T) {
	m := smallRecipe(t)
	m.Curves = filepath.Join(t.TempDir(), "loss")
	rep := mustRun(t, m)
	if csv := string(read(t, m.Curves+".csv")); strings.Count(csv, "\n") != m.Epochs+2 {
		t.Errorf("loss curve of %d epochs:\n%s", m.Epochs, csv)
	}
	n := must.Get(netruntime.Open(m.Out))(t)
	meta := n.Meta()
	if meta.Arch != "mann" || meta.SchemaHash != m.Train.Layout.Hash() || !strings.Contains(meta.License, "unknown") {
		t.Errorf("metadata %+v", meta)
	}
	for _, want := range []string{"run", "3 experts", "first of 11 epochs"} {
		if !strings.Contains(meta.Card+meta.Data, want) {
			t.Errorf("the card does not mention %q:\n%s", want, meta.Card)
		}
	}
	if !strings.Contains(meta.Metrics, "held_out_loss") || rep.BestEpoch < 1 {
		t.Errorf("metrics %s", meta.Metrics)
	}
	model := must.Get(mann.NewModel(n))(t)
	if model.Skel.Len() != 5 || model.Layout.Hash() != m.Train.Layout.Hash() {
		t.Errorf("the runtime reads %d joints", model.Skel.Len())
	}
	dog := sourceOf(&dataset.MANN{Clips: []string{"D1_001_KAN01_001", "D1_ex01_KAN02_001"}})
	if dog.License != "CC BY-NC 4.0" || dog.Name != "dog" {
		t.Errorf("the authors' recordings: %+v", dog)
	}
	// A folder's own description comes first.
	back := dataset.MANN{Clips: []string{"D1_001_KAN01_001", "D1_001_KAN01_001 reversed"}, Reversed: 1}
	if got := sourceOf(&back); !strings.HasPrefix(got.Data, "1 motion capture recordings") {
		t.Errorf("a recording backward in time counts as another: %s", got.Data)
	}
	free := sourceOf(&dataset.MANN{Clips: []string{"D1_001_KAN01_001"}, Source: &dataset.Source{Name: "tin-dog", Data: "walks", License: "CC0-1.0", Limits: "No tail."}})
	if free.Name != "tin-dog" || free.Data != "walks" || free.License != "CC0-1.0" || free.Limits != "No tail." {
		t.Errorf("a folder that says what it is: %+v", free)
	}
}

// An interrupted and resumed run with another number of workers writes the same file.
func TestModelBytes(t *testing.T) {
	whole := smallRecipe(t)
	mustRun(t, whole)
	want := read(t, whole.Out)
	for _, stop := range []int{3, 20} {
		m := smallRecipe(t)
		ctx, cancel := context.WithCancel(context.Background())
		steps := 0
		m.Progress = func(train.Progress) {
			if steps++; steps == stop {
				cancel()
			}
		}
		rep, err := m.Run(ctx)
		cancel()
		if err != nil || rep.Ended != train.EndInterrupted {
			t.Fatal(rep, err)
		}
		m.Progress, m.Resume, m.Threads = nil, true, 1
		mustRun(t, m)
		if !bytes.Equal(read(t, m.Out), want) {
			t.Errorf("interrupted after step %d and continued, the model differs", stop)
		}
	}
	// A resumed run that was finished writes its model again, in another type.
	whole.Resume, whole.BF16 = true, true
	mustRun(t, whole)
	if half := read(t, whole.Out); len(half) > len(want)*2/3 {
		t.Errorf("bf16 takes %d bytes, fp32 %d", len(half), len(want))
	}
}

func TestResumeChecksRecipeAndData(t *testing.T) {
	m := smallRecipe(t)
	mustRun(t, m)
	m.Resume = true
	for what, change := range map[string]func(m *MANN){
		"recipe":   func(m *MANN) { m.Seed++ },
		"data set": func(m *MANN) { m.Train = small(64, 1, "walk") },
		"network":  func(m *MANN) { m.Experts++ },
	} {
		c := *m
		change(&c)
		_, err := c.Run(context.Background())
		var mm *train.MismatchError
		if !errors.As(err, &mm) || mm.What != what {
			t.Errorf("another %s: %v", what, err)
		}
	}
}

func TestDataHash(t *testing.T) {
	a := dataHash(small(10, 0, "a"), small(10, 5, "b"))
	if a != dataHash(small(10, 0, "a"), small(10, 5, "b")) {
		t.Error("the hash is not stable")
	}
	for name, change := range map[string]func(m *dataset.MANN){
		"a value":   func(m *dataset.MANN) { m.X[17]++ },
		"an output": func(m *dataset.MANN) { m.Y[17]++ },
		"a mean":    func(m *dataset.MANN) { m.XMean[1]++ },
		"the order": func(m *dataset.MANN) { m.Order = m.Order[1:] },
	} {
		m := small(10, 0, "a")
		change(m)
		if dataHash(m, small(10, 5, "b")) == a {
			t.Errorf("changing %s does not change the hash", name)
		}
	}
}

func TestInit(t *testing.T) {
	n := newMANNNet(480, 363, 8, 512, 32, make([]int, 19))
	n.init(1)
	for _, c := range []struct {
		w     []float32
		bound float64
	}{
		{n.gatingW[0].Val, math.Sqrt(6.0 / (19 + 32))}, {n.gatingW[2].Val, math.Sqrt(6.0 / (32 + 8))},
		{n.expertW[0].Val, math.Sqrt(6.0 / (480 * 512))}, {n.expertW[2].Val, math.Sqrt(6.0 / (512 * 363))},
	} {
		var mean, sq, top float64
		for _, v := range c.w {
			mean += float64(v)
			sq += float64(v) * float64(v)
			top = max(top, math.Abs(float64(v)))
		}
		k := float64(len(c.w))
		// A uniform distribution has the variance bound²/3, its square 4·bound⁴/45.
		if top > c.bound || math.Abs(mean/k) > 5*c.bound/math.Sqrt(3*k) || math.Abs(sq/k-c.bound*c.bound/3) > 5*c.bound*c.bound*math.Sqrt(4/45.0/k) {
			t.Errorf("bound %v: largest %v, mean %v, variance %v of %v", c.bound, top, mean/k, sq/k, c.bound*c.bound/3)
		}
	}
	if total := func() (s int) {
		for _, p := range n.params() {
			s += len(p.Val)
		}
		return s
	}(); total != 8*(480*512+512*512+363*512+512+512+363)+19*32+32+32*32+32+32*8+8 {
		t.Errorf("%d parameters", total)
	}
	m := newMANNNet(480, 363, 8, 512, 32, make([]int, 19))
	m.init(2)
	if m.expertW[0].Val[0] == n.expertW[0].Val[0] {
		t.Error("the seed changes nothing")
	}
}

// Sets without windows are refused.
func TestNoRows(t *testing.T) {
	m := smallRecipe(t)
	m.HeldOut = small(0, 0, "none")
	if _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "hold out a recording") {
		t.Error(err)
	}
	m = smallRecipe(t)
	m.Ticks = 40 // the mirrored half begins before
	if _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "fewer ticks") {
		t.Error(err)
	}
}
