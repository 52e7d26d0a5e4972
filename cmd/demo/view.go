package main

import (
	"context"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"time"

	"golang.org/x/term"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/engine/media"
	"mannequin/engine/stage"
	"mannequin/internal/command"
	"mannequin/scenes"
	"mannequin/scenes/show"
)

// newShow puts a scene on a stage.
func newShow(o options, st *stage.Stage, s scenes.Scene, stderr io.Writer) (*show.Show, *export, error) {
	v, err := show.New(st, s, o.fps)
	if err != nil {
		return nil, nil, err
	}
	if err := wear(v, o.skins, stderr); err != nil {
		return nil, nil, err
	}
	if lack := o.overlays &^ (v.Frame.Has | hud.Times); lack != 0 {
		return nil, nil, command.Usagef("--show: the scene %s has no %s", o.setup.Scene, lack)
	}
	v.Frame.Show = o.overlays
	start := time.Now()
	v.Now = func() time.Duration { return time.Since(start) }
	if o.taped != nil {
		v.Scene = o.taped
	}
	x := &export{path: o.bvh}
	if from, ok := s.(scenes.Exporter); ok {
		v.Stepped = func() { x.take(from) }
	}
	return v, x, nil
}

// run runs the scene in the window until it is closed.
func run(ctx context.Context, o options, st *stage.Stage, s scenes.Scene, stderr io.Writer) error {
	v, x, err := newShow(o, st, s, stderr)
	if err != nil {
		return err
	}
	v.Choices = true
	if v.Budget, err = o.newBudget(); err != nil {
		return err
	}
	start := time.Now()
	last, smooth := start, 1.0/60
	for ctx.Err() == nil {
		c := st.Poll()
		now := time.Now()
		dt := now.Sub(last)
		last = now
		if c.Quit || (o.seconds > 0 && time.Since(start).Seconds() >= o.seconds) {
			return nil
		}
		if err := v.Play(c, dt, nil); err != nil {
			return err
		}
		if c.Hidden {
			continue
		}
		smooth += 0.05 * (dt.Seconds() - smooth)
		if err := v.Draw(dt, v.Help(), x.lines(fmt.Sprintf("%.0f frames/s, %.1f ms a tick", 1/smooth, v.TickTime()))...); err != nil {
			return err
		}
		st.Present()
	}
	return nil
}

// record renders o.seconds of the scene into o.out.
func record(ctx context.Context, o options, st *stage.Stage, s scenes.Scene, player scenes.Script, stderr io.Writer) error {
	v, x, err := newShow(o, st, s, stderr)
	if err != nil {
		return err
	}
	v.Film = v.Frame.Shot.On
	tick := int64(0)
	f := film{
		label: o.out,
		input: func() scenes.Input {
			in := player.At(tick)
			tick++
			return v.WithCamera(avoid(in, &v.Frame))
		},
		draw: func(t float64, dt time.Duration) error {
			frameCamera(st.Camera, v.Frame.Seat, t, dt.Seconds())
			return v.Draw(dt, v.Frame.Help, x.lines()...)
		},
	}
	return f.render(ctx, o, v, stderr)
}

// film is how a recording moves, draws and uses its frames.
type film struct {
	label string // of the progress line
	input func() scenes.Input
	draw  func(t float64, dt time.Duration) error
	frame func(i, frames int, t float64, img *image.RGBA) // may be nil
}

// render renders o.seconds of v into o.out.
func (f *film) render(ctx context.Context, o options, v *show.Show, stderr io.Writer) (err error) {
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("stopped; %s was not written", o.out)
		}
	}()
	w, err := media.Create(ctx, o.out, media.Options{Width: o.width, Height: o.height, FPS: o.fps})
	if err != nil {
		return err
	}
	defer w.Abort()
	frames := max(int(math.Round(o.seconds*float64(o.fps))), 1)
	progress := newProgress(stderr, f.label, frames)
	defer progress.end()
	var img *image.RGBA
	at := func(i int) time.Duration { return time.Duration(i) * time.Second / time.Duration(o.fps) }
	for i := range frames {
		if err := ctx.Err(); err != nil {
			return err
		}
		dt := at(i+1) - at(i)
		if err := v.Advance(dt, f.input); err != nil {
			return err
		}
		if err := f.draw(at(i).Seconds(), dt); err != nil {
			return err
		}
		if img, err = v.Stage.Capture(img); err != nil {
			return err
		}
		if err := w.Frame(img); err != nil {
			return err
		}
		if f.frame != nil {
			f.frame(i, frames, at(i).Seconds(), img)
		}
		progress.at(i + 1)
	}
	return w.Close()
}

// frameCamera moves the camera of a recording: it swings around the dog, so that the legs are seen
// from the side, or around the herd.
func frameCamera(c *stage.Camera, seat scenes.Seat, t, dt float64) {
	if seat.Overview {
		c.Orbit(float32(0.12*dt), 0)
		return
	}
	c.Aside = 1.0 + 0.45*float32(math.Sin(0.5*t))
	if seat != (scenes.Seat{}) {
		c.Distance, c.Pitch = seat.Distance+0.7*float32(math.Sin(0.37*t)), seat.Pitch-0.05
		return
	}
	c.Distance = 2.8 + 0.4*float32(math.Sin(0.37*t))
	c.Pitch = 0.30
}

// avoid steers the dog of a recording around the other dogs, which the script does not know.
func avoid(in scenes.Input, f *scenes.Frame) scenes.Input {
	const look, wide = 3.0, 0.8 // m ahead, m to either side
	if in.Forward <= 0 || len(f.Casts) == 0 {
		return in
	}
	dogs := &f.Casts[0]
	ahead := m3.YawQuat(f.Heading).Forward()
	left := m3.YawQuat(f.Heading).Rotate(m3.V(1, 0, 0))
	for a := 1; a < dogs.Len(); a++ {
		d := dogs.Of(a)[0].Pos.Sub(f.Focus)
		z, x := d.Dot(ahead), d.Dot(left)
		if z < -0.3 || z > look || m3.Abs(x) > wide {
			continue
		}
		push := 1.5 * (1 - max(z, 0)/look)
		if x > 0 {
			push = -push
		}
		in.Turn += push
	}
	in.Turn = m3.Clamp(in.Turn, -1, 1)
	return in
}

// progress prints the state of a recording to a terminal.
type progress struct {
	w      io.Writer // nil if it is not a terminal
	out    string
	frames int
	start  time.Time
}

func newProgress(w io.Writer, out string, frames int) *progress {
	p := &progress{out: out, frames: frames, start: time.Now()}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.w = w
	}
	return p
}

func (p *progress) at(frame int) {
	if p.w == nil || (frame%10 != 0 && frame != p.frames) {
		return
	}
	left := time.Since(p.start) * time.Duration(p.frames-frame) / time.Duration(frame)
	fmt.Fprintf(p.w, "\rrendering %s: %d of %d frames, %v left \x1b[K", p.out, frame, p.frames, left.Round(time.Second))
}

func (p *progress) end() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
