// Package testmatching makes databases for motion matching from motion that rules make: nothing in them is recorded.
package testmatching

import (
	"slices"
	"sync"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/matching"
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

var dogs = sync.OnceValues(func() (*matching.Database, error) {
	takes, err := procgen.Generate(procgen.Options{Minutes: 5})
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
})
