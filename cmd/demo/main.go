// Command demo shows the scenes: in a window that the player steers, or
// recorded to a file where there is no display.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/engine/media"
	"mannequin/engine/stage"
	"mannequin/internal/backend"
	"mannequin/internal/command"
	"mannequin/models"
	stylesfree "mannequin/models/styles-free"
	"mannequin/scenes"
	"mannequin/scenes/cutscene"
	"mannequin/scenes/playbill"
)

func init() {
	// Windows belong to the thread that the program started on.
	runtime.LockOSThread()
}

func main() { command.Main(newCommand()) }

// options is the command line.
type options struct {
	setup              playbill.Setup
	bvh, backend, out  string
	width, height, fps int
	seconds            float64
	headless           bool
}

func newCommand() *cobra.Command {
	o := options{setup: playbill.Default("quadruped")}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Steer a dog among its herd, in a window; without a display, record a video",
		Example: `  demo
  demo --scene crowd --agents 200 --terrain flat
  demo --scene people --agents 200
  demo --scene people --styled 25
  demo --scene latent --bvh walk.bvh
  demo --scene strnn --agents 100 --bf16
  demo --scene cutscene --script mine.toml --out mine.mp4
  demo --headless --seconds 20 --out walk.mp4
  demo --out walk.gif --width 640 --height 360
  demo --out frames --fps 60`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			usual := playbill.Default(o.setup.Scene)
			if !cmd.Flags().Changed("terrain") {
				o.setup.Terrain = usual.Terrain
			}
			if !cmd.Flags().Changed("agents") {
				o.setup.Agents = usual.Agents
			}
			if !cmd.Flags().Changed("script") {
				o.setup.Script = usual.Script
			}
			if err := o.check(); err != nil {
				return err
			}
			return play(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&o.setup.Scene, "scene", o.setup.Scene, "quadruped: your dog and a herd; crowd: the herd alone; people: who walk and run; latent: one, by sliders; strnn: who wander on predicted motion; cutscene: who play a script")
	f.IntVar(&o.setup.Agents, "agents", o.setup.Agents, "dogs in the herd, or people: 0 to 4096; latent: who walk about besides, none if not given")
	f.IntVar(&o.setup.Styled, "styled", o.setup.Styled, "of the people, how many move in a style each: old, proud, angry, …")
	f.StringVar(&o.setup.Model, "model", o.setup.Model, "the dogs': a shipped model's name, or a model file")
	f.StringVar(&o.setup.Manifold, "manifold", o.setup.Manifold, "people's: a shipped model's name, or a model file: the motion manifold")
	f.StringVar(&o.setup.Footstep, "footstep", o.setup.Footstep, "the same: the network of footsteps")
	f.StringVar(&o.setup.Locomotion, "locomotion", o.setup.Locomotion, "the same: the network of motion")
	f.StringVar(&o.setup.Latent, "latent", o.setup.Latent, "the sliders': a shipped model's name, or a model file")
	f.StringVar(&o.setup.Next, "next", o.setup.Next, "the same, for --agents: the network that tells how clips go on")
	f.StringVar(&o.setup.STRNN, "strnn", o.setup.STRNN, "the wanderers': a shipped model's name, or a model file with a guide")
	f.StringVar(&o.setup.Script, "script", "", "what the scene cutscene plays: a `file` (docs/cutscene.md), or a shipped one: "+strings.Join(cutscene.Shipped(), ", "))
	f.StringVar(&o.bvh, "bvh", filepath.Join("out", "latent.bvh"), "`file` that the scene latent writes its sequence to, when you ask for it")
	f.StringVar(&o.backend, "backend", backend.CPU, "what computes the network: cpu, or cuda where the program is built with it")
	f.BoolVar(&o.setup.BF16, "bf16", o.setup.BF16, "compute the network in bfloat16 where the processor or the GPU can: about twice as fast")
	f.StringVar(&o.setup.Terrain, "terrain", o.setup.Terrain, "hills, flat, slope, steps, or a number: hills from that seed; latent: flat if none is given")
	f.Float64Var(&o.seconds, "seconds", 0, "length; 0 is until the window is closed, or 10 s of recording, of a cutscene all of it")
	f.BoolVar(&o.headless, "headless", false, "record without a window")
	f.StringVar(&o.out, "out", "", "record to FILE.mp4, FILE.gif, or a folder of PNGs (default out/SCENE.mp4, or .gif without ffmpeg)")
	f.Uint64Var(&o.setup.Seed, "seed", o.setup.Seed, "seed of the hills and of the herd's wishes")
	f.IntVar(&o.width, "width", 1280, "picture's width, pixels")
	f.IntVar(&o.height, "height", 720, "picture's height, pixels")
	f.IntVar(&o.fps, "fps", 30, "frames per second of a recording")
	c.AddCommand(newReel())
	return c
}

