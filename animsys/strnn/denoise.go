package strnn

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
	"mannequin/netruntime/vec"
)

// Denoiser removes noise from motions and fills gaps: it encodes windows of Encode frames and
// decodes them to the frames that led to that state (Wang, Ho, Shum and Zhu 2019, sec. 5.3). It
// belongs to one goroutine.
type Denoiser struct {
	m      *Model
	batch  int
	factor int                // the motion's frame rate, in multiples of Rate
	encode netruntime.Session // frames to states
	decode netruntime.Session // states to frames
	filter netruntime.Session // nil: none

	share  []float32    // (Encode) weight of each frame of a window in the sum of overlapping windows
	x, y   []float32    // (batch, Encode, columns) windows, and their reconstructions
	z      []float32    // the same, filtered
	state  [2][]float32 // (batch, units) h and c
	clock  []float32    // (batch, Encode, 1) zeros
	base   []float32    // (batch, Encode, columns) output of the linear filters
	work   []float32    // (Encode, columns)
	starts []int        // the first frames of a batch of windows
	in     [4][]float32
	out    [2][]float32
}

// DenoiserOptions are the options of NewDenoiser.
type DenoiserOptions struct {
	FPS     int               // frames per second of the motions: Rate or a multiple; 0: Rate
	Batch   int               // maximum number of windows at a time, at least 1
	Workers int               // goroutines, at least 1
	Open    netruntime.Opener // opens sessions; nil: on the CPU
	BF16    bool              // see netruntime.SessionOptions
}

// maxFactor bounds DenoiserOptions.FPS, in multiples of Rate.
const maxFactor = 16

