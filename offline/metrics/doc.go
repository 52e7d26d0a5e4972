// Package metrics measures motion: how far feet slide, how far a character is from a path, how well
// predictions match recordings. Clips are in metres, in world space, over flat ground at height 0.
//
// # One clip
//
//   - [Measure]: all measures of a dog's clip; [DogLegs] finds its joints.
//   - [Skate], [Bend], [Low], [Height], [Speed], [Jerk], [Look], [Pitch]: one value per frame.
//   - [Contacts], [FootfallOf], [FootfallPicture]: when paws touch the ground, and the gait.
//   - [PathDeviation]: the distance of a walk from a path.
//
// # The quadruped controller
//
// A [Rollout] runs a model through the whole tick of package animsys, as a game does.
//
//   - [Generated], [Matched]: motion in each of the [Gaits], beside [GroundTruth] and [RecordedFootfalls].
//   - [Following]: paths, beside [PaperPaths].
//   - [SpeedsHeld], [Ways]: speeds, and steps back, aside and around.
//   - [Latencies], [Transitions]: time until an action shows, and jolts between [Modes]; [ActionPoses]
//     and [RecordedRates] have the recordings' figures.
//   - [Abilities]: what is left without some experts; [Without] switches one off.
//   - [Losses]: errors of a network's outputs.
//
// # People on a motion manifold
//
//   - [MeasurePeople], [Reconstruct]: edited and reconstructed motion.
//   - [MeasureDenoise], [MeasureFill]: noise and gaps, by each [Restorer].
//   - [FromSparse], [CorrectSparse], [MeasureSparse]: motion from a few poses.
//
// # Predicted and generated crowds
//
//   - [MeasureForecast], [Roll], [MeasureRollouts]: short and long predictions.
//   - [NewManifold]: the distance of motion from recordings.
//   - [MeasureControlled], [MeasureSTRNNCrowd], [MeasureLatentCrowd]: steered people.
//
// The measures of the quadruped follow Zhang, Starke et al. 2018, section 9.
package metrics
