package inbetween

import (
	"math"
	"slices"

	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Kind sorts the frames of a recording by the speed of its root over the ground.
type Kind int

// The kinds of frames.
const (
	Stand Kind = iota // below 0.2 m/s
	Walk
	Run // from 1.9 m/s on
	kinds
)

func (k Kind) String() string { return [kinds]string{"stand", "walk", "run"}[k] }

// Body has figures of a motion that a mean distance of joints does not show. Shares are of frames.
type Body struct {
	Frames   int     `json:"frames"`
	Straight float64 `json:"straight_knee"`   // share of legs whose knee bends less than 2°
	Bounce   float64 `json:"bounce_cm"`       // height of the hips about its mean over a second, peak to peak of a sine of as large a deviation
	HandIn   float64 `json:"hand_in_torso"`   // share with a hand within 14 cm of the line from hips to neck
	HipsJerk float64 `json:"hips_jerk_p99"`   // 99th percentile of the hips' jerk, m/s³
	Below    float64 `json:"below_floor"`     // share with a joint more than 2 cm below the floor
	ToeSpeed float64 `json:"planted_toe_p90"` // 90th percentile of the speed of the slower low toe, cm/s
}

// Limits of the figures of a Body.
const (
	straightKnee = 2 * math.Pi / 180
	handInTorso  = 0.14 // m
	belowFloor   = -0.02
	toeLow       = 0.03 // m, over the toe's height when it stands, its 5th percentile
	standSpeed   = 0.2  // m/s
	runSpeed     = 1.9
)

// samples are the values of a motion's frames of each kind that a Body is computed from. They are
// joined over motions.
type samples [kinds]struct {
	frames                        int
	straight, legs, handIn, below float64
	bounce                        float64 // sum of squares, m²
	jerk, toe                     []float64
}

// add joins the samples of another motion.
func (s *samples) add(o *samples) {
	for k := range s {
		a, b := &s[k], &o[k]
		a.frames += b.frames
		a.straight, a.legs, a.handIn, a.below, a.bounce = a.straight+b.straight, a.legs+b.legs, a.handIn+b.handIn, a.below+b.below, a.bounce+b.bounce
		a.jerk, a.toe = append(a.jerk, b.jerk...), append(a.toe, b.toe...)
	}
}

// body returns the figures of a kind of frames.
func (s *samples) body(k Kind) Body {
	v := &s[k]
	n := max(1, float64(v.frames))
	return Body{Frames: v.frames, Straight: v.straight / max(1, v.legs), Bounce: 200 * math.Sqrt(2*v.bounce/n), HandIn: v.handIn / n,
		HipsJerk: percentile(v.jerk, 0.99), Below: v.below / n, ToeSpeed: 100 * percentile(v.toe, 0.9)}
}

// percentile returns the value below which the share p of v lies, 0 if v is empty. It sorts v.
func percentile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[min(int(p*float64(len(v))), len(v)-1)]
}

// kindsOf returns the kind of each frame of a recording, by its speed over half a second.
func kindsOf(t *keypose.Track) []Kind {
	out := make([]Kind, t.Frames)
	side := int(t.FPS / 4)
	for f := range out {
		a, b := max(f-side, 0), min(f+side, t.Frames-1)
		speed := t.Place[b].Pos.Dist(t.Place[a].Pos) * t.FPS / float32(max(1, b-a))
		switch {
		case speed < standSpeed:
			out[f] = Stand
		case speed < runSpeed:
			out[f] = Walk
		default:
			out[f] = Run
		}
	}
	return out
}

// measureBody computes the samples of a motion, (frames, joints) in the world.
func measureBody(sk *skel.Skeleton, places []m3.Vec3, fps float64, kind []Kind) *samples {
	n, s := sk.Len(), new(samples)
	frames := len(places) / n
	at := func(f, joint int) m3.Vec3 { return places[f*n+joint] }
	both := func(name string) [2]int { return [2]int{sk.Index("Left" + name), sk.Index("Right" + name)} }
	hips, neck := sk.Index("Hips"), sk.Index("Neck")
	thighs, knees, feet, toes, hands := both("UpLeg"), both("Leg"), both("Foot"), both("ToeBase"), both("Hand")
	var low [2]float32
	for i, toe := range toes {
		h := make([]float64, frames)
		for f := range h {
			h[f] = float64(at(f, toe).Y)
		}
		low[i] = float32(percentile(h, 0.05)) + toeLow
	}
	half := int(fps / 2)
	for f := range frames {
		v := &s[kind[f]]
		v.frames++
		for i := range knees {
			knee := at(f, knees[i])
			thigh, shin := knee.Sub(at(f, thighs[i])), at(f, feet[i]).Sub(knee)
			v.legs++
			if m3.Atan2(thigh.Cross(shin).Len(), thigh.Dot(shin)) < straightKnee {
				v.straight++
			}
		}
		near := false
		for _, hand := range hands {
			p := at(f, hand)
			near = near || p.Dist(p.OnSegment(at(f, hips), at(f, neck))) < handInTorso
		}
		if near {
			v.handIn++
		}
		for _, p := range places[f*n:][:n] {
			if p.Y < belowFloor {
				v.below++
				break
			}
		}
		if f >= half && f+half < frames {
			mean := float32(0)
			for k := f - half; k <= f+half; k++ {
				mean += at(k, hips).Y / float32(2*half+1)
			}
			d := float64(at(f, hips).Y - mean)
			v.bounce += d * d
		}
		if f+3 < frames {
			third := at(f+3, hips).Sub(at(f, hips)).Sub(at(f+2, hips).Sub(at(f+1, hips)).Scale(3))
			v.jerk = append(v.jerk, float64(third.Len())*fps*fps*fps)
		}
		if f+1 < frames {
			slow := math.Inf(1)
			for i, toe := range toes {
				if p := at(f, toe); p.Y < low[i] {
					slow = min(slow, float64(at(f+1, toe).Sub(p).Flat().Len())*fps)
				}
			}
			if !math.IsInf(slow, 1) {
				v.toe = append(v.toe, slow)
			}
		}
	}
	return s
}

// Bodies returns the figures of the motions of scores, and of their recordings, by kind of frame.
func Bodies(scores []Score) (made, recorded [kinds]Body) {
	var m, r samples
	for i := range scores {
		m.add(scores[i].made)
		r.add(scores[i].recorded)
	}
	for k := range kinds {
		made[k], recorded[k] = m.body(k), r.body(k)
	}
	return made, recorded
}
