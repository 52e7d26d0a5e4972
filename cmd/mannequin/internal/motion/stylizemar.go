package motion

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// marReport is what stylize --method mar prints.
type marReport struct {
	Out      string  `json:"out"`
	Database string  `json:"database"`
	Licence  string  `json:"licence"`
	Retarget bool    `json:"retargeted"` // the content was on another skeleton
	In       float64 `json:"seconds_in"`
	Seconds  float64 `json:"seconds"`
	Frames   int     `json:"frames"`
	PerFrame float64 `json:"ms_per_frame"`

	SlideWas float64    `json:"slide_content_cm"` // of standing feet, per frame
	SlideRaw float64    `json:"slide_before_cm"`  // in the style, before feet are held
	Slide    float64    `json:"slide_cm"`
	Nearest  []marShare `json:"nearest"` // classes of the database, and in what share of frames each is nearest to the content
}

type marShare struct {
	Action string  `json:"action"`
	Style  string  `json:"style"`
	Share  float64 `json:"share"`
}

// marFlags are those of stylize --method mar alone.
type marFlags struct {
	database         string
	action, from     []string
	keep, confidence float64
	neighbours       int
	timing, feet     bool
}

func (o *marFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.database, "database", "styles-free", "mar: the database of styles, styles-free or a file")
	f.StringSliceVar(&o.action, "action", nil, "mar: what is done in the content, `actions` of the database (default: anything)")
	f.StringSliceVar(&o.from, "from-style", nil, "mar: `styles` that the content may be in (default: any)")
	f.Float64Var(&o.keep, "keep", 0.7, "mar: share of what only the content has that is kept, 0 to 1 (ρ)")
	f.Float64Var(&o.confidence, "confidence", 2, "mar: standard deviations of its neighbours over which the content is trusted (κ)")
	f.IntVar(&o.neighbours, "neighbours", 40, "mar: of each action in each style (K)")
	f.BoolVar(&o.timing, "timing", true, "mar: time runs as the style wants it; false: a frame out per frame in")
	f.BoolVar(&o.feet, "feet", true, "mar: hold standing feet, on flat ground")
}

// Flags that are for one method alone.
var (
	marOnly  = []string{"database", "action", "from-style", "keep", "confidence", "neighbours", "timing", "feet"}
	gramOnly = []string{"iterations", "edit", "seed", "manifold", "threads"}
)

func (o *stylizeFlags) checkMar() error {
	m := &o.mar
	switch {
	case !(o.amount >= 0 && o.amount <= 1):
		return command.Usagef("--amount is %v, want 0 to 1", o.amount)
	case !(m.keep >= 0 && m.keep <= 1):
		return command.Usagef("--keep is %v, want 0 to 1", m.keep)
	case !(m.confidence > 0 && m.confidence <= 100):
		return command.Usagef("--confidence is %v, want more than 0, up to 100", m.confidence)
	case m.neighbours < 2 || m.neighbours > 1000:
		return command.Usagef("--neighbours is %d, want 2 to 1000", m.neighbours)
	case o.content == "-" && o.out != "" && o.out != "-":
		return command.Usagef("--content - writes to the standard output as it reads: leave out --out %s", o.out)
	}
	return nil
}

