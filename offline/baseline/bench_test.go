package baseline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mannequin/internal/testing/must"
)

// performances are pairs as motion makes them: gaits of several speeds in many
// joints, smooth, with an output that is another function of the phase.
func performances(r *rand.Rand, pairs, frames, dofs int) []Pair {
	shape := mat.NewDense(dofs, 12, nil)
	for d := range dofs {
		for k := range 12 {
			shape.Set(d, k, 0.3*r.NormFloat64())
		}
	}
	var out []Pair
	for range pairs {
		rate, size, phase := 0.03+0.03*r.Float64(), 0.7+0.6*r.Float64(), 2*math.Pi*r.Float64()
		p := Pair{mat.NewDense(frames, dofs, nil), mat.NewDense(frames, dofs, nil), make([]float64, frames)}
		wander := walk(r, frames)
		for t := range frames {
			phase += rate * (1 + 0.2*wander[t])
			s := shape.RawMatrix()
			for d := range dofs {
				k := s.Data[d*s.Stride:]
				p.X.Set(t, d, size*(k[0]*math.Sin(phase)+k[1]*math.Cos(phase)+0.4*k[2]*math.Sin(2*phase+k[3]))+k[4]+0.003*r.NormFloat64())
				p.Y.Set(t, d, size*(k[5]*math.Sin(phase)+k[6]*math.Cos(phase)+0.4*k[7]*math.Sin(2*phase+k[8]))+k[9]+0.1*math.Abs(k[10])*math.Sin(phase)*math.Cos(3*phase)+0.003*r.NormFloat64())
			}
			p.Step[t] = math.Exp(0.2*math.Sin(phase) + 0.1*wander[t])
		}
		out = append(out, p)
	}
	return out
}

func BenchmarkFit(b *testing.B) {
	pairs := performances(rand.New(rand.NewPCG(3, 4)), 20, 1000, 79)
	for _, c := range []struct {
		name string
		fit  func() (Translator, error)
	}{
		{"lti=own", func() (Translator, error) { return FitLTI(pairs, LTIOptions{}) }},
		{"lti=pose", func() (Translator, error) { return FitLTI(pairs, LTIOptions{Pose: true}) }},
		{"globalar", func() (Translator, error) { return FitGlobalAR(pairs, GlobalAROptions{}) }},
		{"gp", func() (Translator, error) { return FitGP(pairs, GPOptions{}) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				must.Get(c.fit())(b)
			}
		})
	}
}
