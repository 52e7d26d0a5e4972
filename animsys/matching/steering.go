package matching

import (
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// StreamOptions configure a stream.
type StreamOptions struct {
	Capacity int               // largest number of agents, at least 1
	Tuning   *Tuning           // nil is Character.Tuning; the root of a mode-adaptive network then follows the simulated body more closely
	Workers  int               // of networks; 0: one per CPU, or one for few agents
	Open     netruntime.Opener // opens sessions of networks; nil: on the CPU
	BF16     bool              // of networks; see netruntime.SessionOptions
	// Nearest opens the device that searches the recordings, in each tick once for all agents that search; nil: the processor searches. The
	// same frames are found.
	Nearest netruntime.NearestOpener
}

// steering is what the agents of all kinds of streams have: goals, simulated bodies, and roots that are drawn to them.
type steering struct {
	character *Character
	tuning    Tuning
	goals     []control.Goal // (capacity)
	agents    []agent        // (capacity)
	rows      int
	frozen    []bool // (rows) of this tick
	walls     generator.Surroundings
	closed    bool
}

// agent is what a row has in streams of all kinds.
type agent struct {
	At       feature.Place // root
	Body     body
	Velocity m3.Vec3 // that was asked for when it searched last
	Facing   float32
	Since    int32   // ticks since it searched
	Wait     int32   // ticks until it searches
	Restart  int32   // 1: its pose does not continue the one before
	Went     m3.Vec3 // over the ground in the last tick, m; as an action begins, before it is drawn to the body
}

func newSteering(c *Character, o *StreamOptions) (steering, error) {
	if o.Capacity < 1 {
		return steering{}, fmt.Errorf("matching: StreamOptions.Capacity is %d: want at least 1", o.Capacity)
	}
	s := steering{character: c, tuning: c.Tuning(), goals: make([]control.Goal, o.Capacity), agents: make([]agent, o.Capacity)}
	if o.Tuning != nil {
		if err := o.Tuning.Validate(); err != nil {
			return steering{}, err
		}
		s.tuning = *o.Tuning
	}
	return s, nil
}

// Capacity returns the largest number of agents.
func (s *steering) Capacity() int { return len(s.goals) }

// Controls returns the goal of each row, (capacity), to change before Generate.
func (s *steering) Controls() []control.Goal { return s.goals }

// Root returns the place of a row's root.
func (s *steering) Root(row int) feature.Place { return s.agents[row].At }

// SetWalls makes all rows plan along walls; see [generator.Walled].
func (s *steering) SetWalls(walls generator.Surroundings) { s.walls = walls }

// rig returns the skeleton with its legs.
func (s *steering) rig(roles *ik.Roles, identity string) (rig generator.Rig, err error) {
	c := s.character
	if c == nil {
		return generator.Rig{}, errZero
	}
	if roles == nil {
		roles = &c.Roles
	}
	if c.upright {
		rig, err = generator.Human(c.Skel, roles)
	} else {
		rig, err = generator.NewRig(c.Skel, ik.DefaultDog(), roles, nil)
		rig.Late, rig.Body = true, []generator.Disc{{Radius: 0.3}}
	}
	rig.Ground.MaxFootAccel = max(rig.Ground.MaxFootAccel, c.footAccel)
	rig.Identity = fmt.Sprintf("%s, tuning %+v", identity, s.tuning)
	return rig, err
}

// standing gives the rig of a responsive person the contacts that the features of its poses tell.
func (s *steering) standing(rig generator.Rig, err error) (generator.Rig, error) {
	c := s.character
	if err != nil || !c.upright || !c.Responsive {
		return rig, err
	}
	var bits []uint8
	for _, leg := range rig.Ground.Rig.Roles.Legs {
		for i, own := range c.Roles.Legs {
			if slices.Equal(leg, own) {
				bits = append(bits, uint8(i))
			}
		}
	}
	if len(bits) == c.legs { // they are the legs of the features
		rig.Contacts, rig.Ground.Lock.Support, rig.Ground.Lock.Heel = bits, support, heel
	}
	return rig, nil
}

const (
	support = 0.35 // how far from below its hip a foot carries a person, as a share of the leg's length
	heel    = 1.2  // how far a foot that pushes off turns up about its tip, rad
)

// add puts an agent at a place and returns its row.
func (s *steering) add(at feature.Place, goal *control.Goal) (row int, err error) {
	if err := s.room(); err != nil {
		return 0, err
	}
	row = s.rows
	s.rows++
	if s.goals[row] = (control.Goal{}); goal != nil {
		s.goals[row] = *goal
	}
	s.agents[row] = agent{Wait: int32(row % s.tuning.Every)}
	s.Place(row, at)
	return row, nil
}

// room returns an error if there is no row for another agent.
func (s *steering) room() error {
	switch {
	case s.character == nil:
		return errZero
	case s.rows == len(s.goals):
		return fmt.Errorf("matching: all %d rows of the stream are taken", s.rows)
	}
	return nil
}

// Place puts row at a place, where it goes on.
func (s *steering) Place(row int, at feature.Place) {
	a := &s.agents[row]
	at.Pos, at.Yaw = at.Pos.Flat(), m3.WrapAngle(at.Yaw)
	a.At = at
	a.Body = body{At: at, Along: -1, Heading: at.Yaw}
	a.Went = m3.Vec3{}
}

// Shift moves all places of a row; see [generator.Generator].
func (s *steering) Shift(row int, by m3.Vec3) {
	a := &s.agents[row]
	a.At.Pos, a.Body.At.Pos = a.At.Pos.Add(by), a.Body.At.Pos.Add(by)
}

// Turn turns all places and directions of a row; see [generator.Turner].
func (s *steering) Turn(row int, by m3.Turn) {
	a := &s.agents[row]
	a.At, a.Velocity, a.Facing = a.At.Turned(by), by.Rot.Rotate(a.Velocity), m3.WrapAngle(a.Facing+by.Yaw)
	a.Went = by.Rot.Rotate(a.Went)
	b := &a.Body
	b.At, b.Vel, b.Acc = b.At.Turned(by), by.Rot.Rotate(b.Vel), by.Rot.Rotate(b.Acc)
	b.Heading = m3.WrapAngle(b.Heading + by.Yaw)
}

// remove takes a row out. The last row becomes this one.
func (s *steering) remove(row int) {
	s.rows--
	s.agents[row], s.goals[row] = s.agents[s.rows], s.goals[s.rows]
}

func (s *steering) visit(st *generator.State, row int) {
	generator.Goal(st, &s.goals[row])
	a := &s.agents[row]
	generator.Value(st, a)
	if !st.Reading() {
		return
	}
	ok := a.At.Finite() && a.Body.At.Finite() && a.Body.Vel.Finite() && a.Body.Acc.Finite() && a.Velocity.Finite() && a.Went.Finite()
	for _, v := range [...]float32{a.Body.Spin, a.Body.Along, a.Body.Heading, a.Facing} {
		ok = ok && m3.Finite(v)
	}
	if !ok || a.Since < 0 || a.Wait < 0 || a.Wait > 60 {
		st.Fail(errForeign)
	}
}

// restored adds the row whose state was read, unless something of it was wrong.
func (s *steering) restored(row int, st *generator.State) (int, error) {
	if err := st.Err(); err != nil {
		s.agents[row] = agent{}
		return 0, fmt.Errorf("matching: %w", err)
	}
	s.rows++
	return row, nil
}

var errForeign = errors.New("the state is none of an agent of this character")

// begin begins a tick.
func (s *steering) begin(frozen []bool) error {
	if s.closed {
		return errors.New("matching: the stream is closed")
	}
	s.frozen = frozen
	return nil
}

// plan advances the simulated body of a row by a tick toward what its goal asks for, and reports whether a search is due. An action with the tags
// apart does not count: the row goes on in the stance with the tags keeps. One that waits stays where it is.
func (s *steering) plan(row int, apart, keeps Tags, waits bool) (w wish, due bool) {
	a, t := &s.agents[row], &s.tuning
	w = s.wish(&s.goals[row], &a.Body, a.At, apart, keeps)
	if waits {
		w.velocity, w.turn, w.facing, w.path = m3.Vec3{}, 0, a.Body.At.Yaw, control.Route{}
	}
	s.step(row, &a.Body, w.velocity, w.facing, dt)
	w.stands = stands(a, &w)
	w.rests = w.stands && s.character.idle != 0 && w.must == 0
	w.walks = !w.stands && w.must == 0 && s.walks(a, &w)
	a.Since, a.Wait = a.Since+1, a.Wait-1
	changed := a.Velocity.Dist(w.velocity) > t.WishVelocity || m3.Abs(m3.WrapAngle(a.Facing-w.facing)) > t.WishFacing
	return w, a.Wait < 0 || changed && a.Since > 1
}

// futureSteps is the number of steps to each sample of the horizon.
const futureSteps = 2

// ask notes that a row searches, and writes where its body will be to the query q, which has a pose, and how fast that is to become.
func (s *steering) ask(row int, w *wish, q []float32) {
	a, c := &s.agents[row], s.character
	a.Wait, a.Since = int32(s.tuning.Every-1), 0
	a.Velocity, a.Facing = w.velocity, w.facing
	back := m3.YawQuat(-a.At.Yaw)
	const steps = futureSteps
	var future [steps * len(horizon)]body
	s.future(row, w, horizon[0]/steps, future[:])
	if w.velocity.Dot(a.Body.Vel) >= 0 { // it does not turn round
		soon, j := back.Rotate(future[0].Vel.Sub(a.Body.Vel)).Scale(s.tuning.Lead), c.hipsVelocity()
		q[j] += soon.X * c.scale[j]
		q[j+2] += soon.Z * c.scale[j+2]
	}
	for i := range horizon {
		p := future[steps*i+steps-1].At
		way, ahead := back.Rotate(p.Pos.Sub(a.At.Pos)), m3.YawQuat(p.Yaw-a.At.Yaw).Forward()
		for k, v := range [...]float32{way.X, way.Z} {
			j := c.trajectory() + 2*i + k
			q[j] = (v - c.mean[j]) * c.scale[j]
		}
		for k, v := range [...]float32{ahead.X, ahead.Z} {
			j := c.facings() + 2*i + k
			q[j] = (v - c.mean[j]) * c.scale[j]
		}
	}
}

// stands reports whether an agent is asked to stay, or is at the end of its path, and its body has come to rest where it faces.
func stands(a *agent, w *wish) bool {
	const slow, still, near = 0.05, 0.1, 0.1 // m/s; rad/s; rad
	b := &a.Body
	return w.velocity == (m3.Vec3{}) && w.turn == 0 &&
		b.Vel.Len() < slow && m3.Abs(b.Spin) < still &&
		m3.Abs(m3.WrapAngle(w.facing-b.At.Yaw)) < near && m3.Abs(m3.WrapAngle(a.At.Yaw-b.At.Yaw)) < near
}

// lean writes how a row is steered, so that it leans into that: a quick person, unless it does something else. shows has the tags of its pose;
// of one that acts, an action is played.
func (s *steering) lean(p *generator.Poses, row int, shows Tags, acts bool) {
	if c := s.character; p.Going != nil && c.Responsive && c.upright && !acts {
		b := &s.agents[row].Body
		p.Going[row] = ik.Going{Leans: shows&c.acts == 0, Bows: true, Velocity: b.Vel, Accel: b.Acc}
	}
}

// walks reports whether an agent goes ahead or backward, or begins to, as fast as one walks.
func (s *steering) walks(a *agent, w *wish) bool {
	const along, slow = 0.7, 0.2 // cosine of the largest angle between the facing and a way ahead; m/s
	c := s.character
	speed, ahead := w.velocity.Len(), w.velocity.Dot(m3.YawQuat(w.facing).Forward())
	if c.walk == 0 || speed < slow || m3.Abs(ahead) < along*speed {
		return false
	}
	most := c.walks[0]
	if ahead < 0 {
		most = c.walks[1]
	}
	return speed <= most && a.Body.Vel.Len() <= 1.1*most
}

// goes reports whether the simulated body of a row moves over the ground, or turns.
func (s *steering) goes(row int) bool {
	const slow, still = 0.3, 0.3 // m/s; rad/s
	b := &s.agents[row].Body
	return b.Vel.Len() > slow || m3.Abs(b.Spin) > still
}

// cost returns the square of the distance of features.
func cost(a, b []float32) (sum float32) {
	for i, v := range a {
		e := b[i] - v
		sum += e * e
	}
	return sum
}
