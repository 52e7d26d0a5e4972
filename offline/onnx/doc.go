// Package onnx writes networks as ONNX models (opset 17): [Marshal].
//
// Inputs and outputs keep their names. Networks with an operation over time have values (batch,
// length, channels), with both first axes chosen at each run. Others have (batch, channels). The
// metadata holds the network's name, licence and schema hash. [TritonConfig] is for servers.
//
// ONNX can express some operations in several ways that differ only in speed: [Form].
package onnx
