// Package judge measures people's motion and compares it with recordings of its kind.
//
//   - [Open] reads a motion and puts it onto the uniform skeleton, at [Rate].
//   - [Read] and [NewSet] measure several motions as a [Set].
//   - [Compare] makes a [Report] of a made set and sets of recordings: for each measure and each [Kind]
//     of frame made ÷ recorded. A recorded value is the mean of the sets, weighted by the square roots of their frames
//     of the kind.
//
// docs/judge.md defines every measure.
package judge
