package latent

import (
	"fmt"
	"math"

	"mannequin/animsys/feature"
)

// Trait is something that people see of a clip, as one number.
type Trait struct {
	Name, Unit string
	Measure    func(rows []float32) float64 // of a clip, (Frames, columns) raw
}

// Traits returns those of clips of a layout:
//
//	turn  by how much the body turns over the clip, counter-clockwise from above, degrees
//	step  the way of the body in one step, m: over the clip, divided by the steps it takes
//	lead  how far the left ankle is ahead of the right one at the clip's start, m
//	lean  by how much the trunk leans to the left over the clip, degrees
//	bend  the same to the front
//
// It is an error if the layout lacks hips, ankles or the neck's lower end.
func Traits(l *feature.Motion) ([]Trait, error) {
	var pos [4]int
	for i, name := range []string{"Hips", "Neck1", "LeftFoot", "RightFoot"} {
		j := l.Joint(name)
		if j < 0 {
			return nil, fmt.Errorf("latent: the layout has no joint %q, which what people see of a clip is told from", name)
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

// Two steps take between these shares of a clip's second, or rather their inverse.
const (
	leastCycles = 0.7
	mostCycles  = 1.8
	cycleGrid   = 23
)

// cycles returns how often the ankles swing to and fro in a clip, given how far one
// is ahead of the other: the number for which a sine and an offset come nearest to
// it.
func cycles(apart *[Frames]float64) float64 {
	best, least := 1.0, math.Inf(1)
	for i := range cycleGrid {
		n := leastCycles * math.Pow(mostCycles/leastCycles, float64(i)/(cycleGrid-1))
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
			a[p][p] += 0.1 // less than a cycle in view leaves it open
		}
		for p := range 3 {
			for r := p + 1; r < 3; r++ {
				k := a[r][p] / a[p][p]
				for q := p; q < 4; q++ {
					a[r][q] -= k * a[p][q]
				}
			}
		}
		var x [3]float64
		told := 0.0
		for p := 2; p >= 0; p-- {
			x[p] = a[p][3]
			for q := p + 1; q < 3; q++ {
				x[p] -= a[p][q] * x[q]
			}
			x[p] /= a[p][p]
			told += x[p] * b[p]
		}
		if -told < least { // the squares that are left, but for a constant
			best, least = n, -told
		}
	}
	return best
}
