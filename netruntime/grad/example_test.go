package grad_test

import (
	"fmt"

	"mannequin/netruntime"
	"mannequin/netruntime/grad"
)

// Fit y = 2x − 1 by gradient descent.
func Example() {
	pool := grad.NewPool(1)
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

// Find the input for which a frozen network gives a target, as editing motion at run time does.
// Only the input gets a gradient.
func ExampleTape_Input() {
	pool := grad.NewPool(1)
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

// Edit a motion in the hidden space of a frozen decoder: find the smallest hidden values whose
// motion passes through 1 in frame 2 and 3 in frame 5. The decoder determines the frames between.
func ExampleTape_Depool() {
	pool := grad.NewPool(1)
	defer pool.Close()
	const frames = 8
	w, b := grad.NewParam("decoder.weight", 1, 3), grad.NewParam("decoder.bias", 1, 1)
	copy(w.Val, []float32{0.5, 1, 0.5})
	w.Frozen, b.Frozen = true, true
	wish, matters := []float32{0, 0, 1, 0, 0, 3, 0, 0}, []float32{0, 0, 1, 0, 0, 1, 0, 0}

	t := grad.NewTape(pool)
	hidden, motion := make([]float32, frames/2), make([]float32, frames)
	for range 300 {
		t.Reset()
		h, target, mask := t.Input(frames/2, 1), t.Const(frames, 1), t.Const(frames, 1)
		copy(h.Val, hidden)
		copy(target.Val, wish)
		copy(mask.Val, matters)
		y := t.Conv(t.Depool(h, 2, false, 0), frames, w, b, 3, false)
		copy(motion, y.Val)
		t.Backward(t.WeightedSum(
			grad.Term{Loss: t.SumSquares(t.Mul(mask, t.Sub(y, target))), Weight: 1},
			grad.Term{Loss: t.SumSquares(h), Weight: 1e-4}))
		for i, g := range h.Grad {
			hidden[i] -= 0.3 * g
		}
	}
	fmt.Printf("%.2f", motion)
	// Output: [0.30 0.60 1.00 1.80 3.00 3.00 1.80 0.90]
}

// Fine-tune a model, y = 2x − 1, for another target, and restore it.
func ExampleNetwork() {
	model, err := netruntime.New(netruntime.Meta{Arch: "graph", Graph: &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: 1}},
		Nodes:   []netruntime.Node{{Name: "y", Op: netruntime.OpDense, In: []string{"x"}}},
		Outputs: []string{"y"},
	}}, []netruntime.Tensor{
		{Name: "y.weight", Shape: []int{1, 1}, Data: []float32{2}},
		{Name: "y.bias", Shape: []int{1}, Data: []float32{-1}},
	})
	if err != nil {
		panic(err)
	}
	net, err := grad.NewNetwork(model)
	if err != nil {
		panic(err)
	}
	pool := grad.NewPool(1)
	defer pool.Close()
	t := grad.NewTape(pool)
	run := func() *grad.Mat {
		t.Reset()
		x := t.Const(1, 1)
		x.Val[0] = 3
		return net.Forward(t, 1, x)[0]
	}
	for range 50 {
		y, want := run(), t.Const(1, 1)
		want.Val[0] = 7
		t.Backward(t.MSE(y, want))
		for _, p := range net.Params() {
			p.Val[0] -= 0.02 * p.Grad[0]
		}
	}
	fmt.Printf("%.2f\n", run().Val[0])
	net.Restore()
	fmt.Printf("%.2f\n", run().Val[0])
	// Output:
	// 7.00
	// 5.00
}
