package steer

import (
	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/terrain"
)

// The settings of dogs' avoidance.
const (
	herdPersonal = 1.8 // distance up to which dogs turn away from each other, m
	beside       = 0.9 // distance up to which they also step aside, m
	herdTouching = 0.4 // distance up to which they only step aside, m
	wary         = 2.2 // distance up to which they turn away from the way of a player's dog, m
	startled     = 1.2 // distance up to which it makes a resting dog get up, m
	notice       = 0.7 // time ahead in which they see it come, s
	middle       = 0.2 // from the root, which is under the hips, to the middle of a dog, m
	border       = 4   // distance from the terrain's border at which they turn back, m
)

// Herd is the avoidance of dogs: they keep apart, stay on the terrain and make way for the dog that
// the player controls.
type Herd struct {
	Velocity func(row int) m3.Vec3 // of the player's dog, m/s
	field    *terrain.Field
	grid     *Grid
	roots    []m3.Xform
	middles  []m3.Vec3 // (rows) the dogs' middles on the ground
	player   *way      // nil: there is none
	way      way
}

// NewHerd returns the avoidance of at most n dogs on a terrain.
func NewHerd(field *terrain.Field, n int) *Herd {
	x0, z0, x1, z1 := field.Bounds()
	return &Herd{field: field, grid: NewGrid(x0, z0, x1, z1, herdPersonal, n), middles: make([]m3.Vec3, n)}
}

func (h *Herd) begin(roots []m3.Xform, led int) {
	h.roots = roots
	for r, root := range roots {
		h.middles[r] = root.Apply(m3.V(0, 0, middle)).Flat()
	}
	h.grid.Fill(h.middles[:len(roots)])
	h.player = nil
	if led >= 0 {
		at := h.middles[led]
		h.way = way{at, at.Add(h.Velocity(led).Scale(notice))}
		h.player = &h.way
	}
}

// separation is the sum of what pushes a dog away. near is how close the nearest neighbour is, from
// 0, if it can be ignored, to 1, if nothing else matters.
type separation struct {
	push m3.Vec3
	near float32
}

// add adds a neighbour from which the dog is at d. It is ignored if it is farther than reach metres.
func (s *separation) add(d m3.Vec3, reach float32) {
	l := d.Len()
	if !(l < reach && l > 1e-3) {
		return
	}
	s.push = s.push.Add(d.Scale((reach - l) / (reach * l)))
	s.near = max(s.near, m3.Clamp((beside-l)/(beside-herdTouching), 0, 1))
}

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
	me, ahead := h.middles[row], h.roots[row].Rot.Forward()
	yaw := m3.YawOf(ahead)
	var s separation
	var flee float32 // the speed at which a dog behind does not catch up, m/s
	rests := goal.Action != control.Move
	if w := h.player; w != nil {
		if d := w.away(me); !rests || d.Len() < startled {
			s.add(d, wary)
			if d.Len() < wary && me.Sub(w.from).Dot(ahead) > 0 {
				flee = 1.3 * w.to.Dist(w.from) / notice
			}
		}
	}
	if rests && s.push == (m3.Vec3{}) {
		return
	}
	for k := range 3 {
		for _, r := range h.grid.Near(me, k) {
			if int(r) == row {
				continue
			}
			d := me.Sub(h.middles[r])
			if l := d.Len(); l < herdPersonal && d.Dot(ahead) < -0.5*l {
				goal.Speed = min(goal.Speed, control.WalkSpeed)
			}
			s.add(d, herdPersonal)
		}
	}
	if in := Inside(h.field, me); in < border {
		s.push = s.push.Add(me.Neg().Normalize(m3.V(0, 0, 1)).Scale(2 * (border - in) / border))
	}
	if s.push == (m3.Vec3{}) {
		return
	}
	// The goal's own turn is the direction that the dog wants; the push adds to it.
	want := s.push.Scale(3)
	if rests {
		*goal = control.Goal{Action: control.Move, Move: m3.V(0, 0, 1), Speed: control.PaceSpeed}
	} else {
		want = want.Add(m3.YawQuat(yaw + goal.Turn*control.MaxTurn).Forward())
	}
	goal.Speed = max(goal.Speed, min(flee, control.CanterSpeed))
	goal.Turn = control.Steer(yaw, m3.YawOf(want))
	// A dog that is too near to turn first steps sideways or back.
	side := m3.YawQuat(-yaw).Rotate(want).Normalize(goal.Move)
	goal.Move = goal.Move.Lerp(side, s.near).Normalize(side)
}
