package manifold

import (
	"fmt"
	"math"

	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/models"
	"mannequin/offline/dataset"
)

func mostFrames(clips []dataset.MotionClip, cols int) (most int) {
	for _, c := range clips {
		most = max(most, len(c.Rows)/cols)
	}
	return most
}

// Rounded returns contacts as 0 and 1.
func Rounded(stand []float32) []float32 {
	for i, v := range stand {
		stand[i] = 0
		if v > 0.5 {
			stand[i] = 1
		}
	}
	return stand
}

// Synthesizer makes punches or kicks. Beyond their start and end the given positions are held, so that
// filters see no frames of zeros.
type Synthesizer struct {
	*manifold.ActionSynthesizer
	m       *manifold.Model
	columns []int
}

// held is the number of held frames at each end.
const held = 60

// OpenSynthesizer opens a network of a kind of motion for up to the given number of frames.
func OpenSynthesizer(m *manifold.Model, kind, nameOrPath string, frames, threads int) (*Synthesizer, error) {
	net, err := models.Open(nameOrPath)
	if err != nil {
		return nil, err
	}
	if is := net.Meta().Extra[manifold.KeyKind]; is != kind {
		return nil, fmt.Errorf("model %s makes motion of the kind %q, want %s", nameOrPath, is, kind)
	}
	columns, err := m.Columns(kind)
	if err != nil {
		return nil, err
	}
	a, err := m.NewActionSynthesizer(net, manifold.EditorOptions{Batch: 1, Length: (frames+1)&^1 + 2*held, Workers: threads})
	if err != nil {
		return nil, err
	}
	return &Synthesizer{a, m, columns}, nil
}

// Places returns the given columns of rows of cols values each, (frames, columns).
func Places(rows []float32, cols int, columns []int) []float32 {
	var given []float32
	for f := range len(rows) / cols {
		for _, c := range columns {
			given = append(given, rows[f*cols+c])
		}
	}
	return given
}

// Make returns the motion for given positions, of an even number of frames.
func (p *Synthesizer) Make(given []float32, iterations int) ([]float32, manifold.EditReport, error) {
	n, cols := p.Inputs(), p.m.Layout.Columns()
	frames := len(given) / n
	length := frames + 2*held
	longer, rows := make([]float32, length*n), make([]float32, length*cols)
	for f := range length {
		copy(longer[f*n:][:n], given[min(max(f-held, 0), frames-1)*n:])
	}
	r, err := p.Run(rows, longer, 1, length, iterations)
	return rows[held*cols:][:frames*cols], r, err
}

// Miss returns the mean and the largest distance of the given joints in rows from their given
// positions, cm.
func (p *Synthesizer) Miss(rows, given []float32) (mean, most float64) {
	n, cols := p.Inputs(), p.m.Layout.Columns()
	frames := len(given) / n
	for f := range frames {
		for i := 0; i < n; i += 3 {
			a, b := rows[f*cols+p.columns[i]:], given[f*n+i:]
			d := 100 * float64(m3.V(a[0], a[1], a[2]).Dist(m3.V(b[0], b[1], b[2])))
			mean, most = mean+d/float64(frames*n/3), math.Max(most, d)
		}
	}
	return mean, most
}
