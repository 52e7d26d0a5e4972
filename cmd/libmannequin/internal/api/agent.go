package api

import (
	"mannequin/animsys"
	"mannequin/animsys/layer"
	"mannequin/ecs"
	"mannequin/engine/m3"

	arche "github.com/mlange-42/arche/ecs"
)

// Agent is one of a crowd.
type Agent struct {
	id     ID
	crowd  *Crowd
	entity arche.Entity
	gone   bool
	goal   Goal // in the library's space
}

// inAgent calls f for the agent of an id.
func inAgent(id ID, f func(a *Agent) error) error {
	a, err := agents.get(id)
	if err != nil {
		return err
	}
	return a.crowd.world.call(func() error {
		if a.gone {
			return Errorf(BadID, "the agent has been destroyed")
		}
		return f(a)
	})
}

// CreateAgent adds an agent to a crowd.
func CreateAgent(crowd ID, at m3.Vec3, heading float32) (id ID, err error) {
	err = inCrowd(crowd, func(c *Crowd) error {
		if n := c.crowd.Capacity(); c.crowd.Agents() == n {
			return Errorf(Full, "the crowd has room for %d agents, and as many are there", n)
		}
		own := c.world.axes.fromPoint(at)
		e, err := c.crowd.Spawn(own, c.world.axes.turn*heading)
		if err != nil {
			return coded(Argument, err)
		}
		if c.model.own != nil {
			err = c.crowd.SetCharacter(e, c.model.own)
		}
		if err == nil {
			id, err = c.adopt(e)
		}
		if err != nil {
			c.crowd.Despawn(e) // the first error counts
		}
		return err
	})
	return id, err
}

// adopt makes an agent of an entity of the crowd.
func (c *Crowd) adopt(e arche.Entity) (ID, error) {
	a := &Agent{crowd: c, entity: e}
	id, err := agents.add(a)
	if err != nil {
		return id, err
	}
	a.id = id
	w := c.world
	for uint32(len(w.byEntity)) <= e.ID() {
		w.byEntity = append(w.byEntity, nil)
	}
	w.byEntity[e.ID()] = a
	row, _ := c.crowd.Row(e)
	c.stand(row)
	return id, nil
}

// stand notes that the agent in a row has come where it is without a way.
func (c *Crowd) stand(row int) {
	x := c.root(row)
	c.before[row], c.last[row], c.now[row] = x, x, x
}

// DestroyAgent removes an agent.
func DestroyAgent(id ID) error {
	return inAgent(id, func(a *Agent) error { return a.crowd.despawn(a) })
}

func (c *Crowd) despawn(a *Agent) error {
	row, _ := c.crowd.Row(a.entity)
	last := c.crowd.Agents() - 1
	if err := c.crowd.Despawn(a.entity); err != nil {
		return err
	}
	for _, x := range [...][]m3.Xform{c.before, c.last, c.now} {
		x[row] = x[last]
	}
	a.forget()
	return nil
}

// forget ends the id of an agent whose entity is gone.
func (a *Agent) forget() {
	a.gone = true
	w := a.crowd.world
	if w.byEntity[a.entity.ID()] == a {
		w.byEntity[a.entity.ID()] = nil
	}
	agents.remove(a.id) // it is there
}

// RowOf returns the row of an agent.
func RowOf(id ID) (row int, err error) {
	err = inAgent(id, func(a *Agent) error {
		row, _ = a.crowd.crowd.Row(a.entity)
		return nil
	})
	return row, err
}

// SetGoal says what an agent does.
func SetGoal(id ID, g *Goal) error {
	return inAgent(id, func(a *Agent) (err error) {
		own, err := a.crowd.world.axes.own(g)
		if err == nil {
			a.goal = own
		}
		return err
	})
}

// Goals calls f, which may read what the caller has, for as many agents of a crowd, and gives each the goal that it
// returns. After an error, no agent has another goal.
func Goals(id ID, count int, f func(row int) Goal) error {
	return inCrowd(id, func(c *Crowd) error {
		if n := c.crowd.Agents(); count > n {
			return Errorf(Argument, "%d goals for %d agents", count, n)
		}
		for row := range count {
			g := f(row)
			if _, err := c.world.axes.own(&g); err != nil {
				return err
			}
		}
		for row := range count {
			g := f(row)
			own, err := c.world.axes.own(&g)
			if err != nil {
				return err // another thread has changed it meanwhile
			}
			c.at(row).goal = own
		}
		return nil
	})
}

// SetPlace moves an agent without a way.
func SetPlace(id ID, at m3.Vec3, heading float32) error {
	return inAgent(id, func(a *Agent) error {
		c := a.crowd
		if err := c.crowd.Place(a.entity, c.world.axes.fromPoint(at), c.world.axes.turn*heading); err != nil {
			return coded(Argument, err)
		}
		row, _ := c.crowd.Row(a.entity)
		c.stand(row)
		return nil
	})
}

