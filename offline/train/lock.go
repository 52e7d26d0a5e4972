package train

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// errHeld reports that another process holds a lock.
var errHeld = errors.New("held by another process")

// lock keeps other runs from using the checkpoint until free is called or the process ends.
func (r *run) lock() (free func(), err error) {
	path := r.Checkpoint
	if target, err := filepath.EvalSymlinks(path); err == nil { // one lock under all its names
		path = target
	}
	path += ".lock"
	f, err := lockFile(path)
	switch {
	case errors.Is(err, errHeld):
		holder := ""
		if b, err := os.ReadFile(path); err == nil && len(b) > 0 && len(b) < 200 {
			holder = " (" + strings.TrimSpace(string(b)) + ")"
		}
		return nil, fmt.Errorf("another run%s is training with the checkpoint %s: wait until it ends, or choose another --checkpoint",
			holder, r.Checkpoint)
	case err != nil:
		// Then no checkpoint can be written either, which is reported in the end.
		r.Log.Warn("the checkpoint is not locked", "error", err)
		return func() {}, nil
	}
	host, _ := os.Hostname()
	f.Truncate(0)
	io.WriteString(f, fmt.Sprintf("process %d on %s\n", os.Getpid(), host))
	return func() { unlockFile(f, path) }, nil
}
