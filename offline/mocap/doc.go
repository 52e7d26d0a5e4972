// Package mocap reads and writes motion capture files.
//
// # BVH
//
//   - [OpenBVH] and [ReadBVH] turn a file's bytes into a [BVH]: a
//     [skel.Clip] plus the channel order of every joint.
//   - [BVH.Write] writes it back in its own channel order; [WriteClip] writes
//     any clip with the usual one.
//   - [Summarize] measures a clip: bounds, bone lengths, jumps, ground height
//     and the unit of length that the file seems to use.
//
// Lengths keep the file's unit; [skel.Clip.Scaled] turns them into metres and
// [skel.Clip.Resampled] changes the frame rate.
//
// How a BVH becomes a clip:
//
//   - Joints keep the file's depth-first order. An End Site becomes a joint
//     with EndSite set, named after its parent with "Site" appended
//     (HeadSite). A name that was taken already gets "_2", "_3", … appended,
//     so that every joint can be found by name.
//   - A joint's rotation is the product of its rotation channels in file order,
//     R = R₁·R₂·R₃: intrinsic rotations about the joint's own axes, degrees in
//     the file. Joints without rotation channels do not turn.
//   - A position channel replaces the joint's OFFSET along its axis; the other
//     axes keep the OFFSET.
//   - Several ROOTs, in one HIERARCHY or in several before the MOTION, become
//     several root joints of one skeleton.
//   - The frame rate is 1/Frame Time, taken as the whole number where it is
//     within 0.05 % of one: files print 60 Hz as 0.0166667. (Film and video
//     rates such as 23.976 Hz are 0.1 % away and stay as they are.)
package mocap
