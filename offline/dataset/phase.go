package dataset

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Limits of Stands. A share of the body's speed is added because paws swing at two to three times
// the body's speed, and recorded ones slide at up to 0.5 m/s while they stand in a canter.
const (
	standHeight = 0.05 // m
	standSpeed  = 0.15 // m/s
	standShare  = 0.35 // of the body's speed
	standFrames = 5    // of which most must agree
	standSpan   = 15   // frames to either side over which the body's speed is averaged
)

// Stands reports in which frames a paw is in contact with the ground. Its tip is then lower
// than 5 cm and slower over the ground than 0.15 m/s plus 0.35 of the body's mean speed, in
// most of the five frames around. The mean is over 15 frames to either side. tip and body
// are positions per frame, m, at fps frames per second. It looks ahead and has no delay.
func Stands(tip, body []m3.Vec3, fps float64) []bool {
	last := len(tip) - 1
	speed := func(p []m3.Vec3, f, span int) float64 {
		a, b := max(f-span, 0), min(f+span, last)
		return fps * float64(p[b].Sub(p[a]).Flat().Len()) / float64(max(b-a, 1))
	}
	slow := make([]bool, len(tip))
	for f := range slow {
		slow[f] = tip[f].Y < standHeight && speed(tip, f, 1) < standSpeed+standShare*speed(body, f, standSpan)
	}
	out := make([]bool, len(tip))
	for f := range out {
		n, of := 0, 0
		for k := max(f-standFrames/2, 0); k <= min(f+standFrames/2, last); k++ {
			of++
			if slow[k] {
				n++
			}
		}
		out[f] = 2*n > of
	}
	return out
}

// The band of steps, in Hz. Between the inner bounds everything passes, beyond the outer
// ones nothing. Recorded dogs make 1.1 (walk) to 2.2 (gallop) strides per second.
const (
	bandFloor, bandLow = 0.35, 0.7
	bandHigh, bandTop  = 3, 5
)

// step computes the phases of the tips' stepping: the analytic signal, in the band of steps, of
// swing (1) and stance (0). A tip that does not step has amplitude 0. One that does goes round once
// per stride, with angle 0 in the middle of a swing. The idea is that of the local phases of Starke
// et al. 2020, who fit a sine to every window of the same signal instead.
func (t *track) step(l *feature.MANN) {
	n := len(l.Tips)
	t.phases = make([]float32, t.n*n*feature.PhaseLen)
	tip, body := make([]m3.Vec3, t.n), make([]m3.Vec3, t.n)
	for k, name := range l.Tips {
		j := slices.Index(l.Joints, name)
		for f := range t.n {
			tip[f], body[f] = t.pos[f*t.joints+j], t.pos[f*t.joints]
		}
		swing := make([]float64, t.n)
		for f, stands := range Stands(tip, body, fps) {
			if !stands {
				swing[f] = 1
			}
		}
		for f, v := range analytic(swing) {
			at := t.phases[(f*n+k)*feature.PhaseLen:]
			at[0], at[1] = float32(real(v)), float32(imag(v))
		}
	}
}

// analytic returns the analytic signal of v in the band of steps. v is mirrored beyond its ends.
func analytic(v []float64) []complex128 {
	n := len(v)
	seq := make([]complex128, 2*n)
	for i, x := range v {
		seq[i], seq[2*n-1-i] = complex(x, 0), complex(x, 0)
	}
	fft := fourier.NewCmplxFFT(2 * n)
	c := fft.Coefficients(nil, seq)
	for i := range c {
		c[i] *= complex(2*bandGain(fft.Freq(i)*fps)/float64(2*n), 0)
	}
	return fft.Sequence(nil, c)[:n]
}

// bandGain returns the gain at a frequency, 0 at negative ones.
func bandGain(hz float64) float64 {
	rise := func(from, to float64) float64 {
		x := max(0, min(1, (hz-from)/(to-from)))
		return (1 - math.Cos(math.Pi*x)) / 2
	}
	return min(rise(bandFloor, bandLow), 1-rise(bandHigh, bandTop))
}
