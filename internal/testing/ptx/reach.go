package ptx

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Unreachable returns the lines of the basic blocks of which it proves that no launch reaches them, with any parameters and memory.
//
// A way is impossible if its condition contradicts those that hold wherever it begins. Conditions compare sums of registers and constants,
// modulo 2³², so each allows a sum some ranges. A register counts that one instruction sets, on every way to where it is read: it still
// has the value that an earlier condition has seen.
func (k *Kernel) Unreachable() (lines []int) {
	p := newProver(k)
	reached, next := map[int]bool{0: true}, []int{0}
	for len(next) > 0 {
		b := next[0]
		next = next[1:]
		for _, i := range p.from[b] {
			if w := &p.ways[i]; !reached[w.to] && !p.impossible(i) {
				reached[w.to] = true
				next = append(next, w.to)
			}
		}
	}
	for b, start := range k.starts {
		if !reached[b] {
			lines = append(lines, k.code[start].line)
		}
	}
	return lines
}

// way leads from a block to another, for the threads whose predicate is as said.
type way struct {
	from, to int
	guard    int // or −1
	holds    bool
}

// prover knows what Unreachable needs of a kernel.
type prover struct {
	k     *Kernel
	block []int // of each instruction
	ways  []way
	from  [][]int // the ways from each block
	texts []text
	sets  map[string]int // the one instruction that sets a register, or −1
	sums  map[string]*sum

	without map[int][]bool // blocks that are reached without a way, or without block −1−b
}

// text is an instruction's, without its guard.
type text struct {
	op       string
	operands []string
}

func newProver(k *Kernel) *prover {
	p := &prover{k: k, from: make([][]int, len(k.starts)), sets: map[string]int{}, sums: map[string]*sum{}, without: map[int][]bool{}}
	blocks := make([]int, len(k.code)+1)
	b := -1
	for i := range k.code {
		if b+1 < len(k.starts) && k.starts[b+1] == i {
			b++
		}
		blocks[i] = b
	}
	blocks[len(k.code)] = -1
	p.block = blocks
	seen := map[string]bool{}
	for i := range k.code {
		in := &k.code[i]
		t := in.name
		if in.guard >= 0 {
			_, t, _ = strings.Cut(t, " ")
		}
		op, rest, _ := strings.Cut(strings.TrimSpace(t), " ")
		p.texts = append(p.texts, text{op, operands(rest)})
		set := func(name string) {
			p.sets[name] = i
			if seen[name] || in.guard >= 0 {
				p.sets[name] = -1
			}
			seen[name] = true
		}
		for _, r := range in.setWords {
			set(k.words.names[r])
		}
		for _, r := range in.setLongs {
			set(k.longs.names[r])
		}
		for _, r := range in.setPreds {
			set(k.preds.names[r])
		}
		at := blocks[i]
		lead := func(to, guard int, holds bool) {
			p.from[at] = append(p.from[at], len(p.ways))
			p.ways = append(p.ways, way{at, to, guard, holds})
		}
		switch end := blocks[i+1] != at; {
		case in.branches && in.guard >= 0:
			lead(blocks[in.target], in.guard, !in.negate)
			lead(at+1, in.guard, in.negate)
		case in.branches:
			lead(blocks[in.target], -1, true)
		case end && (op != "ret" || in.guard >= 0):
			lead(at+1, -1, true)
		}
	}
	return p
}

// reachedWithout returns the blocks that are reached without a way, or without block −1−i.
func (p *prover) reachedWithout(i int) []bool {
	if r := p.without[i]; r != nil {
		return r
	}
	reached, next := make([]bool, len(p.from)), []int{}
	if i != -1 {
		reached[0], next = true, append(next, 0)
	}
	for len(next) > 0 {
		b := next[len(next)-1]
		next = next[:len(next)-1]
		for _, j := range p.from[b] {
			if to := p.ways[j].to; j != i && -1-to != i && !reached[to] {
				reached[to] = true
				next = append(next, to)
			}
		}
	}
	p.without[i] = reached
	return reached
}

// before reports whether instruction i stands on every way to instruction j.
func (p *prover) before(i, j int) bool {
	if p.block[i] == p.block[j] {
		return i < j
	}
	return !p.reachedWithout(-1 - p.block[i])[p.block[j]]
}

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

// impossible reports whether no thread can take a way.
func (p *prover) impossible(i int) bool {
	w := &p.ways[i]
	c, ok := p.condition(w)
	if !ok {
		return false
	}
	conditions := []condition{c}
	for j := range p.ways {
		if p.ways[j].guard < 0 || p.reachedWithout(j)[w.from] {
			continue
		}
		if c, ok := p.condition(&p.ways[j]); ok {
			conditions = append(conditions, c)
		}
	}
	return p.contradict(conditions, map[string]uint32{}, 1)
}

// contradict reports whether the conditions cannot hold together. It tries all values of up to split registers that have few.
func (p *prover) contradict(all []condition, known map[string]uint32, split int) bool {
	for more := true; more; {
		more = false
		spans := map[string][]span{}
		for _, c := range all {
			a, b := p.with(c.a, known), p.with(c.b, known)
			if a.is() {
				a, b, c.op = b, a, mirrored[c.op]
			}
			if !b.is() {
				continue
			}
			ok := allowed(c.op, c.signed, b.constant)
			var shifted []span
			for _, s := range ok {
				shifted = append(shifted, around(s.low-a.constant, s.high-a.constant)...)
			}
			key := a.key()
			if old, seen := spans[key]; seen {
				shifted = both(old, shifted)
			}
			if a.is() {
				shifted = both(shifted, around(0, 0))
			}
			if spans[key] = shifted; len(shifted) == 0 {
				return true
			}
			for name, n := range a.times {
				if len(a.times) == 1 && n == 1 && len(shifted) == 1 && shifted[0].low == shifted[0].high {
					known[name], more = shifted[0].low, true
				}
			}
		}
	}
	if split == 0 {
		return false
	}
	for _, name := range p.few(all, known) {
		_, mask, _ := p.masked(name)
		impossible := true
		for v := mask; impossible; v = (v - 1) & mask { // all parts of the mask
			tried := maps.Clone(known)
			tried[name] = v
			impossible = p.contradict(all, tried, split-1)
			if v == 0 {
				break
			}
		}
		if impossible {
			return true
		}
	}
	return false
}

// few returns the registers of conditions that have up to 16 values.
func (p *prover) few(all []condition, known map[string]uint32) (names []string) {
	for _, c := range all {
		for _, s := range []*sum{c.a, c.b} {
			for _, name := range slices.Sorted(maps.Keys(p.with(s, known).times)) {
				if _, mask, ok := p.masked(name); ok && bits.OnesCount32(mask) <= 4 && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}
