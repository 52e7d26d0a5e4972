package ik

import (
	"fmt"

	"mannequin/engine/m3"
)

// Ground is the terrain under the feet: heights in metres and upward unit
// normals, in world space, finite everywhere. terrain.Field is one.
type Ground interface {
	Height(x, z float32) float32
	Normal(x, z float32) m3.Vec3
}

// Legged stands poses that were made for flat ground (height zero), of dogs and
// of people, onto uneven terrain, in the order of Zhang, Starke et al. 2018,
// section 8: first the spine, lifted to the terrain; then the legs, each to its
// place on the terrain; then tail and head, kept above the terrain. Standing paws
// are held in place. It turns joints and moves the hips; no bone changes length,
// and no joint jerks that does not jerk in the flat pose. docs/feet.md tells how.
//
// One job serves a whole batch and many ticks. Rows are independent: any split
// over goroutines gives the same bits.
type Legged struct {
	Rig    *Rig    // required
	Ground Ground  // required
	DT     float32 // seconds between runs, positive

	Pos   []m3.Vec3  // (rows, joints) local translations; the root's is in world space, m
	Rot   []m3.Quat  // (rows, joints) local rotations
	Model []m3.Xform // (rows, joints) out: the grounded pose in world space
	Feet  []Foot     // (rows, legs) in and out, what the solver remembers; zero for an agent that is new or was moved
	Body  []Body     // (rows) the same

	// Stand says which paws the flat pose has on the ground, (rows, legs), where
	// whoever made it knows; nil tells it from their heights and speeds.
	Stand []bool

	Sole    float32     // height of tips that stand over the ground, beyond 4 mm: what is under the last joint of a foot, m
	MaxDrop float32     // how far hips and chest may sink for standing paws to reach the ground, or rise where legs have no room, m
	Sink    float32     // half-life of that, s
	Lock    LockOptions // holds standing paws in place
}

// DefaultDog returns a job with the settings for a dog whose hips stand
// half a metre high; Rig, Ground and the buffers remain to be filled.
func DefaultDog() Legged {
	return Legged{
		DT: 1.0 / 60, MaxDrop: 0.15, Sink: 0.06,
		Lock: LockOptions{On: 0.8, Off: 0.5, Pace: 0.08, Height: 0.045, Rise: 0.03, Radius: 0.1, Halflife: 0.06, Press: 0.02},
	}
}

// DefaultHuman is DefaultDog for people whose hips stand a metre high and whose
// tips are the joints of their toes, in shoes as engine/body makes them.
func DefaultHuman() Legged {
	s := DefaultDog()
	s.Sole, s.Lock.Height, s.Lock.Radius = 0.027, 0.06, 0.15
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
	case s.Stand != nil && len(s.Stand) != len(s.Feet):
		return fmt.Errorf("ik: Legged.Stand has %d entries for %d feet", len(s.Stand), len(s.Feet))
	case !(s.Sole >= 0) || !m3.Finite(s.Sole):
		return fmt.Errorf("ik: Legged.Sole is %g m, want 0 or more", s.Sole)
	case !(s.DT > 0) || !m3.Finite(s.DT):
		return fmt.Errorf("ik: Legged.DT is %g s, want a positive time", s.DT)
	case !(s.MaxDrop >= 0) || !(s.Sink >= 0):
		return fmt.Errorf("ik: Legged.MaxDrop %g m and Sink %g s: want 0 or more", s.MaxDrop, s.Sink)
	}
	return s.Lock.validate()
}

// Run grounds the rows from r0 up to r1 of a valid job, without allocating. A
// row that is not finite, or has a joint a thousand kilometres off, is passed on
// ungrounded, and what the solver remembers of it forgotten.
func (s *Legged) Run(r0, r1 int) {
	n, legs := s.Rig.Tree.Len(), len(s.Rig.Roles.Legs)
	for r := r0; r < r1; r++ {
		var stand []bool
		if s.Stand != nil {
			stand = s.Stand[r*legs : (r+1)*legs]
		}
		s.row(s.Model[r*n:(r+1)*n], s.Pos[r*n:(r+1)*n], s.Rot[r*n:(r+1)*n], s.Feet[r*legs:(r+1)*legs], stand, &s.Body[r])
	}
}

func (s *Legged) row(m []m3.Xform, pos []m3.Vec3, rot []m3.Quat, feet []Foot, stand []bool, body *Body) {
	t := s.Rig.Tree
	if !s.pose(m, pos, rot) {
		clear(feet)
		*body = Body{}
		return
	}
	pace := body.see(m[s.Rig.Roles.Spine[0]].Pos, s.DT)
	var plans [maxLegs]plan
	for i, l := range s.Rig.Roles.Legs {
		feet[i].told = stand != nil
		if stand != nil {
			feet[i].tells = stand[i]
		}
		plans[i] = s.plan(m, l, &feet[i], pace)
	}
	s.feel(m, body)
	s.spine(m, body)
	passes := 1
	if !body.seen {
		passes = tries
	}
	for range passes {
		if !s.sink(m, plans[:len(feet)], body) {
			break
		}
		s.pose(m, pos, rot)
		s.spine(m, body)
	}
	body.seen = true
	for i, l := range s.Rig.Roles.Legs {
		s.leg(m, l, &plans[i], &feet[i])
		s.toes(m, l, s.Rig.toes[i])
	}
	s.lay(m, s.Rig.Roles.Tail, &body.tail)
	s.lay(m, s.Rig.Roles.Head, &body.head)
	t.settle(m, pos)
}

// pose writes the flat pose, lowered so that soles stand where the solver takes
// tips to stand, and reports whether it can be used.
func (s *Legged) pose(m []m3.Xform, pos []m3.Vec3, rot []m3.Quat) bool {
	ok := s.Rig.Tree.pose(m, pos, rot)
	if ok && s.Sole != 0 {
		for j := range m {
			m[j].Pos.Y -= s.Sole
		}
	}
	return ok
}

// soil is the height on which tips stand.
func (s *Legged) soil(x, z float32) float32 { return s.Ground.Height(x, z) + s.Sole }
