package judge

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"mannequin/offline/eval"
)

// Report compares motions with recordings.
type Report struct {
	Files  []File   `json:"files"`
	From   []File   `json:"from,omitempty"`
	Sets   []string `json:"recordings"` // names of the sets of recordings
	Uneven []string `json:"uneven"`     // recordings that were left out, on uneven ground
	Frames []Frames `json:"frames"`
	Rows   []Row    `json:"rows"`
	Told   []Told   `json:"told_apart"`

	Bones float64 `json:"bones"` // largest change of a bone's length, as a share
	Score
	Own *Score `json:"own,omitempty"` // rows against the clips that the motions were made from

	from *Set
}

// Score counts rows.
type Score struct {
	Count  int `json:"count"` // rows with values of both
	Within int `json:"within"`
	Fine   int `json:"fine"` // of the others, those that are less where less is no fault
}

func (s *Score) add(m *Match) {
	s.Count++
	if m.Within {
		s.Within++
	}
	if m.Fine {
		s.Fine++
	}
}

// Cells returns the score's cells in a table, as ScoreHead names them.
func (s *Score) Cells() []string {
	n := float64(max(s.Count, 1)) / 100
	return []string{fmt.Sprint(s.Within), fmt.Sprint(s.Count), fmt.Sprintf("%.0f %%", float64(s.Within)/n), fmt.Sprintf("%.0f %%", float64(s.Within+s.Fine)/n)}
}

// ScoreHead names the columns of a score's cells.
const ScoreHead = "within\tof\tshare\twith ↓"

// Frames is how many frames of a kind there are.
type Frames struct {
	Kind     string `json:"kind"`
	Made     int    `json:"made"`
	Recorded []int  `json:"recorded"` // by set
	TooFew   string `json:"too_few,omitempty"`
}

// Row is a measure of a kind of frame. Values are nil if there are too few frames.
type Row struct {
	Measure  string     `json:"measure"`
	Unit     string     `json:"unit"`
	Kind     string     `json:"kind"`
	Made     *float64   `json:"made"`
	Recorded *float64   `json:"recorded"` // mean of the sets, weighted by the roots of their frames of the kind
	Sets     []*float64 `json:"sets"`
	Match
	From *float64 `json:"from,omitempty"` // of the clips that the motions were made from
	Own  *Match   `json:"own,omitempty"`  // against From
}

// Match is how near a made value is to a recorded one.
type Match struct {
	Ratio  *float64 `json:"ratio"` // made ÷ recorded; nil if both are nothing
	Within bool     `json:"within"`
	Fine   bool     `json:"fine"` // less where less is no fault
}

// match compares two values of a measure.
func (m *measure) match(made, recorded float64) (t Match) {
	if made == recorded || m.less && max(made, recorded) <= m.nothing {
		t.Within = true
		return t
	}
	ratio := made / recorded
	t.Ratio, t.Within = orNil(ratio), ratio >= Lower && ratio <= Upper
	t.Fine = !t.Within && m.less && made < recorded
	return t
}

// The bounds of made ÷ recorded within which a row counts as like the recordings.
const Lower, Upper = 0.7, 1.4

// Compare compares made with the sets of recordings, and with the clip that it was made from if from
// is not nil.
func Compare(made, from *Set, sets ...*Set) *Report {
	r := CompareRows(made, from, sets...)
	if from != nil {
		if t, ok := tell("all", "own clip", made.seconds, from.seconds); ok {
			r.Told = append(r.Told, t)
		}
	}
	if len(sets) == 1 && sets[0] == from {
		return r
	}
	for _, k := range []Kind{Stand, Walk, Run} {
		if t, ok := tell(k.String(), "recordings", ofKind(k, made), ofKind(k, sets...)); ok {
			r.Told = append(r.Told, t)
		}
	}
	return r
}

// CompareRows is Compare without the classifier.
func CompareRows(made, from *Set, sets ...*Set) *Report {
	r := &Report{Files: made.Files, Bones: made.bones, from: from}
	if from != nil {
		r.From, r.Own = from.Files, &Score{}
	}
	for _, s := range sets {
		r.Sets, r.Uneven = append(r.Sets, s.Name), append(r.Uneven, s.Uneven...)
	}
	for k := range numKinds {
		f := Frames{Kind: k.String(), Made: made.frames[k]}
		most := 0
		for _, s := range sets {
			f.Recorded = append(f.Recorded, s.frames[k])
			most = max(most, s.frames[k])
		}
		switch {
		case f.Made < fewest:
			f.TooFew = "made"
		case most < fewest:
			f.TooFew = "recorded"
		}
		r.Frames = append(r.Frames, f)
	}
	for _, m := range measures() {
		for _, k := range m.kinds {
			r.row(&m, k.String(), m.value(&made.series, k), func(s *Set) (v, weight float64) {
				return m.value(&s.series, k), math.Sqrt(float64(s.frames[k]))
			}, sets)
		}
	}
	keeps := measure{name: "speed, last third over first", unit: "ratio"}
	r.row(&keeps, "all", meanOf(made.keeps), func(s *Set) (v, weight float64) { return meanOf(s.keeps), 1 }, sets)
	posture, swing := made.people()
	r.row(&measure{name: "posture between people", unit: "cm"}, "walk", posture, func(s *Set) (v, weight float64) { v, _ = s.people(); return v, 1 }, sets)
	r.row(&measure{name: "swing between people", unit: "cm"}, "walk", swing, func(s *Set) (v, weight float64) { _, v = s.people(); return v, 1 }, sets)
	return r
}

