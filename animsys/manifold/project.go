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
	frames, err := m.frames("a motion", rows, 2)
	if err != nil {
		return nil, err
	}
	cols := m.Layout.Columns()
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
	frames := len(rows) / m.Layout.Columns()
	return clean, m.editOnce(&Edit{Batch: 1, Length: frames, Rows: clean, Body: m.bodyMotion(rows), Iterations: iterations}, workers)
}

// editOnce runs a single edit of one motion.
func (m *Model) editOnce(job *Edit, workers int) error {
	e, err := m.NewEditor(EditorOptions{Batch: 1, Length: job.Length, Workers: workers})
	if err != nil {
		return err
	}
	defer e.Close()
	_, err = e.Run(job)
	return err
}

// bodyMotion returns the body's motion in rows, (frames, feature.MotionLen).
func (m *Model) bodyMotion(rows []float32) []float32 {
	cols := m.Layout.Columns()
	body := make([]float32, len(rows)/cols*feature.MotionLen)
	m.copyBody(body, rows)
	return body
}

// copyBody writes the body's motion in rows, (frames, columns), into body, (frames,
// feature.MotionLen).
func (m *Model) copyBody(body, rows []float32) {
	cols, at := m.Layout.Columns(), m.Layout.Body()
	for f := range len(rows) / cols {
		copy(body[f*feature.MotionLen:][:feature.MotionLen], rows[f*cols+at:])
	}
}

// frames returns the number of frames of rows, which must be even and at least least.
func (m *Model) frames(what string, rows []float32, least int) (int, error) {
	if m == nil || m.Net == nil {
		return 0, errZeroModel
	}
	cols := m.Layout.Columns()
	frames := len(rows) / cols
	if frames < least || frames%2 != 0 || len(rows) != frames*cols {
		return 0, fmt.Errorf("manifold: %s of %d values: want frames of %d, an even number of at least %d", what, len(rows), cols, least)
	}
	return frames, nil
}
