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

// Window fills dst, (Length, columns), with normalised rows of clip c: frame f shows the clip's frame
// begin + f·step, which may lie between two frames and beyond the clip's ends. There its first and
// last row are repeated: the pose is held and the body moves on. The body's motion is step times the
// recorded one, so a step below 0 plays the clip backward. Frames first to end−1 of dst are those to
// learn from: they are of the clip and not in a margin.
func (m *MotionSet) Window(dst []float32, c int, begin, step float64) (first, end int) {
	cols, body := m.Layout.Columns(), m.Layout.Body()
	clip := &m.Clips[c]
	last := float64(clip.Frames - 1)
	first, end = m.Length, 0
	for f := range m.Length {
		out, at := dst[f*cols:][:cols], begin+float64(f)*step
		if at >= 0 && at <= last && f >= m.Margin && f < m.Length-m.Margin {
			first, end = min(first, f), f+1
		}
		m.between(out[:body], c, at, 0)
		// A row's motion leads to the next frame: it belongs to the time between.
		m.between(out[body:body+feature.MotionLen], c, at+(step-1)/2, body)
		for i := body; i < body+feature.MotionLen; i++ {
			out[i] *= float32(step)
		}
		copy(out[body+feature.MotionLen:], clip.Rows[int(math.Floor(min(max(at, 0), last)+0.5))*cols+body+feature.MotionLen:])
		for i, v := range out {
			out[i] = (v - m.Mean[i]) / m.Std[i]
		}
	}
	return first, end
}

// between writes the values from column col on of clip c at a time in frames.
func (m *MotionSet) between(dst []float32, c int, at float64, col int) {
	cols, clip := m.Layout.Columns(), &m.Clips[c]
	at = min(max(at, 0), float64(clip.Frames-1))
	f := int(at)
	a, u := clip.Rows[f*cols+col:], float32(at-float64(f))
	copy(dst, a[:len(dst)])
	if u == 0 {
		return
	}
	for i, v := range a[cols:][:len(dst)] {
		dst[i] += u * (v - dst[i])
	}
}
