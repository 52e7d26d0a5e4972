// Package routines writes pose loops for crowds: people who stand idle, wave, point, clap, talk. By
// task:
//
//   - A person with its own handedness, tempo and size: [NewAuthor]
//   - The names of its loops: [Names]; one of them: [Author.Write]
//
// Nothing is recorded. Each loop is a few postures, with positions of hips, hands, elbows and head;
// inverse kinematics turns them into keys, and a keypose.Stream makes the motion between them.
package routines

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"mannequin/animsys/keypose"
)

// Author writes the pose loops of one person: its main hand, stance, tempo and size of gestures.
// All loops of an author have the feet in the same places, so changing between them needs no step.
type Author struct {
	figure
	seed  uint64
	tempo float32 // 1 is as written, more is slower
	size  float32 // of gestures, 1 is as written
}

// NewAuthor returns the author of a seed for people of a layout. It fails if the skeleton lacks a
// joint of the shipped people's.
func NewAuthor(l *keypose.Layout, seed uint64) (*Author, error) {
	if l.Skel == nil {
		return nil, errors.New("routines: a layout without joints: make one with keypose.NewLayout")
	}
	a := &Author{seed: seed}
	r := a.rand("")
	a.tempo, a.size = between(r, 0.88, 1.18), between(r, 0.85, 1.05)
	if err := a.figure.init(l, r); err != nil {
		return nil, err
	}
	return a, nil
}

// written are the loops, by name, with their writers.
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

// Names returns the names of the loops, sorted.
func Names() []string {
	var names []string
	for _, w := range written {
		names = append(names, w.name)
	}
	return names
}

// Write returns the loop called name: people do it, stand for some time, and repeat.
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

// rand returns the author's random numbers for a loop.
func (a *Author) rand(name string) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(a.seed, h))
}

func between(r *rand.Rand, lo, hi float32) float32 { return lo + (hi-lo)*r.Float32() }
