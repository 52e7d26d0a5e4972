package tape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testdog"
	"mannequin/internal/testing/testlatent"
	"mannequin/internal/testing/testmatching"
	"mannequin/internal/testing/teststrnn"
	"mannequin/models"
	stylesfree "mannequin/models/styles-free"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/open"
)

// resources opens made-up networks where there are some.
func resources(t testing.TB, workers int) open.Resources {
	character := func(string) (*matching.File, error) { return &matching.File{Database: testmatching.People(t)}, nil }
	return open.Resources{Workers: workers, Styles: stylesfree.Open, Character: character, Net: func(name string) (*netruntime.Net, error) {
		switch name {
		case "dog":
			return testdog.Net(t), nil
		case "human-strnn":
			return teststrnn.Net(t, teststrnn.Options{Guide: true}), nil
		case "made-latent":
			return testlatent.Model(t).Net, nil
		}
		return models.Open(name)
	}}
}

// setup is a small one of a scene.
func setup(scene string, agents int) open.Setup {
	s := open.Default(scene)
	s.Agents, s.Seed, s.Far = agents, 3, nil
	switch scene {
	case "crowd":
		s.Agents, s.Churn = 8, 5
	case "play":
		s.Agents = 0
	case "latent": // others would need a network that steers
		s.Agents, s.Latent = 0, "made-latent"
	}
	return s
}

// input is what somebody does who tries everything.
func input(tick int) (in scenes.Input) {
	in.Forward, in.Turn = 1, m3.Sin(float32(tick)/20)
	in.Gait = scenes.Gait(tick / 30 % 5)
	in.Lock, in.Side = tick/15%2 == 1, m3.Cos(float32(tick)/20)
	in.Own = uint8(tick / 12 % 3)
	in.Sit, in.Jump, in.Reset = tick/25%3 == 1, tick/10%5 == 1, tick == 70
	in.Watched, in.Eye, in.Ahead, in.Saving = true, m3.V(float32(tick)*0.01, 2, -3), m3.V(0, 0, 1), float32(tick/50)/8
	switch {
	case tick%40 == 5:
		in.Touch.Press = 'A'
	case tick%40 == 12:
		in.Touch.Select = -1
	case tick%40 > 20:
		in.Touch.Move = 0.5
	}
	return in
}

