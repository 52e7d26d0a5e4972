// Package linsolve solves small dense systems of linear equations in place.
package linsolve

import "math"

// Three solves three equations with a positive definite matrix; the last column is the right side.
func Three(m [3][4]float64) (x [3]float64) {
	for i := range 3 {
		for j := i + 1; j < 3; j++ {
			s := m[j][i] / m[i][i]
			for k := i; k < 4; k++ {
				m[j][k] -= s * m[i][k]
			}
		}
	}
	for i := 2; i >= 0; i-- {
		x[i] = m[i][3]
		for k := i + 1; k < 3; k++ {
			x[i] -= m[i][k] * x[k]
		}
		x[i] /= m[i][i]
	}
	return x
}

// Factor overwrites the lower half of a symmetric matrix a, (n, n), with its Cholesky factor. It
// returns false if a is not positive definite. Pivots below least, if that is above 0, count as
// least.
func Factor(a []float64, n int, least float64) bool {
	for i := range n {
		for j := range i + 1 {
			sum := a[i*n+j]
			left, right := a[i*n:][:j], a[j*n:][:j]
			for k, v := range left {
				sum -= v * right[k]
			}
			if i == j {
				if least > 0 {
					sum = max(sum, least)
				} else if !(sum > 0) {
					return false
				}
				a[i*n+i] = math.Sqrt(sum)
			} else {
				a[i*n+j] = sum / a[j*n+j]
			}
		}
	}
	return true
}

// Substitute overwrites b, (n, columns), with the solution for the factor a, (n, n).
func Substitute(a, b []float64, n, columns int) {
	for i := range n {
		for k := range i {
			subtract(b[i*columns:][:columns], a[i*n+k], b[k*columns:])
		}
		divide(b[i*columns:][:columns], a[i*n+i])
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			subtract(b[i*columns:][:columns], a[k*n+i], b[k*columns:])
		}
		divide(b[i*columns:][:columns], a[i*n+i])
	}
}

func subtract(dst []float64, by float64, src []float64) {
	for q := range dst {
		dst[q] -= by * src[q]
	}
}

func divide(dst []float64, by float64) {
	for q := range dst {
		dst[q] /= by
	}
}