// printMar runs, and tells about it where the motion does not go.
func (o *stylizeFlags) printMar(cmd *cobra.Command) error {
	if err := o.checkMar(); err != nil {
		return err
	}
	rep, err := o.runMar(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if o.out == "-" {
		w = cmd.ErrOrStderr()
	}
	if o.asJSON {
		return cli.PrintJSON(w, rep)
	}
	rep.Print(w)
	return nil
}

// runMar translates a file or a stream.
func (o *stylizeFlags) runMar(ctx context.Context, stdin io.Reader, stdout io.Writer) (*marReport, error) {
	db, err := input.OpenStyles(o.mar.database)
	if err != nil {
		return nil, err
	}
	return o.translate(ctx, db, stdin, stdout)
}

func (o *stylizeFlags) translate(ctx context.Context, db *mar.Database, stdin io.Reader, stdout io.Writer) (*marReport, error) {
	t, err := o.translator(db)
	if err != nil {
		return nil, err
	}
	defer t.stylist.Close()
	rep := &marReport{Out: o.out, Database: o.mar.database, Licence: db.License}
	name := o.content
	var in *source
	var shares *marShares
	if name == "-" {
		name = "standard input"
		if in, err = openStream(name, stdin, db); err != nil {
			return nil, err
		}
	} else {
		if in, rep.Retarget, err = openContent(name, db); err != nil {
			return nil, err
		}
		shares = newMarShares(t)
		t.looked = shares.look
	}
	if err := o.write(ctx, t, in, name, stdout); err != nil {
		return nil, err
	}
	if t.in == 0 {
		return nil, fmt.Errorf("%s: no frames", name)
	}
	rep.In, rep.Seconds, rep.Frames = float64(t.in)/float64(db.FPS), float64(t.out)/float64(db.FPS), t.out
	rep.PerFrame = 1000 * t.spent.Seconds() / float64(t.in)
	rep.SlideWas, rep.SlideRaw, rep.Slide = t.was.mean(), t.raw.mean(), t.is.mean()
	rep.Nearest = shares.list()
	return rep, nil
}

// translator returns what the flags ask for.
func (o *stylizeFlags) translator(db *mar.Database) (*translator, error) {
	mix, err := parseMix(o.style, db, o.amount)
	if err != nil {
		return nil, err
	}
	label, err := parseLabel(db, o.mar.action, o.mar.from)
	if err != nil {
		return nil, err
	}
	if err := checkLabel(input.ClassesOf(db), o.mar.action, o.mar.from, styleNames(db, mix.wants())); err != nil {
		return nil, err
	}
	t := &translator{db: db, mix: mix, timing: o.mar.timing}
	opt := mar.Options{Neighbours: o.mar.neighbours, Confidence: float32(o.mar.confidence), Keep: float32(o.mar.keep)}
	if opt.Keep == 0 {
		opt.Keep = -1
	}
	if o.mar.feet {
		if t.feet, err = newFeet(db.Skeleton(), db.FPS); err != nil {
			return nil, fmt.Errorf("%s: %w; or leave feet as they are with --feet=false", o.mar.database, err)
		}
	}
	if t.stylist, err = db.NewStyleTranslator(mar.StyleTranslatorOptions{Options: opt, Characters: 1, Workers: 1}); err != nil {
		return nil, err
	}
	t.stylist.Labels[0] = label
	return t, nil
}

// write sends the motion to where the flags want it.
func (o *stylizeFlags) write(ctx context.Context, t *translator, in *source, name string, stdout io.Writer) error {
	run := func(emit func(pos []m3.Vec3, rot []m3.Quat) error) error {
		return t.stream(in, emit, func() error {
			if ctx.Err() != nil {
				return fmt.Errorf("%s: interrupted after %d frames", name, t.in)
			}
			return nil
		})
	}
	sk, fps := t.db.Skeleton(), float64(t.db.FPS)
	if o.out == "-" {
		w, err := mocap.NewFrameWriter(stdout, sk, fps)
		if err != nil {
			return err
		}
		return run(w.Frame)
	}
	made := skel.NewClip(sk, fps, 0)
	err := run(func(pos []m3.Vec3, rot []m3.Quat) error {
		made.Pos, made.Rot, made.Frames = append(made.Pos, pos...), append(made.Rot, rot...), made.Frames+1
		if len(made.Pos) > input.MaxTransforms {
			return fmt.Errorf("%s: its %d frames are too many for a file: stream it with --content - ", name, t.in)
		}
		return nil
	})
	if err != nil || made.Frames == 0 {
		return err
	}
	return atomicfile.Write(o.out, func(w io.Writer) error { return mocap.WriteClip(w, made) })
}

// openContent opens a recording: as it is where it is on the database's skeleton,
// else retargeted.
func openContent(path string, db *mar.Database) (in *source, retargeted bool, err error) {
	if !input.IsAMC(path) {
		b, err := mocap.OpenBVH(path)
		if err != nil {
			return nil, false, err
		}
		if scale, err := unitOf(db, b.Clip.Skel); err == nil {
			return newSource(&clipFrames{clip: b.Clip}, db, scale, b.Clip.FPS), false, nil
		}
	}
	clip, _, err := retarget.Open(path, retarget.OpenOptions{Target: db.Skeleton(), FPS: float64(db.FPS)})
	if err != nil {
		return nil, false, err
	}
	return newSource(&clipFrames{clip: clip}, db, 1, clip.FPS), true, nil
}

// openStream opens a recording that is still going on. It must be on the database's
// skeleton: retargeting looks at a whole recording.
func openStream(name string, r io.Reader, db *mar.Database) (*source, error) {
	in, err := mocap.NewFrameReader(name, r)
	if err != nil {
		return nil, err
	}
	scale, err := unitOf(db, in.Skel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: a stream is not retargeted; send motion of the uniform skeleton, as \"mannequin import FILE --retarget --out F.bvh\" writes it", name, err)
	}
	return newSource(in, db, scale, in.FPS()), nil
}

// marShares counts which classes of the database are nearest to the content.
type marShares struct {
	t     *translator
	count []int // (actions, styles)
	found []mar.Neighbour
	n     int
}

func newMarShares(t *translator) *marShares {
	return &marShares{t: t, count: make([]int, len(t.db.Actions)*len(t.db.Styles))}
}

func (m *marShares) look() {
	best, least := -1, float32(0)
	for i := range m.count {
		m.found = m.t.stylist.Nearest(m.found[:0], 0, i/len(m.t.db.Styles), i%len(m.t.db.Styles))
		var d float32
		for _, n := range m.found {
			d += n.Distance * n.Distance / float32(len(m.found))
		}
		if len(m.found) > 0 && (best < 0 || d < least) {
			best, least = i, d
		}
	}
	if best >= 0 {
		m.count[best]++
		m.n++
	}
}

// list returns the classes by their shares, the greatest first.
func (m *marShares) list() []marShare {
	out := []marShare{}
	if m == nil {
		return out
	}
	for i, n := range m.count {
		if n > 0 {
			out = append(out, marShare{m.t.db.Actions[i/len(m.t.db.Styles)], m.t.db.Styles[i%len(m.t.db.Styles)], float64(n) / float64(m.n)})
		}
	}
	slices.SortStableFunc(out, func(a, b marShare) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

func (r *marReport) Print(w io.Writer) {
	fmt.Fprintf(w, "%s: %.1f s of motion from %.1f s, %.3f ms per frame; styles of %s, licence %s\n", r.Out, r.Seconds, r.In, r.PerFrame, r.Database, cli.Plain(r.Licence))
	fmt.Fprintf(w, "standing feet slide %.3f cm/frame, in the style before they are held %.3f, the content's %.3f\n", r.Slide, r.SlideRaw, r.SlideWas)
	if len(r.Nearest) > 0 {
		var list []string
		for _, s := range r.Nearest[:min(4, len(r.Nearest))] {
			list = append(list, fmt.Sprintf("%s %s %.0f %%", s.Style, s.Action, 100*s.Share))
		}
		fmt.Fprintf(w, "the content is nearest to: %s\n", cli.Plain(strings.Join(list, ", ")))
	}
}
