package onnx

import (
	"errors"
	"fmt"
	"strings"

	"mannequin/netruntime"
)

// maxTritonBatch is the most rows, or sequences, of a request in the configuration.
const maxTritonBatch = 1024

// TritonConfig returns the config.pbtxt with which NVIDIA Triton and KServe serve n's ONNX model, as
// NAME/config.pbtxt beside NAME/1/model.onnx. Rows of several clients are computed together, with at
// most a millisecond's wait.
func TritonConfig(n *netruntime.Net, name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "/\\\"\n") || strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("onnx: %q is no name of a model: want one for a folder", name)
	}
	g := n.Graph()
	if len(g.Inputs) == 0 {
		return "", errors.New("onnx: the zero Net has no network")
	}
	flat := isFlat(g)
	values := map[string]netruntime.Value{}
	for _, v := range n.Values() {
		values[v.Name] = v
	}
	var b strings.Builder
	fmt.Fprintf(&b, "name: %q\nbackend: \"onnxruntime\"\nmax_batch_size: %d\n", name, maxTritonBatch)
	tensor := func(side, name string) {
		v := values[name]
		dims := fmt.Sprint(v.Channels)
		switch {
		case flat:
		case v.Length(1<<20) == 1: // of any run
			dims = "1, " + dims
		default:
			dims = "-1, " + dims
		}
		fmt.Fprintf(&b, "%s {\n  name: %q\n  data_type: TYPE_FP32\n  dims: [ %s ]\n}\n", side, name, dims)
	}
	for _, in := range g.Inputs {
		tensor("input", in.Name)
	}
	for _, name := range g.Outputs {
		tensor("output", name)
	}
	b.WriteString("dynamic_batching {\n  max_queue_delay_microseconds: 1000\n}\n")
	return b.String(), nil
}

// isFlat reports whether g has no operation over time: its values are then (batch, channels).
func isFlat(g *netruntime.Graph) bool {
	for _, n := range g.Nodes {
		switch n.Op {
		case netruntime.OpConv, netruntime.OpMaxPool, netruntime.OpDepool, netruntime.OpLSTM:
			return false
		}
	}
	return true
}
