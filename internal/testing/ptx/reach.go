package ptx

import (
	"maps"
	"math/bits"
	"slices"
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
