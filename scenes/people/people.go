// Package people is the scene of people that walk and run along lanes.
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
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/internal/steer"
	"mannequin/scenes/world"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Options configure the scene. 50 agents are usual.
type Options struct {
	world.Options
	Networks   *manifold.Networks // required
	Iterations int                // of the edit: see manifold.StreamOptions

	Styled    int                       // number of people, spread among all, with a style each
	Styles    *mar.Database             // of ecs.MARStyle; Styled requires these or Transfers
	Transfers []*manifold.StyleTransfer // of ecs.GramStyle
}

// Speeds are the speeds that the player can ask for, m/s.
var Speeds = [...]float32{scenes.KeepGait: 0, scenes.Walk: 1.2, scenes.Pace: 1.8, scenes.Trot: 2.8, scenes.Canter: 3.8}

var help = []string{
	"1 2 3 4: walk, walk fast, jog, run    X: stand",
	"S: backward   Q E: sideways   W: ahead again",
	"Space: select the next person   R: restart",
}

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	world.World
	People *animsys.Crowd
	Stream *manifold.Stream

	all    []person // (rows)
	tick   int
	curves generic.Map1[manifold.Curve]
	looks  generic.Map1[ecs.LookAt]
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
)

type person struct {
	lane  *control.Path
	start float32 // along it, m
	arc   float32 // along it as of the last yield, m
	asked float32 // speed of the lane, or as the player asks for, m/s
	ahead int     // row of the next person on the lane; its own if there is none
	style string  // name; may be empty
}

