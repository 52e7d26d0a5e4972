package baseline

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
)

// LocalMethod is how a local model makes an output frame from the nearest windows.
type LocalMethod int

const (
	// NearestNeighbour is the counterpart of the nearest window.
	NearestNeighbour LocalMethod = iota
	// InverseDistance is the mean of the neighbours' counterparts, weighted by 1/distance.
	InverseDistance
	// GaussianDistance has weights exp(−d²/2h²); h is the median of the neighbours' distances.
	GaussianDistance
	// LocalAR is one ridge regression on all neighbours with equal weights: equation 2 of Xia et
	// al. 2015 without classes or bias. The constant is not shrunk. Steps are GaussianDistance's.
	LocalAR
	numLocal
)

var localNames = [numLocal]string{"NN", "KNN 1/d", "KNN Gauss", "local AR"}

func (m LocalMethod) String() string { return localNames[m] }

// LocalMethods returns all methods.
func LocalMethods() []LocalMethod {
	return []LocalMethod{NearestNeighbour, InverseDistance, GaussianDistance, LocalAR}
}

// Local are the local models without a mixture of Xia et al. 2015, section 7.4. They use the
// windows of a database nearest to the input's, of all classes that the label allows together.
//
// The search is the database's own. The rest is computed in float64, without package mar.
type Local struct {
	Database   *mar.Database
	Label      mar.Label // what is known of the input
	Style      int       // of the output, an index of the database's Styles
	Neighbours int       // K; 0: 40
	Lambda     float64   // λ ≥ 0 of the ridge; 0: 0.1
	Methods    []LocalMethod
}

// Validate returns an error that names the wrong field.
func (l *Local) Validate() error {
	switch {
	case l.Database == nil:
		return fmt.Errorf("baseline: Local without a Database")
	case l.Style < 0 || l.Style >= len(l.Database.Styles):
		return fmt.Errorf("baseline: Local: Style is %d, the database has %d", l.Style, len(l.Database.Styles))
	case l.Neighbours < 0:
		return fmt.Errorf("baseline: Local: Neighbours is %d, want 0 (40) or more", l.Neighbours)
	case !(l.Lambda >= 0):
		return fmt.Errorf("baseline: Local: Lambda is %g, want 0 (0.1) or more", l.Lambda)
	case len(l.Methods) == 0:
		return fmt.Errorf("baseline: Local without Methods")
	}
	for _, m := range l.Methods {
		if m < 0 || m >= numLocal {
			return fmt.Errorf("baseline: Local: there is no method %d", int(m))
		}
	}
	return nil
}

// Translated is the output of a method.
type Translated struct {
	Y    *mat.Dense // (frames, dofs)
	Step []float64  // (frames) as in Pair
}

// Translate returns the output of each of l.Methods for a clip, frame by frame, as in a stream. A
// frame without a neighbour that has a counterpart stays as it is.
func (l *Local) Translate(c *skel.Clip) ([]Translated, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	rows, err := l.Database.Rows(c)
	if err != nil {
		return nil, err
	}
	k, lambda := cmp.Or(l.Neighbours, 40), cmp.Or(l.Lambda, 0.1)
	// A stylist without styles only searches.
	s, err := l.Database.NewStyleTranslator(mar.StyleTranslatorOptions{Options: mar.Options{Neighbours: k}, Characters: 1, Workers: 1})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	cols := len(rows) / c.Frames
	x := make([][]float64, c.Frames)
	out := make([]Translated, len(l.Methods))
	for i := range out {
		out[i] = Translated{mat.NewDense(c.Frames, cols, nil), make([]float64, c.Frames)}
	}
	near := newNeighbourhood(l.Database, k, cols)
	for f := range x {
		x[f] = make([]float64, cols)
		for d := range x[f] {
			x[f][d] = float64(rows[f*cols+d])
		}
		pos, rot := c.Frame(f)
		s.Step(0, pos, rot)
		near.find(l, s, k)
		before := max(f-1, 0)
		for i, m := range l.Methods {
			y, yp := out[i].Y.RawRowView(f), x[0]
			if f > 0 {
				yp = out[i].Y.RawRowView(f - 1)
			}
			out[i].Step[f] = near.predict(y, m, x[f], x[before], yp, lambda)
		}
	}
	return out, nil
}

