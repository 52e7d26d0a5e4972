package human

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"mannequin/offline/procgen/internal/clips"
	"mannequin/offline/registration"
)

// FPS is the frame rate of takes.
const FPS = 60

// Period is the canonical time of a cycle (two steps), in frames of the canonical timelines.
const Period = 60

// DefaultMinutes of motion are two takes of every content in every style.
const DefaultMinutes = 30

// Options are the options of Generate. The zero value makes two takes of everything.
type Options struct {
	Seed    int64    // other seeds give other people and steps; 0: 1
	Minutes float64  // about how much motion, at least one take of everything; 0: two takes of everything
	Actions []string // some of Actions(); nil: all
	Styles  []string // some of Styles(); nil: XiaStyles()
	Workers int      // goroutines; 0: all processors. Results do not depend on it
}

const (
	usualVariation = 1   // see performer
	maxTakes       = 100 // of one content in one style
)

// Generate makes the takes, sorted by content and then style, and the canonical timelines by
// action. Equal options give equal takes. All takes share the skeleton of retarget.Human and stand
// on flat ground at height 0.
//
// The k-th takes of a content in all styles show the same person, with the same tempo, strides,
// posture and gestures. Random variation from step to step differs between takes.
//
// A take's Times are Period times its canonical time in cycles. The left foot lands at multiples of
// Period, the right one half a Period later. Stands last from heel strike until the toes leave.
func Generate(o Options) ([]*registration.Take, map[string]registration.Timeline, error) {
	if err := o.complete(); err != nil {
		return nil, nil, err
	}
	var plans []plan
	seconds := 0.0 // about, of one take of everything
	lines := map[string]registration.Timeline{}
	for _, s := range scripts() {
		if !slices.Contains(o.Actions, s.action) {
			continue
		}
		lines[s.action] = timeline(s.action)
		for _, st := range styleRows {
			if slices.Contains(o.Styles, st.name) {
				plans = append(plans, plan{script: s, style: st})
				seconds += s.cycles / newPersonGait(gaitOf(s.action), &st).cadence
			}
		}
	}
	times := 2
	if o.Minutes > 0 && seconds > 0 {
		times = min(max(int(math.Round(o.Minutes*60/seconds)), 1), maxTakes)
	}
	var all []plan
	for _, p := range plans {
		for k := range times {
			p.take = k
			all = append(all, p)
		}
	}
	return o.perform(all), lines, nil
}

// complete checks the options and fills in the defaults.
func (o *Options) complete() error {
	if math.IsNaN(o.Minutes) || o.Minutes < 0 || o.Minutes > 1000 {
		return fmt.Errorf("human: Minutes is %g, want 0 to 1000", o.Minutes)
	}
	if o.Workers < 0 {
		return fmt.Errorf("human: Workers is %d, want 0 (all processors) or more", o.Workers)
	}
	o.Seed = cmp.Or(o.Seed, 1)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	if o.Actions == nil {
		o.Actions = Actions()
	}
	if o.Styles == nil {
		o.Styles = XiaStyles()
	}
	if err := known("action", o.Actions, Actions()); err != nil {
		return err
	}
	return known("style", o.Styles, Styles())
}

// plan is one take to make.
type plan struct {
	script script
	style  style
	take   int // of this script in this style, from 0
}

func (o *Options) perform(plans []plan) []*registration.Take {
	sk := newBody()
	return clips.Make(len(plans), o.Workers, func(i int) *registration.Take {
		pl := &plans[i]
		p := performer{body: sk, style: pl.style, variation: usualVariation,
			person: rng(o.Seed, pl.script.name, "", pl.take), rng: rng(o.Seed, pl.script.name, pl.style.name, pl.take)}
		t := p.perform(&pl.script)
		t.Name = fmt.Sprintf("%s_%s_%03d", pl.script.name, pl.style.name, pl.take+1)
		return t
	})
}

func known(what string, names, all []string) error {
	for _, n := range names {
		if !slices.Contains(all, n) {
			return fmt.Errorf("human: unknown %s %q: want some of %v", what, n, all)
		}
	}
	return nil
}

// rng returns a take's own random numbers, or its person's if style is empty.
func rng(seed int64, content, style string, take int) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range []byte(content + "/" + style) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return rand.New(rand.NewPCG(uint64(seed), h+uint64(take)))
}

// timeline returns the canonical timeline of an action: a cycle in the neutral style.
func timeline(action string) registration.Timeline {
	t := registration.Timeline{Action: action, Frames: Period, Period: Period, Stands: make([]uint8, Period)}
	m := newPersonGait(gaitOf(action), &styleRows[0])
	for f := range t.Stands {
		for foot := range 2 {
			in := float64(f)/Period - landsAt(foot)
			if action == Stand || in-math.Floor(in) < m.duty {
				t.Stands[f] |= 1 << foot
			}
		}
	}
	return t
}
