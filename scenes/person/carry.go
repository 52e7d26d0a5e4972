package person

import (
	"mannequin/animsys"
	"mannequin/ecs"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/scenes"
	"mannequin/scenes/internal/yard"
	"mannequin/terrain"

	"github.com/mlange-42/arche/generic"
)

// box is a box that can be carried.
type box struct {
	at, was m3.Vec3 // its middle, in this tick and in the one before
	yaw     float32
	speed   float32 // of a fall, upward, m/s
}

// carrier is what the player's person does with its hands.
type carrier struct {
	boxes   []box
	held    int // the box that is reached for or carried, or −1
	ticks   int // until both hands are at it; 0: it is carried
	pressed bool
	missed  string // why no box was taken
	shown   int    // ticks for which that is shown
	reach   generic.Map1[ecs.Reach]
	palms   [2]int         // joints, or −1
	floors  []terrain.Deck // what boxes fall on
}

const (
	graspTime = 0.5 // s
	nearest   = 1.1 // m, from the person to the middle of a box that it takes
)

// inFront is where a box is carried, seen from the person, m.
var inFront = m3.V(0, 1.1, 0.38)

func (c *carrier) open(s *Scene) {
	c.held, c.reach = -1, generic.NewMap1[ecs.Reach](&s.ECS)
	c.reach.Add(s.hero)
	for i, name := range [...]string{"LeftHandIndex1", "RightHandIndex1"} {
		c.palms[i] = s.own.Skel.Index(name)
	}
	c.floors = floors()
	c.reset()
}

// reset puts the boxes back.
func (c *carrier) reset() {
	c.release()
	c.boxes = c.boxes[:0]
	for _, p := range boxesAt {
		p.Y = pedestalHigh + boxSize/2
		c.boxes = append(c.boxes, box{at: p, was: p})
	}
}

// able reports whether the person has hands whose names are known.
func (c *carrier) able() bool { return c.palms[0] >= 0 && c.palms[1] >= 0 }

// miss says for a while why no box was taken.
func (c *carrier) miss(why string) { c.missed, c.shown = why, 3*scenes.TickRate }

// act takes the nearest box, or lets go of the one that is held, when the player presses the key.
func (c *carrier) act(s *Scene, key bool) {
	press := key && !c.pressed && c.able()
	c.pressed = key
	if c.shown = max(c.shown-1, 0); c.shown == 0 {
		c.missed = ""
	}
	root := s.Crowd.Root(s.hero)
	switch {
	case press && c.held >= 0:
		c.release()
	case press:
		c.take(s, root)
	}
	hands := c.reach.Get(s.hero)
	*hands = ecs.Reach{}
	if c.held < 0 {
		return
	}
	b, seconds := &c.boxes[c.held], float32(graspTime)
	to := b.at
	if c.ticks == 0 {
		to, seconds = c.carried(s, root), 0
	}
	left, right := sides(to, root)
	hands.Left, hands.Right = ecs.Hand{Target: left, Weight: 1, Seconds: seconds}, ecs.Hand{Target: right, Weight: 1, Seconds: seconds}
}

// sides returns where the hands of a person hold a box.
func sides(at m3.Vec3, root m3.Xform) (left, right m3.Vec3) {
	const near = 0.12 // m, toward the person
	turn := m3.YawQuat(root.Rot.Yaw())
	at = at.Sub(turn.Rotate(m3.V(0, 0, near)))
	side := turn.Rotate(m3.V(boxSize/2, 0, 0))
	return at.Add(side), at.Sub(side)
}

// take begins to reach for the nearest box.
func (c *carrier) take(s *Scene, root m3.Xform) {
	best := float32(nearest)
	for i := range c.boxes {
		way := c.boxes[i].at.Sub(root.Pos).Flat()
		if d := way.Len(); d < best && way.Dot(root.Rot.Forward()) > 0 {
			c.held, best = i, d
		}
	}
	if c.held < 0 {
		c.miss("no box is near and ahead")
		return
	}
	left, right := sides(c.boxes[c.held].at, root)
	if s.Crowd.CanReach(s.hero, animsys.Left, left, graspTime) != nil || s.Crowd.CanReach(s.hero, animsys.Right, right, graspTime) != nil {
		c.held = -1
		c.miss("the box is out of reach: step closer; R puts boxes back")
		return
	}
	c.ticks = int(graspTime * scenes.TickRate)
}

func (c *carrier) release() { c.held, c.ticks = -1, 0 }

// carried returns where the box is carried.
func (c *carrier) carried(s *Scene, root m3.Xform) m3.Vec3 {
	floor := s.Crowd.Ground.Body[0].Floor() * s.own.Scale
	return root.Apply(inFront.Scale(s.own.Scale)).Add(m3.V(0, floor-root.Pos.Y, 0))
}

// move moves the boxes after a tick: one is between the hands, others fall.
func (c *carrier) move(s *Scene) {
	for _, e := range s.Crowd.Events() {
		if e.Kind == animsys.HandMissed && e.Entity == s.hero && c.ticks > 0 {
			c.miss(e.Reason)
			c.release()
		}
	}
	for i := range c.boxes {
		b := &c.boxes[i]
		b.was = b.at
		if i == c.held {
			if c.ticks = max(c.ticks-1, 0); c.ticks == 0 {
				m := s.Crowd.Bones(s.hero)
				b.at, b.speed = m[c.palms[0]].Pos.Lerp(m[c.palms[1]].Pos, 0.5), 0
				b.yaw = s.Crowd.Root(s.hero).Rot.Yaw()
			}
			continue
		}
		const g, dt = 9.81, 1.0 / scenes.TickRate
		b.speed -= g * dt
		b.at.Y += b.speed * dt
		if low := c.support(b.at) + boxSize/2; b.at.Y <= low {
			b.at.Y, b.speed = low, 0
		}
	}
}

// support returns the height of what a box stands on.
func (c *carrier) support(at m3.Vec3) (y float32) {
	for _, p := range boxesAt {
		if d := at.Sub(p); max(m3.Abs(d.X), m3.Abs(d.Z)) < (pedestalWide+boxSize)/2 && at.Y > pedestalHigh {
			return pedestalHigh
		}
	}
	for i := range c.floors {
		block := yard.DeckBlock(&c.floors[i], yard.Stone)
		if top, ok := block.Top(at.X, at.Z); ok && top < at.Y {
			y = max(y, top)
		}
	}
	return y
}

func (c *carrier) hash(h statehash.Hash) statehash.Hash {
	for i := range c.boxes {
		b := &c.boxes[i]
		h = h.Floats(b.at.X, b.at.Y, b.at.Z, b.yaw, b.speed)
	}
	return h.Int(c.held).Int(c.ticks).Bool(c.pressed)
}

// draw adds the boxes.
func (c *carrier) draw(dst *scenes.Frame, alpha float32) {
	for i := range c.boxes {
		b := &c.boxes[i]
		at := b.was.Lerp(b.at, alpha)
		at.Y += boxSize / 2
		dst.Blocks = append(dst.Blocks, hud.Block{At: at, Yaw: b.yaw, Width: boxSize, Depth: boxSize, Height: boxSize, Colour: yard.Wood, Loose: true})
	}
}
