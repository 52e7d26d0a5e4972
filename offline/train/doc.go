// Package train runs the training of a network. A [Job] holds the loss and the options, and
// [Job.Run] minimises the loss: with an [Optimizer], a [Schedule] for its rate, penalties and
// clipping, seeded shuffling, a held-out evaluation every epoch, checkpoints and loss curves.
//
// All random numbers follow from the seed and the position (epoch, step). An interrupted run
// therefore continues from its checkpoint to the same bits as a run without interruption, for any
// number of workers.
//
// With Job.Shards a step's batch is cut into parts, which Job.Ranks, several processes, may share. Each of them updates a
// slice of the parameters. The result is the same to the bit for any number of them (shards.go, ranks.go).
//
// A NaN or an infinity ends a run at its last good state and names the samples
// ([NotFiniteError]). Only one process at a time can use a checkpoint.
//
// Read it in this order: a Job and its options (job.go), the run and its epochs (run.go), a step
// (step.go) and its update of the weights (update.go, optimizer.go, schedule.go), the state of a
// run (state.go), checkpoints (checkpoint.go, lock.go), failures (failure.go), loss curves
// (curves.go).
package train