func meanOf(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return mean(v)
}

// row adds a row. All reports have the same rows.
func (r *Report) row(m *measure, kind string, made float64, of func(*Set) (v, weight float64), sets []*Set) {
	row := Row{Measure: m.name, Unit: m.unit, Kind: kind, Made: orNil(made)}
	sum, n := 0.0, 0.0
	for _, s := range sets {
		v, weight := of(s)
		row.Sets = append(row.Sets, orNil(v))
		if !math.IsNaN(v) {
			sum, n = sum+weight*v, n+weight
		}
	}
	if n > 0 {
		row.Recorded = orNil(sum / n)
	}
	if row.Recorded != nil && row.Made != nil {
		row.Match = m.match(made, *row.Recorded)
		r.Score.add(&row.Match)
	}
	if r.from != nil {
		v, _ := of(r.from)
		if row.From = orNil(v); row.From != nil && row.Made != nil {
			own := m.match(made, v)
			row.Own = &own
			r.Own.add(&own)
		}
	}
	r.Rows = append(r.Rows, row)
}

func orNil(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// number formats a value that may be missing.
func number(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.3g", *v)
}

// Cell returns the ratio of a row as a table shows it.
func (r *Row) Cell() string {
	if r.Recorded == nil || r.Made == nil {
		return number(nil)
	}
	return r.Match.Cell()
}

// Cell returns the ratio as a table shows it.
func (m *Match) Cell() string {
	mark := "*"
	switch {
	case m.Within:
		mark = ""
	case m.Fine:
		mark = "↓"
	}
	return mark + number(m.Ratio)
}

// Recordings returns the values of all sets of recordings as a table shows them.
func (r *Row) Recordings() string {
	var cells []string
	for _, v := range r.Sets {
		cells = append(cells, number(v))
	}
	return strings.Join(cells, " / ")
}

// Cells returns a file's cells in a table: its name, seconds and speeds.
func (f *File) Cells() []string {
	var speeds []string
	for _, v := range f.Speeds[:min(len(f.Speeds), 12)] {
		speeds = append(speeds, fmt.Sprintf("%.2f", v))
	}
	return []string{filepath.Base(f.Name), fmt.Sprintf("%.1f", f.Seconds), strings.Join(speeds, " ")}
}

// bases returns the last parts of paths.
func bases(paths []string) (out []string) {
	for _, p := range paths {
		out = append(out, filepath.Base(p))
	}
	return out
}

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	t := eval.NewTables(w)
	sets, own := strings.Join(bases(r.Sets), "\t"), ""
	if r.from != nil {
		own = "\town clip\t÷"
	}
	t.Section("Speed of the hips, means of 10 s, m/s", "file\tseconds\tspeeds")
	for _, f := range r.Files {
		t.Cells(f.Cells()...)
	}
	t.Section("Frames of each kind", "kind\tmade\t"+sets+"\t")
	for _, f := range r.Frames {
		cells := []string{f.Kind, fmt.Sprint(f.Made)}
		for _, n := range f.Recorded {
			cells = append(cells, fmt.Sprint(n))
		}
		if f.TooFew != "" {
			cells = append(cells, "too few "+f.TooFew)
		}
		t.Cells(cells...)
	}
	t.Section("Made ÷ recorded: * out of 0.7 to 1.4, ↓ less where less is no fault", "measure\tkind\tunit\tmade\trecorded\t÷\t"+sets+own)
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Made == nil {
			continue
		}
		cells := []string{row.Measure, row.Kind, row.Unit, number(row.Made), number(row.Recorded), row.Cell()}
		for _, v := range row.Sets {
			cells = append(cells, number(v))
		}
		if r.from != nil {
			cells = append(cells, number(row.From))
			if row.Own != nil {
				cells = append(cells, row.Own.Cell())
			}
		}
		t.Cells(cells...)
	}
	t.Section("Told apart by a classifier, second by second; 0.5 is by chance", ToldHead)
	for i := range r.Told {
		t.Cells(r.Told[i].Cells()...)
	}
	if err := t.End(); err != nil {
		return err
	}
	if len(r.Uneven) > 0 {
		fmt.Fprintf(w, "left out, on uneven ground: %s\n", strings.Join(bases(r.Uneven), " "))
	}
	fmt.Fprintf(w, "bones change their length by up to %.2g %%\n", 100*r.Bones)
	if r.Own != nil {
		fmt.Fprintf(w, "%d of %d rows lie within 0.7 to 1.4 of the own clip, %d more are less where less is no fault\n", r.Own.Within, r.Own.Count, r.Own.Fine)
	}
	_, err := fmt.Fprintf(w, "%d of %d rows lie within 0.7 to 1.4 of the recordings, %d more are less where less is no fault\n", r.Within, r.Count, r.Fine)
	return err
}
