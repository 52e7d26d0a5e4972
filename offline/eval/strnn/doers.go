package strnn

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
	"mannequin/offline/metrics"
)

// doings are the kinds of motion that people should keep to, by the body's speed and its direction.
var doings = [...]string{"stand", "walk", "run", "aside"}

// Bounds of doings.
const (
	standsBelow = 0.1 // m/s
	walksFrom   = 0.6
	runsFrom    = 1.9
	steadyMost  = 0.25 // largest change of speed from one half of a steady stretch to the other, of its mean
)

// Doer is a steady stretch of a recording, which a prediction continues.
type Doer struct {
	Name  string  `json:"name"`
	Doing string  `json:"doing"`
	Speed float64 `json:"speed"` // mean, m/s

	rows []float32 // (frames, columns) raw, at strnn.Rate
}

// Length of the stretches of Doers, s.
const (
	doerMost  = 4
	doerLeast = 0.8
)

// doersOf returns up to each of the steadiest stretches of each of doings, from different recordings of
// the set if there are enough. Stretches of one kind do not overlap.
func doersOf(set *dataset.MotionSet, each int) (out []Doer) {
	l := set.Layout
	cols := l.Columns()
	type candidate struct {
		Doer
		change float64
		clip   int
	}
	for _, doing := range doings {
		var of []candidate // the steadiest of each clip
		for c := range set.Clips[:len(set.Clips)/2] {
			clip := &set.Clips[c]
			n := min(clip.Frames/2, doerMost*strnn.Rate)
			if float64(n) < doerLeast*strnn.Rate {
				continue
			}
			best := candidate{change: math.Inf(1), clip: c}
			rows := make([]float32, clip.Frames/2*cols)
			strnn.HalveRate(rows, clip.Rows, l)
			for from := 0; (from+n)*cols <= len(rows); from += strnn.Rate / 2 {
				part := rows[from*cols : (from+n)*cols]
				if d, change := doingOf(l, part); d == doing && change < best.change {
					best.Doer = Doer{Name: fmt.Sprintf("%s@%.1f", clip.Name, float64(from+n)/strnn.Rate), Doing: d, Speed: l.MeanSpeed(part), rows: part}
					best.change = change
				}
			}
			if best.rows != nil {
				of = append(of, best)
			}
		}
		slices.SortStableFunc(of, func(a, b candidate) int { // long before short, then steady before changing
			if n := len(b.rows) - len(a.rows); n != 0 {
				return n
			}
			return int(math.Copysign(1, a.change-b.change))
		})
		for _, c := range of[:min(each, len(of))] {
			out = append(out, c.Doer)
		}
	}
	return out
}

// doingOf returns what a person does in rows, empty if it is none of doings or not steady, and how
// much its speed changes.
func doingOf(l *feature.Motion, rows []float32) (doing string, change float64) {
	cols := l.Columns()
	half := len(rows) / cols / 2 * cols
	speed := l.MeanSpeed(rows)
	change = math.Abs(l.MeanSpeed(rows[:half]) - l.MeanSpeed(rows[half:]))
	ahead := 0.0
	for at := l.Body() + feature.MotionZ; at < len(rows); at += cols {
		ahead += float64(rows[at]) * float64(cols) / float64(len(rows))
	}
	switch {
	case speed < standsBelow:
		return "stand", speed
	case change > steadyMost*speed || speed < walksFrom:
		return "", change
	case ahead < 0.7*speed:
		return "aside", change
	case ahead < 0.9*speed:
		return "", change
	case speed < runsFrom:
		return "walk", change
	}
	return "run", change
}

// Going is how a person goes on.
type Going struct {
	Doer
	Seed  uint64    `json:"seed"`
	After []float64 `json:"after"` // mean speeds of the periods of goesPeriod that follow, m/s
	Knee  float64   `json:"knee"`  // mean bend of knees in the last period, degrees
	Arms  float64   `json:"arms"`  // correlation of each hand with the other side's foot, fore and aft, in the last period; 1: arms swing opposed to the legs

	Lost string `json:"lost,omitempty"` // why the motion ended early, with the figures above 0

	last []float32 // (frames, columns) the last period
}

// goesPeriod is the length of a period, s.
const goesPeriod = 10

// Apart is the mean distance of joints, seen from the body, at the same time in the last period, cm.
type Apart struct {
	People float64 `json:"people"` // between people of different doings with one seed
	Seeds  float64 `json:"seeds"`  // between seeds of one person
}

