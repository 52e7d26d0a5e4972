package ptx

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
)

const (
	lanes       = 32 // of a warp
	everyLane   = math.MaxUint32
	mostThreads = 1024
	mostBlocks  = 1 << 20
	sharedBase  = 1024 // where shared memory begins, as on a device of 9.0
	mostShared  = 227 << 10
)

// Launch runs a kernel once.
type Launch struct {
	Blocks, Threads int // along x; threads come in whole warps
	Shared          int // bytes of shared memory of a block
	Parameters      []uint64
	Seed            uint64 // of the order of blocks and warps
	Steps           int    // most instructions of a warp in a block, if not 0
}

// trouble is what is wrong, said by the code that sees it; Run adds where.
type trouble string

func troublef(format string, args ...any) trouble { return trouble(fmt.Sprintf(format, args...)) }

// Run runs a kernel on memory. It returns an *Error at the first thing that is undefined on a GPU.
func (k *Kernel) Run(m *Memory, l Launch) (err error) {
	wrong := func(format string, args ...any) error {
		return &Error{Kernel: k.Name, Text: fmt.Sprintf(format, args...), Thread: -1}
	}
	switch {
	case l.Blocks < 1 || l.Blocks > mostBlocks || l.Threads < 1 || l.Threads%lanes != 0:
		return wrong("%d blocks of %d threads", l.Blocks, l.Threads)
	case l.Threads > k.Threads:
		return wrong("%d threads of a block, at most %d were promised", l.Threads, k.Threads)
	case len(l.Parameters) != k.Parameters:
		return wrong("%d parameters, want %d", len(l.Parameters), k.Parameters)
	case l.Shared < 0 || l.Shared > mostShared:
		return wrong("%d bytes of shared memory of a block, at most %d", l.Shared, mostShared)
	}
	m.begin()
	b := k.newBlock(m, l)
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		t, ok := r.(trouble)
		if !ok {
			panic(r)
		}
		e := &Error{Kernel: k.Name, Text: string(t), Block: b.index}
		if w := b.running; w != nil {
			in := &k.code[w.pc]
			e.Line, e.Thread = in.line, w.index*lanes+w.lane
			e.Text += ": " + in.name
		}
		err = e
	}()
	for _, i := range b.random.Perm(l.Blocks) {
		b.run(i)
	}
	return nil
}

// block is the threads that share memory. It serves all blocks of a launch, one after another.
type block struct {
	k        *Kernel
	memory   *Memory
	launch   Launch
	random   *rand.Rand
	index    int
	warps    []warp
	running  *warp
	shared   []byte
	cells    []cell // of each 4 bytes
	number   uint32 // of blocks so far: cells of others are as new
	barriers uint32 // that were passed
	arrived  int    // threads at the next one
	left     int    // threads that have returned
	ready    []*warp
}

// warp is 32 threads. Those at the same instruction run together.
type warp struct {
	*block
	index   int // in the block
	words   []*[lanes]uint32
	longs   []*[lanes]uint64
	preds   []uint32
	set     [3][]uint32 // the lanes that have set each register: words, longs, predicates
	mask    uint32      // the lanes that run
	pc      int         // their instruction
	at      [lanes]int  // the instruction of each other lane
	others  int         // the least of these
	alive   uint32      // lanes that have not returned
	waiting uint32      // lanes at a barrier
	meeting uint32      // lanes at a barrier of the warp
	lane    int         // the one that an error is about
	passed  uint32      // barriers of the warp and of the block
	copies  [lanes][]pending
	group   [lanes]int
	steps   int
}

// pending is 16 bytes that are copied to shared memory some time until wait.
type pending struct {
	to    uint32
	from  uint64
	bytes int
	group int
}