// neighbourhood is the part of the database near a frame.
type neighbourhood struct {
	db *mar.Database
	found,
	kept []mar.Neighbour
	x, xp, y, yp *mat.Dense // (neighbours, dofs)
	step         []float64
	row          []float32
}

func newNeighbourhood(db *mar.Database, k, cols int) *neighbourhood {
	n := &neighbourhood{db: db, step: make([]float64, k), row: make([]float32, cols)}
	for _, m := range []**mat.Dense{&n.x, &n.xp, &n.y, &n.yp} {
		*m = mat.NewDense(k, cols, nil)
	}
	return n
}

// find takes the k windows nearest to the stylist's, of all classes allowed, and keeps those with a
// counterpart.
func (n *neighbourhood) find(l *Local, s *mar.StyleTranslator, k int) {
	db := n.db
	n.found, n.kept = n.found[:0], n.kept[:0]
	for a := range db.Actions {
		for st := range db.Styles {
			if l.Label.Allows(a, st) {
				n.found = s.Nearest(n.found, 0, a, st)
			}
		}
	}
	slices.SortFunc(n.found, func(a, b mar.Neighbour) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Frame, b.Frame))
	})
	for _, nb := range n.found[:min(k, len(n.found))] {
		i := len(n.kept)
		step, ok := db.Counterpart(n.row, nb.Frame, l.Style)
		if !ok {
			continue
		}
		widen(n.y.RawRowView(i), n.row)
		db.CounterpartBefore(n.row, nb.Frame, l.Style)
		widen(n.yp.RawRowView(i), n.row)
		widen(n.x.RawRowView(i), db.Row(nb.Frame))
		widen(n.xp.RawRowView(i), db.Row(nb.Frame-1))
		n.step[i] = float64(step)
		n.kept = append(n.kept, nb)
	}
}

func widen(dst []float64, src []float32) {
	for i, v := range src {
		dst[i] = float64(v)
	}
}

// predict writes the output for x into y and returns the step. xp and yp are those before.
func (n *neighbourhood) predict(y []float64, m LocalMethod, x, xp, yp []float64, lambda float64) float64 {
	if len(n.kept) == 0 {
		copy(y, x)
		return 1
	}
	weights := n.weights(m)
	step := 0.0
	clear(y)
	for i, w := range weights {
		step += w * n.step[i]
		for d, v := range n.y.RawRowView(i) {
			y[d] += w * v
		}
	}
	if m == LocalAR {
		for d := range y {
			b := n.regress(d, lambda)
			y[d] = b[0]*xp[d] + b[1]*yp[d] + b[2]*x[d] + b[3]
		}
	}
	return step
}

// weights returns the neighbours' weights, which sum to 1.
func (n *neighbourhood) weights(m LocalMethod) []float64 {
	w := make([]float64, len(n.kept))
	median := max(float64(n.kept[len(n.kept)/2].Distance), 1e-6)
	total := 0.0
	for i, nb := range n.kept {
		d := float64(nb.Distance)
		switch m {
		case NearestNeighbour:
			if i == 0 {
				w[i] = 1
			}
		case InverseDistance:
			w[i] = 1 / max(d, 1e-4) // at least a tenth of a millimetre
		default:
			w[i] = math.Exp(-d * d / (2 * median * median))
		}
		total += w[i]
	}
	for i := range w {
		w[i] /= total
	}
	return w
}

// regress returns β of a degree of freedom: for x(t-1), y(t-1), x(t) and 1.
func (n *neighbourhood) regress(d int, lambda float64) [4]float64 {
	var normal mat.SymDense
	var right, beta mat.VecDense
	u := mat.NewDense(len(n.kept), 4, nil)
	y := mat.NewVecDense(len(n.kept), nil)
	for i := range n.kept {
		u.SetRow(i, []float64{n.xp.At(i, d), n.yp.At(i, d), n.x.At(i, d), 1})
		y.SetVec(i, n.y.At(i, d))
	}
	normal.SymOuterK(1, u.T())
	for i := range 3 { // not the constant
		normal.SetSym(i, i, normal.At(i, i)+lambda)
	}
	right.MulVec(u.T(), y)
	var chol mat.Cholesky
	if !chol.Factorize(&normal) || chol.SolveVecTo(&beta, &right) != nil {
		return [4]float64{0, 0, 0, right.AtVec(3) / float64(len(n.kept))}
	}
	return [4]float64{beta.AtVec(0), beta.AtVec(1), beta.AtVec(2), beta.AtVec(3)}
}
