// Package style measures shipped styles on motion of any kind: whether bodies hold together.
package style

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/offline/dataset"
	"mannequin/offline/eval"
	"mannequin/offline/retarget"
)

// Options are the flags of eval style.
type Options struct {
	Data       []string // folders of recordings; each is a set
	Only, Skip []string // patterns of their names
	Reading    retarget.Reading
	Model      *manifold.Model
	Transfers  []*manifold.StyleTransfer // of Model
	Database   *mar.Database             // nil: none
	Takes      int                       // most of a set, evenly spread
	Seconds    float64                   // most of a take, from its middle
	Threads    int
}

// Report is the result.
type Report struct {
	Rows   []Row     `json:"rows"`
	Shares []Share   `json:"shares"`
	Bars   eval.Bars `json:"bars"`
}

// Share counts a method's pairs of a style and a set of which all figures are within the limits.
type Share struct {
	Method string `json:"method"`
	Within int    `json:"within"`
	Of     int    `json:"of"`
}

// Row is a style on a set, or the set as recorded.
type Row struct {
	Set    string  `json:"set"`
	Method string  `json:"method"` // gram, poses (the same styles, pose by pose) or mar; empty: recorded
	Style  string  `json:"style"`
	Moved  float64 `json:"moved_cm"` // mean distance of joints from the recording's, seen from the body
	Posture
}

// take is a recording.
type take struct {
	rows  []float32
	clip  *skel.Clip
	floor Floor
}

// Measure measures styles.
func Measure(ctx context.Context, o Options, progress eval.Progress) (*Report, error) {
	r := &Report{}
	for _, dir := range o.Data {
		if err := r.set(ctx, dir, &o, progress); err != nil {
			return nil, err
		}
	}
	r.bars()
	return r, nil
}

