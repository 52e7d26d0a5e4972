package onnx

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// The configuration says of each input and output what the exported model says.
func TestTritonConfig(t *testing.T) {
	kinds := map[bool]int{}
	for _, c := range cases() {
		g := c.net.graph
		var tensors []netruntime.Tensor
		for _, tensor := range c.net.byName() {
			tensors = append(tensors, tensor)
		}
		n, err := netruntime.New(netruntime.Meta{Name: c.name, Arch: "graph", Graph: &g}, tensors)
		if err != nil {
			continue // a case of the exporter alone
		}
		_, m := c.encoded(t, nil)
		kinds[m.flat()]++
		config := must.Get(TritonConfig(n, "a-model"))(t)
		got := regexp.MustCompile(`(input|output) \{\n  name: (\S+)\n  data_type: TYPE_FP32\n  dims: \[ (.*) \]\n\}`).FindAllStringSubmatch(config, -1)
		if len(got) != len(g.Inputs)+len(g.Outputs) || !strings.HasPrefix(config, "name: \"a-model\"\nbackend: \"onnxruntime\"\nmax_batch_size: 1024\n") {
			t.Fatalf("%s: %s", c.name, config)
		}
		for _, port := range got {
			var want []string
			for _, axis := range m.axes[must.Get(strconv.Unquote(port[2]))(t)][1:] { // without the batch
				if size := fmt.Sprint(axis); strings.Trim(size, "0123456789") == "" {
					want = append(want, size)
				} else {
					want = append(want, "-1")
				}
			}
			if port[3] != strings.Join(want, ", ") {
				t.Errorf("%s: %s has dims %s, the model %v", c.name, port[2], port[3], want)
			}
		}
	}
	if kinds[true] < 3 || kinds[false] < 3 {
		t.Errorf("%d flat networks and %d over time", kinds[true], kinds[false])
	}
	n := must.Get(netruntime.New(netruntime.Meta{Arch: "graph", Graph: &netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: 2}},
		Nodes: []netruntime.Node{{Name: "y", Op: netruntime.OpAct, Act: "tanh", In: []string{"x"}}}, Outputs: []string{"y"}}}, nil))(t)
	for _, name := range []string{"", "..", "a/b", `a\b`, "a\"b", ".hidden"} {
		must.Fail(TritonConfig(n, name))(t, "no name of a model")
	}
}
