// Package snapshot packs the poses of agents into messages that a server sends to its viewers.
//
// A pose is the place of its root in float32 and the rotation of each joint in six bytes. Bones keep
// their rest lengths, so nothing else is needed: a dog of 27 joints takes 146 bytes with its id. A message
// holds the poses of one tick, of agents with one skeleton, in the order in which they were added. Sender
// and viewer may run on different processors.
package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Sizes of a message, bytes.
const (
	headerSize   = 12
	idSize       = 8
	rootSize     = 12
	rotationSize = 6
)

// farthest bounds how far from the origin an agent is, m.
const farthest = 1e6

// magic begins a message. Its last byte is the version.
const magic = "mqs\x01"

// Codec packs and unpacks poses of one skeleton. It is immutable and safe to share.
type Codec struct {
	skel skel.Skeleton
	sum  uint32
	turn int // joints that have rotations of their own
}

// NewCodec returns the codec of a skeleton with one root.
func NewCodec(s *skel.Skeleton) (*Codec, error) {
	if s == nil {
		return nil, errors.New("snapshot: the skeleton is nil: give the crowd's Skel")
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	c := &Codec{skel: *s}
	h := fnv.New32a()
	for j, name := range s.Names {
		if (s.Parents[j] < 0) != (j == 0) {
			return nil, fmt.Errorf("snapshot: joint %d (%s) is a second root", j, name)
		}
		fmt.Fprint(h, name, " ", s.Parents[j], " ", s.Offsets[j], "\n")
		if !s.EndSite[j] {
			c.turn++
		}
	}
	c.sum = h.Sum32()
	return c, nil
}

// PoseSize returns the bytes of an agent in a message.
func (c *Codec) PoseSize() int { return idSize + rootSize + rotationSize*c.turn }

// Begin appends the header of a message to dst and returns the result.
func (c *Codec) Begin(dst []byte, tick uint32) []byte {
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint32(dst, c.sum)
	return binary.LittleEndian.AppendUint32(dst, tick)
}

// Append appends an agent to a message that Begin began: its id, which the game chooses, and its bones
// in world space, (joints), as animsys.Crowd.Bones returns them. It panics if their number is not that
// of the codec's skeleton: each skeleton needs a codec and messages of its own.
func (c *Codec) Append(dst []byte, id uint64, bones []m3.Xform) []byte {
	if len(bones) != c.skel.Len() {
		panic(fmt.Sprintf("snapshot: an agent of %d bones in messages of a skeleton of %d joints", len(bones), c.skel.Len()))
	}
	dst = binary.LittleEndian.AppendUint64(dst, id)
	root := bones[0].Pos
	for _, v := range [...]float32{root.X, root.Y, root.Z} {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	for j, p := range c.skel.Parents {
		if c.skel.EndSite[j] {
			continue
		}
		q := bones[j].Rot
		if p >= 0 {
			q = bones[p].Rot.Conj().Mul(q)
		}
		bits := pack(q)
		dst = append(dst, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24), byte(bits>>32), byte(bits>>40))
	}
	return dst
}

// Message is a message that has been checked. It aliases its bytes.
type Message struct {
	Tick  uint32
	skel  *skel.Skeleton
	size  int // of an agent
	poses []byte
}

// Decode checks a message of another process.
func (c *Codec) Decode(src []byte) (Message, error) {
	if len(src) < headerSize || string(src[:3]) != magic[:3] {
		return Message{}, errors.New("snapshot: not a message of poses")
	}
	if src[3] != magic[3] {
		return Message{}, fmt.Errorf("snapshot: a message of version %d, want %d: use the same version of the module on both sides", src[3], magic[3])
	}
	if sum := binary.LittleEndian.Uint32(src[4:]); sum != c.sum {
		return Message{}, errors.New("snapshot: a message of another skeleton: names, parents and offsets of joints must be the same")
	}
	m := Message{binary.LittleEndian.Uint32(src[8:]), &c.skel, c.PoseSize(), src[headerSize:]}
	if n := len(m.poses) % m.size; n != 0 {
		return Message{}, fmt.Errorf("snapshot: %d bytes are left after %d agents of %d bytes: the message was cut", n, m.Agents(), m.size)
	}
	for i := range m.Agents() {
		if p := m.root(i); !(p.Dot(p) < farthest*farthest) {
			return Message{}, fmt.Errorf("snapshot: agent %d is at %v", i, p)
		}
	}
	return m, nil
}

// Agents returns the number of agents in the message.
func (m *Message) Agents() int {
	return len(m.poses) / max(m.size, 1)
}

// ID returns the id of agent i. It panics if the message has no agent i.
func (m *Message) ID(i int) uint64 { return binary.LittleEndian.Uint64(m.pose(i)) }

func (m *Message) pose(i int) []byte {
	if n := m.Agents(); i < 0 || i >= n {
		panic(fmt.Sprintf("snapshot: agent %d of a message of %d agents", i, n))
	}
	return m.poses[i*m.size : (i+1)*m.size]
}

func (m *Message) root(i int) m3.Vec3 {
	b := m.pose(i)[idSize:]
	at := func(k int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b[4*k:])) }
	return m3.V(at(0), at(1), at(2))
}

