package layer

import (
	"errors"
	"fmt"

	"mannequin/animsys/generator"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// AppendBinary appends the clip to b, little-endian. It returns no error.
func (c *Clip) AppendBinary(b []byte) ([]byte, error) {
	s := generator.State{Data: b}
	sum, joints := c.skeleton, 0
	if c.frames > 0 {
		joints = len(c.rot) / c.frames
	}
	c.state(&s, &sum, joints)
	return s.Data, s.Err()
}

// UnmarshalBinary makes c the clip that AppendBinary wrote. c must be new: clips are immutable. A Player
// of the same skeleton can play it once it has restored it.
func (c *Clip) UnmarshalBinary(b []byte) error {
	s := generator.State{Data: b}
	s.Rewind()
	*c = Clip{}
	c.state(&s, &c.skeleton, 0)
	if s.Err() == nil && s.Read() != len(b) {
		s.Fail(errors.New("bytes follow it"))
	}
	if err := s.Err(); err != nil {
		*c = Clip{}
		return fmt.Errorf("layer: a clip: %w", err)
	}
	return nil
}

func (c *Clip) state(s *generator.State, sum *uint64, joints int) {
	generator.Value(s, sum)
	text(s, &c.name)
	generator.Value(s, &c.fps)
	s.Int(&c.frames)
	s.Int(&joints)
	s.Bool(&c.closed)
	s.Int(&c.ref)
	room(s, &c.markers, 8)
	for i := range c.markers {
		text(s, &c.markers[i].Name)
		generator.Value(s, &c.markers[i].Time)
	}
	room(s, &c.tips, 8)
	for i := range c.tips {
		s.Int(&c.tips[i])
	}
	for _, v := range [...]*[]m3.Quat{&c.rot, &c.ownRot} {
		room(s, v, 16)
		generator.Values(s, *v)
	}
	for _, v := range [...]*[]m3.Vec3{&c.hips, &c.ownHips, &c.track} {
		room(s, v, 12)
		generator.Values(s, *v)
	}
	room(s, &c.stand, 1)
	generator.Values(s, c.stand)
	has := c.own != nil
	if s.Bool(&has); has {
		if c.own == nil {
			c.own = &ownPart{}
		}
		generator.Value(s, &c.own.sum)
		room(s, &c.own.turns, 16)
		generator.Values(s, c.own.turns)
	}
	if s.Reading() && s.Err() == nil && !c.sound(joints) {
		s.Fail(errors.New("its values are out of range"))
	}
}

// sound reports whether what was read is a clip.
func (c *Clip) sound(joints int) bool {
	ok := c.frames >= 1 && c.frames <= MaxFrames && joints >= 1 && joints <= 1<<15 && c.fps > 0 && c.fps <= MaxFPS && c.ref >= 0 && c.ref < c.frames &&
		len(c.markers) <= MaxMarkers && len(c.tips) <= 8 && len(c.rot) == c.frames*joints && len(c.ownRot) == c.frames && len(c.hips) == c.frames &&
		len(c.ownHips) == c.frames && len(c.track) == c.frames && len(c.stand) == c.frames
	last := float32(0)
	for _, m := range c.markers {
		ok = ok && m.Time >= last && float64(m.Time) <= float64(c.frames-1)/c.fps+1e-6
		last = m.Time
	}
	for _, j := range c.tips {
		ok = ok && j >= 0 && j < joints
	}
	rotations := [...][]m3.Quat{c.rot, c.ownRot, nil}
	if c.own != nil {
		rotations[2] = c.own.turns
		ok = ok && len(c.own.turns)%c.frames == 0
	}
	for _, v := range rotations {
		for _, q := range v {
			ok = ok && unit(q)
		}
	}
	for _, v := range [...][]m3.Vec3{c.hips, c.ownHips, c.track} {
		for _, p := range v {
			ok = ok && p.Finite()
		}
	}
	return ok
}

// adopt gives a clip that was read the skeleton that plays it, if it is its own.
func (c *Clip) adopt(sk *skel.Skeleton, sum uint64) {
	if c.sk == nil && c.skeleton == sum && len(c.rot) == c.frames*sk.Len() {
		c.sk = sk
	}
}

// AppendBinary appends the mask to b, little-endian. It returns no error.
func (m *Mask) AppendBinary(b []byte) ([]byte, error) {
	s := generator.State{Data: b}
	m.state(&s)
	return s.Data, s.Err()
}

// UnmarshalBinary makes m the mask that AppendBinary wrote. m must be new: masks are immutable. A Player
// of the same skeleton can use it once it has restored it.
func (m *Mask) UnmarshalBinary(b []byte) error {
	s := generator.State{Data: b}
	s.Rewind()
	*m = Mask{}
	if m.state(&s); s.Err() == nil && s.Read() != len(b) {
		s.Fail(errors.New("bytes follow it"))
	}
	for _, w := range m.weight {
		if !(w >= 0 && w <= 1) {
			s.Fail(errors.New("its weights are out of range"))
		}
	}
	if err := s.Err(); err != nil {
		*m = Mask{}
		return fmt.Errorf("layer: a mask: %w", err)
	}
	return nil
}

func (m *Mask) state(s *generator.State) {
	generator.Value(s, &m.skeleton)
	room(s, &m.weight, 4)
	generator.Values(s, m.weight)
}

// adopt is Clip.adopt for a mask.
func (m *Mask) adopt(sk *skel.Skeleton, sum uint64) {
	if m.sk == nil && m.skeleton == sum && len(m.weight) == sk.Len() {
		m.sk = sk
	}
}

// room writes the length of a slice, or makes a slice of the length that was written: of elements that
// take at least size bytes each.
func room[T any](s *generator.State, v *[]T, size int) {
	n := len(*v)
	s.Int(&n)
	switch {
	case !s.Reading():
	case s.Err() != nil || n < 0 || n > (len(s.Data)-s.Read())/size:
		s.Fail(errors.New("it ends early"))
		*v = nil
	case n == 0:
		*v = nil
	default:
		*v = make([]T, n)
	}
}

// text writes or reads a string.
func text(s *generator.State, v *string) {
	b := []byte(*v)
	room(s, &b, 1)
	if generator.Values(s, b); s.Reading() {
		*v = string(b)
	}
}
