// Package routines writes routines for crowds: people who stand about, wave, point,
// clap, talk. Nothing of it is recorded: a few postures each, where hips, hands, elbows
// and head are, become keys by inverse kinematics, and a keypose.Stream makes the motion
// between them.
package routines

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"mannequin/animsys/keypose"
)

// Author writes the routines of one kind of person: of which hand they prefer, how they
// stand, how fast and how widely they move. All of an author's routines have the feet in
// the same places, so that who changes between them need not step.
type Author struct {
	figure
	seed  uint64
	tempo float32 // 1 is as it is written, more is slower
	size  float32 // of gestures, likewise
}

// NewAuthor returns the author of a seed for people of a layout. It is an error where the
// skeleton lacks a joint of the shipped people's.
func NewAuthor(l *keypose.Layout, seed uint64) (*Author, error) {
	a := &Author{seed: seed}
	r := a.rand("")
	a.tempo, a.size = between(r, 0.88, 1.18), between(r, 0.85, 1.05)
	if err := a.figure.init(l, r); err != nil {
		return nil, err
	}
	return a, nil
}

// written are the routines, by name, and what writes them.
var written = []struct {
	name  string
	write func(a *Author, s *score)
}{
	{"cheer", (*Author).cheer},
	{"clap", (*Author).clap},
	{"crouch", (*Author).crouch},
	{"idle", (*Author).idle},
	{"look", (*Author).look},
	{"point", (*Author).point},
	{"stretch", (*Author).stretch},
	{"talk", (*Author).talk},
	{"wave", (*Author).wave},
}

// Names returns the routines that there are, sorted.
func Names() []string {
	var names []string
	for _, w := range written {
		names = append(names, w.name)
	}
	return names
}

// Write returns the routine called name. It goes round: people do it, stand for some
// time, and do it again.
func (a *Author) Write(name string) (*keypose.PoseLoop, error) {
	i := slices.Index(Names(), name)
	if i < 0 {
		return nil, fmt.Errorf("routines: no routine is called %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	s := &score{rand: a.rand(name), tempo: a.tempo}
	s.stand(0.3)
	written[i].write(a, s)
	s.stand(0.4)
	keys, every := s.keys(&a.figure)
	return a.layout.NewPoseLoop(keys, every)
}

// rand returns the author's random numbers for a routine.
func (a *Author) rand(name string) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(a.seed, h))
}

func between(r *rand.Rand, lo, hi float32) float32 { return lo + (hi-lo)*r.Float32() }
