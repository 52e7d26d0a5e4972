package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/offline/dataset"
	"mannequin/offline/metrics"
	"mannequin/offline/mocap"
)

// stylizeReport is what the command prints.
type stylizeReport struct {
	Out       string  `json:"out"`
	Seconds   float64 `json:"seconds"`
	Took      float64 `json:"took_s"`
	Rate      float64 `json:"frames_per_second"`
	Steps     int     `json:"steps"`
	Weight    float64 `json:"style_weight"` // s of the cost
	Cost      float64 `json:"cost"`
	Before    float64 `json:"cost_before"`
	Content   float64 `json:"content_cost"`
	GramWas   float64 `json:"gram_distance_content"`
	Gram      float64 `json:"gram_distance"`
	GramRatio float64 `json:"gram_ratio"`

	CadenceWas float64             `json:"cadence_content"` // steps per second; 0 where it makes fewer than two
	Cadence    float64             `json:"cadence"`
	SkateWas   float64             `json:"skate_content_cm"` // of the content, per frame
	Edit       manifold.EditReport `json:"edit"`
	Motion     metrics.People      `json:"motion"`
}

// stylizeFlags are the flags of the command.
type stylizeFlags struct {
	method, content, style, out, base string
	amount                            float64
	iterations, edit, threads         int
	seed                              uint64
	asJSON                            bool
	mar                               marFlags
}

