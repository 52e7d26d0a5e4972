// Package world is the world of a scene: populations of agents on a terrain, the schedule that steps
// them, their level of detail, and what to draw of them.
package world

import (
	"errors"
	"fmt"
	"log/slog"

	"mannequin/animsys"
	"mannequin/animsys/generator"
	"mannequin/animsys/retarget"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/statehash"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/internal/steer"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// MaxAgents is the largest number of agents in a scene.
const MaxAgents = 4096

// Options are the settings that all scenes have.
type Options struct {
	Agents  int                      // at most MaxAgents; 0 is the scene's usual number
	Terrain *terrain.Field           // around the origin, as wide as the scene's GroundSize; nil makes hills from Seed
	Seed    uint64                   // of the hills and of the agents' steering
	Workers int                      // goroutines for networks and rows; 0 is one per CPU
	BF16    bool                     // networks in bfloat16 if the processor has it: see netruntime.SessionOptions
	Open    netruntime.Opener        // device for the networks; nil is the processor
	Nearest netruntime.NearestOpener // device that searches recordings; nil is the processor
	Log     *slog.Logger             // warnings for the player; nil drops them

	// NoAvoidance lets people walk through each other, as in tapes that were recorded before they
	// kept off.
	NoAvoidance bool
}

// Complete checks opt and fills in the scene's usual number of agents, if opt has none, and hills
// on a ground of the given size. 0 agents are allowed if they are usual.
func (opt *Options) Complete(scene string, usual int, size func(agents int) float32) error {
	if opt.Agents == 0 {
		opt.Agents = usual
	}
	if least := min(usual, 1); opt.Agents < least || opt.Agents > MaxAgents {
		return fmt.Errorf("%s: %d agents: want %d to %d", scene, opt.Agents, least, MaxAgents)
	}
	if opt.Terrain == nil {
		var err error
		grid := terrain.Grid{Size: size(opt.Agents), Cell: 0.5}
		if opt.Terrain, err = terrain.Hills(grid, terrain.HillsOptions{Seed: opt.Seed, Wavelength: 14, MaxSlope: 0.3}); err != nil {
			return err
		}
	}
	if err := opt.Terrain.Validate(); err != nil {
		return err
	}
	if !(steer.Inside(opt.Terrain, m3.Vec3{}) > 0) {
		return fmt.Errorf("%s: the terrain does not cover the origin, where agents start", scene)
	}
	return nil
}

// World is a world with its schedule. Its zero value has no populations. Fill in Options, add the
// populations, and then start it.
type World struct {
	Options
	ECS         arche.World
	Populations []*Population
	Schedule    *ecs.Schedule // nil before Start
	Selected    int           // row of the first population that the player has selected
	Speed       float32       // of the selected agent, smoothed, m/s

	lod     animsys.LODPolicy
	cast    int     // of the first population in the frame of the last Draw
	pressed bool    // the key of SelectNext
	last    m3.Vec3 // place of the selected agent in the last tick
}

// Population is the agents of one generator.
type Population struct {
	*animsys.Crowd
	Tint    func(row int) [3]float32 // colour of coat or clothes
	Own     *retarget.Character      // that all agents have, one of the crowd's; nil: the crowd's skeleton
	Roles   *ik.Roles                // of Own's legs
	overlay *overlay.Overlay
}

// Ahead appends the places where a row is about to go, on flat ground.
type Ahead = func(dst []m3.Vec3, row int) []m3.Vec3

// Init makes a world with opt, which is complete.
func (w *World) Init(opt *Options) {
	w.Options, w.ECS, w.lod = *opt, arche.NewWorld(), animsys.DefaultLOD()
}

// Add adds the population of a generator, which it owns from then on. opt needs no workers, and no
// ground if that is the terrain. ahead may be nil.
func Add[C any](w *World, g generator.Generator[C], opt animsys.Options, ahead Ahead, tint func(row int) [3]float32) (*Population, error) {
	if opt.Workers = w.Workers; opt.Ground == nil {
		opt.Ground = w.Terrain
	}
	c, err := animsys.NewCrowd(&w.ECS, g, opt)
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	p := &Population{Crowd: c, Tint: tint, overlay: overlay.New(overlay.Of(c, w.Terrain, ahead))}
	w.Populations = append(w.Populations, p)
	return p, nil
}

// Start makes the schedule: the systems that steer, and those that animate.
func (w *World) Start(steering ...ecs.System) (err error) {
	w.Schedule, err = ecs.NewSchedule(&w.ECS, 1.0/scenes.TickRate, append(steering, animsys.Systems()...)...)
	return err
}

// Agents returns the number of agents in all populations.
func (w *World) Agents() (n int) {
	for _, p := range w.Populations {
		n += p.Agents()
	}
	return n
}

// ApplyLOD sets the agents' update rates by their distance from the input's camera. Agent keep
// updates every tick; the zero entity is none.
func (w *World) ApplyLOD(in *scenes.Input, keep arche.Entity) {
	if !in.Watched {
		return
	}
	for _, p := range w.Populations {
		p.Crowd.ApplyLOD(&w.lod, in.Eye, in.Ahead, in.Saving)
		if !keep.IsZero() {
			_ = p.SetUpdateRate(keep, animsys.EveryTick) // an error says that it is of another population
		}
	}
}

// Tick runs one tick.
func (w *World) Tick() error {
	if err := w.Schedule.Step(); err != nil {
		return err
	}
	for _, p := range w.Populations {
		p.overlay.Step(p.Agents())
	}
	if p := w.Populations[0]; w.Selected < p.Agents() {
		const keep, placed = 0.955, 10 // of the speed in a tick: a half-life of 0.25 s; m/s that no agent has
		at := p.Roots[w.Selected].Pos
		if v := at.Dist(w.last) * scenes.TickRate; v < placed {
			w.Speed = m3.Lerp(v, w.Speed, keep)
		}
		w.last = at
	}
	return nil
}

// Hash returns the hash of the first population and of the selection.
func (w *World) Hash() uint64 {
	return uint64(statehash.Hash(w.Populations[0].Hash()).Int(w.Selected))
}

// Draw writes a cast for each population to dst, a fraction alpha of the way from the last tick but
// one to the last. The scene sets focus, heading, path and texts.
func (w *World) Draw(dst *scenes.Frame, alpha float32) {
	w.cast = len(dst.Casts)
	for _, p := range w.Populations {
		c := dst.Cast(p.Skel)
		if p.Own != nil {
			c.Skel, c.Roles = p.Own.Skel, p.Roles
			c.Bones = p.InterpolateCharacter(c.Bones, p.Own, alpha, m3.Vec3{})
		} else {
			c.Bones = p.Interpolate(c.Bones, alpha)
		}
		for row := range p.Agents() {
			c.Tint = append(c.Tint, p.Tint(row))
		}
	}
}

// DrawOverlays adds the overlays in dst.Show, after Draw and when the focus is set. It has more for
// the row of population i, and draws a ring around it if ring is set; row −1 is none.
func (w *World) DrawOverlays(dst *scenes.Frame, i, row int, ring bool, alpha float32) {
	for k, p := range w.Populations {
		selected := -1
		if k == i {
			selected = row
		}
		bones := dst.Casts[w.cast+k].Bones
		if selected >= 0 && ring {
			p.overlay.Ring(dst, bones, selected)
		}
		p.overlay.Draw(dst, bones, selected, alpha)
	}
}

// DrawSelected is Draw with the overlays. The focus is the selected agent, which has a ring around
// it.
func (w *World) DrawSelected(dst *scenes.Frame, alpha float32) {
	w.Draw(dst, alpha)
	dst.Focus, dst.Heading = dst.Casts[w.cast].Of(w.Selected)[0].Pos, w.Populations[0].Roots[w.Selected].Rot.Yaw()
	w.DrawOverlays(dst, 0, w.Selected, true, alpha)
}

// SelectNext selects the next agent of the first population if the player has just pressed the key,
// and reports whether that is so.
func (w *World) SelectNext(in *scenes.Input) bool {
	next := in.Jump && !w.pressed
	if w.pressed = in.Jump; next {
		w.Selected = (w.Selected + 1) % w.Populations[0].Agents()
	}
	return next
}

// Stages returns the names of the tick's systems: see scenes.Traced.
func (w *World) Stages() []string { return w.Schedule.Names() }

// Trace sets a function that is called when a system begins: see scenes.Traced.
func (w *World) Trace(f func(stage int)) { w.Schedule.Trace = f }

// Close stops the workers.
func (w *World) Close() (err error) {
	if w.Schedule != nil {
		w.Schedule.Close()
	}
	for _, p := range w.Populations {
		err = errors.Join(err, p.Crowd.Close())
	}
	return err
}

// Ground makes the terrain of a kind on a grid: flat, also if kind is empty, slope, steps, or hills.
func Ground(kind string, grid terrain.Grid, hills terrain.HillsOptions) (*terrain.Field, error) {
	switch kind {
	case "", "flat":
		return terrain.Flat(grid)
	case "slope":
		return terrain.Slope(grid, 0.17, 0)
	case "steps":
		grid.Cell = terrain.StairCell
		return terrain.Steps(grid, 0.12, 1.5)
	}
	return terrain.Hills(grid, hills)
}

// Sunflower returns the place and heading of agent i around the origin, in the order of a sunflower's
// seeds: evenly spread for any number of agents, about 2.2 m apart.
func Sunflower(i int) (m3.Vec3, float32) {
	const spacing, golden = 2.2, 2.39996323
	r, a := spacing*0.6*m3.Sqrt(float32(i)), golden*float32(i)
	return m3.V(r*m3.Sin(a), 0, r*m3.Cos(a)), m3.WrapAngle(3 * a)
}

// SunflowerSize returns the width of the ground for a number of agents in a sunflower with a margin
// around it, m.
func SunflowerSize(agents int, margin float32) float32 {
	last, _ := Sunflower(agents)
	return max(80, 2*(last.Len()+margin))
}
