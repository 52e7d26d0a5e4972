package control

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"mannequin/engine/m3"
)

// Equal reports whether two paths, which may be nil, run through the same points.
func (p *Path) Equal(q *Path) bool {
	switch {
	case p == q:
		return true
	case p == nil || q == nil || p.closed != q.closed || len(p.pos) != len(q.pos) || p.Length() != q.Length():
		return false
	}
	for i := 0; i < len(p.pos); i += pathSamples {
		if p.pos[i] != q.pos[i] {
			return false
		}
	}
	return true
}

// points returns the number of points that the path was made from.
func (p *Path) points() int {
	n := len(p.pos) / pathSamples
	if !p.closed && len(p.pos) > 0 {
		n++
	}
	return n
}

// AppendBinary appends the points of the path to b: whether it is closed, their number, and X and Z
// of each, little-endian. It returns no error.
func (p *Path) AppendBinary(b []byte) ([]byte, error) {
	closed := byte(0)
	if p.closed {
		closed = 1
	}
	b = binary.LittleEndian.AppendUint32(append(b, closed), uint32(p.points()))
	for i := range p.points() {
		q := p.pos[i*pathSamples]
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(q.X))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(q.Z))
	}
	return b, nil
}

// UnmarshalBinary makes p the path that AppendBinary wrote. p must be new: paths are immutable.
func (p *Path) UnmarshalBinary(b []byte) error {
	const head, point = 5, 8
	if len(b) < head {
		return errors.New("control: the path ends early")
	}
	n := binary.LittleEndian.Uint32(b[1:])
	if b[0] > 1 || n > MaxPathPoints || len(b) != head+point*int(n) {
		return fmt.Errorf("control: a path of %d points in %d bytes", n, len(b))
	}
	if n == 0 {
		*p = Path{}
		return nil
	}
	points := make([]m3.Vec3, n)
	for i := range points {
		q := b[head+point*i:]
		points[i] = m3.V(math.Float32frombits(binary.LittleEndian.Uint32(q)), 0, math.Float32frombits(binary.LittleEndian.Uint32(q[4:])))
	}
	made, err := NewPath(points, b[0] == 1)
	if err != nil {
		return err
	}
	*p = *made
	return nil
}
