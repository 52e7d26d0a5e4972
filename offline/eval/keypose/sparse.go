package keypose

import (
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

// Sparse is the error of motion that is made from evenly spaced poses: by the network of Lüdi 2016 as
// published, by the same corrected on the motion manifold, by straight lines and by our network.
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

// between makes a recording again from poses at multiples of every, with fill. It returns the motion
// as a clip and as rows of the layout, and the recording's own rows.
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

// sparse measures the networks of sparse poses on the recordings of a set.
func (e *evaluation) sparse(set string, held *dataset.MotionSet) error {
	if len(e.opt.Sparse) == 0 {
		return nil
	}
	m, err := models.OpenAs("human", manifold.NewModel)
	if err != nil {
		return err
	}
	for _, file := range e.opt.Sparse {
		s := sparseRun{evaluation: e, manifold: m, of: map[string][]metrics.Sparse{}}
		if err := s.run(file, held); err != nil {
			return err
		}
		for _, method := range []string{methodLines, methodSparse, methodCorrected, methodKeypose} {
			e.report.Sparse = append(e.report.Sparse,
				Sparse{set, float64(s.every) / keypose.SparseRate, method, len(s.of[method]), metrics.MeanSparse(s.of[method])})
		}
	}
	return nil
}

// sparseRun measures one network of sparse poses.
type sparseRun struct {
	*evaluation
	manifold *manifold.Model
	net      *keypose.SparseModel
	maker    *keypose.SparseInbetweener
	every    int                         // frames
	of       map[string][]metrics.Sparse // by method
}

// run measures the network in a file on the recordings, without their mirror images.
func (s *sparseRun) run(file string, held *dataset.MotionSet) error {
	net, err := netruntime.Open(file)
	if err != nil {
		return err
	}
	if s.net, err = keypose.NewSparseModel(net); err != nil {
		return err
	}
	if s.maker, err = s.net.NewInbetweener(keypose.InbetweenerOptions{Workers: s.opt.Threads}); err != nil {
		return err
	}
	defer s.maker.Close()
	s.every = s.net.Segments.Every
	for i := range held.Clips {
		c := &held.Clips[i]
		if s.ctx.Err() != nil {
			return eval.ErrInterrupted
		}
		if c.Mirror || c.Frames < 2*s.every+1 {
			continue
		}
		if err := s.clip(c); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// clip measures all methods on one recording.
func (s *sparseRun) clip(c *dataset.MotionClip) error {
	l := s.net.Layout
	shown, err := s.figures.recording(l, c, s.every)
	if err != nil {
		return err
	}
	measure := func(method string, made, part []float32) error {
		v, err := metrics.MeasureSparse(l, made, part, s.every)
		s.of[method] = append(s.of[method], v)
		shown.rows(method, made)
		return err
	}
	lines, part, err := metrics.BetweenSparse(l, c.Rows, s.every)
	if err != nil {
		return err
	}
	if err := measure(methodLines, lines, part); err != nil {
		return err
	}
	made, part, err := metrics.FromSparse(s.net, s.maker, c.Rows)
	if err != nil {
		return err
	}
	if err := measure(methodSparse, made, part); err != nil {
		return err
	}
	if made, err = metrics.CorrectSparse(s.manifold, made, part, s.every, manifold.DefaultIterations, s.opt.Threads); err != nil {
		return err
	}
	if err := measure(methodCorrected, made, part); err != nil {
		return err
	}
	clip, made, part, err := between(s.layout, l, c, s.every, s.methods[1].fill)
	if err != nil {
		return err
	}
	if err := measure(methodKeypose, made, part); err != nil {
		return err
	}
	return shown.clip(methodKeypose, clip)
}
