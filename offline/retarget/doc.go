// Package retarget puts motion of any skeleton onto a uniform one.
//
//   - [Open] reads a recording in any format that mocap.Open knows and returns its motion on
//     a skeleton.
//   - [Human] is the uniform skeleton: 25 joints, in a T-pose at rest.
//   - A [Profile] maps a file's joints to the skeleton's. [Profiles] are those of the usual
//     recordings, [Detect] finds the one that fits a skeleton, [Suggest] guesses one from
//     the joints' names, and [OpenProfile] reads one from a file.
//   - [Upright] turns a recording of a person to y up and right-handed axes, on its own skeleton.
//   - A [Retargeter] does the work for one clip. Its [Report] gives the joints' distances to
//     their recorded positions.
//
// A clip is retargeted in six steps:
//
//  1. Axes. Up is the axis along which the person stands in most frames. If toes and knees point
//     to the back, by the joints' left and right, the source is left-handed and is mirrored.
//  2. Alignment. Each joint of the target gets a rotation from its frame at rest to that of
//     the source's joint: the parent's alignment and the shortest arc between the bones' directions, in
//     the source's rest pose if that is a person's. If not, the mean pose of the motion takes its
//     place, and the axes of knees and elbows say how limbs are turned about their bones. The pelvis,
//     and in other trunks than ours the chest, is aligned by the body's stance, so that it is upright
//     in people who stand. A profile may declare the frames (axes).
//  3. Angles. A joint's rotation in the world is the source's, times its alignment. Joints
//     without a source joint follow their parents.
//  4. Scale. The source is scaled about the world's origin by the ratio of the
//     lengths of the legs, hip to knee to ankle. The floor stays at height 0.
//  5. Positions. Damped least squares over the whole body (ik.FullBody) move the
//     joints to their positions in the scaled source, as far as the target's bones
//     allow. Ankles and toes count more than others. If copied angles leave a joint far from
//     its position throughout the clip, because the target has other proportions, it is not
//     pulled there: see Retargeter.Near and Far. If the hips are elsewhere in the source's pelvis,
//     the pelvis keeps its copied angles and the trunk is not pulled along itself. Legs of toys are
//     brought under the hips, and onto the ground.
//  6. Hands. A hand that leans on the ground in the source does so here, though the arms have other lengths.
package retarget
