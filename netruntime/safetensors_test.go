package netruntime

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/kernel"
)

func encoded(t testing.TB, n *Net) []byte {
	var b bytes.Buffer
	must.Do(t, n.Encode(&b))
	return b.Bytes()
}

func fullMeta() Meta {
	m := tiny.meta()
	m.Schema, m.Skeleton, m.Data, m.License = `{"joints":["a"]}`, `{"names":["ä"]}`, "recordings", "CC BY-NC 4.0"
	m.Card, m.Metrics, m.CreatedBy = "# A card\n\n\"quoted\" <b> \u2028", `{"skate":0.07}`, "train mann"
	m.Extra = map[string]string{"x.colour": "brown", "": "empty key"}
	return m
}

func TestFileRoundTrip(t *testing.T) {
	n := must.Get(New(fullMeta(), tiny.tensors(4)))(t)
	b := encoded(t, n)
	path := filepath.Join(t.TempDir(), "net.safetensors")
	must.Do(t, os.WriteFile(path, b, 0o644))
	got := must.Get(Open(path))(t)
	if !reflect.DeepEqual(got.Meta(), n.Meta()) || !reflect.DeepEqual(got.Meta(), fullMeta()) {
		t.Fatalf("metadata %+v, want %+v", got.Meta(), fullMeta())
	}
	if !reflect.DeepEqual(got.Tensors(), n.Tensors()) {
		t.Fatal("tensors changed")
	}
	if !bytes.Equal(encoded(t, got), b) {
		t.Fatal("encoding twice gives other bytes")
	}
	if want := map[string]string{"experts": "2", "hidden": "4", "gating_hidden": "2"}; !reflect.DeepEqual(got.Sizes(), want) {
		t.Fatalf("sizes %v", got.Sizes())
	}
}

// TestBF16 checks the rounding of stored weights: 8 bits of mantissa, ties to even.
func TestBF16(t *testing.T) {
	for in, want := range map[float32]float32{
		0: 0, 1: 1, -2.5: -2.5, 1.00390625: 1, 1.01171875: 1.015625, 1.0039064: 1.0078125, 3e-40: 3 * 0x1p-133,
	} {
		var half [1]uint16
		kernel.ToBF16(half[:], []float32{in})
		if got := math.Float32frombits(uint32(half[0]) << 16); got != want {
			t.Errorf("%v becomes %v, want %v", in, got, want)
		}
	}
	n := odd.net(t, 3)
	var b bytes.Buffer
	must.Do(t, n.EncodeBF16(&b))
	if full := len(encoded(t, n)); b.Len() > full*6/10 {
		t.Fatalf("%d bytes, %d as float32", b.Len(), full)
	}
	got := must.Get(Decode(b.Bytes()))(t)
	for i, x := range n.Tensors() {
		y := got.Tensors()[i]
		for j, v := range x.Data {
			tol := 0.0
			if strings.HasSuffix(x.Name, "weight") {
				tol = math.Abs(float64(v)) / 256
			}
			if !(math.Abs(float64(v)-float64(y.Data[j])) <= tol) {
				t.Fatalf("%s[%d] = %v, stored %v", x.Name, j, y.Data[j], v)
			}
		}
	}
	ts := tiny.tensors(1)
	ts[4].Data[0] = math.MaxFloat32
	n = must.Get(New(tiny.meta(), ts))(t)
	must.FailWith(t, n.EncodeBF16(io.Discard), "gating.0.weight")
}

// TestTruncatedFiles cuts a file at every byte.
func TestTruncatedFiles(t *testing.T) {
	b := encoded(t, tiny.net(t, 1))
	for cut := range len(b) {
		_, err := Decode(b[:cut])
		var f *FormatError
		if !errors.As(err, &f) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d of %d: %v", cut, len(b), err)
		}
	}
}