// Bones writes the bones of agent i into dst, one for each joint, world space. It panics if the message
// has no agent i, and if dst is shorter than the codec's skeleton. The zero Message writes nothing.
func (m *Message) Bones(dst []m3.Xform, i int) {
	if m.skel == nil {
		return
	}
	s, b := m.skel, m.pose(i)[idSize+rootSize:]
	if len(dst) < s.Len() {
		panic(fmt.Sprintf("snapshot: the bones of a skeleton of %d joints into %d", s.Len(), len(dst)))
	}
	for j, p := range s.Parents {
		local := m3.Xform{Pos: s.Offsets[j], Rot: m3.Ident}
		if !s.EndSite[j] {
			local.Rot = unpack(uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40)
			b = b[rotationSize:]
		}
		if p < 0 {
			local.Pos = m.root(i)
			dst[j] = local
		} else {
			dst[j] = dst[p].Mul(local)
		}
	}
}

// A rotation is the three smaller components of its quaternion, whose sign makes the largest one
// positive, in 15 bits each, and the index of the largest one in two bits.
const (
	levels   = 1<<15 - 1
	smallest = math.Sqrt2 / 2 // no smaller component is larger
)

// pack returns the 47 bits of q. What is not a rotation counts as none.
func pack(q m3.Quat) (bits uint64) {
	v := [4]float32{q.X, q.Y, q.Z, q.W}
	largest := 0
	for i := range v {
		if m3.Abs(v[i]) > m3.Abs(v[largest]) {
			largest = i
		}
	}
	length := m3.Sqrt(q.Dot(q))
	if !(length > 0) || !m3.Finite(length) {
		v, largest, length = [4]float32{3: 1}, 3, 1
	}
	if v[largest] < 0 {
		length = -length
	}
	for i := range v {
		if i != largest {
			u := float64(m3.Clamp(v[i]/length/smallest, -1, 1))
			bits = bits<<15 | uint64(math.RoundToEven((u+1)/2*levels))
		}
	}
	return bits<<2 | uint64(largest)
}

// unpack is the inverse of pack.
func unpack(bits uint64) m3.Quat {
	var v [4]float32
	largest := int(bits & 3)
	bits >>= 2
	var sum float32
	for i := 3; i >= 0; i-- {
		if i != largest {
			v[i] = (float32(bits&levels)/levels*2 - 1) * smallest
			sum += v[i] * v[i]
			bits >>= 15
		}
	}
	v[largest] = m3.Sqrt(max(1-sum, 0))
	return m3.Quat{X: v[0], Y: v[1], Z: v[2], W: v[3]}.Normalize()
}
