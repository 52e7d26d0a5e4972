package grad_test

import (
	"fmt"

	"mannequin/internal/kernel"
	"mannequin/netruntime/grad"
)

// Fit y = 2x − 1 by gradient descent.
func Example() {
	pool := kernel.NewPool(1)
	defer pool.Close()
	t := grad.NewTape(pool)
	w, b := grad.NewParam("w", 1, 1), grad.NewParam("b", 1, 1)
	for range 200 {
		t.Reset()
		x, want := t.Const(4, 1), t.Const(4, 1)
		for i := range 4 {
			x.Val[i] = float32(i)
			want.Val[i] = 2*float32(i) - 1
		}
		t.Backward(t.MSE(t.Dense(x, w, b), want))
		w.Val[0] -= 0.1 * w.Grad[0]
		b.Val[0] -= 0.1 * b.Grad[0]
	}
	fmt.Printf("y = %.2fx %+.2f\n", w.Val[0], b.Val[0])
	// Output: y = 2.00x -1.00
}

// Find the input that a frozen network maps to a wish, as editing motion at
// run time does: the gradient goes to the input alone.
func ExampleTape_Input() {
	pool := kernel.NewPool(1)
	defer pool.Close()
	t := grad.NewTape(pool)
	w, b := grad.NewParam("w", 1, 1), grad.NewParam("b", 1, 1)
	w.Val[0], b.Val[0] = 2, -1
	w.Frozen, b.Frozen = true, true
	guess := float32(0)
	for range 100 {
		t.Reset()
		x, want := t.Input(1, 1), t.Const(1, 1)
		x.Val[0], want.Val[0] = guess, 5
		t.Backward(t.MSE(t.Dense(x, w, b), want))
		guess -= 0.1 * x.Grad[0]
	}
	fmt.Printf("%.2f\n", guess)
	// Output: 3.00
}
