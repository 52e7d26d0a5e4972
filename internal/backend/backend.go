// Package backend names what can compute networks, for the programs' flag
// --backend.
package backend

import (
	"errors"
	"fmt"

	"mannequin/netruntime"
	"mannequin/netruntime/cuda"
)

// The backends.
const (
	CPU  = "cpu"
	CUDA = "cuda"
)

// Open returns what opens sessions of a backend, nil for the processor. With
// bf16 it is to compute in bfloat16.
func Open(name string, bf16 bool) (netruntime.Opener, error) {
	switch name {
	case CPU:
		return nil, nil
	case CUDA:
		if !cuda.Built {
			return nil, errors.New("this program was built without CUDA: make build-cuda builds one with it")
		}
		p := cuda.FP32
		if bf16 {
			p = cuda.BF16
		}
		return func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
			return cuda.NewSession(n, cuda.Options{SessionOptions: o, Precision: p})
		}, nil
	}
	return nil, fmt.Errorf("no backend %q: want %s or %s", name, CPU, CUDA)
}
