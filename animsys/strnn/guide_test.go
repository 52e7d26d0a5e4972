package strnn_test

import (
	"fmt"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/internal/teststrnn"
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
	return strnn.New(net)
}

// A guide that is learnt is the same for any number of workers, fits a model file, and
// leads people.
func TestLearnGuide(t *testing.T) {
	learn := func(workers int) string {
		told := 0
		g, err := teststrnn.Model(t, teststrnn.Options{}).LearnGuide(strnn.GuideOptions{People: 30, Windows: 13, Rounds: 2, Draws: 2, Steps: 1, Workers: workers, Seed: 3, Tell: func(done, all int) {
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
	s, err := m.NewStream(strnn.StreamOptions{People: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Add(feature.Place{}); err != nil {
		t.Fatal(err)
	}
	s.Wanders[0].Speed = 1
	for range 60 {
		if err := s.Continue(); err != nil {
			t.Fatal(err)
		}
		s.Advance(0, 1)
	}
	if at := s.Where(0).Pos.Z; at < 0.5 || at > 1.2 || s.Lost() > 0 {
		t.Errorf("in a second somebody goes %g m; %d windows were lost", at, s.Lost())
	}
}

func TestGuideRefuses(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{})
	for want, o := range map[string]strnn.GuideOptions{
		"workers":          {},
		"none less than 0": {Workers: 1, Rounds: -1},
		"want more":        {Workers: 1, People: 2, Windows: 5, Rounds: 1, Draws: 1, Steps: 1},
		"stopped":          {Workers: 1, People: 2, Draws: 1, Steps: 1, Stop: func() bool { return true }},
	} {
		if _, err := m.LearnGuide(o); err == nil || !strings.Contains(err.Error(), want) {
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
