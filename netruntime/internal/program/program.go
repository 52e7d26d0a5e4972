// Package program turns a network into launches of a few kernels, for the backends that compute on
// GPUs: products, chains of small operations on the same rows, and where values and constants lie
// in memory.
package program

import "mannequin/netruntime"

// Program is a network as launches of kernels. It is immutable.
type Program struct {
	Values          []Value
	Launches        []Launch
	Inputs, Outputs []int // values
	Omega           int   // value of the gating weights, or −1
	Constants
}

// Value is an array (sequences, frames, channels) in the memory of a run.
type Value struct {
	Channels int
	Forms    [Forms]bool      // in which it is kept
	like     netruntime.Value // of the graph, as long as it
}

// Frames returns the number of frames of a sequence in a run of a length, or 0 for a length that is
// not possible.
func (v *Value) Frames(length int) int { return v.like.Length(length) }

// asLongAs reports whether two values have the same length in every run, by comparing two long
// runs.
func (v *Value) asLongAs(w *Value) bool {
	return v.Frames(1<<24) == w.Frames(1<<24) && v.Frames(1<<25) == w.Frames(1<<25)
}

// Operands reports whether products read v.
func (v *Value) Operands() bool { return v.Forms[FP32] || v.Forms[TF32] || v.Forms[BF16] }

// Launch is a call of a kernel: a product, or a chain of light operations on the same rows. For a
// recurrent layer it is both, for every frame.
type Launch struct {
	Product *Product
	Chain   []Light
	Rows    int // value whose frames are the rows
	Loop    *Loop
}

// Loop repeats a launch for every frame of a value.
type Loop struct {
	Frames  int // value
	Reverse bool
}

// Frame returns the frame of step i of n.
func (l *Loop) Frame(i, n int) int {
	if l.Reverse {
		return n - 1 - i
	}
	return i
}

// Product is a batched matrix product. Its left side is the window of frames that a row sees:
//
//	y = points(Σ_s ω_s (A_s·B_s + bias_s))
//
// The segments s are the experts of a blend (one A, weights omega), or the input and the state of
// an LSTM (two As, no weights), whose second bias is zero. Otherwise there is one.
type Product struct {
	Form     Form
	Sources  []Source
	Segments int
	Before   int // frames before its own at which a row's window begins
	N        int // columns
	B, Bias  Constant
	Omega    int // value, or −1
	Points   []Point
	Out      int
	Pairs    Words
	Scale    float32 // what B is multiplied with: 1, or a power of two if Pairs is Halves
}

// Source is a left side of a product.
type Source struct {
	Value int
	Part  Matrix
	Frame bool // in a Loop: the row belongs to the frame
}

// Point is an elementwise function.
type Point struct {
	Kind        PointKind
	Act         Activation
	Scale, Rest Constant // (columns, rounded up to 4)
}

// PointKind is a kind of elementwise function.
type PointKind int

// The elementwise functions of x.
const (
	Activate  PointKind = iota // act(x)
	Affine                     // x·scale + rest
	Normalize                  // (x − rest)·scale
	Skip                       // x, or 0 below rest
)

// Activation is an activation function.
type Activation int

// The activations.
const (
	Identity Activation = iota
	ELU
	ReLU
	Sigmoid
	Tanh
)

// MostPoints is the most elementwise functions of a product.
const MostPoints = 4

// Light is a small operation on rows.
type Light struct {
	Kind        LightKind
	Width       int      // channels of the result that it writes
	X, X2       int      // values, −1 for none
	Columns     Constant // of Copy: a channel of x for each of the result's, in 8 bytes each, or None
	Point       Point    // of Elementwise, and the activation of Dense
	Inputs      int      // of Dense: channels of x
	W, B        Constant // of Dense: (inputs, width), (width)
	Factor      int      // of Depool
	Out, Column int      // value, and its first column that is written
	Frame       bool     // in a Loop: the result belongs to the frame
	Copies      bool     // x is out: only its operands are written
}

// LightKind is a kind of small operation.
type LightKind int

// The small operations.
const (
	Zero        LightKind = iota
	Copy                  // y[c] = x[columns[c]], or x[c]
	Elementwise           // y = point(x)
	Add                   // y = x + x2
	Dense                 // y = act(W·x + b)
	Softmax               // over the channels
	MaxPool               // the larger of rows 2r and 2r+1 of x
	Depool                // an equal share of row r/factor of x
	LSTM                  // of gates x (4 width) and state x2: a new state, and y = h
)
