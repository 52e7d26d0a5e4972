package strnn

import (
	"fmt"
	"strings"

	"mannequin/animsys/strnn"
	"mannequin/offline/eval"
)

// GoingOn is how people go on with what they did in held-out recordings.
type GoingOn struct {
	Each  []Going `json:"each"`
	Apart Apart   `json:"apart"`
}

// Settings of the measurement.
const (
	goingOnPeople  = 3 // of each of doings
	goingOnPeriods = 6 // minute
)

// goingOn measures how people go on.
func (r *Report) goingOn() error {
	if r.opt.Seeds == 0 {
		return nil
	}
	p, err := r.model.NewPredictor(strnn.PredictorOptions{Batch: 1, Draws: PredictDraws, Workers: r.opt.Threads, CleanUp: true})
	if err != nil {
		return err
	}
	defer p.Close()
	doers := doersOf(r.held, goingOnPeople)
	r.GoingOn.Each, r.GoingOn.Apart, err = measureGoingOn(p, r.model.Layout, doers, r.opt.Seeds, goingOnPeriods, r.opt.Spread)
	return err
}

// Bounds of the mean speed in the last ten seconds of a minute ÷ the speed before, and of the
// speed of people who stood, m/s.
const (
	keepsLeast = 0.7
	keepsMost  = 1.3
	standsMost = 0.1
)

// keeps reports whether a person does after a minute what it did before.
func keeps(g *Going) bool {
	if g.Lost != "" {
		return false
	}
	after := g.After[len(g.After)-1]
	if g.Doing == doings[0] {
		return after < standsMost
	}
	return after >= keepsLeast*g.Speed && after <= keepsMost*g.Speed
}

// goingOnBars compares the share of people who go on.
func (r *Report) goingOnBars(b *eval.Bars) {
	for _, doing := range doings {
		kept, n := 0, 0
		for i := range r.GoingOn.Each {
			if g := &r.GoingOn.Each[i]; g.Doing == doing {
				if n++; keeps(g) {
					kept++
				}
			}
		}
		if n > 0 {
			b.Least("share of people who go on for a minute", doing, float64(kept)/float64(n), 1)
		}
	}
}

// printGoingOn prints a row for each person and seed.
func (r *Report) printGoingOn(t *eval.Tables) {
	if len(r.GoingOn.Each) == 0 {
		return
	}
	t.Section("Going on: mean speeds of the ten seconds that follow, m/s", "\tfrom\tseed\tspeed before"+strings.Repeat("\t", goingOnPeriods)+"kept\tknees °\tarms opposed")
	for i := range r.GoingOn.Each {
		g := &r.GoingOn.Each[i]
		if g.Lost != "" {
			t.Row("%s\t%s\t%d\t%.2f\t%s", g.Doing, g.Name, g.Seed, g.Speed, g.Lost)
			continue
		}
		t.Row("%s\t%s\t%d\t%.2f\t%s\t%v\t%.0f\t%.2f", g.Doing, g.Name, g.Seed, g.Speed, join(g.After, "\t"), keeps(g), g.Knee, g.Arms)
	}
	t.Section("Distance of joints in the last ten seconds, cm", "people who do different things, one seed\tone person, different seeds")
	t.Row("%s\t%s", fmt.Sprintf("%.1f", r.GoingOn.Apart.People), fmt.Sprintf("%.1f", r.GoingOn.Apart.Seeds))
}
