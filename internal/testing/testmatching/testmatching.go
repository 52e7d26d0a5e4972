// Package testmatching makes databases for motion matching from motion that rules make: nothing in them is recorded.
package testmatching

import (
	"math"
	"slices"
	"sync"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/procgen"
	"mannequin/offline/procgen/human"
)

// People returns a database of a person who walks, runs and stands.
func People(t testing.TB) *matching.Database {
	t.Helper()
	return must.Get(people())(t)
}

var people = sync.OnceValues(func() (*matching.Database, error) {
	takes, _, err := human.Generate(human.Options{Actions: []string{human.Walk, human.Run, human.Stand}, Styles: []string{"neutral"}})
	if err != nil {
		return nil, err
	}
	var clips []matching.Clip
	for _, t := range takes {
		clips = append(clips, matching.Clip{Name: t.Name, Motion: t.Clip})
	}
	return matching.Build(takes[0].Clip.Skel, clips, matching.Options{})
})

// Dogs returns a database of a dog in all gaits and actions.
func Dogs(t testing.TB) *matching.Database {
	t.Helper()
	return must.Get(dogs())(t)
}

var dogs = sync.OnceValues(func() (*matching.Database, error) { return Minutes(5) })

// Minutes returns a database of some minutes of a dog in all gaits and actions.
func Minutes(n float64) (*matching.Database, error) {
	takes, err := procgen.Generate(procgen.Options{Minutes: n})
	if err != nil {
		return nil, err
	}
	var clips []matching.Clip
	var names []string
	for a := range control.NumActions {
		names = append(names, a.String())
	}
	for _, t := range takes {
		c := matching.Clip{Name: t.Name, Motion: t.Clip}
		for _, a := range t.Labels().Actions() {
			var tags matching.Tags
			if i := slices.Index(names, a); i >= 0 {
				tags = 1 << i
			}
			c.Tags = append(c.Tags, tags)
		}
		clips = append(clips, c)
	}
	return matching.Build(takes[0].Clip.Skel, clips, matching.Options{Tags: names})
}

// Own are the actions that Actors have of their own.
const (
	Crouch = "crouch" // stands and walks, low
	Roll   = "roll"   // once, a metre ahead
	Death  = "death"  // once, and stays down
)

// Actors returns the database of People with actions of its own.
func Actors(t testing.TB) *matching.Database {
	t.Helper()
	return must.Get(actors())(t)
}

var actors = sync.OnceValues(func() (*matching.Database, error) {
	takes, _, err := human.Generate(human.Options{Minutes: 1, Actions: []string{human.Walk, human.Run, human.Stand}, Styles: []string{"neutral"}})
	if err != nil {
		return nil, err
	}
	tags := []string{"idle", "move", Death, Crouch, Roll}
	tag := func(name string) []matching.Tags { return []matching.Tags{1 << slices.Index(tags, name)} }
	var clips []matching.Clip
	var stand *skel.Clip
	for _, t := range takes {
		if stand == nil && t.Action == human.Stand {
			stand = t.Clip
		}
		clips = append(clips, matching.Clip{Name: t.Name, Motion: t.Clip, Tags: tag("move")})
		if t.Action != human.Run {
			low := lowered(t.Clip, func(int) float32 { return 0.25 }, 0)
			clips = append(clips, matching.Clip{Name: t.Name + ", low", Motion: low, Tags: tag(Crouch)})
		}
	}
	const once = 50 // frames
	roll := lowered(stand.Section(0, once), func(f int) float32 { return 0.5 * m3.Sin(float32(f)*math.Pi/(once-1)) }, 1)
	death := lowered(stand.Section(0, once), func(f int) float32 { return 0.7 * float32(f) / (once - 1) }, 0)
	clips = append(clips, matching.Clip{Name: Roll, Motion: roll, Once: true, Tags: tag(Roll)},
		matching.Clip{Name: Death, Motion: death, Once: true, Holds: true, Tags: tag(Death)})
	return matching.Build(takes[0].Clip.Skel, clips, matching.Options{Tags: tags})
})

// lowered returns a clip whose hips are lower, and that goes some metres ahead besides.
func lowered(c *skel.Clip, by func(frame int) float32, ahead float32) *skel.Clip {
	out := *c
	out.Pos = slices.Clone(c.Pos)
	way := m3.YawQuat(c.Rot[0].Yaw()).Forward().Scale(ahead / float32(max(c.Frames-1, 1)))
	for f := range c.Frames {
		pos, _ := out.Frame(f)
		pos[0] = pos[0].Add(way.Scale(float32(f)))
		pos[0].Y -= by(f)
	}
	return &out
}
