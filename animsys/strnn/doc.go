// Package strnn predicts people's motion, 30 frames per second, with a spatio-temporal recurrent
// network: it continues some frames by some more, again and again (Wang, Ho, Shum and Zhu 2019). By
// task:
//
//   - Open a model: [NewModel]; write one: [Describe]
//   - Drive a crowd, as a generator of package animsys: [Model.NewStream]
//   - Steer an agent: [Steer]; see where it goes: [Stream.Preview]
//   - Continue recorded motion, in batches: [Model.NewPredictor], [Predictor.Extend],
//     [Predictor.Predict]; sample different futures: [Predictor.SetSampling]
//   - Continue motion along a path: [BodyMotionAlong], [Model.NewController], [Controller.Run]; as
//     in the paper, by fine-tuning: [Model.NewFineTuner]
//   - Train the guide that steers crowds: [Model.TrainGuide], [Guide.Encode]
//   - Remove noise from motion: [Model.NewDenoiser], [Denoiser.Denoise]; fill gaps: [Denoiser.Fill]
//   - Convert between 30 and 60 frames per second: [HalveRate], [DoubleRate]
//
// A motion is rows of frames, (frames, columns), laid out by feature.Motion: raw, in metres and
// seconds. A window of Encode frames leads to the next Predict frames. Latent values select one of
// the possible futures, in standard deviations; all 0 is the mean. +Y is up, +Z ahead; angles are
// in radians.
//
// docs/strnn.md describes training and results.
package strnn
