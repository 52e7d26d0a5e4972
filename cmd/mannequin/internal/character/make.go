// Package character has the command make: from a folder of clips to a character that can be steered.
package character

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mannequin/animsys/matching"
	"mannequin/animsys/skin"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
	"mannequin/engine/media"
	"mannequin/internal/command"
	"mannequin/offline/clipset"
	"mannequin/offline/eval/controller"
	"mannequin/offline/eval/figure"
	"mannequin/offline/label"
	"mannequin/offline/recipes"
)

// options are the command's flags.
type options struct {
	clipset.Options
	out, video, sheet   string
	labels, review      string
	mapFile             string
	name, data, license string
	plain, responsive   bool

	train    float64 // minutes
	method   string
	networks string
	resume   bool
	threads  int
}

// New returns the command make.
func New() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "make FOLDER --out hero.character",
		Short: "Make a character that can be steered from a folder of clips",
		Long: `Reads clips of any format on a character's own skeleton, on two legs or more, and makes a character that a player
or a game can steer, by motion matching. Nothing has to be typed:

  legs, spine and neck   from names of joints, or from the tree and lengths
  unit, floor, facing    from the body
  actions                from names of clips and files, posture and motion: idle, move, jump, sit, lie, …
  clips in place         get the speed that their feet say
  loops                  go on without end; packs of loops that only walk straight are bent into curves
  steps                  backward, aside and on the spot are made from one stride of a walk, if no clip has them
  mirror images          double the clips, if the skeleton is symmetrical

FOLDER may also be one file with several animations. The character holds a converted copy of its clips.

--train adds networks that have learned the clips: learned motion matching, and a mode-adaptive network. They need a small
part of the memory. What plays is chosen by the measures of all. --networks writes the one that plays, or learned motion
matching, to a file of its own, without the clips.`,
		Example: `  mannequin make clips --out hero.character --video hero.mp4
  mannequin make clips --out hero.character --review labels.toml
  mannequin make clips --out hero.character --labels labels.toml
  mannequin make clips --out hero.character --train 20 --networks hero-small.character
  mannequin make fox.glb --out fox.character --sheet fox.png --license CC0-1.0`,
		Args: command.Want("folders", 1, 1),
	}
	f := c.Flags()
	command.Out(c, &o.out, command.File, "`file` of the character")
	command.Output(c, &o.video, "video", command.File, "MP4 or GIF `file` of the character on a course: it starts, turns and stops at three speeds")
	command.Output(c, &o.sheet, "sheet", command.File, "PNG `file` with pictures of the course")
	command.Output(c, &o.review, "review", command.File, "TOML `file` with the action of each clip, and of groups of poses whose clips' names say none, to be edited, and beside it a PNG that shows both")
	command.Path(c, &o.labels, "labels", "TOML `file` of --review, with actions that come before those that are found")
	f.StringSliceVar(&o.Only, "only", nil, "take clips that match a `pattern`, by the name of clip or file")
	f.StringSliceVar(&o.Skip, "skip", nil, "leave out clips that match a `pattern`, by the name of clip or file")
	command.Number(c, &o.Unit, "unit", 0, 1e-6, 1e6, "metres of the files' unit of length (default: found from the body's size)")
	f.StringVar(&o.mapFile, "skin-map", "", "TOML `FILE` that maps our joint names to the files', where their roles are not right (docs/rigs.md)")
	command.Number(c, &o.train, "train", 0, 0, 1e5, "about so many `minutes` of training on two cores of a common PC; 0: no networks")
	command.Choice(c, &o.method, "method", both, []string{both, matches, adaptive}, "what --train trains: learned motion matching, which does all actions; a mode-adaptive network; or both")
	command.Output(c, &o.networks, "networks", command.File, "`file` of a network of --train without the clips")
	f.BoolVar(&o.resume, "resume", false, "continue the training of an earlier run with the same --out")
	cli.Threads(c, &o.threads)
	f.BoolVar(&o.responsive, "responsive", false, "answer the stick about twice as soon, for a player's character; feet that stand are held more")
	f.BoolVar(&o.plain, "plain", false, "use the clips unchanged, without mirror images, curves and steps; jumps are still cut out of recordings")
	f.StringVar(&o.name, "name", "", "name of the character (default: that of its file)")
	f.StringVar(&o.data, "data", "", "where the clips are from, for the file")
	f.StringVar(&o.license, "license", "", "licence of the clips, for the file")
	input.File(c, &o.OpenOptions)
	cli.Must(f.MarkHidden("animation"))
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) { return o.run(cmd, args[0]) })
	return c
}

