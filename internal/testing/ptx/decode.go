package ptx

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// form is an instruction whose operands are registers and numbers only.
type form struct {
	set, use string // kinds of operands
	run      func(w *warp, in *instruction)
}

// decode finds what an instruction does.
func (p *parser) decode(in *instruction, name string, args []string) error {
	if name == "cvt.s64.s32" && len(args) == 2 && strings.HasPrefix(args[1], "%rd") { // the low half of a long
		name = "cvt.s64.low"
	}
	if f, ok := forms[name]; ok {
		if len(args) != len(f.set)+len(f.use) {
			return p.wrong("%s has %d operands, want %d", name, len(args), len(f.set)+len(f.use))
		}
		in.run = f.run
		for i := range f.set {
			if err := p.set(in, i, f.set[i], args[i]); err != nil {
				return err
			}
		}
		for i := range f.use {
			if err := p.use(in, i, f.use[i], args[len(f.set)+i]); err != nil {
				return err
			}
		}
		return nil
	}
	parts := strings.Split(name, ".")
	want := func(n int) error {
		if len(args) != n {
			return p.wrong("%s has %d operands, want %d", name, len(args), n)
		}
		return nil
	}
	switch {
	case name == "ret":
		in.run = (*warp).leave
		return want(0)
	case name == "bra", name == "bra.uni":
		in.branches = true
		return want(1)
	case name == "bar.sync", name == "bar.warp.sync":
		in.run = (*warp).blockBarrier
		all := "0"
		if name == "bar.warp.sync" {
			in.run, all = (*warp).warpBarrier, "-1"
		}
		if err := want(1); err != nil || args[0] == all {
			return err
		}
		return p.wrong("%s %s, want %s", name, args[0], all)
	case name == "ld.param.u64":
		if err := want(2); err != nil {
			return err
		}
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(args[1], "["+p.k.Name+"_param_"), "]"))
		if err != nil || n < 0 || n >= p.k.Parameters {
			return p.wrong("%q is no parameter", args[1])
		}
		in.run, in.offset = (*warp).loadParameter, int64(n)
		return p.set(in, 0, 'l', args[0])
	case parts[0] == "ld", parts[0] == "st":
		return p.move(in, parts, args)
	case name == "cp.async.cg.shared.global":
		if err := want(4); err != nil || args[2] != "16" {
			return p.wrong("%s, want 16 bytes", name)
		}
		in.run = (*warp).copyAsync
		if err := p.address(in, 0, 'w', args[0]); err != nil {
			return err
		}
		if in.offset != 0 {
			return p.wrong("%s with an offset", name)
		}
		if err := p.address(in, 1, 'l', args[1]); err != nil {
			return err
		}
		return p.use(in, 2, 'w', args[3])
	case name == "cp.async.commit_group":
		in.run = (*warp).commit
		return want(0)
	case name == "cp.async.wait_group":
		if err := want(1); err != nil {
			return err
		}
		n, err := strconv.Atoi(args[0])
		in.run, in.offset = (*warp).wait, int64(n)
		if err != nil || n < 0 {
			return p.wrong("%s %s", name, args[0])
		}
		return nil
	case name == "ldmatrix.sync.aligned.m8n8.x4.shared.b16":
		if err := want(2); err != nil {
			return err
		}
		in.run = (*warp).loadMatrices
		if err := p.several(in, 0, true, 'w', args[0], 4); err != nil {
			return err
		}
		return p.address(in, 0, 'w', args[1])
	case strings.HasPrefix(name, "mma.sync.aligned.m16n8k16.row.col.f32.bf16."), strings.HasPrefix(name, "mma.sync.aligned.m16n8k8.row.col.f32.tf32."):
		if err := want(4); err != nil {
			return err
		}
		in.run = (*warp).multiplyBF16
		if strings.Contains(name, "tf32") {
			in.run = (*warp).multiplyTF32
		}
		for i, v := range []struct {
			from, n int
			sets    bool
		}{{0, 4, true}, {0, 4, false}, {4, 2, false}, {6, 4, false}} {
			if err := p.several(in, v.from, v.sets, 'w', args[i], v.n); err != nil {
				return err
			}
		}
		return nil
	}
	return p.wrong("instruction %s is unknown", name)
}

