// Package testnet makes the tensors of small networks for tests.
package testnet

import (
	"math/rand/v2"
	"slices"

	"mannequin/netruntime"
)

// Constant returns a tensor whose values are all v.
func Constant(v float32, name string, shape ...int) netruntime.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return netruntime.Tensor{Name: name, Shape: shape, Data: slices.Repeat([]float32{v}, n)}
}

// Random returns a tensor of normally distributed values of the given deviation.
func Random(rng *rand.Rand, deviation float64, name string, shape ...int) netruntime.Tensor {
	t := Constant(0, name, shape...)
	for i := range t.Data {
		t.Data[i] = float32(deviation * rng.NormFloat64())
	}
	return t
}
