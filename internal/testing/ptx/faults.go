package ptx

import (
	"math"
	"slices"
	"strings"
)

// Fault is a change of one instruction, to see whether tests notice it.
type Fault struct {
	Kind string
	Line int

	at     int
	change func(*instruction)
}

// With returns a kernel with a fault.
func (k *Kernel) With(f Fault) *Kernel {
	c := *k
	c.code = slices.Clone(k.code)
	f.change(&c.code[f.at])
	c.ran = make([]bool, len(k.ran))
	return &c
}

// Faults returns faults of all kinds: of barriers and of copies all that there are, of others up to a number of each kind, spread
// over the kernel.
func (k *Kernel) Faults(most int) (all []Fault) {
	for _, kind := range faultKinds {
		var found []Fault
		for at := range k.code {
			in := &k.code[at]
			name := in.name
			if in.guard >= 0 {
				_, name, _ = strings.Cut(name, " ")
			}
			if slices.ContainsFunc(kind.names, func(s string) bool { return strings.HasPrefix(name, s) }) && (kind.fits == nil || kind.fits(k, in)) {
				found = append(found, Fault{Kind: kind.name, Line: in.line, at: at, change: kind.change})
			}
		}
		if !kind.each && len(found) > most {
			for i := range most {
				found[i] = found[i*len(found)/most]
			}
			found = found[:most]
		}
		all = append(all, found...)
	}
	return all
}

// drop makes an instruction do nothing. Its registers count as set: they hold what they held before.
func drop(in *instruction) {
	in.run = func(*warp, *instruction) {}
	in.usedWords, in.usedLongs = nil, nil
}

// forget makes an instruction do nothing. Its registers are not set.
func forget(in *instruction) {
	drop(in)
	in.setWords, in.setLongs, in.setPreds = nil, nil, nil
}

// by makes an instruction compute another function of its operands.
func by(f form) func(*instruction) { return func(in *instruction) { in.run = f.run } }

// swapped exchanges two operands.
func swapped(i, j int) func(*instruction) {
	return func(in *instruction) { in.s[i], in.s[j] = in.s[j], in.s[i] }
}

// moved makes an instruction reach other memory.
func moved(by int64) func(*instruction) { return func(in *instruction) { in.offset += by } }

// differ reports whether two operands are not one register.
func differ(i, j int) func(*Kernel, *instruction) bool {
	return func(_ *Kernel, in *instruction) bool { return in.s[i] != in.s[j] }
}

// variable reports whether no operand is a constant. What constants do in exp is done twice there.
func (k *Kernel) variable(in *instruction) bool {
	constant := func(r int) bool { return k.words.names[r][0] == '=' }
	for i := range k.code {
		c := &k.code[i]
		if strings.HasPrefix(c.name, "mov.f32") && constant(c.s[0]) && slices.Contains(in.usedWords, c.d[0]) {
			return false
		}
	}
	return !slices.ContainsFunc(in.usedWords, constant)
}

// ofEdges reports whether several conditions say how much a copy copies. One alone says whether there are steps left, and what is
// copied after the last is not used.
func (k *Kernel) ofEdges(in *instruction) bool {
	var size *instruction
	both := map[int]bool{} // predicates of several conditions
	for i := range k.code {
		c := &k.code[i]
		if strings.HasPrefix(c.name, "and.pred") {
			both[c.d[0]] = true
		}
		if slices.Contains(c.setWords, in.s[2]) {
			size = c
		}
	}
	return size != nil && strings.HasPrefix(size.name, "selp") && both[size.s[2]]
}