func (o *options) run(cmd *cobra.Command, path string) (cli.Report, error) {
	if o.train == 0 && (o.networks != "" || o.resume || o.method != both) {
		return nil, command.Usage(errors.New("--networks, --method and --resume are for networks: add --train MINUTES"))
	}
	if o.mapFile != "" {
		var err error
		if o.Map, err = skin.OpenMap(o.mapFile); err != nil {
			return nil, err
		}
	}
	if o.labels != "" {
		var err error
		if o.Labels, err = clipset.OpenLabels(o.labels); err != nil {
			return nil, err
		}
	}
	progress := cli.NewProgress(cmd.Context(), cmd.ErrOrStderr())
	defer progress.Finish()
	progress.Stage("reading clips")
	o.Progress = progress.Step
	set, err := clipset.Open(path, o.Options)
	if err != nil {
		return nil, err
	}
	if o.review != "" {
		if err := review(o.review, set); err != nil {
			return nil, err
		}
	}
	r := newReport(o.out, set)
	recorded := *set
	r.Jumps = set.Leaps()
	if !o.plain {
		r.Bent = set.Bend()
		steps, err := set.Steps()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r.Steps = len(steps)
		set.Stand()
		r.Mirrored = set.Mirror()
	}
	r.notes(set)
	progress.Stage("building the database")
	db, err := set.Database()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	db.Responsive = o.responsive
	r.Frames = db.Frames()
	progress.Stage("measuring")
	subject := subjectOf(set, db, recorded.Clips)
	if r.Measures, err = controller.Measure(subject); errors.Is(err, controller.ErrStill) {
		return nil, fmt.Errorf("%s: %w", path, clipset.ErrNoMotion)
	} else if err != nil {
		return nil, err
	}
	if db.Name = o.name; db.Name == "" {
		db.Name = cli.Stem(filepath.Base(o.out))
	}
	db.Data, db.License, db.Size = o.data, o.license, set.Size
	file := &matching.File{Database: db}
	if o.train > 0 {
		l := &learner{o, progress, set, &recorded, file, subject, r}
		if err := l.run(cmd.Context()); err != nil {
			return nil, err
		}
	}
	var card strings.Builder
	if err := r.Print(&card); err != nil {
		return nil, err
	}
	db.Card = card.String()
	if l := file.Learned; l != nil {
		l.Card = db.Card
	}
	if a := file.Adaptive; a != nil {
		a.Card = db.Card
	}
	if r.Bytes, err = cli.WriteSized(o.out, file.Encode); err != nil {
		return nil, err
	}
	if o.networks != "" {
		way := file.Plays
		switch {
		case way != matching.Matching:
		case file.Learned != nil:
			way = matching.LearnedMatching
		case file.Adaptive != nil:
			way = matching.AdaptiveNetwork
		default:
			return nil, fmt.Errorf("%s is not written: no network was trained: %s", o.networks, strings.Join(r.Notes, "; "))
		}
		alone := file.Only(way)
		if alone.Learned != nil {
			if alone.Learned, err = recipes.OwnIdles(alone.Learned); err != nil {
				return nil, err
			}
		}
		if r.Networks.Bytes, err = cli.WriteSized(o.networks, alone.Encode); err != nil {
			return nil, err
		}
	}
	subject.New, subject.Speeds = controller.Plays(file), db.Speeds(3) // of the video
	progress.Stage("drawing")
	return r, o.draw(cmd.Context(), subject)
}

func subjectOf(set *clipset.Set, db *matching.Database, recorded []clipset.Clip) controller.Subject {
	s := controller.Subject{Size: set.Size, Memory: db.Bytes(), Speeds: db.Speeds(controller.Gaits), Top: db.TopSpeed(), New: controller.Plays(&matching.File{Database: db})}
	for _, c := range recorded {
		moves := make([]bool, len(c.Actions))
		for f, a := range c.Actions {
			moves[f] = a == label.Move
		}
		s.Clips, s.Moves = append(s.Clips, c.Motion), append(s.Moves, moves)
	}
	return s
}

