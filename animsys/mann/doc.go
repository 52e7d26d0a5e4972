// Package mann drives quadrupeds with the mode-adaptive network (Zhang, Starke et al. 2018): it turns
// goals into the network's inputs and the network's outputs into motion. By task:
//
//   - Make a model of a network: [NewModel]; write one: [Describe]
//   - Drive a crowd, as a generator of package animsys: [Model.NewController]
//   - Drive many agents by hand: [NewBatch], [Batch.Plan], [Batch.Gather], [Batch.Scatter]
//   - Place, move and read an agent: [Batch.Reset], [Batch.Copy], [Batch.Root], [Batch.Pose],
//     [Batch.Velocity]
//   - Update distant agents less often: [Batch.AddStride], [Batch.SetStride]
//   - Change how agents respond: [Batch.Tune], [Tuning]
//   - Find agents that the watchdog put back: [Batch.Restored]
//
// A [Model] is a network with its layout and skeleton, immutable and shared. A [Batch] holds the
// state of many agents, one per row, in flat slices. A tick of 1/60 s is three calls with one run
// of the network between them:
//
//	b.Plan(goals, 0, n)          // goals → future trajectory
//	b.Gather(x, 0, n)            // state → network inputs
//	session.Run(y, x, n)         // all agents at once
//	b.Scatter(y, 0, n)           // network outputs → state, poses
//
// The three work on a range of rows, touch no other row and allocate nothing, so a tick can use any
// number of cores. A row's result depends on that row alone.
//
// # Spaces
//
// State is in world space on flat ground at height 0: metres, +Y up. A root is a point on the
// ground under the hips with a heading. A tick at root R reads the trajectory relative to R and the
// bones relative to the root of the tick before. It places the predicted bones relative to R. Then
// it moves the root by the predicted motion to R′, to which the predicted future trajectory is
// relative. Package offline/dataset cuts its rows by the same rule.
//
// # Two poses
//
// The network reads its own output: bone positions, axes and velocities that do not quite fit a
// skeleton of fixed lengths. Nothing that happens to the displayed pose changes this recurrent pose
// (Bone). The displayed pose (Pose) has the model's bone lengths, with each bone aimed at its
// predicted end. In particular, the ground's height never returns to the network.
//
// # Watchdog
//
// A row that leaves the range of the training data goes back to a good pose and is counted
// (Restored): when outputs are not finite, when an input is farther from its mean than any recorded
// one, when bones do not keep their lengths, or when joints are under the ground. Blend the
// displayed pose afterwards, as package animsys does with blend.Inertial.
//
// # Beyond the released system
//
// The trajectory's formulas and constants are those of the released system. Recordings or rollouts
// asked for these additions (see Tuning):
//
//   - A heading of its own that adds up turns (Leash).
//   - A future that turns evenly along an arc. The released one turns at once and then goes
//     straight, as dogs do at the end of a turn, looking out of it.
//   - A bounded speed integral that counts only what a plausible change of speed does not explain
//     (SpeedUp, SpeedDown).
//   - Speeds sideways and backward, a curve in place of a turn on the spot, and a step in getting
//     up, as in the recordings (Sideways, Backward, Pivot, Rise).
//   - Action weights that change at an even rate, jumps from a stand, one leap at a time (Ramp,
//     Leap).
//   - Slowing down before curves, and facing along a path (Grip, Spin, Facing).
//   - Lowering a row that hangs in the air.
//   - A floor and a ceiling for the displayed hips (Bend, Ceiling).
//
// The released system feeds the grounded pose's places back while idle; this one does not.
package mann
