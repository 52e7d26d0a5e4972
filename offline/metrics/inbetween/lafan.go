package inbetween

import (
	"math"

	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// The protocol of Harvey et al. 2020: windows at 30 frames per second, their distance, their past.
const (
	windowFrames = 50
	windowHop    = 20
	windowPast   = 10
)

// Spread is the mean and deviation of every coordinate of every joint over the training set's
// windows, (3·joints). L2P is normalised by it.
type Spread struct{ Mean, Std []float64 }

// transition is a window.
type transition struct {
	clip *skel.Clip
	from int
}

// transitions returns all windows of clips at 30 frames per second.
func transitions(clips []*skel.Clip) (out []transition) {
	for _, c := range clips {
		for from := 0; from+windowFrames < c.Frames; from += windowHop {
			out = append(out, transition{c, from})
		}
	}
	return out
}

// track returns a window's motion. The root's mean position on the ground is the origin, and the
// last frame before the transition faces +Z.
func (w transition) track(l *keypose.Layout) *keypose.Track {
	t := l.NewTrack(windowFrames, keypose.Rate)
	t.SetClip(w.clip, float64(w.from), 1)
	yaw := t.Place[windowPast-1].Yaw
	var mean m3.Vec3
	for f := range t.Place {
		t.Place[f].Pos = m3.YawQuat(-yaw).Rotate(t.Place[f].Pos)
		t.Place[f].Yaw -= yaw
		mean = mean.Add(t.Place[f].Pos.Scale(1.0 / windowFrames))
	}
	for f := range t.Place {
		t.Place[f].Pos = t.Place[f].Pos.Sub(mean)
	}
	return t
}

// NewSpread returns the spread of clips at 30 frames per second on the layout's skeleton.
func NewSpread(l *keypose.Layout, clips []*skel.Clip) *Spread {
	n := 3 * l.Skel.Len()
	sum, sq := make([]float64, n), make([]float64, n)
	count := 0.0
	for _, w := range transitions(clips) {
		places := placesOf(w.track(l))
		for i, p := range places {
			for k, v := range [3]float32{p.X, p.Y, p.Z} {
				c := i*3%n + k
				sum[c] += float64(v)
				sq[c] += float64(v) * float64(v)
			}
		}
		count += windowFrames
	}
	s := &Spread{make([]float64, n), make([]float64, n)}
	for c := range sum {
		s.Mean[c] = sum[c] / count
		s.Std[c] = math.Sqrt(max(sq[c]/count-s.Mean[c]*s.Mean[c], 1e-12))
	}
	return s
}

// Transition is the result of a method for gaps of one length.
type Transition struct {
	Method string  `json:"method"`
	Frames int     `json:"frames"` // of the gap, 30 per second
	Cases  int     `json:"cases"`
	L2P    float64 `json:"l2p"` // mean norm of the normalised position error of all joints that turn
	L2Q    float64 `json:"l2q"` // the same of their quaternions in the world
	Joints float64 `json:"joints_cm"`
}

// Transitions measures gaps of gap frames after ten frames in all windows of clips, at 30 frames
// per second. The frame after the gap is the target. Later frames are not given to fill.
func Transitions(l *keypose.Layout, s *Spread, method string, clips []*skel.Clip, gap int, fill Fill) (Transition, error) {
	r := Transition{Method: method, Frames: gap}
	frames := 0.0
	for _, w := range transitions(clips) {
		truth := w.track(l)
		t := l.NewTrack(windowPast+gap+1, keypose.Rate)
		t.Copy(truth)
		for f := range windowPast {
			t.Key(f)
		}
		t.Key(t.Frames - 1)
		if err := fill(t); err != nil {
			return r, err
		}
		r.Cases++
		want, have := modelOf(truth), modelOf(t)
		n := l.Skel.Len()
		for f := windowPast; f < windowPast+gap; f++ {
			var p, q float64
			for _, j := range l.Joints {
				d := have[f*n+int(j)].Pos.Sub(want[f*n+int(j)].Pos)
				for k, v := range [3]float32{d.X, d.Y, d.Z} {
					e := float64(v) / s.Std[3*int(j)+k]
					p += e * e
				}
				r.Joints += 100 * float64(d.Len()) / float64(len(l.Joints))
				a, b := have[f*n+int(j)].Rot, want[f*n+int(j)].Rot
				if a.Dot(b) < 0 {
					a = a.Neg()
				}
				q += sq(a.X-b.X) + sq(a.Y-b.Y) + sq(a.Z-b.Z) + sq(a.W-b.W)
			}
			r.L2P += math.Sqrt(p)
			r.L2Q += math.Sqrt(q)
			frames++
		}
	}
	r.L2P, r.L2Q, r.Joints = r.L2P/max(1, frames), r.L2Q/max(1, frames), r.Joints/max(1, frames)
	return r, nil
}

func sq(x float32) float64 { return float64(x) * float64(x) }
