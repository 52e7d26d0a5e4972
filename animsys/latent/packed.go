package latent

import (
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// packed is clips in half the memory of rows, as saves copy them all.
type packed struct {
	layout   *feature.Motion
	places   *feature.Places16
	joints   []feature.Point16            // (clips, Frames, joints)
	body     [][feature.MotionLen]float32 // (clips, Frames) m/s and rad/s
	contacts []int16                      // (clips, Frames, contacts) in 1/contactUnits
}

const contactUnits = 1 << 13

func newPacked(clips int, l *feature.Motion, p *feature.Places16) packed {
	n := clips * Frames
	return packed{l, p, make([]feature.Point16, n*len(l.Joints)), make([][feature.MotionLen]float32, n), make([]int16, n*len(l.Contacts))}
}

// of returns clip i.
func (p *packed) of(i int) packed {
	j, c := Frames*len(p.layout.Joints), Frames*len(p.layout.Contacts)
	return packed{p.layout, p.places, p.joints[i*j:][:j], p.body[i*Frames:][:Frames], p.contacts[i*c:][:c]}
}

func (p packed) copy(from packed) {
	copy(p.joints, from.joints)
	copy(p.body, from.body)
	copy(p.contacts, from.contacts)
}

// pack writes a clip from rows, (Frames, columns) raw, which are finite.
func (p packed) pack(rows []float32) {
	l := p.layout
	cols, joints, contacts := l.Columns(), len(l.Joints), len(l.Contacts)
	for f := range Frames {
		row := rows[f*cols:][:cols]
		p.places.Pack(p.joints[f*joints:][:joints], row)
		copy(p.body[f][:], row[l.Body():])
		for c := range contacts {
			p.contacts[f*contacts+c] = feature.Round16(row[l.Contact(c)] * contactUnits)
		}
	}
}

// follow makes a clip the next one, faded in over what they share.
func (p packed) follow(next packed) {
	joints, contacts := len(p.layout.Joints), len(p.layout.Contacts)
	for f := range Overlap {
		share, was := fadedIn(f), hop+f
		feature.Mix16(p.joints[f*joints:][:joints], p.joints[was*joints:], next.joints[f*joints:], share)
		for i, v := range p.body[was] {
			p.body[f][i] = m3.Lerp(v, next.body[f][i], share)
		}
		for i := f * contacts; i < (f+1)*contacts; i++ {
			v := float32(p.contacts[i+hop*contacts])
			p.contacts[i] = feature.Round16(m3.Lerp(v, float32(next.contacts[i]), share))
		}
	}
	copy(p.joints[Overlap*joints:], next.joints[Overlap*joints:])
	copy(p.body[Overlap:], next.body[Overlap:])
	copy(p.contacts[Overlap*contacts:], next.contacts[Overlap*contacts:])
}

// finite reports whether all motion of a clip's body is.
func finite(body [][feature.MotionLen]float32) bool {
	var sum float32 // 0, or NaN
	for _, v := range body {
		sum += 0*v[0] + 0*v[1] + 0*v[2]
	}
	return sum == 0
}
