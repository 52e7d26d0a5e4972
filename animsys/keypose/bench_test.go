package keypose_test

import (
	"testing"

	"mannequin/animsys/keypose"
	"mannequin/internal/testing/must"
	humankeypose "mannequin/models/human-keypose"
	"mannequin/offline/procgen/human"
)

// BenchmarkFill fills four seconds of motion between keys every half second, on one core.
func BenchmarkFill(b *testing.B) {
	net := must.Get(humankeypose.Open())(b)
	model := must.Get(keypose.NewModel(net))(b)
	inbetweener := must.Get(model.NewInbetweener(keypose.InbetweenerOptions{Workers: 1}))(b)
	defer inbetweener.Close()
	takes, _, err := human.Generate(human.Options{Seed: 1, Minutes: 0.2, Styles: []string{"neutral"}})
	if err != nil {
		b.Fatal(err)
	}
	track := model.Layout.NewTrack(241, 60)
	track.SetClip(takes[0].Clip, 0, 1)
	for f := 0; f < track.Frames; f += 30 {
		track.Key(f)
	}
	b.ReportAllocs()
	for b.Loop() {
		must.Do(b, inbetweener.Fill(track, nil))
	}
	b.ReportMetric(float64(track.Frames)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}
