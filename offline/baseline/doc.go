// Package baseline holds the models that a transfer of style is measured
// against: linear time-invariant systems (Hsu, Pulli and Popović 2005, "Style
// translation for human motion"), one global autoregression (equation 2 of Xia
// et al. 2015, "Realtime style transfer for unlabeled heterogeneous human
// motion", without its locality) and Gaussian process regression (Ikemoto,
// Arikan and Forsyth 2009, "Generalizing motion edits with Gaussian
// processes").
//
// They are meant to be as good as their kind can be: where a paper leaves a
// choice open, such as an order or a length scale, it is made by held-out error
// or by likelihood, because a comparison with a weak rival says nothing.
//
// [Local] holds the local models without a mixture: nearest neighbour, means of
// neighbours, and one regression on them, on the windows of a style database.
//
// All others are fitted to [Pair] values, performances in two styles on one
// timeline, by [FitLTI], [FitGlobalAR] and [FitGP], and are then [Translator]
// values. A fit's result has the same bits for any number of workers.
package baseline
