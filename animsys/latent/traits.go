package latent

import (
	"fmt"
	"math"

	"mannequin/animsys/feature"
)

// Trait is something that people see of a clip, as one number.
type Trait struct {
	Name, Unit string
	Of         func(rows []float32) float64 // of a clip, (Frames, columns) raw
}

// Traits returns those of clips of a layout:
//
//	turn  by how much the body turns over the clip, counter-clockwise from above, degrees
//	step  the largest distance of the ankles along the facing, m: the length of a step
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
	cols, yaw := l.Columns(), l.Body()+feature.MotionYaw
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
				sum += float64(rows[f*cols+yaw]) / Rate
			}
			return sum * degrees
		}},
		{"step", "m", func(rows []float32) float64 {
			most := 0.0
			for f := range Frames {
				most = max(most, math.Abs(ahead(rows[f*cols:][:cols])))
			}
			return most
		}},
		{"lead", "m", func(rows []float32) float64 { return ahead(rows[:cols]) }},
		{"lean", "°", trunk(0)},
		{"bend", "°", trunk(2)},
	}, nil
}
