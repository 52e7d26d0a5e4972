// Package inference has the messages of the Open Inference Protocol that carry tensors, encoded into
// buffers that are used again and decoded without copies, and the layout of a network in them.
package inference

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// The service and its methods that take these messages.
const (
	Service       = "inference.GRPCInferenceService"
	ModelInfer    = "/" + Service + "/ModelInfer"
	ModelMetadata = "/" + Service + "/ModelMetadata"
)

// FP32 is the protocol's name of float32.
const FP32 = "FP32"

// Bounds of a message. They are checked before anything is stored.
const (
	MaxTensors    = 64 // inputs, outputs and parameters, each
	maxName       = 1 << 10
	maxDims       = 3
	maxValues     = 1 << 29 // of a tensor
	maxParameters = 64
)

// Tensor is a named array of float32.
type Tensor struct {
	Name   string
	Dims   int
	Shape  [maxDims]int64
	Values []float32 // to encode, row-major

	Type string // of a decoded tensor
	Raw  []byte // its values, little-endian; valid until Message.Free
}

// Set makes t a tensor of the given shape, of one dimension less if frames is 0.
func (t *Tensor) Set(name string, batch, frames, channels int, values []float32) {
	*t = Tensor{Name: name, Dims: 3, Shape: [maxDims]int64{int64(batch), int64(frames), int64(channels)}, Type: t.Type, Values: values}
	if frames == 0 {
		t.Dims, t.Shape = 2, [maxDims]int64{int64(batch), int64(channels)}
	}
}

// Size returns the number of values, or false if the shape has none or too many.
func (t *Tensor) Size() (int, bool) {
	n := int64(1)
	for _, d := range t.Shape[:t.Dims] {
		if d < 0 || d > maxValues || n*d > maxValues {
			return 0, false
		}
		n *= d
	}
	return int(n), true
}

// Copy copies the values of a decoded tensor.
func (t *Tensor) Copy(dst []float32) {
	if len(dst) == 0 {
		return
	}
	if littleEndian {
		copy(bytesOf(dst), t.Raw)
		return
	}
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.Raw[4*i:]))
	}
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

func bytesOf(x []float32) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
}

// Message is a ModelInferRequest, or a ModelInferResponse, whose fields have nearly the same numbers.
// It can be used again: what it holds keeps its memory.
type Message struct {
	Response           bool
	Model, Version, ID string
	BF16               bool    // parameter "bf16": products in bfloat16
	SkipBelow          float64 // parameter "skip_below": of netruntime.SessionOptions
	Tensors            []Tensor
	Outputs            []string // the requested outputs; none asks for all

	Pool *Pool // for the encoded message
	Err  error // why a received message could not be decoded; gRPC would hide it behind a code of its own

	data   mem.Buffer // that a decoded message points into
	raw    [][]byte
	inline [][]byte // values inside tensors, by tensor
}

// Free releases the memory that decoded tensors point into.
func (m *Message) Free() {
	if m.data != nil {
		m.data.Free()
		m.data = nil
	}
	for i := range m.Tensors {
		m.Tensors[i].Raw = nil
	}
	clear(m.raw)
	clear(m.inline)
}

// Fields of the messages.
const (
	fieldModel = iota + 1
	fieldVersion
	fieldID
	fieldParameters
	fieldTensors
	fieldOutputs // in a response: raw values
	fieldRaw
)

func (m *Message) fieldRaw() protowire.Number {
	if m.Response {
		return fieldOutputs
	}
	return fieldRaw
}

