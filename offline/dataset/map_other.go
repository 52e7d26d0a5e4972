//go:build !unix

package dataset

import (
	"fmt"
	"math"
	"unsafe"

	"mannequin/internal/boundedfile"
)

// mapFloats returns the numbers of a file.
func mapFloats(path string) ([]float32, error) {
	b, err := boundedfile.Read(path, math.MaxInt64-1)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	all := make([]float32, len(b)/4)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(all))), 4*len(all)), b)
	return all, nil
}
