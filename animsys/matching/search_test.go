package matching_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
	"mannequin/offline/dataset"
	"mannequin/offline/retarget"
)

// scan compares queries with all frames, in float64.
type scan struct{ features [][]float32 }

func newScan(d *matching.Database) (s scan) {
	for f := range d.Frames() {
		s.features = append(s.features, d.AppendFeatures(nil, f))
	}
	return s
}

// least returns the least cost of all frames that a search may find.
func (s scan) least(t *matching.Target, tags []matching.Tags, allowed []bool) float64 {
	least := math.Inf(1)
	for f := range s.features {
		if !allowed[f] || tags[f]&t.Must != t.Must || tags[f]&t.Never != 0 {
			continue
		}
		least = min(least, s.costBelow(t.Query, f, least))
	}
	return least
}

// costBelow returns the cost of a frame, or a part of it that is not less than a bound.
func (s scan) costBelow(q []float32, frame int, bound float64) (sum float64) {
	for c, v := range s.features[frame] {
		e := float64(q[c]) - float64(v)
		if sum += e * e; sum >= bound {
			break
		}
	}
	return sum
}

func (s scan) cost(q []float32, frame int) float64 { return s.costBelow(q, frame, math.Inf(1)) }

// queries returns poses of random frames with the ways of others, which the recordings do not hold.
func queries(d *matching.Database, n int) (all [][]float32) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		q := d.AppendFeatures(nil, r.IntN(d.Frames()))
		way := d.AppendFeatures(nil, r.IntN(d.Frames()))
		for c := len(q) - 12; c < len(q); c++ {
			if q[c] += 0.3 * float32(r.NormFloat64()); i%2 == 0 {
				q[c] = way[c]
			}
		}
		all = append(all, q)
	}
	return all
}

// A moment in which a recording goes backward is not found where loops go backward and recordings do not.
func TestMomentsBackward(t *testing.T) {
	people := testmatching.People(t)
	walk, _ := people.Motion(0)
	play := func(ways ...int) *skel.Clip { // from one frame to the next
		m := *walk
		m.Pos, m.Rot, m.Frames = nil, nil, 0
		for i := 1; i < len(ways); i++ {
			for f := ways[i-1]; f != ways[i]; m.Frames++ {
				pos, rot := walk.Frame(f)
				m.Pos, m.Rot = append(m.Pos, pos...), append(m.Rot, rot...)
				if f++; ways[i] < ways[i-1] {
					f -= 2
				}
			}
		}
		return &m
	}
	const moment = 120 // is in the middle of one
	recording := matching.Clip{Name: "recording", Motion: play(0, 100, 60, 160)}
	loop := matching.Clip{Name: "loop", Motion: play(159, 40), Loop: true}
	long := matching.Clip{Name: "long", Motion: play(160, 0, 160, 0, 160, 0, 160, 0, 160, 0)}
	for _, c := range []struct {
		name  string
		clips []matching.Clip
		found bool
	}{
		{"recording", []matching.Clip{recording}, true},
		{"recording and loop", []matching.Clip{recording, loop}, false},
		{"recording, loop, and recordings that go backward", []matching.Clip{recording, loop, long}, true},
	} {
		d := must.Get(matching.Build(people.Skel, c.clips, matching.Options{Roles: &people.Roles}))(t)
		if found, _ := d.Search(&matching.Target{Query: d.AppendFeatures(nil, moment)}); (found == moment) != c.found {
			t.Errorf("%s: frame %d is found for %d", c.name, found, moment)
		}
	}
}

