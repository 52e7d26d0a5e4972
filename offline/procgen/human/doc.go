// Package human makes walking, running and standing people in eight styles from
// rules, without recordings: a database for style transfer that anybody may use
// for anything.
//
// # What it makes
//
// Generate returns takes on the uniform skeleton (retarget.Human) at 60 frames a
// second, and the timelines they are registered on. Every content (straight,
// circles, turns, faster, slower, from a stand, to a stand) is performed in every
// style from one script, so that frames of two styles at equal Times do the same
// thing: the same foot at the same point of its step, at the same point of the
// course. Write puts the takes into a folder as BVH files, under CC0.
//
// # How
//
// A script (script.go) is a set of smooth curves over canonical time, which counts
// cycles of the gait: how far the pace is from the usual, how much a cycle turns,
// whether the person goes at all. A style (styles.go) is a row of numbers, which
// changes those of a usual walk, run or stand (gait.go). It says how long a cycle
// lasts and how far it takes one, which lays the course out in metres and seconds
// (course.go). Each foot stands from a fixed place in the cycle for the style's
// duty factor, where its best place under the body is in the middle of that time
// (foot.go). It rolls over heel, sole and ball; the point it rolls over does not
// move at all. Pelvis, chest, head and arms (trunk.go, arm.go) oscillate with the
// cycle. Where a leg would be overstretched the pelvis is lowered beforehand, by
// about the same amount throughout a cycle, and then a triangle solves the leg
// exactly (leg.go).
package human
