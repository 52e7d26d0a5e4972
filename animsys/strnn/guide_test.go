package strnn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/teststrnn"
	"mannequin/netruntime"
)

// withGuide returns the test model with text as its guide.
func withGuide(t *testing.T, text string) (*strnn.Model, error) {
	t.Helper()
	was := teststrnn.Model(t, teststrnn.Options{}).Net
	meta := was.Meta()
	meta.Extra[strnn.KeyGuide] = text
	net := must.Get(netruntime.New(meta, was.Tensors()))(t)
	return strnn.NewModel(net)
}

// A trained guide is the same for any number of workers, survives a model file and steers agents.
func TestTrainGuide(t *testing.T) {
	train := func(workers int) string {
		calls := 0
		g, err := teststrnn.Model(t, teststrnn.Options{}).TrainGuide(strnn.GuideOptions{People: 30, Windows: 13,
			Rounds: 2, Samples: 2, Steps: 1, Workers: workers, Seed: 3, Progress: func(done, all int) {
				if calls++; done != calls || all != 26 {
					t.Errorf("progress %d of %d, want %d of 26", done, all, calls)
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		if calls != 26 {
			t.Errorf("%d calls of Progress", calls)
		}
		text := must.Get(g.Encode())(t)
		return text
	}
	text := train(1)
	if train(3) != text {
		t.Error("3 workers train another guide")
	}
	m := must.Get(withGuide(t, text))(t)
	if again, _ := m.Guide.Encode(); again != text {
		t.Error("the guide changes in its file")
	}
	s := must.Get(play(m.NewStream(strnn.StreamOptions{Capacity: 1, Workers: 1})))(t)
	defer s.Close()
	must.Get(s.Add(feature.Place{}, nil))(t)
	s.Controls()[0].Speed = 1
	for range 60 {
		must.Do(t, s.Continue())
		s.Advance(0, 1)
	}
	if at := s.Root(0).Pos.Z; at < 0.5 || at > 1.2 || s.Discarded() > 0 {
		t.Errorf("in a second an agent moves %g m; %d windows were discarded", at, s.Discarded())
	}
}

func TestGuideRefuses(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{})
	for want, o := range map[string]strnn.GuideOptions{
		"workers":          {Workers: -1},
		"none less than 0": {Workers: 1, Rounds: -1},
		"want more":        {Workers: 1, People: 2, Windows: 5, Rounds: 1, Samples: 1, Steps: 1},
		"stopped":          {Workers: 1, People: 2, Samples: 1, Steps: 1, Stop: func() bool { return true }},
	} {
		must.Fail(m.TrainGuide(o))(t, want)
	}
	n := strnn.GuideInputs(m.Layout)
	numbers := func(n int, v string) string { return "[" + strings.TrimSuffix(strings.Repeat(v+",", n), ",") + "]" }
	text := func(mean, scale, bias, weight string) string {
		return fmt.Sprintf(`{"mean":%s,"scale":%s,"bias":%s,"weight":%s}`, mean, scale, bias, weight)
	}
	whole := [4]string{numbers(n, "1"), numbers(n, "2"), numbers(teststrnn.Latent, "0"), numbers(4*n*teststrnn.Latent, "0")}
	if _, err := withGuide(t, text(whole[0], whole[1], whole[2], whole[3])); err != nil {
		t.Error(err)
	}
	for want, got := range map[string]string{
		"no guide":        "1",
		"weights, want":   text(whole[0], whole[1], whole[2], numbers(n, "0")),
		"not finite":      text(whole[0], whole[1], numbers(teststrnn.Latent, "1e30"), whole[3]),
		"deviation of 0 ": text(whole[0], numbers(n, "0"), whole[2], whole[3]),
	} {
		must.Fail(withGuide(t, got))(t, want)
	}
}

// A controller takes the best of the given samples, wherever a motion is in the batch. Frames that are
// not finite do not affect other motions.
func TestControllerTriesGivenSamples(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	const n, samples = 3, 4
	c := must.Get(m.NewController(strnn.ControllerOptions{Batch: n, Samples: samples, Workers: 2}))(t)
	defer c.Close()
	cols := m.Layout.Columns()
	one, size := m.Encode*cols, m.Predict*cols
	seen, latents, body := teststrnn.Seen(t, n, 1), make([]float32, n*samples*m.Latent), make([]float32, n*m.Predict*feature.MotionLen)
	for i := range latents {
		latents[i] = float32(i%7)/4 - 0.75
	}
	next := make([]float32, n*size)
	job := strnn.Control{Body: body, Samples: samples, Latents: latents}
	must.Get(c.Run(next, seen, n, &job))(t)
	p := must.Get(m.NewPredictor(strnn.PredictorOptions{Batch: 1, Samples: samples, Workers: 1}))(t)
	defer p.Close()
	last := next[2*size:]
	must.Do(t, p.Observe(seen[2*one:], 1))
	all := make([]float32, samples*size)
	must.Do(t, p.Next(all, latents[2*samples*m.Latent:], 1, samples))
	found := false
	for w := range samples {
		found = found || slices.Equal(last, all[w*size:][:size])
	}
	if !found {
		t.Error("the frames found belong to none of the given samples")
	}
	alone := make([]float32, size)
	job = strnn.Control{Body: body[:m.Predict*feature.MotionLen], Samples: samples, Latents: latents[2*samples*m.Latent:]}
	if _, err := c.Run(alone, seen[2*one:], 1, &job); err != nil || !slices.Equal(alone, last) {
		t.Errorf("alone, a motion differs from the batch: %v", err)
	}
	for w := range samples { // all samples burst
		latents[w*m.Latent] = 3
	}
	job = strnn.Control{Body: body, Samples: samples, Latents: latents}
	must.Get(c.Run(next, seen, n, &job))(t)
	if v := float64(next[0]); v-v == 0 {
		t.Error("frames that are not finite became finite")
	}
	if !slices.Equal(next[2*size:], last) {
		t.Error("another motion's frames changed the last motion's")
	}
	for want, job := range map[string]strnn.Control{
		"samples and Latents of": {Body: body, Samples: samples, Latents: latents[1:]},
		"weights:":               {Body: body, Samples: samples, Pose: [2][]float32{make([]float32, cols), nil}},
	} {
		must.Fail(c.Run(next, seen, n, &job))(t, want)
	}
	free := strnn.Control{Body: body, Samples: samples, Spread: 1}
	cost := must.Get(c.Run(next, seen, n, &free))(t)
	pose := [2][]float32{make([]float32, cols), make([]float32, cols)}
	pose[0][1], pose[1][1] = 5, 1 // hips, 5 m high
	free.Pose = pose
	if high, err := c.Run(next, seen, n, &free); err != nil || high < cost+10 {
		t.Errorf("hips with a higher goal cost %g, otherwise %g: %v", high, cost, err)
	}
}
