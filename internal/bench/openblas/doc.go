// Package openblas is OpenBLAS's matrix product, as the peer that our kernels
// are compared with. All of it is behind the build tag openblas: neither the
// programs nor the tests of an ordinary build know the library.
package openblas
