package authors

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/sbinet/npyio/npy"
	"github.com/sbinet/npyio/npz"

	"mannequin/internal/boundedfile"
	"mannequin/netruntime"
)

// source is the origin of a tensor: an array of an npz file in the release's folder, with a known
// shape.
type source struct {
	file, array string
	tensor      string
	shape       []int // axes of length 1 are not in the tensor
}

const (
	maxNPZ    = 64 << 20          // bytes of a file
	npyHeader = 6 + 2 + 2 + 1<<16 // most bytes before an array's values
)

// readTensors reads the tensors of a network, in the order of from. The error names file and array.
func readTensors(dir string, from []source) ([]netruntime.Tensor, error) {
	files := map[string]*npz.Reader{}
	var out []netruntime.Tensor
	for _, s := range from {
		path := filepath.Join(dir, s.file)
		if files[path] == nil {
			b, err := boundedfile.Read(path, maxNPZ)
			if err != nil {
				return nil, err
			}
			if files[path], err = npz.NewReader(bytes.NewReader(b), int64(len(b))); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		b, err := arrayBytes(files[path], s)
		if err == nil {
			var t netruntime.Tensor
			t, err = s.decode(b)
			out = append(out, t)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: array %s: %w", path, s.array, err)
		}
	}
	return out, nil
}

// arrayBytes unpacks an array, up to the size of its shape.
func arrayBytes(z *npz.Reader, s source) ([]byte, error) {
	rc, err := z.Open(s.array + ".npy")
	if err != nil {
		return nil, fmt.Errorf("%w: the file has %q", err, z.Keys())
	}
	defer rc.Close()
	return io.ReadAll(io.LimitReader(rc, int64(npyHeader+8*s.values()+1)))
}

func (s source) values() int {
	n := 1
	for _, d := range s.shape {
		n *= d
	}
	return n
}

// decode reads the tensor from an array's bytes: float32, or float64 rounded.
func (s source) decode(b []byte) (netruntime.Tensor, error) {
	var none netruntime.Tensor
	if len(b) > 6 && b[6] != 1 {
		// A header of version 2 may ask for gigabytes.
		return none, fmt.Errorf("version %d of the npy format, want 1", b[6])
	}
	rest := bytes.NewReader(b)
	r, err := npyReader(rest)
	if err != nil {
		return none, err
	}
	d := r.Header.Descr
	if !slices.Equal(d.Shape, s.shape) || d.Fortran {
		order := ""
		if d.Fortran {
			order = " by columns"
		}
		return none, fmt.Errorf("has shape %v%s, want %v", d.Shape, order, s.shape)
	}
	n := s.values()
	// Read fills up with zeros if bytes are missing, and does not report it.
	have := func(size int) error {
		if rest.Len() != size*n {
			return fmt.Errorf("%d bytes of values, want %d for shape %v", rest.Len(), size*n, s.shape)
		}
		return nil
	}
	t := netruntime.Tensor{Name: s.tensor, Data: make([]float32, n)}
	switch d.Type {
	case "<f4", ">f4":
		if err = have(4); err == nil {
			err = r.Read(&t.Data)
		}
	case "<f8", ">f8":
		wide := make([]float64, n)
		if err = have(8); err == nil {
			err = r.Read(&wide)
		}
		for i, v := range wide {
			t.Data[i] = float32(v)
		}
	default:
		err = fmt.Errorf("values of type %q, want float32 or float64", d.Type)
	}
	if err != nil {
		return none, err
	}
	for _, d := range s.shape {
		if d != 1 {
			t.Shape = append(t.Shape, d)
		}
	}
	return t, nil
}

// npyReader reads an array's header. The library expects a header's keys in fixed places, and
// panics otherwise.
func npyReader(b io.Reader) (r *npy.Reader, err error) {
	defer func() {
		if bad := recover(); bad != nil {
			r, err = nil, fmt.Errorf("not a valid npy header: %v", bad)
		}
	}()
	return npy.NewReader(b)
}
