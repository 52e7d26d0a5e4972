package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"mannequin/engine/m3"
)

// Told says how well a classifier tells a second of made motion from a second of recorded motion.
// Accuracies are balanced: the mean over both of the share that is told right, 0.5 by chance.
type Told struct {
	Kind     string    `json:"kind"`    // of the frames; "all" against the clip that the motion was made from
	Against  string    `json:"against"` // recordings, or the clip
	Made     int       `json:"made"`    // windows
	Recorded int       `json:"recorded"`
	Accuracy float64   `json:"accuracy"`
	Groups   []Group   `json:"groups"`
	By       []GivenBy `json:"given_away_by"` // the features that differ most
}

// Group is the accuracy of a classifier that has some of the features only.
type Group struct {
	Name     string  `json:"name"`
	Accuracy float64 `json:"accuracy"`
}

// GivenBy is a feature that differs: its mean difference in standard deviations of the recordings.
type GivenBy struct {
	Feature string  `json:"feature"`
	Differs float64 `json:"differs_sd"`
}

var (
	groups = []string{"place", "swing", "speed", "jerk"}
	axes   = []string{"aside", "up", "ahead"}
)

// ToldHead is the head of a table of Told.
var ToldHead = "kind\tfrom\twindows\tall\t" + strings.Join(groups, "\t") + "\tgiven away by"

// Cells returns the cells of a table.
func (t *Told) Cells() []string {
	cells := []string{t.Kind, t.Against, fmt.Sprintf("%d, %d", t.Made, t.Recorded), fmt.Sprintf("%.2f", t.Accuracy)}
	for _, g := range t.Groups {
		cells = append(cells, fmt.Sprintf("%.2f", g.Accuracy))
	}
	var by []string
	for _, f := range t.By {
		by = append(by, fmt.Sprintf("%s %+.1f SD", f.Feature, f.Differs))
	}
	return append(cells, strings.Join(by, ", "))
}

const (
	numFeatures = 4 * 3 * 19 // groups, axes and joints
	hop         = Rate / 2   // frames from one window of the classifier to the next
	block       = 10 * Rate  // frames that are in one fold
	folds       = 5
	mostWindows = 600 // of each side
	leastTold   = 20  // windows of each side
	ridge       = 1   // weight of the squared coefficients of standardised features
)

// second is a second of motion.
type second struct {
	file, block int
	kinds       kinds     // of all its frames
	x           []float64 // features: by group, joint and axis
}

// featureName describes a feature.
func featureName(i int) string {
	group, joint, axis := i/(3*len(joints)), i/3%len(joints), i%3
	return fmt.Sprintf("%s %s of %s", groups[group], axes[axis], human.Names[joints[joint]])
}

// seconds returns the windows of the classifier. Places are from the body, above the standing toes.
// Swing, speed and jerk are logarithms of root mean squares.
func (b *body) seconds(file int) (out []second) {
	floor := float32(b.floor[0]+b.floor[1]) / 2
	for at := 0; at+Rate+3 <= b.n; at += hop {
		w := second{file: file, block: at / block, kinds: ^kinds(0), x: make([]float64, numFeatures)}
		for f := at; f < at+Rate; f++ {
			w.kinds &= b.kinds[f]
		}
		for i, j := range joints {
			var values [4][3][]float64
			for f := at; f < at+Rate; f++ {
				p := b.local(j, f).Sub(m3.V(0, floor, 0))
				v := b.local(j, f+1).Sub(b.local(j, f)).Scale(Rate)
				mid := min(max(f, 3), b.n-5)
				jerk := m3.YawQuat(-b.yaw[mid]).Rotate(b.jerk(j, mid))
				for g, v := range [4]m3.Vec3{p, p, v, jerk} {
					for a, v := range [3]float32{v.X, v.Y, v.Z} {
						values[g][a] = append(values[g][a], float64(v))
					}
				}
			}
			for g := range values {
				for a, v := range values[g] {
					mean, deviation := stat.MeanStdDev(v, nil)
					x := mean
					switch groups[g] {
					case "swing":
						x = math.Log(deviation + 1e-4)
					case "speed":
						x = math.Log(math.Hypot(mean, deviation) + 1e-3)
					case "jerk":
						x = math.Log(math.Hypot(mean, deviation) + 1)
					}
					w.x[(g*len(joints)+i)*3+a] = x
				}
			}
		}
		out = append(out, w)
	}
	return out
}

// tell tells made windows from recorded ones. ok is false if there are too few.
func tell(kind, against string, made, recorded []second) (t Told, ok bool) {
	made, recorded = thin(made), thin(recorded)
	t = Told{Kind: kind, Against: against, Made: len(made), Recorded: len(recorded)}
	if min(len(made), len(recorded)) < leastTold {
		return t, false
	}
	all := slices.Concat(made, recorded)
	of := assign(made)
	of = append(of, assign(recorded)...)
	columns := make([]int, numFeatures)
	for i := range columns {
		columns[i] = i
	}
	t.Accuracy = accuracy(all, len(made), of, columns)
	for g, name := range groups {
		n := numFeatures / len(groups)
		t.Groups = append(t.Groups, Group{name, accuracy(all, len(made), of, columns[g*n:(g+1)*n])})
	}
	t.By = differences(made, recorded)
	return t, true
}

// thin returns at most mostWindows windows, evenly spread.
func thin(w []second) []second {
	if len(w) <= mostWindows {
		return w
	}
	out := make([]second, mostWindows)
	for i := range out {
		out[i] = w[i*len(w)/mostWindows]
	}
	return out
}

