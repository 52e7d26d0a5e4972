// Package mar gives a style to people's motion while it streams in, by task:
//
//   - Read or make a database of recordings in styles: [Open], [Decode], [NewDatabase],
//     [Database.Encode]
//   - Translate the motion of many characters into blends of styles, frame by frame:
//     [Database.NewStyleTranslator], [StyleTranslator.Step], [StyleTranslator.Run]
//   - Choose styles: [StyleTranslator].Weights; say what is known of the input:
//     [Database.InStyle], [Label]
//   - Play the output at a fixed rate, although styles are faster or slower than one another:
//     [Database.NewRetimer], [Retimer.Push]
//   - Look into a database: [Database.Row], [Database.Counterpart], [StyleTranslator.Nearest]
//
// The method is that of Xia, Wang, Chai and Hodgins, "Realtime Style Transfer for Unlabeled
// Heterogeneous Human Motion" (2015): local mixtures of autoregressive models.
//
// A [Database] holds takes of actions in styles. All takes of an action are on one timeline
// (package registration puts them there), so every frame has counterparts in the other styles. A
// class is an action in a style.
//
// # How a frame is translated
//
// The last [Window] poses are compared with those of the database, whatever their heading and
// place. The nearest windows of each class are found exactly (search.go). From them and their
// counterparts, a ridge regression is fitted for each degree of freedom. It maps the input, the
// input before and the output before to the output (regress.go). The predictions of the classes are
// blended by distance. Classes that weigh less than a hundredth of the nearest are left out, mostly
// without a search, because a pose moves little in a frame. Time passes in the output as it does
// for the neighbours.
//
// # Differences from the paper
//
// Near neighbours count more than far ones ([Options.Focus]), because K = 40 is much of a small
// class. Styles are blended in the data of the regression, not in its parameters: one regression
// serves any blend. Rotation vectors of joints start from a posture in the middle of the data,
// where they do not wrap. Windows are compared by principal components that hold all but 2·10⁻⁶ of
// the variance.
package mar
