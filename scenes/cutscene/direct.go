package cutscene

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/scenes/cutscene/script"
)

const (
	// lead is the time by which people's controls are early, s: their windows of motion are made
	// ahead.
	lead = 1.1
	// dogLead is the same for dogs.
	dogLead = 0.3
	// Late actors walk faster by catchUp of the distance that is missing, 1/s. People's controls
	// change every retell ticks, by at least minSpeed, m/s, or minTurn, rad.
	catchUp, retell, minSpeed, minTurn = 0.6, 30, 0.06, 0.18

	// peoplePush is the acceleration of people, m/s². The usual one is too low to arrive at a script's
	// times.
	peoplePush = 3
	// A dog turns on the spot until it faces its target to within faced rad.
	faced = 0.2
	// gramSteps is the number of weights of an ecs.GramStyle.
	gramSteps = 4
	// late is the time after its end for which a dog continues a move, s.
	late = 3
)

// style returns the actor's style at time t, of the method with the larger weight.
func (a *actor) style(t float32) (mar ecs.MARStyle, gram ecs.GramStyle) {
	var windows [ecs.MaxStyles]float32 // weights of Gram styles
	var most [2]float32
	for i, d := range a.styleSet {
		if !d.gram {
			w := a.styles[i].At(t)
			mar.Weights[d.index], most[0] = max(mar.Weights[d.index], w), max(most[0], w)
			continue
		}
		// It shows as late as a move does. Each change of weight makes new windows.
		w := float32(math.Round(gramSteps*float64(a.styles[i].At(t+lead)))) / gramSteps
		windows[d.index], most[1] = max(windows[d.index], w), max(most[1], w)
	}
	if most[1] <= most[0] {
		return mar, ecs.GramStyle{}
	}
	for i, w := range windows {
		if w > gram.Weight {
			gram = ecs.GramStyle{Style: i, Weight: w}
		}
	}
	return ecs.MARStyle{}, gram
}

// direct sets the actor's controls at time t.
func (a *actor) direct(s *Scene, t float32) {
	c := a.controls
	look := ecs.LookAt{}
	for i := range a.looks {
		if w := a.looks[i].At(t); w > 0 {
			look = ecs.LookAt{Target: a.looksAt[i].place(), Weight: w}
		}
	}
	*c.looks.Get(a.entity) = look
	if a.Kind == script.Dog {
		*c.goals.Get(a.entity) = a.goal(t)
		return
	}
	var reach ecs.Reach
	for i := range a.reaches {
		hand := &reach.Left
		if a.reaches[i].Right {
			hand = &reach.Right
		}
		if w := a.reaches[i].At(t); w > 0 {
			*hand = ecs.Hand{Target: a.reachFor[i].place(), Weight: w}
		}
	}
	*c.reaches.Get(a.entity) = reach
	*c.mar.Get(a.entity), *c.gram.Get(a.entity) = a.style(t)
	a.walk(t, s.made)
}

// move returns the move at time t, or the last one before; nil if there is none yet.
func (a *actor) move(t float32) *script.Move {
	for i := len(a.moves) - 1; i >= 0; i-- {
		if t >= a.moves[i].From() {
			return &a.moves[i]
		}
	}
	return nil
}

// action returns the index of the action at time t, or −1.
func (a *actor) action(t float32) int {
	for i := range a.actions {
		if t >= a.actions[i].From && t < a.actions[i].To {
			return i
		}
	}
	return -1
}

// pace returns the speed along a move at time t, if the actor was at arc at time seen.
func pace(m *script.Move, t, seen, arc float32) float32 {
	_, v := m.Along(t)
	want, _ := m.Along(seen)
	return v + catchUp*(want-arc)
}

// goal returns the goal of a dog at time t.
func (a *actor) goal(t float32) control.Goal {
	at, yaw := a.root()
	act := a.action(t)
	var g control.Goal
	if act >= 0 {
		g.Action = a.actions[act].Do
	}
	if m := a.move(t + dogLead); m != nil && t < m.To()+late {
		if g.Path = m.Path; a.arc > m.Path.Length() || t < m.From() {
			a.arc = 0
		}
		a.arc, _ = m.Path.NearestFrom(at, a.arc, 0.3, 0.6)
		speed := pace(m, t+dogLead, t, a.arc)
		left := m.Path.Length() - a.arc
		if g.Action == control.Idle || g.Action == control.Jump {
			if left > 0.15 {
				g.Speed = m3.Clamp(speed, 0.3, control.CanterSpeed*1.2)
				return g
			}
		}
		g.Path = nil
	}
	if act >= 0 && g.Action == control.Idle {
		want := m3.YawOf(a.faces[act].place().Sub(at).Flat())
		if off := m3.WrapAngle(want - yaw); m3.Abs(off) > faced {
			g.Turn = control.Steer(yaw, want)
		}
	}
	if g.Action == control.Jump {
		g.Speed = control.TrotSpeed
	}
	return g
}

// walk sets the curve of a person at time t, which is a tick.
func (a *actor) walk(t float32, tick int) {
	curve := a.controls.curves.Get(a.entity)
	curve.Acceleration = peoplePush
	at, _ := a.root()
	soon := t + lead
	path := a.rest
	m := a.move(soon)
	if m != nil {
		path = m.Path
	}
	fresh := curve.Path != path
	if fresh {
		curve.Path, curve.Start, curve.Facing, a.arc = path, 0, 0, 0
	}
	if m != nil && t >= m.From() {
		a.arc, _ = path.NearestFrom(at, a.arc, 0.3, 0.6)
	}
	if !fresh && tick%retell != 0 {
		return
	}
	if m != nil && soon < m.To() {
		v := pace(m, soon, t, a.arc)
		if t < m.From()+lead { // an actor that starts is behind for good reason
			_, v = m.Along(soon)
		}
		if v = m3.Clamp(v, 0.4, 4.5); m3.Abs(v-curve.Speed) > minSpeed {
			curve.Speed = v
		}
	}
	if act := a.action(soon); act >= 0 {
		_, ahead := path.At(a.arc)
		want := m3.YawOf(a.faces[act].place().Sub(at).Flat()) - m3.YawOf(ahead)
		if want = m3.WrapAngle(want); m3.Abs(m3.WrapAngle(want-curve.Facing)) > minTurn {
			curve.Facing = want
		}
	}
}
