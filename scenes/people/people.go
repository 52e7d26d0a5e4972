// Package people is the scene of people who walk and run along lanes over hills.
package people

import (
	"errors"
	"fmt"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/internal/marks"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Options configure the scene.
type Options struct {
	Networks   *manifold.Networks // required
	Agents     int                // people, at most MaxAgents; 0 means 50
	Terrain    *terrain.Field     // around the origin, GroundSize wide; nil makes hills from Seed
	Seed       uint64
	Workers    int               // goroutines that share the rows; 0 means one per CPU
	Open       netruntime.Opener // what computes the networks; nil is the processor
	BF16       bool              // the networks in bfloat16 where the processor has it: see netruntime.SessionOptions
	Iterations int               // of the edit: see manifold.StreamOptions

	Styled    int                  // of the people, spread among them, who move in a style each
	Styles    *mar.Database        // by ecs.MARStyle; these or Transfers are required for them
	Transfers []*manifold.Transfer // by ecs.GramStyle
}

// MaxAgents is the most people in the scene.
const MaxAgents = 4096

// Speeds are what the player may have someone do, m/s.
var Speeds = [...]float32{scenes.KeepGait: 0, scenes.Walk: 1.2, scenes.Pace: 1.8, scenes.Trot: 2.8, scenes.Canter: 3.8}

var help = []string{
	"1 2 3 4: it walks, walks fast, jogs, runs    X: it stands",
	"S: backward   Q E: sideways   W: ahead again",
	"Space: the next one   R: from the start",
}

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	World    arche.World
	People   *animsys.Crowd
	Stream   *manifold.Stream
	Schedule *ecs.Schedule
	Terrain  *terrain.Field

	all     []person
	curves  generic.Map1[manifold.Curve]
	marks   *marks.Marks
	watched int
	pressed bool
	seed    uint64
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
)

type person struct {
	entity arche.Entity
	lane   *control.Path
	start  float32 // along it, m
	tint   [3]float32
	style  string // that they move in, if any
}

// New builds the scene: everyone stands on a lane, and sets out.
func New(opt Options) (*Scene, error) {
	if opt.Agents == 0 {
		opt.Agents = 50
	}
	switch {
	case opt.Agents < 1 || opt.Agents > MaxAgents:
		return nil, fmt.Errorf("people: %d of them: want 1 to %d", opt.Agents, MaxAgents)
	case opt.Styled < 0 || opt.Styled > opt.Agents:
		return nil, fmt.Errorf("people: %d of %d in a style: want 0 to all", opt.Styled, opt.Agents)
	case opt.Styled > 0 && len(opt.wardrobe()) == 0:
		return nil, fmt.Errorf("people: Options.Styles and Transfers have no style but the neutral one, which is theirs")
	case opt.Networks == nil:
		return nil, fmt.Errorf("people: Options.Networks is missing")
	}
	s := &Scene{World: arche.NewWorld(), Terrain: opt.Terrain, seed: opt.Seed}
	if s.Terrain == nil {
		var err error
		if s.Terrain, err = terrain.Hills(terrain.Grid{Size: GroundSize(opt.Agents), Cell: 0.5}, terrain.HillsOptions{Seed: opt.Seed, Wavelength: 14, MaxSlope: 20 * math.Pi / 180}); err != nil {
			return nil, err
		}
	}
	var err error
	stream := manifold.StreamOptions{People: opt.Agents, Styles: opt.Transfers, Open: opt.Open, BF16: opt.BF16, Iterations: opt.Iterations}
	if s.Stream, err = opt.Networks.NewStream(stream); err != nil {
		return nil, err
	}
	if s.People, err = animsys.NewCrowd(&s.World, s.Stream, animsys.Options{Ground: s.Terrain, Workers: opt.Workers, Styles: opt.Styles, Known: opt.Styles.InStyle("neutral")}); err != nil {
		return nil, errors.Join(err, s.Stream.Close())
	}
	if s.Schedule, err = ecs.NewSchedule(&s.World, 1.0/scenes.TickRate, animsys.Systems()...); err != nil {
		s.People.Close()
		return nil, err
	}
	s.marks = marks.New(marks.Of(s.People, s.Terrain, marks.Places(s.Stream.Ahead, 10)))
	s.curves = generic.NewMap1[manifold.Curve](&s.World)
	if err := s.populate(opt.Agents); err != nil {
		s.Close()
		return nil, err
	}
	s.dress(opt.Styled, opt.wardrobe())
	return s, nil
}

// populate spreads people over the lanes.
func (s *Scene) populate(n int) error {
	lanes, err := lanes(n, s.seed)
	if err != nil {
		return err
	}
	var length float32
	for _, l := range lanes {
		length += l.path.Length()
	}
	done := float32(0) // lanes' length so far, of which each has its share of people
	for _, l := range lanes {
		from := len(s.all)
		done += l.path.Length()
		places := int(m3.Clamp(float32(n)*done/length+0.5, 0, float32(n))) - from
		for k := range places {
			i := from + k
			p := person{lane: l.path, start: l.path.Length() * (l.offset + float32(k)/float32(places)), tint: scenes.Clothes(i, s.seed)}
			at, ahead := p.lane.At(p.start)
			if p.entity, err = s.People.Spawn(at, m3.YawOf(ahead)); err != nil {
				return err
			}
			*s.curves.Get(p.entity) = manifold.Curve{Path: p.lane, Start: p.start, Speed: l.speed}
			s.all = append(s.all, p)
		}
	}
	s.watched = n - 1 // on the outermost lane
	return nil
}

