package onnx

import (
	"cmp"
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers and enumerations from onnx.proto, IR version 8.
const (
	irVersion = 8
	opset     = 17

	typeFloat = 1 // TensorProto.DataType
	typeInt64 = 7
)

// message is a protobuf message under construction.
type message []byte

func (m *message) int(field protowire.Number, v int64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(v))
}

func (m *message) float(field protowire.Number, v float32) {
	*m = protowire.AppendFixed32(protowire.AppendTag(*m, field, protowire.Fixed32Type), math.Float32bits(v))
}

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) text(field protowire.Number, s string) { m.bytes(field, []byte(s)) }

// attribute is an AttributeProto: value is an int, a float32, a string or a []int.
type attribute struct {
	name  string
	value any
}

func (a attribute) encode() message {
	const kind = 20
	var m message
	m.text(1, a.name)
	switch v := a.value.(type) {
	case float32:
		m.float(2, v)
		m.int(kind, 1)
	case int:
		m.int(3, int64(v))
		m.int(kind, 2)
	case string:
		m.text(4, v)
		m.int(kind, 3)
	case []int:
		for _, i := range v {
			m.int(8, int64(i))
		}
		m.int(kind, 7)
	default:
		panic("onnx: an attribute of unknown type")
	}
	return m
}

// nodeProto is an operation. An empty name stands for a missing operand or result.
func nodeProto(op string, in, out []string, attrs []attribute) message {
	var m message
	for _, s := range in {
		m.text(1, s)
	}
	for _, s := range out {
		m.text(2, s)
	}
	m.text(3, cmp.Or(out...))
	m.text(4, op)
	for _, a := range attrs {
		m.bytes(5, a.encode())
	}
	return m
}

// tensorProto is an array: data is []float32 or []int.
func tensorProto(name string, dims []int, data any) message {
	var m message
	for _, d := range dims {
		m.int(1, int64(d))
	}
	kind, raw := typeFloat, []byte(nil)
	switch data := data.(type) {
	case []float32:
		raw = make([]byte, 0, 4*len(data))
		for _, v := range data {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
	case []int:
		kind, raw = typeInt64, make([]byte, 0, 8*len(data))
		for _, v := range data {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
		}
	default:
		panic("onnx: a tensor of unknown type")
	}
	m.int(2, int64(kind))
	m.text(8, name)
	m.bytes(9, raw)
	return m
}

// valueProto declares an input or output of floats. An axis is an int, or the name of its size.
func valueProto(name string, axes ...any) message {
	var shape message
	for _, a := range axes {
		var dim message
		switch a := a.(type) {
		case int:
			dim.int(1, int64(a))
		case string:
			dim.text(2, a)
		default:
			panic("onnx: an axis of unknown type")
		}
		shape.bytes(1, dim)
	}
	var tensor, kind, m message
	tensor.int(1, typeFloat)
	tensor.bytes(2, shape)
	kind.bytes(1, tensor)
	m.text(1, name)
	m.bytes(2, kind)
	return m
}

// modelProto is a whole file. Metadata are pairs of key and value.
func modelProto(graph message, metadata [][2]string) message {
	var m, set message
	m.int(1, irVersion)
	m.text(2, "mannequin")
	m.bytes(7, graph)
	set.text(1, "")
	set.int(2, opset)
	m.bytes(8, set)
	for _, kv := range metadata {
		var entry message
		entry.text(1, kv[0])
		entry.text(2, kv[1])
		m.bytes(14, entry)
	}
	return m
}
