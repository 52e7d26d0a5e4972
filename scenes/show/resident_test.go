//go:build webgpu

package show

import (
	"errors"
	"fmt"
	"image"
	"log/slog"
	"strings"
	"testing"
	"time"

	"mannequin/animsys/mann"
	"mannequin/animsys/resident"
	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/engine/stage"
	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/scenes"
	"mannequin/scenes/herd"
	"mannequin/scenes/world"
)

// breaking is OpenGL that has errors once it is broken.
type breaking struct {
	*stage.Compute
	broken bool
}

func (b *breaking) Error() error {
	if b.broken {
		return errors.New("an error of OpenGL")
	}
	return b.Compute.Error()
}

// TestResidentHerdIsDrawn: a herd whose distant dogs live in the stage's OpenGL looks as one that the processor moves, with shadows, and goes on
// there when OpenGL has an error.
func TestResidentHerdIsDrawn(t *testing.T) {
	st, err := stage.Open(stage.Options{Width: 480, Height: 270, Offscreen: true})
	if err != nil {
		t.Skip(err)
	}
	defer st.Close()
	compute, err := st.Compute()
	if err != nil {
		t.Skip("no compute shaders: ", err)
	}
	const n = 16
	m := must.Get(mann.NewModel(must.Get(models.Open("dog"))(t)))(t)
	gl := &breaking{Compute: compute}
	bind := must.Get(body.Stand(&body.Rig{Names: m.Skel.Names, Parents: m.Skel.Parents, Offsets: m.Skel.Offsets}))(t)
	gpu := &resident.Options{OpenGL: gl, Bind: bind, Log: slog.New(slog.DiscardHandler)}
	play := func(w *Show, ticks int) {
		t.Helper()
		in := func() scenes.Input { in := w.WithCamera(scenes.Input{}); in.Ahead = m3.Vec3{}; return in } // nobody freezes out of sight
		for range ticks {
			must.Do(t, w.Advance(time.Second/scenes.TickRate, in))
			must.Do(t, w.Draw(time.Second/scenes.TickRate, nil))
		}
		must.Do(t, w.Advance(15*time.Millisecond, in)) // less than a tick: nearly as of the last one
	}
	// shoot returns the picture of a show, and how it is without its dogs.
	shoot := func(w *Show) (img, none *image.RGBA) {
		t.Helper()
		must.Do(t, w.Draw(0, nil))
		img = must.Get(st.Capture(nil))(t)
		for _, c := range append(w.crowds, w.far...) {
			must.Do(t, c.crowd.Set(nil, nil))
		}
		must.Do(t, st.Draw(stage.View{Focus: w.Frame.Focus}))
		return img, must.Get(st.Capture(nil))(t)
	}
	open := func(beyond float32) *Show {
		t.Helper()
		s := must.Get(herd.New(herd.Options{Options: world.Options{Agents: n, Seed: 5, Workers: 1}, Model: m, Beyond: beyond, GPU: gpu}))(t)
		t.Cleanup(func() { must.Do(t, s.Close()) })
		w := must.Get(New(st, s, 60))(t)
		w.Film = true
		return w
	}

	w := open(0.5)
	play(w, 60)
	far := &w.Frame.Far
	if len(*far) != 1 || len((*far)[0].Hips) != n || w.Frame.Casts[0].Len() != 0 {
		t.Fatalf("%d crowds are far; HUD %q", len(*far), w.Frame.HUD)
	}
	got, bare := shoot(w)
	on := mask(got, bare)

	o := open(0)
	camera := *w.Stage.Camera
	play(o, 60)
	*w.Stage.Camera = camera
	want, bare := shoot(o)
	like := mask(want, bare)
	both, either := 0, 0
	for i := range on {
		if on[i] && like[i] {
			both++
		}
		if on[i] || like[i] {
			either++
		}
	}
	share := float64(both) / float64(max(either, 1))
	t.Logf("%d pixels are dogs or shadows on the GPU or on the processor, %.1f %% on both", either, 100*share)
	if either < 3000 || share < 0.8 {
		t.Error("they look otherwise")
	}

	gl.broken = true
	play(w, 10)
	back, bare := shoot(w)
	if len(w.Frame.Far) != 0 || len(w.Frame.Casts) != 1 || w.Frame.Casts[0].Len() != n || !strings.Contains(w.Frame.HUD[0], "all on the processor") {
		t.Errorf("after the loss %d crowds are far, %d casts; HUD %q", len(w.Frame.Far), len(w.Frame.Casts), w.Frame.HUD)
	}
	pixels, before := 0, 0
	for i, is := range mask(back, bare) {
		if is {
			pixels++
		}
		if on[i] {
			before++
		}
	}
	if pixels < before*8/10 || pixels > before*12/10 {
		t.Errorf("%d pixels are dogs or shadows after the loss, %d before", pixels, before)
	}
}

