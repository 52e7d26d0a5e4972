package mar_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
)

// big returns a database of 80,000 frames, the size of Xia's, and a walk and a run that it does not
// hold.
var big = sync.OnceValues(func() (*mar.Database, []*registration.Take) {
	made, lines, err := human.Generate(human.Options{Seed: 1, Minutes: 24, Actions: []string{human.Walk, human.Run}})
	if err != nil {
		panic(err)
	}
	frames := 0
	made = slices.DeleteFunc(made, func(t *registration.Take) bool {
		frames += t.Clip.Frames
		return frames > 80000
	})
	db, err := registration.Database(made, lines)
	if err != nil {
		panic(err)
	}
	others, _, err := human.Generate(human.Options{Seed: 2, Minutes: 5})
	if err != nil {
		panic(err)
	}
	others = slices.DeleteFunc(others, func(t *registration.Take) bool { return t.Style != "neutral" })
	return db, others
})

// BenchmarkStep is a frame of one character, of whom nothing is known, on a database of 80,000
// frames.
func BenchmarkStep(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	db, others := big()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if d := after.HeapAlloc - before.HeapAlloc; d < 1<<40 && d > 1<<20 {
		b.Logf("%d frames: %.0f MB with what they were made of", db.Frames(), float64(d)/1e6)
	}
	for _, c := range []struct {
		action string
		known  bool
		styles int
	}{{human.Walk, false, 1}, {human.Walk, false, 3}, {human.Run, false, 1}, {human.Stand, false, 1}, {human.Walk, true, 1}} {
		var clips []*skel.Clip
		for _, t := range others {
			if t.Action == c.action {
				clips = append(clips, t.Clip)
			}
		}
		b.Run(fmt.Sprintf("%s/known=%v/styles=%d", c.action, c.known, c.styles), func(b *testing.B) {
			s, err := db.NewStyleTranslator(mar.StyleTranslatorOptions{Characters: 1, Workers: 1})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			for _, name := range []string{"proud", "old", "angry"}[:c.styles] {
				s.Weights[slices.Index(db.Styles, name)] = 1 / float32(c.styles)
			}
			if c.known {
				s.Labels[0].Styles = 1 << slices.Index(db.Styles, "neutral")
				s.Labels[0].Actions[0] = 1 << slices.Index(db.Actions, c.action)
			}
			b.ReportAllocs()
			clip, f := 0, 0
			for b.Loop() {
				pos, rot := clips[clip].Frame(f)
				s.Step(0, pos, rot)
				if f++; f == clips[clip].Frames {
					clip, f = (clip+1)%len(clips), 0
					s.Reset(0)
				}
			}
		})
	}
}

// BenchmarkCrowd is a tick of fifty characters on two workers, of whom nothing is known.
func BenchmarkCrowd(b *testing.B) {
	const n = 50
	db, others := big()
	s, err := db.NewStyleTranslator(mar.StyleTranslatorOptions{Characters: n, Workers: 2})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	joints := db.Skeleton().Len()
	pos, rot := make([]m3.Vec3, n*joints), make([]m3.Quat, n*joints)
	others = slices.DeleteFunc(slices.Clone(others), func(t *registration.Take) bool { return t.Action == human.Stand })
	for c := range n {
		s.Weights[c*len(db.Styles)+c%len(db.Styles)] = 1
	}
	var all []int32
	for c := range n {
		all = append(all, int32(c))
	}
	f := 0
	b.ReportAllocs()
	for b.Loop() {
		for c := range n {
			clip := others[c%len(others)].Clip
			p, r := clip.Frame((f + 7*c) % clip.Frames)
			copy(pos[c*joints:], p)
			copy(rot[c*joints:], r)
		}
		s.Run(all, pos, rot)
		f++
	}
}
