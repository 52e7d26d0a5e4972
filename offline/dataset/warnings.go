package dataset

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// Warning is something in the recordings that may spoil a training or its measure.
type Warning struct {
	Kind      string // WarnFile, WarnMotion, WarnLabel or WarnSpeed
	Recording string
	Frame     int // of the file, from 0
	What      string
}

// Kinds of warnings.
const (
	WarnFile   = "file"   // the reader passed over something; What names the line, and Frame is 0
	WarnMotion = "motion" // a frame hardly shows the motion of a body, see mocap.Faults
	WarnLabel  = "label"  // a held-out recording has an action that no training frame has
	WarnSpeed  = "speed"  // a held-out recording is faster than all of training
)

func fileWarnings(recording string, notes []string) (out []Warning) {
	for _, n := range notes {
		out = append(out, Warning{WarnFile, recording, 0, n})
	}
	return out
}

func motionWarnings(recording string, faults []mocap.Fault) (out []Warning) {
	for _, f := range faults {
		out = append(out, Warning{WarnMotion, recording, f.Frame, f.What})
	}
	return out
}

// A held-out speed is new if it is above a training's by this share and by this many m/s.
const (
	newSpeedShare = 1.25
	newSpeedMore  = 0.25
)

// newSpeed returns the warning of a held-out recording that moves at speed m/s if training has at most
// most.
func newSpeed(recording string, frame int, speed, most float64) (out []Warning) {
	if speed > newSpeedShare*most+newSpeedMore {
		out = append(out, Warning{WarnSpeed, recording, frame,
			fmt.Sprintf("held out, it moves at %.3g m/s, and training has at most %.3g m/s", speed, most)})
	}
	return out
}

// fastest returns the highest mean speed over half a second of the recording's frames, (frames,
// layout.Columns()), in m/s, and its first frame.
func fastest(l *feature.Motion, rows []float32) (speed float64, frame int) {
	const span, hop = Rate / 2, Rate / 4
	cols := l.Columns()
	frames := len(rows) / cols
	for f := 0; f == 0 || f+span <= frames; f += hop {
		if v := l.MeanSpeed(rows[f*cols : min(f+span, frames)*cols]); v > speed {
			speed, frame = v, f
		}
	}
	return speed, frame
}

// warnings returns those of all clips with frames. A clip is held out if a pattern of held matches its
// name.
func warnings(l *feature.Motion, clips []MotionClip, reports []*retarget.Report, held []string) (out []Warning) {
	most := 0.0
	for i, c := range clips {
		if c.Frames == 0 {
			continue
		}
		out = append(out, fileWarnings(c.Name, reports[i].Remarks(c.Name))...)
		out = append(out, motionWarnings(c.Name, reports[i].Faults)...)
		if !MatchesAny(held, c.Name) {
			speed, _ := fastest(l, c.Rows)
			most = max(most, speed)
		}
	}
	for i, c := range clips {
		if c.Frames > 0 && MatchesAny(held, c.Name) {
			speed, f := fastest(l, c.Rows)
			out = append(out, newSpeed(c.Name, reports[i].FileFrame(f), speed, most)...)
		}
	}
	return out
}

// unseen returns the warnings of held-out rows with actions or speeds that m has not.
func (m *MANN) unseen(heldOut *MANN) (out []Warning) {
	l := m.Layout
	at := l.InSample(feature.TrajNow)
	look := func(s *MANN, r int) (speed float64, actions []float32) {
		x := s.Input(r)
		return math.Hypot(float64(x[at+feature.SampleVel]), float64(x[at+feature.SampleVel+1])), x[l.InActions(feature.TrajNow):][:len(l.Actions)]
	}
	most, has := 0.0, make([]bool, len(l.Actions))
	for r := range m.Rows / 2 { // the others are mirror images
		speed, actions := look(m, r)
		most = max(most, speed)
		for a, w := range actions {
			has[a] = has[a] || w >= 0.5
		}
	}
	for c, name := range heldOut.Clips {
		fastest, frame := 0.0, 0
		first := slices.Repeat([]int{-1}, len(has)) // frame with a new action
		for r := range heldOut.Rows / 2 {
			if heldOut.Clip[r] != int32(c) {
				continue
			}
			speed, actions := look(heldOut, r)
			if speed > fastest {
				fastest, frame = speed, int(heldOut.Frame[r])
			}
			for a, w := range actions {
				if w >= 0.5 && !has[a] && first[a] < 0 {
					first[a] = int(heldOut.Frame[r])
				}
			}
		}
		for a, f := range first {
			if f >= 0 {
				out = append(out, Warning{WarnLabel, name, f, fmt.Sprintf("held out, it has the action %s, which no training frame has", l.Actions[a])})
			}
		}
		out = append(out, newSpeed(name, frame, fastest, most)...)
	}
	return out
}