// move decodes loads and stores: ld.shared.v4.f32 and the like.
func (p *parser) move(in *instruction, parts, args []string) error {
	kind, size, vector, address := byte('w'), 4, 1, byte('l')
	for i, part := range parts[1:] {
		switch part {
		case "f32", "u32", "b32", "s32":
		case "u64", "b64", "s64":
			kind, size = 'l', 8
		case "u16", "b16":
			size = 2
		case "v2":
			vector = 2
		case "v4":
			vector = 4
		case "global":
		case "shared":
			address = 'w'
		default:
			return p.wrong("%s: %s is unknown", strings.Join(parts, "."), part)
		}
		if last := i == len(parts)-2; last != (part[0] != 'v' && part[0] != 'g' && part != "shared") {
			return p.wrong("%s, want a type at the end", strings.Join(parts, "."))
		}
	}
	if len(args) != 2 {
		return p.wrong("%s has %d operands, want 2", strings.Join(parts, "."), len(args))
	}
	loads := parts[0] == "ld"
	values, at, from := args[0], args[1], 0
	if !loads {
		values, at, from = args[1], args[0], 1
	}
	if vector == 1 {
		values = "{" + values + "}"
	}
	in.vector = vector
	switch {
	case loads && address == 'w':
		in.run = func(w *warp, in *instruction) { w.loadShared(in, size) }
	case loads:
		in.run = func(w *warp, in *instruction) { w.load(in, size) }
	case address == 'w':
		in.run = func(w *warp, in *instruction) { w.storeShared(in, size) }
	default:
		in.run = func(w *warp, in *instruction) { w.store(in, size) }
	}
	if address == 'w' && size != 4 {
		return p.wrong("%s: shared memory holds elements of 4 bytes here", strings.Join(parts, "."))
	}
	if err := p.several(in, from, loads, kind, values, vector); err != nil {
		return err
	}
	return p.address(in, 0, address, at)
}

// words computes a register of 32 bits from others.
func words1(f func(a uint32) uint32) form {
	return form{"w", "w", func(w *warp, in *instruction) {
		d, a := w.words[in.d[0]], w.words[in.s[0]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = f(a[l])
		}
	}}
}

func words2(f func(a, b uint32) uint32) form {
	return form{"w", "ww", func(w *warp, in *instruction) {
		d, a, b := w.words[in.d[0]], w.words[in.s[0]], w.words[in.s[1]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = f(a[l], b[l])
		}
	}}
}

func words3(f func(a, b, c uint32) uint32) form {
	return form{"w", "www", func(w *warp, in *instruction) {
		d, a, b, c := w.words[in.d[0]], w.words[in.s[0]], w.words[in.s[1]], w.words[in.s[2]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = f(a[l], b[l], c[l])
		}
	}}
}

func floats1(f func(a float32) float32) form {
	return words1(func(a uint32) uint32 { return math.Float32bits(f(math.Float32frombits(a))) })
}

func floats2(f func(a, b float32) float32) form {
	return words2(func(a, b uint32) uint32 {
		return math.Float32bits(f(math.Float32frombits(a), math.Float32frombits(b)))
	})
}

func floats3(f func(a, b, c float32) float32) form {
	return words3(func(a, b, c uint32) uint32 {
		return math.Float32bits(f(math.Float32frombits(a), math.Float32frombits(b), math.Float32frombits(c)))
	})
}

func longs1(f func(a uint64) uint64) form {
	return form{"l", "l", func(w *warp, in *instruction) {
		d, a := w.longs[in.d[0]], w.longs[in.s[0]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = f(a[l])
		}
	}}
}

func longs2(f func(a, b uint64) uint64) form {
	return form{"l", "ll", func(w *warp, in *instruction) {
		d, a, b := w.longs[in.d[0]], w.longs[in.s[0]], w.longs[in.s[1]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = f(a[l], b[l])
		}
	}}
}

// longBy shifts a long by a number of 32 bits.
func longBy(f func(a uint64, by uint32) uint64) form {
	return form{"l", "lw", func(w *warp, in *instruction) {
		d, a, b := w.longs[in.d[0]], w.longs[in.s[0]], w.words[in.s[1]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = f(a[l], b[l])
		}
	}}
}

// wide computes a long from two numbers of 32 bits.
func wide(f func(a, b uint32) uint64) form {
	return form{"l", "ww", func(w *warp, in *instruction) {
		d, a, b := w.longs[in.d[0]], w.words[in.s[0]], w.words[in.s[1]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = f(a[l], b[l])
		}
	}}
}

func toLong(f func(a uint32) uint64) form {
	return form{"l", "w", func(w *warp, in *instruction) {
		d, a := w.longs[in.d[0]], w.words[in.s[0]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = f(a[l])
		}
	}}
}

func toWord(f func(a uint64) uint32) form {
	return form{"w", "l", func(w *warp, in *instruction) {
		d, a := w.words[in.d[0]], w.longs[in.s[0]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = f(a[l])
		}
	}}
}

