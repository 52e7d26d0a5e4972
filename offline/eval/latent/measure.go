package latent

import (
	"errors"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"mannequin/animsys/feature"
	"mannequin/animsys/latent"
	"mannequin/engine/m3"
	"mannequin/netruntime"
	"mannequin/offline/eval"
	"mannequin/offline/metrics"
	"mannequin/offline/recipes"
)

// runSpeed is the speed from which a recording counts as a run, m/s.
const runSpeed = 2

// sums returns the fields that are sums over clips before mean.
func (e *Clips) sums() []*float64 {
	return []*float64{&e.RMS, &e.Refined, &e.Path, &e.Speed, &e.Slide, &e.Recorded}
}

// add adds the sums of other clips.
func (e *Clips) add(other Clips) {
	e.Clips += other.Clips
	eval.Add(e.sums(), other.sums(), 1)
}

// mean turns the sums into means. The sums of distances are of their squares.
func (e *Clips) mean() {
	eval.Divide(e.sums(), float64(e.Clips))
	for _, square := range []*float64{&e.RMS, &e.Refined, &e.Path} {
		*square = math.Sqrt(*square)
	}
}

// reconstruct measures the reconstruction of held-out clips.
func (r *Report) reconstruct() error {
	m := r.model
	c, made := make([]float32, m.Values), make([]float32, len(r.held.rows[0]))
	by := map[string]int{}
	for i, w := range r.held.set.Windows {
		name, rows := r.held.set.Clips[w.Clip].Name, r.held.rows[i]
		if _, ok := by[name]; !ok {
			by[name] = len(r.Recordings)
			r.Recordings = append(r.Recordings, Clips{Name: name})
		}
		m.Components.FromLatent(c, row32(r.held.z, i))
		if err := r.decode(made, c, 1); err != nil {
			return err
		}
		rms, path := metrics.JointRMS(m.Layout, made, rows), 100*float64(r.ends(made).Dist(r.ends(rows)))
		e := Clips{Clips: 1, RMS: rms * rms, Path: path * path, Speed: m.Layout.MeanSpeed(rows), Slide: r.slide(made), Recorded: r.slide(rows)}
		if err := r.coder.Fit(&latent.Fit{Components: c, Want: rows, Iterations: latent.RefineIterations}); err != nil {
			return err
		}
		if err := r.decode(made, c, 1); err != nil {
			return err
		}
		refined := metrics.JointRMS(m.Layout, made, rows)
		e.Refined = refined * refined
		r.Recordings[by[name]].add(e)
	}
	r.Walks.Name, r.Runs.Name, r.Slow.Name = "all walks", "all runs", "all slower"
	for i := range r.Recordings {
		e := &r.Recordings[i]
		into := &r.Walks
		switch speed := e.Speed / float64(e.Clips); {
		case speed < 0.5:
			into = &r.Slow
		case speed >= runSpeed:
			into = &r.Runs
		}
		into.add(*e)
		e.mean()
	}
	for _, e := range []*Clips{&r.Walks, &r.Runs, &r.Slow} {
		e.mean()
	}
	return nil
}

// decode decodes n clips of components c, (n, values).
func (r *Report) decode(rows, c []float32, n int) error {
	z := make([]float32, len(c))
	for i := range n {
		v := r.model.Values
		r.model.Components.ToLatent(z[i*v:][:v], c[i*v:][:v])
	}
	return r.coder.Decode(rows, z, n)
}

// ends returns the last place of a clip's body, which starts at the origin.
func (r *Report) ends(rows []float32) m3.Vec3 {
	l := r.model.Layout
	rows = rows[:(latent.Frames-1)*l.Columns()]
	return l.ToWorld(make([]m3.Vec3, len(l.Joints)*(latent.Frames-1)), rows, latent.Rate, feature.Place{}).Pos
}

