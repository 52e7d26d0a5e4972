package netruntime

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestNewRejects spoils one thing at a time.
func TestNewRejects(t *testing.T) {
	for want, spoil := range map[string]func(m *Meta, t []Tensor) []Tensor{
		`"lstm"`:                          func(m *Meta, t []Tensor) []Tensor { m.Arch = "lstm"; return t },
		`"experts.1.bias": it is missing`: func(m *Meta, t []Tensor) []Tensor { return slices.Delete(t, 13, 14) },
		`unknown tensors "a", "b"`:        func(m *Meta, t []Tensor) []Tensor { return append(t, Tensor{Name: "b"}, Tensor{Name: "a"}) },
		`"x_std": twice there`:            func(m *Meta, t []Tensor) []Tensor { return append(t, t[1]) },
		`axis 1 should be 4: "experts.0.weight" has that many (node "experts.0")`: func(m *Meta, t []Tensor) []Tensor { t[11].Shape = []int{2, 3}; t[11].Data = t[11].Data[:6]; return t },
		`has shape [5 1], want 1 axes`:                                            func(m *Meta, t []Tensor) []Tensor { t[0].Shape = []int{5, 1}; return t },
		`shape [5] and 4 values`:                                                  func(m *Meta, t []Tensor) []Tensor { t[0].Data = t[0].Data[:4]; return t },
		`"y_std": value 1 is NaN`:                                                 func(m *Meta, t []Tensor) []Tensor { t[3].Data[1] = float32(math.NaN()); return t },
		`"experts.2.weight": value 0`:                                             func(m *Meta, t []Tensor) []Tensor { t[14].Data[0] = float32(math.Inf(-1)); return t },
		`"x_std": deviation 4 is -1`:                                              func(m *Meta, t []Tensor) []Tensor { t[1].Data[4] = -1; return t },
		`"x_std": deviation 0 is 1e-45`:                                           func(m *Meta, t []Tensor) []Tensor { t[1].Data[0] = 1e-45; return t },
		`"gating.0.weight": has shape [2 2], axis 1 should be 1`:                  func(m *Meta, t []Tensor) []Tensor { m.GatingColumns = m.GatingColumns[:1]; return t },
		`there is no input 5`:                                                     func(m *Meta, t []Tensor) []Tensor { m.GatingColumns[0] = 5; return t },
		`experts = "3"`:                                                           func(m *Meta, t []Tensor) []Tensor { m.Extra = map[string]string{"experts": "3"}; return t },
		`"card" is one of the format's`:                                           func(m *Meta, t []Tensor) []Tensor { m.Extra = map[string]string{"card": ""}; return t },
		`"x_mean": has shape [9223372036854`:                                      func(m *Meta, t []Tensor) []Tensor { t[0].Shape = []int{math.MaxInt}; return t },
	} {
		m := tiny.meta()
		ts := spoil(&m, tiny.tensors(1))
		if _, err := New(m, ts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %s", err, want)
		}
	}
}

func TestNewCopies(t *testing.T) {
	ts := tiny.tensors(2)
	m := tiny.meta()
	n, err := New(m, ts)
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if err := n.Encode(&a); err != nil {
		t.Fatal(err)
	}
	for _, x := range ts {
		clear(x.Data)
		x.Shape[0] = 77
	}
	m.GatingColumns[0] = 99
	got, _ := n.Tensor("x_mean")
	clear(got.Data)
	n.Meta().GatingColumns[0] = 98
	if err := n.Encode(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatal("the network changed with its makings")
	}
}
