package registration

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"mannequin/offline/dataset"
)

// Options says how Register works. The zero value is right for people's motion.
type Options struct {
	Cyclic    Cyclic   // Unknown: as the takes say, or else found out
	Neutral   []string // styles to prefer for the reference; nil: neutral, normal
	MaxSlope  float64  // of warps; its inverse is the least slope; 0: 3
	Smooth    float64  // period below which warps are smooth, s; 0: 0.5
	Rounds    int      // number of times that the canonical motion is averaged from all takes; 0: 3
	Alternate int      // number of times per round that a take is warped, and scaled and offset; 0: 2
	Snap      float64  // reach over which a take's own contacts move the canonical ones, s; 0: 0.1, negative: none
	Workers   int      // goroutines; 0: all processors. The result does not depend on it
}

func (o Options) withDefaults() Options {
	o.MaxSlope, o.Smooth, o.Snap = cmp.Or(o.MaxSlope, 3), cmp.Or(o.Smooth, 0.5), cmp.Or(o.Snap, 0.1)
	o.Rounds, o.Alternate = cmp.Or(o.Rounds, 3), cmp.Or(o.Alternate, 2)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	if o.Neutral == nil {
		o.Neutral = []string{"neutral", "normal"}
	}
	return o
}

func (o Options) check() error {
	switch {
	case o.Cyclic > Once:
		return fmt.Errorf("registration: Cyclic is %d, want Unknown, Repeats or Once", o.Cyclic)
	case !(o.MaxSlope >= 1.5 && o.MaxSlope <= 12):
		return fmt.Errorf("registration: MaxSlope is %g, want 1.5 to 12", o.MaxSlope)
	case !(o.Smooth > 0 && o.Smooth <= 60):
		return fmt.Errorf("registration: Smooth is %g s, want more than 0, up to 60", o.Smooth)
	case math.IsNaN(o.Snap) || o.Snap > 1:
		return fmt.Errorf("registration: Snap is %g s, want up to 1", o.Snap)
	case o.Rounds < 1 || o.Alternate < 1:
		return fmt.Errorf("registration: Rounds is %d and Alternate %d, want at least 1", o.Rounds, o.Alternate)
	case o.Workers < 1:
		return fmt.Errorf("registration: Workers is %d, want at least 1", o.Workers)
	}
	return nil
}

// Register puts an action's takes on one timeline (Xia et al. 2015, sec. 4), with Times and Stands.
//
// Poses are compared column by column, independent of their position on the ground and the heading
// of the hips (Kovar and Gleicher 2003). Takes are warped in time, and their columns scaled and
// offset, in turn. This is iterative motion warping (Hsu et al. 2005) with scales and offsets that
// are constant in a take. Takes are first registered to the reference, the longest take in a
// neutral style, and then to the mean of all takes on its timeline. If no style is neutral, an
// action done once takes one of medium length as its reference.
//
// An action that repeats itself has a timeline of one cycle. It begins with a landing of
// the left foot, and takes go round it as often as they have cycles. An action that is done
// once has the timeline of its reference; takes may begin and end sooner or later.
//
// The contacts on the timeline are those of most takes. Each take gets them at its Times. Their
// ends then move to the take's own landing or lift-off within Options.Snap. Otherwise a foot would
// visibly be locked while it slides, or free while it rests.
func Register(takes []*Take, opt Options) (*Timeline, *Report, error) {
	opt = opt.withDefaults()
	if err := opt.check(); err != nil {
		return nil, nil, err
	}
	if err := checkTakes(takes); err != nil {
		return nil, nil, err
	}
	r := &registrar{Options: opt, takes: takes, warper: warper{maxSlope: opt.MaxSlope, smooth: opt.Smooth}}
	if err := r.look(); err != nil {
		return nil, nil, err
	}
	if err := r.first(); err != nil {
		return nil, nil, err
	}
	for round := range opt.Rounds {
		if err := r.warpAll(opt.Alternate); err != nil {
			return nil, nil, err
		}
		r.average()
		if round == 0 && r.cyclic {
			r.pace()
		}
	}
	if err := r.warpAll(1); err != nil {
		return nil, nil, err
	}
	tl := r.timeline()
	report, err := r.report(tl)
	if err != nil {
		return nil, nil, err
	}
	for i, t := range takes {
		t.Times, t.Stands = r.times[i], r.stands[i]
	}
	return tl, report, nil
}

// checkTakes reports the first take that cannot be registered with the others.
func checkTakes(takes []*Take) error {
	if len(takes) == 0 {
		return fmt.Errorf("registration: no takes")
	}
	for _, t := range takes {
		switch c := t.Clip; {
		case c == nil || c.Skel == nil || c.Frames < 1:
			return fmt.Errorf("registration: take %s has no frames", t.Name)
		case len(c.Pos) != c.Frames*c.Skel.Len() || len(c.Rot) != len(c.Pos):
			return fmt.Errorf("registration: take %s has %d translations and %d rotations for %d frames × %d joints", t.Name, len(c.Pos), len(c.Rot), c.Frames, c.Skel.Len())
		case !(c.FPS > 0) || math.IsInf(c.FPS, 0):
			return fmt.Errorf("registration: take %s has %g frames per second", t.Name, c.FPS)
		case c.FPS != takes[0].Clip.FPS:
			return fmt.Errorf("registration: take %s has %g frames per second and %s %g: resample them to one rate", t.Name, c.FPS, takes[0].Name, takes[0].Clip.FPS)
		case !slices.Equal(c.Skel.Names, takes[0].Clip.Skel.Names):
			return fmt.Errorf("registration: take %s has another skeleton than %s: retarget both to one", t.Name, takes[0].Name)
		case t.Action != takes[0].Action:
			return fmt.Errorf("registration: take %s is a %q and %s a %q: register one action at a time", t.Name, t.Action, takes[0].Name, takes[0].Action)
		}
	}
	return nil
}

