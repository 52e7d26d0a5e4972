package apidrive

import (
	"reflect"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/testing/extreme"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// call makes one call in w.
func (d *driver) call(w *world) {
	switch { // mostly, something is there
	case w.depth > 0:
	case w.lost && d.once(4):
		d.closeSchedule(w)
		return
	case w.schedule == nil && d.once(4):
		d.newSchedule(w)
		return
	case w.open() < 2 && d.once(8):
		d.newCrowd(w)
		return
	}
	all := [...]struct {
		often int
		do    func(w *world)
	}{
		{300, d.step}, {40, d.stepWithin}, {10, d.stepBeside}, {10, d.stepAll}, {20, d.query},
		{10, d.newSchedule}, {3, d.closeSchedule}, {3, d.newCrowd}, {2, d.closeCrowd}, {1, d.reset},
		{120, d.spawn}, {40, d.add}, {60, d.despawn}, {30, d.removeEntity}, {30, d.newEntity}, {20, d.writeSlot},
		{80, d.place}, {40, d.nudge}, {40, d.play}, {20, d.stop}, {60, d.setUpdateRate}, {30, d.applyLOD},
		{200, d.writeControl}, {100, d.writeOther}, {30, d.setGround}, {20, d.setSolver},
		{40, d.interpolate}, {1, d.saveAndRestore}, {10, d.steer}, {10, d.shiftOrigin},
	}
	sum := 0
	for _, c := range all {
		sum += c.often
	}
	n := d.IntN(sum)
	for _, c := range all {
		if n -= c.often; n < 0 {
			c.do(w)
			break
		}
	}
	w.see(d)
}

// open returns the number of crowds that are open.
func (w *world) open() (n int) {
	for _, c := range w.crowds {
		if !c.gone {
			n++
		}
	}
	return n
}

// few makes a few calls in w, within something else.
func (d *driver) few(w *world) {
	if w.depth < 3 {
		w.depth++
		for range 1 + d.IntN(4) {
			d.call(w)
		}
		w.depth--
	}
}

// crowd returns one of w's crowds, or nil.
func (d *driver) crowd(w *world) *crowd {
	if len(w.crowds) == 0 {
		return nil
	}
	return w.crowds[d.IntN(len(w.crowds))]
}

// entity returns an entity: an agent, any other, one of another world, or the zero entity.
func (d *driver) entity(w *world) arche.Entity {
	if d.once(12) {
		w = d.worlds[d.IntN(worlds)]
	}
	if len(w.entities) == 0 || d.once(30) {
		return arche.Entity{}
	}
	return w.entities[d.IntN(len(w.entities))]
}

// keep remembers an entity of w, and forgets some that are dead.
func (w *world) keep(e arche.Entity) {
	if w.entities = append(w.entities, e); len(w.entities) > 60 {
		kept := w.entities[:0]
		for i, e := range w.entities {
			if i > 55 || w.alive(e) {
				kept = append(kept, e)
			}
		}
		w.entities = kept
	}
}

// at returns a place with a heading, and whether an agent can be there.
func (d *driver) at() (pos m3.Vec3, yaw float32, ok bool) {
	pos, yaw = d.someVec(20), d.some(4)
	if d.once(20) {
		pos = pos.Scale(500)
	}
	return pos, yaw, pos.Finite() && m3.Finite(yaw) && max(m3.Abs(pos.X), m3.Abs(pos.Z)) < generator.Farthest
}

// query makes calls within a query.
func (d *driver) query(w *world) {
	d.say(w, "Query")
	q := w.ecs.Query(arche.All())
	w.locks++
	d.few(w)
	w.locks--
	q.Close()
}

func (d *driver) newCrowd(w *world) {
	if len(w.crowds) > 3 { // of those that are gone, one is forgotten
		for i, c := range w.crowds {
			if c.gone {
				d.expect(c.Close(), true)
				w.crowds = append(w.crowds[:i], w.crowds[i+1:]...)
				break
			}
		}
	}
	if len(w.crowds) > 3 {
		return
	}
	k := d.kinds[d.IntN(len(d.kinds))]
	capacity, workers, opt := 1+d.IntN(4), d.IntN(3), animsys.Options{Ground: w.ground, Workers: d.IntN(3)}
	ok := w.between()
	switch d.IntN(20) {
	case 0:
		capacity, ok = -d.IntN(2), false
	case 1:
		workers, ok = -1, false
	case 2:
		opt.Ground, ok = nil, false
	case 3:
		opt.Ground, ok = &terrain.Field{}, false
	}
	d.say(w, "NewCrowd", k.Name, " of ", capacity)
	c, err := k.open(w.ecs, capacity, workers, opt)
	d.expect(err, ok)
	if err == nil {
		w.crowds = append(w.crowds, c)
	}
}

func (d *driver) closeCrowd(w *world) {
	if c := d.crowd(w); c != nil {
		d.say(w, "Crowd.Close", c.kind.Name)
		d.expect(c.Close(), true)
		c.gone = true
	}
}

func (d *driver) spawn(w *world) {
	c := d.crowd(w)
	if c == nil {
		return
	}
	pos, yaw, ok := d.at()
	d.say(w, "Spawn", c.kind.Name, " at ", pos, " ", yaw)
	e, begins, err := c.spawn(d, pos, yaw)
	d.expect(err, ok && begins && !c.gone && w.between() && len(c.agents) < c.Capacity())
	if err == nil {
		c.agents[e] = true
		w.keep(e)
	}
}

func (d *driver) add(w *world) {
	c := d.crowd(w)
	if c == nil {
		return
	}
	pos, yaw, ok := d.at()
	e := d.entity(w)
	d.say(w, "Add", c.kind.Name, " ", e, " at ", pos, " ", yaw)
	ok = ok && w.alive(e) && c.begins(e) && !c.gone && w.between() && !w.agent(e) && len(c.agents) < c.Capacity()
	err := c.Add(e, pos, yaw)
	d.expect(err, ok)
	if err == nil {
		c.agents[e] = true
	}
}

func (d *driver) despawn(w *world) {
	if c := d.crowd(w); c != nil {
		e := d.entity(w)
		d.say(w, "Despawn", c.kind.Name, " ", e)
		err := c.Despawn(e)
		d.expect(err, c.agents[e] && !c.gone && w.locks == 0)
		if err == nil {
			delete(c.agents, e)
		}
	}
}

// removeEntity has the world remove an entity.
func (d *driver) removeEntity(w *world) {
	if e := d.entity(w); w.alive(e) && w.locks == 0 {
		d.say(w, "World.RemoveEntity", e)
		w.ecs.RemoveEntity(e)
		w.leave(e)
	}
}

func (d *driver) newEntity(w *world) {
	if w.locks == 0 {
		d.say(w, "World.NewEntity")
		w.keep(w.ecs.NewEntity())
	}
}

// writeSlot removes an entity's Slot, or writes it.
func (d *driver) writeSlot(w *world) {
	slots := generic.NewMap1[ecs.Slot](w.ecs)
	e := d.entity(w)
	if !w.alive(e) || slots.Get(e) == nil {
		return
	}
	d.say(w, "Slot", e)
	if w.locks == 0 && d.once(2) {
		slots.Remove(e)
	} else {
		slots.Get(e).Row += int32(1 + d.IntN(9))
		if d.once(4) {
			slots.Get(e).Row = -int32(d.Uint32() >> 1)
		}
	}
	w.leave(e)
}

func (d *driver) place(w *world) {
	if c := d.crowd(w); c != nil {
		e := d.entity(w)
		pos, yaw, ok := d.at()
		d.say(w, "Place", c.kind.Name, " ", e, " at ", pos, " ", yaw)
		d.expect(c.Place(e, pos, yaw), ok && !c.gone && c.agents[e])
	}
}

func (d *driver) nudge(w *world) {
	if c := d.crowd(w); c != nil {
		e, by := d.entity(w), d.someVec(0.2)
		d.say(w, "Nudge", c.kind.Name, " ", e, " by ", by)
		_, at := c.RootMotion(e)
		to := at.Pos.Add(by)
		near := max(m3.Abs(to.X), m3.Abs(to.Z)) < generator.Farthest // others have walked or been shifted away
		d.expect(c.Nudge(e, by), by.Flat().Finite() && near && !c.gone && c.agents[e])
	}
}

func (d *driver) setUpdateRate(w *world) {
	if c := d.crowd(w); c != nil {
		e, rate := d.entity(w), animsys.UpdateRate(d.IntN(5))
		if d.once(4) {
			rate = animsys.UpdateRate(d.IntN(256))
		}
		d.say(w, "SetUpdateRate", c.kind.Name, " ", e, " ", rate)
		d.expect(c.SetUpdateRate(e, rate), !c.gone && c.agents[e])
	}
}

func (d *driver) applyLOD(w *world) {
	if c := d.crowd(w); c != nil {
		d.say(w, "ApplyLOD", c.kind.Name)
		policy := animsys.DefaultLOD()
		if d.once(2) {
			extreme.Made{}.FillFrom(reflect.ValueOf(&policy).Elem(), d.number)
		}
		c.ApplyLOD(&policy, d.someVec(20), d.someVec(1), d.some(1))
	}
}

// writeControl writes the component of a crowd's kind, of an agent or of another entity.
func (d *driver) writeControl(w *world) {
	c, e := d.crowd(w), d.entity(w)
	if c == nil || !w.alive(e) {
		return
	}
	d.say(w, "write control", c.kind.Name, " ", e)
	c.write(d, e, w.locks == 0)
}

// writeOther writes one of the other components.
func (d *driver) writeOther(w *world) {
	e := d.entity(w)
	if !w.alive(e) {
		return
	}
	d.say(w, "write component", e)
	switch d.IntN(4) {
	case 0:
		write(d, w, e, ecs.LookAt{Target: d.someVec(10), Weight: d.some(1)})
	case 1:
		write(d, w, e, ecs.Reach{Left: ecs.Hand{Target: d.someVec(2), Weight: d.some(1)}, Right: ecs.Hand{Target: d.someVec(2), Weight: d.some(1)}})
	case 2:
		var s ecs.MARStyle
		for i := range s.Weights {
			s.Weights[i] = max(0, d.some(1)-0.7)
		}
		write(d, w, e, s)
	case 3:
		write(d, w, e, ecs.GramStyle{Style: d.IntN(6) - 2, Weight: d.some(2)})
	}
}

// write sets a component of e, to v or to extreme numbers, or removes it.
func write[T any](d *driver, w *world, e arche.Entity, v T) {
	if d.once(6) {
		extreme.Made{}.FillFrom(reflect.ValueOf(&v).Elem(), d.number)
	}
	components := generic.NewMap1[T](w.ecs)
	switch has := components.Get(e); {
	case has != nil && w.locks == 0 && d.once(4):
		components.Remove(e)
	case has != nil:
		*has = v
	case w.locks == 0:
		components.Assign(e, &v)
	}
}

// setGround changes the ground of all crowds.
func (d *driver) setGround(w *world) {
	if w.stepping {
		return
	}
	d.say(w, "ground")
	*w.ground = ground{height: 3 * d.Float32()}
	switch d.IntN(5) {
	case 0:
		w.ground.height = float32(d.number())
	case 1:
		w.ground.normal = d.someVec(2)
	case 2, 3:
		field, err := terrain.Hills(terrain.Grid{Size: 40, Cell: 1}, terrain.HillsOptions{Seed: d.Uint64(), Wavelength: 14, MaxSlope: 0.3})
		d.expect(err, true)
		for range d.IntN(3) * 200 {
			field.Y[d.IntN(len(field.Y))] = float32(d.number())
		}
		w.ground.field = field
	}
}

// ground is a game's own ground.
type ground struct {
	height float32
	normal m3.Vec3 // zero is up
	field  *terrain.Field
}

func (g *ground) Height(x, z float32) float32 {
	if g.field != nil {
		return g.field.Height(x, z)
	}
	return g.height
}

func (g *ground) Normal(x, z float32) m3.Vec3 {
	switch {
	case g.field != nil:
		return g.field.Normal(x, z)
	case g.normal == m3.Vec3{}:
		return m3.Up
	}
	return g.normal
}

// setSolver sets the ground solver, the inertialization and the generator of a crowd to extreme numbers,
// or back.
func (d *driver) setSolver(w *world) {
	c := d.crowd(w)
	if c == nil || w.stepping {
		return
	}
	d.say(w, "solver", c.kind.Name)
	c.Ground, *c.Inertial = c.legged, c.inertial
	c.tune(d)
	if d.once(3) {
		extreme.Made{}.FillFrom(reflect.ValueOf(&c.Ground).Elem(), d.number)
	}
	if d.once(3) {
		extreme.Made{}.FillFrom(reflect.ValueOf(c.Inertial).Elem(), d.number)
	}
}

func (d *driver) interpolate(w *world) {
	if c := d.crowd(w); c != nil && !c.gone {
		alpha := d.some(2)
		d.say(w, "Interpolate", c.kind.Name, " ", alpha)
		joints := c.InterpolateFrom(nil, alpha, m3.V(d.Float32(), 0, 20000))
		check(len(joints) == len(c.agents)*c.Skel.Len(), "%d joints of %d agents", len(joints), len(c.agents))
		finite(c, arche.Entity{}, "interpolated joint", joints)
		c.Hash()
	}
}

func (d *driver) saveAndRestore(w *world) {
	if c := d.crowd(w); c != nil && !c.gone && w.depth == 0 {
		d.say(w, "save and restore", c.kind.Name)
		d.expect(c.again(c.Agents()), true)
	}
}

// steer uses what games steer agents with.
func (d *driver) steer(w *world) {
	d.say(w, "steer")
	n := 1 + d.IntN(4)
	goals, roots := make([]control.Goal, n), make([]m3.Xform, n)
	wander := control.NewWander(n, d.Uint64())
	wander.Radius, wander.Rest = d.some(20), d.some(1)
	for i := range roots {
		roots[i] = m3.Xform{Pos: d.someVec(20), Rot: m3.YawQuat(d.some(4))}
		wander.Reset(i, d.Uint64(), d.someVec(20))
	}
	for range 10 {
		wander.Update(goals, roots, d.some(1), 0, n)
	}
	var points []m3.Vec3
	for range d.IntN(6) {
		points = append(points, d.someVec(20))
	}
	if p, err := control.NewPath(points, d.once(2)); err == nil {
		p.At(d.some(100))
		p.Nearest(d.someVec(100))
		p.NearestFrom(d.someVec(100), d.some(10), d.some(10), d.some(10))
	}
	if f, err := control.NewFlow(-20, -20, 20, 20, 1+d.Float32(), d.someVec(20), nil); err == nil {
		f.Way(d.someVec(40))
	}
}
