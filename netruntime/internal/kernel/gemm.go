package kernel

import (
	"sync"

	"mannequin/netruntime/internal/pool"
)

// gemmJob is the product that a pool is computing, cut into a grid of tasks.
type gemmJob struct {
	tA, tB     bool
	m, n, k    int
	a, b, c    []float32
	lda, ldb   int
	ldc        int
	acc        bool
	seqA, seqB sequences // of A's rows or of B's, if they are windows
	rows       int       // rows per task
	panels     int       // panels of B per task
	rowTasks   int
	panelCount int
}

const (
	taskPanels   = 8       // most panels per task: those that fit the second-level cache when packed
	rowTiles     = 16      // tiles of rows per pass over a task's panels
	directRows   = 128     // most rows for which packing B is not worth its cost
	smallProduct = 1 << 19 // products that take less time than waking the workers
)

// Gemm computes
//
//	C = op(A)·op(B)      or
//	C = C + op(A)·op(B)  if acc
//
// on row-major matrices. op(X) is X, or its transpose if tX is set. op(A) is m×k, op(B) is k×n, C
// is m×n. lda, ldb and ldc are the row lengths of A, B and C in memory. C must not overlap A or B.
// A NaN or infinity in a row of op(A) stays in that row of C.
func (p *Pool) Gemm(tA, tB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, acc bool, c []float32, ldc int) {
	if m < 0 || n < 0 || k < 0 {
		panic("kernel: Gemm: negative size")
	}
	check("A", tA, m, k, a, lda)
	check("B", tB, k, n, b, ldb)
	check("C", false, m, n, c, ldc)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		if !acc {
			for i := range m {
				clear(c[i*ldc:][:n])
			}
		}
		return
	}
	p.multiply(gemmJob{tA: tA, tB: tB, m: m, n: n, k: k, a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, acc: acc})
}

// multiply cuts a product into tasks and runs them.
func (p *Pool) multiply(job gemmJob) {
	p.mu.Lock()
	defer p.mu.Unlock()
	tileRows, cols := p.kind.tile()
	j := &p.job
	*j = job
	m := j.m
	j.panelCount = (j.n + cols - 1) / cols
	// Split the columns first, so that no two tasks pack the same part of B, and split rows too if
	// there are too few columns.
	j.panels = min(taskPanels, (j.panelCount+2*p.Workers()-1)/(2*p.Workers()))
	j.rows = m
	if p.Workers() > 1 && j.panelCount < 2*p.Workers() {
		tiles := (m + tileRows - 1) / tileRows
		j.panels = min(taskPanels, j.panelCount)
		j.rows = (tiles + 2*p.Workers() - 1) / (2 * p.Workers()) * tileRows
	}
	j.rowTasks = (m + j.rows - 1) / j.rows
	colTasks := (j.panelCount + j.panels - 1) / j.panels
	if tasks := j.rowTasks * colTasks; j.m*j.n*j.k > smallProduct {
		p.Run(tasks, p.gemm)
	} else {
		for i := range tasks {
			p.gemmTask(0, i)
		}
	}
	j.a, j.b, j.c = nil, nil, nil
}

func check(name string, t bool, rows, cols int, x []float32, ld int) {
	if t {
		rows, cols = cols, rows
	}
	if rows == 0 || cols == 0 {
		return
	}
	if ld < cols {
		panic("kernel: Gemm: row length of " + name + " is below its columns")
	}
	if len(x) < (rows-1)*ld+cols {
		panic("kernel: Gemm: " + name + " is shorter than its sizes")
	}
}

