package chart_test

import (
	"fmt"
	"os"
	"path/filepath"

	"mannequin/offline/chart"
)

func ExampleChart_Save() {
	dir, err := os.MkdirTemp("", "chart")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	c := chart.Chart{
		Title: "Loss", XLabel: "epoch", YLabel: "mean squared error", LogY: true,
		Series: []chart.Series{
			{Name: "train", X: []float64{1, 2, 3}, Y: []float64{0.8, 0.3, 0.2}},
			{Name: "held out", X: []float64{1, 3}, Y: []float64{0.9, 0.4}},
		},
	}
	fmt.Println(c.Save(filepath.Join(dir, "loss.svg")), c.Save(filepath.Join(dir, "loss.bmp")) != nil)
	// Output: <nil> true
}
