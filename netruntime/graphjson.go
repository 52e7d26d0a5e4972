package netruntime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Limits of a graph, checked before any allocation in proportion to them.
const (
	maxGraphJSON = 1 << 20
	maxNodes     = 4096 // also inputs, outputs, and operands of a node
	maxName      = 128  // bytes
	maxChannels  = 1 << 20
	maxFrame     = 1 << 24 // channels of all values for one frame of the run
	maxHalvings  = 8       // of the length, and doublings
	maxWeights   = 1 << 27 // packed values; or four times the values of the tensors, if that is more
)

// decodeGraph reads a graph's JSON. Keys must be exact and unique, unknown keys are refused, and
// lists have a limit.
func decodeGraph(s string) (*Graph, error) {
	if len(s) > maxGraphJSON {
		return nil, graphf("", "%d bytes, at most %d are allowed", len(s), maxGraphJSON)
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(s)))
	g := &Graph{}
	err := object(dec, func(key string) error {
		switch key {
		case "inputs":
			return list(dec, &g.Inputs, func(in *Input) error { return in.decode(dec) })
		case "nodes":
			return list(dec, &g.Nodes, func(n *Node) error { return n.decode(dec) })
		case "outputs":
			return list(dec, &g.Outputs, func(s *string) error { return dec.Decode(s) })
		}
		return fmt.Errorf("unknown key %q", key)
	})
	if err == nil && len(bytes.TrimRight([]byte(s)[dec.InputOffset():], " \t\r\n")) > 0 {
		err = fmt.Errorf("bytes after the object")
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, graphf("", "at byte %d: %v", dec.InputOffset(), err)
	}
	return g, nil
}

func (in *Input) decode(dec *json.Decoder) error {
	fields := map[string]any{"name": &in.Name, "channels": &in.Channels, "once": &in.Once}
	return object(dec, func(key string) error {
		if field := fields[key]; field != nil {
			return dec.Decode(field)
		}
		return fmt.Errorf("input with unknown key %q", key)
	})
}

func (n *Node) decode(dec *json.Decoder) error {
	fields := map[string]any{
		"name": &n.Name, "op": &n.Op, "act": &n.Act, "flip": &n.Flip, "tied": &n.Tied, "reverse": &n.Reverse, "factor": &n.Factor,
	}
	return object(dec, func(key string) error {
		switch key {
		case "in":
			return list(dec, &n.In, func(s *string) error { return dec.Decode(s) })
		case "columns":
			return list(dec, &n.Columns, func(c *int) error { return dec.Decode(c) })
		case "tensors":
			n.Tensors = map[string]string{}
			return object(dec, func(role string) error {
				if len(n.Tensors) == len(allRoles) {
					return fmt.Errorf("node %q: more than %d tensors", n.Name, len(allRoles))
				}
				var name string
				err := dec.Decode(&name)
				n.Tensors[role] = name
				return err
			})
		}
		if field := fields[key]; field != nil {
			return dec.Decode(field)
		}
		return fmt.Errorf("node %q has unknown key %q", n.Name, key)
	})
}

// list reads a JSON array of limited length.
func list[T any](dec *json.Decoder, to *[]T, value func(*T) error) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('[') {
		return fmt.Errorf("%v, want the start of a list", t)
	}
	*to = []T{}
	most := maxNodes
	if _, ints := any(to).(*[]int); ints {
		most = maxChannels
	}
	for dec.More() {
		if len(*to) == most {
			return fmt.Errorf("a list of more than %d", most)
		}
		var v T
		if err := value(&v); err != nil {
			return err
		}
		*to = append(*to, v)
	}
	_, err = dec.Token()
	return err
}

// clone returns a deep copy in a normal form: required lists are never nil, empty optional ones
// always are, and a depooling by 2 has no Factor.
func (g *Graph) clone() *Graph {
	if g == nil {
		return nil
	}
	c := &Graph{Inputs: append([]Input{}, g.Inputs...), Nodes: append([]Node{}, g.Nodes...), Outputs: append([]string{}, g.Outputs...)}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		n.In = append([]string{}, n.In...)
		n.Columns = slices.Clone(n.Columns)
		n.Tensors = maps.Clone(n.Tensors)
		if len(n.Columns) == 0 {
			n.Columns = nil
		}
		if len(n.Tensors) == 0 {
			n.Tensors = nil
		}
		if n.Op == OpDepool && n.Factor == 2 {
			n.Factor = 0
		}
	}
	return c
}
