package latent_test

import (
	"fmt"
	"log"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/latent"
	humanlatent "mannequin/models/human-latent"
)

// Somebody walks in long steps, a little to the left: four clips, of which the turn
// and the step are set and all else follows from how the one before ends.
func ExampleCoder_Append() {
	net, err := humanlatent.Open()
	if err != nil {
		log.Fatal(err)
	}
	model, err := latent.NewModel(net)
	if err != nil {
		log.Fatal(err)
	}
	coder, err := model.NewCoder(latent.CoderOptions{Batch: 128, Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer coder.Close()
	held, components := make([]bool, model.Values), make([]float32, model.Values)
	for k, name := range model.Components.Names {
		switch name {
		case "turn":
			held[k], components[k] = true, 0.5 // deviations of the recordings
		case "step":
			held[k], components[k] = true, 1
		case "lead": // of the first clip: the left leg
			components[k] = 1
		}
	}
	var rows []float32
	for range 4 {
		if rows, _, err = coder.Append(rows, components, held); err != nil {
			log.Fatal(err)
		}
	}
	clip, err := model.Clip(rows, latent.Rate, feature.Place{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(clip.Frames, "frames of", clip.Skel.Len(), "joints")
	// Output: 151 frames of 30 joints
}

// One clip is decoded in less than a millisecond, and a crowd's in one batch.
func BenchmarkDecode(b *testing.B) {
	net, err := humanlatent.Open()
	if err != nil {
		b.Fatal(err)
	}
	model, err := latent.NewModel(net)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ clips, workers int }{{1, 1}, {200, 1}, {200, 2}} {
		b.Run(fmt.Sprintf("clips=%d/workers=%d", c.clips, c.workers), func(b *testing.B) {
			coder, err := model.NewCoder(latent.CoderOptions{Batch: c.clips, Workers: c.workers})
			if err != nil {
				b.Fatal(err)
			}
			defer coder.Close()
			rows, z := make([]float32, c.clips*latent.Frames*model.Layout.Columns()), make([]float32, c.clips*model.Values)
			for b.Loop() {
				if err := coder.Decode(rows, z, c.clips); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
