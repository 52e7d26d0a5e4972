// Package meshopt decodes the buffers of glTF's extension EXT_meshopt_compression, as its appendices
// describe them: https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0/Vendor/EXT_meshopt_compression.
package meshopt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// View is a compressed view of a buffer.
type View struct {
	Mode   string // ATTRIBUTES, TRIANGLES or INDICES
	Filter string // NONE, OCTAHEDRAL, QUATERNION or EXPONENTIAL; empty is NONE
	Count  int    // elements
	Stride int    // bytes of an element
}

// Sizes of the streams, in bytes.
const (
	blockBytes  = 8192 // of the elements of a block, at most
	blockMost   = 256  // elements of a block, at most
	group       = 16   // elements that are stored together
	vertexTail  = 32
	tableBytes  = 16 // the table of the triangles
	indexTail   = 4
	maxElements = 1 << 24
)

var errShort = errors.New("the data end too early")

// validate reports the first rule that a view breaks.
func (v *View) validate() error {
	index := v.Mode == "TRIANGLES" || v.Mode == "INDICES"
	switch {
	case v.Mode != "ATTRIBUTES" && !index:
		return fmt.Errorf("mode is %.20q, want ATTRIBUTES, TRIANGLES or INDICES", v.Mode)
	case v.Count < 0 || v.Count > maxElements:
		return fmt.Errorf("count is %d, want 0 to %d", v.Count, maxElements)
	case !index && (v.Stride < 4 || v.Stride > 256 || v.Stride%4 != 0):
		return fmt.Errorf("byteStride is %d, want a multiple of 4 up to 256", v.Stride)
	case index && v.Stride != 2 && v.Stride != 4:
		return fmt.Errorf("byteStride is %d, want 2 or 4", v.Stride)
	case v.Mode == "TRIANGLES" && v.Count%3 != 0:
		return fmt.Errorf("count is %d, want a whole number of triangles", v.Count)
	case index && v.Filter != "" && v.Filter != "NONE":
		return fmt.Errorf("filter is %.20q, want none for %s", v.Filter, v.Mode)
	}
	switch v.Filter {
	case "", "NONE", "EXPONENTIAL":
	case "OCTAHEDRAL":
		if v.Stride != 4 && v.Stride != 8 {
			return fmt.Errorf("byteStride is %d, want 4 or 8 for OCTAHEDRAL", v.Stride)
		}
	case "QUATERNION":
		if v.Stride != 8 {
			return fmt.Errorf("byteStride is %d, want 8 for QUATERNION", v.Stride)
		}
	default:
		return fmt.Errorf("filter is %.20q, want NONE, OCTAHEDRAL, QUATERNION or EXPONENTIAL", v.Filter)
	}
	return nil
}

// Size returns the bytes of the view once it is decoded, and an error if the view breaks a rule or has more
// elements than so many bytes of data can hold.
func (v *View) Size(data int) (int, error) {
	if err := v.validate(); err != nil {
		return 0, err
	}
	least := 1
	switch v.Mode {
	case "TRIANGLES":
		least += v.Count/3 + tableBytes
	case "INDICES":
		least += v.Count + indexTail
	default:
		for left, most := v.Count, v.block(); left > 0; left -= most {
			least += v.Stride * headerBytes(min(left, most))
		}
		least += max(vertexTail, v.Stride)
	}
	if data < least {
		return 0, fmt.Errorf("%d elements in %d bytes: they take at least %d", v.Count, data, least)
	}
	return v.Count * v.Stride, nil
}

// block returns the most elements of a block.
func (v *View) block() int { return min(blockBytes/v.Stride&^(group-1), blockMost) }

// headerBytes returns the bytes of the modes of n elements' groups: two bits each.
func headerBytes(n int) int { return ((n+group-1)/group + 3) / 4 }

// Decode returns the elements of a view.
func (v *View) Decode(data []byte) ([]byte, error) {
	size, err := v.Size(len(data))
	if err != nil {
		return nil, err
	}
	dst := make([]byte, size)
	switch v.Mode {
	case "TRIANGLES":
		return dst, v.triangles(dst, data)
	case "INDICES":
		return dst, v.indices(dst, data)
	}
	if err := v.attributes(dst, data); err != nil {
		return nil, err
	}
	filters[v.Filter](dst, v.Stride)
	return dst, nil
}

// attributes decodes differences of bytes, block by block.
func (v *View) attributes(dst, data []byte) error {
	if data[0] != 0xa0 {
		return fmt.Errorf("begins with %#x, want 0xa0", data[0])
	}
	last := bytes.Clone(data[len(data)-v.Stride:]) // the element before the first one
	r := &reader{data[1 : len(data)-max(vertexTail, v.Stride)]}
	var deltas [blockMost]byte
	for len(dst) > 0 {
		n := min(len(dst)/v.Stride, v.block())
		for k := range v.Stride {
			if err := r.deltas(deltas[:(n+group-1)&^(group-1)]); err != nil {
				return err
			}
			b := last[k]
			for i := range n {
				b += unzigzag(deltas[i])
				dst[i*v.Stride+k] = b
			}
			last[k] = b
		}
		dst = dst[n*v.Stride:]
	}
	if len(r.data) > 0 {
		return fmt.Errorf("%d bytes are left over", len(r.data))
	}
	return nil
}

func unzigzag(b byte) byte { return b>>1 ^ -(b & 1) }

// reader reads from the front of data.
type reader struct{ data []byte }

