package netruntime

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// The outputs that a network gives as changes are the inputs plus what the
// same network without them gives, before and after a file.
func TestResidual(t *testing.T) {
	z := odd
	plain := z.net(t, 5)
	for _, r := range []Residual{{In: 20, Out: 7, Len: 30}, {In: 0, Out: 0, Len: z.out}, {In: z.in - 1, Out: z.out - 1, Len: 1}} {
		meta := z.meta()
		meta.Residual = &r
		n, err := New(meta, z.tensors(5))
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := n.Encode(&file); err != nil {
			t.Fatal(err)
		}
		if n, err = Decode(file.Bytes()); err != nil {
			t.Fatal(err)
		}
		const rows = 3
		x := randomRows(9, rows*z.in)
		want, got := make([]float32, rows*z.out), make([]float32, rows*z.out)
		if err := open(t, plain, rows, 1).Run(want, x, rows); err != nil {
			t.Fatal(err)
		}
		session := open(t, n, rows, 2)
		if err := session.Run(got, x, rows); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			c := i%z.out - r.Out
			if c >= 0 && c < r.Len {
				want[i] += x[i/z.out*z.in+r.In+c]
			}
			if math.Abs(float64(got[i]-want[i])) > 1e-5*(1+math.Abs(float64(want[i]))) {
				t.Fatalf("%+v: output %d of row %d is %v, want %v", r, i%z.out, i/z.out, got[i], want[i])
			}
		}
		if g := session.Gating(); len(g) != rows*z.k {
			t.Errorf("%d gating weights, want %d", len(g), rows*z.k)
		}
	}
}

func TestResidualRejects(t *testing.T) {
	z := tiny
	for _, r := range []Residual{{}, {In: -1, Len: 1}, {Out: -1, Len: 1}, {In: 3, Len: 3}, {Out: 1, Len: 3}, {In: math.MaxInt, Len: 2}, {Len: math.MaxInt}} {
		meta := z.meta()
		meta.Residual = &r
		if _, err := New(meta, z.tensors(1)); err == nil || !strings.Contains(err.Error(), "residual") {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