// Append appends the encoded message.
func (m *Message) Append(b []byte) []byte {
	b = appendText(b, fieldModel, m.Model)
	b = appendText(b, fieldVersion, m.Version)
	b = appendText(b, fieldID, m.ID)
	var scratch [2*maxName + 64]byte
	if m.BF16 {
		b = appendParameter(b, "bf16", protowire.AppendVarint(protowire.AppendTag(scratch[:0], 1, protowire.VarintType), 1))
	}
	if m.SkipBelow != 0 {
		b = appendParameter(b, "skip_below",
			protowire.AppendFixed64(protowire.AppendTag(scratch[:0], 4, protowire.Fixed64Type), math.Float64bits(m.SkipBelow)))
	}
	for i := range m.Tensors {
		t := &m.Tensors[i]
		s := appendText(scratch[:0], 1, t.Name)
		s = appendText(s, 2, FP32)
		var dims [maxDims * binary.MaxVarintLen64]byte
		d := dims[:0]
		for _, n := range t.Shape[:t.Dims] {
			d = protowire.AppendVarint(d, uint64(n))
		}
		s = appendBytes(s, 3, d)
		b = appendBytes(b, fieldTensors, s)
	}
	if !m.Response {
		for _, name := range m.Outputs {
			b = appendBytes(b, fieldOutputs, appendText(scratch[:0], 1, name))
		}
	}
	for i := range m.Tensors {
		x := m.Tensors[i].Values
		b = protowire.AppendTag(b, m.fieldRaw(), protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(4*len(x)))
		if littleEndian {
			b = append(b, bytesOf(x)...)
			continue
		}
		for _, v := range x {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	return b
}

func appendText(b []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func appendBytes(b []byte, field protowire.Number, s []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), s)
}

// appendParameter appends an entry of the map of parameters. value is an InferParameter.
func appendParameter(b []byte, key string, value []byte) []byte {
	var entry [64]byte
	return appendBytes(b, fieldParameters, appendBytes(appendText(entry[:0], 1, key), 2, value))
}

var errWire = errors.New("not a valid protobuf message")

// fields calls f with each field of a message: b holds the bytes of a length-delimited field, v the
// number of any other.
func fields(b []byte, f func(field protowire.Number, kind protowire.Type, b []byte, v uint64) error) error {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errWire
		}
		b = b[n:]
		var v uint64
		var body []byte
		switch kind {
		case protowire.BytesType:
			body, n = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		default:
			n = protowire.ConsumeFieldValue(field, kind, b)
		}
		if n < 0 {
			return errWire
		}
		b = b[n:]
		if err := f(field, kind, body, v); err != nil {
			return err
		}
	}
	return nil
}

// text sets s to the text of a field. Equal text keeps its memory.
func text(s *string, b []byte) error {
	if len(b) > maxName {
		return fmt.Errorf("a name of %d bytes, at most %d are allowed", len(b), maxName)
	}
	if *s != string(b) {
		*s = string(b)
	}
	return nil
}

// Decode decodes a message. Tensors point into b.
func (m *Message) Decode(b []byte) error {
	model, version, id := m.Model, m.Version, m.ID
	tensors, outputs, parameters := m.Tensors[:0], m.Outputs[:0], 0
	m.Model, m.Version, m.ID, m.BF16, m.SkipBelow = "", "", "", false, 0
	m.raw, m.inline = m.raw[:0], m.inline[:0]
	err := fields(b, func(field protowire.Number, kind protowire.Type, b []byte, _ uint64) (err error) {
		switch {
		case kind != protowire.BytesType:
			return nil
		case field == fieldModel:
			err = text(&model, b)
			m.Model = model
		case field == fieldVersion:
			err = text(&version, b)
			m.Version = version
		case field == fieldID:
			err = text(&id, b)
			m.ID = id
		case field == fieldParameters:
			if parameters++; parameters > maxParameters {
				return fmt.Errorf("more than %d parameters", maxParameters)
			}
			err = m.parameter(b)
		case field == fieldTensors:
			if len(tensors) == MaxTensors {
				return fmt.Errorf("more than %d tensors", MaxTensors)
			}
			if len(tensors) < cap(tensors) {
				tensors = tensors[:len(tensors)+1]
			} else {
				tensors = append(tensors, Tensor{})
			}
			m.inline = append(m.inline, nil)
			last := len(tensors) - 1
			err = tensors[last].decode(b, &m.inline[last])
		case field == m.fieldRaw():
			if len(m.raw) == MaxTensors {
				return fmt.Errorf("raw values of more than %d tensors", MaxTensors)
			}
			m.raw = append(m.raw, b)
		case field == fieldOutputs:
			if len(outputs) == MaxTensors {
				return fmt.Errorf("more than %d requested outputs", MaxTensors)
			}
			if len(outputs) < cap(outputs) {
				outputs = outputs[:len(outputs)+1]
			} else {
				outputs = append(outputs, "")
			}
			err = outputName(&outputs[len(outputs)-1], b)
		}
		return err
	})
	m.Tensors, m.Outputs = tensors, outputs
	if err != nil {
		return err
	}
	return m.attach()
}

