package animsys

import (
	"fmt"

	"mannequin/engine/m3"
	"mannequin/ik"

	arche "github.com/mlange-42/arche/ecs"
)

// Collide is the system that keeps agents out of Options.Walls: they slide along them.
type Collide struct{ system }

// Initialize prepares the system.
func (s *Collide) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		if c.walls.Walls != nil {
			c.splitRows(c.work.collide)
		}
		return nil
	})
}

// outOfWall is how fast an agent comes out of a wall that it stands in, m/s.
const outOfWall = 2

// collide keeps rows r0 to r1−1 out of walls.
func (c *Crowd) collide(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if !c.steps(r) || c.layers != nil && c.layers.IgnoresWalls(r) {
			continue
		}
		from := c.Roots[r]
		from.Pos = c.in(r, from.Pos)
		to := c.Poses.Roots[r]
		by := c.walls.Slide(r, from, to)
		if by == (m3.Vec3{}) {
			continue
		}
		// What is pushed further than it went was inside before: it comes out of the wall in some ticks.
		most := outOfWall / (TickRate * c.units[r])
		for _, d := range c.walls.Body {
			most = max(most, to.Pos.Add(to.Rot.Forward().Scale(d.Ahead)).Dist(from.Pos.Add(from.Rot.Forward().Scale(d.Ahead))))
		}
		if l := by.Len(); l > most {
			by = by.Scale(most / l)
		}
		c.nudge(r, by)
	}
}

// RootMotion returns where e stood after the last tick, carried along by an ik.MovingGround, and where
// its motion takes it in this one, on flat ground, world space. Within a tick, a system of [Systems]
// asks for it; between ticks, both are where it stands. If e is not in this crowd, both are the zero Xform.
func (c *Crowd) RootMotion(e arche.Entity) (from, to m3.Xform) {
	row, ok := c.rows.Row(e)
	if !ok {
		return m3.Xform{}, m3.Xform{}
	}
	return c.Roots[row], c.inWorld(row, c.Poses.Roots[row])
}

// Nudge moves e by by over the ground, m, in a system of [Systems] or between ticks. The height of by is
// ignored. The agent keeps its velocity and its plans, and its pose goes along. Feet that stand stay in
// place, and step after it. Nudge fails if e is not in this crowd, if no agent can stand where it would
// be, and if the crowd is closed.
func (c *Crowd) Nudge(e arche.Entity, by m3.Vec3) error {
	if err := c.claim("Nudge"); err != nil {
		return err
	}
	defer c.registry.release()
	row, ok := c.rows.Row(e)
	if !ok {
		return fmt.Errorf("animsys: entity %v is not in this crowd", e)
	}
	by = by.Flat()
	if err := placeable(c.inWorld(row, c.Poses.Roots[row]).Pos.Add(by), 0); err != nil {
		return err
	}
	if by != (m3.Vec3{}) { // it would change the sign of a zero
		c.nudge(row, by.Scale(1/c.units[row]))
	}
	return nil
}

// floor returns the height of the floor under row, world space.
func (c *Crowd) floor(row int) float32 { return c.Ground.Body[row].Floor() * c.units[row] }

// ride carries agents along on ground that moves, and turns them with it.
func (c *Crowd) ride() {
	ground, ok := c.Ground.Ground.(ik.MovingGround)
	if !ok {
		return
	}
	turning, _ := ground.(ik.TurningGround)
	for row := range c.rows.Len() {
		at := c.Roots[row].Pos
		at.Y = c.floor(row)
		if turning != nil && c.gen.turn != nil {
			if yaw := turning.Turned(at); yaw != 0 && m3.Finite(yaw) {
				c.turn(row, yaw)
			}
		}
		by := ground.Moved(at).Flat()
		if by == (m3.Vec3{}) || !by.Finite() {
			continue
		}
		c.Roots[row].Pos = c.Roots[row].Pos.Add(by)
		if c.rates[row].rate == Frozen {
			move(c.cast.bones(c.cast.now, row), by)
		}
		by = by.Scale(1 / c.units[row])
		c.gen.shift(row, by)
		c.shift(row, by)
		if c.rates[row].rate == Frozen {
			move(c.now[row*c.joints:(row+1)*c.joints], by)
		}
	}
}

// turn turns row about its root.
func (c *Crowd) turn(row int, yaw float32) {
	t := m3.TurnAbout(c.Poses.Roots[row].Pos, yaw)
	c.Roots[row].Rot = t.Rot.Mul(c.Roots[row].Rot)
	c.gen.turn(row, t)
	c.Poses.Roots[row] = t.Xform(c.Poses.Roots[row])
	i, k := row*c.joints, (row+1)*c.joints
	root := t.Xform(m3.Xform{Pos: c.Pos[i], Rot: c.Rot[i]})
	c.Pos[i], c.Rot[i] = root.Pos, root.Rot
	turn(c.Ground.Model[i:k], t)
	for f := row * c.legs(); f < (row+1)*c.legs(); f++ {
		c.Ground.Feet[f].Turn(t)
	}
	c.Ground.Body[row].Turn(t)
	c.aims.turn(row, t)
	c.Inertial.TurnRow(row, t)
	c.restyle.turn(row, t)
	if c.layers != nil {
		c.layers.Turn(row, t)
	}
	if c.rates[row].rate == Frozen {
		turn(c.now[i:k], t)
		t.About = t.About.Scale(c.units[row])
		turn(c.cast.bones(c.cast.now, row), t)
	}
}

func turn(bones []m3.Xform, by m3.Turn) {
	for j := range bones {
		bones[j] = by.Xform(bones[j])
	}
}

// nudge moves row by by, in its own space.
func (c *Crowd) nudge(row int, by m3.Vec3) {
	c.gen.shift(row, by)
	c.Inertial.Shift(row, by)
	c.restyle.shift(row, by)
	if c.layers != nil {
		c.layers.Shift(row, by)
	}
	c.Pos[row*c.joints] = c.Pos[row*c.joints].Add(by)
	c.Poses.Roots[row].Pos = c.Poses.Roots[row].Pos.Add(by)
}
