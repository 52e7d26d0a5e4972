package dataset

import (
	"slices"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// A person who moves less than this for stillLeast frames on end is standing.
const (
	stillMove  = 0.1 // m/s
	stillTurn  = 0.3 // rad/s
	stillLeast = 24
)

// standing returns a clip of the given number of frames for each stretch of c in which the
// person stands with all contacts on the ground and the hands below the hips. It holds the
// pose of the stretch's middle. Recordings of locomotion show standing only for moments,
// often in a pose ready to run, and a network trained on nothing else stands like that.
func standing(l *feature.Motion, c *MotionClip, frames int) []MotionClip {
	cols := l.Columns()
	var hands []int
	for j, name := range l.Joints {
		if strings.HasSuffix(name, "Hand") {
			hands = append(hands, l.Pos(j))
		}
	}
	var out []MotionClip
	from := 0
	for f := 0; f <= c.Frames; f++ {
		if f < c.Frames {
			b := c.Rows[f*cols+l.Body():]
			if m3.Sqrt(b[feature.MotionX]*b[feature.MotionX]+b[feature.MotionZ]*b[feature.MotionZ]) < stillMove && m3.Abs(b[feature.MotionYaw]) < stillTurn {
				continue
			}
		}
		row := c.Rows[(from+f)/2*cols:][:min(cols, len(c.Rows)-(from+f)/2*cols)]
		low := f-from >= stillLeast && !slices.ContainsFunc(hands, func(at int) bool { return row[at+1] >= row[l.Pos(0)+1] })
		if low && !slices.Contains(row[l.Contact(0):], 0) {
			held := slices.Clone(row)
			clear(held[l.Body():][:feature.MotionLen])
			out = append(out, MotionClip{Name: c.Name + " stands", Frames: frames, Rows: slices.Repeat(held, frames)})
		}
		from = f + 1
	}
	return out
}
