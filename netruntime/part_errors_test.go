package netruntime

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestPartMeta(t *testing.T) {
	full := Meta{Name: "name", Schema: "schema", SchemaHash: "hash", Skeleton: "skeleton", GatingColumns: []int{0}, Data: "data",
		License: "license", Card: "card", Metrics: "metrics", CreatedBy: "creator", Extra: map[string]string{"k": "v"}}
	c := coder()
	full.Arch, full.Graph = "graph", c.Graph()
	n, err := New(full, c.Tensors())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := n.Part([]string{"x"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	if got := whole.Meta(); !reflect.DeepEqual(got, n.Meta()) {
		t.Errorf("the whole as a part has %+v", got)
	}
	d, err := n.Part([]string{"hidden"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	want := Meta{Name: "name", Arch: "graph", Skeleton: "skeleton", Data: "data", License: "license", Card: "card", CreatedBy: "creator"}
	got := d.Meta()
	got.Graph = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("a part has %+v, want %+v", got, want)
	}
}

func TestPartErrors(t *testing.T) {
	m := newMaker(1)
	x, s := m.input("x", 3, false), m.input("s", 4, true)
	half := m.node(Node{Name: "half", Op: OpMaxPool, In: []string{x}}, 0, 0)
	m.node(Node{Name: "double", Op: OpDepool, In: []string{half}}, 0, 0)
	m.node(Node{Name: "both", Op: OpConcat, In: []string{x, "double"}}, 0, 0)
	m.node(Node{Name: "lstm", Op: OpLSTM, In: []string{"both", s, s}}, 4, 0)
	m.node(Node{Name: "last", Op: OpDense, In: []string{"lstm.h"}}, 2, 0)
	m.node(Node{Name: "y", Op: OpDense, In: []string{"lstm"}}, 2, 0)
	n := m.net("y", "last")
	for _, c := range []struct {
		in, out string
		node    string // "-" where there is no error
		say     string
	}{
		{"x s", "y", "-", ""},
		{"both s", "y last lstm.c", "-", ""},
		{"lstm.h", "last", "-", ""},
		{"double x s", "y", "-", ""},
		{"x z", "y", "z", "input, but there is no such value"},
		{"x s", "y z", "z", "output, but there is no such value"},
		{"x s x", "y", "x", "input twice"},
		{"x s", "y y", "y", "output twice"},
		{"x s y", "last y", "y", "both input and output"},
		{"x", "double last", "s", `output "last" depends on this input`},
		{"both", "y", "s", `output "y" depends on this input`},
		{"half s", "lstm", "x", `output "lstm" depends on this input`},
		{"x s", "double", "s", "no output depends on it"},
		{"both s half", "y", "half", `input of length 1/2 of the run's, but "both" has length 1 times the run's`},
		{"half x s", "y", "x", `input of length 1 times the run's, but "half" has length 1/2 of the run's`},
		{"x s lstm", "y lstm.h", "lstm", `output "lstm.h" depends on "lstm.h", which the same lstm computes`},
		{"x s lstm.h", "y last", "lstm.h", `output "y" depends on "lstm", which the same lstm computes`},
		{"", "y", "", "0 inputs and 1 outputs"},
		{"x", "", "", "1 inputs and 0 outputs"},
	} {
		p, err := n.Part(strings.Fields(c.in), strings.Fields(c.out))
		if c.node == "-" {
			if err != nil || p == nil {
				t.Errorf("from %s to %s: %v", c.in, c.out, err)
			}
			continue
		}
		var e *GraphError
		if !errors.As(err, &e) || e.Node != c.node || !strings.Contains(err.Error(), c.say) || p != nil {
			t.Errorf("from %s to %s: %v, want %q of %q", c.in, c.out, err, c.say, c.node)
		}
	}

	// Halvings that n's length allows may be too many from another one's.
	deep := newMaker(1)
	v := deep.input("x", 1, false)
	for range 5 {
		v = deep.node(Node{Op: OpMaxPool, In: []string{v}}, 0, 0)
	}
	low := v
	for range 9 {
		v = deep.node(Node{Op: OpDepool, In: []string{v}}, 0, 0)
	}
	var e *GraphError
	if _, err := deep.net(v).Part([]string{low}, []string{v}); !errors.As(err, &e) || !strings.Contains(err.Error(), "no more than 256 times") {
		t.Errorf("nine doublings: %v", err)
	}
}
