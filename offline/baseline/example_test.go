package baseline_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mannequin/offline/baseline"
)

// A style that swings an arm more slowly than the input does, half as far, and a little higher.
func ExampleFitLTI() {
	perform := func(frames int, rate float64) baseline.Pair {
		p := baseline.Pair{X: mat.NewDense(frames, 1, nil), Y: mat.NewDense(frames, 1, nil), Step: make([]float64, frames)}
		y := 0.2
		for t := range frames {
			x := 0.6 * math.Sin(rate*float64(t)) * math.Cos(0.013*float64(t))
			y += 0.3 * (0.5*x + 0.2 - y)
			p.X.Set(t, 0, x)
			p.Y.Set(t, 0, y)
			p.Step[t] = 1.25
		}
		return p
	}
	model, err := baseline.FitLTI([]baseline.Pair{perform(300, 0.11), perform(300, 0.17)}, baseline.LTIOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fresh := perform(200, 0.14)
	y, step, err := model.Translate(fresh.X)
	if err != nil {
		fmt.Println(err)
		return
	}
	orders, _ := model.Orders()
	fmt.Printf("order %d, at frame 150: %.3f of %.3f, steps of %.2f\n", orders[0], y.At(150, 0), fresh.Y.At(150, 0), step[150])
	// Output: order 1, at frame 150: 0.108 of 0.108, steps of 1.25
}