// Predicates are a bit for each lane.

func compareWords(f func(a, b uint32) bool) form {
	return form{"p", "ww", func(w *warp, in *instruction) {
		a, b, d := w.words[in.s[0]], w.words[in.s[1]], uint32(0)
		for m := w.mask; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); f(a[l], b[l]) {
				d |= 1 << l
			}
		}
		w.setPred(in.d[0], d)
	}}
}

func compareFloats(f func(a, b float32) bool) form {
	return compareWords(func(a, b uint32) bool { return f(math.Float32frombits(a), math.Float32frombits(b)) })
}

func compareLongs(f func(a, b int64) bool) form {
	return form{"p", "ll", func(w *warp, in *instruction) {
		a, b, d := w.longs[in.s[0]], w.longs[in.s[1]], uint32(0)
		for m := w.mask; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); f(int64(a[l]), int64(b[l])) {
				d |= 1 << l
			}
		}
		w.setPred(in.d[0], d)
	}}
}

func preds1(f func(a uint32) uint32) form {
	return form{"p", "p", func(w *warp, in *instruction) { w.setPred(in.d[0], f(w.preds[in.s[0]])) }}
}

func preds2(f func(a, b uint32) uint32) form {
	return form{"p", "pp", func(w *warp, in *instruction) { w.setPred(in.d[0], f(w.preds[in.s[0]], w.preds[in.s[1]])) }}
}

var selectWord = form{"w", "wwp", func(w *warp, in *instruction) {
	d, a, b, p := w.words[in.d[0]], w.words[in.s[0]], w.words[in.s[1]], w.preds[in.s[2]]
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if d[l] = b[l]; p>>l&1 != 0 {
			d[l] = a[l]
		}
	}
}}

var selectLong = form{"l", "llp", func(w *warp, in *instruction) {
	d, a, b, p := w.longs[in.d[0]], w.longs[in.s[0]], w.longs[in.s[1]], w.preds[in.s[2]]
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if d[l] = b[l]; p>>l&1 != 0 {
			d[l] = a[l]
		}
	}
}}

// signed makes a function of numbers with a sign one of 32 bits.
func signed(f func(a, b int32) int32) form {
	return words2(func(a, b uint32) uint32 { return uint32(f(int32(a), int32(b))) })
}

func signedLong(f func(a, b int64) int64) form {
	return longs2(func(a, b uint64) uint64 { return uint64(f(int64(a), int64(b))) })
}

// A division by zero has no defined result on a GPU.
func divisor[T int32 | uint32 | int64](b T) T {
	if b == 0 {
		panic(trouble("division by zero"))
	}
	return b
}

var (
	move32 = words1(func(a uint32) uint32 { return a })
	move64 = longs1(func(a uint64) uint64 { return a })
)

