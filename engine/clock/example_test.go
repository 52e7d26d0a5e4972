package clock_test

import (
	"fmt"
	"time"

	"mannequin/engine/clock"
)

// A loop takes the steps that the frame's time calls for, and renders between two.
func ExampleFixed() {
	c, err := clock.New(60, 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, frame := range []time.Duration{25 * time.Millisecond, 25 * time.Millisecond, 5 * time.Millisecond} {
		steps := c.Advance(frame)
		fmt.Printf("%d steps, then draw %.1f of the way\n", steps, c.Alpha())
	}
	// Output:
	// 1 steps, then draw 0.5 of the way
	// 2 steps, then draw 0.0 of the way
	// 0 steps, then draw 0.3 of the way
}
