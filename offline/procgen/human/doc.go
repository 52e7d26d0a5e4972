// Package human generates walking, running and standing people in eight styles from rules, without
// recordings. The takes are a database for style transfer that is free for any use.
//
// [Generate] returns takes on the uniform skeleton (retarget.Human) at 60 frames a second, and the
// timelines on which they are registered. Every content (straight, circles, turns, faster, slower,
// from a stand, to a stand) is performed in every style from one script. So frames of two styles at
// equal Times show the same foot at the same point of its step and of the course. [Write] puts the
// takes into a folder as BVH files, under CC0.
//
// # How it works
//
// A script (script.go) is a set of smooth curves over canonical time, which counts cycles of the
// gait: the pace, the turn per cycle, whether the person moves at all. A style (styles.go) is a row
// of numbers that change a usual walk, run or stand (gait.go). With the length and the duration of
// a cycle it gives the course in metres and seconds (course.go). Each foot stands from a fixed
// point of the cycle for the style's duty factor, at its best place under the body in the middle of
// that time (foot.go). It rolls over heel, sole and ball, and the point it rolls over does not move
// at all. Pelvis, chest, head and arms (trunk.go, arm.go) oscillate with the cycle. If a leg would
// be overstretched, the pelvis is lowered beforehand, about evenly over a cycle. Then a triangle
// solves the leg exactly (leg.go).
package human
