package inference

import (
	"encoding/hex"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"mannequin/internal/testing/must"
	pb "mannequin/netruntime/remote/internal/inference/inferencepb"
)

var update = flag.Bool("update", false, "write the golden messages")

// A request and a response with all that we send.
func messages() (request, response *Message) {
	request = &Message{Model: "dog", Version: "sha256:01", ID: "7", BF16: true, SkipBelow: 0.25, Outputs: []string{"y", "gating"}}
	response = &Message{Response: true, Model: "dog", Version: "sha256:01", ID: "7"}
	request.Tensors, response.Tensors = make([]Tensor, 2), make([]Tensor, 1)
	request.Tensors[0].Set("x", 2, 1, 3, []float32{1, -2, 0.5, float32(math.Inf(1)), 0, math.MaxFloat32})
	request.Tensors[1].Set("state", 2, 0, 2, []float32{1e-45, 2, 3, 4})
	response.Tensors[0].Set("y", 2, 0, 1, []float32{0.1, -0.1})
	return request, response
}

// Messages are the bytes in testdata, which generated code reads as what they say.
func TestGolden(t *testing.T) {
	request, response := messages()
	double := &pb.InferParameter{ParameterChoice: &pb.InferParameter_DoubleParam{DoubleParam: 0.25}}
	yes := &pb.InferParameter{ParameterChoice: &pb.InferParameter_BoolParam{BoolParam: true}}
	raw := func(m *Message, i int) []byte { return bytesOf(m.Tensors[i].Values) }
	for _, c := range []struct {
		file      string
		m         *Message
		got, want proto.Message
	}{
		{"request.hex", request, &pb.ModelInferRequest{}, &pb.ModelInferRequest{ModelName: "dog", ModelVersion: "sha256:01", Id: "7",
			Parameters: map[string]*pb.InferParameter{"bf16": yes, "skip_below": double},
			Inputs: []*pb.ModelInferRequest_InferInputTensor{{Name: "x", Datatype: "FP32", Shape: []int64{2, 1, 3}},
				{Name: "state", Datatype: "FP32", Shape: []int64{2, 2}}},
			Outputs:          []*pb.ModelInferRequest_InferRequestedOutputTensor{{Name: "y"}, {Name: "gating"}},
			RawInputContents: [][]byte{raw(request, 0), raw(request, 1)}}},
		{"response.hex", response, &pb.ModelInferResponse{}, &pb.ModelInferResponse{ModelName: "dog", ModelVersion: "sha256:01", Id: "7",
			Outputs:           []*pb.ModelInferResponse_InferOutputTensor{{Name: "y", Datatype: "FP32", Shape: []int64{2, 1}}},
			RawOutputContents: [][]byte{raw(response, 0)}}},
	} {
		b := c.m.Append(nil)
		path := filepath.Join("testdata", c.file)
		if *update {
			must.Do(t, os.WriteFile(path, []byte(hex.EncodeToString(b)+"\n"), 0o666))
		}
		if want := strings.TrimSpace(string(must.Get(os.ReadFile(path))(t))); hex.EncodeToString(b) != want {
			t.Errorf("%s: got\n%x\nwant\n%s", c.file, b, want)
		}
		must.Do(t, proto.Unmarshal(b, c.got))
		if !proto.Equal(c.got, c.want) {
			t.Errorf("%s: generated code reads\n%v\nwant\n%v", c.file, c.got, c.want)
		}
		// Another program may write fields in another order, or leave some out.
		other := &Message{Response: c.m.Response}
		must.Do(t, other.Decode(must.Get(proto.Marshal(c.want))(t)))
		if !same(other, c.m) {
			t.Errorf("%s: read from generated code: %+v, want %+v", c.file, other, c.m)
		}
		must.Do(t, other.Decode(b)) // once more
		if !same(other, c.m) {
			t.Errorf("%s: read again: %+v, want %+v", c.file, other, c.m)
		}
	}
}

