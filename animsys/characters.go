package animsys

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/generator"
	"mannequin/animsys/layer"
	"mannequin/animsys/retarget"
	"mannequin/engine/m3"

	arche "github.com/mlange-42/arche/ecs"
)

// cast is the characters of a crowd's agents. Bones are in metres about the rows' anchors.
type cast struct {
	all              []*retarget.Character
	of               []int16         // (rows) of all, or noCharacter
	width            int             // of a row in what follows: the joints of the largest
	last, now, shown []m3.Xform      // (rows, width) as of the crowd
	feet             []retarget.Foot // (rows, legs)
	legs             int

	// Of clips of their own skeletons; nil before the first.
	further int       // of a row in turns: the most further joints
	turns   []m3.Quat // (rows, further) how further joints turn, as shown
	turning []int16   // (rows) how many further joints turn; 0: none does
}

// noCharacter stands for the character of an agent that has the generator's own skeleton.
const noCharacter = -1

func (k *cast) open(c *Crowd, all []*retarget.Character, n int) error {
	for i, ch := range all {
		switch {
		case ch == nil:
			return fmt.Errorf("animsys: Options.Characters[%d] is nil", i)
		case ch.Source() == nil || ch.Source().Fingerprint() != c.Skel.Fingerprint():
			return fmt.Errorf("animsys: Options.Characters[%d] is for motion of another skeleton: make it for Crowd.Skel", i)
		}
		k.width, k.further = max(k.width, ch.Len()), max(k.further, len(ch.Further()))
	}
	k.legs = c.legs()
	k.feet = make([]retarget.Foot, n*k.legs)
	k.all, k.of = slices.Clone(all), slices.Repeat([]int16{noCharacter}, n)
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
	if k.of[row] == noCharacter {
		return nil
	}
	return of[row*k.width:][:k.all[k.of[row]].Len()]
}

// dress gives row a character.
func (k *cast) dress(row int, character int16) {
	k.of[row] = character
	clear(k.feet[row*k.legs : (row+1)*k.legs])
	k.stopTurning(row)
}

// stopTurning forgets the turns of row's further joints.
func (k *cast) stopTurning(row int) {
	if k.turning != nil {
		k.turning[row] = 0
	}
}

// copy makes row the same as row last.
func (k *cast) copy(row, last int) {
	k.of[row] = k.of[last]
	copy(k.last[row*k.width:(row+1)*k.width], k.last[last*k.width:])
	copy(k.now[row*k.width:(row+1)*k.width], k.now[last*k.width:])
	copy(k.feet[row*k.legs:(row+1)*k.legs], k.feet[last*k.legs:])
	if k.turning != nil {
		k.turning[row] = k.turning[last]
		copy(k.turns[row*k.further:(row+1)*k.further], k.turns[last*k.further:])
	}
}

// canPlay returns an error if row's character is not the one whose skeleton a clip is of. It makes room otherwise.
func (k *cast) canPlay(row int, clip *layer.Clip) error {
	switch {
	case k.of[row] == noCharacter:
		return fmt.Errorf("clip %q is of a character's own skeleton, and the agent has no character: see SetCharacter", clip.Name())
	case k.all[k.of[row]] != clip.Character():
		return fmt.Errorf("clip %q is of the own skeleton of another character than the agent's", clip.Name())
	}
	k.openTurns()
	return nil
}

func (k *cast) openTurns() {
	if k.turning == nil {
		k.turning, k.turns = make([]int16, len(k.of)), make([]m3.Quat, len(k.of)*k.further)
	}
}

// turned returns how row's further joints turn, or nil if they do not.
func (k *cast) turned(row int) []m3.Quat {
	if k.turning == nil || k.turning[row] == 0 {
		return nil
	}
	return k.turns[row*k.further:][:k.turning[row]]
}

// lead moves the turns of row's further joints toward those of its last step: share 1 is all the way.
func (k *cast) lead(c *Crowd, row int, share float32) {
	if k.turning == nil {
		return
	}
	to := c.layers.Turns(row)
	switch {
	case to == nil && share >= 1:
		k.turning[row] = 0
	case to != nil && k.turning[row] == 0:
		k.turning[row] = int16(len(to))
		for i := range to {
			k.turns[row*k.further+i] = m3.Ident
		}
	}
	now := k.turned(row)
	for i := range now {
		switch {
		case to == nil:
			now[i] = now[i].Slerp(m3.Ident, share)
		case share >= 1:
			now[i] = to[i]
		default:
			now[i] = now[i].Slerp(to[i], share)
		}
	}
}

