package onnx

import (
	"cmp"
	"fmt"
	"math"

	"mannequin/netruntime"
)

// maxModel is the largest size of a protobuf message in bytes.
const maxModel = math.MaxInt32

// Marshal returns n as an ONNX model. Unknown forms and models over 2 GiB are errors.
func Marshal(n *netruntime.Net, form Form) ([]byte, error) {
	form, err := form.resolve()
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	if 4*n.Parameters() > maxModel-1<<20 {
		return nil, fmt.Errorf("onnx: %d parameters do not fit the 2 GiB of an ONNX file", n.Parameters())
	}
	tensors := map[string]netruntime.Tensor{}
	for _, t := range n.Tensors() {
		tensors[t.Name] = t
	}
	meta := n.Meta()
	var kv [][2]string
	for _, p := range [][2]string{
		{"name", meta.Name}, {"arch", meta.Arch}, {"license", meta.License}, {"data", meta.Data}, {"schema_hash", meta.SchemaHash},
	} {
		if p[1] != "" {
			kv = append(kv, p)
		}
	}
	graph, err := export(n.Graph(), tensors, form, cmp.Or(meta.Name, meta.Arch))
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	b := modelProto(graph, kv)
	if len(b) > maxModel { // a form may hold weights twice, or padded
		return nil, fmt.Errorf("onnx: the model has %d bytes, at most %d fit the format", len(b), maxModel)
	}
	return b, nil
}
