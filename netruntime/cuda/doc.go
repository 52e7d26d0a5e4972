// Package cuda computes networks on an NVIDIA GPU, behind the build tag cuda.
//
// [NewSession] returns a netruntime.Session that keeps its weights on the GPU
// and takes all rows of a run through the network there; it allocates nothing
// after that. Whatever happens to the GPU, runs give their result: without the
// tag, a driver or a device, and from the first CUDA error on, the processor
// computes them, and one line of the log says so. See docs/cuda.md.
package cuda

import (
	"fmt"
	"log/slog"

	"mannequin/netruntime"
)

// Precision is how products of at least 32,768 weights are computed. Smaller
// ones, and all sums, are float32.
type Precision string

// The precisions. A GPU's matrix units know the last two; TF32 keeps 10 bits
// of mantissa of weights and inputs, BF16 keeps 7.
const (
	FP32 Precision = "fp32"
	TF32 Precision = "tf32"
	BF16 Precision = "bf16"
)

// Timing is what the parts of a run take by the GPU's own clock, in seconds,
// one after the other: medians over repetitions.
type Timing struct {
	Send, Receive    float64 // copies to and from the GPU
	Products, Chains float64 // the kernels: matrix products, and all else
}

// Peaks are what a GPU reaches on one thing alone.
type Peaks struct {
	FLOPS         float64 // of large matrix products by the vendor's library, per second; 0 where that is missing
	Send, Receive float64 // bytes per second
}

// Options say what a session is for.
type Options struct {
	netruntime.SessionOptions              // BF16 is that of the processor, where it takes over
	Precision                 Precision    // empty is FP32
	Log                       *slog.Logger // told once what networks run on, and once that the GPU is lost; nil is slog.Default()
}

// settle fills in what is left open.
func (o *Options) settle() error {
	switch o.Precision {
	case "":
		o.Precision = FP32
	case FP32, TF32, BF16:
	default:
		return fmt.Errorf("cuda: precision %q, want %q, %q or %q", o.Precision, FP32, TF32, BF16)
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return nil
}
