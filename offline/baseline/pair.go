package baseline

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Pair is a performance in the input style and the same in the output style, registered: frame t of
// Y belongs to frame t of X. Columns are degrees of freedom, such as a root's height in metres or a
// coordinate of a joint's exponential map in radians. The models make no use of their meaning.
type Pair struct {
	X    *mat.Dense // (frames, dofs) input, in its own time
	Y    *mat.Dense // (frames, dofs) output pose of each input frame
	Step []float64  // (frames) output time since the pose before, in frames, above 0; 1: as in the input
}

// Translator is a fitted model. Translate is safe for concurrent use.
type Translator interface {
	// Translate predicts the output's poses y, (frames, dofs), and steps, (frames), all above 0, of
	// an input sequence x, (frames, dofs), of at least one frame.
	Translate(x *mat.Dense) (y *mat.Dense, step []float64, err error)
}

var (
	_ Translator = (*LTI)(nil)
	_ Translator = (*GlobalAR)(nil)
	_ Translator = (*GP)(nil)
)

func checkPairs(pairs []Pair) (dofs int, err error) {
	if len(pairs) == 0 {
		return 0, fmt.Errorf("baseline: no pairs to fit: hand in at least one")
	}
	for i, p := range pairs {
		if p.X == nil || p.Y == nil || p.X.IsEmpty() || p.Y.IsEmpty() {
			return 0, fmt.Errorf("baseline: pair %d: X or Y is empty: leave the pair out", i)
		}
		frames, cols := p.X.Dims()
		if i == 0 {
			dofs = cols
		}
		if cols != dofs {
			return 0, fmt.Errorf("baseline: pair %d: X has %d degrees of freedom, pair 0 has %d: all pairs need one skeleton", i, cols, dofs)
		}
		if r, c := p.Y.Dims(); r != frames || c != cols {
			return 0, fmt.Errorf("baseline: pair %d: X is %d×%d, Y is %d×%d: register the two first, "+
				"so that frames and degrees of freedom agree", i, frames, cols, r, c)
		}
		if len(p.Step) != frames {
			return 0, fmt.Errorf("baseline: pair %d: %d steps for %d frames: every frame needs one", i, len(p.Step), frames)
		}
		if frames < 2 {
			return 0, fmt.Errorf("baseline: pair %d: a single frame shows no motion: leave the pair out", i)
		}
		if err := cmp.Or(checkFinite(p.X, fmt.Sprintf("pair %d: X", i)), checkFinite(p.Y, fmt.Sprintf("pair %d: Y", i))); err != nil {
			return 0, err
		}
		for t, s := range p.Step {
			if !(s > 0) || math.IsInf(s, 0) {
				return 0, fmt.Errorf("baseline: pair %d: step %v at frame %d: steps are times that pass, finite and above 0", i, s, t)
			}
		}
	}
	return dofs, nil
}

func countFrames(pairs []Pair) (n int) {
	for _, p := range pairs {
		n += len(p.Step)
	}
	return n
}

// failed reports whether err is other than a poor condition, which leaves a solution.
func failed(err error) bool {
	_, poor := err.(mat.Condition)
	return err != nil && !poor
}

func checkInput(x *mat.Dense, dofs int) error {
	if x == nil || x.IsEmpty() {
		return fmt.Errorf("baseline: the input is empty: it needs at least one frame")
	}
	if _, c := x.Dims(); c != dofs {
		return fmt.Errorf("baseline: the input has %d degrees of freedom, the model was fitted to %d: use the same skeleton", c, dofs)
	}
	return checkFinite(x, "the input")
}

func checkFinite(m *mat.Dense, what string) error {
	r, c := m.Dims()
	for t := range r {
		for j, v := range m.RawRowView(t)[:c] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("baseline: %s is %v at frame %d, degree of freedom %d: repair or cut the recording", what, v, t, j)
			}
		}
	}
	return nil
}
