package keypose_test

import (
	"fmt"
	"log"

	"mannequin/animsys/keypose"
	humankeypose "mannequin/models/human-keypose"
	"mannequin/offline/procgen/human"
)

// Fill the motion between three poses of a walk, and lock the feet.
func Example() {
	net, err := humankeypose.Open()
	if err != nil {
		log.Fatal(err)
	}
	model, err := keypose.NewModel(net)
	if err != nil {
		log.Fatal(err)
	}
	inbetweener, err := model.NewInbetweener(keypose.InbetweenerOptions{Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer inbetweener.Close()

	takes, _, err := human.Generate(human.Options{Seed: 1, Minutes: 0.2, Styles: []string{"neutral"}})
	if err != nil {
		log.Fatal(err)
	}
	walk := takes[0].Clip
	var keys keypose.Keys
	for _, f := range []int{0, 40, 90} {
		pos, rot := walk.Frame(f)
		keys.Keys = append(keys.Keys, keypose.Key{Time: float64(f) / 60, Pos: pos, Rot: rot})
	}
	track, err := model.Layout.Track(keys, 60)
	if err != nil {
		log.Fatal(err)
	}
	stand := make([]float32, track.Frames*keypose.Feet)
	if err := inbetweener.Fill(track, stand); err != nil {
		log.Fatal(err)
	}
	lock, err := model.Layout.NewFootLock()
	if err != nil {
		log.Fatal(err)
	}
	if err := lock.Apply(track, stand); err != nil {
		log.Fatal(err)
	}
	clip := track.Clip()
	_, rot := clip.Frame(40)
	_, want := walk.Frame(40)
	spine := clip.Skel.Index("Spine")
	fmt.Printf("%d frames; the second key is met: %t\n", clip.Frames, rot[spine].Angle(want[spine]) < 1e-3)
	// Output: 91 frames; the second key is met: true
}