// registrar is the state of one Register.
type registrar struct {
	Options
	warper
	takes     []*Take
	cyclic    bool
	feat      []*features
	reference int
	template  *template
	spread    []float64   // (columns) the first template's deviations
	gain      [][]float64 // per take (columns)
	offset    [][]float64
	times     [][]float64
	stands    [][]uint8
	stood     []uint8 // contacts on the timeline
}

// look finds out whether the action repeats and computes the features.
func (r *registrar) look() error {
	n := len(r.takes)
	r.feat = make([]*features, n)
	compute := func(cyclic bool) error {
		return dataset.Parallel(r.Workers, n, func(i int) (err error) {
			if r.feat[i], err = featuresOf(r.takes[i].Clip, cyclic); err != nil {
				err = fmt.Errorf("registration: take %s: %w", r.takes[i].Name, err)
			}
			return err
		})
	}
	says := r.Cyclic
	if says == Unknown {
		if says = r.takes[0].Cyclic; slices.ContainsFunc(r.takes, func(t *Take) bool { return t.Cyclic != says }) {
			says = Unknown
		}
	}
	if err := compute(says != Once); err != nil || says != Unknown {
		r.cyclic = says == Repeats
		return err
	}
	votes := 0
	for _, f := range r.feat {
		if _, alike := f.period(); alike >= surelyCycle {
			votes++
		}
	}
	if r.cyclic = 2*votes > n; r.cyclic {
		return nil
	}
	return compute(false)
}

// pace sets the cycle's length to that of the best reference with a whole cycle. A short
// take's cycles are only known once it is registered to another take.
func (r *registrar) pace() {
	old := r.template.frames
	for _, i := range r.order() {
		t := r.times[i]
		if n := len(t) - 1; t[n]-t[0] >= 0.9*float64(old) {
			r.reference = i
			frames := max(2, int(math.Round(float64(old)*float64(n)/(t[n]-t[0]))))
			scaled := &template{frames: frames, cyclic: true, rows: make([]float64, frames*r.feat[0].cols)}
			for k := range frames {
				cols := r.feat[0].cols
				r.template.row(scaled.rows[k*cols:][:cols], float64(k)*float64(old)/float64(frames))
			}
			r.template = scaled
			return
		}
	}
}

func (r *registrar) neutral(i int) bool {
	return slices.ContainsFunc(r.Neutral, func(s string) bool { return strings.EqualFold(s, r.takes[i].Style) })
}

// order returns the takes by their quality as a reference: neutral ones first, then by length.
func (r *registrar) order() []int {
	order := make([]int, len(r.takes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if na, nb := r.neutral(a), r.neutral(b); na != nb {
			if na {
				return -1
			}
			return 1
		}
		return r.feat[b].frames - r.feat[a].frames
	})
	return order
}

// first chooses the reference and makes the first template from it.
func (r *registrar) first() error {
	order := r.order()
	r.reference = order[0]
	if r.cyclic {
		found := 0
		for _, i := range order {
			if p, alike := r.feat[i].period(); alike >= cycleLike {
				r.reference, found = i, p
				break
			}
		}
		if found == 0 {
			return fmt.Errorf("registration: no take of %s repeats itself: the longest, %s, has %d frames; a cycle of %g to %g s and a fourth of the next is needed, or say that it is done once",
				r.takes[0].Action, r.takes[order[0]].Name, r.feat[order[0]].frames, shortCycle, longCycle)
		}
		r.template = r.feat[r.reference].cycle(found)
	} else {
		if !r.neutral(r.reference) { // none is neutral: one of medium length
			r.reference = order[len(order)/2]
		}
		f := r.feat[r.reference]
		r.template = &template{frames: f.frames, hold: int(longHold * f.fps), rows: slices.Clone(f.rows)}
	}
	n := len(r.takes)
	r.gain, r.offset, r.times = make([][]float64, n), make([][]float64, n), make([][]float64, n)
	cols := r.feat[0].cols
	for i := range n {
		r.gain[i], r.offset[i] = slices.Repeat([]float64{1}, cols), make([]float64, cols)
	}
	_, r.spread = r.template.moments(cols)
	return nil
}

// warpAll registers every take to the template.
func (r *registrar) warpAll(alternate int) error {
	return dataset.Parallel(r.Workers, len(r.takes), func(i int) error {
		f := r.feat[i]
		for range alternate {
			path, g, err := r.path(f, r.template, r.gain[i], r.offset[i])
			if err != nil {
				return fmt.Errorf("registration: take %s: %w", r.takes[i].Name, err)
			}
			r.times[i] = r.warper.times(path, g, f.frames, f.fps)
			fit(r.gain[i], r.offset[i], f, r.template, r.times[i])
		}
		return nil
	})
}
