// Package latent makes people's motion from a few sliders: the latent values of a variational
// autoencoder of clips of one second (Lüdi 2016, sec. 4.2). By task:
//
//   - Open a model: [NewModel]; write one: [Describe]
//   - Drive a crowd, as a generator of package animsys: [Model.NewStream], with the network that
//     predicts the next clip: [Model.NewNextClip]
//   - Control an agent: [Sliders], [Sliders.Set], [Sliders.Release]; by turn and speed:
//     [Model.NewSteering], [Steering.Steer]; see where it goes: [Stream.Preview]
//   - Encode and decode clips, in batches: [Model.NewCoder], [Coder.Encode], [Coder.Decode]
//   - Edit a clip with sliders: [Components.FromLatent], [Components.ToLatent]; fit it to wanted
//     frames: [Coder.Fit]
//   - Chain clips to motion of any length, offline: [Coder.Append]
//   - Measure what is visible in a clip: [Traits]
//   - Turn rows into rotations: [Model].Clip
//
// A clip is [Frames] rows of frames, (Frames, columns), 60 per second, laid out by feature.Motion.
// Rows are raw, in metres and seconds; the networks normalise inside. Latent values are about
// standard normal. [Components] are named directions in them, such as turn, step or lean, each in
// standard deviations of the training data.
//
// docs/latent.md describes training and results.
package latent
