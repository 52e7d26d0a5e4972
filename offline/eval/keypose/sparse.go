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

// Sparse is the result of motion from evenly spaced poses alone: by the network of Lüdi 2016 as
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

// between returns the motion that fill makes from one pose of a recording in every given number of
// frames, as a clip and as rows of the layout, and the recording's own rows.
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

// measureSparse measures networks of sparse poses on the recordings of a set, and keeps their motion in
// fig, which may be nil.
func measureSparse(ctx context.Context, files []string, set string, held *dataset.MotionSet, fill inbetween.Fill, l *keypose.Layout, threads int, fig *keyposeFigures) (out []Sparse, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	m, err := models.OpenAs("human", manifold.NewModel)
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
			var made, part []float32
			var clip *skel.Clip
			for _, way := range []struct {
				method string
				make   func() error
			}{
				{methodLines, func() (err error) { made, part, err = metrics.BetweenSparse(s.Layout, c.Rows, every); return err }},
				{methodSparse, func() (err error) { made, part, err = metrics.FromSparse(s, maker, c.Rows); return err }},
				{methodCorrected, func() (err error) { // of the network's motion, which came before
					made, err = metrics.CorrectSparse(m, made, part, every, manifold.DefaultIterations, threads)
					return err
				}},
				{methodKeypose, func() (err error) { clip, made, part, err = between(l, s.Layout, c, every, fill); return err }},
			} {
				if err := way.make(); err != nil {
					return nil, fmt.Errorf("%s: %w", c.Name, err)
				}
				v, err := metrics.MeasureSparse(s.Layout, made, part, every)
				if err != nil {
					return nil, err
				}
				of[way.method] = append(of[way.method], v)
				shown.rows(way.method, made)
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
