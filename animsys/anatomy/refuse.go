package anatomy

import (
	"errors"
	"fmt"

	"mannequin/engine/m3"
)

// NoPerson returns why the body is no person's, or nil. It says nothing of joints that were not
// found.
func (b *Body) NoPerson() error {
	switch {
	case !b.stands:
		return nil // the pose shows nothing
	case b.Kind == Bird && b.Pose > 0 && len(b.Wings) == 0 && len(b.Tails) == 0:
		return nil // a person may bow
	case b.Kind == Bird && len(b.Wings) > 0:
		return errors.New("the trunk is level above two legs, and it has wings: it is a bird, not a person")
	case b.Kind == Bird:
		return errors.New("the trunk is level above two legs, as a bird's is: it is not a person")
	case b.Kind >= FourLegs:
		return fmt.Errorf("it stands on %v%s: it is not a person", b.Kind, b.butFor())
	}
	return nil
}

// NoDog returns why the body is no animal's on four legs, or nil.
func (b *Body) NoDog() error {
	switch {
	case !b.stands || b.Kind == FourLegs || b.Kind == Legless:
		return nil
	case b.Kind == TwoLegs:
		return errors.New("it stands upright on two legs: it is no dog")
	case b.Kind == Bird:
		return errors.New("it stands on two legs: it is no dog")
	}
	return fmt.Errorf("it stands on %v: it is no dog", b.Kind)
}

// Unlike returns why the motion of another body is not for this one, or nil: a person's is not for an animal on
// four legs or more, and an animal's is not for a person or an animal on another number of legs.
func (b *Body) Unlike(motion *Body) error {
	person := func(b *Body) bool { return b.stands && b.Kind == TwoLegs }
	animal := func(b *Body) bool { return b.stands && b.Kind >= FourLegs }
	switch {
	case animal(b) && person(motion):
		return fmt.Errorf("it stands on %v%s, and the motion is of a body upright on two legs", b.Kind, b.butFor())
	case person(b) && animal(motion):
		return fmt.Errorf("it stands upright on two legs, and the motion is of a body that stands on %v%s", motion.Kind, motion.butFor())
	case animal(b) && animal(motion) && len(b.Legs) != len(motion.Legs):
		return fmt.Errorf("it stands on %v%s, and the motion is of a body on %v%s", b.Kind, b.butFor(), motion.Kind, motion.butFor())
	}
	return nil
}

// NotAlike returns why the motion of another animal does not go onto this one by roles, or nil: both stand, on as many
// legs, and both upright or both with the trunk level.
func (b *Body) NotAlike(motion *Body) error {
	switch {
	case len(motion.Legs) == 0:
		return errors.New("the motion is of a body without legs, or its legs were not found")
	case len(b.Legs) == 0:
		return fmt.Errorf("it has no legs, or they were not found, and the motion is of a body on %v%s", motion.Kind, motion.butFor())
	case b.Kind != motion.Kind || len(b.Legs) != len(motion.Legs):
		return fmt.Errorf("it stands on %v%s, and the motion is of a body on %v%s", b.Kind, b.butFor(), motion.Kind, motion.butFor())
	}
	return nil
}

// TurnTo returns the rotation that turns this body to stand up and face as another does. It returns false if one
// of them does not stand, or if nothing shows which way it faces.
func (b *Body) TurnTo(other *Body) (m3.Quat, bool) {
	if !b.stands || !other.stands || b.Turned == NotFound || other.Turned == NotFound {
		return m3.Ident, false
	}
	axes := func(b *Body) m3.Quat {
		left := b.Up.Cross(b.Ahead).Normalize(m3.V(1, 0, 0))
		return m3.FromAxes(left, b.Up, left.Cross(b.Up))
	}
	return axes(other).Mul(axes(b).Conj()).Normalize(), true
}

// butFor names what else an animal has.
func (b *Body) butFor() string {
	switch {
	case len(b.Trunks) > 0:
		return " and has a trunk"
	case len(b.Wings) > 0:
		return " and has wings"
	case len(b.Tails) > 0:
		return " and has a tail"
	}
	return ""
}

// Upright reports whether the body is a person's, upright on two legs, rather than a dog's on four. It
// fails for others, and if hips, head or legs are not found.
func (b *Body) Upright() (bool, error) {
	joints := b.Uniform()
	for _, name := range []string{"Hips", "Head", "LeftUpLeg", "RightUpLeg"} {
		if _, ok := joints[name]; !ok {
			return false, fmt.Errorf("no joint was found for %s", name)
		}
	}
	switch b.Kind {
	case TwoLegs:
		return true, nil
	case FourLegs:
		return false, nil
	case Bird:
		return false, errors.New("it stands on two legs, with its trunk level")
	}
	return false, fmt.Errorf("it stands on %v", b.Kind)
}
