//go:build generate

// This program writes the microkernels of packed products, float32 and bfloat16:
//
//	go run packed.go isa.go -out ../packed_amd64.s -stubs ../packed_amd64.go -pkg kernel
//
// A kernel of R rows and P panels keeps R·P pairs of vectors as sums. A step is one product per
// sum, or a pair of products in bfloat16. Per step the kernel loads 2·P vectors of B, broadcasts R
// values of A straight from memory, and issues 2·R·P multiply-adds. All vector registers are named
// here, because the bytes of VDPBF16PS, which the assembler does not know, contain them.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// family is an instruction set with a type of products.
type family struct {
	isa
	bf16 bool
}

// vec returns vector register i.
func (f family) vec(i int) reg.VecPhysical {
	y := []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}
	if f.bytes == 32 {
		return y[i]
	}
	return []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}[i]
}

func (f family) registers() int { return f.bytes / 2 }

func (f family) broadcast(m Mem, v reg.VecPhysical) {
	if f.bf16 {
		VPBROADCASTD(m, v)
	} else {
		VBROADCASTSS(m, v)
	}
}

// mulAdd emits sum += a·b on registers by number.
func (f family) mulAdd(a, b, sum int) {
	if !f.bf16 {
		VFMADD231PS(f.vec(b), f.vec(a), f.vec(sum))
		return
	}
	Comment(fmt.Sprintf("VDPBF16PS Z%d, Z%d, Z%d", b, a, sum))
	code := vdpbf16ps(sum, a, b)
	long := uint32(code[0]) | uint32(code[1])<<8 | uint32(code[2])<<16 | uint32(code[3])<<24
	Instruction(&ir.Instruction{Opcode: "LONG", Operands: []Op{U32(long)}})
	Instruction(&ir.Instruction{Opcode: "WORD", Operands: []Op{U16(uint16(code[4]) | uint16(code[5])<<8)}})
}

// vdpbf16ps returns the code of VDPBF16PS zmm d, zmm v, zmm m: EVEX.512.F3.0F38.W0
// 52 /r. The prefix holds the upper two bits of each number inverted.
func vdpbf16ps(d, v, m int) [6]byte {
	not := func(x, bit int) byte { return byte(^x >> bit & 1) }
	return [6]byte{
		0x62,
		not(d, 3)<<7 | not(m, 4)<<6 | not(m, 3)<<5 | not(d, 4)<<4 | 0b0010,
		byte(^v&15)<<3 | 0b110,
		0b0100_0000 | not(v, 4)<<3,
		0x52,
		0b1100_0000 | byte(d&7)<<3 | byte(m&7),
	}
}

