// Command demo shows the scenes: in a window that the player steers, or without a display as a
// recording.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/resident"
	"mannequin/animsys/skel"
	"mannequin/engine/clock"
	"mannequin/engine/hud"
	"mannequin/engine/media"
	"mannequin/internal/backend"
	"mannequin/internal/closest"
	"mannequin/internal/command"
	"mannequin/models"
	stylesfree "mannequin/models/styles-free"
	stylesgram "mannequin/models/styles-gram"
	"mannequin/scenes"
	"mannequin/scenes/cutscene"
	"mannequin/scenes/open"
	"mannequin/scenes/show"
	"mannequin/scenes/tape"
	"mannequin/scenes/world"
)

func init() {
	// Windows belong to the thread that the program started on.
	runtime.LockOSThread()
}

func main() { command.Main(newCommand()) }

// options is the command line.
type options struct {
	setup              open.Setup
	skin, skinMap      []string
	skins              []show.Skin // opened from skin and skinMap
	bvh, backend, out  string
	width, height, fps int
	seconds, budget    float64
	headless           bool
	show               []string // overlay names
	overlays           hud.Overlay
	record, replay     string // tapes
	verify             bool
	noRender, json     bool
	workers            int

	screen *screen      // opened when something is to be seen
	length float64      // of a recording or measurement if seconds is 0, s
	taped  scenes.Scene // steps instead of the scene, if not nil: a recording or a replay
}

