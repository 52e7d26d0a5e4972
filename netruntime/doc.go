// Package netruntime runs trained networks: it reads and writes model files,
// and computes outputs for many rows at once on the processor.
//
// A [Net] is immutable: weights, normalisation and [Meta]. Any number of
// sessions may share one. A [Session] belongs to one goroutine and holds the
// activations for a fixed number of rows; its Run takes raw features and
// returns raw outputs, and allocates nothing.
//
//	net, err := netruntime.Open("dog.safetensors")
//	s, err := net.NewSession(64, runtime.NumCPU())
//	err = s.Run(y, x, rows)
//
// A row's output has the same bits alone or among others, at any position and
// for any number of workers. A NaN in a row stays in that row.
//
// Model files are safetensors with float32 or bfloat16 weights and the
// metadata of [Meta], among it a checksum of all the rest. Bytes from outside give a [FormatError] that names the
// place, or an [UnsupportedError].
package netruntime