// sampler is an Extender that draws one of many futures: strnn.Predictor is one.
type sampler interface {
	metrics.Extender
	SetSampling(seed uint64, spread float32)
}

// measureGoingOn lets p continue the doers for some periods of goesPeriod, with seeds from 1 on.
func measureGoingOn(p sampler, l *feature.Motion, doers []Doer, seeds, periods int, spread float32) ([]Going, Apart, error) {
	if len(doers) == 0 || seeds < 1 || periods < 1 {
		return nil, Apart{}, errors.New("nobody goes on: want at least one person, seed and period")
	}
	cols := l.Columns()
	var all []Going
	for _, d := range doers {
		have := len(d.rows) / cols
		frames := have + periods*goesPeriod*strnn.Rate
		for seed := range seeds {
			rows := make([]float32, frames*cols)
			copy(rows, d.rows)
			p.SetSampling(uint64(seed+1), spread)
			g := Going{Doer: d, Seed: uint64(seed + 1)}
			if err := p.Extend(rows, 1, have, frames); err != nil { // an unusable window
				g.Lost = err.Error()
				all = append(all, g)
				continue
			}
			for k := range periods {
				g.last = rows[(have+k*goesPeriod*strnn.Rate)*cols:][:goesPeriod*strnn.Rate*cols]
				g.After = append(g.After, l.MeanSpeed(g.last))
			}
			g.Knee, g.Arms = kneeBend(l, g.last), armSwing(l, g.last)
			all = append(all, g)
		}
	}
	return all, apartOf(l, all), nil
}

// apartOf compares all pairs of the same seed, and all of the same person.
func apartOf(l *feature.Motion, all []Going) (a Apart) {
	people, seeds := 0, 0
	for i, x := range all {
		for _, y := range all[:i] {
			switch {
			case x.last == nil || y.last == nil:
			case x.Seed == y.Seed && x.Doing != y.Doing:
				a.People += distance(l, x.last, y.last)
				people++
			case x.Seed != y.Seed && x.Name == y.Name:
				a.Seeds += distance(l, x.last, y.last)
				seeds++
			}
		}
	}
	a.People /= float64(max(1, people))
	a.Seeds /= float64(max(1, seeds))
	return a
}

// distance returns the mean distance of the joints of two motions, cm.
func distance(l *feature.Motion, a, b []float32) (sum float64) {
	cols, n := l.Columns(), 0
	for at := 0; at < min(len(a), len(b)); at += cols {
		for j := range l.Joints {
			p, q := a[at+l.Pos(j):], b[at+l.Pos(j):]
			sum += 100 * float64(m3.V(p[0], p[1], p[2]).Dist(m3.V(q[0], q[1], q[2])))
			n++
		}
	}
	return sum / float64(max(1, n))
}

// joint returns the position of a joint in a row.
func joint(l *feature.Motion, row []float32, name string) m3.Vec3 {
	p := row[l.Pos(l.Joint(name)):]
	return m3.V(p[0], p[1], p[2])
}

var sides = [2]string{"Left", "Right"}

// kneeBend returns the mean bend of both knees, degrees; a straight leg has 0.
func kneeBend(l *feature.Motion, rows []float32) (sum float64) {
	cols := l.Columns()
	n := len(rows) / cols
	for f := range n {
		row := rows[f*cols:][:cols]
		for _, side := range sides {
			hip, knee, foot := joint(l, row, side+"UpLeg"), joint(l, row, side+"Leg"), joint(l, row, side+"Foot")
			up, down := knee.Sub(hip).Normalize(m3.V(0, -1, 0)), foot.Sub(knee).Normalize(m3.V(0, -1, 0))
			sum += 180 / math.Pi * math.Acos(min(1, max(-1, float64(up.Dot(down))))) / float64(2*n)
		}
	}
	return sum
}

// armSwing returns the correlation of each hand with the foot of the other side, fore and aft.
func armSwing(l *feature.Motion, rows []float32) (sum float64) {
	cols := l.Columns()
	n := len(rows) / cols
	for i, side := range sides {
		hand, foot := make([]float64, n), make([]float64, n)
		for f := range n {
			row := rows[f*cols:][:cols]
			hand[f], foot[f] = float64(joint(l, row, side+"Hand").Z), float64(joint(l, row, sides[1-i]+"Foot").Z)
		}
		sum += stat.Correlation(hand, foot, nil) / 2
	}
	return sum
}
