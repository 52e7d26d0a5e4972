package mar

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/netruntime/vec"
)

// Window is the number of frames over which poses are compared, ending with the present one (Xia et
// al. 2015, sec. 5.1).
const Window = 5

// metric is the distance between windows of poses of Kovar, Gleicher and Pighin (2002), eq. 1 in
// Xia: the least weighted sum of squared distances between the joints' places over all turns of one
// window about the vertical and moves over the ground.
//
// With weights of sum 1, the weighted centre of the places at the origin, and the ground's plane as
// complex numbers, it is
//
//	d² = Σ w (y − y')² + ‖a‖² + ‖b‖² − 2|⟨a, b⟩|
//
// for a and b the vectors of √w (x + iz): a turn multiplies them by e^iθ. Any complex basis keeps
// that, so windows are stored as coordinates of few principal components, whatever their heading.
// The remainder of a window is below the precision of float32. Turns and moves are isometries, so d
// is a distance and obeys the triangle inequality.
type metric struct {
	joints []int16   // that count
	weight []float32 // (Window, joints) √w
	mean   []float32 // (n) of the windows' heights, subtracted
	parts  [2]part   // coordinates, the largest first: they rule out distant windows early
}

// part is a part of a window's coordinates: real parts, imaginary parts, heights, the norm of all
// later parts, and half the sum of squares up to here.
type part struct {
	plane  []float32 // (2·planar, 2·n) rows that give real and imaginary parts
	height []float32 // (tall, n)
	planar int
	tall   int
	at     int // of the first
}

func (p *part) columns() int { return p.values() + 2 }

func (p *part) values() int { return 2*p.planar + p.tall }

// n returns the number of places in a window.
func (m *metric) n() int { return len(m.weight) }

// columns returns the length of a window's coordinates.
func (m *metric) columns() int { return m.parts[1].at + m.parts[1].columns() }

// minBone is the length of the shortest bone whose end counts, m. Fingers and the pivots of
// shoulders and necks move with the joints that carry them.
const minBone = 0.05

