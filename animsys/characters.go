package animsys

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/generator"
	"mannequin/animsys/retarget"
	"mannequin/engine/m3"

	arche "github.com/mlange-42/arche/ecs"
)

// cast is the characters of a crowd's agents. Bones are in metres about the rows' anchors.
type cast struct {
	all              []*retarget.Character
	of               []int16         // (rows) of all, or nobody
	width            int             // of a row in what follows: the joints of the largest
	last, now, shown []m3.Xform      // (rows, width) as of the crowd
	feet             []retarget.Foot // (rows, legs)
	legs             int
}

// nobody is the character of an agent that has the generator's own skeleton.
const nobody = -1

func (k *cast) open(c *Crowd, all []*retarget.Character, n int) error {
	for i, ch := range all {
		switch {
		case ch == nil:
			return fmt.Errorf("animsys: Options.Characters[%d] is nil", i)
		case ch.Source() == nil || ch.Source().Fingerprint() != c.Skel.Fingerprint():
			return fmt.Errorf("animsys: Options.Characters[%d] is for motion of another skeleton: make it for Crowd.Skel", i)
		}
		k.width = max(k.width, ch.Len())
	}
	k.legs = c.legs()
	k.feet = make([]retarget.Foot, n*k.legs)
	k.all, k.of = slices.Clone(all), slices.Repeat([]int16{nobody}, n)
	k.last, k.now, k.shown = make([]m3.Xform, n*k.width), make([]m3.Xform, n*k.width), make([]m3.Xform, n*k.width)
	return nil
}

// identity says for saves which characters there are.
func (k *cast) identity() string {
	if len(k.all) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "; %d characters", len(k.all))
	for _, ch := range k.all {
		fmt.Fprintf(&b, " %016x × %g", ch.Skel.Fingerprint(), ch.Scale)
	}
	return b.String()
}

// bones returns row's own joints in a buffer, or nil if it has none of its own.
func (k *cast) bones(of []m3.Xform, row int) []m3.Xform {
	if k.of[row] == nobody {
		return nil
	}
	return of[row*k.width:][:k.all[k.of[row]].Len()]
}

// dress gives row a character.
func (k *cast) dress(row int, character int16) {
	k.of[row] = character
	clear(k.feet[row*k.legs : (row+1)*k.legs])
}

// copy makes row the same as row last.
func (k *cast) copy(row, last int) {
	k.of[row] = k.of[last]
	copy(k.last[row*k.width:(row+1)*k.width], k.last[last*k.width:])
	copy(k.now[row*k.width:(row+1)*k.width], k.now[last*k.width:])
	copy(k.feet[row*k.legs:(row+1)*k.legs], k.feet[last*k.legs:])
}

// pose puts row's published pose on its own joints. began says that it has no pose before this one.
func (k *cast) pose(c *Crowd, row int, began bool) {
	now := k.bones(k.now, row)
	if now == nil {
		return
	}
	last := k.bones(k.last, row)
	copy(last, now)
	var hands [2]float32
	if a := c.aims; a != nil && a.arms != nil {
		for i := range hands {
			hands[i] = a.grips[row][i].Share()
		}
	}
	feet := k.feet[row*k.legs : (row+1)*k.legs]
	if began {
		clear(feet)
	}
	k.all[k.of[row]].Pose(now, c.now[row*c.joints:(row+1)*c.joints], hands, feet, nil)
	if began {
		copy(last, now)
	}
}

// canReach returns an error if row's own arm is too short for a place, m about its anchor.
func (k *cast) canReach(row, hand int, at m3.Vec3) error {
	if k.of[row] == nobody {
		return nil
	}
	joint, reach, ok := k.all[k.of[row]].Arm(hand)
	if !ok {
		return errors.New("the character has no such arm")
	}
	if d := k.bones(k.now, row)[joint].Pos.Dist(at); d > reach {
		return fmt.Errorf("the place is %.2f m from the shoulder, and the arm %.2f m long", d, reach)
	}
	return nil
}

// move moves row's own joints by by, m.
func (k *cast) move(row int, by m3.Vec3) {
	move(k.bones(k.last, row), by)
	move(k.bones(k.now, row), by)
}