// NewDenoiser returns a denoiser.
func (m *Model) NewDenoiser(o DenoiserOptions) (*Denoiser, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	o.FPS = cmp.Or(o.FPS, Rate)
	if o.Batch < 1 || o.Workers < 1 {
		return nil, fmt.Errorf("strnn: %d windows at a time on %d workers: want at least one of each", o.Batch, o.Workers)
	}
	if o.FPS < Rate || o.FPS%Rate != 0 || o.FPS > maxFactor*Rate {
		return nil, fmt.Errorf("strnn: motions of %d frames per second: want a multiple of %d, up to %d", o.FPS, Rate, maxFactor*Rate)
	}
	size := m.Encode * m.Layout.Columns()
	d := &Denoiser{m: m, batch: o.Batch, factor: o.FPS / Rate, share: make([]float32, m.Encode),
		x: make([]float32, o.Batch*size), y: make([]float32, o.Batch*size), clock: make([]float32, o.Batch*m.Encode),
		base: make([]float32, o.Batch*size), work: make([]float32, size)}
	for i := range d.share {
		s := math.Sin(math.Pi * (float64(i) + 0.5) / float64(m.Encode))
		d.share[i] = float32(s * s)
	}
	for i := range d.state {
		d.state[i] = make([]float32, o.Batch*m.units)
	}
	if m.filter != nil {
		d.z = make([]float32, o.Batch*size)
	}
	err := openAll(o.Open, netruntime.SessionOptions{Workers: o.Workers, BF16: o.BF16}, []part{
		{&d.encode, m.encode, o.Batch, m.Encode}, {&d.decode, m.decode, o.Batch, m.Encode}, {&d.filter, m.filter, o.Batch, m.Encode},
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close stops the denoiser's workers.
func (d *Denoiser) Close() error { return closeAll(d.encode, d.decode, d.filter) }

// Denoise writes rows, (frames, columns) raw, without noise into dst, which may be rows. Contacts
// are then from 0 to 1. It fails if the motion is shorter than Encode frames at Rate, or if a value
// is not finite.
func (d *Denoiser) Denoise(dst, rows []float32) error {
	if err := d.check(dst, rows, nil); err != nil {
		return err
	}
	y := make([]float32, len(rows))
	if err := d.project(y, rows); err != nil {
		return err
	}
	copy(dst, y)
	return nil
}

// check reports why a motion cannot be used.
func (d *Denoiser) check(dst, rows []float32, missing []bool) error {
	if d.m == nil {
		return errZeroModel
	}
	cols := d.m.Layout.Columns()
	frames := len(rows) / cols
	switch {
	case len(rows) != frames*cols || len(dst) != len(rows):
		return fmt.Errorf("strnn: %d output values for %d input values: want equal numbers, %d per frame", len(dst), len(rows), cols)
	case missing != nil && len(missing) != len(rows):
		return fmt.Errorf("strnn: %d values with %d flags for missing ones: want one for each", len(rows), len(missing))
	case frames < d.m.Encode*d.factor:
		return fmt.Errorf("strnn: the motion has %d frames at %d per second: want at least %d, the network sees %.2f s at a time",
			frames, d.factor*Rate, d.m.Encode*d.factor, float64(d.m.Encode)/Rate)
	}
	for i, v := range rows {
		if v-v != 0 && (missing == nil || !missing[i]) {
			return fmt.Errorf("strnn: value %d of frame %d is %g: want a finite number, or mark it as missing", i%cols, i/cols, v)
		}
	}
	return nil
}

// project writes the reconstruction of rows, (frames, columns) raw, into dst: overlapping windows,
// cross-faded. At k times Rate every k-th frame is a motion of its own, for each of k offsets.
func (d *Denoiser) project(dst, rows []float32) error {
	cols, encode, k := d.m.Layout.Columns(), d.m.Encode, d.factor
	frames := len(rows) / cols
	sum, total := make([]float32, len(rows)), make([]float32, frames)
	for part := range k {
		last := (frames-1-part)/k - (encode - 1)
		for from := 0; ; from = min(from+max(1, encode/2), last) {
			if d.starts = append(d.starts, part+from*k); len(d.starts) == d.batch || from == last && part == k-1 {
				if err := d.fade(sum, total, rows); err != nil {
					return err
				}
			}
			if from == last {
				break
			}
		}
	}
	for f, t := range total {
		for c := range cols {
			sum[f*cols+c] /= t
		}
	}
	d.join(dst, sum)
	d.clamp(dst, nil)
	return nil
}

// fade adds the reconstructions of a batch of windows to sum, and their weights to total, (frames).
func (d *Denoiser) fade(sum, total, rows []float32) error {
	cols, encode := d.m.Layout.Columns(), d.m.Encode
	size := encode * cols
	for i, from := range d.starts {
		d.cut(d.x[i*size:][:size], rows, from)
	}
	err := d.run(len(d.starts))
	for i, from := range d.starts {
		for e, share := range d.share {
			at := from + e*d.factor
			vec.Axpy(sum[at*cols:][:cols], share, d.y[i*size+e*cols:][:cols])
			total[at] += share
		}
	}
	d.starts = d.starts[:0]
	return err
}

// cut writes the window of rows that begins at frame from into dst, (Encode, columns) at Rate. The
// body's motion is the mean of all frames until the next one. See HalveRate.
func (d *Denoiser) cut(dst, rows []float32, from int) {
	l, k := d.m.Layout, d.factor
	cols, body := l.Columns(), l.Body()
	frames := len(rows) / cols
	for e := range d.m.Encode {
		f := from + e*k
		to := dst[e*cols:][:cols]
		copy(to, rows[f*cols:])
		moves := to[body : body+feature.MotionLen]
		for i := 1; i < k; i++ {
			vec.Axpy(moves, 1, rows[min(f+i, frames-1)*cols+body:][:feature.MotionLen])
		}
		for c := range moves {
			moves[c] /= float32(k)
		}
	}
}

// run reconstructs n windows x into y.
func (d *Denoiser) run(n int) error {
	m := d.m
	size := m.Encode * m.Layout.Columns()
	h, c := d.state[0][:n*m.units], d.state[1][:n*m.units]
	d.in[0], d.out[0], d.out[1] = d.x[:n*size], h, c
	if err := d.encode.RunSequences(d.out[:2], d.in[:1], n, m.Encode); err != nil {
		return err
	}
	d.in[0], d.in[1], d.in[2], d.in[3], d.out[0] = d.clock[:n*m.Encode], h, c, d.base[:n*size], d.y[:n*size]
	in := d.in[:3]
	if m.Linear != nil {
		for i := range n {
			m.Linear.Apply(d.base[i*size:][:size], d.x[i*size:][:size], m.mean, d.work, 0)
		}
		in = d.in[:4]
	}
	if err := d.decode.RunSequences(d.out[:1], in, n, m.Encode); err != nil {
		return err
	}
	if m.Linear != nil {
		for i := range n {
			m.Linear.Add(d.base[i*size:][:size], d.y[i*size:][:size], 0)
		}
		d.y, d.base = d.base, d.y
	}
	if d.filter == nil {
		return nil
	}
	d.in[0], d.out[0] = d.y[:n*size], d.z[:n*size]
	if err := d.filter.RunSequences(d.out[:1], d.in[:1], n, m.Encode); err != nil {
		return err
	}
	d.y, d.z = d.z, d.y
	return nil
}

// join merges rows, whose frames belong to interleaved motions at Rate, into one motion dst.
// Differences between neighbours are averaged with triangular weights. A frame's body motion is the
// mean of the windows of frames that contain it: see cut.
func (d *Denoiser) join(dst, rows []float32) {
	l := d.m.Layout
	cols, body := l.Columns(), l.Body()
	frames := len(rows) / cols
	clear(dst)
	for f := range frames {
		to := dst[f*cols:][:cols]
		n := min(d.factor, f+1, frames-f)
		for i := 1 - n; i < n; i++ {
			vec.Axpy(to, float32(n-max(i, -i))/float32(n*n), rows[(f+i)*cols:][:cols])
		}
		moves := to[body : body+feature.MotionLen]
		clear(moves)
		n = min(d.factor, f+1)
		for i := range n {
			vec.Axpy(moves, 1/float32(n), rows[(f-i)*cols+body:][:feature.MotionLen])
		}
	}
}

// clamp limits contacts to 0 to 1: the missing ones, or all.
func (d *Denoiser) clamp(rows []float32, missing []bool) {
	l := d.m.Layout
	for at := 0; at < len(rows); at += l.Columns() {
		for i := range l.Contacts {
			if c := at + l.Contact(i); missing == nil || missing[c] {
				rows[c] = min(max(rows[c], 0), 1)
			}
		}
	}
}
