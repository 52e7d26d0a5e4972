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
	"mannequin/internal/command"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// marReport is the report of stylize --method mar.
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
	SlideRaw float64    `json:"slide_before_cm"`  // in the style, before the foot lock
	Slide    float64    `json:"slide_cm"`
	Nearest  []marShare `json:"nearest"` // classes of the database, with the share of frames that are nearest to each
}

type marShare struct {
	Action string  `json:"action"`
	Style  string  `json:"style"`
	Share  float64 `json:"share"`
}

// marFlags are the flags of stylize --method mar alone.
type marFlags struct {
	database         string
	action, from     []string
	keep, confidence float64
	neighbours       int
	timing, feet     bool
}

func (o *marFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.database, "database", "styles-free", "mar: the database of styles, styles-free or a `file`")
	f.StringSliceVar(&o.action, "action", nil, "mar: `actions` of the content, of the database's (default: any); may be repeated")
	f.StringSliceVar(&o.from, "from-style", nil, "mar: `styles` that the content may have (default: any); may be repeated")
	command.Number(c, &o.keep, "keep", 0.7, 0, 1, "mar: share of the content's own detail that is kept (ρ)")
	command.Number(c, &o.confidence, "confidence", 2, command.Positive, 100, "mar: standard deviations of its neighbours within which the content is trusted (κ)")
	command.Number(c, &o.neighbours, "neighbours", 40, 2, 1000, "mar: neighbours of each action in each style (K)")
	f.BoolVar(&o.timing, "timing", true, "mar: change the timing with the style; false writes a frame per frame read")
	f.BoolVar(&o.feet, "feet", true, "mar: lock standing feet, on flat ground")
}

// Flags of one method alone.
var (
	marOnly  = []string{"database", "action", "from-style", "keep", "confidence", "neighbours", "timing", "feet"}
	gramOnly = []string{"iterations", "edit", "seed", "manifold", "threads"}
)

// stream translates the standard input to the standard output. The report goes to the standard error.
func (o *stylizeFlags) stream(cmd *cobra.Command, out string, asJSON bool) error {
	switch {
	case o.method != "mar":
		return command.Usagef("the content - is for --method mar")
	case o.read.Profile != nil:
		return command.Usagef("--profile is not for the content -, which is not retargeted")
	case out != "" && out != "-":
		return command.Usagef("the content - is written to the standard output as it is read: leave out --out %s", out)
	}
	rep, err := o.runMar(cmd.Context(), "-", "-", cmd.InOrStdin(), cmd.OutOrStdout())
	if err != nil {
		return err
	}
	return cli.PrintReport(cmd.ErrOrStderr(), rep, asJSON)
}

// runMar translates a file, or a stream if content and out are -.
func (o *stylizeFlags) runMar(ctx context.Context, content, out string, stdin io.Reader, stdout io.Writer) (*marReport, error) {
	db, err := input.OpenStyles(o.mar.database)
	if err != nil {
		return nil, err
	}
	return o.translate(ctx, db, content, out, stdin, stdout)
}

