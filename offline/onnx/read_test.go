package onnx

import (
	"encoding/binary"
	"errors"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The reader below knows ONNX from its published schema, not from the writer.

type readNode struct {
	op      string
	in, out []string
	attrs   map[string]any // float64, int, string or []int
}

type readModel struct {
	ir, opset       int
	nodes           []readNode
	constants       map[string]array
	inputs, outputs []string
	axes            map[string][]any // of inputs and outputs
	metadata        map[string]string
}

// fields splits a message: varints and fixed numbers as uint64, the rest as bytes.
func fields(b []byte, each func(field int, v uint64, sub []byte) error) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var v uint64
		var sub []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var w uint32
			w, n = protowire.ConsumeFixed32(b)
			v = uint64(w)
		case protowire.BytesType:
			sub, n = protowire.ConsumeBytes(b)
		default:
			return errors.New("a wire type that ONNX has no use for")
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if err := each(int(num), v, sub); err != nil {
			return err
		}
	}
	return nil
}

func read(b []byte) (*readModel, error) {
	m := &readModel{constants: map[string]array{}, axes: map[string][]any{}, metadata: map[string]string{}}
	return m, fields(b, func(f int, v uint64, sub []byte) error {
		switch f {
		case 1:
			m.ir = int(v)
		case 8:
			return fields(sub, func(f int, v uint64, _ []byte) error {
				if f == 2 {
					m.opset = int(v)
				}
				return nil
			})
		case 14:
			var kv [3]string
			err := fields(sub, func(f int, _ uint64, sub []byte) error { kv[f] = string(sub); return nil })
			m.metadata[kv[1]] = kv[2]
			return err
		case 7:
			return fields(sub, m.graph)
		}
		return nil
	})
}

func (m *readModel) graph(f int, _ uint64, sub []byte) error {
	switch f {
	case 1:
		n := readNode{attrs: map[string]any{}}
		err := fields(sub, func(f int, _ uint64, sub []byte) error {
			switch f {
			case 1:
				n.in = append(n.in, string(sub))
			case 2:
				n.out = append(n.out, string(sub))
			case 4:
				n.op = string(sub)
			case 5:
				return n.attribute(sub)
			}
			return nil
		})
		m.nodes = append(m.nodes, n)
		return err
	case 5:
		return m.tensor(sub)
	case 11, 12:
		name := ""
		var axes []any
		err := fields(sub, func(f int, _ uint64, sub []byte) error {
			if f == 1 {
				name = string(sub)
				return nil
			}
			// TypeProto → Tensor → TensorShapeProto → Dimension
			return fields(sub, func(_ int, _ uint64, sub []byte) error {
				return fields(sub, func(f int, v uint64, sub []byte) error {
					if f == 1 && v != 1 {
						return errors.New("a value that is not of floats")
					}
					return fields(sub, func(_ int, _ uint64, sub []byte) error {
						return fields(sub, func(f int, v uint64, sub []byte) error {
							if f == 1 {
								axes = append(axes, int(v))
							} else {
								axes = append(axes, string(sub))
							}
							return nil
						})
					})
				})
			})
		})
		m.axes[name] = axes
		if f == 11 {
			m.inputs = append(m.inputs, name)
		} else {
			m.outputs = append(m.outputs, name)
		}
		return err
	}
	return nil
}

func (n *readNode) attribute(b []byte) error {
	name, kind := "", 0
	var i int
	var r float64
	var s string
	var list []int
	err := fields(b, func(f int, v uint64, sub []byte) error {
		switch f {
		case 1:
			name = string(sub)
		case 2:
			r = float64(math.Float32frombits(uint32(v)))
		case 3:
			i = int(v)
		case 4:
			s = string(sub)
		case 8:
			list = append(list, int(v))
		case 20:
			kind = int(v)
		}
		return nil
	})
	value, ok := map[int]any{1: r, 2: i, 3: s, 7: list}[kind]
	if !ok {
		return errors.New("an attribute of unknown kind")
	}
	n.attrs[name] = value
	return err
}

func (m *readModel) tensor(b []byte) error {
	var a array
	name, kind := "", 0
	var raw []byte
	err := fields(b, func(f int, v uint64, sub []byte) error {
		switch f {
		case 1:
			a.dims = append(a.dims, int(v))
		case 2:
			kind = int(v)
		case 8:
			name = string(sub)
		case 9:
			raw = sub
		}
		return nil
	})
	switch kind {
	case 1:
		for i := 0; i+4 <= len(raw); i += 4 {
			a.data = append(a.data, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[i:]))))
		}
	case 7:
		for i := 0; i+8 <= len(raw); i += 8 {
			a.data = append(a.data, float64(int64(binary.LittleEndian.Uint64(raw[i:]))))
		}
	}
	if len(a.data) != size(a.dims) {
		return errors.New(name + ": values do not fill the shape")
	}
	if _, twice := m.constants[name]; twice {
		return errors.New(name + " twice")
	}
	m.constants[name] = a
	return err
}