func newStylize() *cobra.Command {
	var o stylizeFlags
	c := &cobra.Command{
		Use:   "stylize --content A.bvh --style STYLE --out C.bvh",
		Short: "Give a motion another style, at once or as it comes",
		Long: `Give the motion of a person another style, and write it as BVH on the human
skeleton: metres, 60 frames per second, world space.

With --method mar (Xia, Wang, Chai and Hodgins 2015) motion is translated frame by
frame into styles of a database, styles-free or one of "mannequin style build".
--style says which, by their names in it:

  proud                              a style
  proud:0.7,old:0.3                  a blend; what is missing to 1 is the content's own
  0:proud,3:old,5:own                over time, in seconds of the content: from one
  0:proud,4:proud:0.5+angry:0.5      time to the next weights change evenly; "own" is
                                     the content's own style

Nothing need be known of the content; --action and --from-style say what is. Slow
styles take longer than the content did, fast ones less, unless --timing=false.

With --content - frames come from the standard input and go to the standard output,
each as soon as it is made: BVH, a line per frame, on the uniform skeleton (mannequin
import --retarget). "Frames:" may be 0 or missing on the way in and is 0 on the way
out; mannequin reads such files, and import --out counts their frames. The report
goes to the standard error.

With --method gram (Holden, Saito and Komura 2016) --style is a recording. The hidden
values of a motion manifold are sought that are near to those of the content and
whose Gram matrix is near to the style's. Then the motion is edited: the body moves
as the content's, feet stand where and when they did, bones keep their length.
--style FILE:NAME is a style of "mannequin style transfer", or of the shipped
styles-gram: a crowd's, found before, which costs next to nothing. --amount is then
its weight, up to 2; it suits walks and runs.

Recordings are BVH or AMC files of any skeleton that a retargeting profile fits
(mannequin import --retarget). With gram content and style need not do the same,
but the style shows best where they do: a walk for a walk, at about its speed.`,
		Example: `  mannequin stylize --method mar --content walk.bvh --style proud --out proud-walk.bvh
  mannequin stylize --method mar --content walk.bvh --style 0:own,2:old --action walk --out older.bvh
  capture | mannequin stylize --method mar --content - --style angry:0.5 --timing=false | show
  mannequin stylize --content walk.bvh --style old.bvh --out old-walk.bvh
  mannequin stylize --content walk.bvh --style styles-gram:sneaking --out sneak.bvh
  mannequin stylize --content 07_04.bvh --style angry.bvh --amount 0.1 --out a-little.bvh --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			others := marOnly
			if o.method == "mar" {
				others = gramOnly
			}
			for _, name := range others {
				if cmd.Flags().Changed(name) && (o.method == "mar" || o.method == "gram") {
					return command.Usagef("--%s is not for --method %s", name, o.method)
				}
			}
			if o.content == "-" && o.out == "" {
				o.out = "-"
			}
			switch {
			case o.method != "gram" && o.method != "mar":
				return command.Usagef("--method is %q, want gram or mar", o.method)
			case o.out == "":
				return command.Usagef("no --out: want the BVH file to write")
			case o.method == "mar":
				return o.printMar(cmd)
			case o.content == "-" || o.out == "-":
				return command.Usagef("streams (-) are for --method mar")
			case !(o.amount > 0 && o.amount <= 1000):
				return command.Usagef("--amount is %v, want more than 0 and at most 1000", o.amount)
			case o.iterations < 1 || o.iterations > 10000:
				return command.Usagef("--iterations is %d, want 1 to 10000", o.iterations)
			case o.edit < 0 || o.edit > 10000:
				return command.Usagef("--edit is %d, want 0 to 10000", o.edit)
			case o.threads < 1 || o.threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.threads)
			}
			if file, name, ok := transferOf(o.style); ok {
				if cmd.Flags().Changed("iterations") || cmd.Flags().Changed("seed") {
					return command.Usagef("--iterations and --seed are for a recording of a style, %s is found already", o.style)
				}
				return o.restyle(cmd.OutOrStdout(), file, name)
			}
			rep, err := o.run()
			if err != nil {
				return err
			}
			if o.asJSON {
				return printJSON(cmd.OutOrStdout(), rep)
			}
			rep.print(cmd.OutOrStdout())
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&o.method, "method", "gram", "how: gram or mar")
	f.StringVar(&o.content, "content", "", "the motion to change, BVH or AMC; with mar - for the standard input")
	f.StringVar(&o.style, "style", "", "the style it gets: with gram a recording, BVH or AMC, or FILE:NAME of \"style transfer\", with mar styles of the database")
	f.StringVarP(&o.out, "out", "o", "", "the BVH file to write; with mar - for the standard output")
	f.Float64Var(&o.amount, "amount", 1, "how much style: scales the weight of the style's term, or with mar those of the styles")
	f.IntVar(&o.iterations, "iterations", manifold.StyleIterations, "most steps towards the style")
	f.IntVar(&o.edit, "edit", manifold.DefaultIterations, "steps of the edit that holds standing feet and bones; 0 leaves it out")
	f.Uint64Var(&o.seed, "seed", 1, "of the white noise to start from")
	f.StringVar(&o.base, "manifold", "human", "a shipped model's name, or a model file: the motion manifold")
	f.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	f.BoolVar(&o.asJSON, "json", false, "print the report as one JSON object")
	o.mar.add(c)
	for _, name := range []string{"content", "style"} {
		must(c.MarkFlagRequired(name))
	}
	return c
}

func (o *stylizeFlags) run() (*stylizeReport, error) {
	m, err := openManifold(o.base)
	if err != nil {
		return nil, err
	}
	content, start, err := openStyled(m, o.content)
	if err != nil {
		return nil, err
	}
	clip, _, err := openStyled(m, o.style)
	if err != nil {
		return nil, err
	}
	rep, rows, err := o.stylize(m, content, start, clip)
	if err != nil {
		return nil, err
	}
	rep.Out = o.out
	made, err := m.Clip(rows, manifold.Rate, start)
	if err != nil {
		return nil, err
	}
	return rep, atomicfile.Write(o.out, func(w io.Writer) error { return mocap.WriteClip(w, made) })
}

// stylize gives content, whose body begins at start, the style of clip, and
// measures what comes out, rows.
func (o *stylizeFlags) stylize(m *manifold.Model, content []float32, start feature.Place, clip []float32) (rep *stylizeReport, rows []float32, err error) {
	style, err := m.NewStyle(clip, o.threads)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.style, err)
	}
	frames := len(content) / m.Layout.Columns()
	s, err := m.NewStylist(manifold.StylistOptions{Batch: 1, Length: frames, Workers: o.threads})
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	w := style.Weights()
	w.Style *= float32(o.amount)
	rows = slices.Clone(content)
	at := time.Now()
	reports, edit, err := s.Run(&manifold.Stylisation{Batch: 1, Length: frames, Rows: rows, Styles: []*manifold.Style{style},
		Weights: []manifold.StyleWeights{w}, Seed: o.seed, Iterations: o.iterations, Edit: o.edit})
	if err != nil {
		return nil, nil, err
	}
	r, took := reports[0], time.Since(at).Seconds()
	if r.Failed {
		return nil, nil, fmt.Errorf("%s: no motion near to it was found: its values leave the range of numbers", o.content)
	}
	rep = &stylizeReport{Seconds: float64(frames) / manifold.Rate, Took: took, Rate: float64(frames) / took, Steps: r.Steps, Weight: float64(w.Style),
		Cost: r.After, Before: r.Before, Content: r.Content, GramWas: r.GramContent, Gram: r.GramResult, GramRatio: r.Ratio(), Edit: edit}
	rep.CadenceWas, rep.Cadence = stepsPerSecond(m.Layout, content), stepsPerSecond(m.Layout, rows)
	stand := contactsOf(m.Layout, content)
	was, err := metrics.MeasurePeople(m, content, stand, start, nil)
	if err != nil {
		return nil, nil, err
	}
	rep.SkateWas = was.Skate
	rep.Motion, err = metrics.MeasurePeople(m, rows, stand, start, nil)
	return rep, rows, err
}

// openStyled reads a recording of a person, of an even number of frames.
func openStyled(m *manifold.Model, path string) ([]float32, feature.Place, error) {
	rows, start, err := dataset.OpenPerson(path, m.Layout, m.Skel, nil)
	if err != nil {
		return nil, start, err
	}
	cols := m.Layout.Columns()
	frames := len(rows) / cols &^ 1
	if frames < manifold.ShortestStyle {
		return nil, start, fmt.Errorf("%s: %.2g s are too short, want at least %.2g s", path, float64(len(rows)/cols)/manifold.Rate, float64(manifold.ShortestStyle)/manifold.Rate)
	}
	return rows[:frames*cols], start, nil
}

// contactsOf returns where contacts stand, (frames, contacts).
func contactsOf(l *feature.Motion, rows []float32) []float32 {
	cols := l.Columns()
	var stand []float32
	for ; len(rows) > 0; rows = rows[cols:] {
		stand = append(stand, rows[l.Contact(0):cols]...)
	}
	return stand
}

// stepsPerSecond returns how often one foot overtakes the other, seen along the way
// that the body goes, between the first time and the last. A foot is what has
// contacts on one side; it is ahead once it is so by ahead metres.
func stepsPerSecond(l *feature.Motion, rows []float32) float64 {
	const ahead = 0.04
	side, first, last, steps := 0, 0, 0, 0
	for f := range len(rows) / l.Columns() {
		row := rows[f*l.Columns():][:l.Columns()]
		vx, vz := row[l.Body()+feature.MotionX], row[l.Body()+feature.MotionZ]
		v := m3.Sqrt(vx*vx + vz*vz)
		if v < 0.1 {
			continue
		}
		var apart float32
		for _, c := range l.Contacts {
			at := l.Pos(l.Joint(c.Joint))
			along := (row[at]*vx + row[at+2]*vz) / v
			if strings.HasPrefix(c.Joint, "Left") {
				along = -along
			}
			apart += 2 * along / float32(len(l.Contacts))
		}
		now := side
		if apart > ahead {
			now = 1
		} else if apart < -ahead {
			now = -1
		}
		if now != side {
			if side != 0 {
				if steps++; steps == 1 {
					first = f
				}
				last = f
			}
			side = now
		}
	}
	if last == first {
		return 0
	}
	return float64(steps-1) * manifold.Rate / float64(last-first)
}

func (r *stylizeReport) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %.1f s of motion in %.2f s (%.0f frames/s): %d steps towards the style, %d of editing\n",
		r.Out, r.Seconds, r.Took, r.Rate, r.Steps, r.Edit.Steps)
	fmt.Fprintf(w, "distance from the style's Gram matrix: %.3g, the content's %.4g (ratio %.3f)\n", r.Gram, r.GramWas, r.GramRatio)
	fmt.Fprintf(w, "cost %.4g of %.4g, %.4g of it the distance from the content; weight of style %.3g\n", r.Cost, r.Before, r.Content, r.Weight)
	fmt.Fprintf(w, "steps per second: %.2f, the content's %.2f\n", r.Cadence, r.CadenceWas)
	fmt.Fprintf(w, "standing feet slide %.3f cm/frame, the content's %.3f; bones change by %.2f %% (largest %.1f %%)\n",
		r.Motion.Skate, r.SkateWas, r.Motion.Bone, r.Motion.BoneMost)
}
