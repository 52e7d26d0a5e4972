package baseline

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// kernel is a Gaussian (RBF) of scaled features' distance, exp(-|p - q|²/2), signal variance 1.
type kernel struct {
	scale []float64 // (features) factors of features
	noise float64   // ρ, noise variance over signal variance
}

// hyper are the parameters chosen by the marginal likelihood.
type hyper struct {
	length   float64 // length scale, in root mean squares of a block of features
	noise    float64 // ρ of kernel
	velocity float64 // weight of the velocities beside the poses
	whiten   float64 // 0: principal components count by their variance; 1: all count the same
}

// newKernel scales poses and velocities, the two halves of the features, to a total variance of 1
// each. Then velocities get their weight.
func newKernel(h hyper, variance []float64) kernel {
	k := kernel{scale: make([]float64, len(variance)), noise: h.noise}
	half := len(variance) / 2
	for b := range 2 {
		var total float64
		block := variance[b*half : (b+1)*half]
		for _, v := range block {
			if v > 0 {
				total += math.Pow(v, 1-h.whiten)
			}
		}
		weight := 1 / h.length
		if b == 1 {
			weight *= h.velocity
		}
		for i, v := range block {
			if v > 0 {
				k.scale[b*half+i] = weight * math.Pow(v, -h.whiten/2) / math.Sqrt(total)
			}
		}
	}
	return k
}

func (k kernel) scaled(features *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(features)
	r, _ := out.Dims()
	for t := range r {
		row := out.RawRowView(t)
		for j, s := range k.scale {
			row[j] *= s
		}
	}
	return out
}

// between returns the kernel of all rows of a with all rows of b, both scaled.
func (k kernel) between(a, b *mat.Dense) *mat.Dense {
	n, _ := a.Dims()
	m, _ := b.Dims()
	out := mat.NewDense(n, m, nil)
	for i := range n {
		p, row := a.RawRowView(i), out.RawRowView(i)
		for j := range m {
			row[j] = math.Exp(-distance2(p, b.RawRowView(j)) / 2)
		}
	}
	return out
}

// noisy returns the kernel of points with themselves, with noise on the diagonal.
func (k kernel) noisy(points *mat.Dense) *mat.SymDense {
	n, _ := points.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		p := points.RawRowView(i)
		out.SetSym(i, i, 1+k.noise)
		for j := i + 1; j < n; j++ {
			out.SetSym(i, j, math.Exp(-distance2(p, points.RawRowView(j))/2))
		}
	}
	return out
}

func distance2(p, q []float64) (sum float64) {
	for i, v := range p {
		d := v - q[i]
		sum += d * d
	}
	return sum
}

// Bounds of the search, for data without noise or with nothing but noise.
const (
	minLength, maxLength = 1.0 / 64, 64
	minNoise, maxNoise   = 1e-8, 1e2
	maxSample            = 400 // frames in the likelihood
)

var (
	whitens    = []float64{0, 0.5, 1}
	velocities = []float64{0, 0.5, 1, 2}
)

// fitKernel maximises the marginal likelihood by a pattern search. One parameter at a time takes a
// step up or down. If no step helps, the steps of length and noise are halved.
func fitKernel(features, outputs *mat.Dense, variance []float64) kernel {
	const fine = 8 // steps of length and noise per factor of 2 and 4
	const length, noise, velocity, whiten = 0, 1, 2, 3
	at := [4]int{noise: -3 * fine, velocity: 2, whiten: 1} // in steps, and as indices
	value := func(p [4]int) (hyper, bool) {
		if p[velocity] < 0 || p[velocity] >= len(velocities) || p[whiten] < 0 || p[whiten] >= len(whitens) {
			return hyper{}, false
		}
		h := hyper{math.Exp2(float64(p[length]) / fine), math.Exp2(2 * float64(p[noise]) / fine), velocities[p[velocity]], whitens[p[whiten]]}
		return h, h.length >= minLength && h.length <= maxLength && h.noise >= minNoise && h.noise <= maxNoise
	}
	start, _ := value(at)
	best := logLikelihood(newKernel(start, variance), features, outputs)
	for size := fine; size > 0; {
		improved := false
		for parameter, step := range [4]int{length: size, noise: size, velocity: 1, whiten: 1} {
			for _, sign := range []int{1, -1} {
				p := at
				p[parameter] += sign * step
				h, ok := value(p)
				if !ok {
					continue
				}
				if l := logLikelihood(newKernel(h, variance), features, outputs); l > best {
					best, at, improved = l, p, true
					break
				}
			}
		}
		if !improved {
			size /= 2
		}
	}
	h, _ := value(at)
	return newKernel(h, variance)
}

// logLikelihood returns the outputs' log marginal likelihood (Rasmussen and Williams 2006, eq.
// 2.30) up to a constant, with the best shared signal variance, tr(Yᵀ(R + ρI)⁻¹Y)/(n·d).
func logLikelihood(k kernel, features, outputs *mat.Dense) float64 {
	var chol mat.Cholesky
	if !chol.Factorize(k.noisy(k.scaled(features))) {
		return math.Inf(-1)
	}
	var alpha mat.Dense
	if failed(chol.SolveTo(&alpha, outputs)) {
		return math.Inf(-1)
	}
	n, d := outputs.Dims()
	var signal float64
	for i := range n {
		a := alpha.RawRowView(i)
		for j, v := range outputs.RawRowView(i) {
			signal += v * a[j]
		}
	}
	signal /= float64(n * d)
	if !(signal > 0) {
		return math.Inf(-1) // constant outputs: every kernel predicts them
	}
	return -0.5 * float64(d) * (float64(n)*math.Log(signal) + chol.LogDet())
}