var faultKinds = []struct {
	name   string
	names  []string
	each   bool
	fits   func(*Kernel, *instruction) bool
	change func(*instruction)
}{
	{name: "a barrier of the block is dropped", names: []string{"bar.sync"}, each: true, change: drop},
	{name: "a barrier of a warp is dropped", names: []string{"bar.warp.sync"}, each: true, change: drop},
	{name: "a wait for copies is dropped", names: []string{"cp.async.wait_group"}, each: true, change: drop},
	{name: "a wait leaves one copy more", names: []string{"cp.async.wait_group"}, each: true, change: moved(1)},
	{name: "a group of copies is not closed", names: []string{"cp.async.commit_group"}, each: true, change: drop},
	{name: "a copy is dropped", names: []string{"cp.async.cg"}, each: true, change: drop},
	{name: "a copy ignores how much there is", names: []string{"cp.async.cg"}, fits: (*Kernel).ofEdges, change: func(in *instruction) { in.run = (*warp).copyWhole }},
	{name: "a lane loads another row of a fragment", names: []string{"ldmatrix"}, change: moved(16)},
	{name: "two rows of a fragment are swapped", names: []string{"mma"}, fits: differ(0, 1), change: swapped(0, 1)},
	{name: "two columns of a fragment are swapped", names: []string{"mma"}, fits: differ(0, 2), change: swapped(0, 2)},
	{name: "two halves of the right side are swapped", names: []string{"mma"}, fits: differ(4, 5), change: swapped(4, 5)},
	{name: "two halves of a number are swapped", names: []string{"cvt.rn.bf16x2"}, fits: differ(0, 1), change: swapped(0, 1)},
	{name: "TF32 is cut, not rounded", names: []string{"cvt.rna.tf32"}, change: by(words1(func(a uint32) uint32 { return a &^ (1<<13 - 1) }))},
	{name: "BF16 is cut, not rounded", names: []string{"cvt.rn.bf16.f32"}, change: by(words1(func(a uint32) uint32 { return a >> 16 }))},
	{name: "a pair of BF16 is cut, not rounded", names: []string{"cvt.rn.bf16x2"}, change: by(words2(func(a, b uint32) uint32 { return a&^0xffff | b>>16 }))},
	{name: "an edge is off by one", names: []string{"setp.lt.s64", "setp.ge.s32"}, change: func(in *instruction) {
		if strings.Contains(in.name, "s64") {
			in.run = compareLongs(func(a, b int64) bool { return a <= b }).run
		} else {
			in.run = compareWords(func(a, b uint32) bool { return int32(a) > int32(b) }).run
		}
	}},
	{name: "a store to shared memory is one element on", names: []string{"st.shared"}, change: moved(4)},
	{name: "a load from shared memory is 16 bytes on", names: []string{"ld.shared"}, change: moved(16)},
	{name: "a store is one element on", names: []string{"st.f32", "st.u32", "st.v", "st.u16"}, change: moved(4)},
	{name: "a load is one element on", names: []string{"ld.global.u32", "ld.f32", "ld.v"}, change: moved(4)},
	{name: "a field is read for the next one", names: []string{"ld.global.u64"}, change: moved(8)},
	{name: "a stale parameter", names: []string{"ld.param"}, each: true, change: func(in *instruction) {
		if in.offset > 0 {
			in.offset--
		} else {
			in.offset++
		}
	}},
	{name: "a choice is the other way round", names: []string{"selp"}, fits: differ(0, 1), change: swapped(0, 1)},
	{name: "a division is upside down", names: []string{"div.rn"}, fits: differ(0, 1), change: swapped(0, 1)},
	{name: "a reciprocal is dropped", names: []string{"rcp"}, change: by(move32)},
	{name: "a power is dropped", names: []string{"ex2"}, change: by(move32)},
	{name: "a product and sum is a product", names: []string{"fma.rn"}, fits: (*Kernel).variable, change: by(floats3(func(a, b, _ float32) float32 { return a * b }))},
	{name: "a stride is doubled", names: []string{"shl.b64", "shl.b32"}, change: func(in *instruction) {
		run := in.run
		in.run = func(w *warp, in *instruction) {
			run(w, in)
			for l := range lanes {
				if w.mask>>l&1 == 0 {
				} else if strings.Contains(in.name, "b64") {
					w.longs[in.d[0]][l] <<= 1
				} else {
					w.words[in.d[0]][l] <<= 1
				}
			}
		}
	}},
	{name: "a sign is dropped", names: []string{"neg.f32"}, change: by(move32)},
	{name: "a register is not set", names: []string{"mov.u32", "mov.f32", "mov.u64"}, fits: (*Kernel).setOnce, change: forget},
	{name: "a number is not finite", names: []string{"mul.f32"}, change: by(floats2(func(a, b float32) float32 { return float32(math.Inf(1)) * a * b }))},
}

// setOnce reports whether nothing else sets the instruction's register.
func (k *Kernel) setOnce(in *instruction) bool {
	n := 0
	for i := range k.code {
		for _, sets := range [][2][]int{{k.code[i].setWords, in.setWords}, {k.code[i].setLongs, in.setLongs}} {
			if len(sets[1]) == 1 && slices.Contains(sets[0], sets[1][0]) {
				n++
			}
		}
	}
	return n == 1
}

// copyWhole copies 16 bytes, whatever the instruction says.
func (w *warp) copyWhole(in *instruction) {
	sizes := w.words[in.s[2]]
	all := new([lanes]uint32)
	for l := range lanes {
		all[l] = copyBytes
	}
	w.words[in.s[2]] = all
	w.copyAsync(in)
	w.words[in.s[2]] = sizes
}
