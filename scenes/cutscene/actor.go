package cutscene

import (
	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/cutscene/script"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// actor is an actor of the script, and the record of what it has done.
type actor struct {
	script.Actor
	index    int // among the actors
	group    *group
	controls *controls
	row      int // in the group
	entity   arche.Entity
	tint     [3]float32
	moves    []script.Move
	actions  []script.Action
	styles   []script.Style
	styleSet []style // (styles)
	looks    []script.Look
	reaches  []script.Reach
	looksAt  []aimed // (looks)
	reachFor []aimed // (reaches)
	faces    []aimed // (actions)

	rest *control.Path // of people, to stand on before they walk
	arc  float32       // along the move's path, m

	place, drift m3.Vec3 // its place, smoothed, and the velocity of that

	// The record, (ticks) and (ticks, joints).
	kept   []m3.Xform
	places []m3.Vec3
	yaws   []float32
}

// newActor returns actor i.
func newActor(sc *script.Script, i, ticks int) *actor {
	a := &actor{Actor: sc.Actors[i], index: i, places: make([]m3.Vec3, ticks), yaws: make([]float32, ticks)}
	a.moves = mine(sc.Moves, func(m *script.Move) int { return m.Actor }, i)
	a.actions = mine(sc.Actions, func(m *script.Action) int { return m.Actor }, i)
	a.styles = mine(sc.Styles, func(m *script.Style) int { return m.Actor }, i)
	a.looks = mine(sc.Looks, func(m *script.Look) int { return m.Actor }, i)
	a.reaches = mine(sc.Reaches, func(m *script.Reach) int { return m.Actor }, i)
	switch {
	case a.Coloured:
		a.tint = a.Colour
	case a.Kind == script.Person:
		a.tint = scenes.Clothes(i, sc.Seed)
	default:
		a.tint = [3]float32{0.33, 0.17, 0.07}
	}
	return a
}

func mine[T any](all []T, of func(*T) int, i int) (out []T) {
	for k := range all {
		if of(&all[k]) == i {
			out = append(out, all[k])
		}
	}
	return out
}

// enter makes room for the record.
func (a *actor) enter(field *terrain.Field) error {
	a.place = m3.V(a.At.X, field.Height(a.At.X, a.At.Z), a.At.Z)
	a.row, _ = a.group.crowd.Row(a.entity)
	a.kept = make([]m3.Xform, len(a.places)*a.group.crowd.Skel.Len())
	ahead := m3.YawQuat(a.Yaw).Forward()
	var err error
	a.rest, err = control.NewPath([]m3.Vec3{a.At, a.At.Add(ahead)}, false)
	return err
}

// bones returns the recorded joints of a tick, world space.
func (a *actor) bones(tick int) []m3.Xform {
	n := a.group.crowd.Skel.Len()
	return a.kept[tick*n : (tick+1)*n]
}

// root returns the place and heading on flat ground.
func (a *actor) root() (at m3.Vec3, yaw float32) {
	x := a.group.crowd.Roots[a.row]
	return x.Pos.Flat(), x.Rot.Yaw()
}

// cameraHalflife is the half-life with which cameras follow, s.
const cameraHalflife = 0.12

// smooth updates the place that cameras follow.
func (a *actor) smooth(field *terrain.Field) {
	at, _ := a.root()
	at.Y = field.Height(at.X, at.Z)
	a.place, a.drift = m3.SpringVec(a.place, a.drift, at, cameraHalflife, 1.0/scenes.TickRate)
}

// record records a tick.
func (a *actor) record(tick int) {
	copy(a.bones(tick), a.group.crowd.BonesAt(a.row))
	_, a.yaws[tick] = a.root()
	a.places[tick] = a.place
}

// aimed is a resolved target of the script.
type aimed struct {
	actor *actor  // nil for a point
	joint int     // the actor's
	at    m3.Vec3 // in the joint's frame, m; the point in the world
	plus  m3.Vec3 // world axes, m
}

// place returns the target's place in the last tick.
func (t *aimed) place() m3.Vec3 {
	if t.actor == nil {
		return t.at
	}
	return t.actor.group.crowd.BonesAt(t.actor.row)[t.joint].Apply(t.at).Add(t.plus)
}

// resolve looks up the targets and styles that the script names.
func (a *actor) resolve(s *Scene) error {
	for i := range a.looks {
		l := &a.looks[i]
		if l.Target.Actor == a.index {
			return s.Script.Errorf(l.Line, "%q looks at itself", a.Name)
		}
		t, err := s.aim(l.Line, &l.Target)
		if err != nil {
			return err
		}
		a.looksAt = append(a.looksAt, t)
	}
	for i := range a.reaches {
		t, err := s.aim(a.reaches[i].Line, &a.reaches[i].Target)
		if err != nil {
			return err
		}
		a.reachFor = append(a.reachFor, t)
	}
	for i := range a.actions {
		c, t := &a.actions[i], aimed{}
		if c.Do == control.Idle {
			var err error
			if t, err = s.aim(c.Line, &c.Target); err != nil {
				return err
			}
		}
		a.faces = append(a.faces, t)
	}
	for i := range a.styles {
		k, err := a.group.style(a.styles[i].Name)
		if err != nil {
			return s.Script.Errorf(a.styles[i].Line, "%w", err)
		}
		a.styleSet = append(a.styleSet, k)
	}
	return nil
}

// aim resolves a target.
func (s *Scene) aim(line int, t *script.Target) (aimed, error) {
	if t.Actor < 0 {
		at := t.Point
		at.Y += s.Terrain.Height(at.X, at.Z)
		return aimed{at: at}, nil
	}
	a := s.actors[t.Actor]
	sk := a.group.crowd.Skel
	out := aimed{actor: a, plus: t.Offset}
	name := t.Joint
	if name == "" {
		name = "Head"
	}
	if out.joint = sk.Index(name); out.joint < 0 {
		return out, s.Script.Errorf(line, "%q has no joint %q: want one of %v", a.Name, name, sk.Names)
	}
	if t.Joint == "" {
		out.at = eyes(a.Kind)
	}
	return out, nil
}

// eyes returns the place of the eyes in the frame of the head.
func eyes(k script.Kind) m3.Vec3 {
	if k == script.Dog {
		return m3.V(0.07, 0.03, 0)
	}
	return m3.V(0, 0.082, 0.089)
}
