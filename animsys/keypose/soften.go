package keypose

import (
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// softener smooths motion, which otherwise has corners at keys.
type softener struct {
	place  []feature.Place
	height []float32
	rot    []m3.Quat
}

// taps are the weights of the frames around one: a binomial, 47 ms to each side.
var taps = [...]float32{1. / 256, 8. / 256, 28. / 256, 56. / 256, 70. / 256, 56. / 256, 28. / 256, 8. / 256, 1. / 256}

func newSoftener(l *Layout, frames int) softener {
	return softener{make([]feature.Place, frames), make([]float32, frames), make([]m3.Quat, frames*len(l.Joints))}
}

// run smooths all frames that have four others on both sides.
func (s *softener) run(t *Track) {
	const side = len(taps) / 2
	n := len(t.Layout.Joints)
	copy(s.place, t.Place)
	copy(s.height, t.Height)
	copy(s.rot, t.Rot)
	for f := side; f < t.Frames-side; f++ {
		near := s.place[f]
		p, rot := feature.Place{Yaw: near.Yaw}, t.Rot[f*n:][:n]
		t.Height[f] = 0
		clear(rot)
		for k, u := range taps {
			from := f + k - side
			q := s.place[from]
			p.Pos = p.Pos.Add(q.Pos.Scale(u))
			p.Yaw += u * m3.WrapAngle(q.Yaw-near.Yaw)
			t.Height[f] += u * s.height[from]
			for i, q := range s.rot[from*n:][:n] {
				if q.Dot(s.rot[f*n+i]) < 0 {
					q = q.Neg()
				}
				r := &rot[i]
				r.X, r.Y, r.Z, r.W = r.X+u*q.X, r.Y+u*q.Y, r.Z+u*q.Z, r.W+u*q.W
			}
		}
		for i := range rot {
			rot[i] = rot[i].Normalize()
		}
		t.Place[f] = p
	}
}
