package main

import (
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mannequin/engine/draw"
	"mannequin/engine/media"
	"mannequin/engine/stage"
	"mannequin/internal/atomicfile"
	"mannequin/internal/backend"
	"mannequin/internal/command"
	"mannequin/scenes"
	"mannequin/scenes/open"
)

// take is a short video of the reel.
type take struct {
	name, caption string
	terrain       string // "" is flat
	crowd         int    // number of dogs in the scene herd; 0 is one dog in the scene quadruped
	around        bool   // the camera does not turn with the dog, so that all its sides are seen
	player        scenes.Script
}

// reel returns a take of each gait, action and ground. Each begins with half a second of standing.
func reel() []take {
	type in = scenes.Input
	still := scenes.Cue{Seconds: 0.5}
	film := func(cues ...scenes.Cue) scenes.Script { return append(scenes.Script{still}, cues...) }
	going := func(g scenes.Gait, forward float32) in { return in{Forward: forward, Gait: g} }
	const slow = 0.65 // of the walk's speed: 0.5 m/s
	turn := func(side float32) in { return in{Forward: slow, Gait: scenes.Walk, Turn: side} }
	hold := func(i in) scenes.Script { return film(scenes.Cue{Seconds: 3.5, Input: i}, scenes.Cue{Seconds: 2.5}) }
	tour := film(scenes.Cue{Seconds: 3, Input: going(scenes.Pace, 1)}, scenes.Cue{Seconds: 3, Input: going(scenes.Trot, 1)},
		scenes.Cue{Seconds: 3, Input: in{Forward: 1, Turn: 1}}, scenes.Cue{Seconds: 1.5})
	return []take{
		{name: "idle", caption: "idle", player: scenes.Script{{Seconds: 4}}},
		{name: "walk", caption: "walk, 0.5 m/s", player: film(scenes.Cue{Seconds: 5.5, Input: going(scenes.Walk, slow)})},
		{name: "pace", caption: "pace, 1.1 m/s", player: film(scenes.Cue{Seconds: 5, Input: going(scenes.Pace, 1)})},
		{name: "trot", caption: "trot, 2 m/s", player: film(scenes.Cue{Seconds: 4.5, Input: going(scenes.Trot, 1)})},
		{name: "canter", caption: "canter, 3.5 m/s", player: film(scenes.Cue{Seconds: 4.5, Input: going(scenes.Canter, 1)})},
		{name: "turn-left", around: true, caption: "walk and turn left", player: film(scenes.Cue{Seconds: 5, Input: turn(1)})},
		{name: "turn-right", around: true, caption: "walk and turn right", player: film(scenes.Cue{Seconds: 5, Input: turn(-1)})},
		{name: "turn-in-place", around: true, caption: "turn in place, left and right", player: film(scenes.Cue{Seconds: 3, Input: in{Turn: 1}}, scenes.Cue{Seconds: 3, Input: in{Turn: -1}})},
		{name: "backward", caption: "backward", player: film(scenes.Cue{Seconds: 4.5, Input: in{Forward: -1}}, scenes.Cue{Seconds: 1})},
		{name: "sideways", caption: "sideways, left and right", player: film(scenes.Cue{Seconds: 3, Input: in{Side: 1}}, scenes.Cue{Seconds: 3, Input: in{Side: -1}})},
		{name: "jump", caption: "trot and jump, twice", player: film(scenes.Cue{Seconds: 2, Input: going(scenes.Trot, 1)}, scenes.Cue{Seconds: 0.7, Input: in{Forward: 1, Jump: true}},
			scenes.Cue{Seconds: 1.5, Input: in{Forward: 1}}, scenes.Cue{Seconds: 0.7, Input: in{Forward: 1, Jump: true}}, scenes.Cue{Seconds: 1.2, Input: in{Forward: 1}})},
		{name: "sit", caption: "sit down, get up", player: hold(in{Sit: true})},
		{name: "stand", caption: "up on the hind legs, and down", player: hold(in{Stand: true})},
		{name: "lie", caption: "lie down, get up", player: hold(in{Lie: true})},
		{name: "transitions", caption: "transitions", player: film(
			scenes.Cue{Seconds: 1.5, Input: going(scenes.Walk, slow)}, scenes.Cue{Seconds: 1.5, Input: going(scenes.Trot, 1)}, scenes.Cue{Seconds: 1.5, Input: going(scenes.Canter, 1)},
			scenes.Cue{Seconds: 1.5}, scenes.Cue{Seconds: 2, Input: in{Sit: true}}, scenes.Cue{Seconds: 1.5, Input: going(scenes.Pace, 1)},
			scenes.Cue{Seconds: 2, Input: in{Lie: true}}, scenes.Cue{Seconds: 1.5, Input: in{Forward: -1}}, scenes.Cue{Seconds: 2, Input: in{Stand: true}},
			scenes.Cue{Seconds: 1.5, Input: in{Side: 1}}, scenes.Cue{Seconds: 1, Input: in{Jump: true, Forward: 1}}, scenes.Cue{Seconds: 1})},
		{name: "hills", caption: "over hills", terrain: "hills", player: tour},
		{name: "slope", caption: "up a slope of 10 degrees, and across", terrain: "slope", player: tour},
		{name: "stairs", caption: "up stairs, 12 cm each", terrain: "steps", player: film(scenes.Cue{Seconds: 4, Input: going(scenes.Walk, 1)}, scenes.Cue{Seconds: 4, Input: going(scenes.Pace, 1)})},
		{name: "crowd", caption: "a herd of 40", terrain: "hills", crowd: 40, player: scenes.Script{{Seconds: 8}}},
	}
}

