package ptx

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// sum is constant + Σ times·register, modulo 2³².
type sum struct {
	constant uint32
	times    map[string]uint32
}

func (s *sum) add(t *sum, times uint32) *sum {
	r := &sum{s.constant + times*t.constant, maps.Clone(s.times)}
	if r.times == nil {
		r.times = map[string]uint32{}
	}
	for name, n := range t.times {
		if r.times[name] += times * n; r.times[name] == 0 {
			delete(r.times, name)
		}
	}
	return r
}

// is reports whether s is a constant.
func (s *sum) is() bool { return len(s.times) == 0 }

// key names the registers of s.
func (s *sum) key() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.times)) {
		b.WriteString(name + "*" + strconv.FormatUint(uint64(s.times[name]), 10) + " ")
	}
	return b.String()
}

// sumOf returns what an operand of an instruction is, or nil. Of 64 bits it is the lower half.
func (p *prover) sumOf(name string, at int) *sum {
	if v, err := strconv.ParseInt(name, 10, 64); err == nil {
		return &sum{constant: uint32(v)}
	}
	if strings.HasPrefix(name, "%") && strings.Contains(name, ".") { // %tid.x and others, which stay
		return &sum{times: map[string]uint32{name: 1}}
	}
	i, ok := p.sets[name]
	if !ok || i < 0 || !p.before(i, at) {
		return nil
	}
	if s, ok := p.sums[name]; ok {
		return s
	}
	s := p.result(i)
	if s == nil {
		s = &sum{times: map[string]uint32{name: 1}}
	}
	p.sums[name] = s
	return s
}

// result returns the sum that an instruction computes, or nil if it is none.
func (p *prover) result(i int) *sum {
	t := p.texts[i]
	var s [3]*sum // stays empty for other instructions
	switch t.op {
	case "mov.u32", "cvt.u32.u64", "cvt.u64.u32", "cvt.s64.s32", "add.s32", "sub.s32", "shl.b32", "not.b32", "mul.lo.s32", "mad.lo.s32":
		for j, name := range t.operands[1:] {
			if s[j] = p.sumOf(name, i); s[j] == nil {
				return nil
			}
		}
	}
	zero := &sum{}
	switch {
	case s[0] == nil:
	case t.op == "mov.u32", strings.HasPrefix(t.op, "cvt."):
		return s[0]
	case t.op == "add.s32":
		return s[0].add(s[1], 1)
	case t.op == "sub.s32":
		return s[0].add(s[1], math.MaxUint32)
	case t.op == "not.b32":
		return (&sum{constant: math.MaxUint32}).add(s[0], math.MaxUint32)
	case t.op == "shl.b32" && s[1].is() && s[1].constant < 32:
		return zero.add(s[0], 1<<s[1].constant)
	case (t.op == "mul.lo.s32" || t.op == "mad.lo.s32") && s[1].is():
		product := zero.add(s[0], s[1].constant)
		if s[2] != nil {
			product = product.add(s[2], 1)
		}
		return product
	}
	return nil
}

// masked returns the operand and the mask of a register that is an operand and a mask.
func (p *prover) masked(name string) (of *sum, mask uint32, ok bool) {
	i, set := p.sets[name]
	if !set || i < 0 || p.texts[i].op != "and.b32" {
		return nil, 0, false
	}
	of, m := p.sumOf(p.texts[i].operands[1], i), p.sumOf(p.texts[i].operands[2], i)
	if of == nil || m == nil || !m.is() {
		return nil, 0, false
	}
	return of, m.constant, true
}

// with puts known registers into s.
func (p *prover) with(s *sum, known map[string]uint32) *sum {
	r := &sum{constant: s.constant, times: map[string]uint32{}}
	for name, n := range s.times {
		v, ok := known[name]
		if of, mask, masked := p.masked(name); !ok && masked {
			of = p.with(of, known)
			v, ok = of.constant&mask, of.is()
		}
		if ok {
			r.constant += n * v
		} else {
			r.times[name] = n
		}
	}
	return r
}

// condition is a comparison of two sums that holds.
type condition struct {
	op     string // eq, ne, lt, le, gt, ge
	signed bool
	a, b   *sum
}

var opposite = map[string]string{"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
var mirrored = map[string]string{"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}

// condition returns what holds on a way.
func (p *prover) condition(w *way) (c condition, ok bool) {
	if w.guard < 0 {
		return c, false
	}
	i, set := p.sets[p.k.preds.names[w.guard]]
	if !set || i < 0 || !p.before(i, p.last(w.from)) {
		return c, false
	}
	parts, args := strings.Split(p.texts[i].op, "."), p.texts[i].operands
	if len(parts) != 3 || parts[0] != "setp" || opposite[parts[1]] == "" || parts[2] != "s32" && parts[2] != "u32" && parts[2] != "b32" {
		return c, false
	}
	if strings.Contains(args[0], "|") { // it sets two predicates, to opposites
		return c, false
	}
	c = condition{parts[1], parts[2] == "s32", p.sumOf(args[1], i), p.sumOf(args[2], i)}
	if !w.holds {
		c.op = opposite[c.op]
	}
	return c, c.a != nil && c.b != nil
}

// last returns a block's last instruction.
func (p *prover) last(block int) int {
	if block+1 < len(p.k.starts) {
		return p.k.starts[block+1] - 1
	}
	return len(p.k.code) - 1
}

// span is the numbers from low to high.
type span struct{ low, high uint32 }

// around returns the numbers from low to high modulo 2³².
func around(low, high uint32) []span {
	if low <= high {
		return []span{{low, high}}
	}
	return []span{{0, high}, {low, math.MaxUint32}}
}

// allowed returns the numbers x for which x op v holds.
func allowed(op string, signed bool, v uint32) []span {
	least, most := uint32(0), uint32(math.MaxUint32)
	if signed {
		least, most = 1<<31, 1<<31-1
	}
	switch {
	case op == "eq":
		return around(v, v)
	case op == "ne":
		return around(v+1, v-1)
	case op == "le":
		return around(least, v)
	case op == "ge":
		return around(v, most)
	case op == "lt" && v != least:
		return around(least, v-1)
	case op == "gt" && v != most:
		return around(v+1, most)
	}
	return nil
}

// both returns what is in both.
func both(a, b []span) (c []span) {
	for _, s := range a {
		for _, t := range b {
			if low, high := max(s.low, t.low), min(s.high, t.high); low <= high {
				c = append(c, span{low, high})
			}
		}
	}
	return c
}
