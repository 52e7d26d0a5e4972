// Package cuda computes networks on an NVIDIA GPU, behind the build tag cuda.
//
// [NewSession] returns a netruntime.Session that keeps its weights on the GPU and computes all rows
// of a run there. It allocates nothing after that. Runs return their result whatever happens to the
// GPU. Without the tag, a driver or a device, after the first CUDA error and when the GPU hangs, the
// processor computes them, and one line of the log says so. See docs/cuda.md.
package cuda

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"mannequin/netruntime"
)

// Precision is the number type of products of at least 32,768 weights. Smaller products, and all
// sums, are float32.
type Precision string

// The precisions. A GPU's matrix units compute the last two. TF32 keeps 10 bits of mantissa of
// weights and inputs, BF16 keeps 7.
const (
	FP32 Precision = "fp32"
	TF32 Precision = "tf32"
	BF16 Precision = "bf16"
)

// Timing is the time of each part of a run by the GPU's own clock, in seconds, one part after the
// other: medians over repetitions.
type Timing struct {
	Send, Receive    float64 // copies to and from the GPU
	Products, Chains float64 // the kernels: matrix products, and everything else
}

// Peaks are the greatest rates of a GPU, each measured alone.
type Peaks struct {
	FLOPS         float64 // of large matrix products by the vendor's library, per second; 0 if that is missing
	Send, Receive float64 // bytes per second
}

// Options are the options of a session.
type Options struct {
	netruntime.SessionOptions              // BF16 applies to the processor, when it takes over
	Precision                 Precision    // empty is FP32
	Log                       *slog.Logger // receives one line on what networks run on, and one if the GPU is lost; nil is slog.Default()

	// Timeout is the longest wait for the GPU, after which it counts as lost; 0 is ten seconds. A run
	// takes milliseconds. Ten seconds leave time for another program's long kernel, and for drivers
	// that end a kernel themselves, after about five seconds.
	Timeout time.Duration
}

const defaultTimeout = 10 * time.Second

// setDefaults sets defaults.
func (o *Options) setDefaults() error {
	o.Precision, o.Log, o.Timeout = cmp.Or(o.Precision, FP32), cmp.Or(o.Log, slog.Default()), cmp.Or(o.Timeout, defaultTimeout)
	if o.Timeout < 0 {
		return fmt.Errorf("cuda: a timeout of %v", o.Timeout)
	}
	switch o.Precision {
	case FP32, TF32, BF16:
		return nil
	}
	return fmt.Errorf("cuda: precision %q, want %q, %q or %q", o.Precision, FP32, TF32, BF16)
}
