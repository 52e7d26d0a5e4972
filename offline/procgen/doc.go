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
// The walker (walker.go) knows the whole course and looks ahead. Phases say when each paw stands.
// It stands where its best place under the body is in the middle of that time, and skips a step
// that would return to the same spot. So starts, stops and turns on the spot need no rules of their
// own (feet.go). The trunk follows the course with the gait's oscillations (body.go). If a standing
// leg would be too short, hips or chest sink beforehand. Two of a leg's three bones keep a fixed
// angle, so that a triangle solves the leg exactly (leg.go). In the hind leg these are thigh and
// metatarsus, as in living animals.
//
// Standing paws do not move at all and touch the ground at height 0.
package procgen
