package grad

import (
	"fmt"

	"mannequin/netruntime"
)

// Param is a trainable matrix that outlives the passes. Unless it is frozen, only one tape at a
// time may use it, from forward to Backward.
type Param struct {
	Name       string
	Rows, Cols int
	Val        []float32 // (Rows, Cols), row-major
	Grad       []float32 // (Rows, Cols); written by the last Backward that reached the parameter
	Frozen     bool      // Backward does not write Grad and spends no time on it

	// Update, if set, takes the gradient in place of Grad, whose values are undefined then.
	// Backward calls it with the gradient g of Val[at:at+len(g)], once for every value, as soon as
	// the pass no longer reads that part of Val. Update may change that part. Calls come in any
	// order and from several goroutines, and must not use the tape or its pool.
	Update func(at int, g []float32)

	tape    *Tape     // the last tape that used the parameter
	seen    uint64    // that tape's last pass with the parameter
	uses    int       // number of operations in that pass
	left    int       // of them, those whose backward is still to come
	pass    uint64    // the pass that last wrote Grad
	updated uint64    // the pass that last passed the gradient to Update
	packs   *[2]packs // of a recurrent layer
}

// NewParam returns a zero matrix with room for its gradient.
func NewParam(name string, rows, cols int) *Param {
	return &Param{Name: name, Rows: rows, Cols: cols, Val: make([]float32, rows*cols), Grad: make([]float32, rows*cols)}
}

// Mat is one matrix of the graph. It belongs to the tape and is valid until the next Reset.
type Mat struct {
	Rows, Cols int
	Val        []float32 // (Rows, Cols), row-major
	Grad       []float32 // d loss / d Val after Backward; valid if Wants

	wants   bool // an input or unfrozen parameter lies below
	touched bool // Grad holds a value of this pass, to be added to
	back    func(t *Tape, n *Mat)

	a, b   *Mat   // operands
	parts  []*Mat // more operands
	w, c   *Param // weight and bias
	v      *Param // second weight
	cols   []int
	length int // frames per sequence
	n      int // a size, with a meaning for each operation
	k      float32
	key    uint64
	flag   bool
	act    *activation
	red    *reduction
	con    [2][]float32 // constants of the caller
	// Constants of FK and Pin.
	parents []int32
	pins    *netruntime.Pins
	aux     []float32 // values that forward keeps for backward

	// The slot's own memory: Val and Grad, unless n is a view.
	val, grad []float32
	of        *Mat   // Val and Grad are this matrix's, in another shape
	param     *Param // Val and Grad are this parameter's
	tape      *Tape
}

// Wants reports whether Backward computes the gradient of n.
func (n *Mat) Wants() bool { return n.wants }

// Tape records one pass. It is not safe for concurrent use. Its operations run on the pool's
// workers; the zero Tape has one.
type Tape struct {
	pool  *Pool
	nodes []*Mat // slots in order of use, reused pass after pass
	used  int
	pass  uint64
	done  bool // Backward has run in this pass

	scratch []float32
	memory
	params []*Param // of this pass
	blend  blendJob

	// The parallel job in progress. run is made once, because a closure per call would allocate.
	run   func(worker, i int)
	job   func(t *Tape, n *Mat, i0, i1 int)
	mat   *Mat
	count int // indices of the job
	chunk int // indices per task

	// update passes part i of param's gradient to its Update.
	update func(worker, i int)
	param  *Param
}

// NewTape returns an empty tape whose operations run on pool.
func NewTape(pool *Pool) *Tape {
	t := &Tape{}
	t.start(pool)
	return t
}

func (t *Tape) start(pool *Pool) {
	t.pool = pool
	t.pass++
	t.run = func(_, i int) {
		i0 := i * t.chunk
		t.job(t, t.mat, i0, min(i0+t.chunk, t.count))
	}
	t.blend.init(t)
	t.update = func(_, i int) {
		p := t.param
		at := i * updateChunk
		p.Update(at, p.Grad[at:min(at+updateChunk, len(p.Grad))])
	}
}

// Reset starts a new pass. Every Mat of the last pass becomes invalid.
func (t *Tape) Reset() {
	t.used = 0
	t.done = false
	t.pass++
	t.params = t.params[:0]
}

// Const returns a rows×cols matrix without a gradient, for the caller to fill. Its values are
// undefined.
func (t *Tape) Const(rows, cols int) *Mat { return t.node(rows, cols, false) }

// Input is Const with a gradient, to optimise the input of a network.
func (t *Tape) Input(rows, cols int) *Mat { return t.node(rows, cols, true) }

// node takes the next slot, with memory of its own.
func (t *Tape) node(rows, cols int, wants bool) *Mat {
	n := t.view(rows, cols, wants)
	n.val = grow(n.val, rows*cols)
	n.Val = n.val
	if wants {
		n.grad = grow(n.grad, rows*cols)
		n.Grad = n.grad
	}
	return n
}

