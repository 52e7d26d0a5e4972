// Package grad is a reverse-mode tape over float32 matrices: it trains the
// networks, and at run time it edits motion through a frozen one.
//
// A pass builds the graph by calling operations on a [Tape], then
// [Tape.Backward] walks it in reverse:
//
//	t.Reset()
//	x := t.Const(batch, in)        // fill x.Val
//	y := t.Dense(x, w, b)          // w, b are *Param
//	loss := t.MSE(t.ELU(y), want)
//	t.Backward(loss)               // w.Grad, b.Grad hold the gradient
//
// The tape keeps every buffer and reuses it in the next pass, so passes of
// equal shapes allocate nothing after the first.
//
// Operations: [Tape.Dense], [Tape.Blend] (mixture of experts), [Tape.ELU],
// [Tape.Softmax], [Tape.Dropout], [Tape.Gather], [Tape.MSE].
//
// Results are the same bits for any number of workers of the pool.
package grad