func (k *Kernel) newBlock(m *Memory, l Launch) *block {
	b := &block{k: k, memory: m, launch: l, random: rand.New(rand.NewPCG(l.Seed, 1)), warps: make([]warp, l.Threads/lanes),
		shared: make([]byte, l.Shared), cells: make([]cell, (l.Shared+3)/4)}
	constants, longs := make([]*[lanes]uint32, len(k.words.names)), make([]*[lanes]uint64, len(k.longs.names))
	for i, name := range k.words.names {
		if name[0] == '=' {
			constants[i] = new([lanes]uint32)
			for l := range lanes {
				constants[i][l] = uint32(k.words.values[i])
			}
		}
	}
	for i, name := range k.longs.names {
		if name[0] == '=' {
			longs[i] = new([lanes]uint64)
			for l := range lanes {
				longs[i][l] = k.longs.values[i]
			}
		}
	}
	for i := range b.warps {
		w := &b.warps[i]
		*w = warp{block: b, index: i, words: make([]*[lanes]uint32, len(constants)), longs: make([]*[lanes]uint64, len(longs)), preds: make([]uint32, len(k.preds.names))}
		w.set = [3][]uint32{make([]uint32, len(constants)), make([]uint32, len(longs)), make([]uint32, len(w.preds))}
		for j := range constants {
			if w.words[j] = constants[j]; w.words[j] == nil {
				w.words[j] = new([lanes]uint32)
			}
		}
		for j, v := range k.preds.values {
			w.preds[j] = uint32(v)
		}
		for j := range longs {
			if w.longs[j] = longs[j]; w.longs[j] == nil {
				w.longs[j] = new([lanes]uint64)
			}
		}
	}
	return b
}

// run runs a block of the grid.
func (b *block) run(index int) {
	b.index, b.barriers, b.arrived, b.left = index, 0, 0, 0
	b.number++
	b.ready = b.ready[:0]
	for i := range b.warps {
		w := &b.warps[i]
		w.begin()
		b.ready = append(b.ready, w)
	}
	for len(b.ready) > 0 {
		i := b.random.IntN(len(b.ready))
		w := b.ready[i]
		// A warp runs for one instruction, for some, or for as long as it can: so it may be far ahead of others, or behind.
		for n := [...]int{1, 20, math.MaxInt}[b.random.IntN(3)]; n > 0 && w.mask != 0; n-- {
			w.step()
		}
		if w.mask == 0 {
			b.ready[i] = b.ready[len(b.ready)-1]
			b.ready = b.ready[:len(b.ready)-1]
			if len(b.ready) == 0 && b.arrived == b.launch.Threads {
				b.pass()
			}
		}
	}
	if b.left != b.launch.Threads {
		panic(troublef("no thread can go on: %d wait for the block at a barrier, %d have returned", b.arrived, b.left))
	}
	b.running = nil
}

// pass lets all threads go on after a barrier.
func (b *block) pass() {
	b.arrived = 0
	b.barriers++
	for i := range b.warps {
		w := &b.warps[i]
		w.waiting = 0
		w.passed++
		w.regroup()
		b.ready = append(b.ready, w)
	}
}

// begin prepares a warp for a block.
func (w *warp) begin() {
	for i, s := range w.set {
		clear(s)
		names := [3][]string{w.k.words.names, w.k.longs.names, w.k.preds.names}[i]
		for j, name := range names {
			if name[0] == '=' || !strings.HasPrefix(name, "%") || strings.Contains(name, ".") {
				s[j] = everyLane
			}
		}
	}
	for l := range lanes {
		w.words[0][l] = uint32(w.index*lanes + l) // %tid.x
		w.words[1][l] = uint32(w.block.index)
		w.words[2][l] = uint32(w.launch.Threads)
		w.words[3][l] = uint32(w.launch.Blocks)
		w.words[4][l] = sharedBase
		w.at[l], w.copies[l], w.group[l] = 0, w.copies[l][:0], 0
	}
	w.alive, w.waiting, w.meeting, w.passed, w.lane, w.steps = everyLane, 0, 0, 0, 0, 0
	w.regroup()
}

