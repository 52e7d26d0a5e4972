// Package mann runs the mode-adaptive network for quadrupeds (Zhang, Starke et al. 2018) in a
// game's loop: it turns goals into the network's inputs and the network's outputs into motion.
//
// A Model is a network with its layout and skeleton; it is immutable and shared. A Batch holds the
// state of many agents, one per row, as flat slices. A tick of 1/60 s is three calls and one run of
// the network between them:
//
//	b.Plan(goals, 0, n)          // goals → future trajectory
//	b.Gather(x, 0, n)            // state → network inputs
//	session.Run(y, x, n)         // all agents at once
//	b.Scatter(y, 0, n)           // network outputs → state, poses
//
// The three work on a range of rows, touch no row outside it and allocate nothing, so that a tick
// may be spread over any number of cores. A row's result depends on that row alone.
//
// # Spaces
//
// State is kept in world space on flat ground at height 0: metres, +Y up. A root is a point on the
// ground under the hips with a heading. A tick at root R reads the trajectory seen from R and the
// bones seen from the root of the tick before; it places the predicted bones by R and only then
// moves the root by the predicted motion to R′, from which the predicted future trajectory is seen.
// Package offline/dataset cuts its rows by the same rule.
//
// # Two poses
//
// The network feeds on its own output: bone positions, axes and velocities that do not quite fit a
// skeleton of fixed lengths. This recurrent pose (Bone) is never bent by what is done to the
// displayed one. The displayed pose (Pose) has the model's own bone lengths, each bone aimed at the
// predicted end. Ground height, in particular, is never fed back.
//
// # Watchdog
//
// A row that leaves the training data's range goes back to a good pose and is counted (Restored):
// when the network's outputs are not finite, when an input would lie farther from its mean than any
// recorded one, when bones do not keep their lengths, or when joints are under the ground. Blend
// the displayed pose over after that, as animsys.Scatter does with blend.Inertial.
//
// # Beyond the released system
//
// The trajectory's formulas and constants are the released system's. Added to them are, each
// because recordings or rollouts ask for it: a heading of its own that a turn adds up in (Leash); a
// future that turns evenly, in an arc, where the released one turns at once and then goes straight
// on, as dogs do at the end of a turn, looking out of it; an integral that counts only what a
// plausible change of speed does not explain, and is bounded (SpeedUp, SpeedDown); speeds aside and
// backward, a curve in place of a turn on the spot and a step in getting up, as in the recordings
// (Sideways, Backward, Pivot, Rise); action weights that go over at an even rate, jumps from a
// stand and one leap at a time (Ramp, Leap); slowing down before curves and facing along a path
// (Grip, Spin, Facing); and coming down where a row hangs in the air. The displayed pose keeps its
// hips between the floor and a ceiling (Bend, Ceiling). See Tuning. Left out is that it feeds the
// grounded pose's places back while idle: here nothing that happens to the displayed pose returns.
package mann
