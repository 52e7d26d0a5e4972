package procgen

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"mannequin/offline/procgen/internal/clips"
)

// Options are the options of Generate. The zero value is right for training.
type Options struct {
	Minutes  float64           // about how much motion; every kind of clip has at least one round; 0: DefaultMinutes
	Seed     uint64            // other seeds give other clips; 0: 1
	Workers  int               // goroutines; 0: all processors. Results do not depend on it
	Progress func(done, n int) // called after each of n clips, from one goroutine at a time; may be nil
}

// DefaultMinutes are enough to train on every gait and action.
const DefaultMinutes = 36

// clipSeconds is about the length of a clip.
const clipSeconds = 30

// plan is one clip to make.
type plan struct {
	kind
	name    string
	seconds float64
	seed    uint64
}

// plans divides the minutes among the kinds by their shares.
func (o Options) plans() []plan {
	total := o.Minutes * 60
	n := max(float64(len(kinds)), math.Round(total/clipSeconds))
	var all []plan
	for _, k := range kinds {
		count := max(1, int(math.Round(n*float64(k.share)/100)))
		for i := range count {
			all = append(all, plan{kind: k, name: fmt.Sprintf("%s_%02d", k.name, i+1), seconds: total * float64(k.share) / 100 / float64(count)})
		}
	}
	for i := range all {
		all[i].seed = uint64(i)
	}
	return all
}

// Generate makes the clips. Equal options give equal clips.
func Generate(o Options) ([]*Take, error) {
	o.Minutes = cmp.Or(o.Minutes, DefaultMinutes)
	o.Seed = cmp.Or(o.Seed, 1)
	if !(o.Minutes > 0 && o.Minutes <= 1000) {
		return nil, fmt.Errorf("procgen: Minutes is %g, want more than 0, up to 1000", o.Minutes)
	}
	if o.Workers < 0 {
		return nil, fmt.Errorf("procgen: Workers is %d, want 0 (all processors) or more", o.Workers)
	}
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	all := o.plans()
	var mu sync.Mutex
	done := 0
	return clips.Make(len(all), o.Workers, func(i int) *Take {
		take := compose(all[i].kind, all[i].name, all[i].seconds, rand.New(rand.NewPCG(o.Seed, all[i].seed)))
		mu.Lock()
		defer mu.Unlock()
		done++
		if o.Progress != nil {
			o.Progress(done, len(all))
		}
		return take
	}), nil
}
