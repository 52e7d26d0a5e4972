package layer

import (
	"fmt"
	"math"

	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// PlayOptions say how a clip is played. The zero value plays it once over the whole body.
type PlayOptions struct {
	Layer  int     // 0 to MaxLayers−1; higher layers lie over lower ones, and a clip ends the one on its layer
	Mask   *Mask   // the joints it plays on; nil is the whole body
	Loop   bool    // until Stop; otherwise once
	Hold   bool    // a clip that is played once stays at its last frame until Stop
	In     float32 // time to blend in, s; 0 is 0.3, a negative time none
	Out    float32 // time to blend out at its end, s; likewise
	Weight float32 // 0 to 1; 0 is 1
	Speed  float32 // 1 is the clip's own, at most MaxSpeed; 0 is 1
	Start  float32 // where it begins, s from the first frame

	// Additive adds the difference between the clip and its ClipOptions.Reference to the pose below.
	Additive bool
	// RootMotion lets the clip move the agent over the ground, if the mask has joint 0. Without it, the
	// body moves as far from the agent's root as in the clip.
	RootMotion bool
	// IgnoreWalls lets root motion take the agent through walls, for as long as the clip plays: over a fence, onto a
	// bench beside a wall. Where the clip ends or is stopped, walls push the agent out.
	IgnoreWalls bool
}

// DefaultBlend is the time to blend in and out, s. The jerk of a raised hand grows with the inverse cube of
// this time; recorded people have about the same at 0.2 s.
const DefaultBlend = 0.3

// Validate reports the first field that makes the options unusable for c.
func (o *PlayOptions) Validate(c *Clip) error {
	switch {
	case c == nil || c.sk == nil || c.own != nil && c.own.ch == nil:
		return fmt.Errorf("layer: the clip was not made by New or NewOwn")
	case o.Mask != nil && o.Mask.sk == nil:
		return fmt.Errorf("layer: the mask was not made by one of this package's functions")
	case o.Layer < 0 || o.Layer >= MaxLayers:
		return fmt.Errorf("layer: layer %d, there are 0 to %d", o.Layer, MaxLayers-1)
	case c.maskOf(o.Mask) == foreign:
		return fmt.Errorf("layer: the mask is of another skeleton than clip %q", c.name)
	case !(o.Weight >= 0 && o.Weight <= 1):
		return fmt.Errorf("layer: the weight %g, want 0 to 1", o.Weight)
	case !(o.Speed >= 0 && o.Speed <= MaxSpeed):
		return fmt.Errorf("layer: the speed %g, want 0 to %d", o.Speed, MaxSpeed)
	case !(o.In <= MaxBlend) || !(o.Out <= MaxBlend):
		return fmt.Errorf("layer: blends of %g and %g s, want at most %d", o.In, o.Out, MaxBlend)
	case !(o.Start >= 0) || float64(o.Start) > c.Seconds(o.Loop):
		return fmt.Errorf("layer: the start is at %g s, clip %q takes %g s", o.Start, c.name, c.Seconds(o.Loop))
	}
	return nil
}

func blendTime(s float32) float32 {
	switch {
	case s == 0 || !m3.Finite(s) && s > 0:
		return DefaultBlend
	case s > 0:
		return s
	}
	return 0
}

// slot is a layer of an agent; without a clip it is empty.
type slot struct {
	clip *Clip
	mask *Mask
	slotState
}

// slotState has no padding, see generator.Value.
type slotState struct {
	time, was             float64 // s: now, and in the pose before
	weight, speed, fades  float32
	loop, hold, add, root uint8
	fresh                 uint8 // this is its first tick
	ended                 uint8 // its end is reached
	held                  uint8 // it stays at the end
	ownMask               uint8 // the mask is of the character's own skeleton
	passes                uint8 // root motion ignores walls
	_                     [3]uint8
}

// order is what an agent was asked for on a layer since the last pose.
type order struct {
	slot
	given bool
	in    float32
}

// row is the layers of an agent.
type row struct {
	slots  [MaxLayers]slot
	orders [MaxLayers]order
	root   m3.Xform // where root motion has brought the agent
	busy   bool     // a clip plays, is asked for, or fades
	fading bool     // there are offsets
	landed bool     // root motion has ended since the last tick

	ch *retarget.Character // whose own clips play, are asked for, or fade; nil without
}

// Player holds the layers of many agents: rows are agents. Rows are independent of each other, so that
// any split over goroutines gives the same bits. Nothing allocates after NewPlayer.
type Player struct {
	sk   *skel.Skeleton
	sum  uint64 // fingerprint of sk
	rows []row
	off  []offset // (rows, joints)
	hips []offset // (rows)

	// Of clips of characters' own skeletons; nil before the first.
	cast  []*retarget.Character
	width int       // of a row: the most further joints
	turns []m3.Quat // (rows, width) of the last pose
	spin  []offset  // (rows, width) what fades of them
}

// NewPlayer returns empty layers for rows agents with skeleton sk, of at most 128 joints.
func NewPlayer(rows int, sk *skel.Skeleton) (*Player, error) {
	if sk == nil || sk.Len() > maxJoints {
		return nil, fmt.Errorf("layer: want a skeleton of at most %d joints", maxJoints)
	}
	rows = max(rows, 0)
	return &Player{sk: sk, sum: sk.Fingerprint(), rows: make([]row, rows), off: make([]offset, rows*sk.Len()), hips: make([]offset, rows)}, nil
}

// Play starts a clip on a row, which shows in the next pose.
func (p *Player) Play(r int, c *Clip, o PlayOptions) error {
	if err := o.Validate(c); err != nil {
		return err
	}
	if !same(p.sk, c.sk) {
		return fmt.Errorf("layer: clip %q was made for another skeleton: give New the crowd's, or NewOwn the agent's character", c.name)
	}
	if c.own != nil {
		if p.known(c.own.sum) != c.own.ch {
			return fmt.Errorf("layer: clip %q is of the skeleton of a character that is none of the crowd's", c.name)
		}
		p.wear(r, c.own.ch)
	}
	bit := func(b bool) uint8 {
		if b {
			return 1
		}
		return 0
	}
	one := func(x float32) float32 {
		if x == 0 {
			return 1
		}
		return x
	}
	s := slot{clip: c, mask: o.Mask, slotState: slotState{
		time: float64(o.Start), was: float64(o.Start), weight: one(o.Weight), speed: one(o.Speed), fades: blendTime(o.Out),
		loop: bit(o.Loop), hold: bit(o.Hold && !o.Loop), add: bit(o.Additive), fresh: 1, ownMask: bit(c.maskOf(o.Mask) == ofOwn),
	}}
	s.root = bit(o.RootMotion && !o.Additive && s.share(0) > 0)
	s.passes = bit(o.IgnoreWalls && s.root == 1)
	p.rows[r].orders[o.Layer] = order{s, true, blendTime(o.In)}
	p.rows[r].busy = true
	return nil
}

// Stop blends out what plays on a layer of a row, over out seconds; 0 is the PlayOptions.Out of the
// clip, a negative time none.
func (p *Player) Stop(r, layer int, out float32) error {
	if layer < 0 || layer >= MaxLayers {
		return fmt.Errorf("layer: layer %d, there are 0 to %d", layer, MaxLayers-1)
	}
	if !(out <= MaxBlend) {
		return fmt.Errorf("layer: a blend of %g s, want at most %d", out, MaxBlend)
	}
	w := &p.rows[r]
	if out == 0 {
		out = w.slots[layer].fades
	} else {
		out = max(out, 0)
	}
	w.orders[layer] = order{given: true, in: out}
	return nil
}

// Playing returns what plays on a layer of a row, or is about to, and the time in the clip, s; nil if
// nothing does.
func (p *Player) Playing(r, layer int) (c *Clip, seconds float64) {
	if layer < 0 || layer >= MaxLayers {
		return nil, 0
	}
	s := &p.rows[r].slots[layer]
	if o := &p.rows[r].orders[layer]; o.given {
		s = &o.slot
	}
	return s.clip, s.time
}

// Change sets weight and speed of what plays on a layer of a row, at once: a game that changes them
// little by little has no jump. Speed 0 pauses.
func (p *Player) Change(r, layer int, weight, speed float32) error {
	switch {
	case layer < 0 || layer >= MaxLayers:
		return fmt.Errorf("layer: layer %d, there are 0 to %d", layer, MaxLayers-1)
	case !(weight >= 0 && weight <= 1) || !(speed >= 0 && speed <= MaxSpeed):
		return fmt.Errorf("layer: weight %g and speed %g, want 0 to 1 and 0 to %d", weight, speed, MaxSpeed)
	}
	s := &p.rows[r].slots[layer]
	if o := &p.rows[r].orders[layer]; o.given {
		s = &o.slot
	}
	s.weight, s.speed = weight, speed
	return nil
}

// Busy reports whether a clip plays on row r, is asked for, or fades.
func (p *Player) Busy(r int) bool { return p.rows[r].busy }

// Mark is a moment of a clip that has passed.
type Mark struct {
	Row, Layer int
	Clip       *Clip
	Marker     int // index in the clip's Markers; −1 is the end of a clip that is played once and not held
}

// Advance moves the clips of row r on by dt seconds. It appends the markers and ends that this passes,
// and returns the longer slice. They are in the order of layers, then of time.
func (p *Player) Advance(r int, dt float32, marks []Mark) []Mark {
	for l := range p.rows[r].slots {
		s := &p.rows[r].slots[l]
		if s.clip == nil || s.held == 1 || s.ended == 1 {
			continue
		}
		from := s.time
		s.time += float64(s.speed) * float64(dt)
		marks = s.marks(marks, r, l, from)
		s.fresh = 0
		switch all := s.clip.Seconds(s.loop == 1); {
		case s.loop == 0 && s.time >= all-1e-6:
			if s.ended = 1; s.hold == 0 {
				marks = append(marks, Mark{r, l, s.clip, -1})
			}
		case s.loop == 1 && all > 0 && s.time >= 2*all: // the numbers stay small
			k := all * (math.Floor(s.time/all) - 1)
			s.time, s.was = s.time-k, s.was-k
		}
	}
	return marks
}

// marks appends the markers after from and up to the present time, and with from in the first tick.
func (s *slot) marks(marks []Mark, r, l int, from float64) []Mark {
	if len(s.clip.markers) == 0 {
		return marks
	}
	const slack = 1e-6 // times are sums of ticks
	all := s.clip.Seconds(true)
	first, last := 0.0, 0.0 // rounds of the loop
	if s.loop == 1 && all > 0 {
		first, last = math.Floor(from/all)-1, math.Floor(s.time/all)+1
	}
	for n := first; n <= last; n++ {
		for i := range s.clip.markers {
			t := n*all + float64(s.clip.markers[i].Time)
			after := t > from+slack || s.fresh == 1 && t >= from-slack
			if after && t <= s.time+slack {
				marks = append(marks, Mark{r, l, s.clip, i})
			}
		}
	}
	return marks
}

// Moves reports whether a clip moves row r over the ground.
func (p *Player) Moves(r int) bool { return p.rows[r].mover() != nil }

// IgnoresWalls reports whether a clip moves row r through walls.
func (p *Player) IgnoresWalls(r int) bool {
	m := p.rows[r].mover()
	return m != nil && m.passes == 1
}

// mover returns the slot whose clip moves the agent: the highest with root motion.
func (w *row) mover() (m *slot) {
	for l := range w.slots {
		if s := &w.slots[l]; s.clip != nil && s.root == 1 { // one that is held keeps it where it is
			m = s
		}
	}
	return m
}

// Root returns where a clip with root motion brings row r, from where it was in the last pose. Call it
// after Advance, if Moves.
func (p *Player) Root(r int) m3.Xform {
	w := &p.rows[r]
	s := w.mover()
	if s == nil {
		return w.root
	}
	loop := s.loop == 1
	by := s.clip.root(s.was, loop).Inv().Mul(s.clip.root(s.time, loop))
	to := w.root.Mul(by)
	return m3.Xform{Pos: to.Pos.Flat(), Rot: m3.YawQuat(to.Rot.Yaw())}
}

// Landed reports, once, that root motion of row r has ended since the last call, and where.
func (p *Player) Landed(r int) (at m3.Xform, ok bool) {
	w := &p.rows[r]
	ok, w.landed = w.landed, false
	return w.root, ok
}

// Shift moves the place that is remembered of row r.
func (p *Player) Shift(r int, by m3.Vec3) { p.rows[r].root.Pos = p.rows[r].root.Pos.Add(by) }

// Turn turns the place of row r.
func (p *Player) Turn(r int, by m3.Turn) { p.rows[r].root = by.Xform(p.rows[r].root) }

// Place moves row r to a root: root motion goes on from there.
func (p *Player) Place(r int, root m3.Xform) { p.rows[r].root = root }

// Reset empties row r.
func (p *Player) Reset(r int) {
	p.rows[r] = row{}
	p.hips[r] = offset{}
	clear(p.off[r*p.sk.Len() : (r+1)*p.sk.Len()])
	p.stopTurning(r)
}

// Move takes the layers of row last to row r, and empties row last.
func (p *Player) Move(r, last int) {
	if r != last {
		p.rows[r], p.hips[r] = p.rows[last], p.hips[last]
		n := p.sk.Len()
		copy(p.off[r*n:(r+1)*n], p.off[last*n:(last+1)*n])
		if p.turns != nil {
			copy(p.spin[r*p.width:(r+1)*p.width], p.spin[last*p.width:])
			copy(p.turns[r*p.width:(r+1)*p.width], p.turns[last*p.width:])
		}
	}
	p.Reset(last)
}
