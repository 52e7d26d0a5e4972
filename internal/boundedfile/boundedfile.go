// Package boundedfile reads whole files that are not larger than they should be.
package boundedfile

import (
	"fmt"
	"os"
)

// Read returns the bytes of the regular file at path. Devices, pipes and
// folders are errors, as are files of more than limit bytes: neither is
// loaded.
func Read(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s: %d bytes, at most %d are read", path, info.Size(), limit)
	}
	return os.ReadFile(path)
}
