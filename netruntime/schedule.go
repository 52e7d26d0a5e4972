package netruntime

// step is the work between two barriers of a small batch: a grid of tasks, each of some rows by
// some parts of the columns.
type step struct {
	group    int
	phase    phase
	at       int // step of an LSTM
	rows     int // of a task
	parts    int
	rowTasks int
	allRows  int
	allParts int
}

type phase uint8

const (
	everything phase = iota
	project          // an LSTM's inputs to its gates
	recur            // a step of an LSTM
)

const (
	// Rows that share a pass over the weights. With fewer rows per worker, reading the weights is
	// the limit, so the columns are shared instead.
	splitRows = 96
	// blockRows is the least number of such rows in a block.
	blockRows = 192
	// blockFloats is the amount of activations that stays in the second-level cache beside a panel
	// of weights.
	blockFloats = 200 << 10

	lightRows  = 16 // least rows of a task of light operations
	heavyRows  = 48 // least rows of a task of heavy operations
	lightTasks = 64 // most tasks of light operations for each worker
	taskParts  = 4  // most panels of a task, or an LSTM's blocks of hidden units
)

// reuseRows returns the rows of a sequence that share a pass over the weights.
func (p *plan) reuseRows(length int) int { return max(1, p.reuse.most(length)) }

// byBlocks reports whether the workers share whole sequences.
func (s *session) byBlocks(batch, length int) bool {
	w := s.opt.Workers
	if w == 1 {
		return true
	}
	even := batch >= 4*w || batch%w == 0
	return even && batch*s.plan.reuseRows(length) >= splitRows*w
}

// blockOf returns the greatest number of sequences in a block of a large batch.
func (s *session) blockOf(length int) int {
	floats := int64(1)
	for _, values := range s.plan.shared {
		widest := 0
		for _, v := range values {
			widest = max(widest, s.plan.values[v].sequence(length))
		}
		floats += int64(widest)
	}
	reuse := s.plan.reuseRows(length)
	return min(s.opt.Batch, max((blockRows+reuse-1)/reuse, int(blockFloats/floats)))
}

// slots returns the number of sequences that the buffers hold in runs of this length.
func (s *session) slots(length int) int {
	w := s.opt.Workers
	slots := s.blockOf(length) * w
	if w > 1 { // the largest batch for which byBlocks is false
		slots = max(slots, 4*w-1, (splitRows*w-1)/s.plan.reuseRows(length))
	}
	return min(slots, max(s.opt.Batch, w*s.blockOf(length)))
}

// most returns the greatest number of steps of a run of up to the given length.
func (s *session) most(length int) int {
	if s.opt.Workers == 1 {
		return 0 // byBlocks
	}
	n := len(s.plan.groups)
	for _, g := range s.plan.groups {
		if o, ok := g.ops[0].(*lstm); ok && g.heavy {
			n += 2 * s.plan.values[o.x].span.most(length)
		}
	}
	return n
}

// schedule plans the run of a batch and length.
func (s *session) schedule() {
	s.blocks, s.steps, s.counts = 0, s.steps[:0], s.counts[:0]
	if s.byBlocks(s.batch, s.length) {
		// Even blocks, the same number for each worker.
		each := s.blockOf(s.length) * s.opt.Workers
		n := (s.batch + each - 1) / each * s.opt.Workers
		block := (s.batch + n - 1) / n
		s.blocks = (s.batch + block - 1) / block
		return
	}
	for g := range s.plan.groups {
		gr := &s.plan.groups[g]
		value, parts := gr.ops[0].grid()
		rows := s.batch * s.views[value].frames
		o, sequential := gr.ops[0].(*lstm)
		switch {
		case sequential && gr.heavy:
			frames := s.views[o.x].frames
			ahead := o.ahead(s.batch, frames)
			for u := range frames {
				if ahead > 1 && u%ahead == 0 {
					s.add(step{group: g, phase: project, at: u, allRows: 1, allParts: parts})
				}
				s.add(step{group: g, phase: recur, at: u, allRows: 1, allParts: parts})
			}
		case sequential:
			s.add(step{group: g, allRows: s.batch, allParts: 1, rows: 1})
		case gr.heavy:
			s.add(step{group: g, allRows: rows, allParts: parts})
		default:
			tasks := lightTasks * s.opt.Workers
			s.add(step{group: g, allRows: rows, allParts: 1, rows: max(lightRows, (rows+tasks-1)/tasks)})
		}
	}
}

// add cuts a step into tasks and appends it.
func (s *session) add(x step) {
	w := s.opt.Workers
	x.parts = max(1, min(taskParts, x.allParts/(2*w)))
	parts := (x.allParts + x.parts - 1) / x.parts
	if x.rows == 0 { // heavy: share columns first, then rows if the columns are too few
		x.rows = x.allRows
		if parts < 4*w && parts%w != 0 {
			x.rows = max(heavyRows, (x.allRows+2*w-1)/(2*w))
		}
	}
	x.rowTasks = (x.allRows + x.rows - 1) / x.rows
	s.steps = append(s.steps, x)
	s.counts = append(s.counts, parts*x.rowTasks)
}

// runBlock takes the sequences of block i through the network.
func (s *session) runBlock(worker, i int) {
	t := &s.tasks[worker]
	each := (s.batch + s.blocks - 1) / s.blocks
	t.block = block{first: min(i*each, s.batch), part: worker}
	t.block.n = min(each, s.batch-t.block.first)
	if t.block.n == 0 {
		return
	}
	for g := range s.plan.groups {
		for _, o := range s.plan.groups[g].ops {
			value, parts := o.grid()
			rows, each := t.block.n*s.views[value].frames, parts
			if _, ok := o.(*product); ok && s.pool.Rests() {
				each = taskParts // let other work run during a large product
			}
			for p0 := 0; p0 < parts; p0 += each {
				o.run(t, 0, rows, p0, min(p0+each, parts))
				s.pool.Rest()
			}
		}
	}
}

// runStep computes task i of a step.
func (s *session) runStep(worker, at, i int) {
	t, x := &s.tasks[worker], &s.steps[at]
	t.block = block{n: s.batch}
	g := &s.plan.groups[x.group]
	if x.phase == recur && x.at%2 == 1 {
		i = turned(i, s.counts[at])
	}
	r0, p0 := i%x.rowTasks*x.rows, i/x.rowTasks*x.parts
	r1, p1 := min(r0+x.rows, x.allRows), min(p0+x.parts, x.allParts)
	switch x.phase {
	case everything:
		for _, o := range g.ops {
			if !g.heavy {
				_, p1 = o.grid()
			}
			o.run(t, r0, r1, p0, p1)
		}
	case project:
		g.ops[0].(*lstm).project(t, t.gates(0), x.at, p0, p1)
	case recur:
		o, own := g.ops[0].(*lstm), 0
		if o.ahead(s.batch, s.views[o.x].frames) == 1 {
			own = worker
		}
		o.step(t, t.gates(own), x.at, p0, p1)
	}
}

// turned returns task i of n in an order that runs backwards in each half. The pool's workers go
// inwards from both ends. In every other step of an LSTM they go outwards, and so begin with the
// weights that they have just read.
func turned(i, n int) int {
	half := n / 2
	if i < half {
		return half - 1 - i
	}
	return n - 1 - (i - half)
}
