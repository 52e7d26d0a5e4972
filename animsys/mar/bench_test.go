package mar_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
)

// big returns a database of 80,000 frames, the size of Xia's, and a walk and a run
// that it does not hold.
var big = sync.OnceValues(func() (*mar.Database, []*skel.Clip) {
	made, lines, err := human.Generate(human.Options{Seed: 1, Minutes: 80000.0 / 60 / 60})
	if err != nil {
		panic(err)
	}
	db, err := registration.Database(made, lines)
	if err != nil {
		panic(err)
	}
	others, _, err := human.Generate(human.Options{Seed: 2, Minutes: 5})
	if err != nil {
		panic(err)
	}
	var clips []*skel.Clip
	for _, t := range others {
		if t.Style == "neutral" {
			clips = append(clips, t.Clip)
		}
	}
	return db, clips
})

// BenchmarkStep is a frame of one character, of whom nothing is known, on a
// database of 80,000 frames.
func BenchmarkStep(b *testing.B) {
	db, clips := big()
	for _, labelled := range []bool{false, true} {
		for _, styles := range []int{1, 3} {
			b.Run(fmt.Sprintf("labelled=%v/styles=%d", labelled, styles), func(b *testing.B) {
				s, err := db.NewStylist(mar.StylistOptions{Characters: 1, Workers: 1})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				for i := range styles {
					s.Weights[slices.Index(db.Styles, [...]string{"proud", "old", "angry"}[i])] = 1 / float32(styles)
				}
				if labelled {
					s.Labels[0].Styles = 1 << slices.Index(db.Styles, "neutral")
					s.Labels[0].Actions[0] = 1 << slices.Index(db.Actions, "walk")
				}
				b.ReportAllocs()
				clip, f := 0, 0
				for b.Loop() {
					c := clips[clip]
					pos, rot := c.Frame(f)
					s.Step(0, pos, rot)
					if f++; f == c.Frames {
						clip, f = (clip+1)%len(clips), 0
						s.Reset(0)
					}
				}
				b.ReportMetric(float64(db.Frames()), "frames")
			})
		}
	}
}
