// Package netruntime runs trained neural networks: it reads and writes model files, and computes
// outputs for many rows at once on the processor.
//
// A [Net] is immutable: weights, a [Graph] of operations on them, and [Meta]. Any number of
// sessions can share one. A [Session] belongs to one goroutine and holds the activations. It takes
// raw features, returns raw outputs and allocates nothing per run.
//
//	net, err := netruntime.Open("dog.safetensors")
//	s, err := net.NewSession(netruntime.SessionOptions{Batch: 64, Workers: runtime.NumCPU()})
//	err = s.Run(y, x, rows) // y (rows, net.Outputs()), x (rows, net.Inputs())
//
// # Load
//
//   - [Open] a file, [Decode] bytes, or [Embedded] for a file inside the program
//   - [Net.Inputs], [Net.Outputs], [Net.Values]: the shapes; [Net.Meta], [Net.Sizes], [Net.File],
//     [Net.Parameters]: what the file says
//   - [Net.Checksum] identifies what a network computes
//
// # Run
//
//   - [Net.NewSession] with [SessionOptions]: batch, length, workers, bfloat16, skipped experts
//   - [Session.Run] for rows: one agent or a whole crowd at a time
//   - [Session.RunSequences] for sequences, for several inputs or outputs, and for recurrent state
//   - [Session.Gating]: the experts' weights of the last run
//   - [Buffer]: memory that a session on a GPU copies faster; [Opener]: a GPU's sessions in place of
//     the processor's (package netruntime/cuda), or another machine's (netruntime/remote)
//   - [NearestOpener]: a GPU's searches of [Points], such as the frames of recordings
//   - [NewPool], [Aside], [Await]: workers for the rest of a tick's work, and work beside the ticks
//   - [Kernels], [KernelFamilies], [HasBF16], [PeakGFLOPS]: what this processor offers
//
// # Change a network
//
//   - [Net.Part] cuts a network, for instance into an encoder and a decoder
//   - [Pins] makes a correction vanish at pinned frames
//
// # Build and save
//
//   - [New] from a [Graph] and its [Tensor] values; [Graph.Validate] and [Graph.Length] check a graph
//   - [Net.Encode] and [Net.EncodeBF16] write a model file; [Net.Tensors] and [Net.Tensor] copy weights
//   - [EncodeArrays] and [DecodeArrays] store arrays that are not a network, in the same kind of file
//
// # Train and export
//
// Package netruntime/grad puts a network on a tape, to train it or to edit motion through it
// (grad.Network). Package offline/onnx exports a network to ONNX.
//
// # Promises
//
// Within a family of kernels, the output of a row has the same bits alone or among others, at any
// position and for any number of workers. A NaN stays in its row or sequence.
//
// Model files are safetensors with float32 or bfloat16 weights, the metadata of [Meta] and a
// checksum. Bytes from outside never panic. They give a [FormatError] with the offset, which wraps
// a [TensorError] or a [GraphError] that names the culprit, or an [UnsupportedError].
package netruntime