// visit writes or reads a row's character.
func (k *cast) visit(st *generator.State, c *Crowd, row int) {
	generator.Value(st, &c.units[row])
	if generator.Value(st, &k.of[row]); st.Reading() {
		unit := float32(1)
		if is := k.of[row]; is < nobody || int(is) >= len(k.all) {
			k.of[row] = nobody
			st.Fail(fmt.Errorf("the save has an agent with character %d, and there are %d", is, len(k.all)))
		} else if is != nobody {
			unit = k.all[is].Scale
		}
		if c.units[row] != unit {
			c.units[row] = unit
			st.Fail(errors.New("the save has an agent of another size than its character's"))
		}
	}
	if k.of[row] == nobody {
		return
	}
	generator.Block(st, k.feet[row*k.legs:(row+1)*k.legs])
	generator.Block(st, k.bones(k.last, row))
	generator.Block(st, k.bones(k.now, row))
}

// SetCharacter gives e a character of Options.Characters, or with nil the generator's own skeleton again.
// Call it between ticks, best after Spawn and before the next tick.
//
// The agent then has the character's size: it moves as the generator's skeleton does, in steps that are
// longer by Character.Scale. What its components ask for stays in metres and metres per second: a small
// character runs where a tall one walks. Bones returns the character's joints, and InterpolateCharacter
// draws them. Events and TakePose keep the joints of the crowd's skeleton.
func (c *Crowd) SetCharacter(e arche.Entity, ch *retarget.Character) error {
	if err := c.claimBetween("SetCharacter"); err != nil {
		return err
	}
	defer c.registry.release()
	row, ok := c.rows.Row(e)
	if !ok {
		return fmt.Errorf("animsys: entity %v is not in this crowd", e)
	}
	is, unit := int16(nobody), float32(1)
	if ch != nil {
		i := slices.Index(c.cast.all, ch)
		if i < 0 {
			return errors.New("animsys: SetCharacter: the character is not one of Options.Characters")
		}
		is, unit = int16(i), ch.Scale
	}
	if is == c.cast.of[row] {
		return nil
	}
	// Its own space grows about the agent, and all that is in it stays.
	at, floor := c.inWorld(row, c.Poses.Roots[row]).Pos, c.floor(row)
	up := m3.V(0, floor/unit-floor/c.units[row], 0)
	c.units[row] = unit
	c.anchors[row] = at.Sub(c.Poses.Roots[row].Pos.Scale(unit)).Flat()
	c.cast.dress(row, is)
	c.forget(row, floor)
	i, k := row*c.joints, (row+1)*c.joints
	move(c.now[i:k], up)
	move(c.Ground.Model[i:k], up)
	copy(c.last[i:k], c.now[i:k])
	c.cast.pose(c, row, true)
	c.expose(row)
	return nil
}

// Character returns the character of e, or nil if it has none of its own.
func (c *Crowd) Character(e arche.Entity) *retarget.Character {
	row, ok := c.rows.Row(e)
	if !ok || c.cast.of[row] == nobody {
		return nil
	}
	return c.cast.all[c.cast.of[row]]
}

// InterpolateCharacter writes the joints of all agents that have the character ch, (agents, joints of ch),
// a fraction alpha in [0, 1] of the way from the tick before the last to the last into dst, growing it if it
// is too small, and returns it: what a node that draws this character is to be given. Agents are in the order of
// rows: those for whose Entity Character is ch. Joints are in the space of a camera at eye, world space; see
// InterpolateFrom.
func (c *Crowd) InterpolateCharacter(dst []m3.Xform, ch *retarget.Character, alpha float32, eye m3.Vec3) []m3.Xform {
	c.settle()
	if alpha = m3.Clamp(alpha, 0, 1); !m3.Finite(alpha) {
		alpha = 1
	}
	dst = dst[:0]
	is := int16(slices.Index(c.cast.all, ch))
	if ch == nil || is < 0 {
		return dst
	}
	for row := range c.rows.Len() {
		if c.cast.of[row] != is {
			continue
		}
		n := len(dst)
		dst = slices.Grow(dst, ch.Len())[:n+ch.Len()]
		ch.Interpolate(dst[n:], c.cast.bones(c.cast.last, row), c.cast.bones(c.cast.now, row), alpha)
		move(dst[n:], c.anchors[row].Sub(eye))
	}
	return dst
}
