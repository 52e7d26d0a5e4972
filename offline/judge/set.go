package judge

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"mannequin/offline/dataset"
	"mannequin/offline/retarget"
)

// Set holds the measures of several motions.
type Set struct {
	Name   string
	Files  []File
	Uneven []string // left out: see ReadOptions.Recorded

	series
	walkers walkers
	seconds []second
}

// File describes a motion of a set.
type File struct {
	Name    string    `json:"file"`
	Seconds float64   `json:"seconds"`
	Speeds  []float64 `json:"speeds_m_s"` // of the hips, means of 10 s each
}

// ReadOptions says how Read reads recordings.
type ReadOptions struct {
	Reading retarget.Reading // how motions on other skeletons are read
	// Recorded is set for recordings: tilted floors are levelled, and motions whose feet stand at several
	// heights are left out.
	Recorded bool
	Workers  int // goroutines; results do not depend on their number
}

// mostLevels is the range of heights of standing toes above which the ground is uneven, m.
const mostLevels = 0.06

// Read measures the motions in files as one set.
func Read(name string, paths []string, opt ReadOptions) (*Set, error) {
	opt.Reading.Note = nil
	s := &Set{Name: name, walkers: walkers{}}
	sets := make([]*Set, len(paths))
	err := dataset.Parallel(opt.Workers, len(paths), func(i int) error {
		sets[i] = &Set{walkers: walkers{}}
		m, err := Open(paths[i], opt.Reading)
		if err != nil {
			return err
		}
		if opt.Recorded {
			m.Level()
		}
		b := newBody(m)
		if opt.Recorded && b.levels() > mostLevels {
			sets[i].Uneven = paths[i : i+1]
			return nil
		}
		person := paths[i]
		if opt.Recorded { // recordings
			person = personOf(paths[i])
		}
		sets[i].collect(b, m, person)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, one := range sets {
		s.join(one)
	}
	if len(s.Files) == 0 {
		return nil, fmt.Errorf("%s: all recordings are on uneven ground", name)
	}
	return s, nil
}

// NewSet measures motions, each of another person.
func NewSet(name string, motions ...*Motion) *Set {
	s := &Set{Name: name, walkers: walkers{}}
	for _, m := range motions {
		s.collect(newBody(m), m, m.Name)
	}
	return s
}

func (s *Set) collect(b *body, m *Motion, person string) {
	f := File{Name: m.Name, Seconds: m.Clip.Seconds()}
	const span = 10 * Rate
	for at := 0; at < b.n; at += span {
		if end := min(at+span, b.n-1); end-at > Rate {
			f.Speeds = append(f.Speeds, b.meanSpeed(at, end))
		}
	}
	s.seconds = append(s.seconds, b.seconds(len(s.Files))...)
	s.Files = append(s.Files, f)
	s.series.collect(b)
	if third := b.n / 3; b.n >= 20*Rate {
		if first := b.meanSpeed(0, third); first > 0.3 {
			s.keeps = append(s.keeps, b.meanSpeed(b.n-1-third, b.n-1)/first)
		}
	}
	if person != "" {
		s.walkers.collect(b, person)
	}
}

// meanSpeed is the mean of the smoothed speed from frame from to frame to.
func (b *body) meanSpeed(from, to int) (v float64) {
	for f := from; f < to; f++ {
		v += b.speed[f] / float64(to-from)
	}
	return v
}

// Fastest returns the first of n frames in which the hips are fastest in the mean, looked for second by
// second.
func (m *Motion) Fastest(n int) (first int) {
	b, best := newBody(m), -1.0
	for f := 0; f+n <= b.n; f += Rate {
		if v := b.meanSpeed(f, f+n); v > best {
			first, best = f, v
		}
	}
	return first
}

// join adds the values of o.
func (s *Set) join(o *Set) {
	for _, w := range o.seconds {
		w.file += len(s.Files)
		s.seconds = append(s.seconds, w)
	}
	s.Files, s.Uneven = append(s.Files, o.Files...), append(s.Uneven, o.Uneven...)
	s.bones, s.keeps = max(s.bones, o.bones), append(s.keeps, o.keeps...)
	for k := range numKinds {
		s.frames[k] += o.frames[k]
		for f := range numFeeds {
			s.values[k][f] = append(s.values[k][f], o.values[k][f]...)
		}
	}
	for name, w := range o.walkers {
		into := s.walkers[name]
		if into == nil {
			s.walkers[name] = w
			continue
		}
		into.strides += w.strides
		for p := range phases {
			for j := range joints {
				into.pose[p][j] = into.pose[p][j].Add(w.pose[p][j])
			}
		}
	}
}

// people returns posture and swing between people, NaN if there are fewer than two.
func (s *Set) people() (posture, swing float64) {
	return s.walkers.spread(slices.Sorted(maps.Keys(s.walkers)))
}

// Expand returns the recordings that a path names: a file itself, or the BVH and AMC files in a
// folder and the folders in it whose names fit none of the patterns of without.
func Expand(path string, without []string) ([]string, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return []string{path}, dataset.CheckPatterns(without)
	}
	_, paths, err := dataset.Recordings([]string{path}, nil, without)
	if err != nil {
		return nil, fmt.Errorf("no recording in %s: %w", path, err)
	}
	return paths, nil
}
