// Package park is what the scenes with dogs have in common: a world with a
// terrain, a crowd on it and a schedule, and the description of what to draw.
package park

import (
	"errors"
	"fmt"
	"log/slog"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/internal/marks"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// Park is a running world. The scenes embed it.
type Park struct {
	World    arche.World
	Crowd    *animsys.Crowd
	Dogs     *mann.Controller
	Schedule *ecs.Schedule
	Terrain  *terrain.Field
	Seed     uint64

	lod     animsys.LODPolicy
	Watched int // the row that has more marks than the others, and a graph of its network's experts; −1 is none

	Log *slog.Logger // told once that the watchdog had something to do; nil: nobody

	path    [feature.TrajPoints]m3.Vec3
	marks   *marks.Marks
	experts marks.Experts
	warned  bool
}

// Options configure a park.
type Options struct {
	Terrain *terrain.Field
	mann.ControllerOptions
}

// Open fills p. Without a terrain in opt the dogs get the park's own hills.
// before are systems that set goals.
func (p *Park) Open(m *mann.Model, opt Options, seed uint64, before ...ecs.System) error {
	if m == nil {
		return fmt.Errorf("scenes: Options.Model is missing")
	}
	if opt.Terrain == nil {
		var err error
		if opt.Terrain, err = Hills(seed, opt.Capacity); err != nil {
			return err
		}
	}
	p.World, p.Terrain, p.Seed, p.lod = arche.NewWorld(), opt.Terrain, seed, animsys.DefaultLOD()
	if err := opt.Terrain.Validate(); err != nil {
		return err
	}
	if !(p.Inside(m3.Vec3{}) > 0) {
		return fmt.Errorf("scenes: the terrain does not cover the origin, where dogs start")
	}
	var err error
	if p.Dogs, err = m.NewController(opt.ControllerOptions); err != nil {
		return err
	}
	if p.Crowd, err = animsys.NewCrowd(&p.World, p.Dogs, animsys.Options{Ground: opt.Terrain, Workers: opt.Workers}); err != nil {
		return errors.Join(err, p.Dogs.Close())
	}
	p.Schedule, err = ecs.NewSchedule(&p.World, 1.0/scenes.TickRate, append(before, animsys.Systems()...)...)
	if err != nil {
		p.Crowd.Close()
		return err
	}
	p.marks = marks.New(marks.Of(p.Crowd, p.Terrain, p.way))
	p.experts.Step(p.Dogs.Experts(), 0, p.Watched)
	return nil
}

// Spacing is the distance between neighbours at the start, m.
const Spacing = 2.2

// Start returns the place and heading of dog i: a sunflower's seeds, evenly
// spread however many there are.
func Start(i int) (m3.Vec3, float32) {
	const golden = 2.39996323
	r, a := Spacing*0.6*m3.Sqrt(float32(i)), golden*float32(i)
	return m3.V(r*m3.Sin(a), 0, r*m3.Cos(a)), m3.WrapAngle(3 * a)
}

// Size returns how wide the ground must be, m, for so many dogs to have room: at
// least 80.
func Size(agents int) float32 {
	last, _ := Start(agents)
	return max(80, 2*last.Len()+40)
}

// Hills returns the park's ground: hills with slopes of up to 20°, wide enough
// for so many dogs.
func Hills(seed uint64, agents int) (*terrain.Field, error) {
	return terrain.Hills(terrain.Grid{Size: Size(agents), Cell: 0.5}, terrain.HillsOptions{Seed: seed, Wavelength: 14, MaxSlope: 20 * math.Pi / 180})
}

// Watch has those go on at lower rates who are far from where the park is watched, but for
// the one in row keep, −1 for none.
func (p *Park) Watch(in *scenes.Input, keep int) {
	if !in.Watched {
		return
	}
	p.Crowd.ApplyLOD(&p.lod, in.Eye, in.Ahead, in.Saving)
	if keep >= 0 {
		_ = p.Crowd.SetUpdateRate(p.Crowd.Rows.Entity(keep), animsys.EveryTick) // it is one of the crowd's rows
	}
}

// Saves marks a scenes.Saver.
func (p *Park) Saves() {}

// Step runs one tick.
func (p *Park) Step() error {
	if err := p.Schedule.Step(); err != nil {
		return err
	}
	n := p.Crowd.Agents()
	p.marks.Step(n)
	if p.Watched >= 0 {
		p.experts.Step(p.Dogs.Gating(p.Watched), 1, 0)
	}
	if p.Log == nil || p.warned {
		return nil
	}
	if n := p.Dogs.TotalRestored(); n > 0 {
		p.warned = true
		p.Log.Warn("a dog left the range of its network's training data and went back to its last good pose; later ones are only counted", "restored", n)
	}
	return nil
}

// Hash sums up the dogs.
func (p *Park) Hash() uint64 { return p.Crowd.Hash() }

// Close stops the workers.
func (p *Park) Close() error {
	p.Schedule.Close()
	return p.Crowd.Close()
}

// Inside returns how far (x, z) is from the terrain's border, negative outside.
func (p *Park) Inside(at m3.Vec3) float32 {
	x0, z0, x1, z1 := p.Terrain.Bounds()
	return min(at.X-x0, x1-at.X, at.Z-z0, z1-at.Z)
}

// Draw writes all agents a fraction alpha of the way from the last tick but one
// to the last into dst; focus, heading, path and texts remain to the scene.
func (p *Park) Draw(dst *scenes.Frame, alpha float32) {
	dst.Begin(p.Terrain)
	c := dst.Cast(p.Crowd.Skel)
	c.Bones = p.Crowd.Interpolate(c.Bones, alpha)
	for r := range p.Crowd.Agents() {
		c.Tint = append(c.Tint, coat(p.Seed, p.Crowd.Rows.Entity(r)))
	}
}

// Ahead appends the planned path of row, on the terrain, to dst.Path.
func (p *Park) Ahead(dst *scenes.Frame, row int) {
	n := p.Dogs.Trajectory(row, p.path[:])
	for _, q := range p.path[feature.TrajRoot:n] {
		dst.Path = append(dst.Path, m3.V(q.X, p.Terrain.Height(q.X, q.Z), q.Z))
	}
}

// way is the marks' view of what Ahead draws.
func (p *Park) way(dst []m3.Vec3, row int) []m3.Vec3 {
	const every = 5 // of the trajectory's points
	n := p.Dogs.Trajectory(row, p.path[:])
	for i := feature.TrajRoot + every; i < n; i += every {
		dst = append(dst, p.path[i])
	}
	return dst
}

// Marks appends what dst.Show asks for to dst, after Draw and once the focus is set.
func (p *Park) Marks(dst *scenes.Frame, alpha float32) {
	p.marks.Draw(dst, dst.Casts[0].Bones, p.Watched, alpha)
	p.experts.Draw(dst)
}

// Stages returns the names of the tick's systems: see scenes.Traced.
func (p *Park) Stages() []string { return p.Schedule.Names() }

// Trace has f called as each system begins: see scenes.Traced.
func (p *Park) Trace(f func(stage int)) { p.Schedule.Trace = f }

// coat picks a colour for an entity, the same as long as it lives.
func coat(seed uint64, e arche.Entity) [3]float32 { return scenes.Coat(seed + uint64(e.ID())) }