// attach gives each tensor its values.
func (m *Message) attach() error {
	if len(m.raw) > 0 && len(m.raw) != len(m.Tensors) {
		return fmt.Errorf("raw values of %d tensors, the message has %d", len(m.raw), len(m.Tensors))
	}
	for i := range m.Tensors {
		t := &m.Tensors[i]
		t.Raw = m.inline[i]
		if len(m.raw) > 0 {
			if t.Raw != nil {
				return fmt.Errorf("tensor %q has values twice", t.Name)
			}
			t.Raw = m.raw[i]
		}
		if t.Type != FP32 {
			return fmt.Errorf("tensor %q has the data type %q, want %s", t.Name, t.Type, FP32)
		}
		if n, ok := t.Size(); !ok || len(t.Raw) != 4*n {
			return fmt.Errorf("tensor %q of shape %v has %d bytes of values", t.Name, t.Shape[:t.Dims], len(t.Raw))
		}
	}
	return nil
}

func outputName(name *string, b []byte) error {
	old := *name
	*name = ""
	return fields(b, func(field protowire.Number, kind protowire.Type, b []byte, _ uint64) error {
		if field != 1 || kind != protowire.BytesType {
			return nil
		}
		err := text(&old, b)
		*name = old
		return err
	})
}

// parameter decodes an entry of the map of parameters. Unknown ones are for other servers.
func (m *Message) parameter(b []byte) error {
	var key, value []byte
	err := fields(b, func(field protowire.Number, kind protowire.Type, b []byte, _ uint64) error {
		switch {
		case kind != protowire.BytesType:
		case field == 1:
			key = b
		case field == 2:
			value = b
		}
		return nil
	})
	if err != nil {
		return err
	}
	return fields(value, func(field protowire.Number, kind protowire.Type, _ []byte, v uint64) error {
		switch {
		case string(key) == "bf16" && field == 1 && kind == protowire.VarintType:
			m.BF16 = v != 0
		case string(key) == "skip_below" && field == 4 && kind == protowire.Fixed64Type:
			m.SkipBelow = math.Float64frombits(v)
		}
		return nil
	})
}

// decode decodes a tensor, and the values that it has inside.
func (t *Tensor) decode(b []byte, inline *[]byte) error {
	name, kindOf := t.Name, t.Type
	*t = Tensor{}
	return fields(b, func(field protowire.Number, kind protowire.Type, b []byte, v uint64) (err error) {
		switch {
		case field == 1 && kind == protowire.BytesType:
			err = text(&name, b)
			t.Name = name
		case field == 2 && kind == protowire.BytesType:
			err = text(&kindOf, b)
			t.Type = kindOf
		case field == 3 && kind == protowire.VarintType:
			err = t.dim(v)
		case field == 3 && kind == protowire.BytesType:
			for len(b) > 0 && err == nil {
				v, n := protowire.ConsumeVarint(b)
				if n < 0 {
					return errWire
				}
				b = b[n:]
				err = t.dim(v)
			}
		case field == 5 && kind == protowire.BytesType:
			err = contents(b, inline)
		}
		return err
	})
}

func (t *Tensor) dim(v uint64) error {
	if t.Dims == maxDims {
		return fmt.Errorf("tensor %q has more than %d dimensions", t.Name, maxDims)
	}
	t.Shape[t.Dims] = int64(v)
	t.Dims++
	return nil
}

// contents returns the values of InferTensorContents. Packed floats are the same bytes as raw values.
func contents(b []byte, values *[]byte) error {
	return fields(b, func(field protowire.Number, kind protowire.Type, b []byte, _ uint64) error {
		if field != 6 || kind != protowire.BytesType || *values != nil {
			return errors.New("contents of a tensor are other than one packed list of fp32_contents")
		}
		*values = b
		return nil
	})
}
