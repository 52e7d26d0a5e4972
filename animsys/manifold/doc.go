// Package manifold makes and edits people's motion on a motion manifold: the hidden values of an
// autoencoder over time (Holden, Saito and Komura 2016). By task:
//
//   - Open the networks: [NewNetworks], or [NewModel] for the manifold alone; write a model:
//     [Describe]
//   - Drive a crowd, as a generator of package animsys: [Networks.NewStream]
//   - Steer an agent: [Curve], [Gait]; see where it goes: [Stream.Preview]
//   - Make walking and running along a path, offline: [AlongPath], [Networks.NewLocomotion],
//     [Locomotion.Make]; its parts: [Walker], [Editor]
//   - Make punches and kicks from the positions of hands or feet: [Model.NewActionSynthesizer]
//   - Edit motion: [Model.NewEditor], [Editor.Run]; move joints to places: [Model.AddTargets]; keep
//     them near: [Model.Hold]; follow another path: [Trajectory.Follow], [Model.Rebase]
//   - Give motion a style: [Model.NewStyle], [GramOptimizer.Run]; in real time:
//     [Model.NewStyleTransfer], [Model.Restyle], [StreamOptions].Styles
//   - Store styles: [Model.NewStyleSet], [StyleSet.Encode], [OpenStyleSet], [StyleSet.For]
//   - Clean motion up: [Model.Project], [Model.Denoise]; fill gaps: [Model.Fill]
//   - Turn rows into rotations: [Model.Clip]; into places: [Model.Trajectory]
//
// A motion is rows of frames, (frames, columns), 60 per second, laid out by feature.Motion: joint
// positions in the body's frame, the body's motion, contacts. Rows are raw, in metres and seconds;
// networks normalise inside. The body's frame is on the ground under the hips. +Y is up, +Z ahead;
// angles are in radians.
//
// docs/manifold.md describes training and results.
package manifold