// record returns a tape of a scene.
func record(t testing.TB, s open.Setup, workers, ticks int, in func(tick int) scenes.Input) []byte {
	t.Helper()
	scene, _, h, err := OpenScene(s, resources(t, workers))
	if err != nil {
		t.Fatal(err)
	}
	defer scene.Close()
	var b bytes.Buffer
	w, err := NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	rec := Record(scene, w)
	for i := range ticks {
		if err := rec.Step(in(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// verify plays a tape with its scene.
func verify(t testing.TB, file []byte, workers int) (int64, error) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	s, _, h, err := OpenScene(r.Header.Setup, resources(t, workers))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := r.Header.Differs(h); err != nil {
		t.Fatal(err)
	}
	return Verify(context.Background(), s, r)
}

// Every scene does again what was recorded, with any number of workers.
func TestVerify(t *testing.T) {
	const ticks = 100
	for _, scene := range open.Names {
		t.Run(scene, func(t *testing.T) {
			file := record(t, setup(scene, 5), 2, ticks, input)
			for _, workers := range []int{1, 3} {
				if n, err := verify(t, file, workers); n != ticks || err != nil {
					t.Errorf("%d workers: %d ticks, %v", workers, n, err)
				}
			}
		})
	}
}

// An input that is another is found at its tick; so is a number in one bone.
func TestMismatch(t *testing.T) {
	s := setup("quadruped", 2)
	file := record(t, s, 1, 80, func(tick int) scenes.Input { return scenes.Input{Forward: 1} })
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := NewWriter(&b, r.Header)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 80 {
		x, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if i == 63 {
			x.Input.Gait = scenes.Canter
		}
		if err := w.Tick(x.Input, x.Hash); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	n, err := verify(t, b.Bytes(), 1)
	var wrong *MismatchError
	if !errors.As(err, &wrong) || wrong.Tick != 63 || n != 63 || !strings.Contains(err.Error(), "tick 63, at 1.05 s") {
		t.Errorf("%d ticks, %v", n, err)
	}
}

// Another network, another machine are told before anything is played.
func TestDiffers(t *testing.T) {
	h := Header{Machine: "float32", Kernels: []string{"avx2"}, Parts: []Part{{"dog", "sha256:1"}, {styles, "sha256:2"}}}
	for want, change := range map[string]func(*Header){
		"": func(h *Header) { h.Kernels = []string{"avx512", "generic"} },
		"in float32, this one does in float32 with fused operations of arm64": func(h *Header) { h.Machine = "float32 with fused operations of arm64" },
		"run in avx512_bf16, float32":                                         func(h *Header) { h.Kernels = []string{"avx2", "avx512_bf16"} },
		`another "styles"`:                                                    func(h *Header) { h.Parts[1].Checksum = "sha256:3" },
		`with "dog", which`:                                                   func(h *Header) { h.Parts[0].Name = "cat" },
		"with 2 models":                                                       func(h *Header) { h.Parts = append(h.Parts, Part{"cat", ""}) },
	} {
		now := h
		now.Parts = append([]Part(nil), h.Parts...)
		change(&now)
		if err := h.Differs(now); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// The checksums are those of the networks that a scene opens.
	m := resources(t, 1)
	_, _, dog, err := OpenScene(setup("herd", 2), m)
	if err != nil {
		t.Fatal(err)
	}
	net := m.Net
	m.Net = func(name string) (*netruntime.Net, error) {
		n, err := net(name)
		if err != nil {
			return nil, err
		}
		ts := n.Tensors()
		ts[len(ts)-1].Data[0] += 0.001
		return netruntime.New(n.Meta(), ts)
	}
	s, _, other, err := OpenScene(setup("herd", 2), m)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := dog.Differs(other); err == nil || !strings.Contains(err.Error(), `another "dog"`) {
		t.Errorf("another weight: %v", err)
	}
}

// Another character than the recorded one is told.
func TestOtherCharacter(t *testing.T) {
	m := resources(t, 1)
	_, _, person, err := OpenScene(setup("play", 0), m)
	if err != nil {
		t.Fatal(err)
	}
	m.Character = func(string) (*matching.File, error) { return &matching.File{Database: testmatching.Dogs(t)}, nil }
	_, _, dog, err := OpenScene(setup("play", 0), m)
	if err != nil {
		t.Fatal(err)
	}
	if err := person.Differs(dog); err == nil || !strings.Contains(err.Error(), `another "the character that rules make"`) {
		t.Errorf("another character: %v", err)
	}
}

// A tape that is played takes no notice of its player, tells how far it is, and stands
// still after its end.
func TestPlayer(t *testing.T) {
	s := setup("quadruped", 0)
	file := record(t, s, 1, 20, func(int) scenes.Input { return scenes.Input{Forward: 1} })
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	scene, _, _, err := OpenScene(s, resources(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer scene.Close()
	p := Play(scene, r)
	for range 20 {
		if p.Over {
			t.Fatal("it is over too soon")
		}
		if err := p.Step(scenes.Input{Reset: true, Sit: true}); err != nil {
			t.Fatal(err)
		}
	}
	hash := p.Hash()
	if err := p.Step(scenes.Input{}); err != nil || !p.Over || p.Ticks != 20 || p.Wrong != nil || p.Hash() != hash {
		t.Errorf("after its end: %+v, %v", p, err)
	}
	var half, whole scenes.Frame
	p.Frame(&half, 0.5)
	scene.Frame(&whole, 1)
	if half.Casts[0].Bones[0] != whole.Casts[0].Bones[0] || len(half.Help) > 0 || half.HUD[len(half.HUD)-1] != "replay: 0.3 s, the end" {
		t.Errorf("it shows %v, %q, %q", half.Casts[0].Bones[0], half.HUD, half.Help)
	}
	p.Wrong = &MismatchError{Tick: 6}
	p.Frame(&half, 0.5)
	if got := half.HUD[len(half.HUD)-1]; !strings.Contains(got, "not as recorded since 0.1 s") {
		t.Errorf("%q", got)
	}
}

// What a setup says is on the tape, also where it says nothing or no.
func TestSetupsAreWhole(t *testing.T) {
	for _, scene := range open.Names {
		for _, s := range []open.Setup{open.Default(scene), {Scene: scene, Agents: min(1, open.Default(scene).Agents), Terrain: "flat"}} {
			var b bytes.Buffer
			w, err := NewWriter(&b, Header{Setup: s})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := NewReader(&b)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Header.Setup; !reflect.DeepEqual(got, s) && !(len(got.Far) == 0 && len(s.Far) == 0 && fmt.Sprint(got) == fmt.Sprint(s)) {
				t.Errorf("%s: the tape says %+v, it began with %+v", scene, got, s)
			}
		}
	}
}
