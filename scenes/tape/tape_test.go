package tape

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testdog"
	"mannequin/internal/testlatent"
	"mannequin/internal/teststrnn"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/playbill"
)

// means opens made-up networks where there are some.
func means(t testing.TB, workers int) playbill.Means {
	return playbill.Means{Workers: workers, Net: func(name string) (*netruntime.Net, error) {
		switch name {
		case "dog":
			return testdog.Net(t), nil
		case "human-strnn":
			return teststrnn.Net(t, teststrnn.Options{Guide: true}), nil
		case "human-latent":
			return testlatent.Model(t).Net, nil
		}
		return models.Open(name)
	}}
}

// setup is a small one of a scene.
func setup(scene string, agents int) playbill.Setup {
	s := playbill.Default(scene)
	s.Agents, s.Seed = agents, 3
	return s
}

// input is what somebody does who tries everything.
func input(tick int) (in scenes.Input) {
	in.Forward, in.Turn = 1, m3.Sin(float32(tick)/20)
	in.Gait = scenes.Gait(tick / 30 % 5)
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
func record(t testing.TB, s playbill.Setup, workers, ticks int, in func(tick int) scenes.Input) []byte {
	t.Helper()
	scene, _, h, err := OpenScene(s, means(t, workers))
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
	s, _, h, err := OpenScene(r.Header.Setup, means(t, workers))
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
	for _, scene := range playbill.Scenes {
		t.Run(scene, func(t *testing.T) {
			s := setup(scene, 5)
			if scene == "latent" { // others would need a network that steers
				s.Agents = 0
			}
			file := record(t, s, 2, ticks, input)
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
	h := Header{Machine: "amd64 avx2", Kernels: []string{"avx2"}, Parts: []Part{{"dog", "sha256:1"}, {styles, "sha256:2"}}}
	for want, change := range map[string]func(*Header){
		"": func(*Header) {},
		"family amd64 avx2, this one is amd64 avx512": func(h *Header) { h.Machine, h.Kernels = "amd64 avx512", []string{"avx512"} },
		"run on avx2, avx2_bf16":                      func(h *Header) { h.Kernels = []string{"avx2", "avx2_bf16"} },
		`another "styles"`:                            func(h *Header) { h.Parts[1].Checksum = "sha256:3" },
		`with "dog", which`:                           func(h *Header) { h.Parts[0].Name = "cat" },
		"with 2 models":                               func(h *Header) { h.Parts = append(h.Parts, Part{"cat", ""}) },
	} {
		now := h
		now.Parts = append([]Part(nil), h.Parts...)
		change(&now)
		if err := h.Differs(now); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// The checksums are those of the networks that a scene opens.
	m := means(t, 1)
	_, _, dog, err := OpenScene(setup("crowd", 2), m)
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
	s, _, other, err := OpenScene(setup("crowd", 2), m)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := dog.Differs(other); err == nil || !strings.Contains(err.Error(), `another "dog"`) {
		t.Errorf("another weight: %v", err)
	}
}

// leaves calls f for every number in v.
func leaves(v reflect.Value, name string, f func(v reflect.Value, name string)) {
	if v.Kind() != reflect.Struct {
		f(v, name)
		return
	}
	for i := range v.NumField() {
		leaves(v.Field(i), strings.TrimPrefix(name+"."+v.Type().Field(i).Name, "."), f)
	}
}

// Every field of an input comes back to the bit, and nothing else changes. A field that
// values lacks fails here.
func TestEveryField(t *testing.T) {
	var all []scenes.Input
	var names []string
	leaves(reflect.ValueOf(scenes.Input{}), "", func(_ reflect.Value, name string) { names = append(names, name) })
	for _, name := range names {
		for k := range 4 {
			var in scenes.Input
			leaves(reflect.ValueOf(&in).Elem(), "", func(v reflect.Value, at string) {
				if at != name {
					return
				}
				switch v.Kind() {
				case reflect.Float32:
					*v.Addr().Interface().(*float32) = []float32{1.1, float32(math.Inf(-1)), math.Float32frombits(0x7fa00001), float32(math.Copysign(0, -1))}[k]
				case reflect.Bool:
					v.SetBool(k%2 == 0)
				case reflect.Int:
					v.SetInt([]int64{1, -1, math.MaxInt, math.MinInt}[k])
				case reflect.Uint8:
					v.SetUint([]uint64{1, 255, 128, 65}[k])
				default:
					t.Fatalf("%s is a %v: values, and this test, need that", at, v.Kind())
				}
			})
			all = append(all, in)
		}
	}
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{Setup: playbill.Default("crowd")})
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range all {
		if err := w.Tick(in, uint64(i)*0x9e3779b97f4a7c15); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range all {
		x, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		same := x.Hash == uint64(i)*0x9e3779b97f4a7c15
		leaves(reflect.ValueOf(&in).Elem(), "", func(v reflect.Value, at string) {
			got := reflect.ValueOf(&x.Input).Elem()
			for _, n := range strings.Split(at, ".") {
				got = got.FieldByName(n)
			}
			if v.Kind() == reflect.Float32 {
				a, b := v.Addr().Interface().(*float32), got.Addr().Interface().(*float32)
				same = same && math.Float32bits(*a) == math.Float32bits(*b)
			} else {
				same = same && got.Equal(v)
			}
		})
		if !same {
			t.Errorf("%+v came back as %+v", in, x.Input)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the last: %v", err)
	}
}

// Ten minutes of play are a small file. Who watches may move all the time.
func TestSize(t *testing.T) {
	const ticks = 600 * scenes.TickRate
	for name, c := range map[string]struct {
		in   func(tick int) scenes.Input
		most int
	}{
		"keys": {func(i int) scenes.Input { return scenes.Input{Forward: 1, Turn: float32(i / 50 % 3), Jump: i%200 < 20} }, 340 << 10},
		"a camera that moves": {func(i int) scenes.Input {
			s, c := m3.Sin(float32(i)*0.003), m3.Cos(float32(i)*0.003)
			return scenes.Input{Forward: 1, Watched: true, Eye: m3.V(20*s, 1.7+0.1*c, 20*c), Ahead: m3.V(c, -0.2*s, s)}
		}, 1100 << 10},
	} {
		var b bytes.Buffer
		w, err := NewWriter(&b, Header{Setup: playbill.Default("crowd")})
		if err != nil {
			t.Fatal(err)
		}
		hash := uint64(1)
		for i := range ticks {
			hash *= 0x9e3779b97f4a7c15
			if err := w.Tick(c.in(i), hash^hash>>32); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		t.Logf("%s: %d KiB", name, b.Len()>>10)
		if b.Len() > c.most {
			t.Errorf("%s: %d bytes, want at most %d", name, b.Len(), c.most)
		}
	}
}

// Recording allocates nothing.
func TestRecordingDoesNotAllocate(t *testing.T) {
	w, err := NewWriter(io.Discard, Header{Setup: playbill.Default("crowd")})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	tick := func() {
		for range 2 * blockTicks {
			w.Tick(input(i), uint64(i))
			i++
		}
	}
	tick()
	if n := testing.AllocsPerRun(3, tick); n > 0 {
		t.Errorf("%g allocations in %d ticks", n, 2*blockTicks)
	}
}

// What cannot be written is told by the tick that cannot, and by all after it.
func TestFull(t *testing.T) {
	full := errors.New("disk full")
	room := 1 << 10
	w, err := NewWriter(writer(func(b []byte) (int, error) {
		if room -= len(b); room < 0 {
			return 0, full
		}
		return len(b), nil
	}), Header{Setup: playbill.Default("crowd")})
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		err = w.Tick(scenes.Input{}, 1<<60)
	}
	if err != full || w.Close() != full {
		t.Errorf("%v", err)
	}
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// A tape that is played takes no notice of its player, tells how far it is, and stands
// still after its end.
func TestPlayer(t *testing.T) {
	s := setup("quadruped", 0)
	file := record(t, s, 1, 20, func(int) scenes.Input { return scenes.Input{Forward: 1} })
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	scene, _, _, err := OpenScene(s, means(t, 1))
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
