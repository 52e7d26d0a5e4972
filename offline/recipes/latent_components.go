package recipes

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/latent"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
)

// components returns the components of the training clips.
func (m *Latent) components(net *netruntime.Net) (*latent.Components, error) {
	model, err := latent.NewModel(net)
	if err != nil {
		return nil, err
	}
	traits, err := latent.Traits(model.Layout)
	if err != nil {
		return nil, err
	}
	z, rows, err := EncodeClips(model, m.Train, m.Threads)
	if err != nil {
		return nil, err
	}
	var names []string
	seen := mat.NewDense(len(rows), len(traits), nil)
	frames := mat.NewDense(len(rows), len(rows[0]), nil)
	cols := m.Train.Layout.Columns()
	for t, trait := range traits {
		names = append(names, trait.Name)
		for i, clip := range rows {
			seen.Set(i, t, trait.Measure(clip))
		}
	}
	for i, clip := range rows {
		for k, v := range clip {
			frames.Set(i, k, float64(v/m.Train.Std[k%cols]))
		}
	}
	return latentComponents(names, z, frames, seen)
}

// EncodeClips returns the means of the latent values of a set's windows, (clips, values), and their
// raw frames, (latent.Frames, columns) each.
func EncodeClips(model *latent.Model, set *dataset.MotionSet, workers int) (z *mat.Dense, rows [][]float32, err error) {
	const batch = 64
	cols := set.Layout.Columns()
	size := latent.Frames * cols
	coder, err := model.NewCoder(latent.CoderOptions{Batch: batch, Workers: workers})
	if err != nil {
		return nil, nil, err
	}
	defer coder.Close()
	z = mat.NewDense(len(set.Windows), model.Values, nil)
	mean, clips := make([]float32, batch*model.Values), make([]float32, batch*size)
	for at := 0; at < len(set.Windows); at += batch {
		n := min(batch, len(set.Windows)-at)
		for i, w := range set.Windows[at : at+n] {
			clip := set.Clips[w.Clip].Rows[int(w.From)*cols:][:size]
			copy(clips[i*size:], clip)
			rows = append(rows, clip)
		}
		if err := coder.Encode(mean[:n*model.Values], nil, clips[:n*size], n); err != nil {
			return nil, nil, err
		}
		for i := range n {
			for k := range model.Values {
				z.Set(at+i, k, float64(mean[i*model.Values+k]))
			}
		}
	}
	return z, rows, nil
}

// activeShare is the smallest deviation, as a share of the largest one, of a principal component of
// the latent values that depends on the clip. The encoder leaves the others at the prior.
const activeShare = 0.1

