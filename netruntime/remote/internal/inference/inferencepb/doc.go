// Package inferencepb has the messages of the Open Inference Protocol, as generated code. Package server has its methods. Only a server imports
// it: a program may link another package with the protocol's names, and two of them panic.
package inferencepb

//go:generate protoc --go_out=. --go_opt=paths=source_relative inference.proto
