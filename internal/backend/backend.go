// Package backend opens the backends that compute networks, for the programs' flag --backend.
package backend

import (
	"errors"
	"fmt"
	"log/slog"

	"mannequin/netruntime"
	"mannequin/netruntime/cuda"
	"mannequin/netruntime/webgpu"
)

// The backends.
const (
	CPU    = "cpu"
	CUDA   = "cuda"
	WebGPU = "webgpu"
)

// Names are the names of all backends.
var Names = []string{CPU, CUDA, WebGPU}

// Usage is what --backend does.
const Usage = "device for the networks: cpu, or cuda or webgpu if the program was built with it"

// Nearest returns the function that opens searches of recordings on a backend, or nil for the processor, which also searches for CUDA. log is
// that of Open.
func Nearest(name string, log *slog.Logger) netruntime.NearestOpener {
	if name != WebGPU || !webgpu.Built {
		return nil
	}
	return func(p *netruntime.Points, batch int) (netruntime.Nearest, error) {
		return webgpu.NewNearest(p, webgpu.Options{SessionOptions: netruntime.SessionOptions{Batch: batch}, Log: log})
	}
}

// Open returns the function that opens sessions of a backend, or nil for the processor. CUDA
// computes in bfloat16 if the session's options ask for it, else in float32; WebGPU computes in float32, then with weights in
// bfloat16. log receives a line on what networks run on.
func Open(name string, log *slog.Logger) (netruntime.Opener, error) {
	switch name {
	case CPU:
		return nil, nil
	case CUDA:
		if !cuda.Built {
			return nil, errors.New("this program was built without CUDA: make build-cuda builds one with it")
		}
		return func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
			p := cuda.FP32
			if o.BF16 {
				p = cuda.BF16
			}
			return cuda.NewSession(n, cuda.Options{SessionOptions: o, Precision: p, Log: log})
		}, nil
	case WebGPU:
		if !webgpu.Built {
			return nil, errors.New("this program was built without WebGPU: make build-webgpu builds one with it")
		}
		return func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
			return webgpu.NewSession(n, webgpu.Options{SessionOptions: o, Log: log})
		}, nil
	}
	return nil, fmt.Errorf("unknown backend %q: want %s, %s or %s", name, CPU, CUDA, WebGPU)
}
