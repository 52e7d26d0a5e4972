//go:build webgpu

package webgpu

import (
	"fmt"
	"sync"

	"github.com/gogpu/gputypes"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
)

// weights are a network's constants on the device. Sessions of a network with the same options
// share them.
type weights struct {
	plan   *program.Program
	memory *buffer
	bytes  int64
	key    weightsKey
	users  int
}

type weightsKey struct {
	net   *netruntime.Net
	skip  float32
	pairs program.Pairs
}

var (
	uploadedMu sync.Mutex
	uploaded   = map[weightsKey]*weights{}
)

// uploadBytes is what is uploaded at once.
const uploadBytes = 4 << 20

// upload writes data to a new buffer, in parts.
func (d *device) upload(to *buffer, data []byte) error {
	for at := 0; at < len(data); at += uploadBytes {
		err := d.write(to, int64(at), data[at:min(at+uploadBytes, len(data))])
		if err == nil {
			err = d.flush(startTimeout)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// weightsOf returns the weights of a network with one more user.
func (d *device) weightsOf(key weightsKey) (*weights, error) {
	uploadedMu.Lock()
	defer uploadedMu.Unlock()
	if w := uploaded[key]; w != nil {
		w.users++
		return w, nil
	}
	p, err := program.Compile(key.net, program.Plain, key.skip, key.pairs)
	if err != nil {
		return nil, fmt.Errorf("webgpu: %w: %w", err, errPlan)
	}
	return d.hold(key, p)
}

// hold writes the constants of a program to the device, for one user.
func (d *device) hold(key weightsKey, p *program.Program) (w *weights, err error) {
	data := append(p.Data, make([]byte, program.Align)...) // never empty
	w = &weights{plan: p, bytes: int64(len(data)), key: key, users: 1}
	if int64(len(data)) > d.most {
		return nil, fmt.Errorf("webgpu: the weights take %d bytes, the device binds at most %d: %w", len(data), d.most, errPlan)
	}
	if w.memory, err = d.buffer("weights", int64(len(data)), gputypes.BufferUsageStorage|gputypes.BufferUsageCopyDst); err != nil {
		return nil, err
	}
	if err := d.upload(w.memory, data); err != nil {
		abandon(w.memory) // earlier parts may be in flight
		return nil, err
	}
	p.Data = nil
	uploaded[key] = w
	return w, nil
}

// release removes a user, and frees the weights after the last.
func (w *weights) release() {
	uploadedMu.Lock()
	defer uploadedMu.Unlock()
	if w.users--; w.users > 0 {
		return
	}
	delete(uploaded, w.key)
	w.memory.Release()
}

// forget lets the networks go after the GPU is lost. An upload that hangs holds the lock for ever.
func forget() {
	if uploadedMu.TryLock() {
		defer uploadedMu.Unlock()
		for _, w := range uploaded {
			abandon(w.memory)
		}
		clear(uploaded)
	}
}

var (
	abandonedMu sync.Mutex
	abandoned   []any
)

// abandon keeps what a GPU that is lost may still use. The library would free it with its last
// reference.
func abandon(x any) {
	abandonedMu.Lock()
	defer abandonedMu.Unlock()
	abandoned = append(abandoned, x)
}