// Nudge pushes an agent.
func Nudge(id ID, by m3.Vec3) error {
	return inAgent(id, func(a *Agent) error {
		own := a.crowd.world.axes.fromPoint(by)
		if !own.Finite() {
			return Errorf(Argument, "a push by %v", by)
		}
		return coded(Argument, a.crowd.crowd.Nudge(a.entity, own))
	})
}

// SetUpdateRate says every how many ticks an agent updates.
func SetUpdateRate(id ID, rate int32) error {
	return inAgent(id, func(a *Agent) error {
		if rate != 0 && rate != 1 && rate != 2 && rate != 4 {
			return Errorf(Argument, "the update rate is %d: want 0, 1, 2 or 4", rate)
		}
		return a.crowd.crowd.SetUpdateRate(a.entity, animsys.UpdateRate(rate))
	})
}

// target checks a place and a weight.
func (a *axes) target(at m3.Vec3, weight float32) (m3.Vec3, error) {
	own := a.fromPoint(at)
	if !own.Finite() || !(weight >= 0 && weight <= 1) {
		return own, Errorf(Argument, "the target %v with the weight %g: want finite numbers, and a weight from 0 to 1", at, weight)
	}
	return own, nil
}

// SetLookAt turns the head of an agent.
func SetLookAt(id ID, at m3.Vec3, weight float32) error {
	return inAgent(id, func(a *Agent) error {
		w := a.crowd.world
		own, err := w.axes.target(at, weight)
		if err != nil {
			return err
		}
		look := ecs.LookAt{Target: own, Weight: weight}
		if is := w.looks.Get(a.entity); is != nil {
			*is = look
		} else if weight > 0 {
			w.looks.Assign(a.entity, &look)
		}
		return nil
	})
}

// SetHand takes a hand of a person to a place.
func SetHand(id ID, side int32, at m3.Vec3, weight, seconds float32) error {
	return inAgent(id, func(a *Agent) error {
		w := a.crowd.world
		own, err := w.axes.target(at, weight)
		switch {
		case err != nil:
			return err
		case side != 0 && side != 1:
			return Errorf(Argument, "the side is %d: want 0, left, or 1, right", side)
		case !(seconds >= 0 && seconds <= 60):
			return Errorf(Argument, "a hand in %g s: want 0 to 60", seconds)
		}
		if weight > 0 && seconds > 0 {
			if err := a.crowd.crowd.CanReach(a.entity, animsys.Side(side), own, seconds); err != nil {
				return err
			}
		}
		reach := w.reaches.Get(a.entity)
		if reach == nil {
			if weight == 0 {
				return nil
			}
			w.reaches.Assign(a.entity, &ecs.Reach{})
			reach = w.reaches.Get(a.entity)
		}
		hand := ecs.Hand{Target: own, Weight: weight, Seconds: seconds}
		if weight == 0 {
			hand = ecs.Hand{}
		}
		if side == 0 {
			reach.Left = hand
		} else {
			reach.Right = hand
		}
		return nil
	})
}

// PlayClip plays a clip on an agent.
func PlayClip(id, clip ID, o PlayOptions) error {
	k, err := clips.get(clip)
	if err != nil {
		return err
	}
	return inAgent(id, func(a *Agent) error {
		opt, err := o.own(a.crowd.model)
		if err != nil {
			return err
		}
		return coded(Argument, a.crowd.crowd.Play(a.entity, k.clip, opt))
	})
}

// validLayer returns an error if there is no such layer.
func validLayer(n int32) error {
	if n < 0 || n >= layer.MaxLayers {
		return Errorf(Argument, "the layer is %d: want 0 to %d", n, layer.MaxLayers-1)
	}
	return nil
}

// StopClip blends out what plays on a layer.
func StopClip(id ID, layer int32, seconds float32) error {
	return inAgent(id, func(a *Agent) error {
		if err := validLayer(layer); err != nil {
			return err
		}
		return coded(Argument, a.crowd.crowd.Stop(a.entity, int(layer), seconds))
	})
}

// SetLayer sets weight and speed of what plays on a layer.
func SetLayer(id ID, layer int32, weight, speed float32) error {
	return inAgent(id, func(a *Agent) error {
		if err := validLayer(layer); err != nil {
			return err
		}
		return coded(Argument, a.crowd.crowd.SetLayer(a.entity, int(layer), weight, speed))
	})
}

// Playing returns what plays on a layer, and the time in it.
func Playing(id ID, layer int32) (clip ID, seconds float64, err error) {
	err = inAgent(id, func(a *Agent) error {
		if err := validLayer(layer); err != nil {
			return err
		}
		k, at := a.crowd.crowd.Playing(a.entity, int(layer))
		clip, seconds = idOf(k), at
		return nil
	})
	return clip, seconds, err
}