// gemmTask computes task i of the current job.
func (p *Pool) gemmTask(worker, i int) {
	j, s := &p.job, &p.scratch[worker]
	tileRows, cols := p.kind.tile()
	if s.b == nil {
		s.b = aligned(BlockK * taskPanels * cols)
		s.edge = make([]float32, tileRows*cols)
	}
	r0 := i % j.rowTasks * j.rows
	r1 := min(r0+j.rows, j.m)
	p0 := i / j.rowTasks * j.panels
	p1 := min(p0+j.panels, j.panelCount)
	full := p1 // panels whose columns all exist
	if p1*cols > j.n {
		full--
	}
	// Packing costs as much as a pass over B. If A has few rows, the tiles read B in place.
	direct := !j.tB && j.m <= directRows
	x := span{kind: p.kind, ldc: j.ldc, w: unit}
	x.rs, x.cs = j.lda, 1
	if j.tA {
		x.rs, x.cs = 1, j.lda
	}
	for l := 0; l < j.k; l += x.k {
		x.k = j.seqB.block(l, j.k)
		x.first = l == 0 && !j.acc
		panel := x.k * cols
		b := j.b // from row l of op(B)
		if j.tB {
			b = b[l:]
		} else {
			b = b[j.seqB.at(l, j.ldb):]
		}
		from := p0
		if direct {
			from = full
		}
		for q := from; q < p1; q++ {
			p.kind.pack(s.b[(q-p0)*panel:], j.tB, b, j.ldb, 0, x.k, q*cols, min(cols, j.n-q*cols))
		}
		for r := r0; r < r1; r += x.rows {
			x.rows = min(rowTiles*tileRows, r1-r, j.seqA.rest(r))
			x.a = j.a[j.seqA.at(r, x.rs)+l*x.cs:]
			x.b, x.bs, x.ps, x.panels = s.b, cols, panel, full-p0
			if direct {
				x.b, x.bs, x.ps = b[p0*cols:], j.ldb, cols
				if x.after = nil; l+x.k < j.k { // the first panel of the next block
					x.after = j.b[j.seqB.at(l+x.k, j.ldb)+p0*cols:]
				}
			}
			if full > p0 {
				x.c = j.c[r*j.ldc+p0*cols:]
				s.compute(&x)
			}
			if full < p1 {
				x.b, x.bs, x.ps, x.after = s.b[(full-p0)*panel:], cols, panel, nil
				x.c = j.c[r*j.ldc+full*cols:]
				s.computeEdge(&x, j.n-full*cols)
			}
		}
	}
}

// pack copies rows [l, l+k) and columns [col, col+n) of op(B), row-major with row length ldb or
// transposed, to dst row by row. It fills each row with zeros up to the panel's width.
func (kind Kind) pack(dst []float32, trans bool, b []float32, ldb, l, k, col, n int) {
	_, cols := kind.tile()
	dst = dst[:k*cols]
	if n < cols {
		clear(dst)
	}
	if !trans {
		for i := range k {
			copy(dst[i*cols:], b[(l+i)*ldb+col:][:n])
		}
		return
	}
	c, fast := 0, 0
	if kind >= AVX2 {
		fast = k / 8 * 8
	}
	for ; fast > 0 && c+8 <= n; c += 8 {
		src := b[(col+c)*ldb+l:]
		kind.transpose(dst[c:], cols, src, ldb, fast/8)
		for i := fast; i < k; i++ {
			for r := range 8 {
				dst[i*cols+c+r] = src[r*ldb+i]
			}
		}
	}
	for ; c < n; c++ {
		for i, v := range b[(col+c)*ldb+l:][:k] {
			dst[i*cols+c] = v
		}
	}
}

// Transpose writes the transpose of src to dst. src is rows×cols with row length ld, and dst has
// row length ldd.
func Transpose(dst []float32, ldd int, src []float32, ld, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	if ld < cols || ldd < rows || len(src) < (rows-1)*ld+cols || len(dst) < (cols-1)*ldd+rows {
		panic("kernel: Transpose: a matrix is too small")
	}
	r, fast := 0, 0
	if active >= AVX2 {
		fast = cols / 8 * 8
	}
	for ; fast > 0 && r+8 <= rows; r += 8 {
		active.transpose(dst[r:], ldd, src[r*ld:], ld, fast/8)
		for c := fast; c < cols; c++ {
			for i := range 8 {
				dst[c*ldd+r+i] = src[(r+i)*ld+c]
			}
		}
	}
	for ; r < rows; r++ {
		for c, v := range src[r*ld:][:cols] {
			dst[c*ldd+r] = v
		}
	}
}

// Pool is a pool of workers that also multiplies matrices, with the kernels that were active when
// it was made.
type Pool struct {
	*pool.Pool
	kind Kind

	mu      sync.Mutex // held for a whole product
	job     gemmJob
	gemm    func(worker, i int) // bound once so that Gemm allocates nothing
	scratch []Scratch           // by worker
}

// NewPool starts a pool of the given number of workers. The caller of Run is one of them; fewer
// than one means one.
func NewPool(workers int) *Pool {
	p := &Pool{Pool: pool.New(workers), kind: active}
	p.gemm, p.scratch = p.gemmTask, make([]Scratch, p.Workers())
	return p
}
