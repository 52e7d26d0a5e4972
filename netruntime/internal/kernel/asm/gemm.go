//go:build generate

// This program writes the matrix product's microkernels:
//
//	go run gemm.go isa.go -out ../gemm_amd64.s -stubs ../gemm_amd64.go -pkg kernel
//
// A kernel of R rows and P panels keeps R·P pairs of vectors as sums. Per step of k it loads 2·P
// vectors of B, broadcasts R values of A straight from memory, and issues 2·R·P fused
// multiply-adds. Eight independent sums hide the latency of one; therefore the low tiles use
// several panels. A kernel of 0 panels is for the first half of one, a single vector.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func kernel(f *isa, rows, panels int) {
	text(fmt.Sprintf("gemm%s_%dx%d", f.name, rows, panels), "func(t *tile)")
	t := Dereference(Param("t"))
	long := func(name string) reg.GPVirtual { return Load(t.Field(name), GP64()).(reg.GPVirtual) }
	stride := func(name string) reg.GPVirtual {
		r := long(name)
		SHLQ(U8(2), r)
		return r
	}
	ptr := func(name string) reg.GPVirtual { return Load(t.Field(name).Base(), GP64()).(reg.GPVirtual) }

	k, rs, cs, bs := long("k"), stride("rs"), stride("cs"), stride("bs")
	// One pointer per three rows of A: a row is at base, base + rs or base + 2·rs.
	a := []reg.GPVirtual{ptr("a")}
	for 3*len(a) < rows {
		a = append(a, GP64())
	}
	pointers(a, rs, 3)
	// One pointer per two panels of B: base or base + ps.
	b := []reg.GPVirtual{ptr("b")}
	var ps reg.GPVirtual
	if panels > 1 {
		ps = stride("ps")
	}
	for 2*len(b) < panels {
		b = append(b, GP64())
	}
	pointers(b, ps, 2)

	// Tall tiles prefetch the next panel of B into the second-level cache. Wide tiles read B at the
	// speed of memory and gain nothing.
	var soon reg.GPVirtual
	if panels <= 1 {
		soon = ptr("soon")
	}

	nv := max(1, 2*panels)
	sum := make([][]reg.VecVirtual, rows)
	for i := range sum {
		sum[i] = make([]reg.VecVirtual, nv)
		for j := range sum[i] {
			sum[i][j] = f.vec()
			f.zero(sum[i][j])
		}
	}
	Label("loop")
	loadA := func(i int) reg.VecVirtual {
		v := f.vec()
		m := Mem{Base: a[i/3]}
		if i%3 > 0 {
			m.Index, m.Scale = rs, uint8(i%3)
		}
		VBROADCASTSS(m, v)
		return v
	}
	loadB := func(j int) reg.VecVirtual {
		v := f.vec()
		m := Mem{Base: b[j/4], Disp: j % 2 * f.bytes}
		if j/2%2 == 1 {
			m.Index, m.Scale = ps, 1
		}
		VMOVUPS(m, v)
		return v
	}
	// Keep the shorter side in registers: AVX2 has sixteen.
	if panels > 1 {
		var av []reg.VecVirtual
		for i := range sum {
			av = append(av, loadA(i))
		}
		for j := range nv {
			bv := loadB(j)
			for i := range sum {
				VFMADD231PS(bv, av[i], sum[i][j])
			}
		}
	} else {
		for d := 0; d < 2*f.bytes; d += 64 {
			PREFETCHT1(Mem{Base: soon, Disp: d})
		}
		ADDQ(bs, soon)
		var bv []reg.VecVirtual
		for j := range nv {
			bv = append(bv, loadB(j))
		}
		for i := range sum {
			av := loadA(i)
			for j := range bv {
				VFMADD231PS(bv[j], av, sum[i][j])
			}
		}
	}
	for _, r := range a {
		ADDQ(cs, r)
	}
	for _, r := range b {
		ADDQ(bs, r)
	}
	DECQ(k)
	JNZ(LabelRef("loop"))

	c, ldc, w, ws := ptr("c"), stride("ldc"), ptr("w"), stride("ws")
	first := Load(t.Field("first"), GP8())
	row := func(i int, add bool) {
		wv := f.vec()
		VBROADCASTSS(Mem{Base: w}, wv)
		for j := range sum[i] {
			m := Mem{Base: c, Disp: j * f.bytes}
			if add {
				cv := f.vec()
				VMOVUPS(m, cv)
				VFMADD231PS(wv, sum[i][j], cv)
				VMOVUPS(cv, m)
			} else {
				VMULPS(wv, sum[i][j], sum[i][j])
				VMOVUPS(sum[i][j], m)
			}
		}
		if i+1 < rows {
			ADDQ(ldc, c)
			ADDQ(ws, w)
		}
	}
	TESTB(first, first)
	JNZ(LabelRef("first"))
	for i := range sum {
		row(i, true)
	}
	end()
	Label("first")
	for i := range sum {
		row(i, false)
	}
	end()
}

func main() {
	begin()
	wide := map[int]int{1: 4, 2: 2, 3: 2}
	for _, f := range []*isa{{name: "AVX2", bytes: 32}, {name: "AVX512", bytes: 64}} {
		most := map[int]int{32: 6, 64: 12}[f.bytes]
		for rows := 1; rows <= most; rows++ {
			kernel(f, rows, 0)
			kernel(f, rows, 1)
			if p := wide[rows]; p > 0 {
				kernel(f, rows, p)
			}
		}
	}
	Generate()
}
