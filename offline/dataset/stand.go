package dataset

import (
	"slices"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Who moves less than this for stillLeast frames on end stands.
const (
	stillMove  = 0.1 // m/s
	stillTurn  = 0.3 // rad/s
	stillLeast = 24
)

// standing returns a clip of so many frames for each stretch of c in which
// somebody stands with all contacts on the ground and hands below the hips: the
// stretch's middle, held. Recordings of people who go somewhere show them stand
// for moments only, ready to run or to lunge as often as not, and networks that
// learn from nothing else have people stand like that.
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
