// Package retarget puts motion of any skeleton onto a uniform one.
//
//   - [Open] reads a recording in any format that mocap.Open knows and returns its motion on
//     a skeleton.
//   - [Human] is the uniform skeleton: 25 joints, in a T-pose at rest.
//   - A [Profile] maps a file's joints to the skeleton's. [Profiles] are those of the usual
//     recordings, [Detect] finds the one that fits a skeleton, [Suggest] guesses one from
//     the joints' names, and [OpenProfile] reads one from a file.
//   - A [Retargeter] does the work for one clip. Its [Report] gives the joints' distances to
//     their recorded positions.
//
// A clip is retargeted in four steps:
//
//  1. Alignment. Each joint of the target gets a rotation from its frame at rest to that of
//     the source's joint. It is a rigid fit if several bones leave the joint (hips, chest),
//     otherwise the parent's alignment and the shortest arc between the bones' directions.
//     If the source's frames are turned about their bones, the profile says so (axes).
//  2. Angles. A joint's rotation in the world is the source's, times its alignment. Joints
//     without a source joint follow their parents.
//  3. Scale. The source is scaled about the world's origin by the ratio of the
//     lengths of the legs, hip to knee to ankle. The floor stays at height 0.
//  4. Positions. Damped least squares over the whole body (ik.FullBody) move the
//     joints to their positions in the scaled source, as far as the target's bones
//     allow. Ankles and toes count more than others. If copied angles leave a joint far from
//     its position throughout the clip, because the target has other proportions, it is not
//     pulled there: see Retargeter.Near and Far.
package retarget
