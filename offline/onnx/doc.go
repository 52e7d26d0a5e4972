// Package onnx writes networks as ONNX models (opset 17): [Marshal].
//
// Inputs and outputs keep their names. A network with an operation over time
// has values (batch, length, channels), both first axes chosen at each run; any
// other has (batch, channels). The metadata carry the network's name, licence
// and schema hash.
//
// Some operations have several formulations in ONNX that compute the same and
// differ in speed: [Form].
package onnx
