// Package procgen generates motion of a quadruped from rules, without recordings. Networks trained
// on it are free for any use.
//
// [Generate] makes clips, [Write] puts them into a folder that dataset.BuildMANN reads. [Skeleton]
// is the animal: a dog with the joints of feature.Dog and proportions of its own. It walks, paces,
// trots and canters with the footfalls of living dogs (gait.go), starts, stops, turns, steps aside
// and back, idles, sits, lies, stands on its hind legs and jumps. Each clip has a style of its own:
// tempo, height of the trunk, carriage of head and tail, width of the track.
//
// # How it works
//
// director.go chooses what a clip shows. Its beats (beats.go) set curves on a timeline
// (timeline.go): speeds, turn, stride rate, duty factor, the phase at which each leg lands, and the
// parameters of the posture (posture.go). Curves are quintics with two continuous derivatives,
// whatever interrupts what. A change of gait moves the legs' phases the shortest way round.
//
// The walker (walker.go) knows the whole course and looks ahead. Phases say when each paw stands:
// where its best place under the body is in the middle of that time. It skips a step that would
// return to the same spot, so starts, stops and turns need no rules of their own (feet.go). The
// trunk follows the course with the gait's oscillations (body.go). Hips or chest sink before a
// standing leg would be too short. Two of a leg's three bones keep a fixed angle, in the hind leg
// thigh and metatarsus as in living animals: a triangle solves the leg exactly (leg.go).
//
// Standing paws do not move at all and touch the ground at height 0.
package procgen