// view takes the next slot, for memory that exists already.
func (t *Tape) view(rows, cols int, wants bool) *Mat {
	if rows <= 0 || cols <= 0 {
		panic(fmt.Sprintf("grad: matrix of %d×%d", rows, cols))
	}
	if t.pool == nil {
		t.start(NewPool(1))
	}
	if t.used == len(t.nodes) {
		t.nodes = append(t.nodes, new(Mat))
	}
	n := t.nodes[t.used]
	t.used++
	*n = Mat{Rows: rows, Cols: cols, val: n.val, grad: n.grad, aux: n.aux, parts: n.parts[:0], wants: wants, tape: t}
	return n
}

func grow(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

// Backward computes the gradient of loss, a 1×1 matrix, with respect to every Mat that wants one
// and every unfrozen Param below it. It overwrites a Param's Grad; a Param that is used several
// times gets the sum. A pass has only one Backward: add the losses instead.
func (t *Tape) Backward(loss *Mat) {
	if loss.Rows != 1 || loss.Cols != 1 {
		panic("grad: Backward of a loss that is not 1×1")
	}
	if t.done {
		panic("grad: a second Backward without Reset")
	}
	t.done = true
	if loss.wants {
		loss.into() // also if it is a view of the matrix that owns the gradient
		loss.Grad[0] = 1
	}
	for _, p := range t.params {
		p.left = p.uses
	}
	for i := t.used - 1; i >= 0; i-- {
		n := t.nodes[i]
		if n.back != nil && n.touched {
			n.back(t, n)
		}
		for _, p := range [...]*Param{n.w, n.v, n.c, n.param} {
			if p == nil {
				continue
			}
			if p.left--; p.left == 0 {
				t.blend.finish(p)
				t.passOn(p)
			}
		}
	}
	t.recurrence.finish(t)
	for _, n := range t.nodes[:t.used] {
		if n.wants && !n.touched && n.of == nil && n.param == nil { // the loss does not depend on it
			clear(n.Grad)
		}
	}
	for _, p := range t.params { // whose gradients were postponed
		t.passOn(p)
	}
}

// passOn passes the complete gradient of a parameter to its Update.
func (t *Tape) passOn(p *Param) {
	if p.Update == nil || !t.Reached(p) || p.updated == t.pass {
		return
	}
	p.updated = t.pass
	t.param = p
	t.pool.Run((len(p.Grad)+updateChunk-1)/updateChunk, t.update)
}

const updateChunk = 1 << 15 // values per call of Update

// use records that an operation reads the parameters. Every operation with parameters calls it.
func (t *Tape) use(params ...*Param) {
	for _, p := range params {
		if p.tape != t {
			p.tape, p.seen, p.pass, p.updated = t, 0, 0, 0
		}
		if p.seen != t.pass {
			p.seen, p.uses = t.pass, 0
			t.params = append(t.params, p)
		}
		p.uses++
	}
}

// into reports whether n's gradient holds earlier contributions, and marks it as holding some.
func (n *Mat) into() (acc bool) {
	switch {
	case n.of != nil:
		return n.of.into()
	case n.param != nil:
		return n.param.into(n.tape)
	}
	acc = n.touched
	n.touched = true
	return acc
}

// cleared is into for operations that only add to n's gradient: it clears one that holds nothing.
func (n *Mat) cleared() {
	if !n.into() {
		clear(n.Grad)
	}
}

// Reached reports whether the last Backward of this pass reached the parameter, so that its Grad
// belongs to this pass.
func (t *Tape) Reached(p *Param) bool { return p.tape == t && p.pass == t.pass }

// into is Mat.into for a parameter.
func (p *Param) into(t *Tape) (acc bool) {
	if p.tape != t || p.seen != t.pass {
		panic("grad: " + p.Name + " is in another tape's pass, or an operation did not say that it uses it")
	}
	acc = p.pass == t.pass
	p.pass = t.pass
	return acc
}

// split runs f over the indices [0, count) on the pool, in chunks whose size does not depend on the
// number of workers. work is the number of values per index. Results must not depend on the chunks.
func (t *Tape) split(n *Mat, count, work int, f func(t *Tape, n *Mat, i0, i1 int)) {
	const chunk = 1 << 14 // values that are worth a task
	t.chunk = max(1, chunk/work)
	if t.chunk >= count {
		f(t, n, 0, count)
		return
	}
	t.job, t.mat, t.count = f, n, count
	t.pool.Run((count+t.chunk-1)/t.chunk, t.run)
}

// borrow returns n values of scratch memory, valid until the next borrow.
func (t *Tape) borrow(n int) []float32 {
	t.scratch = grow(t.scratch, n)
	return t.scratch
}
