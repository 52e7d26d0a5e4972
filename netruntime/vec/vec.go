// Package vec is arithmetic on float32 slices for motion code, in assembly if the processor has
// vector instructions.
//
// Results have the same bits wherever a slice lies in memory. All slices of a call must have the
// same length; other lengths are a programmer's error and panic. dst may be one of the operands.
//
//   - combine: [Add], [Scale], [Axpy], [MulAdd], [Normalize], [Clamp]
//   - reduce: [Dot], [SumSquares]
//   - search a database of poses: [Distances16], [BoxDistances16]
//   - store in half the memory: [Half]
package vec

import "mannequin/netruntime/internal/kernel"

// Dot returns Σ x·y: the score of a row, or one value of a small matrix product.
func Dot(x, y []float32) float32 { return kernel.Dot(x, y) }

// Add sets dst = x + y, element by element.
func Add(dst, x, y []float32) { kernel.Add(dst, x, y) }

// Scale sets dst = a·x.
func Scale(dst []float32, a float32, x []float32) { kernel.Scale(dst, a, x) }

// Axpy sets dst = dst + a·x: one term of a weighted sum of poses.
func Axpy(dst []float32, a float32, x []float32) { kernel.Axpy(dst, a, x) }

// MulAdd sets dst = dst + x·y, element by element.
func MulAdd(dst, x, y []float32) { kernel.MulAdd(dst, x, y) }

// Normalize sets dst = (x − mean)·inv, element by element. inv is 1/standard deviation.
func Normalize(dst, x, mean, inv []float32) { kernel.Normalize(dst, x, mean, inv) }

// Clamp limits every value of x to [−limit, limit]. NaN stays NaN.
func Clamp(x []float32, limit float32) { kernel.Clamp(x, limit) }

// SumSquares returns Σ x², summed in float64. The order of the sum depends only on the length.
func SumSquares(x []float32) float64 { return kernel.SumSquares(x) }

// Distances16 sets d to the distances of a pose q from sixteen others in x. Each distance is the
// least over all turns about the vertical axis: the metric of animsys/mar.
//
//   - q has plane values (plane/2 complex numbers, real parts first), then tall real values, a
//     remainder, and half the sum of squares of all but the remainder: plane + tall + 2 in all.
//   - turned (plane) is q's plane turned by 90 degrees.
//   - x (plane + tall + 2, 16) holds the sixteen poses side by side.
//   - sums (3, 16) are partial sums. A call adds to them, so that a pose can be given in several parts.
//
// It panics if a slice is too short.
func Distances16(d *[16]float32, sums *[48]float32, x, q, turned []float32, plane, tall int) {
	kernel.Distances16(d, sums, x, q, turned, plane, tall)
}

// BoxDistances16 sets d to the squares of the distances of a point q from sixteen boxes, 0 inside: the bounds of a
// search tree, and with boxes that are points its distances. low and high, (len(q), 16), are the boxes' least and
// greatest values side by side; of points they are the same slice. It panics if a slice is too short.
func BoxDistances16(d *[16]float32, low, high, q []float32) { kernel.BoxDistances16(d, low, high, q) }