// newMetric returns a metric of the joints of sk that are in only, all of equal weight in all frames
// of the window. A nil only means all joints.
func newMetric(sk *skel.Skeleton, only []int) (*metric, error) {
	m := &metric{}
	for j := range sk.Names {
		if (j == 0 || sk.Offsets[j].Len() >= minBone && !sk.EndSite[j]) && (only == nil || slices.Contains(only, j)) {
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

// cloud writes the weighted, centred places of a window: first xs, then zs, (2·n), and heights,
// (n). at returns the places of all joints of the i-th frame.
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

// coordinates writes the coordinates, (columns), of a cloud.
func (m *metric) coordinates(dst, plane, height []float32) {
	n, half := m.n(), float32(0)
	for i := range m.parts {
		p := &m.parts[i]
		to := dst[p.at:][:p.columns()]
		for c := range 2 * p.planar {
			to[c] = vec.Dot(p.plane[c*2*n:(c+1)*2*n], plane)
		}
		for c := range p.tall {
			to[2*p.planar+c] = vec.Dot(p.height[c*n:(c+1)*n], height)
		}
		v := p.values()
		half += vec.Dot(to[:v], to[:v]) / 2
		to[v], to[v+1] = 0, half
	}
	first, last := &m.parts[0], len(dst)-1
	dst[first.values()] = m3.Sqrt(max(0, 2*(dst[last]-dst[first.values()+1])))
}

// turned writes the coordinates of q turned by a quarter, with heights 0. The distances need it
// beside q.
func (m *metric) turned(dst, q []float32) {
	clear(dst)
	for i := range m.parts {
		p := &m.parts[i]
		to, from := dst[p.at:], q[p.at:]
		for c := range p.planar {
			to[c], to[p.planar+c] = from[p.planar+c], -from[c]
		}
	}
}

// bounds writes lower bounds of the distances of sixteen windows, given the first part of their
// coordinates. The difference of the norms bounds the later parts.
func (m *metric) bounds(d *[lanes]float32, q, turned, x []float32) {
	var sums [3 * lanes]float32
	p := &m.parts[0]
	vec.Distances16(d, &sums, x, q, turned, 2*p.planar, p.tall)
}

// distances writes the distances of the query q, with its quarter turn, from sixteen windows whose
// coordinates are interleaved, (columns, 16). If all are farther than beyond, it returns false, and
// d holds lower bounds.
func (m *metric) distances(d *[lanes]float32, q, turned, x []float32, beyond float32) bool {
	var sums [3 * lanes]float32
	for i := range m.parts {
		p := &m.parts[i]
		vec.Distances16(d, &sums, x[lanes*p.at:], q[p.at:], turned[p.at:], 2*p.planar, p.tall)
		if slices.Min(d[:]) > beyond {
			return false
		}
	}
	return true
}

// distance returns the distance of a query q, with its quarter turn, from another window.
func (m *metric) distance(q, turned, r []float32) float32 {
	var re, im, h float32
	for i := range m.parts {
		p := &m.parts[i]
		v, plane := p.at+p.values(), p.at+2*p.planar
		re += vec.Dot(q[p.at:plane], r[p.at:plane])
		im += vec.Dot(turned[p.at:plane], r[p.at:plane])
		h += vec.Dot(q[plane:v], r[plane:v])
	}
	last := len(q) - 1
	return m3.Sqrt(max(0, 2*(q[last]+r[last]-h-m3.Sqrt(re*re+im*im))))
}

// Principal components may leave out these shares of the sums of squares. Distances of poses are
// then exact to a few thousandths. Contacts, which count neighbours, need less.
const (
	poseShare = 2e-6
	legsShare = 2e-4
)

// fit finds the principal components that hold all but a share of count windows.
func (m *metric) fit(share float64, count int, window func(i int, plane, height []float32)) error {
	n := m.n()
	plane, height := make([]float32, 2*n), make([]float32, n)
	// Complex covariance A + iB as the real, symmetric (A −B; B A), whose eigenvectors come in
	// pairs, (re, im) of u and of iu.
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
	for c := 0; c < 2*n && !most(values, c, share); c++ {
		u := vectors[c]
		for _, b := range basis { // remove the part along earlier ones
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
			continue // i times an earlier one
		}
		for k := range u {
			u[k] /= math.Sqrt(norm)
		}
		basis = append(basis, u)
	}
	if values, vectors, err = eigen(tall); err != nil {
		return err
	}
	high := 0
	for high < n && !most(values, high, share) {
		high++
	}
	first, second := &m.parts[0], &m.parts[1]
	first.take(basis[:min(firstPlanar, len(basis))], vectors[:min(firstTall, high)])
	second.at = first.columns()
	second.take(basis[first.planar:], vectors[first.tall:high])
	return nil
}

// Numbers of coordinates in the first part.
const (
	firstPlanar = 12
	firstTall   = 8
)

// take makes complex vectors u and real vectors v the basis of p.
func (p *part) take(u, v [][]float64) {
	p.planar, p.tall = len(u), len(v)
	for _, b := range u {
		p.plane = appendScaled(p.plane, b, 1)
	}
	for _, b := range u {
		n := len(b) / 2
		p.plane = appendScaled(appendScaled(p.plane, b[n:], -1), b[:n], 1)
	}
	for _, b := range v {
		p.height = appendScaled(p.height, b, 1)
	}
}

func appendScaled(dst []float32, v []float64, by float64) []float32 {
	for _, x := range v {
		dst = append(dst, float32(by*x))
	}
	return dst
}

// most reports whether the first c values hold all but a share of the sum.
func most(values []float64, c int, share float64) bool {
	var rest, all float64
	for i, v := range values {
		all += max(v, 0)
		if i >= c {
			rest += max(v, 0)
		}
	}
	return c > 0 && rest <= share*all
}

// eigen returns the eigenvalues of a and their vectors, largest first.
func eigen(a *mat.SymDense) ([]float64, [][]float64, error) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil, nil, fmt.Errorf("mar: the principal components of the poses cannot be computed: check for values that are not finite")
	}
	n := a.SymmetricDim()
	values, vectors := e.Values(nil), make([][]float64, n)
	var all mat.Dense
	e.VectorsTo(&all)
	for c := range n {
		vectors[c] = mat.Col(nil, n-1-c, &all)
	}
	slices.Reverse(values)
	return values, vectors, nil
}
