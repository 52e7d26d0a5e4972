package dataset

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"mannequin/internal/atomicfile"
)

// Shared is a set that several processes read from one file, each the rows that it needs: *[MANN], or *[MotionSet]
// without poses.
type Shared interface {
	// rows are the places of the set's rows.
	rows() []*[]float32
	// bare returns a copy of the set without its rows.
	bare() (any, error)
}

func (m *MANN) rows() []*[]float32 { return []*[]float32{&m.X, &m.Y} }

func (m *MANN) bare() (any, error) {
	c := *m
	c.X, c.Y = nil, nil
	return &c, nil
}

func (m *MotionSet) rows() (all []*[]float32) {
	for i := range m.Clips {
		all = append(all, &m.Clips[i].Rows)
	}
	return all
}

func (m *MotionSet) bare() (any, error) {
	c := *m
	c.Clips = slices.Clone(m.Clips)
	for i := range c.Clips {
		if c.Clips[i].Rows = nil; c.Clips[i].Poses != nil {
			return nil, errors.New("dataset: this network learns from rotations, which a file of rows does not hold: train without --rows")
		}
	}
	return &c, nil
}

// Share writes the rows of sets to a file, and returns all else of them, which OpenShared needs.
func Share(path string, sets ...Shared) (rest []byte, err error) {
	var b bytes.Buffer
	enc := gob.NewEncoder(&b)
	err = atomicfile.Write(path, func(w io.Writer) error {
		for _, s := range sets {
			bare, err := s.bare()
			if err == nil {
				err = enc.Encode(bare)
			}
			if err != nil {
				return err
			}
			var sizes []int
			for _, rows := range s.rows() {
				sizes = append(sizes, len(*rows))
				if _, err := w.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*rows))), 4*len(*rows))); err != nil {
					return err
				}
			}
			if err := enc.Encode(sizes); err != nil {
				return err
			}
		}
		return nil
	})
	return b.Bytes(), err
}

// OpenShared fills sets with what Share has written, by a program of the same build on the same kind of processor. Their
// rows are in the file: the system reads those that are used.
func OpenShared(path string, rest []byte, sets ...Shared) error {
	all, err := mapFloats(path)
	if err != nil {
		return err
	}
	dec := gob.NewDecoder(bytes.NewReader(rest))
	for _, s := range sets {
		var sizes []int
		if err := dec.Decode(s); err != nil {
			return fmt.Errorf("dataset: %s: %w", path, err)
		}
		if err := dec.Decode(&sizes); err != nil {
			return fmt.Errorf("dataset: %s: %w", path, err)
		}
		for i, rows := range s.rows() {
			if sizes[i] > len(all) {
				return fmt.Errorf("dataset: %s is shorter than the process that wrote it says: is it a disk that all processes share?", path)
			}
			*rows, all = all[:sizes[i]:sizes[i]], all[sizes[i]:]
		}
	}
	if len(all) > 0 {
		return fmt.Errorf("dataset: %s is longer than the process that wrote it says: is it a disk that all processes share?", path)
	}
	return nil
}