func newCommand() *cobra.Command {
	o := options{setup: open.Default("quadruped"), length: 10, bvh: filepath.Join("out", "latent.bvh")}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Steer a dog in a window; without a display, record a video",
		Example: `  demo
  demo --scene crowd --agents 200 --terrain flat
  demo --scene people --agents 200
  demo --scene people --styled 25
  demo --scene herd --agents 500 --gpu-beyond 15
  demo --scene latent --bvh walk.bvh
  demo --scene strnn --agents 100 --bf16
  demo --terrain flat --show trajectories,contacts,activations
  demo --scene people --skin hero.glb
  demo --scene play --character hero.character --skin hero.glb
  demo --scene cutscene --script mine.toml --out mine.mp4
  demo --headless --seconds 20 --out walk.mp4
  demo --out walk.gif --width 640 --height 360
  demo --out frames --fps 60
  demo --record walk.tape
  demo --replay walk.tape
  demo --replay walk.tape --verify --workers 1
  demo --scene crowd --no-render --agents 500 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.conflicts(cmd.Flags().Changed); err != nil {
				return err
			}
			usual := open.Default(o.setup.Scene)
			for flag, reset := range map[string]func(){
				"terrain": func() { o.setup.Terrain = usual.Terrain },
				"agents":  func() { o.setup.Agents = usual.Agents },
				"far":     func() { o.setup.Far = open.FarOf(o.setup.Model) },
				"bf16":    func() { o.setup.BF16 = usual.BF16 },
				"script":  func() { o.setup.Script = usual.Script },
			} {
				if !cmd.Flags().Changed(flag) {
					reset()
				}
			}
			if err := o.check(); err != nil {
				return err
			}
			if o.out == "" {
				if err := command.Check(cmd, []string{o.usualOut()}, nil); err != nil {
					return err
				}
			}
			return play(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.SortFlags = false // help keeps related flags together
	command.Choice(c, &o.setup.Scene, "scene", o.setup.Scene, open.Names,
		"quadruped: a dog that you steer, and a herd; person: a person that you steer over stairs and gaps and through a crowd; course: your dog among walls, ramps and platforms; crowd: dogs and people; herd: only dogs; interact: people who sit down, lift a box, step on a stool; people: people walking and running along lanes; "+
			"latent: a person controlled by sliders; strnn: a crowd with predicted motion; cutscene: plays a script; play: your own character, by --character")
	command.Number(c, &o.setup.Agents, "agents", o.setup.Agents, 0, world.MaxAgents, "number of dogs in the herd, or of people; crowd: all agents (default 100); latent: other people (default 0)")
	command.Number(c, &o.setup.Styled, "styled", o.setup.Styled, 0, world.MaxAgents, "number of people with a style each: old, proud, stooped, …")
	command.Number(c, &o.setup.Churn, "churn", 0, 0, 1000, "crowd: agents that are added, and as many removed, per second")
	command.Number(c, &o.setup.GPUBeyond, "gpu-beyond", 0, 0, 1000, "herd, and crowd with --character: dogs, or those of the character, farther from the camera than this many `metres` live on the GPU, which also draws them (make build-webgpu); 0: none does")
	command.Choices(c, &o.setup.Kinds, "kinds", open.Kinds, "crowd: kinds of agents, some of "+strings.Join(open.Kinds, ", ")+" (default: all)")
	f.StringVar(&o.setup.Model, "model", o.setup.Model, "dogs: a shipped model's name or a model file")
	f.StringSliceVar(&o.setup.Far, "far", nil, "distant dogs: networks with longer strides (default: those shipped with the model)")
	f.StringVar(&o.setup.Manifold, "manifold", o.setup.Manifold, "people: the motion manifold, a shipped model's name or a model file")
	f.StringVar(&o.setup.Footstep, "footstep", o.setup.Footstep, "people: the network of footsteps")
	f.StringVar(&o.setup.Locomotion, "locomotion", o.setup.Locomotion, "people: the network of locomotion")
	f.StringVar(&o.setup.Latent, "latent", o.setup.Latent, "latent: a shipped model's name or a model file")
	f.StringVar(&o.setup.Next, "next", o.setup.Next, "latent, for --agents: the network that predicts the next clip")
	f.StringVar(&o.setup.STRNN, "strnn", o.setup.STRNN, "strnn: a shipped model's name or a model file with a guide")
	f.StringVar(&o.setup.Keypose, "keypose", o.setup.Keypose, "crowd, kind performing: a shipped model's name or a model file")
	f.StringVar(&o.setup.Character, "character", "", "person, play, crowd: `CHARACTER`, hero, fox, horse, spider or a file of mannequin make (person by default: hero; play: a person whose motion is made by rules)")
	f.StringArrayVar(&o.skin, "skin", nil, "glTF, VRM or FBX `FILE` with a skinned mesh that replaces the dogs or the people, by its number of legs; or dog=FILE, person=FILE; may be repeated")
	f.StringArrayVar(&o.skinMap, "skin-map", nil, "TOML `FILE` that maps our joint names to the mesh's, where their roles are not right (docs/rigs.md); or dog=FILE, person=FILE; may be repeated")
	f.StringVar(&o.setup.Script, "script", "", "cutscene: the script, a `file` (docs/cutscene.md) or a shipped one: "+strings.Join(cutscene.Shipped(), ", "))
	command.Output(c, &o.bvh, "bvh", command.File, "latent: `file` for the sequence, written when you press E")
	command.Choice(c, &o.backend, "backend", backend.CPU, backend.Names, backend.Usage)
	f.BoolVar(&o.setup.BF16, "bf16", o.setup.BF16, "compute the networks in bfloat16 if the processor or the GPU can: about twice as fast; the default in the scene crowd")
	f.StringVar(&o.setup.Terrain, "terrain", o.setup.Terrain, "hills, flat, slope, steps, or a number: hills with that seed; latent: flat by default")
	command.Choices(c, &o.show, "show", strings.Split(hud.AllOverlays.String(), ", "), "overlays to draw")
	command.Number(c, &o.seconds, "seconds", 0, 0, 3600, "duration; 0 is until the window is closed, 10 s of a recording, or all of a cutscene")
	f.BoolVar(&o.headless, "headless", false, "record without a window")
	command.Output(c, &o.out, "out", command.Either, "`FILE` to record to: .mp4, .gif or a folder of PNGs; missing folders are created (default out/SCENE.mp4, or .gif without ffmpeg)")
	f.Uint64Var(&o.setup.Seed, "seed", o.setup.Seed, "seed of the hills and of the agents' steering")
	command.Number(c, &o.width, "width", 1280, 64, 4096, "width of the picture, pixels")
	command.Number(c, &o.height, "height", 720, 64, 4096, "height of the picture, pixels")
	command.Number(c, &o.fps, "fps", 30, 1, 240, "frames per second of a recording")
	command.Output(c, &o.record, "record", command.File, "write a tape to `file`: the scene's setup and the input of each tick; with --no-render also of ticks that are not measured")
	f.StringVar(&o.replay, "replay", "", "play the tape in `file`, in a window or into a recording")
	f.BoolVar(&o.verify, "verify", false, "play the tape of --replay without pictures, and check that each tick has the same bits as when it was recorded")
	f.BoolVar(&o.noRender, "no-render", false, "run at 60 ticks a second without pictures, and report the duration of ticks; 10 s unless --seconds is given")
	command.Number(c, &o.budget, "budget", 12, 0, 1e4, "`milliseconds` per tick, in a window or with --no-render; distant agents update less often to stay within it; 0 is no limit")
	f.BoolVar(&o.json, "json", false, "with --no-render: print one JSON object")
	command.Number(c, &o.workers, "workers", 0, 0, 1024, "worker goroutines; 0 is one per core")
	c.AddCommand(newReel(), newOpenGL())
	return c
}

// check rejects invalid options and fills in derived ones.
func (o *options) check() error {
	if err := o.setup.Check(); err != nil {
		return command.Usagef("%w%s", err, closest.Hint(o.setup.Terrain, []string{"hills", "flat", "slope", "steps"}))
	}
	var err error
	if o.overlays, err = hud.ParseOverlays(o.show); err != nil {
		return command.Usagef("--show: %w", err)
	}
	if _, err := backend.Open(o.backend, nil); err != nil {
		return command.Usage(err)
	}
	if o.skins, err = openSkins(o.skin, o.skinMap); err != nil {
		return err
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

// usualOut returns the file that a scene is recorded to if none is named.
func (o *options) usualOut() string {
	out := filepath.Join("out", o.setup.Scene+".mp4")
	if media.Check(out) != nil {
		out = filepath.Join("out", o.setup.Scene+".gif")
	}
	return out
}

// newBudget returns the budget of a tick, nil if there is no limit.
func (o *options) newBudget() (*clock.Budget, error) {
	if o.budget == 0 {
		return nil, nil
	}
	return clock.NewBudget(time.Duration(o.budget * float64(time.Millisecond)))
}

// open loads the scene's networks and builds it. player is the input of a recording.
func (o *options) open(log *slog.Logger) (s scenes.Scene, player scenes.Script, h tape.Header, err error) {
	device, err := backend.Open(o.backend, log)
	if err != nil {
		return nil, nil, tape.Header{}, err
	}
	var gpu func(*skel.Skeleton) (resident.Options, error)
	if o.screen != nil {
		gpu = o.screen.gpu
	}
	return tape.OpenScene(o.setup, open.Resources{GPU: gpu, Net: models.Open, Styles: stylesfree.Open, Transfers: stylesgram.Open, Character: openCharacter, Open: device, Nearest: backend.Nearest(o.backend, log), Workers: o.workers, Log: log})
}

// play runs the scene, and records or replays a tape if asked to.
func play(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	log := slog.New(slog.NewTextHandler(stderr, nil))
	var played *replay
	if o.replay != "" {
		if played, err = openReplay(o.replay, log); err != nil {
			return err
		}
		defer played.file.Close()
		o.setup = played.Header.Setup
	}
	if o.setup.Scene == "latent" && !o.verify && !o.noRender { // the player may write the file
		if info, err := os.Stat(o.bvh); err == nil && info.IsDir() {
			return command.Usagef("--bvh %s: that is a folder, want a file", o.bvh)
		}
	}
	if !o.verify && !o.noRender {
		o.screen = &screen{title: "mannequin: " + o.setup.Scene, width: o.width, height: o.height, window: !o.headless, stderr: stderr}
		defer o.screen.close() // after the scene, of which a part may live in its OpenGL
	}
	s, player, header, err := o.open(log)
	if err != nil {
		return err
	}
	defer s.Close()
	if l, ok := s.(scenes.Lasting); ok {
		o.length = l.Seconds()
	}
	switch {
	case o.verify:
		return played.verify(ctx, s, header, stdout)
	case played != nil:
		if err := played.Header.Differs(header); err != nil {
			log.Warn("the tape may not play as it was recorded", "tape", o.replay, "why", err)
		}
		p := tape.Play(s, played.Reader)
		defer func() {
			if p.Wrong != nil {
				log.Warn(p.Wrong.Error(), "tape", o.replay)
			}
		}()
		o.taped, o.length = p, float64(played.ticks)/scenes.TickRate
	case o.record != "":
		rec, err := newRecording(o.record, header)
		if err != nil {
			return err
		}
		defer func() {
			done := rec.finish()
			if done == nil {
				fmt.Fprintln(stdout, o.record)
			}
			err = errors.Join(err, done)
		}()
		o.taped = tape.Record(s, rec.Writer)
	}
	if o.noRender {
		return measure(ctx, o, s, player, header, stdout)
	}
	return perform(ctx, o, s, player, stdout, stderr)
}

// perform shows the scene in a window if there is a display, else records a video.
func perform(ctx context.Context, o options, s scenes.Scene, player scenes.Script, stdout, stderr io.Writer) error {
	st, err := o.screen.open()
	if err != nil {
		return err
	}
	if o.screen.window {
		return run(ctx, o, st, s, stderr)
	}
	if o.seconds == 0 {
		o.seconds = o.length
	}
	o.out = cmp.Or(o.out, o.usualOut())
	if err := record(ctx, o, st, s, player, stderr); err != nil {
		return err
	}
	fmt.Fprintln(stdout, o.out)
	return nil
}
