package animsys

import (
	"mannequin/animsys/generator"
	"mannequin/animsys/layer"
	"mannequin/engine/m3"
	"mannequin/ik"

	arche "github.com/mlange-42/arche/ecs"
)

// EventKind is what an [Event] reports.
type EventKind uint8

// The kinds of events.
const (
	FootDown   EventKind = iota // a foot has gained contact with the ground
	FootUp                      // a foot has lost it
	ClipMarker                  // a clip has passed a marker
	ClipEnd                     // a clip that is played once, and not held, has come to its end, and blends out
	HandThere                   // a hand's time is over, see ecs.Hand.Seconds, and it is within 2 cm of its target
	FootThere                   // a foot's time is over, see ecs.Foot.Seconds; its sole is below Pos by Crowd.Ground.Sole, or, of a character, by as much as at rest
	HandMissed                  // a hand's time is over and it is not at its target, or the hand lost its target earlier: Reason says why
)

// Event is something that happened to an agent in the last tick, for sounds and effects.
type Event struct {
	Entity arche.Entity
	Kind   EventKind
	Leg    int8        // of feet: the leg, in the order of the crowd's ik.Roles: left before right, for dogs the order of ik.DogRoles; of HandThere, HandMissed and FootThere: 0 left, 1 right
	Layer  int8        // of clips
	Joint  int16       // of feet: the tip of the leg; of HandThere and HandMissed: the knuckles; of FootThere: the ball of the foot; of clips: the hips. An index of Bones
	Clip   *layer.Clip // of clips
	Marker string      // of ClipMarker: its name
	Reason string      // of HandMissed
	Pos    m3.Vec3     // of the joint, world space, m; of characters without such a joint: where the foot's tip or the knuckles are
	Normal m3.Vec3     // of feet: the ground's unit normal there
	Speed  float32     // of feet, m/s: FootDown: the greatest speed down since the foot was lifted; FootUp: how fast it moves
}

// Events returns what happened in the last tick, in the order of rows, whatever the number of workers.
// The slice is the crowd's own, and valid until the next tick. After Restore it is empty; ticks that
// are played again have their events again.
//
// A foot has contact as it is shown, see ik.Foot.Stands: each contact gives one FootDown and one FootUp.
// A person's heel comes down first: FootDown comes then, before the toes rest. Agents that were spawned or placed begin without an event. Agents that
// update every second or fourth tick have the event in the tick that shows the change. Clips move on in
// every tick: each marker gives one event each time the clip passes it, at any update rate and speed.
func (c *Crowd) Events() []Event { return c.events }

// footing is what is remembered of a foot for events.
type footing struct {
	fall    float32 // greatest speed down since it was lifted, m/s
	contact uint32  // one of the following
}

const (
	unknown = iota
	lifted
	standing
)

// observe notes how the feet of row are shown, and which contacts have changed. arrived says that the
// pose of the row's last step is shown.
func (c *Crowd) observe(row int, arrived bool) {
	legs := c.legs()
	feet := c.footings[row*legs : (row+1)*legs]
	c.changed[row] = 0
	for i := range feet {
		f, tip := &feet[i], row*c.joints+c.tips[i]
		if f.contact == lifted {
			f.fall = max(f.fall, (c.last[tip].Pos.Y-c.now[tip].Pos.Y)*TickRate*c.units[row])
		}
		if !arrived {
			continue
		}
		now := uint32(lifted)
		if c.Ground.Feet[row*legs+i].Stands() {
			now = standing
		}
		if f.contact != unknown && f.contact != now {
			c.changed[row] |= 1 << i
		}
		f.contact = now
	}
}

// report collects the tick's events.
func (c *Crowd) report() {
	c.events = c.events[:0]
	marks, legs := c.marks, c.legs()
	for row := range c.rows.Len() {
		for ; len(marks) > 0 && marks[0].Row == row; marks = marks[1:] {
			m := &marks[0]
			e := Event{Entity: c.rows.Entity(row), Kind: ClipEnd, Layer: int8(m.Layer), Clip: m.Clip}
			e.Joint, e.Pos = c.pointOf(row, hips, 0)
			if m.Marker >= 0 {
				e.Kind, e.Marker = ClipMarker, m.Clip.Markers()[m.Marker].Name
			}
			c.events = append(c.events, e)
		}
		c.reportLimbs(row)
		if c.changed[row] == 0 {
			continue
		}
		for i := range legs {
			if c.changed[row]>>i&1 == 0 {
				continue
			}
			f := &c.footings[row*legs+i]
			e := Event{Entity: c.rows.Entity(row), Leg: int8(i), Speed: f.fall}
			e.Joint, e.Pos = c.pointOf(row, foot, i)
			if f.contact == lifted {
				e.Kind, e.Speed = FootUp, c.speedOf(row, i)
			}
			e.Normal = c.normal(e.Pos, row)
			f.fall = 0
			c.events = append(c.events, e)
		}
	}
}

