// Package dataset turns recordings into the rows that networks learn from.
//
//   - [BuildMANN] reads a folder of labelled recordings of a quadruped and returns rows for
//     a mode-adaptive network: [MANN].
//   - [BuildMotion] reads folders of recordings of people and returns clips and windows of
//     joint positions: [MotionSet]. [OpenMotion], [OpenPerson] and [OpenStanding] read
//     single recordings.
//   - [ReadSource] reads a folder's own description, [Recordings] lists a folder's files.
//
// The order of reading is, for the quadruped: mann.go, source.go, recording.go, labels.go,
// skeleton.go, reverse.go, rows.go, track.go, phase.go, stats.go. For people it is
// motion.go, motionread.go, motionwindow.go, stand.go, stats.go. Functions
// of finished sets come last: rest.go, replay.go, footstep.go.
//
// # Rows of a mode-adaptive network
//
// BuildMANN follows Zhang, Starke et al. 2018, sections 4, 5 and 7. The layout of a row is
// feature.MANN; this section says what it holds. All is in metres, seconds, m/s. root(f) is the
// frame on the ground under the hips at frame f. Its forward (+Z) is the ground projection of neck
// − hips, and +X is to its left. Nothing is smoothed.
//
// The input row of frame i holds
//
//   - the trajectory seen from root(i): samples 0…5 are the frames i−60, i−50 …
//     i−10, sample 6 is frame i, samples 7…11 are the frames i+12, i+24 … i+60;
//   - the pose of frame i seen from root(i−1): positions, axes and velocities.
//
// The output row holds
//
//   - the trajectory seen from root(i+1): samples 0…5 are the frames i+1, i+13
//     … i+61;
//   - the pose of frame i+1 seen from root(i);
//   - the motion from root(i) to root(i+1), per second: 60·(dx, yaw°, dz) with
//     dx and dz along the axes of root(i), yaw counter-clockwise from above.
//
// So the pose block of the output at i equals the pose block of the input at i+1, in the
// same frame of reference. At run time a tick at root R therefore reads the trajectory
// seen from R, and the bones that the tick before wrote, seen from that tick's root before
// its motion was added. It places the predicted bones by R, and only then moves the root
// to R′ = R · (motion/60). The predicted future samples are seen from R′.
//
// A velocity at frame f is the backward difference 60·(p(f) − p(f−1)), turned into the frame of its
// position, without that frame's own motion. The desired speed of a sample at frame f is the length
// of the root's path over the second after f, measured on five chords of 12 frames. Frames outside
// the recording are reflected in its first or last frame b: position 2p(b) − p(2b−f), and the
// direction and actions of frame 2b−f. Poses are never taken from outside.
//
// # Phases
//
// If the layout has Phases, the pose ends with a phase of stepping per tip,
// amplitude times cosine and sine. It is the analytic signal, between 0.7 and 3 Hz, of
// the tip's swing (1) and stance (0, see [Stands]). It goes round once per
// stride, with angle 0 in the middle of a swing, and is 0 for a tip that does not step.
//
// # Actions
//
// Each frame of a recording has one label or several. Where labels overlap, the first of jump,
// stand, sit, lie, move, idle wins. A run of equal labels holds its action at full weight except
// near its ends. Its keys lie min(Ramp, a quarter of the run) frames inside, and the weights ramp
// linearly from the last key of one run to the first key of the next. Weights sum to one.
//
// # Repetition and mirror
//
// Rows come clip by clip in the order of file names, then once more mirrored in
// the same order. Order lists the rows to visit in an epoch: every row once, rows of trot
// and canter Repeat times, other rows that move Walk times (a third of Repeat by default).
package dataset
