// Package remote computes networks on another machine, over the Open Inference Protocol version 2
// (gRPC). [Dial] returns a [Client], whose Open is a netruntime.Opener for any generator:
//
//	c, err := remote.Dial("inference:8001", remote.Options{Deadline: 5 * time.Millisecond})
//	dogs, err := model.NewController(mann.ControllerOptions{Capacity: 100, Open: c.Open})
//
// A run never fails and never takes much longer than the deadline and a local run together. If the
// server does not answer in time, the processor computes the run at once. After three late answers
// in a row, or any other error, runs are local until the server has answered a trial, which a
// goroutine of the session sends after growing pauses. Each such change is logged, and
// [Client.Stats] counts runs.
//
// The server of `mannequin serve --grpc` (package netruntime/remote/server) returns the same bits as
// the processor, because it computes the same network: sessions ask for it by its checksum. Other
// servers, such as Triton, compute exported ONNX models; see [Options].Model.
//
// A program links gRPC only if it imports this package.
package remote
