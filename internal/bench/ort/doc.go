// Package ort runs ONNX models in ONNX Runtime, as the peer that our networks
// are compared with. All of it is behind the build tag ort: neither the
// programs nor the tests of an ordinary build know the library.
package ort