// same reports whether a decoded message is m.
func same(decoded, m *Message) bool {
	if decoded.Model != m.Model || decoded.Version != m.Version || decoded.ID != m.ID || decoded.BF16 != m.BF16 || decoded.SkipBelow != m.SkipBelow ||
		len(decoded.Tensors) != len(m.Tensors) || strings.Join(decoded.Outputs, " ") != strings.Join(m.Outputs, " ") {
		return false
	}
	for i := range m.Tensors {
		d, w := &decoded.Tensors[i], &m.Tensors[i]
		x := make([]float32, len(w.Values))
		if d.Name != w.Name || d.Shape != w.Shape || d.Dims != w.Dims || d.Type != FP32 || len(d.Raw) != 4*len(x) {
			return false
		}
		if d.Copy(x); !reflect.DeepEqual(x, w.Values) {
			return false
		}
	}
	return true
}

// Values may also be a list inside the tensor.
func TestContents(t *testing.T) {
	in := &pb.ModelInferRequest{Inputs: []*pb.ModelInferRequest_InferInputTensor{{Name: "x", Datatype: "FP32", Shape: []int64{1, 2},
		Contents: &pb.InferTensorContents{Fp32Contents: []float32{3, 4}}}}}
	var m Message
	must.Do(t, m.Decode(must.Get(proto.Marshal(in))(t)))
	x := make([]float32, 2)
	if m.Tensors[0].Copy(x); x[0] != 3 || x[1] != 4 {
		t.Error(x)
	}
}

