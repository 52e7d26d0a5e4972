package api

import (
	"errors"
	"math"
	"sync"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/ecs"
	"mannequin/engine/clock"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// World is crowds with their ground and time.
type World struct {
	mutex    sync.Mutex // held by a call
	closed   bool
	broken   bool // by a panic within a call
	axes     axes
	ecs      arche.World
	schedule *ecs.Schedule
	clock    *clock.Fixed
	alpha    float32
	ground   ground
	walls    control.Obstacles
	move     MoveFunc
	moves    []Move
	crowds   []*Crowd // in the order in which they were made
	byEntity []*Agent // by the entity's ID
	save     []byte
	goals    generic.Map1[control.Goal]
	looks    generic.Map1[ecs.LookAt]
	reaches  generic.Map1[ecs.Reach]
}

// WorldOptions say what world CreateWorld makes. See mqWorldDef.
type WorldOptions struct {
	Space        Space
	GroundHeight float32
	MaxTicks     int
}

// MostTicks bounds the ticks of a Step.
const MostTicks = 1000

// CreateWorld makes a world without crowds.
func CreateWorld(o WorldOptions) (ID, error) {
	axes, err := o.Space.axes()
	if err != nil {
		return ID{}, err
	}
	level, err := axes.height("the height of the ground", o.GroundHeight)
	if err != nil {
		return ID{}, err
	}
	if o.MaxTicks < 1 || o.MaxTicks > MostTicks {
		return ID{}, Errorf(Argument, "maxTicks is %d: want 1 to %d", o.MaxTicks, MostTicks)
	}
	w := &World{axes: axes, ecs: arche.NewWorld(), alpha: 1}
	w.ground.set(ik.Level(level))
	if w.clock, err = clock.New(animsys.TickRate, o.MaxTicks); err != nil {
		return ID{}, err
	}
	w.goals, w.looks, w.reaches = generic.NewMap1[control.Goal](&w.ecs), generic.NewMap1[ecs.LookAt](&w.ecs), generic.NewMap1[ecs.Reach](&w.ecs)
	systems := append([]ecs.System{&steering{w}}, animsys.Systems(&moving{w})...)
	if w.schedule, err = ecs.NewSchedule(&w.ecs, 1.0/animsys.TickRate, systems...); err != nil {
		return ID{}, err
	}
	return worlds.add(w)
}

// height takes a height from the host.
func (a *axes) height(what string, h float32) (float32, error) {
	h /= a.unit
	if !(m3.Abs(h) <= terrain.MaxHeight) {
		return 0, Errorf(Argument, "%s is %g m: want at most %g m", what, h, float32(terrain.MaxHeight))
	}
	return h, nil
}

// call calls f for the world, alone. After a panic of f the world is broken, unless a pointer of the host's leads nowhere: of
// that nothing was used.
func (w *World) call(f func() error) error {
	if !w.mutex.TryLock() {
		return Errorf(Busy, "another call is using this world, or this call comes from one of its callbacks")
	}
	defer w.mutex.Unlock()
	switch {
	case w.closed:
		return Errorf(BadID, "the world has been destroyed")
	case w.broken:
		return Errorf(Internal, "an earlier call for this world failed by a mistake in the library: destroy the world")
	}
	w.broken = true
	defer func() {
		if p := recover(); p != nil {
			_, w.broken = BadAddress(p)
			w.broken = !w.broken
			panic(p)
		}
	}()
	err := f()
	w.broken = false
	return err
}

// BadAddress reports whether a panic is that of a pointer that leads nowhere, and where it leads.
func BadAddress(p any) (at uintptr, ok bool) {
	var fault interface{ Addr() uintptr }
	if err, is := p.(error); is && errors.As(err, &fault) {
		return fault.Addr(), true
	}
	return 0, false
}

// inWorld calls f for the world of an id.
func inWorld(id ID, f func(w *World) error) error {
	w, err := worlds.get(id)
	if err != nil {
		return err
	}
	return w.call(func() error { return f(w) })
}

// DestroyWorld ends a world with its crowds and agents.
func DestroyWorld(id ID) error {
	w, err := worlds.get(id)
	if err != nil {
		return err
	}
	if !w.mutex.TryLock() {
		return Errorf(Busy, "another call is using this world, or this call comes from one of its callbacks")
	}
	defer w.mutex.Unlock()
	if _, err := worlds.remove(id); err != nil {
		return err
	}
	w.closed = true
	for len(w.crowds) > 0 && err == nil {
		c := w.crowds[len(w.crowds)-1]
		c.drop()
		if !w.broken { // else its workers are lost
			err = c.crowd.Close()
		}
	}
	return err
}

// Tick moves a world on by a tick.
func Tick(id ID) error {
	return inWorld(id, func(w *World) error {
		w.begin()
		w.alpha = 1
		return w.tick(0)
	})
}

// Step moves a world on by seconds, in whole ticks. It returns their number, and the time since the last as a share of a
// tick.
func Step(id ID, seconds float64) (ticks int, alpha float32, err error) {
	err = inWorld(id, func(w *World) error {
		if !(seconds >= 0 && seconds <= 1e6) {
			return Errorf(Argument, "a step of %g s: want 0 to a million", seconds)
		}
		w.begin()
		due := w.clock.Advance(time.Duration(math.Round(seconds * 1e9)))
		for ; ticks < due; ticks++ {
			if err := w.tick(ticks); err != nil {
				return err
			}
		}
		alpha = w.clock.Alpha()
		return nil
	})
	return ticks, alpha, err
}

// begin notes where agents are before some ticks.
func (w *World) begin() {
	for _, c := range w.crowds {
		c.events = c.events[:0]
		copy(c.before, c.now[:c.crowd.Agents()])
	}
}

// tick makes a tick: the number-th of a step.
func (w *World) tick(number int) error {
	for _, c := range w.crowds {
		copy(c.last, c.now[:c.crowd.Agents()])
	}
	if err := w.schedule.Step(); err != nil {
		return err
	}
	for _, c := range w.crowds {
		c.see(number)
	}
	return nil
}

// steering is the system that makes goals of what the host has asked for.
type steering struct{ w *World }

// Initialize does nothing.
func (s *steering) Initialize(*arche.World) {}

// Finalize does nothing.
func (s *steering) Finalize(*arche.World) {}

// Update writes the goals.
func (s *steering) Update(*arche.World) {
	for _, c := range s.w.crowds {
		for row := range c.crowd.Agents() {
			a := c.at(row)
			if goal := s.w.goals.Get(a.entity); goal != nil {
				*goal = a.goal.now(c.crowd.Roots[row], c.model.Kind)
			}
		}
	}
}

// Move is how far an agent goes in a tick.
type Move struct {
	Agent    ID
	From, To m3.Vec3
}

// MoveFunc decides how far the agents of a crowd go: it may change To.
type MoveFunc func(crowd ID, moves []Move)

// moving is the system that asks the host how far agents may go.
type moving struct{ w *World }

// Initialize does nothing.
func (s *moving) Initialize(*arche.World) {}

// Finalize does nothing.
func (s *moving) Finalize(*arche.World) {}

// Update asks, and moves the agents.
func (s *moving) Update(*arche.World) {
	w := s.w
	if w.move == nil {
		return
	}
	for _, c := range w.crowds {
		n := c.crowd.Agents()
		if n == 0 {
			continue
		}
		w.moves = w.moves[:0]
		for row := range n {
			from, to := c.crowd.RootMotion(c.crowd.Entity(row))
			from.Pos.Y = c.floor(row)
			to.Pos.Y = from.Pos.Y
			w.moves = append(w.moves, Move{c.at(row).id, w.axes.point(from.Pos), w.axes.point(to.Pos)})
		}
		w.move(c.id, w.moves)
		for row := range n {
			e := c.crowd.Entity(row)
			_, to := c.crowd.RootMotion(e)
			allowed := w.axes.fromPoint(w.moves[row].To).Flat()
			if by := allowed.Sub(to.Pos.Flat()); by != (m3.Vec3{}) {
				c.crowd.Nudge(e, by) // fails where no agent can stand: it then goes where motion takes it
			}
		}
	}
}

// SetMove lets a function decide how far agents go; nil lets motion decide.
func SetMove(id ID, f MoveFunc) error {
	return inWorld(id, func(w *World) error {
		w.move = f
		return nil
	})
}

// Obstacle is a control.Obstacle in the host's space.
type Obstacle struct {
	At                                         m3.Vec3
	Heading, Width, Depth, Rounding, Low, High float32
}

// SetObstacles replaces the obstacles of a world.
func SetObstacles(id ID, all []Obstacle) error {
	return inWorld(id, func(w *World) error {
		a, own := &w.axes, make([]control.Obstacle, len(all))
		for i, o := range all {
			own[i] = control.Obstacle{At: a.fromPoint(o.At), Yaw: a.turn * o.Heading, Width: o.Width / a.unit, Depth: o.Depth / a.unit,
				Round: o.Rounding / a.unit, Low: o.Low / a.unit, High: o.High / a.unit}
		}
		return coded(Argument, w.walls.Set(own...))
	})
}

// ShiftOrigin moves the origin of a world.
func ShiftOrigin(id ID, by m3.Vec3) error {
	return inWorld(id, func(w *World) error {
		own := w.axes.fromPoint(by)
		if whole := m3.V(round(own.X), 0, round(own.Z)); own.Dist(whole) < 1e-3 {
			own = whole // of units that are no whole number
		}
		if err := animsys.ShiftOrigin(&w.ecs, own); err != nil {
			return coded(Argument, err)
		}
		for _, c := range w.crowds {
			for row := range c.crowd.Agents() {
				for _, x := range [...]*m3.Xform{&c.now[row], &c.last[row], &c.before[row]} {
					x.Pos = x.Pos.Sub(own)
				}
			}
		}
		return nil
	})
}

func round(x float32) float32 { return float32(math.Round(float64(x))) }
