// Package dataset turns recordings into the rows that networks learn from.
//
// # Rows of a mode-adaptive network
//
// BuildMANN follows Zhang, Starke et al. 2018, sections 4, 5 and 7. The layout
// of a row is feature.MANN; this is what stands in it. All is in metres,
// seconds, m/s; root(f) is the frame on the ground under the hips at frame f,
// its forward (+Z) the ground projection of neck − hips, its left +X. Nothing
// is smoothed.
//
// The row of frame i holds, as input,
//
//   - the trajectory seen from root(i): samples 0…5 are the frames i−60, i−50 …
//     i−10, sample 6 is frame i, samples 7…11 are the frames i+12, i+24 … i+60;
//   - the pose of frame i seen from root(i−1): positions, axes and velocities;
//
// and as output
//
//   - the trajectory seen from root(i+1): samples 0…5 are the frames i+1, i+13
//     … i+61;
//   - the pose of frame i+1 seen from root(i);
//   - the motion from root(i) to root(i+1), per second: 60·(dx, yaw°, dz) with
//     dx and dz along the axes of root(i), yaw counter-clockwise from above.
//
// So the pose block of the output at i is the pose block of the input at i+1,
// in the very same frame. At run time a tick at root R therefore reads the
// trajectory seen from R, and the bones that the tick before wrote, seen from
// that tick's R (the root before its motion was added); it places the predicted
// bones by R, and only then moves the root to R′ = R · (motion/60), in which the
// predicted future samples stand.
//
// The velocity of anything at frame f is its backward difference 60·(p(f) −
// p(f−1)), turned into the frame in which its position stands but without that
// frame's own motion. The desired speed of a sample at frame f is the length of
// the root's path over the second after f, measured on five chords of 12
// frames. Frames outside the recording are the recording's trajectory reflected
// in its first or last frame b: position 2p(b) − p(2b−f), and the direction and
// actions of frame 2b−f. Poses are never taken from outside.
//
// # Phases
//
// Where the layout has Phases, the pose ends with a phase of stepping per tip,
// amplitude times cosine and sine: the analytic signal, between 0.7 and 3 Hz, of
// whether the tip swings (1) or stands (0, see Stands). It goes round once per
// stride, by 0 in the middle of a swing, and is 0 for a tip that does not step.
//
// # Actions
//
// Each frame of a recording carries one label or several; where they overlap,
// the first of jump, stand, sit, lie, move, idle wins. A run of equal labels
// holds its action at full weight except near its ends: its keys lie
// min(Ramp, a quarter of the run) frames inside, and between the last key of one
// run and the first of the next the weights ramp linearly. Weights sum to one.
//
// # Repetition and mirror
//
// Rows come clip by clip in the order of file names, then once more mirrored in
// the same order. Order lists the rows to visit in an epoch: every row once,
// rows of trot and canter Repeat times, other rows that move Walk times, a third of
// Repeat unless told otherwise.
package dataset
