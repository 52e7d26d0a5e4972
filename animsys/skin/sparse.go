package skin

import (
	"fmt"

	"github.com/qmuntal/gltf"
)

// maxSparse is the most bytes of all sparse accessors of a file: zeros take memory and no room in it.
const maxSparse = 64 << 20

// sparse returns the elements of accessors[i] with its sparse values set. Without a bufferView the others
// are zero.
func (f *file) sparse(i int) (*elements, error) {
	if e := f.filled[i]; e != nil {
		return e, nil
	}
	a := f.doc.Accessors[i]
	size := a.ComponentType.ByteSize() * a.Type.Components()
	if int64(a.Count)*int64(size) > maxSparse-f.sparseBytes {
		return nil, fmt.Errorf("its %d elements are sparse, and all sparse accessors may take %d MB: export it as a dense one", a.Count, maxSparse>>20)
	}
	// Indices and values first: a damaged file should not cost the memory.
	if a.Sparse.Count < 1 || a.Sparse.Count > a.Count {
		return nil, fmt.Errorf("sparse.count is %d, want 1 to %d", a.Sparse.Count, a.Count)
	}
	at := a.Sparse.Indices
	index, err := f.sparsePart("indices", at.BufferView, at.ByteOffset, a.Sparse.Count, gltf.AccessorScalar, at.ComponentType)
	if err != nil {
		return nil, err
	}
	if !index.isWhole() {
		return nil, fmt.Errorf("sparse.indices is of %v, want an unsigned type", index.kind)
	}
	value, err := f.sparsePart("values", a.Sparse.Values.BufferView, a.Sparse.Values.ByteOffset, a.Sparse.Count, a.Type, a.ComponentType)
	if err != nil {
		return nil, err
	}
	for k := range index.count {
		if v := index.whole(k, 0); v >= a.Count || k > 0 && v <= index.whole(k-1, 0) {
			return nil, fmt.Errorf("sparse.indices: element %d is %d, want less than %d and more than the one before", k, v, a.Count)
		}
	}
	var base *elements
	if a.BufferView != nil {
		if base, err = f.dense(a); err != nil {
			return nil, err
		}
	}
	f.sparseBytes += int64(a.Count) * int64(size)
	e := &elements{make([]byte, a.Count*size), size, a.Count, a.Type.Components(), a.ComponentType, a.Normalized}
	for k := 0; base != nil && k < a.Count; k++ {
		copy(e.data[k*size:(k+1)*size], base.data[k*base.stride:])
	}
	for k := range index.count {
		at := index.whole(k, 0) * size
		copy(e.data[at:at+size], value.data[k*size:])
	}
	if f.filled == nil {
		f.filled = map[int]*elements{}
	}
	f.filled[i] = e
	return e, nil
}

// sparsePart returns the indices or values of a sparse accessor, which are always packed.
func (f *file) sparsePart(what string, view, offset, count int, t gltf.AccessorType, kind gltf.ComponentType) (*elements, error) {
	data, _, err := f.view(view)
	if err != nil {
		return nil, fmt.Errorf("sparse.%s: %w", what, err)
	}
	size := kind.ByteSize() * t.Components()
	if need := count * size; offset < 0 || offset > len(data) || need > len(data)-offset {
		return nil, fmt.Errorf("sparse.%s: %d elements take %d bytes at byte %d, bufferViews[%d] has %d", what, count, need, offset, view, len(data))
	}
	return &elements{data[offset:], size, count, t.Components(), kind, false}, nil
}
