package latent

import (
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/internal/linsolve"
	"mannequin/engine/m3"
)

// Trait is a visible property of a clip, as one number.
type Trait struct {
	Name, Unit string
	Measure    func(rows []float32) float64 // of a clip, (Frames, columns) raw
}

// Traits returns the traits of clips of a layout:
//
//	turn  turn of the body over the clip, counter-clockwise from above, degrees
//	step  step length of the body, m: distance over the clip divided by the number of steps
//	lead  distance of the left ankle ahead of the right one at the clip's start, m
//	lean  mean lean of the trunk to the left, degrees
//	bend  mean lean of the trunk to the front, degrees
//
// It fails if the layout lacks hips, ankles or the lower end of the neck.
func Traits(l *feature.Motion) ([]Trait, error) {
	var pos [4]int
	for i, name := range []string{"Hips", "Neck1", "LeftFoot", "RightFoot"} {
		j := l.Joint(name)
		if j < 0 {
			return nil, fmt.Errorf("latent: the layout has no joint %q, from which traits are measured", name)
		}
		pos[i] = l.Pos(j)
	}
	hips, neck, left, right := pos[0], pos[1], pos[2], pos[3]
	cols, body := l.Columns(), l.Body()
	const degrees = 180 / math.Pi
	ahead := func(row []float32) float64 { return float64(row[left+2] - row[right+2]) }
	trunk := func(axis int) func(rows []float32) float64 {
		return func(rows []float32) float64 {
			sum := 0.0
			for f := range Frames {
				row := rows[f*cols:][:cols]
				sum += math.Atan2(float64(row[neck+axis]-row[hips+axis]), float64(row[neck+1]-row[hips+1]))
			}
			return sum / Frames * degrees
		}
	}
	return []Trait{
		{"turn", "°", func(rows []float32) float64 {
			sum := 0.0
			for f := range Frames - 1 {
				sum += float64(rows[f*cols+body+feature.MotionYaw]) / Rate
			}
			return sum * degrees
		}},
		{"step", "m", func(rows []float32) float64 {
			var apart [Frames]float64
			way := 0.0
			for f := range Frames {
				row := rows[f*cols:][:cols]
				if apart[f] = ahead(row); f < Frames-1 {
					way += math.Hypot(float64(row[body+feature.MotionX]), float64(row[body+feature.MotionZ])) / Rate
				}
			}
			return way / (2 * cycles(&apart))
		}},
		{"lead", "m", func(rows []float32) float64 { return ahead(rows[:cols]) }},
		{"lean", "°", trunk(0)},
		{"bend", "°", trunk(2)},
	}, nil
}

// Range of the number of step cycles (two steps) in a clip's second, and its grid.
const (
	minCycles = 0.7
	maxCycles = 1.8
	cycleGrid = 23
)

// cycles returns the number of step cycles in a clip: the frequency for which a sine plus an offset
// fits the distance of the ankles best.
func cycles(apart *[Frames]float64) float64 {
	best, least := 1.0, math.Inf(1)
	for i := range cycleGrid {
		n := minCycles * m3.Pow64(maxCycles/minCycles, float64(i)/(cycleGrid-1))
		// Normal equations of cosine, sine and offset.
		var a [3][4]float64
		for f, y := range apart {
			s, c := math.Sincos(2 * math.Pi * n * float64(f) / (Frames - 1))
			v := [4]float64{c, s, 1, y}
			for p := range 3 {
				for q := range 4 {
					a[p][q] += v[p] * v[q]
				}
			}
		}
		b := [3]float64{a[0][3], a[1][3], a[2][3]}
		for p := range 3 {
			a[p][p] += 0.1 // less than a cycle leaves the fit undetermined
		}
		x, explained := linsolve.Three(a), 0.0
		for p := 2; p >= 0; p-- {
			explained += x[p] * b[p]
		}
		if -explained < least { // sum of squares that is left, except a constant
			best, least = n, -explained
		}
	}
	return best
}