func (r *reader) take(n int) ([]byte, error) {
	if n > len(r.data) {
		return nil, errShort
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out, nil
}

// deltas reads a byte of each element of a block, in groups: none, 2 bits, 4 bits or 8 bits each. All bits
// set say that the whole byte follows the group.
func (r *reader) deltas(dst []byte) error {
	modes, err := r.take(headerBytes(len(dst)))
	if err != nil {
		return err
	}
	for g := 0; g < len(dst)/group; g++ {
		out, mode := dst[g*group:(g+1)*group], modes[g/4]>>(2*(g%4))&3
		switch mode {
		case 0:
			clear(out)
			continue
		case 3:
			raw, err := r.take(group)
			if err != nil {
				return err
			}
			copy(out, raw)
			continue
		}
		bits := 2 * int(mode)
		packed, err := r.take(group * bits / 8)
		if err != nil {
			return err
		}
		most := byte(1)<<bits - 1
		for i := range out {
			at := i * bits
			if out[i] = packed[at/8] >> (8 - bits - at%8) & most; out[i] == most {
				whole, err := r.take(1)
				if err != nil {
					return err
				}
				out[i] = whole[0]
			}
		}
	}
	return nil
}

// number reads a number of seven bits a byte.
func (r *reader) number() (uint32, error) {
	n := uint32(0)
	for shift := 0; shift < 35; shift += 7 {
		b, err := r.take(1)
		if err != nil {
			return 0, err
		}
		if n |= uint32(b[0]&0x7f) << shift; b[0] < 0x80 {
			return n, nil
		}
	}
	return 0, errors.New("a number has more than five bytes")
}

// put writes element i of a list of indices.
func (v *View) put(dst []byte, i int, index uint32) {
	if v.Stride == 2 {
		binary.LittleEndian.PutUint16(dst[2*i:], uint16(index))
	} else {
		binary.LittleEndian.PutUint32(dst[4*i:], index)
	}
}

// indices decodes differences to one of two indices before.
func (v *View) indices(dst, data []byte) error {
	if data[0] != 0xd1 {
		return fmt.Errorf("begins with %#x, want 0xd1", data[0])
	}
	r := &reader{data[1 : len(data)-indexTail]}
	var last [2]uint32
	for i := range v.Count {
		n, err := r.number()
		if err != nil {
			return err
		}
		k := n & 1
		last[k] += n>>2 ^ -(n >> 1 & 1)
		v.put(dst, i, last[k])
	}
	return nil
}

// recent is what triangles refer to: the last sixteen edges and vertices, and indices that count on.
type recent struct {
	*reader
	edges      [16][2]uint32
	vertices   [16]uint32
	edge, vert int // how many were pushed
	next, last uint32
}

func (s *recent) pushEdge(a, b uint32) {
	s.edges[s.edge&15] = [2]uint32{a, b}
	s.edge++
}

func (s *recent) pushVertex(v uint32) {
	s.vertices[s.vert&15] = v
	s.vert++
}

// vertex returns the vertex that was pushed last but i.
func (s *recent) vertex(i int) uint32 { return s.vertices[(s.vert-1-i)&15] }

// given reads an index as the difference to the last one that was given.
func (s *recent) given() (uint32, error) {
	n, err := s.number()
	s.last += n>>1 ^ -(n & 1)
	return s.last, err
}

// fresh returns the next index.
func (s *recent) fresh() uint32 {
	s.next++
	return s.next - 1
}

// coded returns a vertex by its code of four bits, and whether it is to be pushed: 0 is a fresh one, 15 is
// given, else it is a recent one.
func (s *recent) coded(code int) (v uint32, push bool, err error) {
	switch code {
	case 0:
		return s.fresh(), true, nil
	case 15:
		v, err = s.given()
		return v, true, err
	}
	return s.vertex(code - 1), false, nil
}

// triangles decodes triangles that share edges and vertices with those before.
func (v *View) triangles(dst, data []byte) error {
	if data[0] != 0xe1 {
		return fmt.Errorf("begins with %#x, want 0xe1", data[0])
	}
	codes, table := data[1:1+v.Count/3], data[len(data)-tableBytes:]
	s := &recent{reader: &reader{data[1+v.Count/3 : len(data)-tableBytes]}}
	for i, code := range codes {
		t, err := s.triangle(int(code), table)
		if err != nil {
			return fmt.Errorf("triangle %d: %w", i, err)
		}
		for k, index := range t {
			v.put(dst, 3*i+k, index)
		}
	}
	if len(s.data) > 0 {
		return fmt.Errorf("%d bytes are left over", len(s.data))
	}
	return nil
}

func (s *recent) triangle(code int, table []byte) (t [3]uint32, err error) {
	if code < 0xf0 {
		e := s.edges[(s.edge-1-code>>4)&15]
		a, b, c, push := e[0], e[1], uint32(0), true
		switch low := code & 15; low {
		case 0:
			c = s.fresh()
		case 13, 14:
			s.last += uint32(2*low - 27) // one less, or one more
			c = s.last
		case 15:
			if c, err = s.given(); err != nil {
				return t, err
			}
		default:
			c, push = s.vertex(low), false
		}
		if push {
			s.pushVertex(c)
		}
		s.pushEdge(c, b)
		s.pushEdge(a, c)
		return [3]uint32{a, b, c}, nil
	}
	codeA, codes := 0, byte(0)
	if code < 0xfe {
		codes = table[code&15]
	} else {
		raw, err := s.take(1)
		if err != nil {
			return t, err
		}
		if codes = raw[0]; codes == 0 {
			s.next = 0
		}
		if code == 0xff {
			codeA = 15
		}
	}
	var push [3]bool
	for k, c := range [3]int{codeA, int(codes >> 4), int(codes & 15)} {
		if t[k], push[k], err = s.coded(c); err != nil {
			return t, err
		}
	}
	for k, v := range t {
		if push[k] {
			s.pushVertex(v)
		}
	}
	s.pushEdge(t[1], t[0])
	s.pushEdge(t[2], t[1])
	s.pushEdge(t[0], t[2])
	return t, nil
}
