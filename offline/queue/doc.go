// Package queue runs one command of mannequin on many files: on this machine, or by workers on any
// number of machines, which take jobs from a server of NATS JetStream.
//
// A Job is a command line, its input files by the hashes of their contents, and the program that may
// run it. The hash of all that names the job, so a job is done once, whoever asks for it and however
// often. Workers need no common disk: files go through the server.
package queue