// set measures all styles on the recordings of a folder.
func (r *Report) set(ctx context.Context, dir string, o *Options, progress eval.Progress) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	name := filepath.Base(abs)
	progress.Stage("reading " + name)
	takes, err := read(dir, o)
	if err != nil {
		return err
	}
	l := o.Model.Layout
	all := NewPostures(l)
	for _, t := range takes {
		all.Add(t.rows, t.floor)
	}
	r.Rows = append(r.Rows, Row{Set: name, Style: "recorded", Posture: all.Value()})
	measure := func(method, style string, make func(t *take) ([]float32, error)) error {
		progress.Stage(name + ", " + style)
		made, moved, values := NewPostures(l), 0.0, 0
		for i := range takes {
			if ctx.Err() != nil {
				return eval.ErrInterrupted
			}
			rows, err := make(&takes[i])
			if err != nil {
				return fmt.Errorf("%s on a take of %s: %w", style, name, err)
			}
			made.Add(rows, takes[i].floor)
			for f := range len(rows) / l.Columns() {
				a, b := rows[f*l.Columns():], takes[i].rows[f*l.Columns():]
				for j := range l.Joints {
					k := l.Pos(j)
					moved += float64(m3.V(a[k]-b[k], a[k+1]-b[k+1], a[k+2]-b[k+2]).Len())
					values++
				}
			}
		}
		r.Rows = append(r.Rows, Row{Set: name, Method: method, Style: style, Moved: 100 * moved / float64(values), Posture: made.Value()})
		return nil
	}
	for _, tr := range o.Transfers {
		err := measure("gram", tr.Name, func(t *take) ([]float32, error) {
			return o.Model.Restyle(t.rows, manifold.WeightedStyle{Transfer: tr, Weight: 1}, manifold.DefaultIterations, o.Threads)
		})
		if err != nil {
			return err
		}
	}
	for i, tr := range o.Transfers {
		err := measure("poses", tr.Name, func(t *take) ([]float32, error) { return poses(o, t, i) })
		if err != nil {
			return err
		}
	}
	for s := 0; o.Database != nil && s < len(o.Database.Styles); s++ {
		err := measure("mar", o.Database.Styles[s], func(t *take) ([]float32, error) { return translate(o, t, s) })
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads a folder's recordings.
func read(dir string, o *Options) ([]take, error) {
	_, paths, err := dataset.Recordings([]string{dir}, o.Only, o.Skip)
	if err != nil {
		return nil, err
	}
	n := min(o.Takes, len(paths))
	l := o.Model.Layout
	var takes []take
	for i := range n {
		clip, err := dataset.OpenStanding(paths[(2*i+1)*len(paths)/(2*n)], l, o.Model.Skel, o.Reading)
		if err != nil {
			return nil, err
		}
		frames := min(clip.Frames, int(math.Round(o.Seconds*manifold.Rate))) &^ 1
		if frames < manifold.MinStyleFrames {
			continue
		}
		cut := skel.NewClip(clip.Skel, clip.FPS, frames)
		j, from := clip.Skel.Len(), (clip.Frames-frames)/2
		copy(cut.Pos, clip.Pos[from*j:])
		copy(cut.Rot, clip.Rot[from*j:])
		rows, _, err := dataset.RowsOf(l, cut)
		if err != nil {
			return nil, err
		}
		takes = append(takes, take{rows, cut, FloorOf(l, rows)})
	}
	if len(takes) == 0 {
		return nil, fmt.Errorf("%s: no recording of at least half a second", dir)
	}
	return takes, nil
}

// translate gives a take a style of the database, a frame for each frame, without a foot lock.
func translate(o *Options, t *take, style int) ([]float32, error) {
	db := o.Database
	s, err := db.NewStyleTranslator(mar.StyleTranslatorOptions{Characters: 1, Workers: 1})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	s.Weights[style] = 1
	out := skel.NewClip(t.clip.Skel, t.clip.FPS, 0)
	var retimer *mar.Retimer
	for f := range t.clip.Frames {
		pos, rot := t.clip.Frame(f)
		row, _ := s.Step(0, pos, rot)
		if retimer == nil {
			retimer = db.NewRetimer(pos[0], m3.WrapAngle(2*m3.Atan2(rot[0].Y, rot[0].W)))
		}
		retimer.Push(row, 1, func(pos []m3.Vec3, rot []m3.Quat) {
			out.Pos, out.Rot, out.Frames = append(out.Pos, pos...), append(out.Rot, rot...), out.Frames+1
		})
	}
	rows, _, err := dataset.RowsOf(o.Model.Layout, out)
	return rows, err
}

// poses gives a take a style of the transfers, pose by pose.
func poses(o *Options, t *take, style int) ([]float32, error) {
	p, err := manifold.NewPoseStyler(o.Transfers, t.clip.Skel, ik.DefaultHuman().Sole)
	if err != nil {
		return nil, err
	}
	out := skel.NewClip(t.clip.Skel, t.clip.FPS, t.clip.Frames)
	copy(out.Pos, t.clip.Pos)
	copy(out.Rot, t.clip.Rot)
	for f := range out.Frames {
		pos, rot := out.Frame(f)
		p.Run(pos, rot, style, 1)
	}
	rows, _, err := dataset.RowsOf(o.Model.Layout, out)
	return rows, err
}

// bars adds a bar for each figure, the worst set of each style, and counts the pairs within limits.
func (r *Report) bars() {
	var recorded Posture
	type key struct{ method, style, measure string }
	worst := map[key]float64{}
	var order []key
	for _, row := range r.Rows {
		if row.Method == "" {
			recorded = row.Posture
			continue
		}
		n := slices.IndexFunc(r.Shares, func(s Share) bool { return s.Method == row.Method })
		if n < 0 {
			n = len(r.Shares)
			r.Shares = append(r.Shares, Share{Method: row.Method})
		}
		within := true
		for i, f := range figures {
			k := key{row.Method, row.Style, f.name}
			if _, ok := worst[k]; !ok {
				order = append(order, k)
			}
			v := f.of(&row.Posture) / limit(i, &recorded)
			worst[k] = max(worst[k], v)
			within = within && v <= 1
		}
		if r.Shares[n].Of++; within {
			r.Shares[n].Within++
		}
	}
	for _, k := range order {
		r.Bars.Most(k.measure+" ÷ limit", k.method+" "+k.style, worst[k], 1)
	}
	r.Bars = r.Bars.Sorted()
}

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	t := eval.NewTables(w)
	set := ""
	for _, row := range r.Rows {
		if row.Set != set {
			set = row.Set
			t.Section(set, "\tstyle\tmoved cm\ttwist °\ttilt °\tlean p99 °\tjerk p99.9\tknees cross\tfeet up\thand in torso")
		}
		p := row.Posture
		t.Row("%s\t%s\t%.1f\t%.1f\t%.1f\t%.0f\t%.0f\t%.4f\t%.3f\t%.3f", row.Method, row.Style, row.Moved, p.Twist, p.Tilt, p.Lean, p.Jerk, p.Cross, p.Up, p.Torso)
	}
	t.Section("styles on sets, all figures within the limits", "\twithin\tof")
	for _, s := range r.Shares {
		t.Row("%s\t%d\t%d", s.Method, s.Within, s.Of)
	}
	return t.InShort("styles", r.Bars, "")
}