// reportLimbs collects the hands and feet of row whose time is over.
func (c *Crowd) reportLimbs(row int) {
	a := c.aims
	if a == nil || a.arms == nil || a.timing[row].there == 0 {
		return
	}
	for i := range limbs {
		if a.timing[row].there>>i&1 == 0 {
			continue
		}
		e := Event{Entity: c.rows.Entity(row), Kind: HandThere, Leg: int8(i % 2)}
		if i < 2 {
			e.Joint, e.Pos = c.pointOf(row, hand, i)
			if e.Reason = c.missed(row, i); e.Reason != "" {
				e.Kind = HandMissed
			}
		} else {
			e.Kind = FootThere
			e.Joint, e.Pos = c.pointOf(row, foot, i-2)
		}
		c.events = append(c.events, e)
	}
	a.timing[row].there, a.timing[row].lost = 0, 0
}

// point is what an event is at.
type point int

const (
	hips point = iota
	hand       // the left or the right one, 0 or 1
	foot       // of a leg
)

// pointOf returns the joint of row at a point, an index of Bones, and the point's place as shown.
func (c *Crowd) pointOf(row int, p point, i int) (joint int16, at m3.Vec3) {
	if own := c.cast.bones(c.cast.shown, row); own != nil {
		j, from := c.ownPoint(row, p, i)
		return int16(j), own[j].Apply(from)
	}
	j := c.joint(p, i)
	return int16(j), c.shown[row*c.joints+j].Pos
}

// joint returns the joint of Skel at a point.
func (c *Crowd) joint(p point, i int) int {
	switch p {
	case hand:
		return c.aims.arms.Arms[i].Hand
	case foot:
		return c.tips[i]
	}
	return 0
}

// ownPoint returns the joint of row's character at a point, and the point's place in its frame, m.
func (c *Crowd) ownPoint(row int, p point, i int) (joint int, at m3.Vec3) {
	ch := c.cast.all[c.cast.of[row]]
	switch p {
	case hand:
		if j, at, ok := ch.Knuckles(i); ok {
			return j, at
		}
	case foot:
		return ch.Toe(i)
	}
	return ch.Player(c.joint(p, i)), m3.Vec3{}
}

// speedOf returns how fast the tip of a leg of row moves, m/s.
func (c *Crowd) speedOf(row, leg int) float32 {
	k := &c.cast
	if now, last := k.bones(k.now, row), k.bones(k.last, row); now != nil {
		j, from := c.ownPoint(row, foot, leg)
		return now[j].Apply(from).Dist(last[j].Apply(from)) * TickRate
	}
	tip := row*c.joints + c.tips[leg]
	return c.now[tip].Pos.Dist(c.last[tip].Pos) * TickRate * c.units[row]
}

// normal returns the ground's normal at a place where row stands.
func (c *Crowd) normal(at m3.Vec3, row int) m3.Vec3 {
	ground := c.Ground.Ground
	n := m3.Up
	if floors, ok := ground.(ik.Floors); ok {
		n = floors.NormalFrom(at.X, at.Z, c.floor(row))
	} else if ground != nil {
		n = ground.Normal(at.X, at.Z)
	}
	if !n.Finite() {
		return m3.Up
	}
	return n
}

// eventsState writes what is remembered of a row's feet for events, or reads it.
func (c *Crowd) eventsState(s *generator.State, row int) {
	legs := c.legs()
	feet := c.footings[row*legs : (row+1)*legs]
	generator.Values(s, feet)
	for i := range feet {
		if f := &feet[i]; f.contact > standing || !m3.Finite(f.fall) {
			*f = footing{}
		}
	}
}
