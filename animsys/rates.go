package animsys

import (
	"fmt"
	"slices"

	"mannequin/animsys/blend"
	"mannequin/animsys/generator"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// UpdateRate is the number of ticks from one update of an agent to the next. Its bones
// are interpolated in between. Distant agents need no more.
type UpdateRate uint8

// The update rates.
const (
	Frozen    UpdateRate = 0 // no updates: the agent stays as it is
	EveryTick UpdateRate = 1 // the default
	Every2    UpdateRate = 2
	Every4    UpdateRate = 4
)

// SetUpdateRate sets how often an agent updates. A change takes effect within four ticks, which
// spreads agents evenly over the ticks. Agents of a batched generator update more often if it has
// no network for this rate. Agents of other generators are shown up to three ticks late. Agents
// with an ecs.MARStyle update every tick. It returns an error if e is not in this crowd, or the crowd is closed.
func (c *Crowd) SetUpdateRate(e arche.Entity, r UpdateRate) error {
	if err := c.claim("SetUpdateRate"); err != nil {
		return err
	}
	defer c.registry.release()
	row, ok := c.rows.Row(e)
	if !ok {
		return fmt.Errorf("animsys: entity %v is not in this crowd", e)
	}
	c.rates[row].want = r.nearest()
	return nil
}

// nearest returns the next lower rate that there is.
func (r UpdateRate) nearest() UpdateRate {
	switch {
	case r > Every2:
		return Every4
	case r > EveryTick:
		return Every2
	}
	return r
}

// UpdateRateAt returns how often the agent in a row updates: Frozen for a row that no agent has.
func (c *Crowd) UpdateRateAt(row int) UpdateRate {
	if !c.has(row) {
		return Frozen
	}
	return c.rates[row].rate
}

// rated is how often a row takes a step.
type rated struct {
	want, rate UpdateRate
	left       uint8 // ticks until it shows the pose of its last step, in which it takes no other
	span       uint8 // ticks that its last step was long
	turn       uint8 // in which of four ticks it takes a step at Every4
}

// start gives row the full rate, and a turn.
func (c *Crowd) start(row int) {
	c.rates[row] = rated{want: EveryTick, rate: EveryTick, span: 1, turn: c.turns % uint8(Every4)}
	c.turns++
}

// pick decides whether row takes a step in this tick.
func (c *Crowd) pick(row int) {
	r := &c.rates[row]
	if r.left > 0 {
		return
	}
	was, next := r.rate, r.want
	if c.fresh[row] && next == Frozen {
		next = EveryTick // once, to be seen where they are now
	}
	if next > EveryTick {
		next = c.finest(row, next)
	}
	// A lower rate begins when it is the row's turn.
	if next > was && (c.tick+r.turn)%uint8(next) != 0 {
		next = was
	}
	r.rate, r.left = next, uint8(next)
	if next == Frozen {
		return
	}
	if was == Frozen && c.late {
		c.Inertial.Jump(row) // what is played has gone on
	}
	span := uint8(next)
	if c.late {
		span = uint8(max(was, EveryTick)) // since the step before
	}
	if span != r.span {
		by, legs := float32(span)/float32(r.span), c.legs()
		for i := range legs {
			c.Ground.Feet[row*legs+i].Pace(by)
		}
		c.Ground.Body[row].Pace(by)
		r.span = span
		c.Inertial.Pause(row)
	}
}

// finest returns the rate of a row that is to update at r: the next higher one that its generator
// has a network for, and every tick while it has, or leaves, a style of ecs.MARStyle.
func (c *Crowd) finest(row int, r UpdateRate) UpdateRate {
	if c.batched != nil {
		for r > EveryTick && !c.batched.HasStride(int(r)) {
			r /= 2
		}
	}
	return c.restyle.finest(row, r)
}

// steps reports whether row takes a step in this tick.
func (c *Crowd) steps(row int) bool {
	r := &c.rates[row]
	return r.left > 0 && r.left == uint8(r.rate)
}

// blend hides jumps in the poses of those rows from r0 up to r1 that take a step.
func (c *Crowd) blend(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if c.steps(r) {
			c.inertial[c.rates[r].span].Run(c.Pos, c.Rot, c.Poses.Roots, r, r+1)
			if going := &c.Poses.Going[r]; going.Leans || going.Bows {
				i, k, ok := r*c.joints, (r+1)*c.joints, false
				if going.Tilt, ok = c.Ground.Rig.Tilt(c.Pos[i:k], c.Rot[i:k]); !ok {
					*going = ik.Going{}
				}
			}
		}
	}
}

// ground stands them on the terrain.
func (c *Crowd) ground(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if c.steps(r) {
			c.aims.tread(r)
			c.solvers[c.rates[r].span].Run(r, r+1)
			c.aims.trodden(r)
		}
	}
}

// tune gives what works on steps of several ticks the settings of what works on one,
// which are anybody's to change between ticks. Settings of the solver that are not valid are left.
func (c *Crowd) tune() {
	c.Ground.Anchors, c.Ground.Units = c.anchors, c.units
	valid := c.Ground.Validate() == nil
	for span := 1; span <= int(Every4); span++ {
		c.inertial[span] = *c.Inertial
		c.inertial[span].DT *= float32(span)
		if valid {
			c.solvers[span] = c.Ground
			c.solvers[span].DT *= float32(span)
		}
	}
}

