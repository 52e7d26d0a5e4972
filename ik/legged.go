package ik

import (
	"fmt"

	"mannequin/engine/m3"
)

// Legged puts poses that were made for flat ground, of dogs and of people, on uneven terrain and
// locks their feet. It follows Zhang, Starke et al. 2018, section 8: first the spine is lifted to
// the terrain; then each leg takes its foot to its place on the terrain; then tail and head are
// kept above the terrain. It turns joints and moves the hips. No bone changes length, and no joint
// jerks that does not jerk in the flat pose. docs/feet.md describes the method.
//
// One job serves a whole batch and many ticks. Start from [DefaultDog] or [DefaultHuman], fill the
// buffers, call Validate once and Run in every tick. Rows are independent: any split over
// goroutines gives the same bits.
type Legged struct {
	Rig    *Rig    // required
	Ground Ground  // required; read from every goroutine that calls Run
	DT     float32 // time between runs, s; above 0; default 1/60

	Pos   []m3.Vec3  // (rows, joints) in: local translations, m; the root's are in world space
	Rot   []m3.Quat  // (rows, joints) in: local rotations
	Model []m3.Xform // (rows, joints) out: the grounded pose, world space
	Feet  []Foot     // (rows, legs) memory, in and out; zero for an agent that is new or was moved
	Body  []Body     // (rows) memory, in and out; zero likewise

	// Contacts are the feet that have contact in the flat pose, (rows, legs). Optional: nil detects
	// contacts from heights and speeds.
	Contacts []bool

	// Steps, (rows, legs), take feet to places. Optional.
	Steps []Step
	// Shifts, (rows), are how far bodies are moved while the feet stay, m. Optional.
	Shifts []m3.Vec3

	// Goings, (rows), are how bodies are steered: people lean into that as recorded people do. Optional.
	Goings []Going

	// Anchors, (rows), are where the origin of each row's space lies on the ground, m; heights are 0.
	// Pos and all that follows from it are in that space. Optional: nil is the world's space for all.
	Anchors []m3.Vec3
	// Units, (rows), are the metres of the world that are a unit of each row's space, above 0: poses, and all lengths
	// below, are in that unit. Optional: nil is 1 for all.
	Units []float32

	Sole         float32  // height of the tips of standing feet above the ground, beyond 4 mm, m; 0, people 0.027
	MaxDrop      float32  // how far hips and chest may sink so that standing feet reach the ground, or rise for folded legs, m; 0.15
	Sink         float32  // half-life of sinking, s; 0.06
	Clearance    float32  // least height of head, tail, ankles, knees and hips above the terrain, m; 0.02
	MaxSlope     float32  // steepest slope that soles follow, height over way; 0.8
	MaxFootAccel float32  // bound on the acceleration of feet, ankles and knees, m/s²; edges and jumps are eased over; 94
	RunFootAccel float32  // times the square of the body's speed, a higher bound for those who run, 1/m; 0, people 11
	Lock         FootLock // how standing feet are held in place

	footAccel float32 // the bound for the present row

	anchor m3.Vec3 // of the present row
	unit   float32
	floors Floors  // Ground, if it has floors
	under  m3.Vec3 // the middle of the present row
	floor  float32 // its floor, m
	shift  m3.Vec3 // of its body, m
	tilt   m3.Quat // and by how much it leans
	bow    m3.Quat // and bows
	falls  bool
	fallen float32 // for how long, s
}

// DefaultDog returns a job with the settings for a dog whose hips stand half a metre high. Rig,
// Ground and the buffers are for the caller to fill.
func DefaultDog() Legged {
	return Legged{
		DT: 1.0 / 60, MaxDrop: 0.15, Sink: 0.06, Clearance: 0.02, MaxSlope: 0.8, MaxFootAccel: 94,
		Lock: FootLock{On: 0.8, Off: 0.5, Pace: 0.08, Height: 0.045, Rise: 0.03, Radius: 0.1, Halflife: 0.06, Press: 0.02},
	}
}

