package stage

import "mannequin/engine/m3"

// pathWidth is the width of the planned path on the ground, in metres.
const pathWidth = 0.045

// ribbon returns vertices (position 3, coordinate 2) and indices of a band
// along the points, lifted a little off the ground. Points that are not finite
// are left out.
func ribbon(v []float32, index []uint32, points []m3.Vec3) ([]float32, []uint32) {
	v, index = v[:0], index[:0]
	var last m3.Vec3
	n := 0
	along := float32(0)
	for i, p := range points {
		if !p.Finite() || (n > 0 && p.Dist(last) < 0.01) {
			continue
		}
		ahead := p.Sub(last)
		if n == 0 {
			ahead = m3.V(0, 0, 1)
			for _, q := range points[i+1:] {
				if d := q.Sub(p); d.Finite() && d.Len() >= 0.01 {
					ahead = d
					break
				}
			}
		} else {
			along += ahead.Len()
		}
		side := m3.Up.Cross(ahead.Flat()).Normalize(m3.V(1, 0, 0)).Scale(pathWidth / 2)
		for _, s := range []float32{-1, 1} {
			q := p.Add(side.Scale(s))
			v = append(v, q.X, q.Y+0.015, q.Z, s, along)
		}
		if k := uint32(2 * n); n > 0 {
			index = append(index, k-2, k-1, k, k, k-1, k+1)
		}
		last = p
		n++
	}
	if n < 2 {
		return v[:0], index[:0]
	}
	return v, index
}
