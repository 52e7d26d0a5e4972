// Command benchpeer times our networks beside ONNX Runtime, both on the same
// exported files and in one process. Build it with the tag ort: make bench-peer.
package main
