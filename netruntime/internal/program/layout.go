package program

// Layout is the place of a program's values in memory, for runs of a number of sequences of a
// length.
type Layout struct {
	Program *Program
	Frames  []int          // of a sequence, by value
	At      [][Forms]int64 // offsets in bytes, by value
	Size    int64          // in bytes
}

// Align is the alignment of every array, in bytes.
const Align = 256

// NewLayout returns a layout of p without places.
func NewLayout(p *Program) *Layout {
	return &Layout{Program: p, Frames: make([]int, len(p.Values)), At: make([][Forms]int64, len(p.Values))}
}

// Place places the values. It returns false for a length that is not possible.
func (l *Layout) Place(sequences, length int) bool {
	l.Size = 0
	for i := range l.Program.Values {
		v := &l.Program.Values[i]
		n := v.Frames(length)
		if n == 0 {
			return false
		}
		l.Frames[i] = n
		for f := range Form(Forms) {
			if v.Forms[f] {
				l.At[i][f] = l.Size
				l.Size += RoundUp(int64(sequences)*int64(n)*int64(f.Row(v.Channels))*int64(f.Bytes()), Align)
			}
		}
	}
	return true
}

// Holds reports whether in and out hold a run's inputs and results, of some sequences.
func (l *Layout) Holds(out, in [][]float32, sequences int) bool {
	holds := func(all [][]float32, values []int) bool {
		if len(all) != len(values) {
			return false
		}
		for i, v := range values {
			if len(all[i]) < sequences*l.Floats(v) {
				return false
			}
		}
		return true
	}
	return holds(in, l.Program.Inputs) && holds(out, l.Program.Outputs)
}

// Floats returns the number of values of one sequence of v.
func (l *Layout) Floats(v int) int { return l.Frames[v] * l.Program.Values[v].Channels }

// Kept reports whether anything reads v: it is in memory only then.
func (p *Program) Kept(v int) bool { return p.Values[v].Forms != [Forms]bool{} }

// Writes reports whether an operation writes anything that is kept.
func (p *Program) Writes(o *Light) bool {
	if o.Copies {
		return p.Values[o.Out].Operands()
	}
	return p.Kept(o.Out)
}
