package latent_test

import (
	"fmt"
	"log"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/latent"
	"mannequin/internal/testing/must"
	humanlatent "mannequin/models/human-latent"
)

// Chain four clips of a walk with long steps, a little to the left. Turn and step are set; everything
// else follows from the end of the clip before.
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
			held[k], components[k] = true, 0.5 // standard deviations of the training data
		case "step":
			held[k], components[k] = true, 1
		case "lead": // the first clip begins with the left leg
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

// BenchmarkDecode decodes one clip, and those of a crowd in one batch.
func BenchmarkDecode(b *testing.B) {
	net := must.Get(humanlatent.Open())(b)
	model := must.Get(latent.NewModel(net))(b)
	for _, c := range []struct{ clips, workers int }{{1, 1}, {200, 1}, {200, 2}} {
		b.Run(fmt.Sprintf("clips=%d/workers=%d", c.clips, c.workers), func(b *testing.B) {
			coder := must.Get(model.NewCoder(latent.CoderOptions{Batch: c.clips, Workers: c.workers}))(b)
			defer coder.Close()
			rows, z := make([]float32, c.clips*latent.Frames*model.Layout.Columns()), make([]float32, c.clips*model.Values)
			for b.Loop() {
				must.Do(b, coder.Decode(rows, z, c.clips))
			}
		})
	}
}
