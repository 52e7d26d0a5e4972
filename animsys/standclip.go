package animsys

import (
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
	s := person.Ground
	out, n := skel.NewClip(c.Skel, c.FPS, c.Frames), c.Skel.Len()
	s.Ground, s.DT = ik.Level(0), float32(1/c.FPS)
	s.Pos, s.Rot, s.Model = make([]m3.Vec3, n), make([]m3.Quat, n), make([]m3.Xform, n)
	s.Feet, s.Body, s.Contacts = make([]ik.Foot, len(person.Contacts)), make([]ik.Body, 1), make([]bool, len(person.Contacts))
	if err := s.Validate(); err != nil {
		return nil, err
	}
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		copy(s.Pos, pos)
		copy(s.Rot, rot)
		for i, k := range person.Contacts {
			s.Contacts[i] = rows[f*l.Columns()+l.Contact(int(k))] > 0.5
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
