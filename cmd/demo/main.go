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
	"strconv"

	"github.com/spf13/cobra"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	predictor "mannequin/animsys/strnn"
	"mannequin/engine/media"
	"mannequin/engine/stage"
	"mannequin/internal/backend"
	"mannequin/internal/command"
	"mannequin/models"
	stylesfree "mannequin/models/styles-free"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/crowd"
	"mannequin/scenes/latent"
	"mannequin/scenes/people"
	"mannequin/scenes/quadruped"
	"mannequin/scenes/strnn"
	"mannequin/terrain"
)

func init() {
	// Windows belong to the thread that the program started on.
	runtime.LockOSThread()
}

func main() { command.Main(newCommand()) }

// options is the command line.
type options struct {
	scene, model, terrain   string
	manifold, steps, motion string
	latent, next, bvh       string
	strnn                   string
	backend, out            string
	agents, styled          int
	width, height, fps      int
	seconds                 float64
	seed                    uint64
	headless, bf16          bool
}

func newCommand() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "demo",
		Short: "Steer a dog among its herd, in a window; without a display, record a video",
		Example: `  demo
  demo --scene crowd --agents 200 --terrain flat
  demo --scene people --agents 200
  demo --scene people --styled 25
  demo --scene latent --bvh walk.bvh
  demo --scene strnn --agents 100 --bf16
  demo --headless --seconds 20 --out walk.mp4
  demo --out walk.gif --width 640 --height 360
  demo --out frames --fps 60`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.scene == "latent" {
				if !cmd.Flags().Changed("terrain") {
					o.terrain = "flat" // steps are seen best there
				}
				if !cmd.Flags().Changed("agents") {
					o.agents = 0
				}
			}
			if err := o.check(); err != nil {
				return err
			}
			return play(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&o.scene, "scene", "quadruped", "quadruped: your dog and a herd; crowd: the herd alone; people: who walk and run; latent: one, by sliders; strnn: who wander on predicted motion")
	f.IntVar(&o.agents, "agents", 50, "dogs in the herd, or people: 0 to 4096; latent: who walk about besides, none if not given")
	f.IntVar(&o.styled, "styled", 0, "of the people, how many move in a style each: old, proud, angry, …")
	f.StringVar(&o.model, "model", "dog", "the dogs': a shipped model's name, or a model file")
	f.StringVar(&o.manifold, "manifold", "human", "people's: a shipped model's name, or a model file: the motion manifold")
	f.StringVar(&o.steps, "footstep", "human-footstep", "the same: the network of footsteps")
	f.StringVar(&o.motion, "locomotion", "human-locomotion", "the same: the network of motion")
	f.StringVar(&o.latent, "latent", "human-latent", "the sliders': a shipped model's name, or a model file")
	f.StringVar(&o.next, "next", "human-next", "the same, for --agents: the network that tells how clips go on")
	f.StringVar(&o.strnn, "strnn", "human-strnn", "the wanderers': a shipped model's name, or a model file with a guide")
	f.StringVar(&o.bvh, "bvh", filepath.Join("out", "latent.bvh"), "`file` that the scene latent writes its sequence to, when you ask for it")
	f.StringVar(&o.backend, "backend", backend.CPU, "what computes the network: cpu, or cuda where the program is built with it")
	f.BoolVar(&o.bf16, "bf16", false, "compute the network in bfloat16 where the processor or the GPU can: about twice as fast")
	f.StringVar(&o.terrain, "terrain", "hills", "hills, flat, slope, steps, or a number: hills from that seed; latent: flat if none is given")
	f.Float64Var(&o.seconds, "seconds", 0, "length; 0 is until the window is closed, or 10 s of recording")
	f.BoolVar(&o.headless, "headless", false, "record without a window")
	f.StringVar(&o.out, "out", "", "record to FILE.mp4, FILE.gif, or a folder of PNGs (default out/SCENE.mp4, or .gif without ffmpeg)")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the hills and of the herd's wishes")
	f.IntVar(&o.width, "width", 1280, "picture's width, pixels")
	f.IntVar(&o.height, "height", 720, "picture's height, pixels")
	f.IntVar(&o.fps, "fps", 30, "frames per second of a recording")
	c.AddCommand(newReel())
	return c
}