func (o *stylizeFlags) translate(ctx context.Context, db *mar.Database, name, out string, stdin io.Reader, stdout io.Writer) (*marReport, error) {
	t, err := o.translator(db)
	if err != nil {
		return nil, err
	}
	defer t.stylist.Close()
	rep := &marReport{Out: out, Database: o.mar.database, Licence: db.License}
	var in *source
	var shares *marShares
	if name == "-" {
		name = "standard input"
		if in, err = openStream(name, stdin, db); err != nil {
			return nil, err
		}
	} else {
		if in, rep.Retarget, err = openContent(name, db, o.read); err != nil {
			return nil, err
		}
		shares = newMarShares(t)
		t.looked = shares.look
	}
	if err := writeStyled(ctx, t, in, name, out, stdout); err != nil {
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

// translator returns the translator of the flags.
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
	t := &translator{db: db, mix: mix, timing: o.mar.timing, arms: newArms(db.Skeleton(), db.FPS)}
	opt := mar.Options{Neighbours: o.mar.neighbours, Confidence: float32(o.mar.confidence), Keep: float32(o.mar.keep)}
	if opt.Keep == 0 {
		opt.Keep = -1
	}
	if o.mar.feet {
		if t.feet, err = newFeet(db); err != nil {
			return nil, fmt.Errorf("%s: %w; or leave feet as they are with --feet=false", o.mar.database, err)
		}
	}
	if t.stylist, err = db.NewStyleTranslator(mar.StyleTranslatorOptions{Options: opt, Characters: 1, Workers: 1}); err != nil {
		return nil, err
	}
	t.stylist.Labels[0] = label
	return t, nil
}

// writeStyled translates the motion in, and writes it to the file out or, if that is -, to stdout.
func writeStyled(ctx context.Context, t *translator, in *source, name, out string, stdout io.Writer) error {
	run := func(emit func(pos []m3.Vec3, rot []m3.Quat) error) error {
		return t.stream(in, emit, func() error {
			if ctx.Err() != nil {
				return fmt.Errorf("%s: interrupted after %d frames", name, t.in)
			}
			return nil
		})
	}
	sk, fps := t.db.Skeleton(), float64(t.db.FPS)
	if out == "-" {
		w, err := mocap.NewFrameWriter(stdout, sk, fps)
		if err != nil {
			return err
		}
		return run(w.Frame)
	}
	made := skel.NewClip(sk, fps, 0)
	err := run(func(pos []m3.Vec3, rot []m3.Quat) error {
		made.Pos, made.Rot, made.Frames = append(made.Pos, pos...), append(made.Rot, rot...), made.Frames+1
		made.Pos[len(made.Pos)-sk.Len()].Y += in.floor
		if len(made.Pos) > input.MaxTransforms {
			return fmt.Errorf("%s: its %d frames are too many for a file: stream it as - ", name, t.in)
		}
		return nil
	})
	if err != nil || made.Frames == 0 {
		return err
	}
	return writeClip(out, made)
}

// openContent opens a recording: as it is if it has the database's skeleton, else retargeted.
func openContent(path string, db *mar.Database, read retarget.Reading) (in *source, retargeted bool, err error) {
	if read.Profile == nil && mocap.FormatOf(path, nil) == mocap.FormatBVH {
		b, err := mocap.Open(path, read.OpenOptions)
		if err != nil {
			return nil, false, err
		}
		if scale, err := unitOf(db, b.Clip.Skel); err == nil {
			return recorded(b.Clip, db, scale), false, nil
		}
	}
	clip, _, err := retarget.Open(path, retarget.OpenOptions{Reading: read, Target: db.Skeleton(), FPS: float64(db.FPS)})
	if err != nil {
		return nil, false, err
	}
	return recorded(clip, db, 1), true, nil
}

// recorded returns a clip as a source, over ground at height 0.
func recorded(clip *skel.Clip, db *mar.Database, scale float64) *source {
	s := newSource(&clipFrames{clip: clip}, db, scale, clip.FPS)
	s.floor = floorOf(clip, scale, db)
	return s
}

// openStream opens a recording in progress. It must have the database's skeleton, because
// retargeting needs a whole recording.
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

// marShares counts the classes of the database that are nearest to the content.
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

// list returns the classes by their shares, the largest first.
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

func (r *marReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %.1f s of motion from %.1f s, %.3f ms per frame; styles of %s, licence %s\n", r.Out, r.Seconds, r.In, r.PerFrame, r.Database, command.Plain(r.Licence))
	_, err := fmt.Fprintf(w, "standing feet slide %.3f cm/frame, in the style before the foot lock %.3f, the content's %.3f\n", r.Slide, r.SlideRaw, r.SlideWas)
	if len(r.Nearest) > 0 {
		var list []string
		for _, s := range r.Nearest[:min(4, len(r.Nearest))] {
			list = append(list, fmt.Sprintf("%s %s %.0f %%", s.Style, s.Action, 100*s.Share))
		}
		_, err = fmt.Fprintf(w, "the content is nearest to: %s\n", command.Plain(strings.Join(list, ", ")))
	}
	return err
}