// turnsState writes or reads the turns of row's further joints.
func (k *cast) turnsState(st *generator.State, row int) {
	n := int16(0)
	if k.turning != nil {
		n = k.turning[row]
	}
	if generator.Value(st, &n); st.Reading() && (n < 0 || int(n) > k.further) {
		st.Fail(fmt.Errorf("the save has %d joints that turn, at most %d do", n, k.further))
		n = 0
	}
	if n > 0 {
		k.openTurns()
	}
	if k.turning == nil {
		return
	}
	k.turning[row] = n
	for i := range k.turned(row) {
		q := &k.turns[row*k.further+i]
		if generator.Value(st, q); st.Reading() && !(q.Finite() && m3.Abs(q.Dot(*q)-1) < 0.01) {
			*q = m3.Ident
		}
	}
}

// settle checks a restored row: it stops clips that are of another character than the row's.
func (k *cast) settle(c *Crowd, row int) {
	if k.turning == nil {
		return
	}
	n := 0
	var ch *retarget.Character
	if k.of[row] != noCharacter {
		ch = k.all[k.of[row]]
		n = len(ch.Further())
	}
	if is := c.layers.Character(row); is != nil && is != ch {
		c.layers.Undress(row)
	}
	if k.turning[row] != 0 && int(k.turning[row]) != n {
		k.turning[row] = 0
	}
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
	k.all[k.of[row]].Pose(now, c.now[row*c.joints:(row+1)*c.joints], hands, feet, k.turned(row))
	if began {
		copy(last, now)
	}
}

// canReach returns an error if row's own arm is too short for a place, m about its anchor.
func (k *cast) canReach(row, hand int, at m3.Vec3) error {
	if k.of[row] == noCharacter {
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
		if is := k.of[row]; is < noCharacter || int(is) >= len(k.all) {
			k.of[row] = noCharacter
			st.Fail(fmt.Errorf("the save has an agent with character %d, and there are %d", is, len(k.all)))
		} else if is != noCharacter {
			unit = k.all[is].Scale
		}
		if c.units[row] != unit {
			c.units[row] = unit
			st.Fail(errors.New("the save has an agent of another size than its character's"))
		}
	}
	if k.of[row] == noCharacter {
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
// draws them; Events are at places of its joints. TakePose keeps the joints of the crowd's skeleton. Clips of
// the skeleton of a character that the agent had blend out.
func (c *Crowd) SetCharacter(e arche.Entity, ch *retarget.Character) error {
	if err := c.claimBetween("SetCharacter"); err != nil {
		return err
	}
	defer c.registry.release()
	row, ok := c.rows.Row(e)
	if !ok {
		return fmt.Errorf("animsys: entity %v is not in this crowd", e)
	}
	is, unit := int16(noCharacter), float32(1)
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
	if c.layers != nil {
		c.layers.Undress(row)
	}
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
	if !ok || c.cast.of[row] == noCharacter {
		return nil
	}
	return c.cast.all[c.cast.of[row]]
}

// InterpolateCharacter writes the joints of all agents that have the character ch, (agents, joints of ch),
// a fraction alpha in [0, 1] of the way from the tick before the last to the last into dst, growing it if it
// is too small, and returns it: what a node that draws this character is to be given. For nil these are the agents
// without a character, with the crowd's joints. Agents are in the order of WithCharacter. Joints are in the space of
// a camera at eye, world space; see InterpolateFrom.
func (c *Crowd) InterpolateCharacter(dst []m3.Xform, ch *retarget.Character, alpha float32, eye m3.Vec3) []m3.Xform {
	c.settle()
	if alpha = m3.Clamp(alpha, 0, 1); !m3.Finite(alpha) {
		alpha = 1
	}
	dst = dst[:0]
	is, known := c.cast.number(ch)
	if !known {
		return dst
	}
	joints := c.joints
	if ch != nil {
		joints = ch.Len()
	}
	for row := range c.rows.Len() {
		if c.cast.of[row] != is {
			continue
		}
		n := len(dst)
		dst = slices.Grow(dst, joints)[:n+joints]
		if ch != nil {
			ch.Interpolate(dst[n:], c.cast.bones(c.cast.last, row), c.cast.bones(c.cast.now, row), alpha)
		} else {
			i, k := row*joints, (row+1)*joints
			c.Skel.Interpolate(dst[n:], c.last[i:k], c.now[i:k], alpha) // its unit is the metre
		}
		move(dst[n:], c.anchors[row].Sub(eye))
	}
	return dst
}

// WithCharacter appends the agents that have the character ch to dst, in the order of rows, and returns the result:
// whose bones InterpolateCharacter writes. nil asks for the agents without a character.
func (c *Crowd) WithCharacter(dst []arche.Entity, ch *retarget.Character) []arche.Entity {
	c.settle()
	if is, known := c.cast.number(ch); known {
		for row := range c.rows.Len() {
			if c.cast.of[row] == is {
				dst = append(dst, c.rows.Entity(row))
			}
		}
	}
	return dst
}

// number returns the number of a character that agents of the crowd can have, or noCharacter for nil.
func (s *cast) number(ch *retarget.Character) (n int16, known bool) {
	if ch == nil {
		return noCharacter, true
	}
	i := slices.Index(s.all, ch)
	return int16(i), i >= 0
}
