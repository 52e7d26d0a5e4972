package animsys

import (
	"errors"
	"fmt"
	"math"

	"mannequin/animsys/generator"
	"mannequin/engine/m3"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// cell is the distance between two places at which the crowd anchors agents, m. An agent that is
// farther from its anchor along X or Z gets the nearest one: float32 resolves 0.06 mm there.
const cell = 1024

// ShiftOrigin moves the origin of world w by by, m, between ticks: what was at by is at zero from
// then on. It moves all agents of all crowds, the places in their components (PathOrigin and Origin
// of paths, targets of ecs.LookAt and ecs.Reach), and what is remembered of them. The game moves
// the rest by −by: its ground, its camera, and what it sets components from.
//
// Poses keep all their bits, and on level ground they do so later, too: each agent moves in a space of
// its own, and the shift changes only the origin of that space. Places in world space and heights of
// uneven ground are rounded again.
//
// by is whole metres, which float32 adds without rounding, with Y 0, at most twice
// generator.Farthest. Within a tick ShiftOrigin fails. After an error nothing has changed.
func ShiftOrigin(w *arche.World, by m3.Vec3) error {
	const most = 2 * generator.Farthest
	whole := func(x float32) bool { return m3.Abs(x) <= most && x == float32(math.Trunc(float64(x))) }
	if !whole(by.X) || !whole(by.Z) || by.Y != 0 {
		return fmt.Errorf("animsys: the origin cannot move by %v: want whole metres, at most %d along X and Z, and no height", by, most)
	}
	if w.IsLocked() {
		return errors.New("animsys: the origin cannot move within a query: do it between ticks")
	}
	r := registryOf(w)
	if err := r.claimBetween(w, "ShiftOrigin"); err != nil {
		return err
	}
	defer r.release()
	r.sweep()
	for _, c := range r.all {
		for row, a := range c.anchors[:c.rows.Len()] {
			if a = a.Sub(by); max(m3.Abs(a.X), m3.Abs(a.Z)) > 1<<23 {
				return fmt.Errorf("animsys: the origin cannot move by %v: entity %v would be at %v, where float32 has no whole metres", by, c.rows.Entity(row), a)
			}
		}
	}
	for _, c := range r.all {
		c.gen.shiftComponents(by.Neg())
		shiftComponents(c, &c.components.look, by.Neg())
		shiftComponents(c, &c.components.reach, by.Neg())
		shiftComponents(c, &c.components.step, by.Neg())
		for row := range c.rows.Len() {
			c.anchors[row] = c.anchors[row].Sub(by)
			c.expose(row)
		}
	}
	return nil
}

// scale multiplies the lengths in component by by, if it holds some: then its type has a method Scale.
func scale(component any, by float32) {
	if by == 1 {
		return
	}
	if c, ok := component.(interface{ Scale(by float32) }); ok {
		c.Scale(by)
	}
}

// shift moves what component points to by by, if it holds places: then its type has a method Shift.
func shift(component any, by m3.Vec3) {
	if by == (m3.Vec3{}) { // it would change the sign of a zero
		return
	}
	if c, ok := component.(interface{ Shift(by m3.Vec3) }); ok {
		c.Shift(by)
	}
}

// shiftComponents moves the places in the components of c's agents by by.
func shiftComponents[T any](c *Crowd, of *generic.Map1[T], by m3.Vec3) {
	for row := range c.rows.Len() {
		if component := of.Get(c.rows.Entity(row)); component != nil {
			shift(component, by)
		}
	}
}

// Anchor returns where the origin of the space lies in which the agent of a row is simulated, world
// space: a whole number of metres, within 1.5 km of the agent; zero for a row that no agent has. Published,
// Poses and Ground's buffers are in that space; all else is in world space. The space of an agent with a
// character of its own has another unit than metres, and an origin that is no whole number.
func (c *Crowd) Anchor(row int) m3.Vec3 {
	if !c.has(row) {
		return m3.Vec3{}
	}
	return c.anchors[row]
}

// OutOfRange returns the number of agents that have gone farther than generator.Farthest from the
// origin along X or Z. They move on as soundly as before, but their bones in world space are
// rounded to more than 2 mm, and Spawn and Place refuse such places. ShiftOrigin brings them back.
func (c *Crowd) OutOfRange() (n int) {
	for _, root := range c.Roots[:c.Agents()] {
		if max(m3.Abs(root.Pos.X), m3.Abs(root.Pos.Z)) > generator.Farthest {
			n++
		}
	}
	return n
}

// anchorOf returns the anchor of an agent at pos: the world's origin if it is near.
func anchorOf(pos m3.Vec3) m3.Vec3 {
	near := func(x float32) float32 {
		if m3.Abs(x) <= cell {
			return 0
		}
		return cell * float32(math.Round(float64(x/cell)))
	}
	return m3.V(near(pos.X), 0, near(pos.Z))
}

// recentre gives agents that are far from their anchors nearer ones.
func (c *Crowd) recentre() {
	for row := range c.rows.Len() {
		if by := anchorOf(c.Poses.Roots[row].Pos); by != (m3.Vec3{}) {
			c.gen.shift(row, by.Neg())
			c.reanchor(row, c.anchors[row].Add(by.Scale(c.units[row])))
		}
	}
}

// reanchor gives row another anchor, and leaves it where it is in the world. The caller moves what
// the generator remembers.
func (c *Crowd) reanchor(row int, anchor m3.Vec3) {
	by := c.anchors[row].Sub(anchor)
	if by == (m3.Vec3{}) {
		return
	}
	by = by.Scale(1 / c.units[row])
	c.anchors[row] = anchor
	c.gen.shiftControl(row, by)
	i, k := row*c.joints, (row+1)*c.joints
	move(c.last[i:k], by)
	move(c.now[i:k], by)
	c.cast.move(row, by.Scale(c.units[row]))
	c.shift(row, by)
}

// shift moves what is remembered of row, except by the generator, and what has been published.
func (c *Crowd) shift(row int, by m3.Vec3) {
	i, k := row*c.joints, (row+1)*c.joints
	c.Poses.Roots[row].Pos = c.Poses.Roots[row].Pos.Add(by)
	c.Pos[i] = c.Pos[i].Add(by)
	move(c.Ground.Model[i:k], by)
	for f := row * c.legs(); f < (row+1)*c.legs(); f++ {
		c.Ground.Feet[f].Shift(by)
	}
	c.Ground.Body[row].Shift(by)
	c.aims.shift(row, by)
	c.Inertial.Shift(row, by)
	c.restyle.shift(row, by)
	if c.layers != nil {
		c.layers.Shift(row, by)
	}
}

// expose writes where row is in world space.
func (c *Crowd) expose(row int) {
	bones := c.shown[row*c.joints : (row+1)*c.joints]
	copy(bones, c.now[row*c.joints:])
	toMetres(bones, c.units[row])
	move(bones, c.anchors[row])
	c.Roots[row] = c.inWorld(row, c.Poses.Roots[row])
	if own := c.cast.bones(c.cast.shown, row); own != nil {
		copy(own, c.cast.bones(c.cast.now, row))
		move(own, c.anchors[row])
	}
}

// inWorld returns x, of row's own space, in world space.
func (c *Crowd) inWorld(row int, x m3.Xform) m3.Xform {
	if u := c.units[row]; u != 1 {
		x.Pos = x.Pos.Scale(u)
	}
	if a := c.anchors[row]; a != (m3.Vec3{}) { // it would change the sign of a zero
		x.Pos = x.Pos.Add(a)
	}
	return x
}

// in returns a place of world space in row's own space.
func (c *Crowd) in(row int, at m3.Vec3) m3.Vec3 {
	s := generator.Space{Origin: c.anchors[row], Unit: c.units[row]}
	return s.In(at)
}

// toMetres takes bones out of a space with a unit, m.
func toMetres(bones []m3.Xform, unit float32) {
	if unit == 1 {
		return
	}
	for j := range bones {
		bones[j].Pos = bones[j].Pos.Scale(unit)
	}
}

// move moves bones by by.
func move(bones []m3.Xform, by m3.Vec3) {
	if by == (m3.Vec3{}) { // it would change the sign of a zero
		return
	}
	for j := range bones {
		bones[j].Pos = bones[j].Pos.Add(by)
	}
}

// shift moves the places that are remembered of row's hands and feet.
func (a *aims) shift(row int, by m3.Vec3) {
	if a == nil || a.arms == nil {
		return
	}
	for i := range 2 {
		a.grips[row][i].Shift(by)
		a.steps[2*row+i].Shift(by)
	}
	for i := range a.timing[row].target {
		a.timing[row].target[i] = a.timing[row].target[i].Add(by)
	}
}

// turn turns the places that are remembered of row's hands and feet.
func (a *aims) turn(row int, by m3.Turn) {
	if a == nil || a.arms == nil {
		return
	}
	for i := range 2 {
		a.grips[row][i].Turn(by)
		a.steps[2*row+i].Turn(by)
	}
	a.stoop[row] = by.Rot.Rotate(a.stoop[row])
}

// placeable returns an error if no agent can stand at a place.
func placeable(pos m3.Vec3, yaw float32) error {
	if err := generator.Placeable(pos, yaw); err != nil {
		return fmt.Errorf("animsys: %w: bring it nearer with ShiftOrigin", err)
	}
	return nil
}
