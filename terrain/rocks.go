package terrain

import (
	"fmt"

	"mannequin/engine/m3"
)

// Rock is an obstacle on the ground: a steep round hump that no agent walks over.
type Rock struct {
	At     m3.Vec3 // centre; Y is ignored
	Radius float32 // m
	Height float32 // above the ground, m
}

// WithRocks returns the field with rocks on it.
func (f *Field) WithRocks(rocks []Rock) (*Field, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	out := *f
	out.Y = append([]float32(nil), f.Y...)
	for i, r := range rocks {
		if !r.At.Finite() || !(r.Radius > 0) || !m3.Finite(r.Radius) || !m3.Finite(r.Height) {
			return nil, fmt.Errorf("terrain: rock %d at %v with a radius of %g m, %g m high: want finite numbers, and a radius",
				i, r.At, r.Radius, r.Height)
		}
		for k := range f.NZ {
			z := f.Z0 + float32(k)*f.Cell - r.At.Z
			if m3.Abs(z) >= r.Radius {
				continue
			}
			for j := range f.NX {
				x := f.X0 + float32(j)*f.Cell - r.At.X
				if d := m3.Sqrt(x*x + z*z); d < r.Radius {
					// Flat on top up to half the radius.
					out.Y[k*f.NX+j] += r.Height * fade(min(2*(1-d/r.Radius), 1))
				}
			}
		}
	}
	return out.valid()
}
