// Package ik is inverse kinematics for posed skeletons, by task:
//
// Stand on a game's own ground
//   - Ground with a height and a normal at each place: [Ground], [Level]
//   - The joints of a body: [NewTree], [DogRoles], [HumanRoles], [NewRig], [NewHumanRig]
//   - Put dogs and people on uneven ground and lock their feet: [DefaultDog], [DefaultHuman],
//     [Legged.Validate], [Legged.Run]
//   - What the feet do: [Foot.Contact], [Foot.Locked], [Foot.Target]
//   - Set when feet lock, and for how long: [FootLock]
//
// Look at things and reach for them
//   - Turn the head toward a place: [DogGaze], [HumanGaze], [Gaze.Turn]
//   - Take hands to places: [HumanArms], [Arms.Lean], [Arms.Bend]
//   - Move one foot: [Rig.Reach]
//
// Solve other skeletons
//   - One chain to one place, by cyclic coordinate descent: [CCD.Run]
//   - A whole body to many places, by damped least squares: [DefaultFullBody],
//     [FullBody.NewScratch], [FullBody.Run]
//   - Rotations for a body of known joint positions: [NewPosture], [Posture.Fit]
//
// Every solver only turns joints; Legged and FullBody also move the root. Bones never change
// length. A pose is one transform per joint in one common space, which is world space for Legged,
// Gaze and Arms. +Y is up, lengths are in metres, angles in radians, times in seconds. Jobs are
// plain structs: Validate once, then run in every tick without allocating.
package ik
