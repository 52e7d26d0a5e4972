// Package mocap reads and writes motion capture files.
//
// # BVH
//
//   - [OpenBVH] and [ReadBVH] turn a file's bytes into a [BVH]: a
//     [skel.Clip] plus the channel order of every joint.
//   - [BVH.Write] writes it back in its own channel order; [WriteClip] writes
//     any clip with the usual one.
//   - [FrameReader] and [FrameWriter] take and give a BVH frame by frame, as motion
//     streams in; the frames of a file that says "Frames: 0" are all that follow.
//   - [Summarize] measures a clip: bounds, bone lengths, jumps, ground height
//     and the unit of length that the file seems to use.
//
// # ASF and AMC
//
//   - [OpenAMC] turns a motion file and its skeleton file into the same [BVH];
//     [ReadASF] and [ASF.ReadAMC] do so from bytes. [FindASF] finds the
//     skeleton that lies beside a motion.
//   - The files say neither their frame rate nor their unit in metres: the
//     caller gives the first ([AMCRate] for CMU and HDM05), and
//     [ASF.MetresPerUnit] is the second for files that count in inches.
//
// # Human3.6M
//
//   - [OpenH36M] and [ReadH36M] turn exponential maps of Human3.6M, as Jain et al.
//     2016 prepared them for predictions, into the same [BVH]: 99 numbers with commas
//     between them in a line, in millimetres, at [H36MRate].
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
//
// How an ASF and an AMC become a clip:
//
//   - A bone becomes a joint at its start, called like the bone, and a bone
//     without children also an End Site, or where its length changes a joint,
//     at its end: CMU's 30 bones are 31 joints, root included, and 7 End Sites.
//     Joints are not turned at rest: their axes are the world's.
//   - A bone ends at its direction, made 1 long, times its length, in the
//     world's axes at rest.
//   - A joint's rotation is L = C·M·C⁻¹. C is the bone's axis, M the product of
//     its rotations in the frame. The first one listed turns first, about axes
//     that stay: rx ry rz is R_z·R_y·R_x. So do the angles of an axis; they are
//     about x, y and z, in this order, however their own order reads.
//   - tx, ty and tz move a bone's start along the axes C, whatever their place
//     among the rotations; l is added to its length.
//   - The root starts at its position and turns by C·M·C⁻¹ too, C being its
//     orientation; it moves along the world's axes.
//   - In a BVH the joints have the rotations ZYX, as in CMU's own conversions.
//
// How exponential maps become a clip:
//
//   - The skeleton is [H36MSkeleton]: 25 joints and 7 End Sites. Files do not have it.
//   - Number 0 to 2 of a frame is how the body has moved since the last frame, seen
//     from it as it was, 3 to 5 how it has turned; from 3 + 3·i on is how joint i > 0
//     is turned in its parent. Their matrices are for vectors on their left, so that a
//     map r is a rotation by −|r| about r/|r|.
//   - The files have lost where up is: the first frame's body is the world, whatever
//     it leant. So the ground is fitted to the toes of the lower foot, and where these
//     say little up is that of the hips, on average.
package mocap
