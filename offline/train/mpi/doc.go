// Package mpi connects the processes that mpirun or srun has started, so that they train one network together:
// [World] is a train.Ranks. It needs the build tag mpi, and Open MPI as Debian has it (libopenmpi-dev).
package mpi
