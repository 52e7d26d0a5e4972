package keypose

import (
	"context"
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/manifold"
	"mannequin/animsys/skel"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	"mannequin/offline/eval"
	"mannequin/offline/metrics"
	"mannequin/offline/metrics/inbetween"
)

// Sparse is how evenly spaced poses alone do: the network of Lüdi 2016 as
// published, the same corrected on the motion manifold, and straight lines.
type Sparse struct {
	Set    string  `json:"set"`
	Every  float64 `json:"every_s"`
	Method string  `json:"method"`
	Clips  int     `json:"clips"`
	metrics.Sparse
}

const (
	methodLines     = "straight lines"
	methodSparse    = "as published"
	methodCorrected = "corrected on the manifold"
)

// between is what fill makes of a recording's poses, one in every so many frames, as
// a clip and as rows of the layout, and the recording's own rows.
func between(l *keypose.Layout, layout *feature.Motion, c *dataset.MotionClip, every int, fill inbetween.Fill) (clip *skel.Clip, made, part []float32, err error) {
	frames := (c.Frames-1)/every*every + 1
	t := l.NewTrack(frames, dataset.Rate)
	t.SetClip(c.Poses, 0, 1)
	for f := 0; f < frames; f += every {
		t.Key(f)
	}
	if err := fill(t); err != nil {
		return nil, nil, nil, err
	}
	if made, err = inbetween.Rows(layout, t); err != nil {
		return nil, nil, nil, err
	}
	clip = t.Clip()
	t.SetClip(c.Poses, 0, 1)
	part, err = inbetween.Rows(layout, t)
	return clip, made, part, err
}

// measureSparse measures networks of sparse poses on the recordings of a set, and
// keeps in fig, if that is not nil, what they make.
func measureSparse(ctx context.Context, files []string, set string, held *dataset.MotionSet, fill inbetween.Fill, l *keypose.Layout, threads int, fig *keyposeFigures) (out []Sparse, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	base, err := models.Open("human")
	if err != nil {
		return nil, err
	}
	m, err := manifold.NewModel(base)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		net, err := netruntime.Open(file)
		if err != nil {
			return nil, err
		}
		s, err := keypose.NewSparseModel(net)
		if err != nil {
			return nil, err
		}
		maker, err := s.NewInbetweener(keypose.InbetweenerOptions{Workers: threads})
		if err != nil {
			return nil, err
		}
		defer maker.Close()
		of := map[string][]metrics.Sparse{}
		every := s.Segments.Every
		for i := range held.Clips {
			c := &held.Clips[i]
			if ctx.Err() != nil {
				return nil, eval.ErrInterrupted
			}
			if c.Mirror || c.Frames < 2*every+1 {
				continue
			}
			shown, err := fig.recording(s.Layout, c, every)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			measure := func(method string, made, part []float32) error {
				v, err := metrics.MeasureSparse(s.Layout, made, part, every)
				of[method] = append(of[method], v)
				shown.rows(method, made)
				return err
			}
			lines, part, err := metrics.BetweenSparse(s.Layout, c.Rows, every)
			if err != nil {
				return nil, err
			}
			if err := measure(methodLines, lines, part); err != nil {
				return nil, err
			}
			made, part, err := metrics.FromSparse(s, maker, c.Rows)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			if err := measure(methodSparse, made, part); err != nil {
				return nil, err
			}
			if made, err = metrics.CorrectSparse(m, made, part, every, manifold.DefaultIterations, threads); err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			if err := measure(methodCorrected, made, part); err != nil {
				return nil, err
			}
			clip, made, part, err := between(l, s.Layout, c, every, fill)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			if err := measure(methodKeypose, made, part); err != nil {
				return nil, err
			}
			if err := shown.clip(methodKeypose, clip); err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
		}
		for _, method := range []string{methodLines, methodSparse, methodCorrected, methodKeypose} {
			out = append(out, Sparse{set, float64(every) / keypose.SparseRate, method, len(of[method]), metrics.MeanSparse(of[method])})
		}
	}
	return out, nil
}

func sparseRows(of []Sparse) []string {
	rows := []string{"recordings\tposes every\tmethod\tclips\tjoints, from the body cm\tin the world cm\tat poses, from the body cm\tin the world cm\tdrift in 2 s cm\t°\tin 10 s cm\t°"}
	for _, v := range of {
		rows = append(rows, eval.Cells(v.Set, fmt.Sprintf("%g s", v.Every), v.Method, fmt.Sprint(v.Clips), fmt.Sprintf("%.2f", v.Body), fmt.Sprintf("%.1f", v.World), fmt.Sprintf("%.2f", v.Key), fmt.Sprintf("%.1f", v.At),
			fmt.Sprintf("%.1f", v.Drift2.Distance), fmt.Sprintf("%.1f", v.Drift2.Turn), fmt.Sprintf("%.1f", v.Drift10.Distance), fmt.Sprintf("%.1f", v.Drift10.Turn)))
	}
	return rows
}
