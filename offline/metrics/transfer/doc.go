// Package transfer measures how well motion in one style is translated into
// others: by package mar, and by the rivals in package baseline.
//
// [Evaluate] leaves takes out (Xia et al. 2015, sec. 7.2): a take of the input
// style and its counterparts in all other styles are held out, everything else is
// learnt from, and what a method makes of the held-out input is compared with the
// held-out counterpart on the registered timeline. [Set.Folds] says what is held
// out when, [Score] what is compared.
//
// [Far] measures input that is unlike all training data, where there is no truth:
// the output must be finite, and its joints no faster than the input's by much.
package transfer
