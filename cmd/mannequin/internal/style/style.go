// Package style has the commands that make databases of styles and styles of a manifold.
package style

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/mar"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/offline/dataset"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
)

func New() *cobra.Command {
	c := &cobra.Command{
		Use:   "style",
		Short: "Databases of styles, which motion is translated with as it comes, and styles of a manifold",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(newStyleBuild(), newStyleTransfer())
	return c
}

// styleFlags are the flags of style build.
type styleFlags struct {
	data, only    []string
	table, out    string
	name, license string
	fps, minutes  float64
	seed          int64
	free, half    bool
	threads       int
}

func newStyleBuild() *cobra.Command {
	var o styleFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "build --data DIR --out FILE | --free --out FILE",
		Short: "Make a database of styles from recordings",
		Long: `Make a database of styles for "mannequin stylize --method mar" (Xia et al. 2015) from
BVH or AMC recordings of people: actions, each performed in several styles. Any
skeleton will do that a retargeting profile fits (mannequin import --retarget). The
takes of an action are registered: laid on one timeline, so that every frame of one
style has its counterparts in the others.

What a recording shows is read off its name, in the families style_CC_TTT (Xia) and
dataset-N_CONTENT_STYLE_NNN (Bandai Namco), or told by --table, a TOML file:

  [[pattern]]
  files  = "walk_*_*"     # of the file's name without extension, or of folder/file
  action = "walk"
  style  = "$1"           # what the first * stands for
  cyclic = true           # it repeats itself; may be missing

  [clip.walk_old_07]      # one recording
  style = "tired"         # or: skip = true

The licence is --license, else what the folders' dataset.toml say.

--free makes it from rules instead (walk, run and stand in eight styles, CC0): the
database that is shipped as styles-free. Equal flags give equal bytes on one family
of processors.`,
		Example: `  mannequin style build --data xia --out xia.safetensors --license "not to be shared"
  mannequin style build --data mine --data more --table styles.toml --half --out mine.safetensors
  mannequin style build --data xia --only 'neutral_*,proud_*' --out small.safetensors --json
  mannequin style build --free --half --out styles-free.safetensors`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			r, err := o.run(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.data, "data", nil, "`folder` of recordings; may stand several times")
	f.StringVar(&o.table, "table", "", "TOML `file` that says what the recordings show")
	f.StringSliceVar(&o.only, "only", nil, "`patterns` of the recordings to read, by file name without extension (default: all)")
	f.StringVarP(&o.out, "out", "o", "", "the database to write")
	f.StringVar(&o.name, "name", "", "what it is called (default: as the file)")
	f.StringVar(&o.license, "license", "", "the recordings' licence (default: what their folders say)")
	f.Float64Var(&o.fps, "fps", 60, "frames per second of the database, and so of the motion that it translates")
	f.BoolVar(&o.half, "half", false, "store half-precision numbers: half the size, angles to a fortieth of a degree")
	f.BoolVar(&o.free, "free", false, "make the takes from rules, without recordings")
	f.Float64Var(&o.minutes, "minutes", 15, "of motion with --free, about: 15 is the least, every content once in every style")
	f.Int64Var(&o.seed, "seed", 1, "of the motion with --free")
	f.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	f.BoolVar(&asJSON, "json", false, "print the report as one JSON object")
	cli.Must(c.MarkFlagRequired("out"))
	return c
}

func (o *styleFlags) check(cmd *cobra.Command) error {
	switch {
	case o.out == "":
		return command.Usagef("--out is empty")
	case o.free && len(o.data) > 0:
		return command.Usagef("--free and --data: the database is made of either")
	case !o.free && len(o.data) == 0:
		return command.Usagef("no --data: want a folder of recordings, or --free")
	case !(o.fps >= 10 && o.fps <= 1000):
		return command.Usagef("--fps is %v, want 10 to 1000", o.fps)
	case !(o.minutes > 0 && o.minutes <= 600):
		return command.Usagef("--minutes is %v, want more than 0, up to 600", o.minutes)
	case o.seed < 1:
		return command.Usagef("--seed is %d, want at least 1", o.seed)
	case o.threads < 1 || o.threads > 1024:
		return command.Usagef("--threads is %d, want 1 to 1024", o.threads)
	}
	for _, p := range o.only {
		if _, err := path.Match(p, ""); err != nil {
			return command.Usagef("--only: %q is no pattern of names", p)
		}
	}
	with, without := []string{"minutes", "seed"}, []string{"table", "only", "license", "fps"}
	if !o.free {
		for _, name := range with {
			if cmd.Flags().Changed(name) {
				return command.Usagef("--%s is for --free", name)
			}
		}
		return nil
	}
	for _, name := range without {
		if cmd.Flags().Changed(name) {
			return command.Usagef("--%s is for recordings, not for --free", name)
		}
	}
	return nil
}

// unknownLicense is that of recordings that do not say theirs.
const unknownLicense = "unknown: not to be shared"

// run builds the database and writes it.
func (o *styleFlags) run(ctx context.Context, progress io.Writer) (*styleReport, error) {
	start := time.Now()
	r := &styleReport{Out: o.out}
	db, err := o.build(ctx, progress, r)
	if err != nil {
		return nil, err
	}
	if o.name != "" {
		db.Name = o.name
	}
	r.describe(db)
	db.Card = r.card(o.free)
	r.Bytes, err = cli.WriteSized(o.out, func(w io.Writer) error { return db.Encode(w, o.half) })
	r.Took = time.Since(start).Seconds()
	return r, err
}

func (o *styleFlags) build(ctx context.Context, progress io.Writer, r *styleReport) (*mar.Database, error) {
	if o.free {
		takes, lines, err := human.Generate(human.Options{Minutes: o.minutes, Seed: o.seed, Workers: o.threads})
		if err != nil {
			return nil, err
		}
		db, err := registration.Database(takes, lines)
		if err != nil {
			return nil, err
		}
		src := human.Source(takes)
		db.Name, db.Data, db.License, r.limits = "styles-free", src.Data, src.License, src.Limits
		return db, nil
	}
	opt := registration.ReadOptions{Only: o.only, FPS: o.fps, Lenient: true, Workers: o.threads}
	if o.table != "" {
		t, err := registration.OpenTable(o.table)
		if err != nil {
			return nil, err
		}
		opt.Table = t
	}
	license, err := o.licence()
	if err != nil { // before time is spent
		return nil, err
	}
	bar := cli.NewProgress(ctx, progress)
	defer bar.Finish()
	bar.Stage("clips")
	opt.Progress = bar.Step
	takes, left, err := registration.Read(o.data, opt)
	if err != nil && len(left) > 0 {
		return nil, fmt.Errorf("nothing is known of the %d recordings in %s, such as %s: give their action and style with --table", len(left), strings.Join(o.data, ", "), left[0])
	}
	if err != nil {
		return nil, err
	}
	r.LeftOut = left
	lines := map[string]registration.Timeline{}
	bar.Stage("actions")
	actions := registration.Actions(takes)
	for i, action := range actions {
		if ctx.Err() != nil {
			return nil, errors.New("interrupted: nothing was written")
		}
		tl, rep, err := registration.Register(action, registration.Options{Workers: o.threads})
		if err != nil {
			return nil, fmt.Errorf("%w; leave the action out with --only, or by skip in a table", err)
		}
		lines[tl.Action] = *tl
		r.registered(rep)
		bar.Step(i+1, len(actions))
	}
	db, err := registration.Database(takes, lines)
	if err != nil {
		return nil, err
	}
	db.Name = cli.Stem(filepath.Base(o.out))
	db.License, db.Data = license, o.provenance(takes)
	return db, nil
}

// licence returns that of the recordings.
func (o *styleFlags) licence() (string, error) {
	if o.license != "" {
		return o.license, nil
	}
	var all []string
	for _, dir := range o.data {
		src, err := dataset.ReadSource(dir)
		if err != nil {
			return "", err
		}
		if src == nil {
			return unknownLicense, nil
		}
		if !slices.Contains(all, src.License) {
			all = append(all, src.License)
		}
	}
	return strings.Join(all, "; "), nil
}

// provenance says what the takes are and from where.
func (o *styleFlags) provenance(takes []*registration.Take) string {
	frames := 0
	for _, t := range takes {
		frames += t.Clip.Frames
	}
	var from []string
	for _, dir := range o.data {
		name := filepath.Base(dir)
		if abs, err := filepath.Abs(dir); err == nil {
			name = filepath.Base(abs)
		}
		if src, err := dataset.ReadSource(dir); err == nil && src != nil {
			name += " (" + src.Data + ")"
		}
		from = append(from, name)
	}
	return fmt.Sprintf("%d takes, %.1f minutes, of %s", len(takes), float64(frames)/o.fps/60, strings.Join(from, "; "))
}

// mean returns the mean of what of finds in list, without what is not a number.
func mean[T any](list []T, of func(*T) float64) float64 {
	sum, n := 0.0, 0
	for i := range list {
		if v := of(&list[i]); !math.IsNaN(v) && !math.IsInf(v, 0) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(max(n, 1))
}
