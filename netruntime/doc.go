// Package netruntime runs trained networks: it reads and writes model files,
// and computes outputs for many rows at once on the processor.
//
// A [Net] is immutable: weights, a [Graph] of operations on them, and [Meta].
// Any number of sessions may share one. A [Session] belongs to one goroutine
// and holds the activations for a number of rows, or of sequences up to a
// length; its Run takes raw features and returns raw outputs, and allocates
// nothing.
//
//	net, err := netruntime.Open("dog.safetensors")
//	s, err := net.NewSession(netruntime.SessionOptions{Batch: 64, Workers: runtime.NumCPU()})
//	err = s.Run(y, x, rows)
//
// A row's output has the same bits alone or among others, at any position and
// for any number of workers, within a family of kernels. A NaN in a row, or in
// a sequence, stays there.
//
// Model files are safetensors with float32 or bfloat16 weights and the
// metadata of [Meta], among it a checksum of all the rest. Bytes from outside
// give a [FormatError] that names the place, in which a [TensorError] or a
// [GraphError] names the culprit, or an [UnsupportedError].
package netruntime
