package mar

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/kernel"
)

// Window is the number of frames that poses are compared over, the present one
// the last (Xia et al. 2015, sec. 5.1).
const Window = 5

// metric is the distance between windows of poses of Kovar, Gleicher and Pighin
// (2002), eq. 1 in Xia: the least weighted sum of squared distances between the
// joints' places over all ways to turn one window about the vertical and to move
// it over the ground.
//
// With weights of sum 1, places moved so that their weighted centre is the
// origin, and the ground's plane as complex numbers, it is
//
//	d² = Σ w (y − y')² + ‖a‖² + ‖b‖² − 2|⟨a, b⟩|
//
// for a and b the vectors of √w (x + iz): turning multiplies by e^iθ. Any basis of
// complex numbers keeps that, so windows are held as coordinates of few principal
// components, whatever their heading; the rest of a window is smaller than what
// float32 keeps. And since turns and moves are isometries, d is a distance, for
// which the triangle inequality holds.
type metric struct {
	joints []int16   // of a frame that count
	weight []float32 // (Window, joints) √w
	plane  []float32 // (2·planar, 2·n) rows that give real and imaginary parts
	height []float32 // (tall, n)
	mean   []float32 // (n) of the windows' heights, which are taken off
	planar int
	tall   int
}

// n returns the number of places in a window.
func (m *metric) n() int { return len(m.weight) }

// columns returns the length of a window's coordinates: planar ones, their
// imaginary parts, heights and half the sum of squares of all.
func (m *metric) columns() int { return 2*m.planar + m.tall + 1 }

// shortest is the length of the shortest bone whose end counts, m: fingers and the
// pivots of shoulders and necks go with what holds them.
const shortest = 0.05

// newMetric returns one of the joints of sk that only keeps, all of equal weight,
// in all frames of the window.
func newMetric(sk *skel.Skeleton, only func(j int) bool) (*metric, error) {
	m := &metric{}
	for j := range sk.Names {
		if (j == 0 || sk.Offsets[j].Len() >= shortest && !sk.EndSite[j]) && (only == nil || only(j)) {
			m.joints = append(m.joints, int16(j))
		}
	}
	if len(m.joints) == 0 {
		return nil, fmt.Errorf("mar: no joint to compare poses by")
	}
	m.weight, m.mean = make([]float32, Window*len(m.joints)), make([]float32, Window*len(m.joints))
	for i := range m.weight {
		m.weight[i] = m3.Sqrt(1 / float32(len(m.weight)))
	}
	return m, nil
}

// cloud writes the weighted, centred places of a window of frames: xs and zs after
// one another, (2·n), and heights, (n). at returns the places of all joints of the
// i-th frame.
func (m *metric) cloud(plane, height []float32, at func(i int) []m3.Vec3) {
	n, k := m.n(), 0
	var cx, cz, sum float64
	for i := range Window {
		p := at(i)
		for _, j := range m.joints {
			w := float64(m.weight[k]) * float64(m.weight[k])
			cx += w * float64(p[j].X)
			cz += w * float64(p[j].Z)
			sum += w
			k++
		}
	}
	x, z := float32(cx/sum), float32(cz/sum)
	k = 0
	for i := range Window {
		p := at(i)
		for _, j := range m.joints {
			w := m.weight[k]
			plane[k], plane[n+k], height[k] = w*(p[j].X-x), w*(p[j].Z-z), w*p[j].Y-m.mean[k]
			k++
		}
	}
}

// coordinates writes a cloud's, columns() long.
func (m *metric) coordinates(dst, plane, height []float32) {
	n := m.n()
	for c := range 2 * m.planar {
		dst[c] = kernel.Dot(m.plane[c*2*n:(c+1)*2*n], plane)
	}
	d := dst[2*m.planar:]
	for c := range m.tall {
		d[c] = kernel.Dot(m.height[c*n:(c+1)*n], height)
	}
	last := len(dst) - 1
	dst[last] = kernel.Dot(dst[:last], dst[:last]) / 2
}

// turned writes coordinates of q turned by a quarter, heights 0: what distance
// needs beside q.
func (m *metric) turned(dst, q []float32) {
	for c := range m.planar {
		dst[c], dst[m.planar+c] = q[m.planar+c], -q[c]
	}
	clear(dst[2*m.planar:])
}

// distances writes d of the query q, with its quarter turn, and sixteen windows,
// whose coordinates lie side by side, (columns, 16).
func (m *metric) distances(d *[lanes]float32, q, turned, x []float32) {
	p := 2 * m.planar
	last := len(q) - 1
	var re, im, h [lanes]float32
	kernel.Dots16(&re, x[:lanes*p], q[:p])
	kernel.Dots16(&im, x[:lanes*p], turned[:p])
	kernel.Dots16(&h, x[lanes*p:lanes*last], q[p:last])
	half := x[lanes*last:][:lanes]
	for l := range d {
		sq := 2 * (q[last] + half[l] - h[l] - m3.Sqrt(re[l]*re[l]+im[l]*im[l]))
		d[l] = m3.Sqrt(max(0, sq))
	}
}