// slide returns the mean motion of standing contacts over the ground, cm per frame.
func (r *Report) slide(rows []float32) float64 {
	l := r.model.Layout
	n := len(l.Joints)
	world := make([]m3.Vec3, latent.Frames*n)
	l.ToWorld(world, rows, latent.Rate, feature.Place{})
	sum, stand := 0.0, 0.0
	for f := range latent.Frames - 1 {
		for i, c := range l.Contacts {
			if j := l.Joint(c.Joint); rows[f*l.Columns()+l.Contact(i)] > 0.5 {
				sum += 100 * float64(world[(f+1)*n+j].Sub(world[f*n+j]).Flat().Len())
				stand++
			}
		}
	}
	return sum / max(1, stand)
}

// divergence measures the divergence of the latent values of held-out clips.
func (r *Report) divergence() error {
	values := r.model.Values
	mean, deviation := make([]float32, values), make([]float32, values)
	tell := make([]float64, values)
	for _, rows := range r.held.rows {
		if err := r.coder.Encode(mean, deviation, rows, 1); err != nil {
			return err
		}
		for k := range tell {
			m, s := float64(mean[k]), float64(deviation[k])
			tell[k] += 0.5 * (m*m + s*s - 1 - 2*math.Log(s)) / float64(len(r.held.rows))
		}
	}
	for _, v := range tell {
		if r.KL += v; v > 0.1 {
			r.Active++
		}
	}
	return nil
}

// effects measures the effect of each component on frames, around the mean.
func (r *Report) effects() error {
	m := r.model
	c, made := make([]float32, 2*m.Values), make([]float32, 2*len(r.held.rows[0]))
	size := len(made) / 2
	for k := range m.Values {
		clear(c)
		c[k], c[m.Values+k] = 1, -1
		if err := r.decode(made, c, 2); err != nil {
			return err
		}
		e := Component{Effect: metrics.JointRMS(m.Layout, made[:size], made[size:]) / 2}
		if k < len(m.Components.Names) {
			e.Name = m.Components.Names[k]
		}
		r.Components = append(r.Components, e)
	}
	return nil
}

// best returns the largest squared correlation of a column of scores with v, and the column's number
// from 1.
func best(scores *mat.Dense, v []float64) (r2 float64, at int) {
	_, cols := scores.Dims()
	for k := range cols {
		c := stat.Correlation(mat.Col(nil, k, scores), v, nil)
		if c*c > r2 {
			r2, at = c*c, k+1
		}
	}
	return r2, at
}

// explain measures how much components explain of the traits of held-out clips.
func (r *Report) explain() error {
	m := r.model
	own := mat.NewDense(r.Clips, m.Values, nil)
	c := make([]float32, m.Values)
	for i := range r.Clips {
		m.Components.FromLatent(c, row32(r.held.z, i))
		for k, v := range c {
			own.Set(i, k, float64(v))
		}
	}
	// Both kinds of principal components are of the training clips, and as many.
	scores := func(train, held *mat.Dense) *mat.Dense {
		_, _, axes := recipes.Principal(train)
		var s mat.Dense
		n, k := axes.Dims()
		s.Mul(held, axes.Slice(0, n, 0, min(k, m.Values)))
		return &s
	}
	plain, frames := scores(r.train.z, r.held.z), scores(r.frames(&r.train), r.frames(&r.held))
	for _, t := range r.traits {
		v := make([]float64, r.Clips)
		for i, rows := range r.held.rows {
			v[i] = t.Measure(rows)
		}
		e := Trait{Name: t.Name, Unit: t.Unit, Deviation: stat.PopStdDev(v, nil)}
		e.R2, e.Component = best(own, v)
		e.Plain, e.PlainAt = best(plain, v)
		e.Frames, e.FramesAt = best(frames, v)
		r.Told = append(r.Told, e)
	}
	return nil
}

// frames returns clips' frames, normalised: (clips, frames·columns).
func (r *Report) frames(e *encoded) *mat.Dense {
	x := mat.NewDense(len(e.rows), len(e.rows[0]), nil)
	cols := r.model.Layout.Columns()
	for i, rows := range e.rows {
		for k, v := range rows {
			x.Set(i, k, float64(v/e.set.Std[k%cols]))
		}
	}
	return x
}