// worn is a style that people can move in.
type worn struct {
	name string
	mar  *ecs.MARStyle  // one of
	gram *ecs.GramStyle // these
}

// wardrobe returns all styles, one of either method by turns; not the neutral one, which
// is everyone's.
func (o *Options) wardrobe() (all []worn) {
	for i := range ecs.MaxStyles {
		if o.Styles != nil && i < len(o.Styles.Styles) && o.Styles.Styles[i] != "neutral" {
			all = append(all, worn{name: o.Styles.Styles[i], mar: whole(i)})
		}
		if i < len(o.Transfers) {
			all = append(all, worn{name: o.Transfers[i].Name, gram: &ecs.GramStyle{Style: i, Weight: 1}})
		}
	}
	return all
}

// whole is all of one style.
func whole(i int) *ecs.MARStyle {
	s := &ecs.MARStyle{}
	s.Weights[i] = 1
	return s
}

// dress gives n people, spread among all, the styles in turn, each in full.
func (s *Scene) dress(n int, all []worn) {
	mar, gram := generic.NewMap1[ecs.MARStyle](&s.World), generic.NewMap1[ecs.GramStyle](&s.World)
	for i := range s.all {
		if k := i * n / len(s.all); (i+1)*n/len(s.all) > k {
			w := all[k%len(all)]
			if w.mar != nil {
				mar.Assign(s.all[i].entity, w.mar)
			} else {
				gram.Assign(s.all[i].entity, w.gram)
			}
			s.all[i].style = w.name
		}
	}
}

// Step runs one tick. The player tells the one who is watched how to go.
func (s *Scene) Step(in scenes.Input) error {
	c := s.curves.Get(s.all[s.watched].entity)
	switch {
	case in.Forward < 0:
		c.Facing = math.Pi
	case in.Side != 0:
		c.Facing = in.Side * math.Pi / 2
	case in.Forward > 0:
		c.Facing = 0
	}
	if in.Gait != scenes.KeepGait {
		c.Speed = Speeds[in.Gait]
	}
	if in.Sit {
		c.Speed = 0
	}
	if in.Jump && !s.pressed {
		s.watched = (s.watched + 1) % len(s.all)
	}
	s.pressed = in.Jump
	if in.Reset {
		for _, p := range s.all {
			at, ahead := p.lane.At(p.start)
			if err := s.People.Place(p.entity, at, m3.YawOf(ahead)); err != nil {
				return err
			}
		}
	}
	if err := s.Schedule.Step(); err != nil {
		return err
	}
	s.marks.Step(s.People.Agents())
	return nil
}

// Hash sums up everyone, and who is watched.
func (s *Scene) Hash() uint64 {
	return uint64(statehash.Hash(s.People.Hash()).Int(s.watched))
}

// Frame describes what to draw. The focus is the one who is watched.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	dst.Seat = scenes.Seat{Distance: 5, Pitch: 0.2}
	dst.Help = append(dst.Help, help...)
	c := dst.Cast(s.People.Skel)
	c.Bones = s.People.Interpolate(c.Bones, alpha)
	for _, p := range s.all {
		c.Tint = append(c.Tint, p.tint)
	}
	row, _ := s.People.Rows.Row(s.all[s.watched].entity)
	dst.Focus = c.Of(row)[0].Pos
	dst.Heading = s.People.Roots[row].Rot.Yaw()
	s.marks.Watched(dst, c.Bones, row)
	s.marks.Draw(dst, c.Bones, row, alpha)
	lane := s.all[s.watched].lane
	along, _ := lane.Nearest(dst.Focus)
	for d := float32(0); d < 5; d += 0.25 {
		p, _ := lane.At(along + d)
		dst.Path = append(dst.Path, m3.V(p.X, s.Terrain.Height(p.X, p.Z), p.Z))
	}
	curve := s.curves.Get(s.all[s.watched].entity)
	about := fmt.Sprintf("%s; watching: person %d, who goes %.1f m/s", scenes.Count(c.Len(), "person", "people"), s.watched+1, curve.Speed)
	if style := s.all[s.watched].style; style != "" {
		about += ", " + style
	}
	dst.HUD = append(dst.HUD, about)
}

// Stages returns the names of the tick's systems: see scenes.Traced.
func (s *Scene) Stages() []string { return s.Schedule.Names() }

// Trace has f called as each system begins: see scenes.Traced.
func (s *Scene) Trace(f func(stage int)) { s.Schedule.Trace = f }

// Close stops the scene's workers.
func (s *Scene) Close() error {
	s.Schedule.Close()
	return s.People.Close()
}
