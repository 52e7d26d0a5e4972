package animsys

import (
	"errors"
	"fmt"

	"mannequin/animsys/generator"
	"mannequin/engine/m3"
	"mannequin/ik"

	arche "github.com/mlange-42/arche/ecs"
)

// SaveMotion writes the state of an agent's motion into st: what its generator saves, with its control, and what inertialization still has to
// ease. It returns where the origin of the state's space lies, m, whose height is the agent's floor. An agent leaves the crowd by it, for where
// SpawnSaved or mannequin/animsys/resident takes its motion up; Despawn removes it here. What the crowd itself remembers of it is not in st:
// locked feet, clips that play, what it looks at. What they have changed of its pose is eased, too. An agent with a character of its own
// is refused. It allocates nothing once st has the room. Call it between ticks: within one it fails.
func (c *Crowd) SaveMotion(st *generator.State, e arche.Entity) (origin m3.Vec3, err error) {
	if err := c.claimBetween("SaveMotion"); err != nil {
		return m3.Vec3{}, err
	}
	defer c.registry.release()
	if st == nil {
		return m3.Vec3{}, errors.New("animsys: SaveMotion: the state is nil")
	}
	c.sweep()
	row, ok := c.rows.Row(e)
	if !ok {
		return m3.Vec3{}, fmt.Errorf("animsys: SaveMotion: entity %v is not in this crowd", e)
	}
	if c.cast.of[row] != noCharacter {
		return m3.Vec3{}, fmt.Errorf("animsys: SaveMotion: entity %v has a character of its own, which only Save knows", e)
	}
	st.Reset()
	c.gen.saveMotion(st, row, e)
	if r := &c.rates[row]; r.rate != Frozen { // its motion may have gone on since it was shown
		c.tune()
		c.leave(st, row)
	}
	if err := st.Err(); err != nil {
		return m3.Vec3{}, fmt.Errorf("animsys: SaveMotion: %w", err)
	}
	origin = c.anchors[row]
	origin.Y = c.floor(row)
	return origin, nil
}

// SpawnSaved is Spawn for an agent whose motion goes on from a state: one of SaveMotion, or of [generator.Generator.Save] with the same
// model, which leaves nothing to be eased. Nothing follows it in st. origin is where the origin of the state's space lies; its height chooses
// the floor of an ik.Floors.
func (c *Crowd) SpawnSaved(st *generator.State, origin m3.Vec3) (arche.Entity, error) {
	const what = "SpawnSaved"
	if err := c.claimBetween(what); err != nil {
		return arche.Entity{}, err
	}
	defer c.registry.release()
	if st == nil {
		return arche.Entity{}, fmt.Errorf("animsys: %s: the state is nil", what)
	}
	if c.world.IsLocked() {
		return arche.Entity{}, fmt.Errorf("animsys: %s: a query has locked the world: do it between ticks", what)
	}
	if err := placeable(origin, 0); err != nil {
		return arche.Entity{}, err
	}
	c.registry.sweep()
	st.Rewind()
	e, row, err := c.gen.restoreMotion(st)
	if err != nil {
		return arche.Entity{}, fmt.Errorf("animsys: %s: %w", what, err)
	}
	c.gen.pose(&c.Poses, row)
	at := c.Poses.Roots[row].Pos.Add(origin.Flat())
	err = c.Inertial.Resume(st, row)
	if err != nil {
		err = fmt.Errorf("animsys: %s: %w", what, err)
	} else if err = placeable(at, 0); err == nil {
		_, err = c.rows.Add(e)
	}
	if err != nil {
		c.gen.remove(row)
		c.world.RemoveEntity(e)
		return arche.Entity{}, err
	}
	anchor := anchorOf(at)
	if by := origin.Flat().Sub(anchor); by != (m3.Vec3{}) { // it would change the sign of a zero
		c.gen.shift(row, by)
		c.Inertial.Shift(row, by)
	}
	c.begin(row, anchor, origin.Y, true)
	return e, nil
}

// leaving is memory for an agent that leaves.
type leaving struct {
	pos          []m3.Vec3  // (joints)
	rot          []m3.Quat  // (joints)
	stood, shown []m3.Xform // (joints)
	feet         []ik.Foot  // (legs)
	body         []ik.Body  // (1)
}

func newLeaving(joints, legs int) leaving {
	return leaving{make([]m3.Vec3, joints), make([]m3.Quat, joints), make([]m3.Xform, joints), make([]m3.Xform, joints), make([]ik.Foot, legs), make([]ik.Body, 1)}
}

// leave writes what inertialization has left of a row. What its ground solver remembers, such as locked feet, and the clips on it end here: the
// difference to the pose as it stands without them is to be eased.
func (c *Crowd) leave(st *generator.State, row int) {
	l := &c.leaving
	copy(l.pos, c.Skel.Offsets)
	root, b := c.Poses.Roots[row], &c.inertial[c.rates[row].span]
	if c.fresh[row] || !b.Shown(row, root, l.pos, l.rot) { // it was placed elsewhere: nothing was shown there
		b.Leave(st, row)
		return
	}
	clear(l.feet)
	l.body[0] = ik.BodyOn(c.floor(row))
	job := c.solvers[EveryTick]
	job.Pos, job.Rot, job.Model, job.Feet, job.Body = l.pos, l.rot, l.stood, l.feet, l.body
	job.Anchors, job.Units = c.anchors[row:row+1], nil
	job.Contacts, job.Steps, job.Shifts, job.Goings = nil, nil, nil, nil
	job.Lock.On = 0
	job.Run(0, 1)
	copy(l.shown, c.now[row*c.joints:][:c.joints])
	by := root.Pos.Sub(c.in(row, c.Roots[row].Pos)).Flat() // it was nudged: its pose goes along
	for j := range l.shown {
		l.shown[j].Pos = l.shown[j].Pos.Add(by)
	}
	b.LeaveShown(st, row, root, l.shown, l.stood)
}
