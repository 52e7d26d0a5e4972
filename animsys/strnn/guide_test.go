package strnn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/internal/testing/teststrnn"
	"mannequin/netruntime"
)

// withGuide returns the made-up model with a text in place of its guide.
func withGuide(t *testing.T, text string) (*strnn.Model, error) {
	t.Helper()
	was := teststrnn.Model(t, teststrnn.Options{}).Net
	meta := was.Meta()
	meta.Extra[strnn.KeyGuide] = text
	net, err := netruntime.New(meta, was.Tensors())
	if err != nil {
		t.Fatal(err)
	}
	return strnn.NewModel(net)
}

// A guide that is learnt is the same for any number of workers, fits a model file, and
// leads people.
func TestLearnGuide(t *testing.T) {
	learn := func(workers int) string {
		told := 0
		g, err := teststrnn.Model(t, teststrnn.Options{}).TrainGuide(strnn.GuideOptions{People: 30, Windows: 13, Rounds: 2, Samples: 2, Steps: 1, Workers: workers, Seed: 3, Progress: func(done, all int) {
			if told++; done != told || all != 26 {
				t.Errorf("told of %d windows of %d, want %d of 26", done, all, told)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if told != 26 {
			t.Errorf("told %d times", told)
		}
		text, err := g.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	text := learn(1)
	if learn(3) != text {
		t.Error("with 3 workers another guide is learnt")
	}
	m, err := withGuide(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := m.Guide.Encode(); again != text {
		t.Error("what is read is not what was written")
	}
	s, err := play(m.NewStream(strnn.StreamOptions{People: 1, Workers: 1}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Add(feature.Place{}, nil); err != nil {
		t.Fatal(err)
	}
	s.Controls()[0].Speed = 1
	for range 60 {
		if err := s.Continue(); err != nil {
			t.Fatal(err)
		}
		s.Advance(0, 1)
	}
	if at := s.Root(0).Pos.Z; at < 0.5 || at > 1.2 || s.Discarded() > 0 {
		t.Errorf("in a second somebody goes %g m; %d windows were lost", at, s.Discarded())
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
		if _, err := m.TrainGuide(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
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
		if _, err := withGuide(t, got); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// A controller tries the ways that it is given, wherever a motion is among others, and
// takes the one that is most as asked; frames that are not finite stay their owner's.
func TestControllerTriesGivenWays(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	const n, draws = 3, 4
	c, err := m.NewController(strnn.ControllerOptions{Batch: n, Samples: draws, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cols := m.Layout.Columns()
	one, size := m.Encode*cols, m.Predict*cols
	seen, ways, body := teststrnn.Seen(t, n, 1), make([]float32, n*draws*m.Latent), make([]float32, n*m.Predict*feature.MotionLen)
	for i := range ways {
		ways[i] = float32(i%7)/4 - 0.75
	}
	next := make([]float32, n*size)
	job := strnn.Control{Body: body, Samples: draws, Latents: ways}
	if _, err := c.Run(next, seen, n, &job); err != nil {
		t.Fatal(err)
	}
	p, err := m.NewPredictor(strnn.PredictorOptions{Batch: 1, Samples: draws, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	last := next[2*size:]
	if err := p.Observe(seen[2*one:], 1); err != nil {
		t.Fatal(err)
	}
	all := make([]float32, draws*size)
	if err := p.Next(all, ways[2*draws*m.Latent:], 1, draws); err != nil {
		t.Fatal(err)
	}
	found := false
	for w := range draws {
		found = found || slices.Equal(last, all[w*size:][:size])
	}
	if !found {
		t.Error("the frames found are of none of the ways given")
	}
	alone := make([]float32, size)
	job = strnn.Control{Body: body[:m.Predict*feature.MotionLen], Samples: draws, Latents: ways[2*draws*m.Latent:]}
	if _, err := c.Run(alone, seen[2*one:], 1, &job); err != nil || !slices.Equal(alone, last) {
		t.Errorf("alone, a motion goes on otherwise than among others: %v", err)
	}
	for w := range draws { // all ways burst
		ways[w*m.Latent] = 3
	}
	job = strnn.Control{Body: body, Samples: draws, Latents: ways}
	if _, err := c.Run(next, seen, n, &job); err != nil {
		t.Fatal(err)
	}
	if v := float64(next[0]); v-v == 0 {
		t.Error("frames that are not finite became others")
	}
	if !slices.Equal(next[2*size:], last) {
		t.Error("another's frames changed those of the last")
	}
	for want, job := range map[string]strnn.Control{
		"ways of":  {Body: body, Samples: draws, Latents: ways[1:]},
		"weights:": {Body: body, Samples: draws, Pose: [2][]float32{make([]float32, cols), nil}},
	} {
		if _, err := c.Run(next, seen, n, &job); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	free := strnn.Control{Body: body, Samples: draws, Spread: 1}
	cost, err := c.Run(next, seen, n, &free)
	if err != nil {
		t.Fatal(err)
	}
	pose := [2][]float32{make([]float32, cols), make([]float32, cols)}
	pose[0][1], pose[1][1] = 5, 1 // hips, 5 m high
	free.Pose = pose
	if high, err := c.Run(next, seen, n, &free); err != nil || high < cost+10 {
		t.Errorf("hips that shall be higher cost %g, else %g: %v", high, cost, err)
	}
}