// kernel emits the kernel of the given number of panels, or for 0 that of the first half of a
// panel, for last panels that have no more columns.
func kernel(f family, rows, panels int) {
	name := fmt.Sprintf("packed%s_%dx%d", f.name, rows, panels)
	nv := 2 * panels
	if panels == 0 {
		name, nv, panels = fmt.Sprintf("packed%s_%dxHalf", f.name, rows), 1, 1
	}
	text(name, "func(t *strip)")
	t := Dereference(Param("t"))
	long := func(name string) reg.GPVirtual { return Load(t.Field(name), GP64()).(reg.GPVirtual) }
	size := uint8(2) // log₂ of an element's bytes
	suffix := ""
	if f.bf16 {
		size, suffix = 1, "16"
	}
	stride := func(name string) reg.GPVirtual {
		r := long(name)
		SHLQ(U8(size), r)
		return r
	}

	sum := func(i, j int) int { return i*nv + j }
	free := rows * nv // registers from here on are free
	if free+rows+1 > f.registers() && free+2+2 > f.registers() {
		panic(name + ": too few registers")
	}

	// For groups of panels: the number left, and their addresses in B and C.
	left, inB, inC := AllocLocal(8), AllocLocal(8), AllocLocal(8)
	groups := long("groups")
	MOVQ(groups, left)
	XORQ(groups, groups)
	MOVQ(groups, inB)
	MOVQ(groups, inC)
	tiles, rs, c, w := GP64(), stride("rs"), GP64(), GP64()
	// One pointer per three rows of A: a row is at base, base + rs or base + 2·rs.
	a := []reg.GPVirtual{GP64()}
	for 3*len(a) < rows {
		a = append(a, GP64())
	}
	// One pointer per two panels of B: base or base + ps.
	b := []reg.GPVirtual{GP64()}
	for 2*len(b) < panels {
		b = append(b, GP64())
	}
	var ps reg.GPVirtual
	if panels > 1 {
		ps = stride("ps")
	}
	k := GP64()
	var soon, soonStep reg.GPVirtual
	if panels == 1 {
		soon, soonStep = GP64(), long("soonStep")
	}

	Label("panel")
	Load(t.Field("tiles"), tiles)
	Load(t.Field("a"+suffix).Base(), a[0])
	Load(t.Field("c").Base(), c)
	ADDQ(inC, c)
	Load(t.Field("w").Base(), w)
	if panels == 1 {
		Load(t.Field("soon"+suffix).Base(), soon)
		ADDQ(inB, soon)
	}
	Label("tile")
	Load(t.Field("k"), k)
	Load(t.Field("b"+suffix).Base(), b[0])
	ADDQ(inB, b[0])
	pointers(a, rs, 3)
	pointers(b, ps, 2)
	for i := range free {
		f.zero(f.vec(i))
	}
	step := func(loadA func(m Mem, v reg.VecPhysical)) {
		rowA := func(i, to int) {
			m := Mem{Base: a[i/3]}
			if i%3 > 0 {
				m.Index, m.Scale = rs, uint8(i%3)
			}
			loadA(m, f.vec(to))
		}
		vecB := func(j, to int) {
			m := Mem{Base: b[j/4], Disp: j % 2 * f.bytes}
			if j/2%2 == 1 {
				m.Index, m.Scale = ps, 1
			}
			VMOVUPS(m, f.vec(to))
		}
		// The shorter side stays in registers.
		if panels > 1 {
			for i := range rows {
				rowA(i, free+i)
			}
			for j := range nv {
				v := free + rows + j%(f.registers()-free-rows)
				vecB(j, v)
				for i := range rows {
					f.mulAdd(free+i, v, sum(i, j))
				}
			}
			return
		}
		for j := range nv {
			vecB(j, free+j)
		}
		for i := range rows {
			v := free + nv + i%(f.registers()-free-nv)
			rowA(i, v)
			for j := range nv {
				f.mulAdd(v, free+j, sum(i, j))
			}
		}
	}
	if f.bf16 {
		TESTQ(k, k)
		JZ(LabelRef("last"))
	}
	align()
	Label("loop")
	// Wide kernels read B at the speed of memory and gain nothing from prefetching.
	if panels == 1 {
		for d := 0; d < 2*f.bytes; d += 64 {
			PREFETCHT1(Mem{Base: soon, Disp: d})
		}
		ADDQ(soonStep, soon)
	}
	step(f.broadcast)
	for _, r := range a {
		ADDQ(U8(4), r)
	}
	for _, r := range b {
		ADDQ(U32(uint32(2*f.bytes)), r)
	}
	DECQ(k)
	JNZ(LabelRef("loop"))
	if f.bf16 { // the last of an odd number of values is paired with zero
		Label("last")
		CMPB(field(t, "odd"), U8(0))
		JE(LabelRef("sums"))
		step(func(m Mem, v reg.VecPhysical) {
			x := GP32()
			MOVWLZX(m, x)
			VPBROADCASTD(x, v)
		})
		Label("sums")
	}

	// Write the sums, times the rows' weights, to C.
	ws, cs := long("ws"), reg.GPVirtual(nil)
	SHLQ(U8(2), ws)
	if panels > 1 {
		cs = long("cs")
		SHLQ(U8(2), cs)
	}
	weight, old := f.vec(free), f.vec(free+1)
	rowsOf := func(add bool) {
		for i := range rows {
			VBROADCASTSS(Mem{Base: w}, weight)
			ADDQ(ws, w)
			at := c
			for j := range nv {
				if j > 0 && j%2 == 0 {
					next := GP64()
					LEAQ(Mem{Base: at, Index: cs, Scale: 1}, next)
					at = next
				}
				m, v := Mem{Base: at, Disp: i*2*f.bytes + j%2*f.bytes}, f.vec(sum(i, j))
				if add {
					VMOVUPS(m, old)
					VFMADD231PS(weight, v, old)
					VMOVUPS(old, m)
				} else {
					VMULPS(weight, v, v)
					VMOVUPS(v, m)
				}
			}
		}
	}
	CMPB(field(t, "first"), U8(0))
	JNE(LabelRef("first"))
	rowsOf(true)
	JMP(LabelRef("next"))
	Label("first")
	rowsOf(false)
	Label("next")
	// The next tile's rows.
	ADDQ(U32(uint32(rows*2*f.bytes)), c)
	back := GP64()
	Load(t.Field("k"), back)
	SHLQ(U8(2), back)
	SUBQ(back, a[0])
	ADDQ(stride("hop"), a[0])
	DECQ(tiles)
	JNZ(LabelRef("tile"))
	// The next panels.
	next := stride("ps")
	IMUL3Q(U8(uint8(panels)), next, next)
	ADDQ(next, inB)
	next = long("cs")
	IMUL3Q(U8(uint8(4*panels)), next, next)
	ADDQ(next, inC)
	DECQ(left)
	JNZ(LabelRef("panel"))
	end()
}

// peak emits n rounds of independent multiply-adds, as many as a kernel has sums.
func peak(f family) {
	TEXT("peak"+f.name, NOSPLIT, "func(n int)")
	n := Load(Param("n"), GP64())
	sums := f.registers() * 3 / 4
	for i := range sums + 2 {
		f.zero(f.vec(i))
	}
	Label("loop")
	for i := range sums {
		f.mulAdd(sums, sums+1, i)
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	end()
}

// align makes the code after it begin on a cache line.
func align() { Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}}) }

// field returns the address of a field of the argument.
func field(t gotypes.Component, name string) Mem {
	f, err := t.Field(name).Resolve()
	if err != nil {
		panic(err)
	}
	return f.Addr
}

func main() {
	begin()
	for _, f := range []family{{isa{name: "AVX2", bytes: 32}, false}, {isa{name: "AVX512", bytes: 64}, false}, {isa{name: "BF16", bytes: 64}, true}} {
		tall, wide := 12, []int{2, 2, 2, 2} // panels by rows − 1
		switch {
		case f.bf16:
			wide[0] = 4
		case f.bytes == 32:
			tall, wide = 6, []int{4, 2, 2}
		}
		for i, panels := range wide {
			kernel(f, i+1, panels)
		}
		for rows := 1; rows <= tall; rows++ {
			kernel(f, rows, 1)
			kernel(f, rows, 0)
		}
		peak(f)
	}
	Generate()
}