// assign returns the folds of windows: whole files if there are enough, else blocks of 10 s.
func assign(w []second) []int {
	whole := map[[2]int]int{}
	for _, byFile := range []bool{true, false} {
		clear(whole)
		for _, s := range w {
			key := [2]int{s.file, s.block}
			if byFile {
				key[1] = 0
			}
			if _, ok := whole[key]; !ok {
				whole[key] = len(whole)
			}
		}
		if len(whole) >= folds || !byFile {
			out := make([]int, len(w))
			for i, s := range w {
				key := [2]int{s.file, s.block}
				if byFile {
					key[1] = 0
				}
				out[i] = whole[key] % folds
			}
			return out
		}
	}
	return nil
}

// differences returns the three features whose means differ most.
func differences(made, recorded []second) []GivenBy {
	out := make([]GivenBy, numFeatures)
	column := func(w []second, i int) []float64 {
		v := make([]float64, len(w))
		for k := range w {
			v[k] = w[k].x[i]
		}
		return v
	}
	for i := range out {
		mean, deviation := stat.MeanStdDev(column(recorded, i), nil)
		out[i] = GivenBy{featureName(i), 0}
		if deviation > 1e-6 {
			out[i].Differs = (stat.Mean(column(made, i), nil) - mean) / deviation
		}
	}
	slices.SortStableFunc(out, func(a, b GivenBy) int { return cmp.Compare(math.Abs(b.Differs), math.Abs(a.Differs)) })
	return out[:3]
}

// accuracy returns the balanced accuracy on windows that the classifier has not seen: each fold is
// told by a logistic regression on the others. The first made windows are made.
func accuracy(w []second, made int, of, columns []int) float64 {
	var right, n [2]float64
	for fold := range folds {
		var train []int
		for i := range w {
			if of[i] != fold {
				train = append(train, i)
			}
		}
		model, ok := fit(w, made, train, columns)
		for i := range w {
			if of[i] != fold {
				continue
			}
			side := 0
			if i >= made {
				side = 1
			}
			n[side]++
			if ok && (model.score(w[i].x, columns) > 0) == (side == 0) {
				right[side]++
			} else if !ok {
				right[side] += 0.5
			}
		}
	}
	return (right[0]/n[0] + right[1]/n[1]) / 2
}

// logistic is a fitted regression on standardised features.
type logistic struct{ mean, deviation, weights []float64 } // the last weight is the constant

func (l *logistic) score(x []float64, columns []int) float64 {
	s := l.weights[len(columns)]
	for k, c := range columns {
		s += l.weights[k] * (x[c] - l.mean[k]) / l.deviation[k]
	}
	return s
}

// fit finds the coefficients by Newton's method. Both sides weigh the same. ok is false if train has one
// side only.
func fit(w []second, made int, train, columns []int) (l *logistic, ok bool) {
	n, d := len(train), len(columns)
	l = &logistic{make([]float64, d), make([]float64, d), make([]float64, d+1)}
	x, y := mat.NewDense(n, d+1, nil), make([]float64, n)
	sides := [2]float64{}
	for r, i := range train {
		if i < made {
			y[r] = 1
		}
		sides[int(y[r])]++
		x.Set(r, d, 1)
	}
	if min(sides[0], sides[1]) == 0 {
		return nil, false
	}
	column := make([]float64, n)
	for k, c := range columns {
		for r, i := range train {
			column[r] = w[i].x[c]
		}
		l.mean[k], l.deviation[k] = stat.MeanStdDev(column, nil)
		l.deviation[k] = max(l.deviation[k], 1e-6)
		for r := range column {
			x.Set(r, k, (column[r]-l.mean[k])/l.deviation[k])
		}
	}
	weight := func(r int) float64 { return float64(n) / 2 / sides[int(y[r])] }
	beta, z := mat.NewVecDense(d+1, l.weights), mat.NewVecDense(n, nil)
	scaled, gradient := mat.NewDense(n, d+1, nil), mat.NewVecDense(d+1, nil)
	for range 30 {
		z.MulVec(x, beta)
		pull := mat.NewVecDense(n, nil)
		for r := range n {
			p := 1 / (1 + math.Exp(-z.AtVec(r)))
			pull.SetVec(r, weight(r)*(p-y[r]))
			root := math.Sqrt(weight(r) * p * (1 - p))
			for k, v := range x.RawRowView(r) {
				scaled.Set(r, k, root*v)
			}
		}
		gradient.MulVec(x.T(), pull)
		gradient.AddScaledVec(gradient, ridge, beta)
		var hessian mat.SymDense
		hessian.SymOuterK(1, scaled.T())
		for k := range d + 1 {
			hessian.SetSym(k, k, hessian.At(k, k)+ridge)
		}
		var chol mat.Cholesky
		var step mat.VecDense
		if !chol.Factorize(&hessian) || chol.SolveVecTo(&step, gradient) != nil {
			break
		}
		beta.SubVec(beta, &step)
		if mat.Norm(&step, math.Inf(1)) < 1e-4 {
			break
		}
	}
	return l, true
}

// ofKind returns the windows of sets whose frames all have the kind. Their files are told apart.
func ofKind(k Kind, sets ...*Set) (out []second) {
	files := 0
	for _, s := range sets {
		for _, w := range s.seconds {
			if w.kinds.has(k) {
				w.file += files
				out = append(out, w)
			}
		}
		files += len(s.Files)
	}
	return out
}