// TestDamageIsSeen flips every bit of a file, one at a time. It skips the checksum's own key,
// because a file without that key counts as one of another program.
func TestDamageIsSeen(t *testing.T) {
	mann := must.Get(New(fullMeta(), tiny.tensors(4)))(t)
	for _, b := range [][]byte{bf16File(t, mann), encoded(t, smallGraph())} {
		n := must.Get(Decode(b))(t)
		whole, key := encoded(t, n), bytes.Index(b, []byte(`checksum`))
		for i := range 8 * len(b) {
			if i/8 >= key && i/8 < key+len("checksum") {
				continue
			}
			b[i/8] ^= 1 << (i % 8)
			got, err := Decode(b)
			b[i/8] ^= 1 << (i % 8)
			if err == nil && bytes.Equal(encoded(t, got), whole) {
				continue // such as a capital in \u003c
			}
			var f *FormatError
			var u *UnsupportedError
			if !errors.As(err, &f) && !errors.As(err, &u) {
				t.Fatalf("bit %d of byte %d (%q): %v", i%8, i/8, b[max(i/8-10, 0):min(i/8+10, len(b))], err)
			}
		}
	}
}

// A file that another program rewrote, with keys and data in another order, is as good as ours. So
// is one without a checksum.
func TestRewrittenFilesDecode(t *testing.T) {
	n := tiny.net(t, 6)
	b := encoded(t, n)
	kv, entries, data, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	var moved []byte
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		at := len(moved)
		moved = append(moved, data[e.lo:e.hi]...)
		e.lo, e.hi = at, len(moved)
	}
	for range 2 {
		head := must.Get(header(kv, entries))(t)
		got := must.Get(Decode(append(file(string(head), 0), moved...)))(t)
		if !reflect.DeepEqual(got.Tensors(), n.Tensors()) || !reflect.DeepEqual(got.Meta(), n.Meta()) {
			t.Fatal("another network")
		}
		delete(kv, keyChecksum)
	}
}

// TestOldFiles checks that files of every version of the format still decode. Each is
// tiny.tensors(4) with fullMeta, rounded to bfloat16.
func TestOldFiles(t *testing.T) {
	for _, version := range []string{"1", "1-without-checksum"} {
		n, err := Open(filepath.Join("testdata", "format-"+version+".safetensors"))
		if err != nil {
			t.Error(err)
			continue
		}
		if !reflect.DeepEqual(n.Meta(), fullMeta()) {
			t.Errorf("version %s: metadata %+v", version, n.Meta())
		}
		for _, want := range tiny.tensors(4) {
			got, _ := n.Tensor(want.Name)
			if !reflect.DeepEqual(got.Shape, want.Shape) {
				t.Fatalf("version %s: %s has shape %v", version, want.Name, got.Shape)
			}
			for i, v := range want.Data {
				if !(math.Abs(float64(got.Data[i]-v)) <= math.Abs(float64(v))/256) {
					t.Fatalf("version %s: %s[%d] is %v, want %v", version, want.Name, i, got.Data[i], v)
				}
			}
		}
	}
}

// file puts a header before data.
func file(head string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	return append(append(b, head...), make([]byte, data)...)
}

