// Package procgen makes motion of a quadruped from rules, without recordings:
// something to train a network on that anybody may use for anything.
//
// # What it makes
//
// A dog of the joints of feature.Dog, with proportions of its own (Skeleton),
// that walks, paces, trots and canters with the footfalls of living dogs
// (gait.go), starts, stops, turns, steps aside and back, idles, sits, lies,
// stands on its hind legs and jumps. Generate makes clips, each in a style of
// its own: tempo, height of the trunk, carriage of head and tail, width of the
// track. Write puts them into a folder as dataset.BuildMANN reads it.
//
// # How
//
// A clip is laid down as beats on a timeline of curves (timeline.go, beats.go):
// speeds, turn, stride rate, duty factor, the phase of the stride at which each
// leg lands, and the parameters of the posture. All are quintics from where they
// were to a new value at rest, so that they have two continuous derivatives
// whatever interrupts what. A change of gait moves the legs' phases the shortest
// way round.
//
// The walker (walker.go) then knows the whole course, and looks ahead. The
// phases tell when each paw stands; it stands where its best place under the
// body is in the middle of that time, and does not step where it would step on
// the spot: starts, stops and turns on the spot need no rules of their own
// (feet.go). The trunk follows the course with the gait's own oscillations;
// where a standing leg would be too short, hips or chest sink beforehand
// (body.go). Legs are three bones of which two keep a fixed angle, so that a
// triangle solves them exactly (leg.go); the thigh and the metatarsus of the
// hind leg are such a pair, as in living animals.
//
// Standing paws do not move at all, and touch the ground at height 0.
package procgen