func newReel() *cobra.Command {
	o := options{setup: open.Default("quadruped"), backend: backend.CPU, out: filepath.Join("out", "showreel")}
	all := reel()
	var only, names []string
	for _, t := range all {
		names = append(names, t.name)
	}
	c := &cobra.Command{
		Use:   "reel",
		Short: "Record a short video and a contact sheet of each gait, action and ground",
		Example: `  demo reel
  demo reel --model dog-free --out out/free --only walk,trot,sit`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.setup.Far = open.FarOf(o.setup.Model)
			return shoot(cmd.Context(), o, pick(all, only), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&o.setup.Model, "model", "dog", "a shipped model's `name` or a model file")
	command.Output(c, &o.out, "out", command.Folder, "`folder` for the videos and the sheets")
	command.Choices(c, &only, "only", names, "takes to record (default: all)")
	command.Number(c, &o.width, "width", 640, 160, 4096, "picture's width, pixels")
	command.Number(c, &o.height, "height", 360, 90, 4096, "picture's height, pixels")
	command.Number(c, &o.fps, "fps", 30, 1, 60, "frames per second")
	return c
}

// pick returns the takes with the given names in their order, or all.
func pick(takes []take, names []string) []take {
	if len(names) == 0 {
		return takes
	}
	var out []take
	for _, n := range names {
		out = append(out, takes[slices.IndexFunc(takes, func(t take) bool { return t.name == n })])
	}
	return out
}

// shoot records takes into the folder o.out.
func shoot(ctx context.Context, o options, takes []take, stdout, stderr io.Writer) error {
	for i, t := range takes {
		o := o
		o.setup.Scene, o.setup.Agents, o.setup.Terrain, o.seconds = "quadruped", 0, "flat", t.player.Seconds()
		if t.terrain != "" {
			o.setup.Terrain = t.terrain
		}
		if t.crowd > 0 {
			o.setup.Scene, o.setup.Agents = "herd", t.crowd
		}
		ext := ".mp4"
		if media.Check("x"+ext) != nil {
			ext = ".gif"
		}
		base := filepath.Join(o.out, t.name)
		o.out = base + ext
		if err := t.record(ctx, o, base+".png", fmt.Sprintf("%d of %d, ", i+1, len(takes)), stderr); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		fmt.Fprintln(stdout, o.out)
	}
	return nil
}

// Tiles of a contact sheet.
const (
	sheetTiles = 24
	sheetCols  = 6
	tileWidth  = 320
)

// record writes one take's video and contact sheet.
func (t *take) record(ctx context.Context, o options, sheet, count string, stderr io.Writer) error {
	s, _, _, err := o.open(slog.New(slog.NewTextHandler(stderr, nil)))
	if err != nil {
		return err
	}
	defer s.Close()
	st, err := stage.Open(stage.Options{Width: o.width, Height: o.height, Offscreen: true})
	if err != nil {
		return err
	}
	defer st.Close()
	v, _, err := newShow(o, st, s, stderr)
	if err != nil {
		return err
	}
	if t.crowd == 0 {
		// From the side and near, so that paws can be seen, and close by at a canter.
		c := st.Camera
		c.Lag = 0.03
		c.Aside, c.Distance, c.Pitch = 1.35, 1.9, 0.16
		c.Follow, c.Yaw = !t.around, c.Aside
	}
	tick := int64(0)
	tileHigh := tileWidth * o.height / o.width
	var tiles []*image.RGBA
	var times []float64
	f := film{
		label: count + o.out,
		input: func() scenes.Input { tick++; return v.WithCamera(t.player.At(tick - 1)) },
		draw: func(time float64, dt time.Duration) error {
			if t.crowd > 0 {
				frameCamera(st.Camera, v.Frame.Seat, time, dt.Seconds())
			} else {
				// At a constant height above the ground: a dog that sits down stays lower in the
				// picture.
				at := v.Frame.Focus
				st.Camera.Lift = v.Frame.Terrain.Height(at.X, at.Z) + 0.42 - at.Y
			}
			return v.Draw(dt, nil, t.caption)
		},
		// Tiles are spread evenly from the first frame to the last.
		frame: func(i, frames int, time float64, img *image.RGBA) {
			if i*(sheetTiles-1) >= len(tiles)*(frames-1) {
				tiles, times = append(tiles, shrink(img, tileWidth, tileHigh)), append(times, time)
			}
		},
	}
	if err := f.render(ctx, o, v, stderr); err != nil {
		return err
	}
	picture := draw.Sheet(sheetCols, tileWidth, tileHigh, len(tiles), func(i int, tile *image.RGBA) {
		copy(tile.Pix, tiles[i].Pix)
		draw.Text(tile, 5, tileHigh-18, 14, draw.Ink, fmt.Sprintf("%s   %.2f s", t.name, times[i]))
	})
	return atomicfile.Write(sheet, func(w io.Writer) error { return png.Encode(w, picture) })
}

// shrink returns img in another size. Each pixel is the mean of the pixels that it covers.
func shrink(img *image.RGBA, width, height int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	sw, sh := img.Rect.Dx(), img.Rect.Dy()
	for y := range height {
		for x := range width {
			x0, y0 := x*sw/width, y*sh/height
			x1, y1 := max((x+1)*sw/width, x0+1), max((y+1)*sh/height, y0+1)
			var sum [4]int
			for v := y0; v < y1; v++ {
				for u := x0; u < x1; u++ {
					for c := range sum {
						sum[c] += int(img.Pix[img.PixOffset(u, v)+c])
					}
				}
			}
			for c := range sum {
				out.Pix[out.PixOffset(x, y)+c] = uint8(sum[c] / ((x1 - x0) * (y1 - y0)))
			}
		}
	}
	return out
}