// check rejects what cannot be, and fills in what depends on the rest.
func (o *options) check() error {
	if err := o.setup.Check(); err != nil {
		return command.Usage(err)
	}
	switch {
	case !(o.seconds >= 0) || o.seconds > 3600:
		return command.Usagef("--seconds %g: want 0 to 3600", o.seconds)
	case o.width < 64 || o.height < 64 || o.width > 4096 || o.height > 4096:
		return command.Usagef("--width %d --height %d: want 64 to 4096 pixels", o.width, o.height)
	case o.fps < 1 || o.fps > 240:
		return command.Usagef("--fps %d: want 1 to 240", o.fps)
	}
	if _, err := backend.Open(o.backend, nil); err != nil {
		return command.Usage(err)
	}
	if o.out != "" {
		o.headless = true
		if err := media.Check(o.out); errors.Is(err, media.ErrNoFFmpeg) {
			return err
		} else if err != nil {
			return command.Usage(err)
		}
	}
	return nil
}

// open loads what the scene needs and builds it. player says what someone who is not
// there would do.
func (o *options) open(log *slog.Logger) (s scenes.Scene, player scenes.Script, err error) {
	open, err := backend.Open(o.backend, log)
	if err != nil {
		return nil, nil, err
	}
	return playbill.Open(o.setup, playbill.Means{Net: models.Open, Styles: stylesfree.Open, Open: open, Log: log})
}

// play runs the scene in a window where there is one, else into a file.
func play(ctx context.Context, o options, stdout, stderr io.Writer) error {
	s, player, err := o.open(slog.New(slog.NewTextHandler(stderr, nil)))
	if err != nil {
		return err
	}
	defer s.Close()
	if !o.headless && stage.HasDisplay() {
		st, err := stage.Open(stage.Options{Title: "mannequin: " + o.setup.Scene, Width: o.width, Height: o.height})
		if err == nil {
			defer st.Close()
			return run(ctx, o, st, s)
		}
		fmt.Fprintf(stderr, "demo: %v; recording instead\n", err)
	}
	if o.seconds == 0 {
		o.seconds = 10
		if l, ok := s.(scenes.Lasting); ok {
			o.seconds = l.Seconds()
		}
	}
	if o.out == "" {
		o.out = filepath.Join("out", o.setup.Scene+".mp4")
		if media.Check(o.out) != nil {
			o.out = filepath.Join("out", o.setup.Scene+".gif")
		}
	}
	st, err := stage.Open(stage.Options{Width: o.width, Height: o.height, Offscreen: true})
	if err != nil {
		return err
	}
	defer st.Close()
	if err := record(ctx, o, st, s, player, stderr); err != nil {
		return err
	}
	fmt.Fprintln(stdout, o.out)
	return nil
}

// cameraHelp is what the window adds to a scene's own help.
var cameraHelp = []string{
	"drag: look around   wheel: nearer, farther   F: follow again",
	"H: hide this   Esc: leave",
}

// helpFor returns a scene's help, with the camera's where someone can use it.
func helpFor(f *scenes.Frame, window bool) []string {
	if !window {
		return f.Help
	}
	return slices.Concat(f.Help, cameraHelp)
}
