// Package latent makes people's motion from a few sliders: the latent values of a
// variational autoencoder of clips of one second (Lüdi 2016, sec. 4.2).
//
// A clip is [Frames] rows of frames, 60 per second, as feature.Motion lays them
// out. Rows go in and out raw, in metres and seconds; the networks normalise
// inside. Latent values follow about the standard normal distribution.
//
//   - [Model] is the autoencoder, the skeleton that its frames pose, and the
//     [Components] of its latent values: directions such as how far somebody turns,
//     each in deviations of the recordings. [Model.Clip] turns rows into rotations.
//   - [Coder] encodes and decodes clips, in batches.
//   - [Coder.Fit] finds the clip that comes nearest to given frames, while some
//     components stay: it refines what the encoder finds, or goes on from another
//     clip.
//   - [Coder.Append] chains clips to motion of any length.
//   - [Stream] keeps many people walking, a clip after the other, as their [Sliders]
//     say, which [Steering] sets for a turn and a speed. [NextClip] is the network that
//     tells how a clip goes on.
//   - [Traits] are what people see of a clip.
//
// docs/latent.md tells what it reaches and how it is trained.
package latent
