// Package retarget puts motion of any skeleton onto a uniform one.
//
//   - Human is that skeleton: 25 joints, in a T-pose at rest.
//   - A Profile says which joint of a file plays which part. Profiles has those
//     of the usual recordings, Detect finds the one that fits a skeleton, Suggest
//     guesses one from the names of the joints, and OpenProfile reads one that
//     somebody wrote.
//   - A Retargeter does the work for one clip, and its Report says how far the
//     joints are from where they were recorded.
//
// How a clip gets from one skeleton to the other:
//
//  1. Alignment. For each joint of the target the rotation is found that carries
//     its frame at rest to the frame of the joint that plays it: by a rigid fit
//     where several bones leave the joint (hips, chest), otherwise by the parent's
//     alignment and the shortest arc between the bones' directions. Where frames
//     are turned about their bones the profile says so (axes).
//  2. Angles. A joint's rotation in the world is the source's, times its
//     alignment. Joints that nobody plays go with their parents.
//  3. Scale. The source is scaled about the world's origin by the ratio of the
//     lengths of the legs, hip to knee to ankle. The floor stays at height 0.
//  4. Positions. Damped least squares over the whole body (ik.FullBody) take the
//     joints to their places in the scaled source, as far as the target's bones
//     allow. Ankles and toes count more than others. A joint that copied angles
//     leave far from its place throughout the clip, because the target is built
//     otherwise, is not pulled there: see Retargeter.Near and Far.
package retarget
