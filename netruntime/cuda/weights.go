//go:build cuda

package cuda

import (
	"fmt"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"mannequin/netruntime"
)

// weights are a network's constants on the device. Sessions of a network with the same options
// share them.
type weights struct {
	plan   *plan
	memory cu.DevicePtr
	key    weightsKey
	users  int
}

type weightsKey struct {
	net  *netruntime.Net
	form form
	skip float32
}

var (
	uploadedMu sync.Mutex
	uploaded   = map[weightsKey]*weights{}
)

// upload returns the weights of n with one more user.
func upload(n *netruntime.Net, f form, skip float32) (*weights, error) {
	uploadedMu.Lock()
	defer uploadedMu.Unlock()
	key := weightsKey{n, f, skip}
	if w := uploaded[key]; w != nil {
		w.users++
		return w, nil
	}
	p, err := compile(n, f, skip)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, errPlan)
	}
	w := &weights{plan: p, key: key, users: 1}
	data := append(p.data, make([]byte, align)...) // never empty
	if w.memory, err = cu.MemAlloc(int64(len(data))); err != nil {
		return nil, fmt.Errorf("cuda: %d bytes of weights: %w", len(data), err)
	}
	if err := wrap(cu.MemcpyHtoD(w.memory, unsafe.Pointer(&data[0]), int64(len(data))), "weights"); err != nil {
		_ = cu.MemFree(w.memory)
		return nil, err
	}
	p.data = nil
	uploaded[key] = w
	return w, nil
}

func (w *weights) release() {
	if w.removeUser() {
		_ = cu.MemFree(w.memory)
	}
}

// removeUser removes a user, and reports whether it was the last.
func (w *weights) removeUser() bool {
	uploadedMu.Lock()
	defer uploadedMu.Unlock()
	if w.users--; w.users > 0 {
		return false
	}
	delete(uploaded, w.key)
	return true
}
