// Package manifold makes and edits people's motion on the motion manifold of
// Holden, Saito and Komura 2016: the hidden values of an autoencoder over time.
//
// A motion is rows of frames, 60 per second, as feature.Motion lays them out:
// places of joints in the body's own frame, the body's motion, contacts. Rows go
// in and out raw, in metres and seconds; networks normalise inside.
//
//   - [Model] is a manifold: encoder, decoder, and the skeleton that its frames
//     move. [Model.Clip] turns rows into rotations.
//   - [AlongPath] makes a [Trajectory] of a path, speeds and facing; [Locomotion] makes
//     people walk and run along courses, in batches. It is a [Walker], the
//     networks of footsteps and of motion, and then an [Editor].
//   - [Stream] keeps many people in motion along a [Curve] each, window by window,
//     for a game's tick; [StyleTransfer] gives them styles.
//   - [ActionSynthesizer] makes punches and kicks from the places of hands or feet.
//   - [Editor] changes motions so that standing feet stand, bones keep their
//     length, the body goes where it shall and joints where they are wanted, while
//     the motion stays natural.
//     [Model.AddTargets] tells it when joints shall be where, [Trajectory.Follow] that a motion
//     goes along another path.
//   - [Model.Project] and [Model.Denoise] bring motions back to the manifold,
//     [Model.Fill] makes what is missing of them.
//
// docs/manifold.md tells what it reaches and how it is trained.
package manifold
