package keypose

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Equal reports whether two pose loops, which may be nil, have the same keys.
func (r *PoseLoop) Equal(q *PoseLoop) bool {
	if r == q || r == nil || q == nil {
		return r == q
	}
	return r.every == q.every && slices.Equal(r.time, q.time) && slices.Equal(r.place, q.place) && slices.Equal(r.height, q.height) &&
		slices.Equal(r.rot, q.rot) && slices.Equal(r.weight, q.weight)
}

const (
	loopHead = 24         // bytes: skeleton, keys, joints, every
	keyBytes = 8 + 16 + 4 // of a key: time, place, height
	turns    = 4*4 + 4    // of a joint of a key: rotation, weight
	maxKeys  = 1 << 16    // of a loop that is read
)

// AppendBinary appends the keys of the loop to b, little-endian. It returns no error.
func (r *PoseLoop) AppendBinary(b []byte) ([]byte, error) {
	sum, joints := r.skeleton, 0
	if r.layout != nil {
		sum = r.layout.sum
	}
	if len(r.time) > 0 {
		joints = len(r.rot) / len(r.time)
	}
	le := binary.LittleEndian
	b = le.AppendUint32(le.AppendUint32(le.AppendUint64(b, sum), uint32(len(r.time))), uint32(joints))
	b = le.AppendUint64(b, math.Float64bits(r.every))
	for _, t := range r.time {
		b = le.AppendUint64(b, math.Float64bits(t))
	}
	floats := func(v ...float32) {
		for _, x := range v {
			b = le.AppendUint32(b, math.Float32bits(x))
		}
	}
	for _, p := range r.place {
		floats(p.Pos.X, p.Pos.Y, p.Pos.Z, p.Yaw)
	}
	floats(r.height...)
	for _, q := range r.rot {
		floats(q.X, q.Y, q.Z, q.W)
	}
	floats(r.weight...)
	return b, nil
}

// UnmarshalBinary makes r the loop that AppendBinary wrote. r must be new: loops are immutable. A
// Stream of the same skeleton can play it once it has restored it.
func (r *PoseLoop) UnmarshalBinary(b []byte) error {
	if len(b) < loopHead {
		return errors.New("keypose: the pose loop ends early")
	}
	le := binary.LittleEndian
	keys, joints := int(le.Uint32(b[8:])), int(le.Uint32(b[12:]))
	if keys < 1 || keys > maxKeys || joints < 1 || joints > math.MaxInt16 ||
		len(b) != loopHead+keys*(keyBytes+4*groupJoint+joints*turns) {
		return fmt.Errorf("keypose: a pose loop of %d keys and %d joints in %d bytes", keys, joints, len(b))
	}
	*r = PoseLoop{skeleton: le.Uint64(b), every: math.Float64frombits(le.Uint64(b[16:])),
		time: make([]float64, keys), place: make([]feature.Place, keys), height: make([]float32, keys),
		rot: make([]m3.Quat, keys*joints), weight: make([]float32, keys*(groupJoint+joints))}
	b = b[loopHead:]
	for i := range r.time {
		r.time[i] = math.Float64frombits(le.Uint64(b))
		b = b[8:]
	}
	ok := true
	float := func() float32 {
		x := math.Float32frombits(le.Uint32(b))
		b = b[4:]
		ok = ok && m3.Finite(x)
		return x
	}
	for i := range r.place {
		r.place[i] = feature.Place{Pos: m3.V(float(), float(), float()), Yaw: float()}
	}
	for i := range r.height {
		r.height[i] = float()
	}
	for i := range r.rot {
		r.rot[i] = m3.Quat{X: float(), Y: float(), Z: float(), W: float()}
	}
	for i := range r.weight {
		r.weight[i] = float()
		ok = ok && r.weight[i] >= 0 && r.weight[i] <= 1
	}
	last := r.time[keys-1]
	for i, t := range r.time[1:] {
		ok = ok && t > r.time[i]
	}
	if !ok || r.time[0] != 0 || !(last <= 1e6) || r.every != 0 && !(r.every > last && r.every <= 1e6) || !whole(r.weight[:groupJoint+joints]) {
		return errors.New("keypose: a pose loop with values out of range")
	}
	return nil
}

// adopt gives a loop that was read the layout of a stream, if it is of the same skeleton.
func (r *PoseLoop) adopt(l *Layout) {
	if r.layout == nil && r.skeleton == l.sum && len(r.rot) == len(r.time)*len(l.Joints) {
		r.layout = l
	}
}
