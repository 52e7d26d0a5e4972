// Package server computes networks for other processes, over the Open Inference Protocol version 2
// (gRPC): [New] and [Server.Serve].
//
// Rows of several clients that arrive within [Options.Window] are computed together. A row has the
// same bits alone or among others, so the results do not depend on who else asks. Package
// netruntime/remote is the client. Any client of the protocol works as well, with tensors of data
// type FP32. See docs/cluster.md.
package server
