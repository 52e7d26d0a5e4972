// Package mar gives people's motion a style while it streams in, as Xia, Wang, Chai
// and Hodgins describe in "Realtime Style Transfer for Unlabeled Heterogeneous Human
// Motion" (2015): local mixtures of autoregressive models.
//
//   - A [Database] holds takes of actions in styles. Takes of an action are on one
//     timeline (package registration puts them there), so that every frame has
//     counterparts in the other styles. [Open] reads one from a file, [NewDatabase]
//     makes one.
//   - A [Stylist] translates the motion of many characters, a frame at a time, into
//     any blend of styles; nothing need be known of the input.
//   - A [Retimer] lays the frames that come out on a clock: styles are faster and
//     slower than one another.
//
// # How a frame is translated
//
// The last [Window] poses are compared with those of the database, however they are
// turned and wherever they stand, and the nearest of each class, which is an action
// in a style, are found exactly (search.go). From them and their counterparts a
// ridge regression is fitted for each degree of freedom, from the input, the input
// before and the output before to the output (regress.go). What the classes say is
// blended by how near they are; those that weigh less than a hundredth of the
// nearest are left out, mostly without a search, since a pose moves only so far in
// a frame. Time passes in the output as in the neighbours'.
//
// # What differs from the paper
//
// Near neighbours count more than far ones ([Options.Focus]): K = 40 of them are
// much of a small class. Styles are blended in the data that are regressed on, not
// in the parameters afterwards: one regression serves any blend. Joints' rotation
// vectors are taken from a posture in the middle of the data, where they do not
// wrap. Places in windows are compared by their principal components, which hold
// all but 2·10⁻⁶ of them.
package mar
