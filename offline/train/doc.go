// Package train runs the training of a network: [Job] holds what to minimise
// and how, [Job.Run] does it. Around the optimiser it keeps seeded shuffling,
// a held-out evaluation every epoch, checkpoints and loss curves.
//
// Everything random follows from the seed and the position (epoch, step), so
// a run that was interrupted, at any moment and by any means, continues from
// its checkpoint to the same bits as one that was not. The number of workers
// changes nothing either.
package train
