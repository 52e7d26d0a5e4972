package ptx

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// Memory is what kernels reach by addresses of 64 bits.
type Memory struct {
	regions  []Region // in order of addresses
	last     int      // where the latest access was
	launches uint32
}

// Region is memory from an address on.
type Region struct {
	Begin   uint64
	Bytes   []byte
	Written []byte // for each byte, whether something was written there: not 0

	pages []*page
}

// A page holds the cells of some elements.
type page [1024]cell

// NewMemory returns memory that holds regions.
func NewMemory(regions ...Region) *Memory {
	m := new(Memory)
	m.SetRegions(regions)
	return m
}

// SetRegions replaces the regions.
func (m *Memory) SetRegions(regions []Region) {
	before := m.regions
	m.regions, m.last = slices.Clone(regions), 0
	slices.SortFunc(m.regions, func(a, b Region) int { return cmp.Compare(a.Begin, b.Begin) })
	for i := range m.regions {
		r := &m.regions[i]
		if j, ok := search(before, r.Begin); ok && len(before[j].Bytes) == len(r.Bytes) {
			r.pages = before[j].pages
		} else {
			r.pages = make([]*page, (len(r.Bytes)/element+len(page{}))/len(page{}))
		}
	}
}

func search(regions []Region, at uint64) (int, bool) {
	return slices.BinarySearchFunc(regions, at, func(r Region, at uint64) int { return cmp.Compare(r.Begin, at) })
}

// begin begins a launch: nothing in it races with what was before.
func (m *Memory) begin() { m.launches++ }

// find returns the region of n bytes at an address, and where they begin in it.
func (m *Memory) find(at uint64, n int) (*Region, int) {
	if at%uint64(n) != 0 {
		panic(troublef("%d bytes at %#x, which is no multiple of that", n, at))
	}
	if m.last < len(m.regions) {
		if r := &m.regions[m.last]; at >= r.Begin && at-r.Begin < uint64(len(r.Bytes)) && uint64(len(r.Bytes))-(at-r.Begin) >= uint64(n) {
			return r, int(at - r.Begin)
		}
	}
	i, ok := search(m.regions, at)
	if !ok {
		i--
	}
	if i >= 0 {
		if r := &m.regions[i]; at-r.Begin <= uint64(len(r.Bytes)) && uint64(len(r.Bytes))-(at-r.Begin) >= uint64(n) {
			m.last = i
			return r, int(at - r.Begin)
		}
		r := &m.regions[i]
		panic(troublef("illegal address %#x: %d bytes, %d bytes after the beginning of %d bytes of memory", at, n, at-r.Begin, len(r.Bytes)))
	}
	panic(troublef("illegal address %#x", at))
}

// element is the size of what a cell is about, in global memory. Operands of products have two bytes.
const element = 2

// cell returns the cell of a place in a region.
func (r *Region) cell(offset int) *cell {
	i := offset / element
	p := r.pages[i/len(page{})]
	if p == nil {
		p = new(page)
		r.pages[i/len(page{})] = p
	}
	return &p[i%len(page{})]
}

// reads checks that a thread may read n bytes.
func (m *Memory) reads(r *Region, offset, n int, now stamp) {
	for i := range n {
		if r.Written != nil && r.Written[offset+i] == 0 {
			panic(troublef("byte %d of %d bytes of memory is read before something was written there", offset+i, len(r.Bytes)))
		}
	}
	for i := 0; i < n; i += element {
		r.cell(offset+i).read(m.launches, now)
	}
}

// writes checks that a thread may write n bytes.
func (m *Memory) writes(r *Region, offset, n int, now stamp) {
	for i := 0; i < n; i += element {
		r.cell(offset+i).write(m.launches, now)
	}
	if r.Written != nil {
		for i := range n {
			r.Written[offset+i] = 1
		}
	}
}

// load loads from global memory.
func (w *warp) load(in *instruction, size int) {
	for mask := w.mask; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		now := w.now(l)
		r, o := w.memory.find(w.longs[in.s[0]][l]+uint64(in.offset), size*in.vector)
		w.memory.reads(r, o, size*in.vector, now)
		for i := range in.vector {
			switch b := r.Bytes[o+i*size:]; size {
			case 2:
				w.words[in.d[i]][l] = uint32(binary.LittleEndian.Uint16(b))
			case 4:
				w.words[in.d[i]][l] = binary.LittleEndian.Uint32(b)
			default:
				w.longs[in.d[i]][l] = binary.LittleEndian.Uint64(b)
			}
		}
	}
}