// publish leads the bones of the rows from r0 up to r1 to the grounded poses of their
// last steps, and keeps those of the tick before.
func (c *Crowd) publish(r0, r1 int) {
	for r := r0; r < r1; r++ {
		i, k := r*c.joints, (r+1)*c.joints
		last, now, to := c.last[i:k], c.now[i:k], c.Ground.Model[i:k]
		copy(last, now)
		arrived, began := false, c.fresh[r]
		switch rate := &c.rates[r]; {
		case c.fresh[r] && rate.left > 0:
			c.fresh[r], rate.left, arrived = false, rate.left-1, true
			copy(now, to)
			copy(last, to)
			c.cast.lead(c, r, 1)
		case rate.left == 1:
			rate.left, arrived = 0, true
			copy(now, to)
			c.cast.lead(c, r, 1)
		case rate.left > 1:
			c.cast.lead(c, r, 1/float32(rate.left))
			c.Skel.Interpolate(now, now, to, 1/float32(rate.left))
			rate.left--
			c.solvers[EveryTick].Between(now, r, int(rate.rate)-int(rate.left), int(rate.rate))
		}
		c.observe(r, arrived)
		c.cast.pose(c, r, began)
		c.expose(r)
	}
}

// SelectLOD is the system that decides which agents update in this tick. It comes first.
type SelectLOD struct{ system }

// Initialize prepares the system. It leaves an error if the schedule does not step at
// TickRate: motion would play at another speed.
func (s *SelectLOD) Initialize(w *arche.World) {
	s.start(w, (*Crowd).selectLOD)
	clock := generic.NewResource[ecs.Clock](w)
	if !clock.Has() {
		return
	}
	if dt := clock.Get().DT; !(m3.Abs(dt*TickRate-1) < 1e-3) {
		s.fail(fmt.Errorf("animsys: the schedule steps %g s, and crowds step 1/%d s: give ecs.NewSchedule 1.0/animsys.TickRate, and interpolate for other frame rates (Crowd.Interpolate)", dt, TickRate))
	}
}

// selectLOD drops the agents that the game has removed, and decides which update in this tick.
func (c *Crowd) selectLOD() error {
	c.sweep()
	c.ride()
	c.recentre()
	c.tune()
	for r := range c.rows.Len() {
		c.walls.Spaces[r] = generator.Space{Origin: c.anchors[r], Unit: c.units[r]}
		c.walls.Spaces[r].Origin.Y = c.floor(r)
		c.pick(r)
		c.Update[r], c.frozen[r], c.strides[r] = c.steps(r), c.rates[r].rate == Frozen, 0
		if c.Update[r] {
			c.strides[r] = uint8(c.rates[r].rate)
		}
	}
	if c.batched != nil {
		c.batch = c.batched.Select(c.strides[:c.rows.Len()])
	}
	c.tick = (c.tick + 1) % uint8(Every4)
	return nil
}

// pacing is what Crowd keep of rates.
type pacing struct {
	rates   []rated // (rows)
	tick    uint8   // of four
	turns   uint8   // handed out
	late    bool    // a step is the time since the last, not the time until the next
	frozen  []bool  // (rows)
	strides []uint8 // (rows) ticks of this tick's update, 0 for rows that do not update

	inertial [Every4 + 1]blend.Inertial // by the ticks of a step
	solvers  [Every4 + 1]ik.Legged
}

// LODPolicy maps an agent's distance from the camera to its update rate.
type LODPolicy struct {
	// Agents update at these rates up to these distances, m, and are frozen beyond Every4.
	// 0 is no bound.
	EveryTick, Every2, Every4 float32

	Behind float32 // m; agents out of sight and farther away have the next lower rate
	Unseen float32 // m; agents out of sight and farther away are frozen; 0 is no bound
	Sight  float32 // cosine of the greatest angle from the camera's direction at which agents are in sight
}

// DefaultLOD returns a policy for people and dogs around a camera near the ground.
func DefaultLOD() LODPolicy {
	return LODPolicy{EveryTick: 14, Every2: 28, Every4: 80, Behind: 3, Unseen: 12, Sight: 0.4}
}

// hold is how much farther off than the bound an agent keeps its rate that has it: those
// at a bound do not go to and fro.
const hold = 1.08

// ApplyLOD sets the update rates of all agents by the policy, for a camera at eye that looks
// along the unit vector ahead; a zero ahead looks everywhere. saving, 0 to 1, shortens the
// policy's distances: clock.Budget finds how much a tick has to save. Call it between ticks.
func (c *Crowd) ApplyLOD(a *LODPolicy, eye, ahead m3.Vec3, saving float32) {
	if !eye.Finite() || !ahead.Finite() || !m3.Finite(saving) {
		return
	}
	saving = m3.Clamp(saving, 0, 1)
	near, far := 1-saving, 1-saving*saving // those who are frozen in sight are the last to save by
	bounds := [...]float32{a.EveryTick * near, a.Every2 * near, a.Every4 * far}
	for row := range c.rows.Len() {
		at := c.shown[row*c.joints].Pos
		if c.fresh[row] { // placed elsewhere since
			at = c.Roots[row].Pos
		}
		to := at.Sub(eye)
		dist := to.Len()
		out := ahead != (m3.Vec3{}) && dist > a.Behind && to.Dot(ahead) < a.Sight*dist
		now, tier := slices.Index(tiers[:], c.rates[row].want), len(bounds)
		for i, bound := range bounds {
			if i >= now {
				bound *= hold
			}
			if a.bound(i) == 0 || dist <= bound {
				tier = i
				break
			}
		}
		switch {
		case out && a.Unseen > 0 && dist > a.Unseen:
			tier = len(bounds)
		case out:
			tier++
		}
		c.rates[row].want = tiers[min(tier, len(tiers)-1)]
	}
}

func (a *LODPolicy) bound(i int) float32 { return [...]float32{a.EveryTick, a.Every2, a.Every4}[i] }

var tiers = [...]UpdateRate{EveryTick, Every2, Every4, Frozen}
