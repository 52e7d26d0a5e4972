package kernel

import "math"

// Windows is a batch of sequences whose overlapping windows are the rows of a matrix. Row t of
// sequence s begins at Data[s·Skip + t·Stride]. With frames of Stride values and windows of several
// frames, a product is a convolution over time that copies no window.
type Windows struct {
	Data   []float32
	Batch  int // sequences
	Length int // windows per sequence
	Stride int // values from one window to the next
	Skip   int // values from one sequence to the next
}

// Rows returns the number of windows of all sequences.
func (x Windows) Rows() int { return x.Batch * x.Length }

func (x Windows) check(n int) {
	if x.Batch < 0 || x.Length < 0 || x.Stride < 0 || x.Skip < 0 || n < 0 {
		panic("kernel: Windows: negative size")
	}
	if x.Rows() > 0 && len(x.Data) < (x.Batch-1)*x.Skip+(x.Length-1)*x.Stride+n {
		panic("kernel: Windows: the data is shorter than the sizes")
	}
}

// GemmWindows computes C = X·op(B) or C = C + X·op(B), as Gemm does. The rows of X are windows of k
// values. C has X.Rows() rows of n values, B is k×n.
func (p *Pool) GemmWindows(x Windows, k int, tB bool, n int, b []float32, ldb int, acc bool, c []float32, ldc int) {
	x.check(k)
	check("B", tB, k, n, b, ldb)
	check("C", false, x.Rows(), n, c, ldc)
	if x.Rows() == 0 || n == 0 || k == 0 {
		p.Gemm(false, tB, x.Rows(), n, k, x.Data, k, b, ldb, acc, c, ldc)
		return
	}
	p.multiply(gemmJob{tB: tB, m: x.Rows(), n: n, k: k, a: x.Data, b: b, c: c, lda: x.Stride, ldb: ldb, ldc: ldc, acc: acc,
		seqA: sequences{x.Length, x.Skip}})
}

// GemmOfWindows computes C = Aᵀ·X or C = C + Aᵀ·X, as Gemm does. The rows of X are windows of n
// values. A has X.Rows() rows of m values, C is m×n. The blocks of the sums end at the end of each
// sequence.
func (p *Pool) GemmOfWindows(m int, a []float32, lda int, x Windows, n int, acc bool, c []float32, ldc int) {
	x.check(n)
	check("A", true, m, x.Rows(), a, lda)
	check("C", false, m, n, c, ldc)
	if x.Rows() == 0 || n == 0 || m == 0 {
		p.Gemm(true, false, m, n, x.Rows(), a, lda, x.Data, n, acc, c, ldc)
		return
	}
	p.multiply(gemmJob{tA: true, m: m, n: n, k: x.Rows(), a: a, b: x.Data, c: c, lda: lda, ldb: x.Stride, ldc: ldc, acc: acc,
		seqB: sequences{x.Length, x.Skip}})
}

// sequences is the place of a matrix's rows in memory: in groups of length rows, each beginning
// skip values after the one before. The zero value is one group.
type sequences struct{ length, skip int }

// at returns the offset of row r. stride is the distance between rows of a group.
func (s sequences) at(r, stride int) int {
	if s.length == 0 {
		return r * stride
	}
	return r/s.length*s.skip + r%s.length*stride
}

// rest returns the number of rows of the group from row r on.
func (s sequences) rest(r int) int {
	if s.length == 0 {
		return math.MaxInt
	}
	return s.length - r%s.length
}

// block returns the length of the block of sums that begins at l of k: BlockK, or with groups an
// even part of one.
func (s sequences) block(l, k int) int {
	if s.length == 0 {
		return min(BlockK, k-l)
	}
	blocks := (s.length + BlockK - 1) / BlockK
	return min((s.length+blocks-1)/blocks, s.rest(l))
}
