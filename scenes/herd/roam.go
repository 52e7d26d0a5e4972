package herd

import (
	"mannequin/animsys/control"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/internal/grid"
	"mannequin/scenes/world"

	"github.com/mlange-42/arche/generic"

	arche "github.com/mlange-42/arche/ecs"
)

const (
	personal = 1.8 // distance within which dogs turn away from each other, m
	beside   = 0.9 // distance within which they step aside as well, m
	touching = 0.4 // and do nothing else, m
	wary     = 2.2 // distance within which they turn away from a player's way, m
	startled = 1.2 // distance within which it makes a resting dog get up, m
	notice   = 0.7 // how far ahead they see a player come, s
	middle   = 0.2 // from the root, which is under the hips, to a dog's middle, m
	border   = 4   // distance from the terrain's border at which they turn back, m
)

// Roam is the system that gives entities with a scenes.Wander their goals: they
// wander, keep apart, stay on the terrain and make way for entities with an
// scenes.Player.
type Roam struct {
	Wander *control.Wander

	pack    *world.Pack
	grid    *grid.Grid
	goals   []control.Goal // (rows)
	middles []m3.Vec3      // (rows) the dogs' middles on the ground
	players []way
	filter  generic.Filter3[ecs.Slot, control.Goal, scenes.Wander]
	others  generic.Filter2[ecs.Slot, scenes.Player]
}

// NewRoam returns the system for a park with at most agents dogs, to be given
// to its Open; Spawn then brings the dogs.
func NewRoam(p *world.Pack, agents int, seed uint64) *Roam {
	s := &Roam{Wander: control.NewWander(agents, seed), pack: p}
	s.Wander.Radius = 8
	return s
}

// Spawn adds n wandering dogs around the origin, each looking its own way. The
// innermost room places stay free.
func (s *Roam) Spawn(n, room int) error {
	wander := generic.NewMap1[scenes.Wander](&s.pack.ECS)
	for i := range n {
		row := s.pack.Crowd.Agents()
		at, yaw := world.Sunflower(room + i)
		e, err := s.pack.Crowd.Spawn(at, yaw)
		if err != nil {
			return err
		}
		wander.Add(e)
		s.Wander.Reset(row, s.pack.Seed+uint64(row), at)
	}
	return nil
}

// Initialize builds the filters and the room for what Update works with.
func (s *Roam) Initialize(*arche.World) {
	s.filter = *generic.NewFilter3[ecs.Slot, control.Goal, scenes.Wander]()
	s.others = *generic.NewFilter2[ecs.Slot, scenes.Player]()
	n := s.pack.Crowd.Rows.Cap()
	x0, z0, x1, z1 := s.pack.Terrain.Bounds()
	s.grid = grid.New(x0, z0, x1, z1, personal, n)
	s.goals, s.middles, s.players = make([]control.Goal, n), make([]m3.Vec3, n), make([]way, 0, n)
}

// Update sets the goals.
func (s *Roam) Update(w *arche.World) {
	c := s.pack.Crowd
	n := c.Rows.Len()
	roots := c.Roots[:n]
	s.look(roots)
	s.players = s.players[:0]
	for q := s.others.Query(w); q.Next(); {
		slot, _ := q.Get()
		at := s.middles[slot.Row]
		s.players = append(s.players, way{at, at.Add(s.pack.Dogs.Velocity(int(slot.Row)).Scale(notice))})
	}
	s.Wander.Update(s.goals, roots, 1.0/scenes.TickRate, 0, n)
	for q := s.filter.Query(w); q.Next(); {
		slot, goal, _ := q.Get()
		*goal = s.goals[slot.Row]
		s.steer(goal, roots[slot.Row], int(slot.Row))
	}
}

// look notes where everyone is.
func (s *Roam) look(roots []m3.Xform) {
	for r, root := range roots {
		s.middles[r] = root.Apply(m3.V(0, 0, middle)).Flat()
	}
	s.grid.Fill(s.middles[:len(roots)])
}

// Finalize has nothing to do.
func (s *Roam) Finalize(*arche.World) {}

// away adds up what pushes a dog: near is how close the closest comes, from 0
// where it may be ignored to 1 where nothing else matters.
type away struct {
	push m3.Vec3
	near float32
}

// from notes someone at distance d, seen from there, who is noticed within reach
// metres.
func (a *away) from(d m3.Vec3, reach float32) {
	l := d.Len()
	if !(l < reach && l > 1e-3) {
		return
	}
	a.push = a.push.Add(d.Scale((reach - l) / (reach * l)))
	a.near = max(a.near, m3.Clamp((beside-l)/(beside-touching), 0, 1))
}

// way is the stretch of ground that a player's dog is about to cover.
type way struct{ from, to m3.Vec3 }

// away returns the vector from the nearest point of the way to p, and a step to
// its left where p is right on it.
func (w way) away(p m3.Vec3) m3.Vec3 {
	line := w.to.Sub(w.from)
	t := m3.Clamp(p.Sub(w.from).Dot(line)/max(line.Dot(line), 1e-6), 0, 1)
	d := p.Sub(w.from.Add(line.Scale(t)))
	if d.Len() < 0.05 {
		return d.Add(m3.V(line.Z, 0, -line.X).Normalize(m3.V(1, 0, 0)).Scale(0.05))
	}
	return d
}

// steer bends a dog's goal away from its neighbours, players and the border.
// Only players make a resting dog get up.
func (s *Roam) steer(goal *control.Goal, root m3.Xform, row int) {
	me, ahead := s.middles[row], root.Rot.Forward()
	yaw := m3.YawOf(ahead)
	var a away
	var flee float32 // the speed at which one behind does not catch up, m/s
	rests := goal.Action != control.Move
	for _, w := range s.players {
		d := w.away(me)
		if rests && !(d.Len() < startled) {
			continue
		}
		a.from(d, wary)
		if d.Len() < wary && me.Sub(w.from).Dot(ahead) > 0 {
			flee = max(flee, 1.3*w.to.Dist(w.from)/notice)
		}
	}
	if rests && a.push == (m3.Vec3{}) {
		return
	}
	for k := range 3 {
		for _, r := range s.grid.Near(me, k) {
			if int(r) == row {
				continue
			}
			d := me.Sub(s.middles[r])
			if l := d.Len(); l < personal && d.Dot(ahead) < -0.5*l {
				goal.Speed = min(goal.Speed, control.WalkSpeed)
			}
			a.from(d, personal)
		}
	}
	if in := world.Inside(s.pack.Terrain, me); in < border {
		a.push = a.push.Add(me.Neg().Normalize(m3.V(0, 0, 1)).Scale(2 * (border - in) / border))
	}
	if a.push == (m3.Vec3{}) {
		return
	}
	// The goal's own turn is where it would like to look; the push adds to it.
	want := a.push.Scale(3)
	if rests {
		*goal = control.Goal{Action: control.Move, Move: m3.V(0, 0, 1), Speed: control.PaceSpeed}
	} else {
		want = want.Add(m3.YawQuat(yaw + goal.Turn*control.MaxTurn).Forward())
	}
	goal.Speed = max(goal.Speed, min(flee, control.CanterSpeed))
	goal.Turn = control.Steer(yaw, m3.YawOf(want))
	// Too near to turn first, it steps sideways or back.
	aside := m3.YawQuat(-yaw).Rotate(want).Normalize(goal.Move)
	goal.Move = goal.Move.Lerp(aside, a.near).Normalize(aside)
}
