package ptx

// stamp is the time of an access: its thread, and how many barriers that thread has passed. A barrier is for a whole block or for one
// warp. Two accesses of different warps are in order if their numbers of block barriers differ. Two accesses of one warp are in order
// if their numbers of all barriers differ.
type stamp struct {
	block            uint32
	barriers, passed uint32
	thread           uint16 // of the block
}

func (s stamp) warp() uint16 { return s.thread / lanes }

// before reports whether an access of one thread is over, for another thread.
func (s stamp) before(now stamp) bool {
	return s.block == now.block && (s.thread == now.thread || s.barriers < now.barriers || s.warp() == now.warp() && s.passed < now.passed)
}

// who has read an element since it was written, without a barrier in between.
type readers uint8

const (
	nobody readers = iota
	oneThread
	oneWarp
	oneBlock
	severalBlocks
)

// cell is who accessed an element of memory.
type cell struct {
	epoch   uint32 // what was in another one is forgotten
	wrote   bool
	pending bool // a copy, which has not ended
	by      readers
	writer  stamp
	reader  stamp
}

func (c *cell) enter(epoch uint32) {
	if c.epoch != epoch {
		*c = cell{epoch: epoch}
	}
}

// read notes a read, and checks that it comes after the last write.
func (c *cell) read(epoch uint32, now stamp) {
	c.enter(epoch)
	c.settled("reads")
	if c.wrote && !c.writer.before(now) {
		panic(troublef("race: the thread reads what thread %d of block %d writes", c.writer.thread, c.writer.block))
	}
	switch {
	case c.over(now):
		c.by = oneThread
	case c.reader.block != now.block || c.by == severalBlocks:
		c.by = severalBlocks
	case c.reader.warp() != now.warp() || c.by == oneBlock:
		c.by = oneBlock
	case c.reader.thread != now.thread:
		c.by = oneWarp
	}
	c.reader = now
}

// over reports whether all reads since the last write are before an access.
func (c *cell) over(now stamp) bool {
	r := c.reader
	switch c.by {
	case oneThread:
		return r.before(now)
	case oneWarp:
		return r.block == now.block && (r.barriers < now.barriers || r.warp() == now.warp() && r.passed < now.passed)
	case oneBlock:
		return r.block == now.block && r.barriers < now.barriers
	}
	return c.by == nobody
}

// write notes a write, and checks that it comes after all earlier accesses.
func (c *cell) write(epoch uint32, now stamp) {
	c.enter(epoch)
	c.settled("writes")
	if c.wrote && !c.writer.before(now) {
		panic(troublef("race: the thread writes what thread %d of block %d writes", c.writer.thread, c.writer.block))
	}
	if !c.over(now) {
		panic(troublef("race: the thread writes what thread %d of block %d reads", c.reader.thread, c.reader.block))
	}
	c.wrote, c.writer, c.by = true, now, nobody
}

// settled checks that no copy to the element is on its way.
func (c *cell) settled(what string) {
	if c.pending {
		panic(troublef("race: the thread %s where a copy of thread %d has not ended", what, c.writer.thread))
	}
}