// New builds the scene: all stand on lanes and set out.
func New(opt Options) (*Scene, error) {
	if err := opt.Complete("people", 50, GroundSize); err != nil {
		return nil, err
	}
	switch {
	case opt.Styled < 0 || opt.Styled > opt.Agents:
		return nil, fmt.Errorf("people: %d of %d in a style: want 0 to all", opt.Styled, opt.Agents)
	case opt.Styled > 0 && len(opt.styleSet()) == 0:
		return nil, fmt.Errorf("people: Options.Styles and Transfers have no style but the neutral one, which all people have")
	case opt.Networks == nil:
		return nil, fmt.Errorf("people: Options.Networks is missing")
	}
	s := &Scene{}
	s.Init(&opt.Options)
	var err error
	if s.Stream, err = opt.Networks.NewStream(manifold.StreamOptions{Capacity: opt.Agents, Styles: opt.Transfers, Open: opt.Open, BF16: opt.BF16, Iterations: opt.Iterations}); err != nil {
		return nil, err
	}
	tint := func(row int) [3]float32 { return scenes.Clothes(row, s.Seed) }
	styles := animsys.Options{Styles: opt.Styles, Known: opt.Styles.InStyle("neutral")}
	people, err := world.Add(&s.World, s.Stream, styles, overlay.Places(s.Stream.Preview, 10), tint)
	if err == nil {
		s.People, s.curves, s.looks = people.Crowd, generic.NewMap1[manifold.Curve](&s.ECS), generic.NewMap1[ecs.LookAt](&s.ECS)
		err = s.Start()
	}
	if err == nil {
		err = s.populate(opt.Agents)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.assignStyles(opt.Styled, opt.styleSet())
	return s, nil
}

// entity returns the entity of a row.
func (s *Scene) entity(row int) arche.Entity { return s.People.Entity(row) }

// populate spreads people over the lanes.
func (s *Scene) populate(n int) error {
	lanes, err := lanes(n, s.Seed)
	if err != nil {
		return err
	}
	var length float32
	for _, l := range lanes {
		length += l.path.Length()
	}
	done := float32(0) // length of the lanes so far; each lane has its share of the people
	for _, l := range lanes {
		from := len(s.all)
		done += l.path.Length()
		places := int(m3.Clamp(float32(n)*done/length+0.5, 0, float32(n))) - from
		for k := range places {
			start := l.path.Length() * (l.offset + float32(k)/float32(places))
			p := person{lane: l.path, start: start, arc: start, asked: l.speed, ahead: from + (k+1)%places}
			at, ahead := p.lane.At(p.start)
			e, err := s.People.Spawn(at, m3.YawOf(ahead))
			if err != nil {
				return err
			}
			*s.curves.Get(e) = manifold.Curve{Path: p.lane, Start: p.start, Speed: l.speed}
			s.looks.Add(e)
			s.all = append(s.all, p)
		}
	}
	s.Selected = n - 1 // on the outermost lane
	return nil
}

// style is a style that people can move in, by one of two methods.
type style struct {
	name string
	mar  *ecs.MARStyle
	gram *ecs.GramStyle
}

// styleSet returns all styles, of both methods by turns, except the neutral one, which all people
// have.
func (o *Options) styleSet() (all []style) {
	for i := range ecs.MaxStyles {
		if o.Styles != nil && i < len(o.Styles.Styles) && o.Styles.Styles[i] != "neutral" {
			mar := &ecs.MARStyle{}
			mar.Weights[i] = 1
			all = append(all, style{name: o.Styles.Styles[i], mar: mar})
		}
		if i < len(o.Transfers) {
			all = append(all, style{name: o.Transfers[i].Name, gram: &ecs.GramStyle{Style: i, Weight: 1}})
		}
	}
	return all
}

// assignStyles gives n people, spread among all, the styles in turn.
func (s *Scene) assignStyles(n int, all []style) {
	mar, gram := generic.NewMap1[ecs.MARStyle](&s.ECS), generic.NewMap1[ecs.GramStyle](&s.ECS)
	for i := range s.all {
		if k := i * n / len(s.all); (i+1)*n/len(s.all) > k {
			w := all[k%len(all)]
			if w.mar != nil {
				mar.Assign(s.entity(i), w.mar)
			} else {
				gram.Assign(s.entity(i), w.gram)
			}
			s.all[i].style = w.name
		}
	}
}

// Step runs one tick. The player controls the selected person.
func (s *Scene) Step(in scenes.Input) error {
	c := s.curves.Get(s.entity(s.Selected))
	switch {
	case in.Forward < 0:
		c.Facing = math.Pi
	case in.Side != 0:
		c.Facing = in.Side * math.Pi / 2
	case in.Forward > 0:
		c.Facing = 0
	}
	asked := &s.all[s.Selected].asked
	*asked = in.Gait.Speed(Speeds[:], *asked)
	if in.Sit {
		*asked = 0
	}
	s.steer()
	s.SelectNext(&in)
	if in.Reset {
		for i, p := range s.all {
			at, ahead := p.lane.At(p.start)
			if err := s.People.Place(s.entity(i), at, m3.YawOf(ahead)); err != nil {
				return err
			}
			s.all[i].arc = p.start
		}
	}
	return s.Tick()
}

// steer gives all people the speed that is asked of them, or less so that they keep off the person
// ahead. Heads look where the lane goes.
func (s *Scene) steer() {
	for row := range s.all {
		if (s.tick+row)%steerTicks != 0 {
			continue
		}
		p, root := &s.all[row], s.People.Roots[row]
		c, speed, look := s.curves.Get(s.entity(row)), p.asked, ecs.LookAt{}
		p.arc, _ = p.lane.NearestFrom(root.Pos, p.arc, 1, 1)
		if !s.NoAvoidance && p.ahead != row {
			gap := s.all[p.ahead].arc - p.arc
			if gap < 0 {
				gap += p.lane.Length()
			}
			speed = steer.Follow(speed, gap, s.curves.Get(s.entity(p.ahead)).Speed)
		}
		if c.Facing == 0 {
			_, ahead := p.lane.At(p.arc + lookAhead*max(1, c.Speed))
			look = steer.LookWhereToGo(root, ahead)
		}
		*s.looks.Get(s.entity(row)) = look
		// Each change makes motion anew.
		if m3.Abs(speed-c.Speed) > 0.1 || speed == p.asked || speed == 0 {
			c.Speed = speed
		}
	}
	s.tick++
}

const (
	steerTicks = 6 // after which a person looks at the lane and the gap ahead again
	lookAhead  = 1 // time ahead of the place on the lane to which heads turn, s
)

// Frame describes what to draw. The focus is the selected person.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	dst.Seat = scenes.Seat{Distance: 5, Pitch: 0.2}
	dst.Help = append(dst.Help, help...)
	s.DrawSelected(dst, alpha)
	selected := &s.all[s.Selected]
	along, _ := selected.lane.Nearest(dst.Focus)
	for d := float32(0); d < 5; d += 0.25 {
		p, _ := selected.lane.At(along + d)
		dst.Path = append(dst.Path, m3.V(p.X, s.Terrain.Height(p.X, p.Z), p.Z))
	}
	line := fmt.Sprintf("%s; watching: person %d; asked: %.1f m/s, actual: %.1f m/s",
		scenes.Count(s.Agents(), "person", "people"), s.Selected+1, selected.asked, s.Speed)
	if selected.style != "" {
		line += "; style: " + selected.style
	}
	dst.HUD = append(dst.HUD, line)
}
