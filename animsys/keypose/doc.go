// Package keypose makes people's motion between keyframes (in-betweening): poses, or parts of them,
// at chosen times, and the root's path over the ground. By task:
//
//   - Open a model: [NewModel]; write one: [Describe]
//   - Fill the motion between keys: [Layout.Track], [Model.NewInbetweener], [Inbetweener.Fill];
//     lock the feet: [Layout.NewFootLock], [FootLock.Apply]; read it: [Track.Clip]
//   - Key parts of a body: [Key].Weight, [Layout.GroupOf]; place the root on a path: [Waypoint]
//   - Drive a crowd, as a generator of package animsys: [Model.NewStream]
//   - Let an agent play keys in a loop: [Layout.NewPoseLoop], [Performance]; made ones: package
//     routines
//   - Train a network: [Layout.NewInputEncoder], [Track.Correction], [Layout.Tree]
//   - Make motion of evenly spaced poses alone: [NewSparseModel], [SparseModel.NewInbetweener]
//
// A [Track] holds a motion and its keys. [Track.Interpolate] fills the frames between keys. The
// network sees the interpolation and the keys around each frame, and predicts a correction and the
// contacts of the feet. The correction vanishes at keys (netruntime.Pins), so they are met exactly.
// Positions are in metres, times in seconds, +Y is up.
//
// A [SparseModel] is the network of Lüdi 2016: whole poses at even times become motion by
// upsampling convolutions. It comes near its poses, and it drifts over the ground.
package keypose