// store stores to global memory.
func (w *warp) store(in *instruction, size int) {
	for mask := w.mask; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		now := w.now(l)
		r, o := w.memory.find(w.longs[in.s[0]][l]+uint64(in.offset), size*in.vector)
		w.memory.writes(r, o, size*in.vector, now)
		for i := range in.vector {
			switch b := r.Bytes[o+i*size:]; size {
			case 2:
				binary.LittleEndian.PutUint16(b, uint16(w.words[in.s[1+i]][l]))
			case 4:
				binary.LittleEndian.PutUint32(b, w.words[in.s[1+i]][l])
			default:
				binary.LittleEndian.PutUint64(b, w.longs[in.s[1+i]][l])
			}
		}
	}
}

// find returns where n bytes at an address begin in shared memory.
func (b *block) find(at uint32, n int) int {
	if at%uint32(n) != 0 {
		panic(troublef("%d bytes at %d of shared memory, which is no multiple of that", n, int64(at)-sharedBase))
	}
	if at < sharedBase || int(at)-sharedBase+n > len(b.shared) {
		panic(troublef("%d bytes at %d of %d bytes of shared memory", n, int64(at)-sharedBase, len(b.shared)))
	}
	return int(at) - sharedBase
}

// readShared checks that a thread may read 4 bytes, and returns them.
func (b *block) readShared(at int, now stamp) uint32 {
	c := &b.cells[at/4]
	if c.epoch != b.number || !c.wrote {
		panic(troublef("byte %d of shared memory is read before something was written there", at))
	}
	c.read(b.number, now)
	return binary.LittleEndian.Uint32(b.shared[at:])
}

func (w *warp) loadShared(in *instruction, size int) {
	for mask := w.mask; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		now := w.now(l)
		at := w.block.find(w.words[in.s[0]][l]+uint32(in.offset), size*in.vector)
		for i := range in.vector {
			w.words[in.d[i]][l] = w.readShared(at+4*i, now)
		}
	}
}

func (w *warp) storeShared(in *instruction, size int) {
	for mask := w.mask; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		now := w.now(l)
		at := w.block.find(w.words[in.s[0]][l]+uint32(in.offset), size*in.vector)
		for i := range in.vector {
			w.cells[at/4+i].write(w.number, now)
			binary.LittleEndian.PutUint32(w.shared[at+4*i:], w.words[in.s[1+i]][l])
		}
	}
}

// copyBytes is what a copy to shared memory writes.
const copyBytes = 16

// copyAsync begins copies to shared memory, which end in wait.
func (w *warp) copyAsync(in *instruction) {
	for mask := w.mask; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		now := w.now(l)
		c := pending{to: w.words[in.s[0]][l], from: w.longs[in.s[1]][l], bytes: int(int32(w.words[in.s[2]][l])), group: w.group[l]}
		if c.bytes < 0 || c.bytes > copyBytes {
			panic(troublef("a copy of %d bytes", c.bytes))
		}
		at := w.block.find(c.to, copyBytes)
		for i := range copyBytes / 4 {
			cell := &w.cells[at/4+i]
			cell.write(w.number, now)
			cell.pending = true
		}
		w.source(c, now)
		w.copies[l] = append(w.copies[l], c)
	}
}

// source returns the bytes that a copy reads.
func (w *warp) source(c pending, now stamp) []byte {
	if c.from%copyBytes != 0 {
		panic(troublef("a copy from %#x, which is no multiple of %d", c.from, copyBytes))
	}
	if c.bytes == 0 {
		return nil
	}
	n := 1
	for n < c.bytes {
		n *= 2
	}
	if n != c.bytes {
		panic(troublef("a copy of %d bytes", c.bytes))
	}
	r, o := w.memory.find(c.from, n)
	w.memory.reads(r, o, n, now)
	return r.Bytes[o : o+n]
}

// commit closes the group of the copies since the last one.
func (w *warp) commit(*instruction) {
	for mask := w.mask; mask != 0; mask &= mask - 1 {
		w.group[bits.TrailingZeros32(mask)]++
	}
}

// wait is cp.async.wait_group: it completes the copies of each lane, except those of the newest groups, whose number the instruction has.
func (w *warp) wait(in *instruction) {
	for mask := w.mask; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		now, done := w.now(l), 0
		for _, c := range w.copies[l] {
			if c.group >= w.group[l]-int(in.offset) {
				break
			}
			done++
			at := int(c.to) - sharedBase
			for i := range copyBytes / 4 {
				cell := &w.cells[at/4+i]
				cell.pending = false
				cell.write(w.number, now)
			}
			to := w.shared[at : at+copyBytes]
			clear(to[copy(to, w.source(c, now)):])
		}
		w.copies[l] = slices.Delete(w.copies[l], 0, done)
	}
}
