// Package style has the commands that make databases of styles and styles of a manifold.
package style

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/mar"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	"mannequin/offline/dataset"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
	"mannequin/offline/retarget"
)

// New returns the command style.
func New() *cobra.Command {
	return cli.Group("style", "Make databases of styles for realtime transfer, and styles for crowds on a manifold", newStyleBuild(), newStyleTransfer())
}

// styleFlags are the flags of style build, and the folders that it reads.
type styleFlags struct {
	data, only    []string
	read          retarget.Reading
	table, out    string
	name, license string
	fps, minutes  float64
	seed          int64
	free, half    bool
	threads       int
}

func newStyleBuild() *cobra.Command {
	var o styleFlags
	c := &cobra.Command{
		Use:   "build {DIR... | --free} --out FILE",
		Short: "Make a database of styles from recordings",
		Long: `Make a database of styles for "mannequin stylize --method mar" (Xia et al. 2015) from folders
of BVH, AMC, FBX or glTF recordings of people: actions, each in several styles, on any skeleton with a
retargeting profile (mannequin import --retarget). The takes of an action are registered: they
get one timeline, so that every frame of one style has counterparts in the others.

The name of a recording says what it shows, in the families style_CC_TTT (Xia) and
dataset-N_CONTENT_STYLE_NNN (Bandai Namco). For other names write a --table, a TOML file:

  [[pattern]]
  files  = "walk_*_*"     # file names without extension, or folder/file
  action = "walk"
  style  = "$1"           # what the first * matches
  cyclic = true           # it repeats itself; may be left out

  [clip.walk_old_07]      # one recording
  style = "tired"         # or: skip = true

The licence is --license, or else what dataset.toml in the folders says.

--free makes a procedural database without recordings (walk, run and stand in 13 styles,
CC0). The shipped styles-free is one. Equal flags give equal bytes on one family of processors.`,
		Example: `  mannequin style build xia --out xia.safetensors --license "not to be shared"
  mannequin style build mine more --table styles.toml --half --out mine.safetensors
  mannequin style build xia --only 'neutral_*,proud_*' --out small.safetensors --json
  mannequin style build --free --half --out styles-free.safetensors`,
		Args: cobra.ArbitraryArgs,
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		o.data = args
		if err := o.check(cmd); err != nil {
			return nil, err
		}
		return o.run(cmd.Context(), cmd.ErrOrStderr())
	})
	f := c.Flags()
	f.StringVar(&o.table, "table", "", "TOML `file` with the actions and styles of recordings")
	f.StringSliceVar(&o.only, "only", nil, "`patterns` of the recordings to read, file names without extension (default: all)")
	input.Reading(c, &o.read)
	command.Out(c, &o.out, command.File, "the `database` to write")
	f.StringVar(&o.name, "name", "", "name of the database (default: as the file)")
	f.StringVar(&o.license, "license", "", "licence of the recordings (default: as in their folders)")
	command.Number(c, &o.fps, "fps", 60, 10, 1000, "frames per second of the database and of the motion it can translate")
	f.BoolVar(&o.half, "half", false, "store half-precision numbers: half the size, angles to a fortieth of a degree")
	f.BoolVar(&o.free, "free", false, "make procedural takes, without recordings")
	command.Number(c, &o.minutes, "minutes", 25, command.Positive, 600, "about the length of the motion with --free; 25 is the least, every content once in every style")
	command.Number(c, &o.seed, "seed", 1, 1, math.MaxInt64, "seed of the motion with --free")
	cli.Threads(c, &o.threads)
	return c
}

func (o *styleFlags) check(cmd *cobra.Command) error {
	switch {
	case o.free && len(o.data) > 0:
		return command.Usagef("--free and a folder of recordings: the database is made of one or the other")
	case !o.free && len(o.data) == 0:
		return command.Usagef("want folders of recordings, or --free")
	}
	if err := dataset.CheckPatterns(o.only); err != nil {
		return command.Usagef("--only: %w", err)
	}
	only, why := []string{"minutes", "seed"}, "is for --free"
	if o.free {
		only, why = []string{"table", "only", "profile", "license", "fps"}, "is for recordings, not for --free"
	}
	return cli.Unused(cmd, why, only...)
}

// unknownLicense is the licence of recordings without a statement.
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

// freeStyles returns the styles of --free. The other styles of human change a walk by little more
// than neutral does, or, sneaking, lift both feet at once on motion of other people.
func freeStyles() []string {
	return append(human.XiaStyles(), "cold", "drunk", "hurried", "limping", "stooped")
}

func (o *styleFlags) build(ctx context.Context, progress io.Writer, r *styleReport) (*mar.Database, error) {
	if o.free {
		takes, lines, err := human.Generate(human.Options{Minutes: o.minutes, Seed: o.seed, Styles: freeStyles(), Workers: o.threads})
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
	opt := registration.ReadOptions{Only: o.only, Reading: o.read, FPS: o.fps, Lenient: true, Workers: o.threads}
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
		return nil, fmt.Errorf("nothing is known of the %d recordings in %s, such as %s: give their actions and styles with --table", len(left), strings.Join(o.data, ", "), left[0])
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

// licence returns the licence of the recordings.
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

// provenance describes the takes and their origin.
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

// mean returns the mean of of over list, without values that are not finite.
func mean[T any](list []T, of func(*T) float64) float64 {
	sum, n := 0.0, 0
	for i := range list {
		if v := of(&list[i]); !math.IsNaN(v) && !math.IsInf(v, 0) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(max(n, 1))
}
