package human

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mannequin/offline/registration"
)

// FPS is how many frames a second of a take has.
const FPS = 60

// Period is the canonical time of a cycle, two steps, in frames of the canonical
// timelines.
const Period = 60

// DefaultMinutes of motion are two takes of every content in every style.
const DefaultMinutes = 29

// Options says what is made. The zero value is everything, twice.
type Options struct {
	Seed    int64    // other seeds give other persons and steps; 0: 1
	Minutes float64  // of motion, about: every content has at least one take in every style; 0: two takes of each
	Actions []string // some of Actions(); nil: all
	Styles  []string // some of Styles(); nil: all
}

// variation is the kind of person a take shows: 0 is the style's row of numbers,
// 1 is somebody else.
const usualVariation = 1

// maxTakes bounds the takes of one content in one style.
const maxTakes = 100

// Generate makes the takes, contents in turn, all styles of each, and the
// canonical timelines by action. Equal options give equal takes. The takes share
// a skeleton, that of retarget.Human, and stand on flat ground at height 0.
//
// A take's Times are Period times its canonical time in cycles: the left foot
// lands where they are multiples of Period, the right one half a Period later.
// Its Stands are the feet from the strike of the heel until the toes leave.
func Generate(o Options) ([]*registration.Take, map[string]registration.Timeline, error) {
	if o.Seed == 0 {
		o.Seed = 1
	}
	if math.IsNaN(o.Minutes) || o.Minutes < 0 || o.Minutes > 1000 {
		return nil, nil, fmt.Errorf("human: Minutes is %g, want 0 to 1000", o.Minutes)
	}
	if err := known("action", o.Actions, Actions()); err != nil {
		return nil, nil, err
	}
	if err := known("style", o.Styles, Styles()); err != nil {
		return nil, nil, err
	}
	type round struct {
		script script
		styles []style
	}
	var rounds []round
	var styles []style
	for _, s := range styleRows {
		if o.Styles == nil || slices.Contains(o.Styles, s.name) {
			styles = append(styles, s)
		}
	}
	seconds := 0.0
	for _, s := range scripts() {
		if o.Actions != nil && !slices.Contains(o.Actions, s.action) {
			continue
		}
		rounds = append(rounds, round{s, styles})
		for _, st := range styles {
			seconds += s.cycles / (gaitOf(s.action).cadence * st.cadence)
		}
	}
	takes := 2
	if o.Minutes > 0 && seconds > 0 {
		takes = min(max(int(math.Round(o.Minutes*60/seconds)), 1), maxTakes)
	}
	var all []*registration.Take
	lines := map[string]registration.Timeline{}
	sk := newBody()
	for _, r := range rounds {
		if _, ok := lines[r.script.action]; !ok {
			lines[r.script.action] = timeline(r.script.action)
		}
		for _, st := range r.styles {
			for k := range takes {
				p := performer{body: sk, style: st, rng: rng(o.Seed, r.script.name, st.name, k), variation: usualVariation}
				t := p.perform(&r.script)
				t.Name = fmt.Sprintf("%s_%s_%03d", r.script.name, st.name, k+1)
				all = append(all, t)
			}
		}
	}
	return all, lines, nil
}

func known(what string, names, all []string) error {
	for _, n := range names {
		if !slices.Contains(all, n) {
			return fmt.Errorf("human: unknown %s %q: want some of %v", what, n, all)
		}
	}
	return nil
}

// rng returns the random numbers of one take: they do not depend on which other
// takes are made.
func rng(seed int64, content, style string, take int) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range []byte(content + "/" + style) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return rand.New(rand.NewPCG(uint64(seed), h+uint64(take)))
}

// timeline returns the canonical timeline of an action: its cycle in the neutral
// style.
func timeline(action string) registration.Timeline {
	t := registration.Timeline{Action: action, Frames: Period, Period: Period, Stands: make([]uint8, Period)}
	m := newManner(gaitOf(action), &styleRows[0])
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