// mask returns which pixels of two pictures differ clearly.
func mask(a, b *image.RGBA) []bool {
	differ := make([]bool, len(a.Pix)/4)
	for i := range differ {
		for k := range 3 {
			if d := int(a.Pix[4*i+k]) - int(b.Pix[4*i+k]); d > 12 || d < -12 {
				differ[i] = true
			}
		}
	}
	return differ
}

// BenchmarkResidentHerd takes a tick and a picture of a herd: with all dogs on the processor, of which distant ones update less often, and with
// those farther than 15 m from the camera in the stage's OpenGL. The time of the tick until the processor goes on is tick-ms.
func BenchmarkResidentHerd(b *testing.B) {
	open := func(name string) *mann.Model {
		return must.Get(mann.NewModel(must.Get(models.Open(name))(b)))(b)
	}
	m, strides := open("dog"), []*mann.Model{open("dog-stride2"), open("dog-stride4")}
	for _, n := range []int{64, 250} {
		for _, beyond := range []float32{0, 15} {
			b.Run(fmt.Sprintf("agents=%d/%s", n, map[bool]string{false: "processor", true: "gpu"}[beyond > 0]), func(b *testing.B) {
				st, err := stage.Open(stage.Options{Width: 640, Height: 360, Offscreen: true})
				if err != nil {
					b.Skip(err)
				}
				defer st.Close()
				compute, err := st.Compute()
				if err != nil {
					b.Skip("no compute shaders: ", err)
				}
				bind := must.Get(body.Stand(&body.Rig{Names: m.Skel.Names, Parents: m.Skel.Parents, Offsets: m.Skel.Offsets}))(b)
				s := must.Get(herd.New(herd.Options{Options: world.Options{Agents: n, Seed: 5}, Model: m, Far: strides, Beyond: beyond,
					GPU: &resident.Options{OpenGL: compute, Bind: bind, Log: slog.New(slog.DiscardHandler)}}))(b)
				defer s.Close()
				w := must.Get(New(st, s, 60))(b)
				start := time.Now()
				w.Film, w.Now = true, func() time.Duration { return time.Since(start) }
				var img *image.RGBA
				frame := func() {
					must.Do(b, w.Advance(time.Second/scenes.TickRate, func() scenes.Input { return w.WithCamera(scenes.Input{}) }))
					must.Do(b, w.Draw(time.Second/scenes.TickRate, nil))
					img = must.Get(st.Capture(img))(b)
				}
				for range 60 { // until distant dogs have gone to the GPU
					frame()
				}
				least := time.Hour // on a busy machine the mean is the others'
				for b.Loop() {
					begin := time.Now()
					frame()
					least = min(least, time.Since(begin))
				}
				b.ReportMetric(1000*least.Seconds(), "least-ms")
				b.ReportMetric(float64(w.TickTime()), "tick-ms")
				away := 0
				for _, f := range w.Frame.Far {
					for _, h := range f.Hips {
						if h.Pos.Finite() {
							away++
						}
					}
				}
				b.ReportMetric(float64(away), "on-gpu")
			})
		}
	}
}