// DefaultHuman returns a job with the settings for people whose hips stand a metre high. The tips
// of their legs are the joints of the toes, in shoes as engine/body makes them.
func DefaultHuman() Legged {
	s := DefaultDog()
	s.Sole, s.Lock.Height, s.Lock.Radius = 0.027, 0.06, 0.15
	s.Lock.Halflife, s.Lock.Step, s.Lock.Press = 0.1, 0.15, 0.04
	s.Lock.Hold, s.Lock.Clear = 0.015, 0.035
	s.RunFootAccel = 11 // 135 m/s² at 3.5 m/s
	return s
}

// Validate reports the first field that makes the job unusable.
func (s *Legged) Validate() error {
	if s.Rig == nil {
		return fmt.Errorf("ik: Legged.Rig is missing")
	}
	if s.Ground == nil {
		return fmt.Errorf("ik: Legged.Ground is missing")
	}
	n, legs := s.Rig.Tree.Len(), len(s.Rig.Roles.Legs)
	switch {
	case len(s.Pos)%n != 0:
		return fmt.Errorf("ik: Legged.Pos has %d entries, not a multiple of %d joints", len(s.Pos), n)
	case len(s.Rot) != len(s.Pos) || len(s.Model) != len(s.Pos):
		return fmt.Errorf("ik: Legged has %d Pos, %d Rot and %d Model entries: want equal counts", len(s.Pos), len(s.Rot), len(s.Model))
	case len(s.Feet) != len(s.Pos)/n*legs:
		return fmt.Errorf("ik: Legged.Feet has %d entries for %d rows × %d legs", len(s.Feet), len(s.Pos)/n, legs)
	case len(s.Body) != len(s.Pos)/n:
		return fmt.Errorf("ik: Legged.Body has %d entries for %d rows", len(s.Body), len(s.Pos)/n)
	case s.Contacts != nil && len(s.Contacts) != len(s.Feet):
		return fmt.Errorf("ik: Legged.Contacts has %d entries for %d feet", len(s.Contacts), len(s.Feet))
	case s.Steps != nil && len(s.Steps) != len(s.Feet):
		return fmt.Errorf("ik: Legged.Steps has %d entries for %d feet", len(s.Steps), len(s.Feet))
	case s.Shifts != nil && len(s.Shifts) != len(s.Body):
		return fmt.Errorf("ik: Legged.Shifts has %d entries for %d rows", len(s.Shifts), len(s.Body))
	case s.Goings != nil && len(s.Goings) != len(s.Body):
		return fmt.Errorf("ik: Legged.Goings has %d entries for %d rows", len(s.Goings), len(s.Body))
	case s.Anchors != nil && len(s.Anchors) != len(s.Body):
		return fmt.Errorf("ik: Legged.Anchors has %d entries for %d rows", len(s.Anchors), len(s.Body))
	case s.Units != nil && len(s.Units) != len(s.Body):
		return fmt.Errorf("ik: Legged.Units has %d entries for %d rows", len(s.Units), len(s.Body))
	case !(s.DT > 0) || !m3.Finite(s.DT):
		return fmt.Errorf("ik: Legged.DT is %g s, want a positive time", s.DT)
	case !(s.MaxFootAccel > 0):
		return fmt.Errorf("ik: Legged.MaxFootAccel is %g m/s², want a positive number", s.MaxFootAccel)
	}
	for _, f := range []struct {
		name  string
		value float32
	}{
		{"Sole", s.Sole}, {"MaxDrop", s.MaxDrop}, {"Sink", s.Sink}, {"Clearance", s.Clearance}, {"MaxSlope", s.MaxSlope}, {"RunFootAccel", s.RunFootAccel},
	} {
		if !(f.value >= 0) || !m3.Finite(f.value) {
			return fmt.Errorf("ik: Legged.%s is %g, want 0 or more", f.name, f.value)
		}
	}
	return s.Lock.validate()
}

