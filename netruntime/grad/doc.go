// Package grad is a reverse-mode tape over float32 matrices. It trains networks, and edits motion
// through a frozen network at run time.
//
// A pass builds a graph by calling operations on a [Tape]. Then [Tape.Backward] walks it in
// reverse:
//
//	t := grad.NewTape(grad.NewPool(workers)) // once
//	t.Reset()
//	x := t.Const(batch, in)        // fill x.Val
//	y := t.Dense(x, w, b)          // w, b are *Param
//	loss := t.MSE(t.ELU(y), want)
//	t.Backward(loss)               // w.Grad, b.Grad hold the gradient
//
// The tape keeps every buffer for the next pass, so passes of equal shapes allocate nothing after
// the first.
//
// Sequences are matrices of batch·length rows, the frames of the first sequence before those of the
// second. Operations over time take the length. They never read across the border of two sequences.
//
// The operations, by kind:
//
//   - layers: [Tape.Dense], [Tape.Blend] (mixture of experts), [Tape.Conv],
//     [Tape.DenseT] and [Tape.ConvT] (tied weights), [Tape.LSTM],
//     [Tape.LSTMStep], [Tape.BatchNorm], [Tape.Dropout], [Tape.Bias]
//   - activations: [Tape.ELU], [Tape.ReLU], [Tape.Sigmoid], [Tape.Tanh],
//     [Tape.Exp], [Tape.Softmax]
//   - over time: [Tape.MaxPool], [Tape.Depool], [Tape.Frames], [Tape.Join],
//     [Tape.Reverse], [Tape.Diff], [Tape.Gram], [Tape.Pin] (corrections that
//     vanish at pinned frames)
//   - skeletons: [Tape.FK] (forward kinematics)
//   - columns and shapes: [Tape.Concat], [Tape.Columns], [Tape.Gather],
//     [Tape.Reshape], [Tape.Norm]
//   - arithmetic: [Tape.Add], [Tape.Sub], [Tape.Mul], [Tape.Scale],
//     [Tape.Affine]
//   - losses: [Tape.MSE], [Tape.MAE], [Tape.Sum], [Tape.Mean],
//     [Tape.SumSquares], [Tape.SumAbs], [Tape.WeightedSum]; [Tape.Param] makes
//     a parameter an operand, such as of a penalty
//
// [Tape.Input] returns a matrix with a gradient. To edit motion, descend along it with every
// parameter frozen; frozen parameters cost nothing.
//
// [Network] is the network of a model file on a tape, with its weights as parameters, to fine-tune
// and to restore.
//
// Results have the same bits for any number of workers of the pool.
package grad
