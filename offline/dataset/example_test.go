package dataset_test

import (
	"fmt"

	"mannequin/offline/dataset"
)

// Rows to train a dog on, and rows of six recordings that are held out.
func ExampleBuildMANN() {
	train, heldOut, err := dataset.BuildMANN("data/dog", dataset.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range train.Order { // an epoch, before shuffling
		x, y := train.Input(int(r)), train.Output(int(r))
		_, _ = x, y
	}
	fmt.Println(heldOut.Rows, "rows to test on")
}
