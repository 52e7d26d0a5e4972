// Package train runs the training of a network: [Job] holds what to minimise
// and how, [Job.Run] does it. An [Optimizer] and a [Schedule] say how gradients
// change weights; around them Run keeps penalties and clipping, seeded
// shuffling, a held-out evaluation every epoch, checkpoints and loss curves.
//
// Everything random follows from the seed and the position (epoch, step), so
// a run that was interrupted, at any moment and by any means, continues from
// its checkpoint to the same bits as one that was not. The number of workers
// changes nothing either.
//
// A NaN or an infinity ends a run at its last good state, with the samples
// named ([NotFiniteError]). A checkpoint belongs to one process at a time.
package train
