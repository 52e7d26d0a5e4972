//go:build !unix

package atomicfile

import (
	"errors"
	"io"
)

// claim does nothing: without locks nobody knows who owns temp, so nothing is swept.
func claim(string) (lock io.Closer, err error) { return io.NopCloser(nil), errors.ErrUnsupported }
