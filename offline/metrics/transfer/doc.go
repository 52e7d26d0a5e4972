// Package transfer measures how well motion is translated from one style into others, by package
// mar and by the models of package baseline.
//
// [Evaluate] holds takes out (Xia et al. 2015, sec. 7.2): a take of the input style and its
// counterparts in all other styles. Each method learns from the rest and translates the held-out
// input. The output is compared with the held-out counterpart on the registered timeline.
// [Set.Folds] chooses what is held out, [Score] is the comparison.
//
// [Far] measures input unlike all training data, without a truth: the output must be finite, and
// its joints not much faster than the input's. [Time] measures the cost of a frame.
package transfer