func TestDecodeRejects(t *testing.T) {
	const f4 = `{"dtype":"F32","shape":[1],"data_offsets":[0,4]}`
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"length of 2⁶³", binary.LittleEndian.AppendUint64(nil, 1<<63), "at most 4194304"},
		{"length beyond the file", binary.LittleEndian.AppendUint64(nil, 100), "the file has 0"},
		{"not an object", file(`[]`, 0), "want the start of an object"},
		{"not JSON", file(`{"a":`, 0), "unexpected EOF"},
		{"after the object", file(`{} {}`, 0), "after the header's object"},
		{"not UTF-8", file("{\"\xff\":1}", 0), "not UTF-8"},
		{"same tensor twice", file(`{"a":`+f4+`,"a":`+f4+`}`, 4), `key "a" twice`},
		{"same key twice", file(`{"a":{"dtype":"F32","dtype":"F32"}}`, 4), `key "dtype" twice`},
		{"same metadata twice", file(`{"__metadata__":{"x":"1","x":"2"}}`, 0), `key "x" twice`},
		{"metadata null", file(`{"__metadata__":{"x":null}}`, 0), `"x" is null`},
		{"metadata number", file(`{"__metadata__":{"x":1}}`, 0), "cannot unmarshal number"},
		{"unknown key", file(`{"a":{"kind":"F32"}}`, 0), `unknown key "kind"`},
		{"no shape", file(`{"a":{"dtype":"F32","data_offsets":[0,4]}}`, 4), "no shape"},
		{"one offset", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}}`, 4), "want two, neither below 0"},
		{"negative shape", file(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 4), "shape [-1]"},
		{"negative offset", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}`, 4), "want two, neither below 0"},
		{"offset of 2⁶⁴", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551616]}}`, 4), "cannot unmarshal"},
		{"product overflows", file(`{"a":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,4]}}`, 4), "too large"},
		{"product wraps to 1", file(`{"a":{"dtype":"F32","shape":[4294967297,4294967297,4294967297],"data_offsets":[0,4]}}`, 4), "too large"},
		{"product of bytes wraps to 0", file(`{"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}}`, 0), "too large"},
		{"zero times too large", file(`{"a":{"dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}}`, 0), "too large"},
		{"range below the shape", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 8), "takes 8 bytes"},
		{"range backwards", file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[4,0]}}`, 4), "its data begin at 4"},
		{"gap", file(`{"a":`+f4+`,"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}`, 12), "its data begin at 8"},
		{"overlap", file(`{"a":`+f4+`,"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}`, 6), "its data begin at 2"},
		{"same range", file(`{"a":`+f4+`,"b":`+f4+`}`, 4), "its data begin at 0"},
		{"beyond the end", file(`{"a":`+f4+`}`, 3), "section has 3 bytes"},
		{"bytes left over", file(`{"a":`+f4+`}`, 9), "5 bytes after"},
		{"other type", file(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`, 8), `storage type "F64"`},
		{"no format", file(`{}`, 0), `format ""`},
		{"later format", file(`{"__metadata__":{"format":"mannequin/2"}}`, 0), `format "mannequin/2"`},
		{"other architecture", file(`{"__metadata__":{"format":"mannequin/1","arch":"pfnn"}}`, 0), `architecture "pfnn"`},
		{"columns", file(`{"__metadata__":{"format":"mannequin/1","arch":"mann","gating_columns":"[1.5]"}}`, 0), "gating_columns"},
		{"no tensors", file(`{"__metadata__":{"format":"mannequin/1","arch":"mann"}}`, 0), `"x_mean": it is missing`},
	} {
		_, err := Decode(c.in)
		var f *FormatError
		var u *UnsupportedError
		if !errors.As(err, &f) && !errors.As(err, &u) {
			t.Errorf("%s: %v has no type", c.name, err)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestDecodeNamesTheOffset(t *testing.T) {
	b := encoded(t, tiny.net(t, 1))
	at := bytes.Index(b, []byte(`"data_offsets"`))
	b[at-1] = '?'
	_, err := Decode(b)
	var f *FormatError
	if !errors.As(err, &f) || f.Offset < int64(at)-40 || f.Offset > int64(at)+40 {
		t.Fatalf("spoiled at %d: %v", at, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	// A device may never end.
	for _, path := range []string{dir, os.DevNull} {
		must.Fail(Open(path))(t, path+": not a regular file")
	}
	sparse := filepath.Join(dir, "sparse")
	must.Do(t, os.WriteFile(sparse, nil, 0o644))
	if err := os.Truncate(sparse, maxFile+1); err != nil {
		t.Skip(err)
	}
	must.Fail(Open(sparse))(t, "at most")
}

// FuzzDecode checks that every file that decodes is finite, runs, and survives a round trip.
func FuzzDecode(f *testing.F) {
	n, err := New(fullMeta(), tiny.tensors(4))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded(f, n))
	var b bytes.Buffer
	if err := n.EncodeBF16(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	// Without checksum, so that changed bytes get further.
	f.Add(bytes.Replace(b.Bytes(), []byte("checksum"), []byte("comments"), 1))
	f.Add(file(`{"__metadata__":{"format":"mannequin/1","arch":"mann"},"x_mean":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}`, 4))
	for _, g := range append([]graphCase{{net: smallGraph()}, {net: longGraph()}}, graphCases()[4:12]...) {
		b := encoded(f, g.net)
		f.Add(b)
		f.Add(bytes.Replace(b, []byte("checksum"), []byte("comments"), 1))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		n, err := Decode(in)
		if err != nil {
			return
		}
		var b bytes.Buffer
		must.Do(t, n.Encode(&b))
		again := must.Get(Decode(b.Bytes()))(t)
		if !reflect.DeepEqual(n.Meta(), again.Meta()) || !reflect.DeepEqual(n.Tensors(), again.Tensors()) {
			t.Fatal("a round trip changed the network")
		}
		if n.channels(n.Values()) > 1000 || n.Parameters() > 10000 {
			return // it runs, but too slowly for a fuzzer
		}
		length := 1 // the shortest length that can be halved often enough
		for _, v := range n.Values() {
			length = max(length, v.span.den)
		}
		s := must.Get(n.NewSession(SessionOptions{Batch: 1, Length: length, Workers: 1}))(t)
		defer s.Close()
		out, x := arrays(n, 1, 1, length)
		must.Do(t, s.RunSequences(out, x, 1, length))
	})
}

// A network reports the file that it came from, and nothing if it was made in memory.
func TestFile(t *testing.T) {
	n := tiny.net(t, 4)
	if size, types := n.File(); size != 0 || len(types) != 0 {
		t.Errorf("made in memory, it came from %d bytes of %v", size, types)
	}
	b := encoded(t, n)
	got := must.Get(Decode(b))(t)
	if size, types := got.File(); size != len(b) || !slices.Equal(types, []string{"F32"}) {
		t.Errorf("%d bytes of %v, want %d of F32", size, types, len(b))
	}
}

// An embedded file is decoded once. The error of a broken file names it.
func TestEmbedded(t *testing.T) {
	b := encoded(t, tiny.net(t, 1))
	open := Embedded("models/cat", b)
	first := must.Get(open())(t)
	if again, _ := open(); again != first {
		t.Error("decoded twice")
	}
	if _, err := Embedded("models/cat", b[:9])(); err == nil || !strings.HasPrefix(err.Error(), "models/cat: ") {
		t.Errorf("broken: %v", err)
	}
}

// A checksum identifies what a network computes: it is the same in every file with the same
// numbers, and no other network has it.
func TestChecksum(t *testing.T) {
	sum := func(m Meta, ts []Tensor) string {
		t.Helper()
		n := must.Get(New(m, ts))(t)
		s := must.Get(n.Checksum())(t)
		return s
	}
	was := sum(tiny.meta(), tiny.tensors(2))
	n := must.Get(New(tiny.meta(), tiny.tensors(2)))(t)
	var b bytes.Buffer
	must.Do(t, n.EncodeBF16(&b))
	half := must.Get(Decode(b.Bytes()))(t)
	b.Reset()
	must.Do(t, half.Encode(&b))
	again := must.Get(Decode(b.Bytes()))(t)
	x, _ := half.Checksum()
	if y, _ := again.Checksum(); x != y {
		t.Error("the same numbers, stored otherwise, have another checksum")
	}
	m := tiny.meta()
	m.Name, m.Card, m.Metrics = "another", "# Card", "{}"
	if sum(m, tiny.tensors(2)) != was {
		t.Error("another card has another checksum")
	}
	m = tiny.meta()
	m.Skeleton = m.Skeleton + " "
	if sum(m, tiny.tensors(2)) == was {
		t.Error("another skeleton has the same checksum")
	}
	ts := tiny.tensors(2)
	ts[0].Data[0] = -ts[0].Data[0]
	if sum(tiny.meta(), ts) == was {
		t.Error("another weight has the same checksum")
	}
}
