package registration

import (
	"fmt"
	"math"
	"slices"

	"mannequin/offline/dataset"
)

// Report says how well the takes of an action fit its timeline. Frames are the
// takes' own unless a field says that they are the timeline's.
type Report struct {
	Action    string       `json:"action"`
	Cyclic    bool         `json:"cyclic"`
	Reference string       `json:"reference"`
	Frames    int          `json:"frames"` // of the timeline
	Seconds   float64      `json:"seconds"`
	Takes     []TakeReport `json:"takes"`
}

// TakeReport is how well one take fits.
type TakeReport struct {
	Name  string `json:"name"`
	Style string `json:"style"`

	// Residual is the distance of the take's features, scaled and offset, from the mean of all
	// takes, in deviations of the features: 0 is the same motion, 1.4 an unrelated one.
	Residual float64 `json:"residual"`

	// Slopes of Times: frames of the timeline per frame.
	Slope    float64 `json:"slope"` // mean
	MinSlope float64 `json:"min_slope"`
	MaxSlope float64 `json:"max_slope"`
	Cycles   float64 `json:"cycles"` // in the take; 0 if the action does not repeat

	// TwoWay is the difference between the take's registration to the timeline and the timeline's
	// to the take, in frames of the take: the median. TwoWayMost is the 95th percentile.
	TwoWay     float64 `json:"two_way"`
	TwoWayMost float64 `json:"two_way_most"`
	// Direct is the difference between the take's registration to the reference alone and
	// to all takes, in frames of the timeline: the median.
	Direct float64 `json:"direct"`
	// Contacts is the share of frames in which the take has the contacts of the timeline.
	Contacts float64 `json:"contacts"`

	Warnings []string `json:"warnings,omitempty"`
}

// report measures how well all takes fit.
func (r *registrar) report(tl *Timeline) (*Report, error) {
	fps := r.feat[0].fps
	rep := &Report{
		Action: tl.Action, Cyclic: r.cyclic, Reference: tl.Reference, Frames: tl.Frames,
		Seconds: float64(tl.Frames) / fps, Takes: make([]TakeReport, len(r.takes)),
	}
	alone := r.alone()
	err := dataset.Parallel(r.Workers, len(r.takes), func(i int) error {
		t := &rep.Takes[i]
		t.Name, t.Style, t.Residual = r.takes[i].Name, r.takes[i].Style, r.residual(i)
		r.measureSlopes(t, r.times[i])
		agree := 0
		for f, stood := range r.carried(i) {
			if stood == r.feat[i].own[f] {
				agree++
			}
		}
		t.Contacts = float64(agree) / float64(len(r.times[i]))
		if err := r.backwards(t, i); err != nil {
			return fmt.Errorf("registration: take %s, backwards: %w", t.Name, err)
		}
		if err := r.directly(t, i, alone); err != nil {
			return fmt.Errorf("registration: take %s, directly: %w", t.Name, err)
		}
		r.judge(t, i)
		return nil
	})
	return rep, err
}

// residual returns the root mean square distance of take i from the frames of the template.
func (r *registrar) residual(i int) float64 {
	f := r.feat[i]
	own, row := r.adapted(i), make([]float64, f.cols)
	sum, n := 0.0, 0
	for at, t := range r.times[i] {
		if !r.template.row(row, t) {
			continue
		}
		for k, w := range f.weight {
			d := own.rows[at*f.cols+k] - row[k]
			sum += w * d * d
		}
		n++
	}
	return math.Sqrt(sum / float64(max(n, 1)))
}

func (r *registrar) measureSlopes(t *TakeReport, times []float64) {
	n := len(times)
	t.Slope, t.MinSlope, t.MaxSlope = 1, 1, 1
	if n > 1 {
		t.Slope = (times[n-1] - times[0]) / float64(n-1)
		t.MinSlope, t.MaxSlope = math.Inf(1), 0
		for f := 1; f < n; f++ {
			t.MinSlope, t.MaxSlope = min(t.MinSlope, times[f]-times[f-1]), max(t.MaxSlope, times[f]-times[f-1])
		}
	}
	if r.cyclic {
		t.Cycles = (times[n-1] - times[0]) / float64(r.template.frames)
	}
}

