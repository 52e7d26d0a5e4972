// Package ptx runs the PTX of CUDA kernels on the processor, to test what a GPU gets without one. It
// knows the instructions that this module's kernels have, and is stricter than a GPU: what is
// undefined there is an error here.
//
// Each access of memory is checked: bounds, alignment, that something was written there, and that no
// other thread may access it at the same time. So is each read of a register. Copies that run beside
// a thread (cp.async) end as late as they may. The lanes of a warp that are at one instruction
// execute it together, those that are farthest behind first.
//
// Source: Parallel Thread Execution ISA 7.8, NVIDIA.
package ptx

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Module is a PTX text.
type Module struct {
	Kernels []*Kernel
}

// Kernel returns the kernel of a name, or nil.
func (m *Module) Kernel(name string) *Kernel {
	for _, k := range m.Kernels {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Kernel is an entry of a module. Its parameters have 8 bytes each.
type Kernel struct {
	Name       string
	Parameters int
	Threads    int // most of a block

	code   []instruction
	ran    []bool    // which of them
	words  registers // of 32 bits and less
	longs  registers
	preds  registers
	starts []int // of basic blocks
	labels map[string]int
}

// registers are all registers of one size, and the constants that instructions name.
type registers struct {
	names  []string
	index  map[string]int
	values []uint64 // of those that are constants
}

// find returns the index of a register, which is new if there is none of the name.
func (r *registers) find(name string) int {
	if i, ok := r.index[name]; ok {
		return i
	}
	if r.index == nil {
		r.index = map[string]int{}
	}
	i := len(r.names)
	r.index[name] = i
	r.names, r.values = append(r.names, name), append(r.values, 0)
	return i
}

// instruction is a decoded one.
type instruction struct {
	run      func(w *warp, in *instruction)
	name     string
	line     int
	guard    int  // predicate, or -1
	negate   bool // of the guard
	d, s     [10]int
	vector   int   // registers that a load or a store moves
	offset   int64 // of an address, or a number
	target   int   // of a branch
	branches bool

	usedWords, usedLongs, usedPreds []int
	setWords, setLongs, setPreds    []int
}

// Error is what is wrong in a text or in a run.
type Error struct {
	Kernel string
	Line   int // of the text
	Text   string
	Block  int
	Thread int // −1 in a text
}

func (e *Error) Error() string {
	at := fmt.Sprintf("ptx: line %d", e.Line)
	if e.Kernel != "" {
		at = fmt.Sprintf("ptx: kernel %s, line %d", e.Kernel, e.Line)
	}
	if e.Thread >= 0 {
		at += fmt.Sprintf(", block %d, thread %d", e.Block, e.Thread)
	}
	return at + ": " + e.Text
}

// Read reads a text.
func Read(r io.Reader) (*Module, error) {
	p := parser{scan: bufio.NewScanner(r), m: &Module{}}
	p.scan.Buffer(nil, 1<<20)
	for p.next() {
		if err := p.top(); err != nil {
			return nil, err
		}
	}
	if err := p.scan.Err(); err != nil {
		return nil, fmt.Errorf("ptx: line %d: %w", p.line, err)
	}
	if p.k != nil {
		return nil, p.wrong("the text ends within a kernel")
	}
	return p.m, nil
}

type parser struct {
	scan *bufio.Scanner
	line int
	text string
	m    *Module
	k    *Kernel
	body bool // within the braces of k
}

// next goes on to the next line that says something.
func (p *parser) next() bool {
	for p.scan.Scan() {
		p.line++
		p.text, _, _ = strings.Cut(p.scan.Text(), "//")
		if p.text = strings.Join(strings.Fields(p.text), " "); p.text != "" {
			return true
		}
	}
	return false
}

func (p *parser) wrong(format string, args ...any) error {
	e := &Error{Line: p.line, Text: fmt.Sprintf(format, args...), Thread: -1}
	if p.k != nil {
		e.Kernel = p.k.Name
	}
	return e
}

// top reads a line outside of a kernel's body, or a body's line.
func (p *parser) top() error {
	t := p.text
	switch {
	case p.body:
		return p.statement()
	case p.k == nil && strings.HasPrefix(t, ".visible .entry "):
		name, rest, ok := strings.Cut(strings.TrimPrefix(t, ".visible .entry "), "(")
		if !ok || rest != "" || p.m.Kernel(name) != nil {
			return p.wrong("%q, want a kernel of a new name", t)
		}
		p.k = &Kernel{Name: name, Threads: mostThreads, labels: map[string]int{}}
		for _, s := range []string{"%tid.x", "%ctaid.x", "%ntid.x", "%nctaid.x", "memory"} {
			p.k.words.find(s)
		}
		return nil
	case p.k == nil:
		for _, s := range []string{".version", ".target", ".address_size 64", ".extern .shared .align 128 .b8 memory[]"} {
			if strings.HasPrefix(t, s) {
				return nil
			}
		}
	case strings.HasPrefix(t, ".param .u64 "):
		if want := fmt.Sprintf("%s_param_%d", p.k.Name, p.k.Parameters); strings.Trim(strings.TrimPrefix(t, ".param .u64 "), ", ") != want {
			return p.wrong("%q, want %s", t, want)
		}
		p.k.Parameters++
		return nil
	case t == ")" || strings.HasPrefix(t, ".minnctapersm "):
		return nil
	case strings.HasPrefix(t, ".maxntid "):
		n, y, z := 0, 0, 0
		if _, err := fmt.Sscanf(t, ".maxntid %d, %d, %d", &n, &y, &z); err != nil || n < 1 || n > mostThreads || y != 1 || z != 1 {
			return p.wrong("%q, want up to %d threads along x", t, mostThreads)
		}
		p.k.Threads = n
		return nil
	case t == "{":
		p.body = true
		return nil
	}
	return p.wrong("%q is unknown", t)
}

// statement reads a line of a kernel's body.
func (p *parser) statement() error {
	t := p.text
	if t == "}" {
		return p.end()
	}
	if strings.HasPrefix(t, ".reg ") || strings.HasPrefix(t, ".pragma ") {
		return nil
	}
	if label, ok := strings.CutSuffix(t, ":"); ok {
		if _, ok := p.k.labels[label]; ok {
			return p.wrong("label %s stands twice", label)
		}
		p.k.labels[label] = len(p.k.code)
		return nil
	}
	t, ok := strings.CutSuffix(t, ";")
	if !ok {
		return p.wrong("%q does not end with a semicolon", p.text)
	}
	in := instruction{name: strings.TrimSpace(t), line: p.line, guard: -1}
	if strings.HasPrefix(t, "@") {
		g, rest, _ := strings.Cut(t[1:], " ")
		name, negate := strings.CutPrefix(g, "!")
		if !strings.HasPrefix(name, "%p") {
			return p.wrong("%q: %s is no predicate", t, name)
		}
		in.guard, in.negate, t = p.k.preds.find(name), negate, rest
		in.usedPreds = append(in.usedPreds, in.guard)
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(t), " ")
	if err := p.decode(&in, name, operands(rest)); err != nil {
		return err
	}
	p.k.code = append(p.k.code, in)
	return nil
}

// operands splits a list at commas that stand in no brackets.
func operands(s string) (list []string) {
	depth, from := 0, 0
	for i, c := range s + "," {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth <= 0 {
				if f := strings.TrimSpace(s[from:i]); f != "" {
					list = append(list, f)
				}
				from = i + 1
			}
		}
	}
	return list
}

// end resolves labels, and finds basic blocks.
func (p *parser) end() error {
	k := p.k
	if n := len(k.code); n == 0 || k.code[n-1].guard >= 0 || k.code[n-1].name != "ret" && !k.code[n-1].branches {
		return p.wrong("the kernel does not end with a return")
	}
	starts := make([]bool, len(k.code)+1)
	starts[0] = true
	for i := range k.code {
		in := &k.code[i]
		if in.branches {
			label := in.name[strings.LastIndexByte(in.name, ' ')+1:]
			to, ok := k.labels[label]
			if !ok || to >= len(k.code) {
				p.line = in.line
				return p.wrong("label %s is missing", label)
			}
			in.target, starts[to], starts[i+1] = to, true, true
		}
	}
	k.ran = make([]bool, len(k.code))
	for i, s := range starts[:len(k.code)] {
		if s {
			k.starts = append(k.starts, i)
		}
	}
	p.m.Kernels, p.k, p.body = append(p.m.Kernels, k), nil, false
	return nil
}

// word returns a 32-bit register or constant.
func (p *parser) word(s string) (int, error) {
	switch {
	case strings.HasPrefix(s, "%rd"), strings.HasPrefix(s, "%p"):
	case strings.HasPrefix(s, "%r"), strings.HasPrefix(s, "%f"):
		return p.k.words.find(s), nil
	case s == "%tid.x", s == "%ctaid.x", s == "%ntid.x", s == "%nctaid.x", s == "memory":
		return p.k.words.find(s), nil
	case strings.HasPrefix(s, "0f"):
		if u, err := strconv.ParseUint(s[2:], 16, 32); err == nil {
			return p.constant(&p.k.words, s, u), nil
		}
	default:
		if v, err := strconv.ParseInt(s, 10, 64); err == nil && v >= math.MinInt32 && v <= math.MaxUint32 {
			return p.constant(&p.k.words, s, uint64(uint32(v))), nil
		}
	}
	return 0, p.wrong("%q is no register or number of 32 bits", s)
}

// long returns a 64-bit register or constant.
func (p *parser) long(s string) (int, error) {
	if strings.HasPrefix(s, "%rd") {
		return p.k.longs.find(s), nil
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return p.constant(&p.k.longs, s, uint64(v)), nil
	}
	return 0, p.wrong("%q is no register or number of 64 bits", s)
}

func (p *parser) constant(r *registers, name string, value uint64) int {
	i := r.find("=" + name)
	r.values[i] = value
	return i
}

func (p *parser) pred(s string) (int, error) {
	if strings.HasPrefix(s, "%p") {
		return p.k.preds.find(s), nil
	}
	if s == "0" || s == "-1" {
		return p.constant(&p.k.preds, s, uint64(everyLane*(len(s)-1))), nil
	}
	return 0, p.wrong("%q is no predicate", s)
}

// set and use find an operand of a kind: w for 32 bits, l for 64, p for a predicate.
func (p *parser) set(in *instruction, i int, kind byte, s string) (err error) {
	if !strings.HasPrefix(s, "%") || strings.Contains(s, ".") {
		return p.wrong("%q can't be set", s)
	}
	switch kind {
	case 'w':
		in.d[i], err = p.word(s)
		in.setWords = append(in.setWords, in.d[i])
	case 'l':
		in.d[i], err = p.long(s)
		in.setLongs = append(in.setLongs, in.d[i])
	default:
		in.d[i], err = p.pred(s)
		in.setPreds = append(in.setPreds, in.d[i])
	}
	return err
}

func (p *parser) use(in *instruction, i int, kind byte, s string) (err error) {
	switch kind {
	case 'w':
		in.s[i], err = p.word(s)
		in.usedWords = append(in.usedWords, in.s[i])
	case 'l':
		in.s[i], err = p.long(s)
		in.usedLongs = append(in.usedLongs, in.s[i])
	default:
		in.s[i], err = p.pred(s)
		in.usedPreds = append(in.usedPreds, in.s[i])
	}
	return err
}

// address finds the register and the offset of [register+offset].
func (p *parser) address(in *instruction, i int, kind byte, s string) error {
	inner, ok := strings.CutPrefix(s, "[")
	inner, ok2 := strings.CutSuffix(inner, "]")
	if !ok || !ok2 {
		return p.wrong("%q is no address", s)
	}
	register, offset, more := strings.Cut(inner, "+")
	if more {
		v, err := strconv.ParseInt(offset, 10, 32)
		if err != nil {
			return p.wrong("%q: offset: %v", s, err)
		}
		in.offset = v
	}
	return p.use(in, i, kind, register)
}

// several finds the registers of {a, b, c}.
func (p *parser) several(in *instruction, from int, sets bool, kind byte, s string, n int) error {
	inner, ok := strings.CutPrefix(s, "{")
	inner, ok2 := strings.CutSuffix(inner, "}")
	list := operands(inner)
	if !ok || !ok2 || len(list) != n {
		return p.wrong("%q, want %d registers", s, n)
	}
	for i, r := range list {
		f := p.use
		if sets {
			f = p.set
		}
		if err := f(in, from+i, kind, r); err != nil {
			return err
		}
	}
	return nil
}