// check rejects what cannot be, and fills in what depends on the rest.
func (o *options) check() error {
	switch {
	case !slices.Contains([]string{"quadruped", "crowd", "people", "latent", "strnn"}, o.scene):
		return command.Usagef("no scene %q: want quadruped, crowd, people, latent or strnn", o.scene)
	case o.agents < 0 || o.agents > crowd.MaxAgents:
		return command.Usagef("--agents %d: want 0 to %d", o.agents, crowd.MaxAgents)
	case o.scene != "quadruped" && o.scene != "latent" && o.agents == 0:
		return command.Usagef("--agents 0: that is your dog alone; the scene %s wants 1 to %d", o.scene, crowd.MaxAgents)
	case o.styled < 0 || o.styled > 0 && (o.scene != "people" || o.styled > o.agents):
		return command.Usagef("--styled %d: want 0, or in the scene people up to as many as there are", o.styled)
	case !(o.seconds >= 0) || o.seconds > 3600:
		return command.Usagef("--seconds %g: want 0 to 3600", o.seconds)
	case o.width < 64 || o.height < 64 || o.width > 4096 || o.height > 4096:
		return command.Usagef("--width %d --height %d: want 64 to 4096 pixels", o.width, o.height)
	case o.fps < 1 || o.fps > 240:
		return command.Usagef("--fps %d: want 1 to 240", o.fps)
	}
	if _, err := o.field(); err != nil {
		return command.Usage(err)
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

// field makes the terrain that the options name.
func (o *options) field() (*terrain.Field, error) {
	size := crowd.GroundSize(o.agents)
	if o.scene == "people" {
		size = people.GroundSize(o.agents)
	}
	if o.scene == "strnn" {
		size = strnn.GroundSize(o.agents)
	}
	grid := terrain.Grid{Size: max(120, size), Cell: 0.5}
	hills := terrain.HillsOptions{Seed: o.seed, Wavelength: 14, MaxSlope: 0.30}
	switch o.terrain {
	case "hills":
	case "flat":
		return terrain.Flat(grid)
	case "slope":
		return terrain.Slope(grid, 0.17, 0)
	case "steps":
		return terrain.Steps(grid, 0.12, 1.5)
	default:
		n, err := strconv.ParseUint(o.terrain, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("no terrain %q: want hills, flat, slope, steps or a number", o.terrain)
		}
		hills.Seed = n
	}
	return terrain.Hills(grid, hills)
}

// open loads the model and builds the scene. player says what someone who is
// not there would do.
func (o *options) open(log *slog.Logger) (s scenes.Scene, player scenes.Script, err error) {
	ground, err := o.field()
	if err != nil {
		return nil, nil, err
	}
	open, err := backend.Open(o.backend, log)
	if err != nil {
		return nil, nil, err
	}
	if o.scene == "people" {
		s, err = o.people(ground, open)
		return s, nil, err
	}
	if o.scene == "strnn" {
		s, err = o.wanderers(ground, open)
		return s, nil, err
	}
	if o.scene == "latent" {
		s, err = o.sliders(ground, open)
		return s, latent.Autopilot(), err
	}
	net, err := models.Open(o.model)
	if err != nil {
		return nil, nil, err
	}
	m, err := mann.NewModel(net)
	if err != nil {
		return nil, nil, fmt.Errorf("model %s: %w", o.model, err)
	}
	if o.scene == "crowd" {
		s, err = crowd.New(crowd.Options{Model: m, Agents: o.agents, Terrain: ground, Seed: o.seed, BF16: o.bf16, Open: open, Log: log})
		return s, nil, err
	}
	s, err = quadruped.New(quadruped.Options{Model: m, Herd: o.agents, Terrain: ground, Seed: o.seed, BF16: o.bf16, Open: open, Log: log})
	return s, quadruped.Autopilot(), err
}

// people builds the scene of that name.
func (o *options) people(ground *terrain.Field, open netruntime.Opener) (scenes.Scene, error) {
	var nets [3]*netruntime.Net
	for i, name := range []string{o.manifold, o.steps, o.motion} {
		var err error
		if nets[i], err = models.Open(name); err != nil {
			return nil, err
		}
	}
	m, err := manifold.NewModel(nets[0])
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", o.manifold, err)
	}
	opt := people.Options{Model: m, Steps: nets[1], Locomotion: nets[2], Agents: o.agents, Terrain: ground, Seed: o.seed, BF16: o.bf16, Open: open, Styled: o.styled}
	if o.styled > 0 {
		if opt.Styles, err = stylesfree.Open(); err != nil {
			return nil, err
		}
	}
	return people.New(opt)
}

// wanderers builds the scene strnn.
func (o *options) wanderers(ground *terrain.Field, open netruntime.Opener) (scenes.Scene, error) {
	net, err := models.Open(o.strnn)
	if err != nil {
		return nil, err
	}
	m, err := predictor.New(net)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", o.strnn, err)
	}
	return strnn.New(strnn.Options{Model: m, Agents: o.agents, Terrain: ground, Seed: o.seed, Stream: predictor.StreamOptions{BF16: o.bf16, Open: open}})
}

// play runs the scene in a window where there is one, else into a file.
func play(ctx context.Context, o options, stdout, stderr io.Writer) error {
	s, player, err := o.open(slog.New(slog.NewTextHandler(stderr, nil)))
	if err != nil {
		return err
	}
	defer s.Close()
	if !o.headless && stage.HasDisplay() {
		st, err := stage.Open(stage.Options{Title: "mannequin: " + o.scene, Width: o.width, Height: o.height})
		if err == nil {
			defer st.Close()
			return show(ctx, o, st, s)
		}
		fmt.Fprintf(stderr, "demo: %v; recording instead\n", err)
	}
	if o.seconds == 0 {
		o.seconds = 10
	}
	if o.out == "" {
		o.out = filepath.Join("out", o.scene+".mp4")
		if media.Check(o.out) != nil {
			o.out = filepath.Join("out", o.scene+".gif")
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
