package netruntime

import (
	"bytes"
	"testing"
)

// A checksum is that of what a network computes: it stays in any file that holds the
// same numbers, and no other network has it.
func TestChecksum(t *testing.T) {
	sum := func(m Meta, ts []Tensor) string {
		t.Helper()
		n, err := New(m, ts)
		if err != nil {
			t.Fatal(err)
		}
		s, err := n.Checksum()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	was := sum(tiny.meta(), tiny.tensors(2))
	n, err := New(tiny.meta(), tiny.tensors(2))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := n.EncodeBF16(&b); err != nil {
		t.Fatal(err)
	}
	half, err := Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := half.Encode(&b); err != nil {
		t.Fatal(err)
	}
	again, err := Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
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