var forms = map[string]form{
	"mov.f32": move32, "mov.b32": move32, "mov.u32": move32, "mov.u64": move64, "cvta.to.global.u64": move64,
	"mov.pred": preds1(func(a uint32) uint32 { return a }),

	"add.s32":    words2(func(a, b uint32) uint32 { return a + b }),
	"sub.s32":    words2(func(a, b uint32) uint32 { return a - b }),
	"mul.lo.s32": words2(func(a, b uint32) uint32 { return a * b }),
	"mad.lo.s32": words3(func(a, b, c uint32) uint32 { return a*b + c }),
	"min.s32":    signed(func(a, b int32) int32 { return min(a, b) }),
	"div.u32":    words2(func(a, b uint32) uint32 { return a / divisor(b) }),
	"rem.u32":    words2(func(a, b uint32) uint32 { return a % divisor(b) }),
	"div.s32":    signed(func(a, b int32) int32 { return a / divisor(b) }),
	"rem.s32":    signed(func(a, b int32) int32 { return a % divisor(b) }),
	"and.b32":    words2(func(a, b uint32) uint32 { return a & b }),
	"or.b32":     words2(func(a, b uint32) uint32 { return a | b }),
	"xor.b32":    words2(func(a, b uint32) uint32 { return a ^ b }),
	"not.b32":    words1(func(a uint32) uint32 { return ^a }),
	"shl.b32":    words2(func(a, b uint32) uint32 { return a << b }),
	"shr.u32":    words2(func(a, b uint32) uint32 { return a >> b }),
	"shr.s32":    words2(func(a, b uint32) uint32 { return uint32(int32(a) >> b) }),

	"add.s64":    longs2(func(a, b uint64) uint64 { return a + b }),
	"sub.s64":    longs2(func(a, b uint64) uint64 { return a - b }),
	"mul.lo.s64": longs2(func(a, b uint64) uint64 { return a * b }),
	"neg.s64":    longs1(func(a uint64) uint64 { return -a }),
	"min.s64":    signedLong(func(a, b int64) int64 { return min(a, b) }),
	"max.s64":    signedLong(func(a, b int64) int64 { return max(a, b) }),
	"rem.s64":    signedLong(func(a, b int64) int64 { return a % divisor(b) }),
	"and.b64":    longs2(func(a, b uint64) uint64 { return a & b }),
	"or.b64":     longs2(func(a, b uint64) uint64 { return a | b }),
	"not.b64":    longs1(func(a uint64) uint64 { return ^a }),
	"shl.b64":    longBy(func(a uint64, by uint32) uint64 { return a << by }),
	"shr.u64":    longBy(func(a uint64, by uint32) uint64 { return a >> by }),
	"shr.s64":    longBy(func(a uint64, by uint32) uint64 { return uint64(int64(a) >> by) }),

	"mul.wide.s32": wide(func(a, b uint32) uint64 { return uint64(int64(int32(a)) * int64(int32(b))) }),
	"mul.wide.u32": wide(func(a, b uint32) uint64 { return uint64(a) * uint64(b) }),
	"cvt.s64.s32":  toLong(func(a uint32) uint64 { return uint64(int64(int32(a))) }),
	"cvt.s64.low":  longs1(func(a uint64) uint64 { return uint64(int64(int32(a))) }),
	"cvt.u64.u32":  toLong(func(a uint32) uint64 { return uint64(a) }),
	"cvt.u32.u64":  toWord(func(a uint64) uint32 { return uint32(a) }),

	"setp.eq.s32":  compareWords(func(a, b uint32) bool { return a == b }),
	"setp.eq.b32":  compareWords(func(a, b uint32) bool { return a == b }),
	"setp.ne.s32":  compareWords(func(a, b uint32) bool { return a != b }),
	"setp.lt.u32":  compareWords(func(a, b uint32) bool { return a < b }),
	"setp.lt.s32":  compareWords(func(a, b uint32) bool { return int32(a) < int32(b) }),
	"setp.gt.s32":  compareWords(func(a, b uint32) bool { return int32(a) > int32(b) }),
	"setp.ge.s32":  compareWords(func(a, b uint32) bool { return int32(a) >= int32(b) }),
	"setp.lt.s64":  compareLongs(func(a, b int64) bool { return a < b }),
	"setp.gt.s64":  compareLongs(func(a, b int64) bool { return a > b }),
	"setp.eq.s64":  compareLongs(func(a, b int64) bool { return a == b }),
	"setp.lt.f32":  compareFloats(func(a, b float32) bool { return a < b }),
	"setp.gt.f32":  compareFloats(func(a, b float32) bool { return a > b }),
	"setp.nan.f32": compareFloats(func(a, b float32) bool { return a != a || b != b }),

	"and.pred": preds2(func(a, b uint32) uint32 { return a & b }),
	"or.pred":  preds2(func(a, b uint32) uint32 { return a | b }),
	"xor.pred": preds2(func(a, b uint32) uint32 { return a ^ b }),
	"not.pred": preds1(func(a uint32) uint32 { return ^a }),

	"selp.f32": selectWord, "selp.b32": selectWord, "selp.u32": selectWord, "selp.b64": selectLong,

	"add.f32":    floats2(func(a, b float32) float32 { return a + b }),
	"sub.f32":    floats2(func(a, b float32) float32 { return a - b }),
	"mul.f32":    floats2(func(a, b float32) float32 { return a * b }),
	"div.rn.f32": floats2(func(a, b float32) float32 { return a / b }),
	"rcp.rn.f32": floats1(func(a float32) float32 { return 1 / a }),
	"neg.f32":    words1(func(a uint32) uint32 { return a ^ 1<<31 }),
	"abs.f32":    words1(func(a uint32) uint32 { return a &^ (1 << 31) }),
	"fma.rn.f32": floats3(fma),
	"fma.rm.f32": floats3(fmaDown),

	"ex2.approx.ftz.f32": floats1(exp2),
	"cvt.sat.f32.f32": floats1(func(a float32) float32 {
		if a != a {
			return 0
		}
		return min(max(a, 0), 1)
	}),
	"cvt.rna.tf32.f32":  words1(toTF32),
	"cvt.rn.bf16.f32":   words1(toBF16),
	"cvt.rn.bf16x2.f32": words2(func(a, b uint32) uint32 { return toBF16(a)<<16 | toBF16(b) }),
}