// Messages that are wrong are refused.
func TestWrongMessages(t *testing.T) {
	type tensor = pb.ModelInferRequest_InferInputTensor
	x := func(shape ...int64) *tensor { return &tensor{Name: "x", Datatype: "FP32", Shape: shape} }
	eight := make([]byte, 8)
	many := &pb.ModelInferRequest{}
	for range MaxTensors + 1 {
		many.Inputs = append(many.Inputs, x(1, 0))
	}
	outputs, values, parameters := &pb.ModelInferRequest{}, &pb.ModelInferRequest{}, &pb.ModelInferRequest{Parameters: map[string]*pb.InferParameter{}}
	for i := range MaxTensors + 1 {
		outputs.Outputs = append(outputs.Outputs, &pb.ModelInferRequest_InferRequestedOutputTensor{Name: "y"})
		values.RawInputContents = append(values.RawInputContents, nil)
		parameters.Parameters[strings.Repeat("p", i)] = &pb.InferParameter{}
	}
	for name, c := range map[string]struct {
		m    *pb.ModelInferRequest
		want string
	}{
		"too few bytes":    {&pb.ModelInferRequest{Inputs: []*tensor{x(1, 3)}, RawInputContents: [][]byte{eight}}, "8 bytes"},
		"too many bytes":   {&pb.ModelInferRequest{Inputs: []*tensor{x(1, 1)}, RawInputContents: [][]byte{eight}}, "8 bytes"},
		"no bytes":         {&pb.ModelInferRequest{Inputs: []*tensor{x(1, 1)}}, "0 bytes"},
		"a negative size":  {&pb.ModelInferRequest{Inputs: []*tensor{x(-1, -2)}, RawInputContents: [][]byte{eight}}, "8 bytes"},
		"an overflow":      {&pb.ModelInferRequest{Inputs: []*tensor{x(1<<33, 1<<31, 1)}, RawInputContents: [][]byte{nil}}, "0 bytes"},
		"dimensions":       {&pb.ModelInferRequest{Inputs: []*tensor{x(1, 1, 1, 2)}, RawInputContents: [][]byte{eight}}, "dimensions"},
		"another type":     {&pb.ModelInferRequest{Inputs: []*tensor{{Name: "x", Datatype: "FP64", Shape: []int64{1}}}, RawInputContents: [][]byte{eight}}, "FP64"},
		"a long name":      {&pb.ModelInferRequest{ModelName: strings.Repeat("x", maxName+1)}, "name"},
		"one tensor's raw": {&pb.ModelInferRequest{Inputs: []*tensor{x(1, 2), x(1, 2)}, RawInputContents: [][]byte{eight}}, "raw values of 1"},
		"values twice": {&pb.ModelInferRequest{Inputs: []*tensor{{Name: "x", Datatype: "FP32", Shape: []int64{1, 2},
			Contents: &pb.InferTensorContents{Fp32Contents: []float32{3, 4}}}}, RawInputContents: [][]byte{eight}}, "twice"},
		"integers": {&pb.ModelInferRequest{Inputs: []*tensor{{Name: "x", Datatype: "FP32", Shape: []int64{1, 2},
			Contents: &pb.InferTensorContents{IntContents: []int32{3, 4}}}}}, "contents"},
		"many inputs": {many, "tensors"}, "many outputs": {outputs, "outputs"}, "many values": {values, "tensors"}, "many parameters": {parameters, "parameters"},
	} {
		b := must.Get(proto.Marshal(c.m))(t)
		if err := new(Message).Decode(b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
	request, _ := messages()
	b := request.Append(nil)
	for n := 1; n < len(b); n++ {
		new(Message).Decode(b[:n]) // some are whole messages
	}
	if new(Message).Decode(b[:len(b)-1]) == nil {
		t.Error("a message without its end is read")
	}
}

// A message that is small and means much takes no memory.
func TestNoMemoryForBadMessages(t *testing.T) {
	b := make([]byte, 0, 4<<20)
	for len(b) < 4<<20-2 {
		b = append(b, fieldTensors<<3|2, 0)
	}
	m := &Message{}
	var err error
	got := testing.AllocsPerRun(5, func() { err = m.Decode(b) })
	if err == nil || got > 5 {
		t.Errorf("two million empty tensors: %v, %v allocations", err, got)
	}
}

// Encoding and decoding the same kind of message again allocates next to nothing.
func TestAllocations(t *testing.T) {
	request, response := messages()
	for _, m := range []*Message{request, response} { // gRPC keeps no buffers below 1 KiB
		m.Tensors[0].Set("x", 64, 0, 40, make([]float32, 64*40))
	}
	request.Pool = &Pool{}
	bytes := response.Append(nil)
	answer := Message{Response: true}
	run := func() {
		s := must.Get(Codec{}.Marshal(request))(t)
		s.Free()
		must.Do(t, Codec{}.Unmarshal(mem.BufferSlice{mem.SliceBuffer(bytes)}, &answer))
		must.Do(t, answer.Err)
		answer.Free()
	}
	if got := testing.AllocsPerRun(100, run); got > 3 {
		t.Errorf("%v allocations", got)
	}
}

// The metadata of a model.
func TestMetadata(t *testing.T) {
	in := &pb.ModelMetadataResponse{Name: "m", Versions: []string{"1", "2"}, Platform: "p",
		Inputs:  []*pb.ModelMetadataResponse_TensorMetadata{{Name: "x", Datatype: "FP32", Shape: []int64{-1, 3}}},
		Outputs: []*pb.ModelMetadataResponse_TensorMetadata{{Name: "y", Datatype: "FP32", Shape: []int64{-1, -1, 3}}}}
	var m Metadata
	must.Do(t, Codec{}.Unmarshal(mem.BufferSlice{mem.SliceBuffer(must.Get(proto.Marshal(in))(t))}, &m))
	want := Metadata{Versions: []string{"1", "2"}, Inputs: []Info{{"x", FP32, []int64{-1, 3}}}, Outputs: []Info{{"y", FP32, []int64{-1, -1, 3}}}}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("%+v, want %+v", m, want)
	}
	var ask pb.ModelMetadataRequest
	s := must.Get(Codec{}.Marshal(&MetadataRequest{Model: "m", Version: "2"}))(t)
	must.Do(t, proto.Unmarshal(s.Materialize(), &ask))
	if ask.Name != "m" || ask.Version != "2" {
		t.Error(&ask)
	}
}

// Any bytes give a message or an error, and a message that is read is written as what it was read as.
func FuzzDecode(f *testing.F) {
	request, response := messages()
	f.Add(request.Append(nil), false)
	f.Add(response.Append(nil), true)
	f.Fuzz(func(t *testing.T, b []byte, answer bool) {
		m := &Message{Response: answer}
		new(Metadata).decode(b)
		if m.Decode(b) != nil {
			return
		}
		for i := range m.Tensors {
			n, _ := m.Tensors[i].Size()
			m.Tensors[i].Values = make([]float32, n)
			m.Tensors[i].Copy(m.Tensors[i].Values)
		}
		again := &Message{Response: answer}
		must.Do(t, again.Decode(m.Append(nil)))
		for i := range m.Tensors { // NaNs are not equal
			if x, y := &m.Tensors[i], &again.Tensors[i]; x.Name != y.Name || x.Shape != y.Shape || string(x.Raw) != string(y.Raw) {
				t.Errorf("tensor %d: %+v, then %+v", i, x, y)
			}
		}
	})
}
