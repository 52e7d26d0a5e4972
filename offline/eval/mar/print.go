package mar

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

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

// rivalMethods are all that package mar is compared with where the class is known.
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
	each := func(free bool, f func(s *Set, mine *transfer.Mean)) {
		for i := range r.Sets {
			if s := &r.Sets[i]; s.Free == free {
				f(s, s.Mean(transfer.MAR))
			}
		}
	}
	each(false, func(s *Set, m *transfer.Mean) {
		bar := barHomogeneous
		if s.Mixed {
			bar = barHeterogeneous
		}
		b.Most("pose error ÷ the linear systems' of Hsu et al. 2005", s.Name, eval.Over(m.Pose, s.Mean(transfer.LTIOwn).Pose), bar)
	})
	each(false, func(s *Set, m *transfer.Mean) {
		b.Most("pose error ÷ those with the whole pose as input", s.Name, eval.Over(m.Pose, s.Mean(transfer.LTIPose).Pose), 1)
	})
	each(false, func(s *Set, m *transfer.Mean) {
		best := s.best(rivalMethods()...)
		b.Most("pose error ÷ the best other's", s.Name+" ("+best.Method+")", eval.Over(m.Pose, best.Pose), 1)
	})
	each(false, func(s *Set, m *transfer.Mean) {
		b.Most("timing error ÷ the linear systems'", s.Name, eval.Over(m.Time, s.Mean(transfer.LTIOwn).Time), barTiming)
	})
	each(false, func(s *Set, m *transfer.Mean) {
		b.Most("pose error, unlabelled ÷ labelled", s.Name, eval.Over(s.Mean(transfer.MAR+transfer.Unlabelled).Pose, m.Pose), barUnlabelled)
	})
	each(true, func(s *Set, m *transfer.Mean) {
		b.Most("pose error where the truth is known, cm", s.Name, &m.Pose, barFreePose)
	})
	each(true, func(s *Set, m *transfer.Mean) {
		b.Most("timing error there, frames", s.Name, &m.Time, barFreeTime)
	})
	if len(r.Far) > 0 {
		finite, worst := 0.0, r.worstFar()
		for i := range r.Far {
			if r.Far[i].Finite {
				finite += 1 / float64(len(r.Far))
			}
		}
		finite = math.Round(finite*1e6) / 1e6
		b.Least("share of far input whose output is finite", fmt.Sprintf("%d clips", len(r.Far)), &finite, 1)
		ratio := worst.Ratio()
		b.Most("fastest joint ÷ the input's", worst.Clip+" to "+worst.Style, &ratio, barFarSpeed)
	}
	return b
}

// worstFar returns the far clip that gets faster than all others.
func (r *Report) worstFar() *Far {
	worst := &r.Far[0]
	for i := range r.Far {
		if r.Far[i].Ratio() > worst.Ratio() {
			worst = &r.Far[i]
		}
	}
	return worst
}

func (r *Report) Print(w io.Writer) error {
	t := &eval.Tables{W: w}
	for i := range r.Sets {
		s := &r.Sets[i]
		t.Section(fmt.Sprintf("%s: %d takes, %d frames; from %s into %d styles", s.Name, s.Takes, s.Frames, s.From, s.styles()), s.rows()...)
		if len(s.Actions) > 0 {
			t.Section(s.Name+", cm by action", s.actionRows()...)
		}
	}
	if r.Speed != nil {
		t.Section(fmt.Sprintf("A frame on the database %s (Table 2: 18.1 ms with a GPU, 290 MB)", r.Speed.Database), r.speedRows()...)
	}
	if len(r.Far) > 0 {
		t.Section("Input unlike the data, of which nothing is told: the fastest joint, m/s; the ten that gain most", r.farRows()...)
	}
	for _, f := range r.Figures {
		if t.Err == nil {
			_, t.Err = fmt.Fprintln(w, f)
		}
	}
	t.Table(fmt.Sprintf("mar in short: %d of %d bars missed, marked *", r.Bars.Missed(), len(r.Bars)), 0, r.Bars.Rows())
	return t.Err
}

// styles counts the styles that a set is translated into.
func (s *Set) styles() int {
	seen := map[string]bool{}
	for _, v := range s.Scores {
		seen[v.Style] = true
	}
	return len(seen)
}

func (s *Set) rows() []string {
	rows := []string{"method\tcases\tpose cm\tdeviation\tMAR ÷\ttime off, frames\tMAR ÷\tapart from tempo\tper step\ttempo off"}
	mine := s.Mean(transfer.MAR)
	for _, m := range s.Means {
		rows = append(rows, eval.Cells(m.Method, fmt.Sprint(m.Cases), fmt.Sprintf("%.2f", m.Pose), fmt.Sprintf("%.2f", s.deviation(m.Method)), fmt.Sprintf("%.2f", mine.Pose/m.Pose),
			fmt.Sprintf("%.2f", m.Time), fmt.Sprintf("%.2f", mine.Time/m.Time), fmt.Sprintf("%.2f", m.Warp), fmt.Sprintf("%.3f", m.Step), fmt.Sprintf("%.1f %%", 100*m.Tempo)))
	}
	return rows
}

// deviation returns the standard deviation of a method's errors of poses over cases.
func (s *Set) deviation(method string) float64 {
	var n, sum, squares float64
	for _, v := range s.Scores {
		if v.Method == method {
			n, sum, squares = n+1, sum+v.Pose, squares+v.Pose*v.Pose
		}
	}
	return math.Sqrt(max(0, squares/n-sum*sum/n/n))
}

func (s *Set) actionRows() []string {
	var actions []string
	for a := range s.Actions {
		actions = append(actions, a)
	}
	slices.Sort(actions)
	rows := []string{"method\t" + strings.Join(actions, "\t")}
	for i, m := range s.Means {
		row := []string{m.Method}
		for _, a := range actions {
			row = append(row, fmt.Sprintf("%.2f", s.Actions[a][i].Pose))
		}
		rows = append(rows, eval.Cells(row...))
	}
	return rows
}

func (r *Report) speedRows() []string {
	s := r.Speed
	ms := func(v float64) string { return fmt.Sprintf("%.3f", 1e3*v) }
	return []string{"part, on one core\tms",
		eval.Cells("taking a frame in, which feet stand", ms(s.Enter)),
		eval.Cells("search and regressions, nothing told of the input", ms(s.Total-s.Enter)),
		eval.Cells("together", ms(s.Total)),
		eval.Cells("together, into three styles at once", ms(s.Blend)),
		eval.Cells("together, action and style told", ms(s.Known)),
		eval.Cells(fmt.Sprintf("the database of %d frames: MiB of memory", s.Frames), fmt.Sprintf("%.0f", s.MiB)),
	}
}

func (r *Report) farRows() []string {
	rows := []string{"recording\tstyle\tseconds\tfinite\tinput\toutput\tratio"}
	far := slices.Clone(r.Far)
	slices.SortStableFunc(far, func(a, b Far) int {
		switch d := b.Ratio() - a.Ratio(); {
		case d > 0:
			return 1
		case d < 0:
			return -1
		}
		return 0
	})
	for _, f := range far[:min(10, len(far))] {
		rows = append(rows, eval.Cells(f.Clip, f.Style, fmt.Sprintf("%.1f", float64(f.Frames)/60), fmt.Sprint(f.Finite), fmt.Sprintf("%.2f", f.Input), fmt.Sprintf("%.2f", f.Output), fmt.Sprintf("%.2f", f.Ratio())))
	}
	return rows
}
