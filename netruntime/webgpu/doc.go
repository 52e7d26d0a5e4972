// Package webgpu computes networks on any GPU through WebGPU, behind the build tag webgpu. It needs
// no C compiler.
//
// [NewSession] returns a netruntime.Session that keeps its weights on the GPU and computes all rows
// of a run there, in float32, or in float16 if asked for ([Options].F16). It allocates nothing after that, except in browsers. [NewNearest] searches points there, such as the frames of
// recordings. Runs return their result whatever happens to the GPU. Without the tag,
// a driver or a device, after the first error and when the GPU hangs, the processor computes them,
// and one line of the log says so. See docs/gpu.md.
package webgpu

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"mannequin/netruntime"
)

// Options are the options of a session.
type Options struct {
	// BF16 keeps the weights of products of at least 32,768 of them in bfloat16, in half the memory. Everything else is float32. Weights that
	// are bfloat16 in any case, as those of shipped networks, are kept so without it.
	netruntime.SessionOptions

	// F16 keeps the same weights in float16, in place of bfloat16: half the memory, with three more bits than bfloat16. Where the device offers
	// float16, it also multiplies in it, which may be faster. Sums of eight products are then float16, and sums of those float32. Session.Kernel
	// returns "webgpu_f16". Elsewhere products are float32, and one line of the log says so.
	//
	// Weights are scaled by a power of two, and products with values beyond 500 are float32, so that no value up to 1e33 overflows.
	F16 bool

	Log *slog.Logger // receives one line on what networks run on, and one if the GPU is lost; nil is slog.Default()

	// Timeout is the longest wait for the GPU, after which it counts as lost; 0 is ten seconds. A run
	// takes milliseconds. Ten seconds leave time for another program's long kernel, and for drivers
	// that end a kernel themselves, after about five seconds.
	Timeout time.Duration
}

// checkPoints returns an error for points that cannot be searched.
func checkPoints(p *netruntime.Points, batch int) error {
	if p == nil || p.Columns < 1 || len(p.Features) == 0 || len(p.Features)%p.Columns != 0 || len(p.Tags) == 0 || batch < 1 {
		return errors.New("webgpu: a search wants points with columns and tags, and a batch of at least 1")
	}
	for _, set := range p.Tags {
		if n := len(p.Features) / p.Columns; len(set) != n {
			return fmt.Errorf("webgpu: %d tags of %d points", len(set), n)
		}
	}
	return nil
}

const defaultTimeout = 10 * time.Second

// setDefaults sets defaults.
func (o *Options) setDefaults() error {
	o.Length, o.Log, o.Timeout = cmp.Or(o.Length, 1), cmp.Or(o.Log, slog.Default()), cmp.Or(o.Timeout, defaultTimeout)
	if o.Timeout < 0 {
		return fmt.Errorf("webgpu: a timeout of %v", o.Timeout)
	}
	return nil
}
