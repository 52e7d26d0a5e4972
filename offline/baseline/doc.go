// Package baseline fits the models that style transfer is compared with.
//
//   - [FitLTI]: linear time-invariant systems (Hsu, Pulli and Popović 2005, "Style translation for human
//     motion").
//   - [FitGlobalAR]: one global autoregression (equation 2 of Xia et al. 2015, "Realtime style transfer
//     for unlabeled heterogeneous human motion", without its locality).
//   - [FitGP]: Gaussian process regression (Ikemoto, Arikan and Forsyth 2009, "Generalizing motion edits
//     with Gaussian processes").
//   - [Local]: nearest neighbour, means of neighbours and one regression on them, on the windows of a style
//     database.
//   - [NewRecurrent]: recurrent networks, which predict motion.
//
// The first three are fitted to [Pair] values, which are performances in two styles on one
// timeline. The result is a [Translator], with the same bits for any number of workers.
//
// The models should be as good as their kind can be. Choices that a paper leaves open, such as an
// order or a length scale, are made by held-out error or by likelihood.
package baseline
