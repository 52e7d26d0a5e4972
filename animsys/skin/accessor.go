package skin

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/qmuntal/gltf"
)

// elements is the data of an accessor.
type elements struct {
	data       []byte
	stride     int // bytes from one element to the next; 0: all are the same
	count      int
	width      int // components of an element
	kind       gltf.ComponentType
	normalized bool
}

// accessor returns the elements of accessors[i]: one of the types, at most most elements. where is
// for errors.
func (f *file) accessor(where string, i, most int, types ...gltf.AccessorType) (*elements, error) {
	e, err := f.elements(i, most, types)
	var inside *Error
	if err != nil && !errors.As(err, &inside) {
		err = f.errorf(where, "accessors[%d]: %v", i, err)
	}
	return e, err
}

func (f *file) elements(i, most int, types []gltf.AccessorType) (*elements, error) {
	if i < 0 || i >= len(f.doc.Accessors) {
		return nil, fmt.Errorf("there are only %d", len(f.doc.Accessors))
	}
	a := f.doc.Accessors[i]
	switch {
	case !slices.Contains(types, a.Type):
		return nil, fmt.Errorf("is of type %v, want %v", a.Type, types)
	case a.Count < 1 || a.Count > most:
		return nil, fmt.Errorf("has count %d, want 1 to %d", a.Count, most)
	case a.Sparse != nil:
		return f.sparse(i)
	case a.BufferView == nil && slices.ContainsFunc(f.doc.ExtensionsUsed, isCompression):
		return nil, errors.New("has no bufferView: export without compression")
	case a.BufferView == nil: // zeros
		size := a.ComponentType.ByteSize() * a.Type.Components()
		return &elements{make([]byte, size), 0, a.Count, a.Type.Components(), a.ComponentType, a.Normalized}, nil
	}
	return f.dense(a)
}

const draco = "KHR_draco_mesh_compression"

// isCompression reports whether accessors of meshes get their data from an extension.
func isCompression(extension string) bool { return extension == draco }

// dense returns the elements of an accessor's bufferView.
func (f *file) dense(a *gltf.Accessor) (*elements, error) {
	data, stride, err := f.view(*a.BufferView)
	if err != nil {
		return nil, err
	}
	size := a.ComponentType.ByteSize() * a.Type.Components()
	if stride = cmp.Or(stride, size); stride < size || stride > 252 {
		return nil, fmt.Errorf("bufferViews[%d] has byteStride %d, want %d to 252", *a.BufferView, stride, size)
	}
	// Neither product nor sum can overflow: count and stride are small.
	if need := (a.Count-1)*stride + size; a.ByteOffset < 0 || a.ByteOffset > len(data) || need > len(data)-a.ByteOffset {
		return nil, fmt.Errorf("%d elements take %d bytes at byte %d, bufferViews[%d] has %d", a.Count, need, a.ByteOffset, *a.BufferView, len(data))
	}
	return &elements{data[a.ByteOffset:], stride, a.Count, a.Type.Components(), a.ComponentType, a.Normalized}, nil
}

// raw returns component c of element i as stored.
func (e *elements) raw(i, c int) float64 {
	b := e.data[i*e.stride:]
	switch e.kind {
	case gltf.ComponentByte:
		return float64(int8(b[c]))
	case gltf.ComponentUbyte:
		return float64(b[c])
	case gltf.ComponentShort:
		return float64(int16(binary.LittleEndian.Uint16(b[2*c:])))
	case gltf.ComponentUshort:
		return float64(binary.LittleEndian.Uint16(b[2*c:]))
	case gltf.ComponentUint:
		return float64(binary.LittleEndian.Uint32(b[4*c:]))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*c:])))
}

// at returns component c of element i, normalized if the file says so.
func (e *elements) at(i, c int) float64 {
	v := e.raw(i, c)
	if !e.normalized {
		return v
	}
	switch e.kind {
	case gltf.ComponentByte:
		return max(v/math.MaxInt8, -1)
	case gltf.ComponentUbyte:
		return v / math.MaxUint8
	case gltf.ComponentShort:
		return max(v/math.MaxInt16, -1)
	case gltf.ComponentUshort:
		return v / math.MaxUint16
	}
	return v
}

// whole returns component c of element i of unsigned integers; see isWhole.
func (e *elements) whole(i, c int) int { return int(e.raw(i, c)) }

// isWhole reports whether the elements are unsigned integers.
func (e *elements) isWhole() bool {
	return e.kind == gltf.ComponentUbyte || e.kind == gltf.ComponentUshort || e.kind == gltf.ComponentUint
}

// finite returns an error for the first element with a component that is NaN or beyond limit.
func (f *file) finite(where string, e *elements, limit float64) error {
	for i := range e.count {
		for c := range e.width {
			if v := e.at(i, c); !(math.Abs(v) <= limit) {
				return f.errorf(where, "element %d has the value %g: mend it in the program that the file is from (NaN is no number), and export again", i, v)
			}
		}
	}
	return nil
}
