package metrics

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// Liveliness is how much motion moves. Predictions may freeze in a mean pose, or shake.
type Liveliness struct {
	Variance []float64 // of each joint's position seen from the body, m²
	Jerk     float64   // 99.9th percentile over joints and frames of jerk in the world, m/s³
	Most     float64   // the largest jerk
	Still    float64   // longest time with no joint faster than stillSpeed, s
	Finite   bool
}

// stillSpeed is the highest speed of a standing person's joints, m/s.
const stillSpeed = 0.1

// livelinessSums gathers motion at strnn.Rate.
type livelinessSums struct {
	l          *feature.Motion
	sum, power []float64 // of each coordinate
	frames     int
	jerks      []float32
	still      float64
	finite     bool
	world      []m3.Vec3
}

func newLivelinessSums(l *feature.Motion) *livelinessSums {
	return &livelinessSums{l: l, sum: make([]float64, l.Body()), power: make([]float64, l.Body()), finite: true}
}

func (v *livelinessSums) add(rows []float32) {
	cols, joints := v.l.Columns(), len(v.l.Joints)
	frames := len(rows) / cols
	for f := range frames {
		for k, x := range rows[f*cols:][:v.l.Body()] {
			v.sum[k] += float64(x)
			v.power[k] += float64(x) * float64(x)
		}
		for _, x := range rows[f*cols:][:cols] {
			v.finite = v.finite && m3.Finite(x)
		}
	}
	v.frames += frames
	v.world = append(v.world[:0], make([]m3.Vec3, frames*joints)...)
	v.l.ToWorld(v.world, rows, strnn.Rate, feature.Place{})
	at := func(f, j int) m3.Vec3 { return v.world[f*joints+j] }
	still := 0
	for f := range frames {
		for j := 0; f >= 3 && j < joints; j++ {
			d := at(f, j).Sub(at(f-1, j).Scale(3)).Add(at(f-2, j).Scale(3)).Sub(at(f-3, j))
			v.jerks = append(v.jerks, d.Len()*strnn.Rate*strnn.Rate*strnn.Rate)
		}
		fastest := float32(0)
		for j := 0; f > 0 && j < joints; j++ {
			fastest = max(fastest, at(f, j).Dist(at(f-1, j))*strnn.Rate)
		}
		if still++; fastest > stillSpeed {
			still = 0
		}
		v.still = max(v.still, float64(still)/strnn.Rate)
	}
}

func (v *livelinessSums) result() Liveliness {
	r := Liveliness{Variance: make([]float64, len(v.l.Joints)), Still: v.still, Finite: v.finite}
	n := math.Max(1, float64(v.frames))
	for k := range v.sum {
		mean := v.sum[k] / n
		r.Variance[k/3] += v.power[k]/n - mean*mean
	}
	slices.Sort(v.jerks)
	if len(v.jerks) > 0 {
		r.Jerk, r.Most = float64(v.jerks[len(v.jerks)*999/1000]), float64(v.jerks[len(v.jerks)-1])
	}
	return r
}

// LivelinessOf returns the liveliness of the recordings of a set.
func LivelinessOf(set *dataset.MotionSet) Liveliness {
	v := newLivelinessSums(set.Layout)
	for c := range set.Clips {
		clip := &set.Clips[c]
		rows := make([]float32, clip.Frames/2*set.Layout.Columns())
		strnn.HalveRate(rows, clip.Rows, set.Layout)
		v.add(rows)
	}
	return v.result()
}

// Rollouts is the liveliness of long predictions.
type Rollouts struct {
	Prefixes, Frames int
	Last             int          // frames at the end that All and Each cover
	Begun            []Liveliness // of each recorded prefix
	AllBegun         Liveliness   // of all of them together
	All              Liveliness   // of all predictions together
	Each             []Liveliness // of each
	Whole            Liveliness   // of all frames of all predictions
}

// Roll continues n evenly spread prefixes of the recordings in an open loop. It returns the
// motions, (n, prefix+frames, columns) raw.
func Roll(p Extender, set *dataset.MotionSet, n, prefix, frames int) ([]float32, error) {
	l := set.Layout
	cols := l.Columns()
	var at []dataset.Window
	for c := range set.Clips[:len(set.Clips)/2] {
		for from := 0; from+2*prefix <= set.Clips[c].Frames; from += dataset.Rate {
			at = append(at, dataset.Window{Clip: int32(c), From: int32(from)})
		}
	}
	if n < 1 || len(at) < n {
		return nil, fmt.Errorf("metrics: %d prefixes of %d frames in the recordings, want %d", len(at), prefix, n)
	}
	rows := make([]float32, n*(prefix+frames)*cols)
	for i := range n {
		w := at[i*len(at)/n]
		strnn.HalveRate(rows[i*(prefix+frames)*cols:][:prefix*cols], set.Clips[w.Clip].Rows[int(w.From)*cols:], l)
	}
	return rows, p.Extend(rows, n, prefix, prefix+frames)
}

// MeasureRollouts returns the liveliness of motions, (n, frames, columns) raw: see Rollouts.
func MeasureRollouts(rows []float32, l *feature.Motion, n, prefix, last int) Rollouts {
	cols := l.Columns()
	frames := len(rows) / cols / n
	r := Rollouts{Prefixes: n, Frames: frames - prefix, Last: last}
	all, whole, allBegun := newLivelinessSums(l), newLivelinessSums(l), newLivelinessSums(l)
	for i := range n {
		motion := rows[i*frames*cols:][:frames*cols]
		end := motion[(frames-last)*cols:]
		all.add(end)
		whole.add(motion[prefix*cols:])
		one, begun := newLivelinessSums(l), newLivelinessSums(l)
		one.add(end)
		begun.add(motion[:prefix*cols])
		allBegun.add(motion[:prefix*cols])
		r.Each, r.Begun = append(r.Each, one.result()), append(r.Begun, begun.result())
	}
	r.All, r.Whole, r.AllBegun = all.result(), whole.result(), allBegun.result()
	return r
}