// Run grounds the rows from r0 up to r1 of a valid job, without allocating. A row that is not
// finite, has a joint a thousand kilometres off or meets ground that is not finite is not grounded:
// Model gets its flat pose, and its memory is cleared.
func (s *Legged) Run(r0, r1 int) {
	n, legs := s.Rig.Tree.Len(), len(s.Rig.Roles.Legs)
	job := *s // of this goroutine: what is of the present row changes
	for r := r0; r < r1; r++ {
		job.enter(r)
		floor := s.Body[r].floor
		m, pos, rot, feet := s.Model[r*n:(r+1)*n], s.Pos[r*n:(r+1)*n], s.Rot[r*n:(r+1)*n], s.Feet[r*legs:(r+1)*legs]
		for i := range feet {
			if feet[i].given = s.Contacts != nil; s.Contacts != nil {
				feet[i].givenContact = s.Contacts[r*legs+i]
			}
		}
		job.shift = m3.Vec3{}
		if s.Shifts != nil && s.Shifts[r].Finite() {
			job.shift = s.Shifts[r]
		}
		job.tilt, job.bow = m3.Ident, m3.Ident
		var going *Going
		if s.Goings != nil && s.Rig.hips[0] >= 0 {
			going = &s.Goings[r]
		}
		var steps []Step
		if s.Steps != nil {
			steps = s.Steps[r*legs : (r+1)*legs]
		}
		if !job.row(m, pos, rot, feet, steps, going, &s.Body[r]) {
			s.Rig.Tree.pose(m, pos, rot)
			clear(feet)
			for i := range steps {
				steps[i].timed = timed{}
			}
			s.Body[r] = BodyOn(floor)
		}
	}
}

// Begin grounds the rows from r0 up to r1 of a valid job, whose memory is zero or [BodyOn], without foot lock, and lets Run go on from there: for
// agents that come in motion from where they were shown so. Run itself takes a new agent to stand: its feet come down at once, and its body sinks for
// them.
func (s *Legged) Begin(r0, r1 int) {
	job := *s
	job.Contacts, job.Steps, job.Shifts, job.Goings = nil, nil, nil, nil
	job.Lock.On = 0
	job.Run(r0, r1)
	feet := s.Feet[r0*len(s.Rig.Roles.Legs) : r1*len(s.Rig.Roles.Legs)]
	for i := range feet {
		feet[i].press = spring{} // as it was shown
	}
}

// enter prepares the job for the space of a row.
func (s *Legged) enter(row int) {
	s.floors, _ = s.Ground.(Floors)
	s.anchor, s.unit = m3.Vec3{}, 1
	if s.Anchors != nil {
		s.anchor = s.Anchors[row]
	}
	if s.Units != nil {
		s.unit = s.Units[row]
	}
}

// row grounds one row and reports whether that gave a pose.
func (s *Legged) row(m []m3.Xform, pos []m3.Vec3, rot []m3.Quat, feet []Foot, steps []Step, going *Going, body *Body) bool {
	if !s.pose(m, pos, rot) {
		return false
	}
	s.fallDown(m, body)
	pace := body.observe(m[s.Rig.Roles.Spine[0]].Pos, s.DT)
	s.footAccel = max(s.MaxFootAccel, s.RunFootAccel*pace*pace)
	if s.Lock.Support > 0 && len(feet) == 2 && feet[0].given && !s.falls {
		s.support(m, feet)
	}
	var plans [maxLegs]legPlan
	for i, l := range s.Rig.Roles.Legs {
		if feet[i].falls && !s.falls {
			feet[i].land()
		}
		feet[i].falls = s.falls
		feet[i].alone = len(feet) == 2 && (!feet[i].given || s.Lock.Support > 0) && !feet[1-i].atLock
		var step *Step
		if steps != nil {
			step = &steps[i]
		}
		plans[i] = s.planLeg(m, l, &feet[i], step, pace)
	}
	s.shift = s.shift.Add(s.carry(m, plans[:len(feet)], steps, pace))
	body.shift = s.shift
	s.senseBody(m, body)
	if going != nil {
		s.lean(m, plans[:len(feet)], body, going)
	}
	s.liftSpine(m, body)
	if s.Lock.On > 0 && s.Lock.Heel > 0 && len(feet) == 2 {
		for i, l := range s.Rig.Roles.Legs {
			s.raiseHeel(&plans[i], &feet[i], m[l.hip()].Pos.Add(m3.V(0, body.sink[0].x, 0)), l.length(m))
		}
	}
	passes := 1
	if !body.seen {
		passes = firstSinkPasses
	}
	for range passes {
		if !s.sinkBody(m, plans[:len(feet)], body) {
			break
		}
		s.pose(m, pos, rot)
		s.tiltBody(m)
		s.liftSpine(m, body)
	}
	body.seen = true
	for i, l := range s.Rig.Roles.Legs {
		s.moveLeg(m, l, &plans[i], &feet[i])
		s.raiseToes(m, l, s.Rig.toes[i], &feet[i])
	}
	s.liftChain(m, s.Rig.Roles.Tail, &body.tail)
	s.liftChain(m, s.Rig.Roles.Head, &body.head)
	return s.Rig.Tree.settle(m, pos)
}

