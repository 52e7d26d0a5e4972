package animsys

import (
	"errors"
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// StandClip returns a clip of a person with its feet locked, as the system Ground shows it
// on level ground at height zero. rows, (frames, columns) raw, are the frames of the clip,
// which have the contacts.
func StandClip(c *skel.Clip, l *feature.Motion, rows []float32) (*skel.Clip, error) {
	if len(rows) != c.Frames*l.Columns() {
		return nil, fmt.Errorf("animsys: %d values of the frames of a clip of %d frames: want %d", len(rows), c.Frames, c.Frames*l.Columns())
	}
	person, err := generator.Person(l, c.Skel, nil)
	if err != nil {
		return nil, err
	}
	contacts := make([]bool, 0, c.Frames*len(person.Contacts))
	for f := range c.Frames {
		for _, k := range person.Contacts {
			contacts = append(contacts, rows[f*l.Columns()+l.Contact(int(k))] > 0.5)
		}
	}
	return GroundClip(c, person, contacts)
}

// GroundClip returns a clip of a generator's character with its feet locked, as the system Ground shows it on level
// ground at height zero. contacts are (frames, legs); nil lets the ground solver find them.
func GroundClip(c *skel.Clip, rig generator.Rig, contacts []bool) (*skel.Clip, error) {
	s := rig.Ground
	if c == nil || c.Skel == nil || s.Rig == nil || s.Rig.Tree == nil || s.Rig.Tree.Len() != c.Skel.Len() || len(c.Pos) != c.Frames*c.Skel.Len() || len(c.Rot) != len(c.Pos) {
		return nil, errors.New("animsys: the clip has no frames of the rig's skeleton")
	}
	out, n, legs := skel.NewClip(c.Skel, c.FPS, c.Frames), c.Skel.Len(), len(s.Rig.Roles.Legs)
	if contacts != nil && len(contacts) != c.Frames*legs {
		return nil, fmt.Errorf("animsys: %d contacts of %d frames and %d legs", len(contacts), c.Frames, legs)
	}
	s.Ground, s.DT = ik.Level(0), float32(1/c.FPS)
	s.Pos, s.Rot, s.Model = make([]m3.Vec3, n), make([]m3.Quat, n), make([]m3.Xform, n)
	s.Feet, s.Body = make([]ik.Foot, legs), make([]ik.Body, 1)
	if contacts != nil {
		s.Contacts = make([]bool, legs)
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		copy(s.Pos, pos)
		copy(s.Rot, rot)
		if contacts != nil {
			copy(s.Contacts, contacts[f*legs:])
		}
		s.Run(0, 1)
		to, turns := out.Frame(f)
		copy(to, pos)
		for j, p := range c.Skel.Parents {
			if p < 0 {
				to[j], turns[j] = s.Model[j].Pos, s.Model[j].Rot
				continue
			}
			turns[j] = s.Model[p].Rot.Conj().Mul(s.Model[j].Rot)
		}
	}
	return out, nil
}