// adapted returns take i's features, scaled to the template, as one on its own time.
func (r *registrar) adapted(i int) *template {
	f := r.feat[i]
	t := &template{frames: f.frames, hold: int(longHold * f.fps), rows: slices.Clone(f.rows)}
	for at := range f.frames {
		for k, v := range t.rows[at*f.cols:][:f.cols] {
			t.rows[at*f.cols+k] = r.gain[i][k]*v + r.offset[i][k]
		}
	}
	return t
}

// backwards registers take i's stretch of the timeline to the take, and compares both ways.
func (r *registrar) backwards(t *TakeReport, i int) error {
	f := r.feat[i]
	part := &features{cols: f.cols, weight: f.weight, fps: f.fps}
	var frames []float64 // of the take, by its registration
	r.each(r.times[i], func(bin int, at float64) {
		part.rows = append(part.rows, r.template.rows[bin*f.cols:][:f.cols]...)
		frames = append(frames, at)
	})
	if part.frames = len(frames); part.frames < 2 {
		return nil
	}
	one, zero := slices.Repeat([]float64{1}, f.cols), make([]float64, f.cols)
	own := r.adapted(i)
	if r.cyclic { // the stretch is the take's own, and often longer than a cycle
		own.hold = int(longHold * f.fps / 8)
	}
	path, g, err := r.path(part, own, one, zero)
	if err != nil {
		return err
	}
	back := r.warper.times(path, g, part.frames, part.fps)
	for k := range back {
		back[k] = math.Abs(back[k] - frames[k])
	}
	t.TwoWay, t.TwoWayMost = percentile(back, 0.5), percentile(back, 0.95)
	return nil
}

// alone returns the reference take alone on the timeline.
func (r *registrar) alone() *template {
	i, cols := r.reference, r.feat[0].cols
	t := &template{frames: r.template.frames, cyclic: r.cyclic, hold: r.template.hold, rows: slices.Clone(r.template.rows)}
	seen := make([]float64, t.frames)
	own, row := r.adapted(i), make([]float64, cols)
	r.each(r.times[i], func(bin int, at float64) {
		if !own.row(row, at) {
			return
		}
		for k, v := range row {
			if seen[bin] == 0 {
				t.rows[bin*cols+k] = 0
			}
			t.rows[bin*cols+k] = (t.rows[bin*cols+k]*seen[bin] + v) / (seen[bin] + 1)
		}
		seen[bin]++
	})
	return t
}

// directly registers take i to the reference alone, and compares.
func (r *registrar) directly(t *TakeReport, i int, alone *template) error {
	f := r.feat[i]
	path, g, err := r.path(f, alone, r.gain[i], r.offset[i])
	if err != nil {
		return err
	}
	times := r.warper.times(path, g, f.frames, f.fps)
	for k := range times {
		d := times[k] - r.times[i][k]
		if r.cyclic {
			d -= math.Round(d/float64(alone.frames)) * float64(alone.frames)
		}
		times[k] = math.Abs(d)
	}
	t.Direct = percentile(times, 0.5)
	return nil
}

func (r *registrar) judge(t *TakeReport, i int) {
	warn := func(format string, args ...any) { t.Warnings = append(t.Warnings, fmt.Sprintf(format, args...)) }
	const most = 3
	for k, f := range r.takes[i].Faults {
		if k == most {
			warn("%d more frames hardly show a person's motion", len(r.takes[i].Faults)-most)
			break
		}
		warn("frame %d: %s", f.Frame, f.What)
	}
	tenth := 0.1 * r.feat[i].fps
	switch {
	case t.Residual > 1:
		warn("its motion differs from the other takes' (residual %.2f): is it another action, or the other hand or foot?", t.Residual)
	case r.cyclic && t.Direct > 0.2*float64(r.template.frames):
		warn("to the reference alone it is %.0f frames off: its phase is not sure", t.Direct)
	case t.TwoWay > tenth:
		warn("the two ways of registering it differ by %.0f frames", t.TwoWay)
	}
	if t.MinSlope < 1/r.MaxSlope*1.02 || t.MaxSlope > r.MaxSlope*0.98 {
		warn("its warp is as steep or as flat as it may be (%.2f to %.2f): does it stand still somewhere? Cut it there", t.MinSlope, t.MaxSlope)
	}
	if r.cyclic && t.Cycles < 1 {
		warn("it has only %.2f of a cycle", t.Cycles)
	}
	if t.Contacts < 0.75 {
		warn("its own contacts are the timeline's in only %.0f %% of its frames", 100*t.Contacts)
	}
}
