//go:build unix

package dataset

import (
	"fmt"
	"syscall"
	"unsafe"

	"mannequin/internal/boundedfile"
)

// mapFloats returns the numbers of a file, which the system reads when they are used.
func mapFloats(path string) ([]float32, error) {
	f, err := boundedfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < 4 {
		return nil, err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("dataset: %s: %w", path, err)
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4), nil
}
