// Package vec is arithmetic on float32 slices for motion code: sums of vectors
// and dot products, in assembly where the processor has vectors.
//
// Results have the same bits for any position of a slice in memory. Slices that
// are too short panic.
package vec

import "mannequin/netruntime/internal/kernel"

// Dot returns Σ x·y.
func Dot(x, y []float32) float32 { return kernel.Dot(x, y) }

// Add sets dst = x + y, element by element.
func Add(dst, x, y []float32) { kernel.Add(dst, x, y) }

// Scale sets dst = a·x.
func Scale(dst []float32, a float32, x []float32) { kernel.Scale(dst, a, x) }

// Axpy sets dst = dst + a·x.
func Axpy(dst []float32, a float32, x []float32) { kernel.Axpy(dst, a, x) }

// MulAdd sets dst = dst + x·y, element by element.
func MulAdd(dst, x, y []float32) { kernel.MulAdd(dst, x, y) }

// Normalize sets dst = (x − mean)·inv, element by element.
func Normalize(dst, x, mean, inv []float32) { kernel.Normalize(dst, x, mean, inv) }

// Clamp brings every value of x into [−limit, limit]. NaN stays NaN.
func Clamp(x []float32, limit float32) { kernel.Clamp(x, limit) }

// SumSquares returns Σ x², summed in float64 in an order that depends on the
// length alone.
func SumSquares(x []float32) float64 { return kernel.SumSquares(x) }

// Distances16 sets d to the distances of a pose q from sixteen others in x,
// each the least over all turns about the vertical: the metric of
// animsys/mar. q holds plane values (plane/2 complex numbers, real parts first),
// then tall real values, a remainder and half the sum of squares of all but the
// remainder. turned is q's plane turned by 90 degrees. x is (values, 16). sums,
// (3, 16), carries partial sums from one call to the next.
func Distances16(d *[16]float32, sums *[48]float32, x, q, turned []float32, plane, tall int) {
	kernel.Distances16(d, sums, x, q, turned, plane, tall)
}
