package api

import (
	"slices"

	"mannequin/animsys"
	"mannequin/animsys/mann"
	"mannequin/animsys/retarget"
	"mannequin/engine/m3"
)

// Crowd is the agents of one model in a world.
type Crowd struct {
	id     ID
	world  *World
	closed bool
	model  *Model
	crowd  *animsys.Crowd
	scale  float32 // of the model's own character

	// Where agents stand and face, by row, on their floors: before the last Tick or Step, before the last tick, and after it.
	before, last, now []m3.Xform
	events            []Event
	bones             []m3.Xform
	pos               []m3.Vec3
	rot               []m3.Quat
}

// CrowdOptions say what crowd CreateCrowd makes. See mqCrowdDef.
type CrowdOptions struct {
	Model             ID
	Every2, Every4    ID
	Capacity, Workers int
}

// MostAgents bounds the capacity of a crowd.
const MostAgents = 1 << 16

// CreateCrowd adds a crowd to a world.
func CreateCrowd(world ID, o CrowdOptions) (id ID, err error) {
	m, err := models.get(o.Model)
	if err != nil {
		return id, err
	}
	var strides []*mann.Model
	for _, far := range [...]ID{o.Every2, o.Every4} {
		if far == (ID{}) {
			continue
		}
		f, err := models.get(far)
		switch {
		case err != nil:
			return id, err
		case f.network == nil || m.network == nil:
			return id, Errorf(Argument, "networks for lower update rates are for crowds of networks: characters need none")
		}
		strides = append(strides, f.network)
	}
	if o.Capacity < 1 || o.Capacity > MostAgents {
		return id, Errorf(Argument, "the capacity is %d: want 1 to %d", o.Capacity, MostAgents)
	}
	if o.Workers < 0 || o.Workers > 1024 {
		return id, Errorf(Argument, "workers is %d: want 0 to 1024", o.Workers)
	}
	err = inWorld(world, func(w *World) error {
		c := &Crowd{world: w, model: m, scale: 1}
		opt := animsys.Options{Ground: &w.ground, Walls: &w.walls, Workers: o.Workers}
		if m.own != nil {
			c.scale, opt.Characters = m.own.Scale, []*retarget.Character{m.own}
		}
		g, err := m.stream(o.Capacity, o.Workers, strides)
		if err != nil {
			return coded(Argument, err)
		}
		if c.crowd, err = animsys.NewCrowd(&w.ecs, g, opt); err != nil {
			g.Close() // the first error counts
			return err
		}
		n := o.Capacity
		c.before, c.last, c.now = make([]m3.Xform, n), make([]m3.Xform, n), make([]m3.Xform, n)
		c.pos, c.rot = make([]m3.Vec3, m.bones.Len()), make([]m3.Quat, m.bones.Len())
		if id, err = crowds.add(c); err != nil {
			c.crowd.Close() // the first error counts
			return err
		}
		c.id = id
		w.crowds = append(w.crowds, c)
		return nil
	})
	return id, err
}

// inCrowd calls f for the crowd of an id.
func inCrowd(id ID, f func(c *Crowd) error) error {
	c, err := crowds.get(id)
	if err != nil {
		return err
	}
	return c.world.call(func() error {
		if c.closed {
			return Errorf(BadID, "the crowd has been destroyed")
		}
		return f(c)
	})
}

// DestroyCrowd ends a crowd with its agents.
func DestroyCrowd(id ID) error {
	return inCrowd(id, func(c *Crowd) error {
		for n := c.crowd.Agents(); n > 0; n-- {
			if err := c.despawn(c.at(n - 1)); err != nil {
				return err
			}
		}
		c.drop()
		return c.crowd.Close()
	})
}

// drop ends the ids of a crowd and its agents.
func (c *Crowd) drop() {
	for _, a := range c.world.byEntity {
		if a != nil && a.crowd == c {
			a.forget()
		}
	}
	c.closed = true
	c.world.crowds = slices.DeleteFunc(c.world.crowds, func(o *Crowd) bool { return o == c })
	crowds.remove(c.id) // it is there
}

// at returns the agent in a row.
func (c *Crowd) at(row int) *Agent { return c.world.byEntity[c.crowd.Entity(row).ID()] }

// floor returns the height on which the agent in a row stands.
func (c *Crowd) floor(row int) float32 { return c.crowd.Ground.Body[row].Floor() * c.scale }

// root returns where the agent in a row stands and faces.
func (c *Crowd) root(row int) m3.Xform {
	x := c.crowd.Roots[row]
	x.Pos.Y = c.floor(row)
	return x
}
