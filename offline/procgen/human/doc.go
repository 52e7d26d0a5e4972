// Package human generates walking, running and standing people in styles from rules, without recordings:
// the eight of Xia et al. 2015 and nine more. The takes are a database for style transfer that is
// free for any use.
//
// [Generate] returns takes on the uniform skeleton (retarget.Human) at 60 frames a second, and the
// timelines on which they are registered. Every content (straight, circles, turns, faster, slower,
// from a stand, to a stand) is performed in every style from one script. So frames of two styles at
// equal Times show the same foot at the same point of its step and of the course. [Write] puts the
// takes into a folder as BVH files, under CC0.
//
// # How it works
//
// A script (script.go) has smooth curves over canonical time, which counts cycles of the gait: the
// pace, the turn per cycle, whether the person moves. A style (styles.go) is numbers that change a
// usual walk, run or stand (gait.go). With a cycle's length and duration it gives the course in
// metres and seconds (course.go). Each foot stands from a fixed point of the cycle for the style's
// duty factor, at its best place under the body in the middle of that time (foot.go). It rolls over
// heel, sole and ball, over points that do not move. Pelvis, chest, head and arms (trunk.go,
// arm.go) oscillate with the cycle. The pelvis sinks before a leg would be overstretched, evenly
// over a cycle. Then a triangle solves the leg exactly (leg.go).
package human
