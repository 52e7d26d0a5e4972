// Package mocap reads motion capture files into clips and writes clips as BVH files.
//
//   - [Open] reads a recording in any format: BVH, glTF, AMC with its ASF skeleton, or
//     Human3.6M's exponential maps. The result is a [Recording]: a [skel.Clip] and the
//     channels that a BVH of it has. [FormatOf] reports a file's format.
//     [OpenOptions] says what a file does not say, or says wrongly; with Salvage the whole frames
//     of a damaged file are read. [Recording.Only] takes one of several characters.
//   - [ReadBVH], [ReadASF] with [ASF.ReadAMC], and [ReadH36M] read from bytes.
//   - [Recording.Write] writes a BVH with the recording's channels; [WriteClip] writes
//     any clip with the usual ones.
//   - [FrameReader] and [FrameWriter] read and write a BVH frame by frame, as a stream.
//   - [Summarize] measures a clip: bounds, bone lengths, jumps, ground height
//     and the probable unit of length.
//
// Lengths keep the file's unit; [skel.Clip.Scaled] turns them into metres and
// [skel.Clip.Resampled] changes the frame rate.
//
// An AMC file does not say its frame rate: see [OpenOptions] and [AMCRate].
// [FindASF] finds its skeleton. [ASF.MetresPerUnit] is the unit of files that count in
// inches. Human3.6M's files, as Jain et al. 2016 prepared them for motion prediction, hold
// 99 numbers separated by commas in a line, in millimetres, at [H36MRate].
//
// # How a BVH becomes a clip
//
//   - Joints keep the file's depth-first order. An End Site becomes a joint
//     with EndSite set, named after its parent with "Site" appended
//     (HeadSite). A second joint of the same name gets "_2" appended, the next
//     "_3" and so on, so that every joint can be found by name.
//   - A joint's rotation is the product of its rotation channels in file order,
//     R = R₁·R₂·R₃: intrinsic rotations about the joint's own axes, degrees in
//     the file. Joints without rotation channels do not turn.
//   - A position channel replaces the joint's OFFSET along its axis; the other
//     axes keep the OFFSET.
//   - Several ROOTs, in one HIERARCHY or in several before the MOTION, become
//     several root joints of one skeleton.
//   - The frame rate is 1/Frame Time, rounded to a whole number if that is within
//     0.05 %: files print 60 Hz as 0.0166667. Film and video rates such as 23.976 Hz
//     are 0.1 % away and stay as they are.
//
// # How an ASF and an AMC become a clip
//
//   - A bone becomes a joint at its start, with the bone's name. A bone without children
//     also becomes an End Site at its end, or a joint if its length changes. CMU's
//     30 bones are 31 joints, root included, and 7 End Sites.
//     At rest all joints have the world's axes.
//   - A bone ends at its normalised direction times its length, in the world's axes at rest.
//   - A joint's rotation is L = C·M·C⁻¹. C is the bone's axis, M the product of
//     its rotations in the frame. The first one listed turns first, about fixed
//     axes: rx ry rz is R_z·R_y·R_x. The angles of an axis compose likewise. They are
//     given about x, y and z in this order, whatever their order of turning.
//   - tx, ty and tz move a bone's start along the axes C, wherever they stand
//     among the rotations; l is added to its length.
//   - The root starts at its position and turns by C·M·C⁻¹ too, with its orientation
//     as C. It moves along the world's axes.
//   - In a BVH the joints have the rotations ZYX, as in CMU's own conversions.
//
// # How exponential maps become a clip
//
//   - The skeleton is [H36MSkeleton], 25 joints and 7 End Sites. The files do not hold it.
//   - Numbers 0 to 2 of a frame are the body's move since the last frame, in the axes of
//     the body at that frame, and 3 to 5 its turn. From 3 + 3·i on stands the rotation of
//     joint i > 0 in its parent. The matrices multiply row vectors, so a map r is a
//     rotation by −|r| about r/|r|.
//   - The files do not say where up is: the first frame's body is the world, even if it
//     leans. The ground is therefore fitted to the toes of the lower foot. If the toes say
//     little, up is the hips' mean up.
package mocap
