// Package ort runs ONNX models in ONNX Runtime, the peer of our networks. It needs the build tag
// ort: the programs and ordinary tests do not link the library.
package ort
