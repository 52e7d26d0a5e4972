package netruntime

// graphCase is a network that the tests run.
type graphCase struct {
	name   string
	net    *Net
	factor int // lengths are multiples of it
}

// graphCases covers every operation, option and fusion, light and heavy (from
// heavyWeights on), over odd sizes.
func graphCases() []graphCase {
	var cases []graphCase
	add := func(name string, factor int, f func(m *maker) []string) {
		m := newMaker(uint64(len(cases)))
		cases = append(cases, graphCase{name, m.net(f(m)...), factor})
	}
	x := func(m *maker, channels int) string { return m.input("x", channels, false) }
	add("dense", 1, func(m *maker) []string {
		a := m.node(Node{Op: OpDense, In: []string{x(m, 131)}, Act: "tanh"}, 257, 0)
		return []string{m.node(Node{Op: OpDense, In: []string{a}, Act: "relu"}, 7, 0), a}
	})
	add("tied dense", 1, func(m *maker) []string {
		a := m.node(Node{Op: OpDense, In: []string{x(m, 9)}, Act: "sigmoid", Tensors: map[string]string{"weight": "shared"}}, 21, 0)
		return []string{m.node(Node{Op: OpDense, In: []string{a}, Tied: true, Tensors: map[string]string{"weight": "shared"}}, 9, 0)}
	})
	add("blend", 1, func(m *maker) []string {
		n := m.node(Node{Op: OpNormalize, In: []string{x(m, 45)}}, 0, 0)
		s := m.node(Node{Op: OpSelect, In: []string{n}, Columns: []int{4, 0, 44, 4}}, 0, 0)
		w := m.node(Node{Op: OpSoftmax, In: []string{m.node(Node{Op: OpDense, In: []string{s}}, 5, 0)}}, 0, 0)
		a := m.node(Node{Op: OpBlend, In: []string{n, w}, Act: "elu"}, 151, 0)
		b := m.node(Node{Op: OpBlend, In: []string{a, w}}, 50, 0)
		return []string{m.node(Node{Op: OpDenormalize, In: []string{b}}, 0, 0), w}
	})
	for _, width := range []int{1, 2, 5, 8} {
		add("conv", 1, func(m *maker) []string {
			a := m.node(Node{Op: OpConv, In: []string{x(m, 3)}, Act: "relu"}, 5, width)
			return []string{m.node(Node{Op: OpConv, In: []string{a}, Flip: true}, 4, width)}
		})
		add("autoencoder", 2, func(m *maker) []string {
			shared := map[string]string{"weight": "shared"}
			a := m.node(Node{Op: OpConv, In: []string{x(m, 11)}, Act: "relu", Tensors: shared}, 13, width)
			p := m.node(Node{Op: OpMaxPool, In: []string{a}}, 0, 0)
			u := m.node(Node{Op: OpDepool, In: []string{p}}, 0, 0)
			return []string{m.node(Node{Op: OpConv, In: []string{u}, Tied: true, Flip: true, Tensors: shared}, 11, width), p}
		})
	}
	add("heavy autoencoder", 2, func(m *maker) []string {
		a := m.node(Node{Op: OpConv, In: []string{x(m, 37)}, Act: "relu"}, 101, 9)
		p := m.node(Node{Op: OpMaxPool, In: []string{a}}, 0, 0)
		u := m.node(Node{Op: OpDepool, In: []string{p}}, 0, 0)
		c := m.node(Node{Op: OpConv, In: []string{u}}, 37, 9)
		return []string{m.node(Node{Op: OpDenormalize, In: []string{c}}, 0, 0)}
	})
	add("depool read twice", 1, func(m *maker) []string {
		u := m.node(Node{Op: OpDepool, In: []string{x(m, 6)}}, 0, 0)
		a := m.node(Node{Op: OpConv, In: []string{u}}, 6, 3)
		b := m.node(Node{Op: OpConv, In: []string{u}, Act: "tanh"}, 6, 6)
		s := m.node(Node{Op: OpAdd, In: []string{a, b}}, 0, 0)
		v := m.node(Node{Op: OpDepool, In: []string{s}}, 0, 0)
		d := m.node(Node{Op: OpConv, In: []string{v}}, 2, 3)
		return []string{d, m.node(Node{Op: OpAct, Act: "elu", In: []string{v}}, 0, 0), v}
	})
	add("batch norm", 1, func(m *maker) []string {
		a := m.node(Node{Op: OpDense, In: []string{x(m, 8)}}, 9, 0)
		b := m.node(Node{Op: OpBatchNorm, In: []string{a}, Act: "elu"}, 0, 0)
		c := m.node(Node{Op: OpDense, In: []string{b}, Act: "tanh"}, 7, 0)
		d := m.node(Node{Op: OpBatchNorm, In: []string{c}}, 0, 0)
		e := m.node(Node{Op: OpConv, In: []string{d}}, 6, 3)
		f := m.node(Node{Op: OpBatchNorm, In: []string{e}}, 0, 0)
		u := m.node(Node{Op: OpDepool, In: []string{f}}, 0, 0)
		h := m.node(Node{Op: OpConv, In: []string{u}}, 5, 4)
		i := m.node(Node{Op: OpBatchNorm, In: []string{h}, Act: "sigmoid"}, 0, 0)
		return []string{m.node(Node{Op: OpBatchNorm, In: []string{i}}, 0, 0), a, b}
	})
	add("lstm", 1, func(m *maker) []string {
		a := m.node(Node{Op: OpLSTM, In: []string{x(m, 7)}}, 9, 0)
		b := m.node(Node{Op: OpLSTM, In: []string{a}, Reverse: true}, 5, 0)
		return []string{b, a + ".h", b + ".c"}
	})
	add("heavy lstm", 1, func(m *maker) []string {
		x := x(m, 60)
		h, c := m.input("h", 83, true), m.input("c", 83, true)
		a := m.node(Node{Op: OpLSTM, In: []string{x, h, c}}, 83, 0)
		b := m.node(Node{Op: OpLSTM, In: []string{a, a + ".h", a + ".c"}, Reverse: true}, 83, 0)
		d := m.node(Node{Op: OpConv, In: []string{b}}, 3, 3)
		return []string{d, b + ".h", b + ".c", a + ".h"}
	})
	add("groups", 1, func(m *maker) []string {
		x := x(m, 20)
		l := m.node(Node{Op: OpDense, In: []string{m.node(Node{Op: OpSelect, In: []string{x}, Columns: []int{0, 2, 4}}, 0, 0)}, Act: "elu"}, 6, 0)
		r := m.node(Node{Op: OpConv, In: []string{m.node(Node{Op: OpSelect, In: []string{x}, Columns: []int{19, 3}}, 0, 0)}}, 5, 3)
		j := m.node(Node{Op: OpConcat, In: []string{l, r, x}}, 0, 0)
		d := m.node(Node{Op: OpDense, In: []string{j}}, 31, 0)
		s := m.node(Node{Op: OpAdd, In: []string{d, j, d}}, 0, 0)
		return []string{s, x, m.node(Node{Op: OpAdd, In: []string{s}}, 0, 0)}
	})
	add("padded outputs", 1, func(m *maker) []string {
		x := x(m, 4)
		a := m.node(Node{Op: OpSoftmax, In: []string{x}}, 0, 0)
		b := m.node(Node{Op: OpConv, In: []string{a}}, 4, 5)
		l := m.node(Node{Op: OpLSTM, In: []string{b}}, 6, 0)
		c := m.node(Node{Op: OpConv, In: []string{l}, Act: "relu"}, 150, 5)
		d := m.node(Node{Op: OpConv, In: []string{c}}, 80, 3)
		e := m.node(Node{Op: OpConv, In: []string{x}}, 4, 5)
		return []string{a, l, d, e, x}
	})
	return cases
}