// step executes an instruction.
func (w *warp) step() {
	if w.pc >= w.others { // others have caught up, or are behind after a jump ahead
		w.part(w.mask, w.pc)
		w.regroup()
	}
	w.running = w
	if w.steps++; w.steps > w.launch.Steps && w.launch.Steps > 0 {
		panic(trouble("the warp does not end"))
	}
	in, group := &w.k.code[w.pc], w.mask
	w.k.ran[w.pc] = true
	w.lane = bits.TrailingZeros32(group)
	w.check(w.set[2], in.usedPreds, w.k.preds.names)
	if in.guard >= 0 {
		if p := w.preds[in.guard]; in.negate {
			w.mask &^= p
		} else {
			w.mask &= p
		}
	}
	if in.branches {
		w.branch(in, group)
		return
	}
	if w.mask != 0 {
		w.lane = bits.TrailingZeros32(w.mask)
		w.check(w.set[0], in.usedWords, w.k.words.names)
		w.check(w.set[1], in.usedLongs, w.k.longs.names)
		in.run(w, in)
		for _, r := range in.setWords {
			w.set[0][r] |= w.mask
		}
		for _, r := range in.setLongs {
			w.set[1][r] |= w.mask
		}
		for _, r := range in.setPreds {
			w.set[2][r] |= w.mask
		}
	}
	w.pc++
	if w.mask = group & w.runnable(); w.mask != group {
		w.part(group, w.pc)
		w.regroup()
	}
}

// check checks that the lanes that run have set registers.
func (w *warp) check(set []uint32, used []int, names []string) {
	for _, r := range used {
		if missing := w.mask &^ set[r]; missing != 0 {
			w.lane = bits.TrailingZeros32(missing)
			panic(troublef("register %s is read before it is set", names[r]))
		}
	}
}

func (w *warp) setPred(p int, lanes uint32) { w.preds[p] = w.preds[p]&^w.mask | lanes&w.mask }

// runnable returns the lanes that wait for nothing.
func (w *warp) runnable() uint32 { return w.alive &^ w.waiting &^ w.meeting }

// part notes where lanes are.
func (w *warp) part(lanes uint32, pc int) {
	for m := lanes; m != 0; m &= m - 1 {
		w.at[bits.TrailingZeros32(m)] = pc
	}
}

// regroup lets those lanes run that are farthest behind.
func (w *warp) regroup() {
	w.mask, w.pc, w.others = 0, math.MaxInt, math.MaxInt
	for m := w.runnable(); m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		switch at := w.at[l]; {
		case at < w.pc:
			w.mask, w.pc, w.others = 1<<l, at, w.pc
		case at == w.pc:
			w.mask |= 1 << l
		case at < w.others:
			w.others = at
		}
	}
}

// branch lets the lanes that run jump, and the rest of their group go on.
func (w *warp) branch(in *instruction, group uint32) {
	jumps := w.mask
	switch w.mask = group; jumps {
	case group:
		w.pc = in.target
	case 0:
		w.pc++
	default:
		w.part(jumps, in.target)
		w.part(group&^jumps, w.pc+1)
		w.regroup()
	}
}

// leave ends threads.
func (w *warp) leave(*instruction) {
	if w.arrived > 0 {
		panic(troublef("the thread returns while %d threads of the block wait at a barrier", w.arrived))
	}
	if w.meeting != 0 {
		panic(troublef("the thread returns while %d lanes of its warp wait at a barrier", bits.OnesCount32(w.meeting)))
	}
	w.alive &^= w.mask
	w.left += bits.OnesCount32(w.mask)
}

// blockBarrier waits for all threads of the block.
func (w *warp) blockBarrier(*instruction) {
	if w.left > 0 {
		panic(troublef("%d threads of the block have returned", w.left))
	}
	w.waiting |= w.mask
	w.arrived += bits.OnesCount32(w.mask)
}

// warpBarrier waits for all lanes of the warp.
func (w *warp) warpBarrier(*instruction) {
	if w.alive != everyLane {
		panic(troublef("%d lanes of the warp have returned", bits.OnesCount32(^w.alive)))
	}
	if w.meeting |= w.mask; w.meeting == everyLane {
		w.passed++
		w.meeting = 0
	}
}

// together checks that all lanes of the warp execute an instruction.
func (w *warp) together() {
	if w.mask != everyLane {
		panic(troublef("only %d lanes of the warp are here", bits.OnesCount32(w.mask)))
	}
}

// now is the time and place of an access of a lane.
func (w *warp) now(lane int) stamp {
	w.lane = lane
	return stamp{block: uint32(w.block.index), thread: uint16(w.index*lanes + lane), barriers: w.barriers, passed: w.passed}
}

func (w *warp) loadParameter(in *instruction) {
	for m := w.mask; m != 0; m &= m - 1 {
		w.longs[in.d[0]][bits.TrailingZeros32(m)] = w.launch.Parameters[in.offset]
	}
}