// A search finds what a comparison with all frames finds: for all frames, for tags, and around a frame.
func TestSearchIsExact(t *testing.T) {
	d := testmatching.Dogs(t)
	n := d.Frames()
	tags, allowed := make([]matching.Tags, n), make([]bool, n)
	for f := range n {
		tags[f], allowed[f] = d.TagsOf(f), f+20 < n
		if name, _ := d.Clip(f); allowed[f] {
			other, _ := d.Clip(f + 20)
			allowed[f] = name == other
		}
	}
	// Nor are the last frames before another action found, at most half of those that show one.
	acts := func(f int) (name string, of matching.Tags) {
		name, _ = d.Clip(f)
		return name, tags[f] &^ 3 // idle and move
	}
	if d.Tags[0] != "idle" || d.Tags[1] != "move" {
		t.Fatal(d.Tags)
	}
	for first := 0; first < n; {
		end, name, of := first+1, "", matching.Tags(0)
		for name, of = acts(first); end < n; end++ {
			if other, more := acts(end); other != name || more != of {
				break
			}
		}
		if other := name; end < n {
			if other, _ = d.Clip(end); other == name {
				for f := end - min(20, (end-first)/2); f < end; f++ {
					allowed[f] = false
				}
			}
		}
		first = end
	}
	const idle, half = 1, 30 // frames of half a second
	last := append([]bool(nil), allowed...)
	for f := range last {
		name, _ := d.Clip(f)
		for k := f; k <= f+half && last[f]; k++ {
			if last[f] = k < n; last[f] {
				other, _ := d.Clip(k)
				last[f] = other == name && tags[k]&idle != 0
			}
		}
	}
	count := 10000
	if testing.Short() {
		count = 500
	}
	all := newScan(d)
	for i, q := range queries(d, count) {
		target := matching.Target{Query: q}
		may := allowed
		switch i % 5 {
		case 1:
			target.Must = 1 << 2
		case 2:
			target.Never = 1 << 1
		case 3:
			target.Near, target.Skip = i%n, 21
			may = append([]bool(nil), allowed...)
			name, _ := d.Clip(target.Near)
			for f := max(target.Near-20, 0); f <= min(target.Near+20, n-1); f++ {
				if other, _ := d.Clip(f); other == name {
					may[f] = false
				}
			}
		}
		frame, c := d.Search(&target)
		want := all.least(&target, tags, may)
		if frame < 0 || math.Abs(float64(c)-want) > 1e-5*(1+want) || math.Abs(all.cost(q, frame)-want) > 1e-5*(1+want) {
			t.Fatalf("query %d: frame %d costs %g, the best %g", i, frame, c, want)
		}
		if i%5 == 1 { // that goes on for half a second
			target := matching.Target{Query: q, Must: idle, Lasts: half}
			frame, c := d.Search(&target)
			if want := all.least(&target, tags, last); frame < 0 || math.Abs(float64(c)-want) > 1e-5*(1+want) {
				t.Fatalf("query %d: of what lasts frame %d costs %g, the best %g", i, frame, c, want)
			}
		}
		if target.Below = float32(want) * 0.999; i%5 == 4 {
			if frame, _ := d.Search(&target); frame >= 0 {
				t.Fatalf("query %d: frame %d costs less than the least", i, frame)
			}
		}
	}
	if frame, _ := d.Search(&matching.Target{Query: d.AppendFeatures(nil, 0), Must: 1 << 63}); frame >= 0 {
		t.Errorf("frame %d has a tag that none has", frame)
	}
}

// recorded is a database of recorded people, the second half mirrored.
func recorded(t testing.TB, frames int) *matching.Database {
	paths := must.Get(filepath.Glob(filepath.Join(mocapdata.Dir(t), "human-o3de", "bvh", "*.bvh")))(t)
	if len(paths) == 0 {
		t.Skip("the set human-o3de is not here")
	}
	sk := retarget.Human()
	mirror := must.Get(skel.NewMirror(sk))(t)
	left := frames
	var clips []matching.Clip
	add := func(name string, c *skel.Clip) {
		if c.Frames > left {
			c = c.Section(0, left)
		}
		if left -= c.Frames; c.Frames > 30 {
			c.Skel = sk
			clips = append(clips, matching.Clip{Name: name, Motion: c})
		}
	}
	var all []*skel.Clip
	for _, path := range paths {
		if left <= frames/2 {
			break
		}
		all = append(all, must.Get(dataset.OpenStanding(path, feature.Human(), sk, retarget.Reading{}))(t))
		add(filepath.Base(path), all[len(all)-1])
	}
	for i, c := range all {
		add("mirrored "+filepath.Base(paths[i]), c.Mirrored(mirror))
	}
	return must.Get(matching.Build(sk, clips, matching.Options{}))(t)
}

// The same on 20,000 frames of recorded people; on 100,000 with MANNEQUIN_QUERIES, the number of queries.
func TestSearchIsExactOnRecordings(t *testing.T) {
	frames, n := 20000, 50
	if more, _ := strconv.Atoi(os.Getenv("MANNEQUIN_QUERIES")); more > 0 {
		frames, n = 100000, more
	}
	d := recorded(t, frames)
	tags, allowed := make([]matching.Tags, d.Frames()), make([]bool, d.Frames())
	for f := range allowed {
		_, at := d.Clip(f)
		if allowed[f] = f+20 < d.Frames(); allowed[f] {
			_, then := d.Clip(f + 20)
			allowed[f] = then == at+20
		}
	}
	all := newScan(d)
	for i, q := range queries(d, n) {
		target := matching.Target{Query: q}
		frame, c := d.Search(&target)
		if want := all.least(&target, tags, allowed); frame < 0 || math.Abs(float64(c)-want) > 1e-5*(1+want) || math.Abs(all.cost(q, frame)-want) > 1e-5*(1+want) {
			t.Fatalf("query %d: frame %d costs %g, the best %g", i, frame, c, want)
		}
	}
}
