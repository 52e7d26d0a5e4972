package steer

import (
	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/terrain"
)

// The settings of dogs that make way.
const (
	beside   = 0.9 // distance from a player's dog up to which they also step aside, m
	touching = 0.4 // distance up to which they only step aside, m
	wary     = 2.2 // distance up to which they turn away from its way, m
	startled = 1.2 // distance up to which it makes a resting dog get up, m
	notice   = 0.7 // time ahead in which they see it come, s
	middle   = 0.2 // from the root, which is under the hips, to the middle of a dog, m
	border   = 4   // distance from the terrain's border at which they turn back, m
)

// Herd is the avoidance of dogs: they keep apart, stay on the terrain and make way for the dog that
// the player controls.
type Herd struct {
	Velocity  func(row int) m3.Vec3 // of the player's dog, m/s
	avoidance control.Avoidance
	walkers   []control.Walker // (rows)
	field     *terrain.Field
	roots     []m3.Xform
	player    *way // nil: there is none
	way       way
}

// NewHerd returns the avoidance of at most n dogs on a terrain.
func NewHerd(field *terrain.Field, n int) *Herd {
	h := &Herd{field: field, walkers: make([]control.Walker, n)}
	for row := range h.walkers {
		h.walkers[row] = Dog
		h.walkers[row].Left = Side(uint64(row))
	}
	return h
}

func (h *Herd) begin(roots []m3.Xform, led int) {
	h.roots = roots
	h.avoidance.Begin()
	for row, root := range roots {
		h.avoidance.Add(&h.walkers[row], root)
	}
	h.avoidance.Sort()
	h.player = nil
	if led >= 0 {
		at := middleOf(roots[led])
		h.way = way{at, at.Add(h.Velocity(led).Scale(notice))}
		h.player = &h.way
	}
}

// middleOf returns a dog's middle on the ground.
func middleOf(root m3.Xform) m3.Vec3 { return root.Apply(m3.V(0, 0, middle)).Flat() }

// way is the stretch of ground that the player's dog is about to cover.
type way struct{ from, to m3.Vec3 }

// away returns the vector from the nearest point of the way to p. It is a step to the left of the way
// if p is on it.
func (w way) away(p m3.Vec3) m3.Vec3 {
	line := w.to.Sub(w.from)
	t := m3.Clamp(p.Sub(w.from).Dot(line)/max(line.Dot(line), 1e-6), 0, 1)
	d := p.Sub(w.from.Add(line.Scale(t)))
	if d.Len() < 0.05 {
		return d.Add(m3.V(line.Z, 0, -line.X).Normalize(m3.V(1, 0, 0)).Scale(0.05))
	}
	return d
}

// bend turns a dog's goal away from its neighbours, the player and the border. Only the player
// makes a resting dog get up.
func (h *Herd) bend(goal *control.Goal, row int) {
	me, ahead := middleOf(h.roots[row]), h.roots[row].Rot.Forward()
	yaw := m3.YawOf(ahead)
	push := inward(h.field, me)
	var near float32 // 0 if the player's dog can be ignored, to 1, if nothing else matters
	rests := goal.Action != control.Move
	if w := h.player; w != nil {
		d := w.away(me)
		if l := d.Len(); l < startled || !rests && l < wary {
			push = push.Add(d.Scale((wary - l) / (wary * l)))
			near = m3.Clamp((beside-l)/(beside-touching), 0, 1)
			if rests {
				*goal = control.Goal{Action: control.Move, Move: m3.V(0, 0, 1), Speed: control.PaceSpeed}
				rests = false
				ahead = m3.Vec3{}
			}
			if me.Sub(w.from).Dot(h.roots[row].Rot.Forward()) > 0 { // at this speed it is not caught up with
				goal.Speed = max(goal.Speed, min(1.3*w.to.Dist(w.from)/notice, control.CanterSpeed))
			}
		}
	}
	if rests {
		h.avoidance.Steer(row, ahead, 0)
		return
	}
	// The goal's own turn is the direction that the dog wants; the push adds to it.
	want := push.Scale(3)
	if ahead != (m3.Vec3{}) {
		want = want.Add(m3.YawQuat(yaw + goal.Turn*control.MaxTurn).Forward())
	}
	turn, speed := h.avoidance.Steer(row, want.Normalize(h.roots[row].Rot.Forward()), goal.Speed)
	// A dog that is too near to the player's to turn first steps sideways or back.
	goal.Turn, goal.Speed = turn/control.MaxTurn, m3.Lerp(speed, goal.Speed, near)
	side := m3.YawQuat(-yaw).Rotate(want).Normalize(goal.Move)
	goal.Move = goal.Move.Lerp(side, near).Normalize(side)
}