// setTraits measures how well a slider sets its trait: in held-out clips only the component of the
// trait's name is drawn again, from the standard normal distribution.
func (r *Report) setTraits() error {
	const batch = 64
	m := r.model
	size := len(r.held.rows[0])
	c, rows := make([]float32, batch*m.Values), make([]float32, batch*size)
	for k, name := range m.Components.Names {
		at := slices.IndexFunc(r.traits, func(t latent.Trait) bool { return t.Name == name })
		if at < 0 {
			continue
		}
		t := r.traits[at]
		var set, got []float64
		for from := 0; from < r.Clips; from += batch {
			n := min(batch, r.Clips-from)
			for i := range n {
				to := c[i*m.Values:][:m.Values]
				m.Components.FromLatent(to, row32(r.held.z, from+i))
				to[k] = float32(r.rng.NormFloat64())
				set = append(set, float64(to[k]))
			}
			if err := r.decode(rows[:n*size], c[:n*m.Values], n); err != nil {
				return err
			}
			for i := range n {
				got = append(got, t.Measure(rows[i*size:][:size]))
			}
		}
		corr := stat.Correlation(set, got, nil)
		_, slope := stat.LinearRegression(set, got, nil, false)
		r.Made = append(r.Made, Slider{Name: name, Unit: t.Unit, Slope: slope, R2: corr * corr})
	}
	return nil
}

// chains measures the borders of chained clips with requested turns and steps.
func (r *Report) chains(chains int) error {
	const clips = 6
	m := r.model
	fixed, lead := make([]bool, m.Values), slices.Index(m.Components.Names, "lead")
	for k, name := range m.Components.Names {
		fixed[k] = name == "turn" || name == "step"
	}
	at := time.Now()
	for range chains {
		var rows []float32
		for i := range clips {
			c := make([]float32, m.Values)
			for k := range c {
				if fixed[k] {
					c[k] = float32(r.rng.NormFloat64())
				}
			}
			if i == 0 && lead >= 0 {
				c[lead] = 1 // in the middle of a step; the rest follows
			}
			var miss float64
			var err error
			if rows, miss, err = r.coder.Append(rows, c, fixed); err != nil {
				return err
			}
			if i > 0 {
				r.Chain.Mean += 100 * miss
				r.Chain.Most = max(r.Chain.Most, 100*miss)
				r.Chain.Seams++
			}
		}
		r.Chain.Chains++
	}
	r.Chain.Mean /= float64(r.Chain.Seams)
	r.Chain.MS = float64(time.Since(at).Microseconds()) / 1e3 / float64(r.Chain.Seams)
	return nil
}

// rates measures the time that decoding takes: the shortest of several.
func (r *Report) rates(threads int) error {
	for _, k := range []Rate{{Clips: 1, Threads: 1, Bar: 1}, {Clips: 200, Threads: threads, Bar: 60}, {Clips: 200, Threads: threads, BF16: true, Bar: 60}} {
		coder, err := r.model.NewCoder(latent.CoderOptions{Batch: k.Clips, Workers: k.Threads, BF16: k.BF16})
		if err != nil {
			return err
		}
		rows, z := make([]float32, k.Clips*len(r.held.rows[0])), make([]float32, k.Clips*r.model.Values)
		best, err := eval.Fastest(30, func() error { return coder.Decode(rows, z, k.Clips) })
		if err := errors.Join(err, coder.Close()); err != nil {
			return err
		}
		k.MS = float64(best.Nanoseconds()) / 1e6
		r.Rates = append(r.Rates, k)
	}
	return nil
}

// walks measures people who walk by requested speeds and turns.
func (r *Report) walks(next *netruntime.Net, threads int) error {
	for _, ask := range [][2]float64{{0, 0.9}, {0, 1.2}, {0, 1.5}, {0.4, 1.2}, {-0.4, 1.2}, {0.8, 1}, {-0.8, 1}} { // rad/s, m/s
		r.Walking = append(r.Walking, metrics.LatentCrowd{Turn: ask[0], Speed: ask[1]})
	}
	return metrics.MeasureLatentCrowd(r.model, next, r.Walking, threads)
}

// row32 returns row i.
func row32(x *mat.Dense, i int) []float32 {
	row := x.RawRowView(i)
	out := make([]float32, len(row))
	for k, v := range row {
		out[k] = float32(v)
	}
	return out
}
