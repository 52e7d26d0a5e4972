// Package apidrive calls the public API of worlds with crowds at random, for tests and soaks: in
// orders and with numbers that no sane game uses. It compares what comes back with a simple model.
package apidrive

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/blend"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/extreme"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Drive makes calls of the API that follow from seed, and closes everything. It returns how often
// it made which call, and an error, with the last calls, for the first broken rule:
//
//   - nothing panics,
//   - a call fails if it must, and only then,
//   - crowds have the agents that the model has,
//   - bones, roots and interpolated joints of all agents are finite, whatever fields and grounds hold,
//   - no goroutine is left.
//
// A call that takes longer than ten minutes, or a panic on another goroutine, ends the program.
func Drive(kinds []*Kind, seed uint64, calls int) (counts map[string]int, err error) {
	before := runtime.NumGoroutine()
	d := &driver{Rand: rand.New(rand.NewPCG(seed, 0)), kinds: kinds, counts: map[string]int{}}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v\n%s", p, debug.Stack())
		}
		if err != nil {
			err = fmt.Errorf("apidrive: seed %d, %d calls: %w\nthe last calls:\n\t%s", seed, calls, err, strings.Join(d.log, "\n\t"))
		}
	}()
	debug.SetTraceback("all")
	d.watch = time.AfterFunc(limit, func() {
		panic(fmt.Sprintf("apidrive: seed %d, %d calls: a call takes more than %v", seed, calls, limit))
	})
	defer d.watch.Stop()
	for i := range worlds {
		d.worlds = append(d.worlds, newWorld(i))
	}
	for d.made < calls {
		d.call(d.worlds[d.IntN(worlds)])
	}
	for _, w := range d.worlds {
		w.close(d)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return d.counts, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return d.counts, fmt.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

const (
	worlds = 2
	limit  = 10 * time.Minute // of a call: machines with much else to do are slow
)

type driver struct {
	*rand.Rand
	kinds  []*Kind
	worlds []*world
	made   int // calls
	counts map[string]int
	log    []string // the last calls
	watch  *time.Timer
}

// once is true once in n times.
func (d *driver) once(n int) bool { return d.IntN(n) == 0 }

// number returns an extreme number.
func (d *driver) number() float64 { return extreme.Numbers[d.IntN(len(extreme.Numbers))] }

// some returns a number up to a bound to both sides, or, rarely, an extreme one.
func (d *driver) some(bound float32) float32 {
	if d.once(12) {
		return float32(d.number())
	}
	return bound * (2*d.Float32() - 1)
}

func (d *driver) someVec(bound float32) m3.Vec3 {
	return m3.V(d.some(bound), d.some(bound), d.some(bound))
}

// say logs a call.
func (d *driver) say(w *world, what string, args ...any) {
	d.made++
	d.counts[what]++
	d.log = append(d.log, fmt.Sprintf("world %d%s: %s %s", w.number, strings.Repeat(" ·", w.depth), what, fmt.Sprint(args...)))
	d.log = d.log[max(0, len(d.log)-60):]
	d.watch.Reset(limit)
}

// expect panics unless err is what the model says.
func (d *driver) expect(err error, ok bool) {
	if (err == nil) != ok {
		panic(fmt.Sprintf("the error is %v, and the call should succeed: %v", err, ok))
	}
}

// check panics unless ok.
func check(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}

// world is a world and what the model knows of it.
type world struct {
	number   int
	ecs      *arche.World
	schedule *ecs.Schedule
	lost     bool // the schedule has lost its world to a reset
	crowds   []*crowd
	entities []arche.Entity // some, alive or not
	ground   *ground

	depth    int    // of calls within systems and queries
	stepping bool   // within a system
	stage    int    // of the next step, in which
	within   func() // is called
	locks    int    // open queries
}

// crowd is a crowd and what the model knows of it.
type crowd struct {
	*animsys.Crowd
	controls
	kind   *Kind
	gone   bool // closed, or lost to a reset
	agents map[arche.Entity]bool

	legged   ik.Legged
	inertial blend.Inertial
}

func newWorld(number int) *world {
	w := arche.NewWorld()
	generic.NewMap5[ecs.Slot, ecs.LookAt, ecs.Reach, ecs.MARStyle, ecs.GramStyle](&w) // cannot be registered within a query
	return &world{number: number, ecs: &w, ground: &ground{}}
}

// close closes everything in w, in any order.
func (w *world) close(d *driver) {
	closes := []func() error{}
	if w.schedule != nil {
		closes = append(closes, w.schedule.Close)
	}
	for _, c := range w.crowds {
		closes = append(closes, c.Close)
	}
	d.Shuffle(len(closes), func(i, k int) { closes[i], closes[k] = closes[k], closes[i] })
	for _, c := range closes {
		d.say(w, "Close at the end")
		d.expect(c(), true)
	}
}

// alive returns whether e lives in w.
func (w *world) alive(e arche.Entity) bool { return ecs.Alive(w.ecs, e) }

// leave takes e out of all crowds.
func (w *world) leave(e arche.Entity) {
	for _, c := range w.crowds {
		delete(c.agents, e)
	}
}

// agent reports whether e is an agent of a crowd that is open.
func (w *world) agent(e arche.Entity) bool {
	for _, c := range w.crowds {
		if !c.gone && c.agents[e] {
			return true
		}
	}
	return false
}

// see compares all crowds with the model.
func (w *world) see(d *driver) {
	for _, c := range w.crowds {
		if c.gone {
			continue
		}
		check(c.Agents() == len(c.agents), "%d %s, want %d", c.Agents(), c.kind.Name, len(c.agents))
		for row := range c.Agents() {
			e := c.Entity(row)
			at, ok := c.Row(e)
			check(ok && at == row && c.agents[e] && w.alive(e), "row %d of %s has %v, whose row is %d (%v)", row, c.kind.Name, e, at, ok)
			check(len(c.Bones(e)) == c.Skel.Len(), "%v has %d bones", e, len(c.Bones(e)))
			finite(c, e, "bones", c.Bones(e))
			finite(c, e, "root", []m3.Xform{c.Root(e)})
		}
	}
}

func finite(c *crowd, e arche.Entity, what string, joints []m3.Xform) {
	for j, x := range joints {
		check(x.Pos.Finite() && x.Rot.Finite(), "%s %d of %s %v is %v", what, j, c.kind.Name, e, x)
	}
}

// between reports whether calls succeed that belong between ticks, outside of queries.
func (w *world) between() bool { return w.locks == 0 && (!w.stepping || w.lost) }

// shiftOrigin moves a world's origin.
func (d *driver) shiftOrigin(w *world) {
	by, ok := m3.V(float32(d.IntN(40001)-20000), 0, float32(d.IntN(40001)-20000)), true
	if d.once(4) {
		by, ok = by.Add(m3.V(0, 1, 0.5)), false
	}
	d.say(w, "ShiftOrigin", by)
	d.expect(animsys.ShiftOrigin(w.ecs, by), ok && w.between())
}
