package registration

import (
	"math"
	"slices"
)

// A foot is in contact if its ankle or toe is lower than standHeight above its lowest
// height, and slower than standSpeed plus a share of the body's speed: recorded feet slide
// a little when a body is fast. Contacts and gaps shorter than standShort are noise.
const (
	standHeight = 0.045 // m
	standSpeed  = 0.45  // m/s
	standShare  = 0.15
	standShort  = 0.06 // s
)

// contacts returns the feet in contact in each frame, and a soft value of each, 0 to 1. Each point
// of a foot has its own ground level: retargeted feet may float or sink by centimetres.
func (b *body) contacts() (own []uint8, soft [2][]float64) {
	own = make([]uint8, b.frames)
	body := b.paces(b.hips, int(b.fps/4))
	for i := range sides {
		soft[i] = make([]float64, b.frames)
		stands := make([]bool, b.frames)
		for _, j := range []int{b.ankle[i], b.toe[i], b.tip[i]} {
			if j < 0 {
				continue
			}
			height, pace := make([]float64, b.frames), b.paces(j, max(1, b.span()/2))
			for f := range height {
				height[f] = float64(b.at(f, j).Y)
			}
			ground := percentile(height, 0.05)
			for f := range height {
				h, v := height[f]-ground, pace[f]
				limit := standSpeed + standShare*body[f]
				stands[f] = stands[f] || h < standHeight && v < limit
				h, v = math.Max(h, 0)/(1.5*standHeight), v/(1.5*limit)
				soft[i][f] = max(soft[i][f], math.Exp(-h*h-v*v))
			}
		}
		short := max(1, int(standShort*b.fps))
		tidy(stands, false, short)
		tidy(stands, true, short)
		for f, s := range stands {
			if s {
				own[f] |= 1 << i
			}
		}
	}
	return own, soft
}

// paces returns the speed of joint j over the frames n to either side, m/s.
func (b *body) paces(j, n int) []float64 {
	out := make([]float64, b.frames)
	for f := range out {
		lo, hi := max(f-n, 0), min(f+n, b.frames-1)
		out[f] = float64(b.at(hi, j).Sub(b.at(lo, j)).Flat().Len()) * b.fps / float64(max(hi-lo, 1))
	}
	return out
}

// tidy inverts runs of value that are shorter than short and not at an end.
func tidy(v []bool, value bool, short int) {
	for from := 0; from < len(v); {
		to := from
		for to < len(v) && v[to] == v[from] {
			to++
		}
		if v[from] == value && to-from < short && from > 0 && to < len(v) {
			for f := from; f < to; f++ {
				v[f] = !value
			}
		}
		from = to
	}
}

func percentile(v []float64, share float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[int(share*float64(len(s)-1))]
}
