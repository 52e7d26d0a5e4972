package manifold

import (
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// Root returns the place of a row's body.
func (s *Stream) Root(row int) feature.Place {
	seat := s.seat[row]
	return s.placeAt(seat, s.bodies[seat].at)
}

// placeAt returns the place of a seat's body in frame f.
func (s *Stream) placeAt(seat int32, f int) feature.Place {
	i := s.slot(seat, f)
	p := s.sway[i].unpack().on(s.place[i].place())
	p.Pos = p.Pos.Add(s.bodies[seat].base)
	return p
}

// Preview appends the future places of a row's body to dst, every n frames, at least 1, to the end of
// the motion that is made. The next window may change the last of them.
func (s *Stream) Preview(dst []feature.Place, row, n int) []feature.Place {
	seat := s.seat[row]
	b := &s.bodies[seat]
	n = min(max(n, 1), s.ring)
	for f := b.at + n; f < b.made+blend; f += n {
		dst = append(dst, s.placeAt(seat, f))
	}
	return dst
}

// Contacts returns the contacts of a row, a bit each in the layout's order.
func (s *Stream) Contacts(row int) uint8 {
	seat := s.seat[row]
	return s.stand[s.slot(seat, s.bodies[seat].at)]
}

// maxJoints bounds the joints of a stream's skeleton.
const maxJoints = feature.MaxPacked

// Pose writes the pose of a row.
func (s *Stream) Pose(p *generator.Poses, row int) {
	p.Put(row, s.Root(row), s.Contacts(row))
	pos, rot := p.Joints(row, s.model.Skel.Len())
	seat := s.seat[row]
	i, n := s.slot(seat, s.bodies[seat].at), len(s.model.Layout.Joints)
	var points [maxJoints]m3.Vec3
	var model [maxJoints]m3.Xform
	s.packed.World(points[:n], s.Root(row), s.joints[i*n:])
	s.model.person.Fit(model[:s.model.Skel.Len()], pos, rot, points[:n])
}