// latentComponents returns directions of latent values that people can use. z (clips, values) are
// the latent values of recorded clips, frames (clips, frame values) the clips in units in which
// errors are comparable, traits (clips, traits) their traits.
//
// The latent values are whitened: rotated and scaled to deviation 1 without correlation. There the
// direction of a trait is the direction of its steepest change, at a right angle to the traits
// before. The other directions are the principal components of the frames as a linear function of
// the remaining latent values. Plain principal components of the latent values (Lüdi 2016, sec.
// 4.2.3) have no such order, because the prior asks for deviation 1 of each.
func latentComponents(names []string, z, frames, traits *mat.Dense) (*latent.Components, error) {
	clips, values := z.Dims()
	mean, deviations, axes := Principal(z)
	active := 0
	for active < values && deviations[active] > activeShare*deviations[0] {
		active++
	}
	// u are the active values, whitened; to takes them back.
	to := mat.NewDense(values, active, nil)
	white := mat.NewDense(values, active, nil)
	for k := range active {
		for i := range values {
			to.Set(i, k, axes.At(i, k)*deviations[k])
			white.Set(i, k, axes.At(i, k)/deviations[k])
		}
	}
	var u mat.Dense
	u.Mul(centred(z, mean), white)

	var directions []*mat.VecDense // of u
	var named []string
	for t, name := range names {
		v := mat.VecDenseCopyOf(traits.ColView(t))
		avg := mat.Sum(v) / float64(clips)
		for i := range clips {
			v.SetVec(i, v.AtVec(i)-avg)
		}
		w := mat.NewVecDense(active, nil)
		w.MulVec(u.T(), v)
		for _, d := range directions {
			w.AddScaledVec(w, -mat.Dot(w, d), d)
		}
		// A trait that is the same for all clips has no direction.
		if norm := mat.Norm(w, 2); norm > 1e-6*mat.Norm(v, 2)*math.Sqrt(float64(clips)) && len(directions) < active {
			w.ScaleVec(1/norm, w)
			directions, named = append(directions, w), append(named, name)
		}
	}
	// The remaining directions, ordered by their effect on frames.
	var effect mat.Dense // (active, frame values)
	_, off := columnMeans(frames)
	effect.Mul(u.T(), off)
	rest := mat.NewDense(active, active, nil)
	for k := range active {
		rest.Set(k, k, 1)
	}
	for _, d := range directions {
		rest.RankOne(rest, -1, d, d)
	}
	var left, square mat.Dense
	left.Mul(rest, &effect)
	square.Mul(&left, left.T())
	_, order := falling(&square)
	for k := 0; len(directions) < active; k++ {
		directions = append(directions, mat.VecDenseCopyOf(order.ColView(k)))
	}
	var steps [][]float32
	for _, d := range directions {
		var s mat.VecDense
		s.MulVec(to, d)
		steps = append(steps, floats(s.RawVector().Data))
	}
	for k := active; k < values; k++ {
		s := mat.VecDenseCopyOf(axes.ColView(k))
		s.ScaleVec(max(deviations[k], 1e-3*deviations[0]), s)
		steps = append(steps, floats(s.RawVector().Data))
	}
	return latent.NewComponents(named, floats(mean), steps)
}

// Principal returns the principal components of the rows of x (rows, columns): the mean, and the
// falling deviations along the columns of axes. Their number is the smaller of rows and columns.
func Principal(x *mat.Dense) (mean, deviations []float64, axes *mat.Dense) {
	n, cols := x.Dims()
	mean, c := columnMeans(x)
	var square mat.Dense
	if cols <= n {
		square.Mul(c.T(), c)
	} else { // the smaller of the two products has the same deviations
		square.Mul(c, c.T())
	}
	square.Scale(1/float64(n), &square)
	values, axes := falling(&square)
	for _, v := range values {
		deviations = append(deviations, math.Sqrt(max(v, 0)))
	}
	if cols <= n {
		return mean, deviations, axes
	}
	long := mat.NewDense(cols, n, nil)
	long.Mul(c.T(), axes)
	for k, d := range deviations {
		for i := range cols {
			long.Set(i, k, long.At(i, k)/max(d*math.Sqrt(float64(n)), 1e-12))
		}
	}
	return mean, deviations, long
}

// falling returns the falling eigenvalues of a symmetric matrix and the eigenvectors as columns,
// each with its largest value positive.
func falling(a *mat.Dense) ([]float64, *mat.Dense) {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, a.At(i, j))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		panic("recipes: no eigenvectors of a symmetric matrix: it is not finite")
	}
	values, vectors := eigen.Values(nil), mat.NewDense(n, n, nil)
	slices.Reverse(values)
	var v mat.Dense
	eigen.VectorsTo(&v)
	for k := range n {
		most := 0.0
		for i := range n {
			if w := v.At(i, n-1-k); math.Abs(w) > math.Abs(most) {
				most = w
			}
		}
		for i := range n {
			vectors.Set(i, k, math.Copysign(1, most)*v.At(i, n-1-k))
		}
	}
	return values, vectors
}

// columnMeans returns the mean of every column, and x minus the means.
func columnMeans(x *mat.Dense) ([]float64, *mat.Dense) {
	n, cols := x.Dims()
	mean := make([]float64, cols)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			mean[j] += v / float64(n)
		}
	}
	return mean, centred(x, mean)
}

func centred(x *mat.Dense, mean []float64) *mat.Dense {
	c := mat.DenseCopyOf(x)
	n, _ := c.Dims()
	for i := range n {
		for j, m := range mean {
			c.RawRowView(i)[j] -= m
		}
	}
	return c
}

func floats(v []float64) []float32 {
	out := make([]float32, len(v))
	for i := range v {
		out[i] = float32(v[i])
	}
	return out
}