// distance returns d of a query q, with its quarter turn, and another window.
func (m *metric) distance(q, turned, r []float32) float32 {
	last, p := len(q)-1, 2*m.planar
	re, im := kernel.Dot(q[:p], r[:p]), kernel.Dot(turned[:p], r[:p])
	sq := 2 * (q[last] + r[last] - kernel.Dot(q[p:last], r[p:last]) - m3.Sqrt(re*re+im*im))
	return m3.Sqrt(max(0, sq))
}

// share is the part of the windows' sum of squares that the principal components
// leave out. It takes less than a thousandth off distances between neighbours.
const share = 2e-5

// fit finds the principal components of count windows.
func (m *metric) fit(count int, window func(i int, plane, height []float32)) error {
	n := m.n()
	plane, height := make([]float32, 2*n), make([]float32, n)
	// Complex covariance A + iB as the real, symmetric (A −B; B A), whose
	// eigenvectors come in pairs, (re, im) of u and of iu.
	cov, tall := mat.NewSymDense(2*n, nil), mat.NewSymDense(n, nil)
	v, w, h := mat.NewVecDense(2*n, nil), mat.NewVecDense(2*n, nil), mat.NewVecDense(n, nil)
	sum := make([]float64, n)
	for i := range count {
		window(i, plane, height)
		for k, y := range height {
			sum[k] += float64(y)
		}
	}
	for k := range sum {
		m.mean[k] = float32(sum[k] / float64(count))
	}
	for i := range count {
		window(i, plane, height)
		for k := range n {
			x, z := float64(plane[k]), float64(plane[n+k])
			v.SetVec(k, x)
			v.SetVec(n+k, z)
			w.SetVec(k, -z)
			w.SetVec(n+k, x)
			h.SetVec(k, float64(height[k]))
		}
		cov.SymRankOne(cov, 1, v)
		cov.SymRankOne(cov, 1, w)
		tall.SymRankOne(tall, 1, h)
	}
	values, vectors, err := eigen(cov)
	if err != nil {
		return err
	}
	var basis [][]float64
	for c := 0; c < 2*n && !most(values, c); c++ {
		u := vectors[c]
		for _, b := range basis { // without the part along those there are
			var re, im float64
			for k := range n {
				re += b[k]*u[k] + b[n+k]*u[n+k]
				im += b[k]*u[n+k] - b[n+k]*u[k]
			}
			for k := range n {
				u[k], u[n+k] = u[k]-re*b[k]+im*b[n+k], u[n+k]-re*b[n+k]-im*b[k]
			}
		}
		norm := 0.0
		for _, x := range u {
			norm += x * x
		}
		if norm < 0.25 {
			continue // i times one that there is
		}
		for k := range u {
			u[k] /= math.Sqrt(norm)
		}
		basis = append(basis, u)
	}
	m.planar = len(basis)
	m.plane = make([]float32, 2*m.planar*2*n)
	for c, u := range basis {
		re, im := m.plane[c*2*n:(c+1)*2*n], m.plane[(m.planar+c)*2*n:(m.planar+c+1)*2*n]
		for k := range n {
			re[k], re[n+k] = float32(u[k]), float32(u[n+k])
			im[k], im[n+k] = float32(-u[n+k]), float32(u[k])
		}
	}
	if values, vectors, err = eigen(tall); err != nil {
		return err
	}
	m.tall, m.height = 0, m.height[:0]
	for c := 0; c < n && !most(values, c); c++ {
		m.tall++
		for _, x := range vectors[c] {
			m.height = append(m.height, float32(x))
		}
	}
	return nil
}

// most reports whether the first c of the values hold all but share of them.
func most(values []float64, c int) bool {
	var rest, all float64
	for i, v := range values {
		all += max(v, 0)
		if i >= c {
			rest += max(v, 0)
		}
	}
	return c > 0 && rest <= share*all
}

// eigen returns the eigenvalues of a and their vectors, largest first. A vector's
// first component that is not small is positive.
func eigen(a *mat.SymDense) ([]float64, [][]float64, error) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil, nil, fmt.Errorf("mar: the principal components of the poses cannot be found: are there values that are not finite?")
	}
	n := a.SymmetricDim()
	values, vectors := e.Values(nil), make([][]float64, n)
	var all mat.Dense
	e.VectorsTo(&all)
	for c := range n {
		vectors[c] = mat.Col(nil, n-1-c, &all)
	}
	for i := range n / 2 {
		values[i], values[n-1-i] = values[n-1-i], values[i]
	}
	return values, vectors, nil
}
