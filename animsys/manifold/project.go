package manifold

import (
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// margin is the number of frames by which a motion's ends are held for encoding. Otherwise filters
// would see zeros beyond the ends.
const margin = 24

// Project returns the nearest motion on the manifold to rows, (frames, columns) raw: the output of
// the autoencoder. The number of frames must be even.
func (m *Model) Project(rows []float32, workers int) ([]float32, error) {
	cols := m.Layout.Columns()
	frames := len(rows) / cols
	if frames == 0 || frames%2 != 0 || len(rows) != frames*cols {
		return nil, fmt.Errorf("manifold: %d values are no even number of frames of %d", len(rows), cols)
	}
	length := frames + 2*margin
	s, err := m.Net.NewSession(netruntime.SessionOptions{Batch: 1, Length: length, Workers: workers})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	x, y := make([]float32, length*cols), make([]float32, length*cols)
	padEnds(x, rows, cols)
	if err := s.RunSequences([][]float32{y}, [][]float32{x}, 1, length); err != nil {
		return nil, err
	}
	return y[margin*cols:][:frames*cols], nil
}

// Denoise removes noise from rows, (frames, columns) raw: it returns the nearest motion on the
// manifold with the bone lengths of the skeleton and the body's motion of rows. The number of
// frames must be even. iterations are those of the edit.
func (m *Model) Denoise(rows []float32, iterations, workers int) ([]float32, error) {
	clean, err := m.Project(rows, workers)
	if err != nil {
		return nil, err
	}
	cols := m.Layout.Columns()
	frames := len(rows) / cols
	e, err := m.NewEditor(EditorOptions{Batch: 1, Length: frames, Workers: workers})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	body := make([]float32, frames*feature.MotionLen)
	for f := range frames {
		copy(body[f*feature.MotionLen:][:feature.MotionLen], rows[f*cols+m.Layout.Body():])
	}
	_, err = e.Run(&Edit{Batch: 1, Length: frames, Rows: clean, Body: body, Iterations: iterations})
	return clean, err
}
