package mar

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"mannequin/offline/baseline"
	"mannequin/offline/eval"
	"mannequin/offline/metrics/transfer"
)

// The bars of style transfer.
const (
	barHomogeneous, barHeterogeneous = 0.8, 0.6 // pose error as a share of the linear system's
	barTiming                        = 0.8
	barUnlabelled                    = 1.15
	barFreePose, barFreeTime         = 2, 1 // cm, frames
	barFarSpeed                      = 1.5
)

// rivalMethods are the methods that package mar is compared with if the class is known.
func rivalMethods() []string {
	names := []string{transfer.LTIOwn, transfer.LTIPose, transfer.GlobalAR, transfer.GP}
	for _, m := range baseline.LocalMethods() {
		names = append(names, m.String())
	}
	return names
}

// bars compares the report's figures with their bars.
func (r *Report) bars() eval.Bars {
	var b eval.Bars
	for i := range r.Sets {
		s := &r.Sets[i]
		m, linear := s.Mean(transfer.MAR), s.Mean(transfer.LTIOwn)
		if s.Free {
			b.Most("pose error where the truth is known, cm", s.Name, m.Pose, barFreePose)
			b.Most("timing error there, frames", s.Name, m.Time, barFreeTime)
			continue
		}
		bar := barHomogeneous
		if s.Mixed {
			bar = barHeterogeneous
		}
		best := s.best(rivalMethods()...)
		b.Most("pose error ÷ the linear systems' of Hsu et al. 2005", s.Name, eval.Over(m.Pose, linear.Pose), bar)
		b.Most("pose error ÷ those with the whole pose as input", s.Name, eval.Over(m.Pose, s.Mean(transfer.LTIPose).Pose), 1)
		b.Most("pose error ÷ the best other's", s.Name+" ("+best.Method+")", eval.Over(m.Pose, best.Pose), 1)
		b.Most("timing error ÷ the linear systems'", s.Name, eval.Over(m.Time, linear.Time), barTiming)
		b.Most("pose error, unlabelled ÷ labelled", s.Name, eval.Over(s.Mean(transfer.MAR+transfer.Unlabelled).Pose, m.Pose), barUnlabelled)
	}
	if len(r.Far) > 0 {
		finite := 0
		for _, f := range r.Far {
			if f.Finite {
				finite++
			}
		}
		b.Least("share of far input whose output is finite", fmt.Sprintf("%d clips", len(r.Far)), float64(finite)/float64(len(r.Far)), 1)
		worst := r.fastestFar()[0]
		b.Most("fastest joint ÷ the input's", worst.Clip+" to "+worst.Style, worst.Ratio(), barFarSpeed)
	}
	return b.Sorted()
}

// fastestFar returns the far clips, beginning with the one whose joints gain most speed.
func (r *Report) fastestFar() []Far {
	return slices.SortedStableFunc(slices.Values(r.Far), func(a, b Far) int { return cmp.Compare(b.Ratio(), a.Ratio()) })
}

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	t := eval.NewTables(w)
	for i := range r.Sets {
		s := &r.Sets[i]
		s.print(t)
		s.printActions(t)
	}
	if r.Speed != nil {
		r.Speed.print(t)
	}
	t.Section("Input unlike the data, without labels: speed of the fastest joint, m/s; the ten with the largest gain", "recording\tstyle\tseconds\tfinite\tinput\toutput\tratio")
	for _, f := range r.fastestFar()[:min(10, len(r.Far))] {
		t.Row("%s\t%s\t%.1f\t%v\t%.2f\t%.2f\t%.2f",
			f.Clip, f.Style, float64(f.Frames)/60, f.Finite, f.Input, f.Output, f.Ratio())
	}
	t.End()
	for _, f := range r.Figures {
		fmt.Fprintln(w, f)
	}
	return t.InShort("mar", r.Bars, "")
}

// styles counts the styles that a set is translated into.
func (s *Set) styles() int {
	seen := map[string]bool{}
	for _, v := range s.Scores {
		seen[v.Style] = true
	}
	return len(seen)
}

func (s *Set) print(t *eval.Tables) {
	t.Section(fmt.Sprintf("%s: %d takes, %d frames; from %s into %d styles", s.Name, s.Takes, s.Frames, s.From, s.styles()),
		"method\tcases\tpose cm\tdeviation\tMAR ÷\ttime off, frames\tMAR ÷\tapart from tempo\tper step\ttempo off")
	mine := s.Mean(transfer.MAR)
	for _, m := range s.Means {
		t.Row("%s\t%v\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\t%.1f %%",
			m.Method, m.Cases, m.Pose, s.deviation(m.Method), mine.Pose/m.Pose, m.Time, mine.Time/m.Time, m.Warp, m.Step, 100*m.Tempo)
	}
}

// deviation returns the standard deviation of a method's errors of poses over cases.
func (s *Set) deviation(method string) float64 {
	var errors []float64
	for _, v := range s.Scores {
		if v.Method == method {
			errors = append(errors, v.Pose)
		}
	}
	return stat.PopStdDev(errors, nil)
}

func (s *Set) printActions(t *eval.Tables) {
	if len(s.Actions) == 0 {
		return
	}
	actions := slices.Sorted(maps.Keys(s.Actions))
	t.Section(s.Name+", cm by action", "method\t"+strings.Join(actions, "\t"))
	for i, m := range s.Means {
		row := []string{m.Method}
		for _, a := range actions {
			row = append(row, fmt.Sprintf("%.2f", s.Actions[a][i].Pose))
		}
		t.Cells(row...)
	}
}

func (s *Speed) print(t *eval.Tables) {
	t.Section(fmt.Sprintf("A frame on the database %s (Table 2: 18.1 ms with a GPU, 290 MB)", s.Database), "part, on one core\tms")
	for _, part := range []struct {
		name string
		time float64 // s
	}{
		{"reading a frame, contacts", s.Enter},
		{"search and regressions, without labels", s.Total - s.Enter},
		{"together", s.Total},
		{"together, into three styles at once", s.Blend},
		{"together, with action and style", s.Known},
	} {
		t.Row("%s\t%.3f", part.name, 1e3*part.time)
	}
	t.Row("the database of %d frames: MiB of memory\t%.0f", s.Frames, s.MiB)
}
