package blend

import (
	_ "embed" // the source
	"errors"
	"fmt"
	"math"

	"mannequin/animsys/internal/kernels"
	"mannequin/engine/m3"
)

//go:embed kernels/inertial.wgsl
var source string

// The numbers of a row that a kernel eases, and of each of its joints. inertial.wgsl has the same.
const (
	rowSeen, rowBegun, rowFading, rowJumps                                  = 0, 1, 2, 3
	rowLast, rowOlder, rowOff, rowVel, rowIn, rowRoot, rowBefore, rowJoints = 4, 7, 10, 13, 16, 19, 22, 25
	jointLast, jointOlder, jointIn, jointOff, jointSpin, jointSize          = 0, 4, 8, 12, 16, 19
)

// PackLen returns the float32s of a row of Pack.
func (b *Inertial) PackLen() int { return rowJoints + len(b.parents)*jointSize }

// Shader returns a kernel in WGSL that does what Run does with rows whose jumps are announced, "ease": a workgroup of 64 works on a row, of at
// most as many joints. The source before it declares kernels.Math, the skeleton's constant joints and tables parents and offsets, row_size and goal_size, and functions
// of a row: root_place, root_yaw, jumped, and eased, which the kernel calls after a jump. The pose that comes in has rotations of all joints, and the place of joint 0, in the space of the root; the one that
// goes out is in world space. The numbers of the row, as Pack writes them, begin at number at of it.
func (b *Inertial) Shader(at int) string {
	var text kernels.Text
	text.Whole("ease_at", at)
	damping := 2 * math.Ln2 / max(b.Halflife, 1e-6)
	for _, c := range []struct {
		name string
		v    float32
	}{
		{"ease_dt", b.DT}, {"ease_damping", damping}, {"ease_decay", m3.Exp(-damping * b.DT)}, {"ease_keep", m3.Exp(-2 * math.Ln2 * b.DT / max(b.Halflife, 1e-6))},
		{"ease_fastest", fastest}, {"ease_more_speed", moreSpeed}, {"ease_more_spin", moreSpin}, {"ease_still", still}, {"ease_slow", slow},
	} {
		text.Number(c.name, c.v)
	}
	return text.String() + source
}

// Pack writes the state of a row as a kernel has it into dst, PackLen float32s. Roots have a yaw only.
func (b *Inertial) Pack(dst []float32, row int) {
	if len(dst) < b.PackLen() {
		panic(fmt.Sprintf("blend: Pack of %d numbers into %d", b.PackLen(), len(dst)))
	}
	s, h := &b.state[row], &b.hips[row]
	clear(dst[:rowJoints])
	dst[rowSeen] = float32(s.seen)
	for i, v := range [...]bool{s.begun, s.fading} {
		if v {
			dst[rowBegun+i] = 1
		}
	}
	if dst[rowJumps] = 0; s.put {
		dst[rowJumps] = 2
	} else if s.jumps {
		dst[rowJumps] = 1
	}
	three := func(at int, v m3.Vec3) { dst[at], dst[at+1], dst[at+2] = v.X, v.Y, v.Z }
	four := func(at int, q m3.Quat) { dst[at], dst[at+1], dst[at+2], dst[at+3] = q.X, q.Y, q.Z, q.W }
	root := func(at int, x m3.Xform) { dst[at], dst[at+1], dst[at+2] = x.Pos.X, x.Pos.Z, x.Rot.Yaw() }
	three(rowLast, h.last)
	three(rowOlder, h.older)
	three(rowOff, h.off)
	three(rowVel, h.vel)
	three(rowIn, h.in)
	root(rowRoot, h.root)
	root(rowBefore, h.before)
	for j := range b.parents {
		k, at := row*len(b.parents)+j, rowJoints+j*jointSize
		four(at+jointLast, b.last[k])
		four(at+jointOlder, b.older[k])
		four(at+jointIn, b.in[k])
		four(at+jointOff, b.off[k])
		three(at+jointSpin, b.spin[k])
	}
}

var errPacked = errors.New("blend: the state of a row that is to be unpacked is not finite, or not whole")

// Unpack reads what Pack or the kernel wrote into a row. After an error, for numbers that are not finite, the row is as after Reset.
func (b *Inertial) Unpack(row int, src []float32) error {
	b.Reset(row)
	n := b.PackLen()
	if len(src) < n {
		return errPacked
	}
	for _, v := range src[:n] {
		if !m3.Finite(v) {
			return errPacked
		}
	}
	three := func(at int) m3.Vec3 { return m3.V(src[at], src[at+1], src[at+2]) }
	four := func(at int) m3.Quat { return m3.Quat{X: src[at], Y: src[at+1], Z: src[at+2], W: src[at+3]} }
	root := func(at int) m3.Xform { return m3.Xform{Pos: m3.V(src[at], 0, src[at+1]), Rot: m3.YawQuat(src[at+2])} }
	b.state[row] = rowState{
		seen: uint8(m3.Clamp(src[rowSeen], 0, 2)), begun: src[rowBegun] != 0, fading: src[rowFading] != 0, jumps: src[rowJumps] != 0, put: src[rowJumps] == 2,
	}
	b.hips[row] = hips{last: three(rowLast), older: three(rowOlder), off: three(rowOff), vel: three(rowVel), in: three(rowIn), root: root(rowRoot), before: root(rowBefore)}
	for j := range b.parents {
		k, at := row*len(b.parents)+j, rowJoints+j*jointSize
		b.last[k], b.older[k], b.in[k], b.off[k], b.spin[k] = four(at+jointLast), four(at+jointOlder), four(at+jointIn), four(at+jointOff), three(at+jointSpin)
	}
	return nil
}

// Shown writes the pose that a row showed last into pos and rot, (joints), with its root at root: pos[0] and rot[0] in world space, as Run leaves
// them. It reports false, and writes nothing, if the row has shown none.
func (b *Inertial) Shown(row int, root m3.Xform, pos []m3.Vec3, rot []m3.Quat) bool {
	if b.state[row].seen == 0 {
		return false
	}
	last := b.last[row*len(b.parents):][:len(b.parents)]
	for j, p := range b.parents {
		if p < 0 {
			rot[j] = root.Rot.Mul(last[j]).Normalize()
		} else {
			rot[j] = last[p].Conj().Mul(last[j]).Normalize()
		}
	}
	pos[0] = root.Apply(b.hips[row].last)
	return true
}
