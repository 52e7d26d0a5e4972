package crowd

import (
	"mannequin/animsys/control"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/internal/park"

	"github.com/mlange-42/arche/generic"

	arche "github.com/mlange-42/arche/ecs"
)

const (
	personal = 1.8 // distance within which dogs turn away from each other, m
	middle   = 0.2 // from the root, which is under the hips, to a dog's middle, m
	border   = 4   // distance from the terrain's border at which they turn back, m
)

// Roam is the system that gives entities with an ecs.Wander their goals: they
// wander, keep apart and stay on the terrain.
type Roam struct {
	Wander *control.Wander

	park   *park.Park
	goals  []control.Goal // (rows)
	filter generic.Filter3[ecs.Slot, control.Goal, ecs.Wander]
}

// NewRoam returns the system for a park with at most agents dogs, to be given
// to its Open; Spawn then brings the dogs.
func NewRoam(p *park.Park, agents int, seed uint64) *Roam {
	s := &Roam{Wander: control.NewWander(agents, seed), park: p}
	s.Wander.Radius = 8
	return s
}

// Spawn adds n wandering dogs around the origin, each looking its own way. The
// innermost room places stay free.
func (s *Roam) Spawn(n, room int) error {
	wander := generic.NewMap1[ecs.Wander](&s.park.World)
	for i := range n {
		row := s.park.Crowd.Agents()
		at, yaw := park.Start(room + i)
		e, err := s.park.Crowd.Spawn(at, yaw)
		if err != nil {
			return err
		}
		wander.Add(e)
		s.Wander.Reset(row, s.park.Seed+uint64(row), at)
	}
	return nil
}

// Initialize builds the filter.
func (s *Roam) Initialize(*arche.World) {
	s.filter = *generic.NewFilter3[ecs.Slot, control.Goal, ecs.Wander]()
	s.goals = make([]control.Goal, s.park.Crowd.Rows.Cap())
}

// Update sets the goals.
func (s *Roam) Update(w *arche.World) {
	n := s.park.Crowd.Rows.Len()
	roots := s.park.Crowd.Roots[:n]
	s.Wander.Update(s.goals, roots, 1.0/scenes.TickRate, 0, n)
	for q := s.filter.Query(w); q.Next(); {
		slot, goal, _ := q.Get()
		*goal = s.goals[slot.Row]
		s.steer(goal, roots, int(slot.Row))
	}
}

// Finalize has nothing to do.
func (s *Roam) Finalize(*arche.World) {}

// steer bends a walking dog's goal away from its neighbours and the border. It
// looks at every pair: for a thousand dogs that is a small part of their
// network's time.
func (s *Roam) steer(goal *control.Goal, roots []m3.Xform, row int) {
	if goal.Action != control.Move {
		return
	}
	me := roots[row].Apply(m3.V(0, 0, middle))
	ahead := roots[row].Rot.Rotate(m3.V(0, 0, 1))
	var push m3.Vec3
	for r := range roots {
		d := me.Sub(roots[r].Apply(m3.V(0, 0, middle))).Flat()
		if r == row || m3.Abs(d.X) > personal || m3.Abs(d.Z) > personal {
			continue
		}
		if l := d.Len(); l < personal && l > 1e-3 {
			push = push.Add(d.Scale((personal - l) / (personal * l)))
			if d.Dot(ahead) < -0.5*l {
				goal.Speed = min(goal.Speed, control.WalkSpeed)
			}
		}
	}
	if near := s.park.Inside(me); near < border {
		push = push.Add(me.Neg().Normalize(m3.V(0, 0, 1)).Scale(2 * (border - near) / border))
	}
	if push == (m3.Vec3{}) {
		return
	}
	// The goal's own turn is where it would like to look; the push adds to it.
	yaw := m3.YawOf(ahead)
	want := m3.YawQuat(yaw + goal.Turn*control.MaxTurn).Rotate(m3.V(0, 0, 1)).Add(push.Scale(3))
	goal.Turn = control.Steer(yaw, m3.YawOf(want))
}