// report is what was made.
type report struct {
	File     string             `json:"file"`
	Kind     string             `json:"kind"`
	Joints   int                `json:"joints"`
	Size     float32            `json:"size"` // times the usual size
	Clips    int                `json:"clips"`
	Seconds  map[string]float64 `json:"seconds"` // of the clips, by action
	Jumps    int                `json:"jumps"`   // that were cut out of recordings
	Bent     int                `json:"bent"`    // clips that were added
	Steps    int                `json:"steps"`   // likewise: backward, aside and on the spot
	Mirrored bool               `json:"mirrored"`
	Frames   int                `json:"frames"`
	Bytes    int64              `json:"bytes"`
	Notes    []string           `json:"notes"`
	Measures *controller.Report `json:"measures"`
	Networks *networks          `json:"networks,omitempty"`

	actions []string
}

func newReport(file string, s *clipset.Set) *report {
	r := &report{File: filepath.Base(file), Kind: s.Kind.String(), Joints: s.Skel.Len(), Size: s.Size, Clips: len(s.Clips)}
	r.actions, r.Seconds = s.Actions()
	return r
}

// notes takes over what was mended, and adds what is missing.
func (r *report) notes(s *clipset.Set) {
	r.Notes = s.Notes
	if r.Seconds[label.Idle] < 0.5 {
		r.Notes = append(r.Notes, "no clip stands: the character steps on the spot when it should")
	}
	if r.Jumps > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d jumps were cut out of recordings: each plays once, to its end", r.Jumps))
	}
	if r.Bent > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("no clip turns or changes its speed: %d loops were bent into curves, and made slower and faster", r.Bent))
	}
}

// Print prints what was made.
func (r *report) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s, %d joints, %.2f times the usual size, from %d clips\n", command.Plain(r.File), r.Kind, r.Joints, r.Size, r.Clips)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "clips")
	for i, a := range r.actions {
		sep := ","
		if i == 0 {
			sep = "\t"
		}
		fmt.Fprintf(t, "%s %s %.0f s", sep, command.Plain(a), r.Seconds[a])
	}
	more := ""
	if r.Mirrored {
		more = ", mirrored"
	}
	fmt.Fprintf(t, "\nframes\t%d%s\n", r.Frames, more)
	if err := t.Flush(); err != nil {
		return err
	}
	if r.Measures != nil {
		if err := r.Measures.Print(w); err != nil {
			return err
		}
	}
	if r.Networks != nil {
		if err := r.Networks.print(w, r.Size); err != nil {
			return err
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", command.Plain(n))
	}
	return nil
}

// draw makes the video and the sheet.
func (o *options) draw(ctx context.Context, s controller.Subject) error {
	if o.video == "" && o.sheet == "" {
		return nil
	}
	clip, asked, err := controller.Record(s)
	if err != nil {
		return err
	}
	top := float32(0.3)
	for f := 0; f < clip.Frames; f += 30 {
		pos := figure.Positions(clip, f)
		for _, p := range pos {
			top = max(top, p.Y, 1.2*p.Sub(pos[0]).Flat().Len())
		}
	}
	paint := func(tile *image.RGBA, f int, size float64) {
		centre := clip.Pos[f*clip.Skel.Len()].Flat()
		cam := draw.ThreeQuarter(centre.Add(m3.V(0, 0.48*top, 0)), 1.7*top)
		draw.Grid(tile, cam, centre, 6*top, 0.5*top)
		draw.Skeleton(tile, cam, clip.Skel.Parents, figure.Positions(clip, f), draw.Blue)
		draw.Text(tile, 6, 4, size, draw.Ink, asked[f])
	}
	if o.sheet != "" {
		const w, h, cols, every = 220, 220, 12, 12
		n := clip.Frames / every
		if err := figure.WritePNG(o.sheet, draw.Sheet(cols, w, h, n, func(i int, tile *image.RGBA) { paint(tile, i*every, 12) })); err != nil {
			return err
		}
	}
	if o.video == "" {
		return nil
	}
	const w, h, rate = 640, 480, 30
	video, err := media.Create(ctx, o.video, media.Options{Width: w, Height: h, FPS: rate})
	if err != nil {
		return err
	}
	defer video.Abort()
	for f := 0; f < clip.Frames; f += int(clip.FPS) / rate {
		img := draw.New(w, h, draw.Paper)
		paint(img, f, 16)
		if err := video.Frame(img); err != nil {
			return err
		}
	}
	return video.Close()
}
