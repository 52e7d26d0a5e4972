package metrics

import (
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// Restorer removes noise from motion, or fills gaps. Rows, (frames, columns) raw, are not changed.
type Restorer struct {
	Name    string
	Denoise func(rows []float32) ([]float32, error)                      // may be nil
	Fill    func(rows []float32, gaps []manifold.Gap) ([]float32, error) // may be nil
}

// Untouched keeps noisy motion as it is, and bridges gaps by straight lines.
func Untouched(l *feature.Motion) Restorer {
	same := func(rows []float32) ([]float32, error) { return rows, nil }
	return Restorer{"untouched, or lines", same, func(rows []float32, gaps []manifold.Gap) ([]float32, error) {
		x, cols := slices.Clone(rows), l.Columns()
		frames := len(rows) / cols
		missing := missingOf(l, gaps, frames)
		for i, gone := range missing {
			if !gone {
				continue
			}
			from, to := i, i // the known values before and after
			for from >= 0 && missing[from] {
				from -= cols
			}
			for to < len(rows) && missing[to] {
				to += cols
			}
			switch {
			case from < 0 && to >= len(rows):
				x[i] = 0
			case from < 0:
				x[i] = rows[to]
			case to >= len(rows):
				x[i] = rows[from]
			default:
				x[i] = rows[from] + (rows[to]-rows[from])*float32(i-from)/float32(to-from)
			}
		}
		return x, nil
	}}
}

// Autoencoder is the convolutional autoencoder of Holden et al. 2016. With isEdited its output is
// edited as mannequin edit does: see edited.
func Autoencoder(m *manifold.Model, isEdited bool, workers int) Restorer {
	r := Restorer{Name: "autoencoder", Denoise: func(rows []float32) ([]float32, error) { return m.Project(rows, workers) },
		Fill: func(rows []float32, gaps []manifold.Gap) ([]float32, error) {
			return m.Fill(rows, gaps, manifold.DefaultIterations, workers)
		}}
	if isEdited {
		r = edited(r, m, 0, workers)
	}
	return r
}

// STRNN is the spatio-temporal recurrent network, which d runs at dataset.Rate. If m is not nil,
// its output is edited on that manifold as mannequin edit does.
func STRNN(d *strnn.Denoiser, l *feature.Motion, m *manifold.Model, workers int) Restorer {
	r := Restorer{Name: "STRNN", Denoise: func(rows []float32) ([]float32, error) {
		y := make([]float32, len(rows))
		return y, d.Denoise(y, rows)
	}, Fill: func(rows []float32, gaps []manifold.Gap) ([]float32, error) {
		y := make([]float32, len(rows))
		return y, d.Fill(y, rows, missingOf(l, gaps, len(rows)/l.Columns()))
	}}
	if m != nil {
		r = edited(r, m, manifold.DefaultHold, workers)
	}
	return r
}

// edited restores by r and then edits the result. The body moves as before, contacts are found
// again, standing feet are locked, and bones keep their length. hold is for Model.Hold.
func edited(r Restorer, m *manifold.Model, hold float32, workers int) Restorer {
	denoise := r.Denoise
	return Restorer{Name: r.Name + ", edited", Denoise: func(rows []float32) ([]float32, error) {
		clean, err := denoise(rows)
		if err != nil {
			return nil, err
		}
		l := m.Layout
		cols, n := l.Columns(), len(l.Contacts)
		frames := len(rows) / cols
		for f := range frames {
			at := f*cols + l.Body()
			copy(clean[at:][:feature.MotionLen], rows[at:])
		}
		world, again := make([]m3.Vec3, frames*len(l.Joints)), make([]float32, len(rows))
		l.ToWorld(world, clean, dataset.Rate, feature.Place{})
		if _, err := l.FromWorld(again, world, dataset.Rate); err != nil {
			return nil, err
		}
		job := &manifold.Edit{Batch: 1, Length: frames, Rows: clean, Iterations: manifold.DefaultIterations}
		for f := range frames {
			at := f*cols + l.Contact(0)
			copy(clean[at:][:n], again[at:])
			job.Stand = append(job.Stand, again[at:][:n]...)
		}
		if err := m.Hold(job, 0, hold); err != nil {
			return nil, err
		}
		e, err := m.NewEditor(manifold.EditorOptions{Batch: 1, Length: frames, Workers: workers})
		if err != nil {
			return nil, err
		}
		defer e.Close()
		_, err = e.Run(job)
		return clean, err
	}}
}

// missingOf returns the missing values, (frames, columns). Without any joint, all columns are.
func missingOf(l *feature.Motion, gaps []manifold.Gap, frames int) []bool {
	cols := l.Columns()
	missing := make([]bool, frames*cols)
	for _, g := range gaps {
		for f := g.From; f < g.To; f++ {
			row := missing[f*cols:][:cols]
			for c := range row {
				row[c] = row[c] || len(g.Joints) == 0
			}
			for _, name := range g.Joints {
				for k := range 3 {
					row[l.Pos(l.Joint(name))+k] = true
				}
				if c := l.ContactOf(name); c >= 0 {
					row[l.Contact(c)] = true
				}
			}
		}
	}
	return missing
}
