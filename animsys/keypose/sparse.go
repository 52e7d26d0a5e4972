package keypose

import (
	"encoding/json"
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// SparseRate is the frame rate of a SparseModel, per second.
const SparseRate = 60

// SparseModel is the network that makes motion from evenly spaced poses alone (Lüdi 2016, sec.
// 4.1): it maps poses of feature.Motion, with the body's motion, to all frames between them. It is
// immutable and safe to share.
//
// It comes near its poses but meets none exactly, and its velocities add up to the body's path,
// which drifts. Use Inbetweener if keys must be met.
type SparseModel struct {
	Net      *netruntime.Net
	Layout   *feature.Motion
	Skel     *skel.Skeleton // of its frames, metres
	Segments Segments
}

// Segments says how much a network of sparse poses makes at a time.
type Segments struct {
	Poses int `json:"poses"` // poses that it sees, at least 2
	Every int `json:"every"` // frames from one pose to the next, even
}

// Frames returns the number of frames from the first to the last of a number of poses, both
// included.
func (s Segments) Frames(poses int) int { return (poses-1)*s.Every + 1 }

// Lead returns the number of frames that the network makes before the first pose. Every pose has
// Every frames with its own in the middle: Every/2 frames come before the first pose, Every/2 − 1
// after the last. They are left out, as in the thesis, which keeps 121 frames of 150.
func (s Segments) Lead() int { return s.Every / 2 }

// Limits of a model file.
const (
	maxSegment = 64  // poses
	maxEvery   = 240 // frames
)

func (s Segments) check() error {
	switch {
	case s.Poses < 2 || s.Poses > maxSegment:
		return fmt.Errorf("segments of %d poses, want 2 to %d", s.Poses, maxSegment)
	case s.Every < 2 || s.Every > maxEvery || s.Every%2 != 0:
		return fmt.Errorf("a pose every %d frames, want an even number up to %d", s.Every, maxEvery)
	}
	return nil
}

// sparseSchema describes the rows in a model file.
type sparseSchema struct {
	Layout   *feature.Motion `json:"layout"`
	Segments Segments        `json:"segments"`
	Rate     int             `json:"rate"`
}

// DescribeSparseModel writes the metadata that NewSparseModel reads into meta: the layout of
// frames, their segments and their skeleton.
func DescribeSparseModel(meta *netruntime.Meta, layout *feature.Motion, sk *skel.Skeleton, s Segments) error {
	text, err := json.Marshal(sparseSchema{layout, s, SparseRate})
	if err != nil {
		return fmt.Errorf("keypose: schema: %w", err)
	}
	return describe(meta, text, sk)
}

// NewSparseModel returns a model of a network. A *feature.SchemaError lists every difference
// between its metadata, its shapes and this package.
func NewSparseModel(net *netruntime.Net) (*SparseModel, error) {
	meta := net.Meta()
	e := &feature.SchemaError{Package: "keypose", Model: meta.Name}
	differ := func(format string, args ...any) { e.Diff = append(e.Diff, fmt.Sprintf(format, args...)) }
	schema, sk := sparseSchema{}, new(skel.Skeleton)
	if err := json.Unmarshal([]byte(meta.Schema), &schema); err != nil {
		differ("its schema cannot be read: %v", err)
	} else if schema.Layout == nil {
		differ("its schema %.60q… has no layout of frames: it is no model of sparse poses", meta.Schema)
	} else if err := schema.Layout.Validate(); err != nil {
		differ("%v", err)
	} else if err := schema.Segments.check(); err != nil {
		differ("%v", err)
	}
	if err := json.Unmarshal([]byte(meta.Skeleton), sk); err != nil {
		differ("its skeleton cannot be read: %v", err)
	} else if err := sk.Validate(); err != nil {
		differ("%v", err)
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	s := &SparseModel{net, schema.Layout, sk, schema.Segments}
	if h := schemaHash([]byte(meta.Schema)); h != meta.SchemaHash {
		differ("its schema hash is %q, this program reads its schema as %q", meta.SchemaHash, h)
	}
	if schema.Rate != SparseRate {
		differ("it makes %d frames per second, want %d", schema.Rate, SparseRate)
	}
	for _, name := range s.Layout.Joints {
		if sk.Index(name) < 0 {
			differ("its skeleton has no joint %q", name)
		}
	}
	cols := s.Layout.Columns()
	if net.Inputs() != cols || net.Outputs() != cols {
		differ("it takes %d values per pose and returns %d per frame, its schema has %d", net.Inputs(), net.Outputs(), cols)
	}
	g := net.Graph()
	if len(g.Inputs) != 1 || len(g.Outputs) != 1 {
		differ("it has %d inputs and %d outputs, want one each", len(g.Inputs), len(g.Outputs))
	} else if n, err := g.Length(g.Outputs[0], 1); err != nil || n != s.Segments.Every {
		differ("it does not make %d frames of a pose: %d", s.Segments.Every, n)
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	return s, nil
}

// chunk is the number of segments that the network processes at a time.
const chunk = 8

// SparseInbetweener makes motion from sparse poses. It belongs to one goroutine.
type SparseInbetweener struct {
	model   *SparseModel
	session netruntime.Session
	run     netruntime.Sequences
	x       []float32 // (chunk, poses, columns)
	y       []float32 // (chunk, poses·every, columns)
}

// NewInbetweener returns an in-betweener.
func (s *SparseModel) NewInbetweener(o InbetweenerOptions) (*SparseInbetweener, error) {
	if s.Net == nil {
		return nil, errZeroModel
	}
	session, err := o.Open.Session(s.Net, netruntime.SessionOptions{Batch: chunk, Length: s.Segments.Poses, Workers: max(o.Workers, 1)})
	if err != nil {
		return nil, err
	}
	n := chunk * s.Segments.Poses * s.Layout.Columns()
	return &SparseInbetweener{model: s, session: session,
		x: make([]float32, n), y: make([]float32, n*s.Segments.Every)}, nil
}

// Close stops its workers.
func (m *SparseInbetweener) Close() error {
	if m.session == nil {
		return nil
	}
	return m.session.Close()
}

// Make writes the motion through poses, (n, Layout.Columns()) raw, n at least 2, into dst,
// (Segments.Frames(n), Layout.Columns()) raw. Pose i is frame i·Every. A segment begins at every
// pose that enough others follow, and a frame is the mean of all segments that contain it (Lüdi
// 2016, sec. 4.1.3). At a pose one segment begins and another ends, so joints may step by some
// millimetres. Make fails if a pose is not finite. It panics if the lengths are wrong.
func (m *SparseInbetweener) Make(dst, poses []float32) error {
	s, cols := m.model.Segments, m.model.Layout.Columns()
	n := len(poses) / cols
	if n < 2 {
		return fmt.Errorf("keypose: %d poses, want at least 2", n)
	}
	if len(poses) != n*cols || len(dst) != s.Frames(n)*cols {
		panic("keypose: SparseMaker.Make: poses are no whole frames, or dst is not as long as what is between them")
	}
	for i, v := range poses {
		if !m3.Finite(v) {
			return fmt.Errorf("keypose: value %d of pose %d is not finite", i%cols, i/cols)
		}
	}
	clear(dst)
	seen := min(s.Poses, n) // poses per segment
	segments := n - seen + 1
	for from := 0; from < segments; from += chunk {
		batch := min(chunk, segments-from)
		for i := range batch {
			copy(m.x[i*seen*cols:][:seen*cols], poses[(from+i)*cols:])
		}
		if err := m.run.Run(m.session, m.y[:batch*seen*s.Every*cols], m.x[:batch*seen*cols], batch, seen); err != nil {
			return err
		}
		for i := range batch {
			y := m.y[(i*seen*s.Every+s.Lead())*cols:][:s.Frames(seen)*cols]
			out := dst[(from+i)*s.Every*cols:]
			for k, v := range y {
				out[k] += v
			}
		}
	}
	for f := range s.Frames(n) {
		// Segments that begin at poses first to last contain the frame.
		first := max(0, (f+s.Every-1)/s.Every-seen+1)
		last := min(f/s.Every, segments-1)
		if k := float32(last - first + 1); k > 1 {
			for c := range cols {
				dst[f*cols+c] /= k
			}
		}
	}
	return nil
}
