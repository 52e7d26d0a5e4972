// Package inferencepb has the generated code of the Open Inference Protocol. Only a server imports
// it: a program may link another package with the protocol's names, and two of them panic.
package inferencepb

//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative inference.proto