// support lets one of two feet come down that is to carry the body, if none does: where a pose follows another one, both may be far from
// their places.
func (s *Legged) support(m []m3.Xform, feet []Foot) {
	var carries, may [2]bool
	for i, l := range s.Rig.Roles.Legs {
		f := &feet[i]
		at := f.prev.Add(f.offset)
		if f.locked {
			at = f.lockPos
		}
		near := m[l.hip()].Pos.Sub(at).Flat().Len() < s.Lock.Support*l.length(m)
		carries[i] = near && f.locked
		may[i] = near && f.givenContact && f.height < supportHeight
	}
	for i := range feet {
		feet[i].supports = feet[i].supports && carries[i] && !carries[1-i]
	}
	if carries[0] || carries[1] {
		return
	}
	lower := 0
	if !may[0] || may[1] && feet[1].height < feet[0].height {
		lower = 1
	}
	feet[lower].comes = may[lower]
}

// pose writes the flat pose, lowered by Sole, and reports whether it can be used.
func (s *Legged) pose(m []m3.Xform, pos []m3.Vec3, rot []m3.Quat) bool {
	ok := s.Rig.Tree.pose(m, pos, rot)
	if ok && s.Sole != 0 {
		for j := range m {
			m[j].Pos.Y -= s.Sole
		}
	}
	return ok
}

// groundHeight returns the height on which a tip stands at (x, z). Ground that is too deep for a leg counts as the deepest in reach, and the top
// of a wall as the floor.
func (s *Legged) groundHeight(x, z float32) float32 {
	y := s.heightAt(x, z)
	switch lowest, highest := s.reach(x, z); {
	case y > highest && m3.Finite(y):
		y = s.floor
	case y < lowest && m3.Finite(y):
		y = lowest
	}
	return y + s.Sole
}

// reach returns the heights of the lowest and of the highest ground at (x, z) that are in reach.
func (s *Legged) reach(x, z float32) (lowest, highest float32) {
	way := m3.V(x-s.under.X, 0, z-s.under.Z).Len()
	if highest = s.floor + max(wallHeight, way); s.falls {
		return s.floor, highest
	}
	return s.floor - fallDepth - way, highest
}

// heightAt returns the height of the ground.
func (s *Legged) heightAt(x, z float32) float32 {
	at := m3.V(x, s.floor, z).Scale(s.unit).Add(s.anchor)
	if s.floors != nil {
		return s.floors.HeightFrom(at.X, at.Z, at.Y) / s.unit
	}
	return s.Ground.Height(at.X, at.Z) / s.unit
}

// groundNormal returns the ground's normal.
func (s *Legged) groundNormal(x, z float32) m3.Vec3 {
	at := m3.V(x, s.floor, z).Scale(s.unit).Add(s.anchor)
	if s.floors != nil {
		return s.floors.NormalFrom(at.X, at.Z, at.Y)
	}
	return s.Ground.Normal(at.X, at.Z)
}
