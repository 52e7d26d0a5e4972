//go:build cuda

package cuda

import (
	"fmt"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
)

// weights are a network's constants on the device. Sessions of a network with the same options
// share them.
type weights struct {
	plan   *program.Program
	memory cu.DevicePtr
	key    weightsKey
	users  int
}

type weightsKey struct {
	net  *netruntime.Net
	form program.Form
	skip float32
}

var (
	uploadedMu sync.Mutex
	uploaded   = map[weightsKey]*weights{}
)

// upload returns the weights of n with one more user.
func upload(n *netruntime.Net, f program.Form, skip float32) (*weights, error) {
	uploadedMu.Lock()
	defer uploadedMu.Unlock()
	key := weightsKey{n, f, skip}
	if w := uploaded[key]; w != nil {
		w.users++
		return w, nil
	}
	if err := shortDepools(n.Graph()); err != nil {
		return nil, fmt.Errorf("%w: %w", err, errPlan)
	}
	p, err := program.Compile(n, f, skip, program.Never)
	if err != nil {
		return nil, fmt.Errorf("cuda: %w: %w", err, errPlan)
	}
	w := &weights{plan: p, key: key, users: 1}
	data := append(p.Data, make([]byte, program.Align)...) // never empty
	if w.memory, err = cu.MemAlloc(int64(len(data))); err != nil {
		return nil, fmt.Errorf("cuda: %d bytes of weights: %w", len(data), err)
	}
	err = cu.MemcpyHtoD(w.memory, unsafe.Pointer(&data[0]), int64(len(data)))
	if err == nil {
		// The copy may still be in flight when it returns, and the lanes' streams do not wait for it.
		err = cu.Synchronize()
	}
	if err := wrap(err, "weights"); err != nil {
		_ = cu.MemFree(w.memory)
		return nil, err
	}
	p.Data = nil
	uploaded[key] = w
	return w, nil
}

// shortDepools returns an error for a network that the kernels cannot compute.
func shortDepools(g *netruntime.Graph) error {
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Op == netruntime.OpDepool && n.Times() != 2 {
			return fmt.Errorf("cuda: node %q lengthens by %d, the kernels only by 2", n.Name, n.Times())
		}
	}
	return nil
}

// release removes a user, and frees the weights after the last.
func (w *weights) release() {
	uploadedMu.Lock()
	defer uploadedMu.Unlock()
	if w.users--; w.users > 0 {
		return
	}
	delete(uploaded, w.key)
	_ = cu.MemFree(w.memory)
}

// forget lets the networks go after the GPU is lost. An upload that hangs holds the lock for ever.
func forget() {
	if uploadedMu.TryLock() {
		defer uploadedMu.Unlock()
		clear(uploaded)
	}
}
