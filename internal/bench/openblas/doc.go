// Package openblas is OpenBLAS's matrix product, the peer of our kernels. It needs the build tag
// openblas: the programs and ordinary tests do not link the library.
package openblas
