package dataset

import (
	"math"

	"mannequin/animsys/feature"
)

// A person who turns round in an instant has no facing there: the smoothed facing jumps
// from one side to the other. Frames near such a jump show a body that turns under a
// frame that does not, and are left out.
const (
	jumpSpeed = 7  // rad/s
	jumpReach = 20 // frames
)

// steady returns a clip's stretches of at least frames frames without such jumps.
func (c *MotionClip) steady(l *feature.Motion, atLeast int) (out []MotionClip) {
	cols, yaw, from := l.Columns(), l.Body()+feature.MotionYaw, 0
	cut := func(to int) {
		if to-from >= atLeast {
			part := *c
			part.Frames, part.Rows = to-from, c.Rows[from*cols:to*cols]
			out = append(out, part)
		}
	}
	for f := range c.Frames {
		if math.Abs(float64(c.Rows[f*cols+yaw])) > jumpSpeed {
			cut(f - jumpReach)
			from = f + jumpReach
		}
	}
	cut(c.Frames)
	return out
}

// cut fills Windows from all clips, those of running Repeat times. Windows with margins
// cover every frame of a clip at least once and may reach over its ends. Whole ones lie
// inside the clip, and the last one ends with it.
func (m *MotionSet) cut(opt MotionOptions) {
	for c, clip := range m.Clips {
		last := clip.Frames - m.Length + m.Margin
		if opt.Whole && last < 0 {
			continue
		}
		for from := -m.Margin; ; {
			visits := 1
			if m.speed(c, from+m.Margin, from+m.Length-m.Margin) > opt.Fast {
				visits = opt.Repeat
			}
			for range visits {
				m.Windows = append(m.Windows, Window{int32(c), int32(from)})
			}
			if from >= last {
				break
			}
			if from += opt.Hop; opt.Whole {
				from = min(from, last)
			}
		}
	}
}

// speed returns the body's mean speed in frames from to end−1 of clip c, m/s.
func (m *MotionSet) speed(c, from, end int) float64 {
	cols, clip := m.Layout.Columns(), &m.Clips[c]
	end = max(0, min(end, clip.Frames))
	from = min(max(0, from), end)
	return m.Layout.MeanSpeed(clip.Rows[from*cols : end*cols])
}

// Window fills dst, (Length, columns), with the normalised rows of clip c from
// frame from on, which may be negative. Before and after a clip its first and
// last row are repeated: the pose is held and the body moves on. Frames first to end−1 of
// dst are those to learn from: they are of the clip and not in a margin.
func (m *MotionSet) Window(dst []float32, c, from int) (first, end int) {
	cols := m.Layout.Columns()
	clip := &m.Clips[c]
	for f := range m.Length {
		at := min(max(from+f, 0), clip.Frames-1)
		row, out := clip.Rows[at*cols:][:cols], dst[f*cols:][:cols]
		for i, v := range row {
			out[i] = (v - m.Mean[i]) / m.Std[i]
		}
	}
	return max(m.Margin, -from), min(m.Length-m.Margin, clip.Frames-from)
}
