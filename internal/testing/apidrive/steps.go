package apidrive

import (
	"errors"
	"strings"
	"sync"

	"mannequin/animsys"
	"mannequin/ecs"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// hook is a system that makes calls in a stage of a step.
type hook struct {
	w     *world
	stage int
}

func (hook) Initialize(*arche.World) {}
func (hook) Finalize(*arche.World)   {}
func (h hook) Update(*arche.World) {
	if h.w.within != nil && h.w.stage == h.stage {
		h.w.within()
	}
}

func (d *driver) newSchedule(w *world) {
	if w.lost && w.stepping {
		return // the step goes on, of a schedule that has lost its world
	}
	dt := float32(1.0 / animsys.TickRate)
	if d.once(4) {
		dt = float32(d.number())
	}
	d.say(w, "NewSchedule", dt)
	var systems []ecs.System
	for i, s := range animsys.Systems() {
		systems = append(systems, hook{w, i}, s)
	}
	systems = append(systems, hook{w, len(systems) / 2})
	s, err := ecs.NewSchedule(w.ecs, dt, systems...)
	d.expect(err, dt == 1.0/animsys.TickRate && w.locks == 0 && (w.schedule == nil || w.lost))
	if err == nil {
		w.schedule, w.lost = s, false
	}
}

func (d *driver) closeSchedule(w *world) {
	if w.schedule == nil {
		return
	}
	d.say(w, "Schedule.Close")
	err := w.schedule.Close()
	d.expect(err, !w.stepping)
	if err == nil {
		d.expect(w.schedule.Step(), false)
		w.schedule, w.lost = nil, false
	}
}

// reset resets w: a game does so between levels.
func (d *driver) reset(w *world) {
	if w.locks > 0 {
		return
	}
	d.say(w, "World.Reset")
	w.ecs.Reset()
	w.lost = w.schedule != nil
	for _, c := range w.crowds {
		c.gone = true
	}
}

// step steps w, if nobody else does. An agent that is asked for a loop of another skeleton is the
// only reason for an error that the model does not know.
func (w *world) step() error {
	err := w.schedule.Step()
	fault := generic.NewResource[ecs.Fault](w.ecs)
	if err != nil && strings.Contains(err.Error(), "another skeleton") && fault.Has() {
		fault.Get().Err, err = nil, nil
	}
	return err
}

func (d *driver) step(w *world) {
	if w.schedule == nil {
		return
	}
	d.say(w, "Step")
	err := w.step()
	if err == nil {
		for _, c := range w.crowds {
			d.counts["agents stepped"] += len(c.agents)
		}
	}
	d.expect(err, !w.stepping && !w.lost)
	if w.stepping && !errors.Is(err, ecs.ErrBusy) {
		d.expect(err, true)
	}
}

// stepWithin makes calls within a system.
func (d *driver) stepWithin(w *world) {
	if w.schedule == nil || w.stepping || w.lost {
		return
	}
	w.stage = d.IntN(len(animsys.Systems()) + 1)
	d.say(w, "Step with calls", " in stage ", w.stage)
	w.within = func() {
		w.within, w.stepping = nil, true
		d.few(w)
		w.stepping = false
	}
	err := w.step()
	last := w.stage == len(animsys.Systems())
	if !(w.lost && last) { // the last system has run
		d.expect(err, !w.lost)
	}
}

// stepAll steps all worlds at once.
func (d *driver) stepAll(w *world) {
	if w.depth > 0 {
		return
	}
	d.say(w, "Step of all worlds")
	var all sync.WaitGroup
	var errs [worlds]error
	for i, w := range d.worlds {
		if w.schedule != nil {
			all.Go(func() { errs[i] = w.step() })
		}
	}
	all.Wait()
	for i, w := range d.worlds {
		if w.schedule != nil {
			d.expect(errs[i], !w.lost)
		}
		w.see(d)
	}
}

// stepBeside calls while another goroutine steps w.
func (d *driver) stepBeside(w *world) {
	c := d.crowd(w)
	if w.schedule == nil || c == nil || w.depth > 0 {
		return
	}
	d.say(w, "Step on two goroutines")
	done := make(chan error)
	go func() {
		var errs error
		for range 3 {
			errs = errors.Join(errs, w.step())
		}
		done <- errs
	}()
	good := func(err error, ok bool) {
		if !errors.Is(err, ecs.ErrBusy) {
			d.expect(err, ok)
		}
	}
	for range 1 + d.IntN(5) {
		e, open := d.entity(w), !c.gone
		pos, yaw, ok := d.at()
		switch d.IntN(6) {
		case 0:
			good(w.step(), !w.lost)
		case 1:
			good(c.SetUpdateRate(e, animsys.Every2), open && c.agents[e])
		case 2:
			good(c.Place(e, pos, yaw), open && c.agents[e] && ok)
		case 3:
			err := c.Despawn(e)
			good(err, open && c.agents[e])
			if err == nil {
				delete(c.agents, e)
			}
		case 4:
			room := len(c.agents) < c.Capacity()
			e, begins, err := c.spawn(d, pos, yaw)
			good(err, open && ok && room && begins)
			if err == nil {
				c.agents[e] = true
				w.keep(e)
			}
		case 5:
			if err := c.Add(e, pos, yaw); err == nil {
				c.agents[e] = true
			}
		}
	}
	if err := <-done; !w.lost && err != nil && !errors.Is(err, ecs.ErrBusy) {
		d.expect(err, true)
	}
	// A step that came upon another goroutine's call has left its error.
	if fault := generic.NewResource[ecs.Fault](w.ecs); !w.lost {
		fault.Get().Err = nil
	}
}
