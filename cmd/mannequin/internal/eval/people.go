package eval

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/animsys/skel"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/cmd/mannequin/internal/motion"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/models"
	stylesfree "mannequin/models/styles-free"
	stylesgram "mannequin/models/styles-gram"
	"mannequin/offline/dataset"
	evalpeople "mannequin/offline/eval/people"
	"mannequin/offline/judge"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
	"mannequin/scenes"
	"mannequin/scenes/open"
)

// peopleOptions are the flags of eval people.
type peopleOptions struct {
	without, clips, only []string
	read                 retarget.Reading
	seconds              float64
	out                  string
	threads              int
}

// peopleClips are the recordings that the tools continue, key, edit and style.
var peopleClips = []string{"07_04", "08_05", "09_01", "Walk1", "Run1", "WalkStopTurn1", "FreeRoaming2", "000_genuine"}

func newEvalPeople() *cobra.Command {
	o := peopleOptions{clips: peopleClips, without: []string{"Jumps*", "Crouching*", "Pushes*", "*_acted"}}
	c := &cobra.Command{
		Use:   "people DIR...",
		Short: "Judge the motion of all generators of people against recordings of its kind",
		Long: `Make motions of people with the shipped networks, by the commands synth, predict, inbetween, edit
and stylize and in the scenes, and compare them with the recordings in the folders as mannequin
judge does. Each folder is a set. Some recordings, --clips, are also continued, keyed, edited and
styled. docs/judge.md has the measures and today's figures.`,
		Example: `  mannequin eval people data/human-o3de data/cmu-locomotion data/lafan1 data/reactidle --out made
  mannequin eval people data/human-o3de --only 'synth*,predict*' --seconds 60 --out made --json`,
		Args: command.Want("folders of recordings", 1, -1),
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) { return evalPeople(cmd.Context(), args, o) })
	f := c.Flags()
	f.StringSliceVar(&o.without, "without", o.without, "`patterns` of the recordings to leave out, file names without extension")
	f.StringSliceVar(&o.clips, "clips", o.clips, "`patterns` of the recordings to continue, key, edit and style")
	f.StringSliceVar(&o.only, "only", nil, "`patterns` of the generators (default: all)")
	input.Reading(c, &o.read)
	command.Number(c, &o.seconds, "seconds", 20, 5, 600, "seconds of each motion, at most")
	command.Out(c, &o.out, command.Folder, "`folder` to write the motions to")
	cli.Threads(c, &o.threads)
	return c
}

func evalPeople(ctx context.Context, dirs []string, o peopleOptions) (*evalpeople.Report, error) {
	var sets []*judge.Set
	var clips []string
	for _, dir := range dirs {
		paths, err := judge.Expand(dir, o.without)
		if err != nil {
			return nil, err
		}
		set, err := judge.Read(dir, paths, judge.ReadOptions{Reading: o.read, Recorded: true, Workers: o.threads})
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
		for _, p := range paths {
			if dataset.MatchesAny(o.clips, cli.Stem(p)) {
				clips = append(clips, p)
			}
		}
	}
	out, err := filepath.Abs(o.out) // keys name their files from where they are
	if err != nil {
		return nil, err
	}
	o.out = out
	m := peopleMaker{ctx: ctx, o: o}
	if err := m.excerpts(clips); err != nil {
		return nil, err
	}
	for _, g := range m.generators() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if o.only != nil && !dataset.MatchesAny(o.only, g.name) {
			continue
		}
		if err := g.make(g.name); err != nil {
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
	}
	if len(m.made) == 0 {
		return nil, command.Usagef("--only %s: no generator has such a name", strings.Join(o.only, ","))
	}
	return evalpeople.Compare(m.made, sets...), nil
}

// peopleMaker makes motions.
type peopleMaker struct {
	ctx   context.Context
	o     peopleOptions
	clips []string // excerpts of recordings, on the uniform skeleton
	made  []evalpeople.Made
}

// peopleGenerator is a way to make motions.
type peopleGenerator struct {
	name string
	make func(name string) error
}

// generators lists all ways to make motions.
func (m *peopleMaker) generators() []peopleGenerator {
	return []peopleGenerator{
		{"synth", func(name string) error {
			return m.synth(name, "line 0.8", "line 1.1", "line 1.4", "line 1.7", "line 2.5", "line 3.5", "circle 1.4", "meander 1.4", "meander 2.5")
		}},
		{"synth aside", func(name string) error {
			return m.synth(name, "line 1.2 45", "meander 1.2 45", "line 0.6 90", "line 1.2 90", "line 0.8 180")
		}},
		{"synth stops", func(name string) error {
			return m.synth(name, "line 0", "line 0:1.2,2:1.2,3.5:0,6:0,7:1.2,9.5:1.2,11:0,13.5:0,14.5:1.2,17:1.2,18.5:0")
		}},
		{"predict", m.predict},
		{"inbetween 1 a second", func(name string) error { return m.inbetween(name, 1) }},
		{"inbetween 2 a second", func(name string) error { return m.inbetween(name, 2) }},
		{"edit --feet", m.edit},
		{"mar", m.mar},
		{"gram", m.gram},
		{"scene people", func(name string) error { return m.scene(name, "people", 24) }},
		{"scene latent", func(name string) error { return m.scene(name, "latent", 12) }},
		{"scene strnn", func(name string) error { return m.scene(name, "strnn", 24) }},
	}
}

// tool runs a command of mannequin and returns what it prints.
func (m *peopleMaker) tool(args ...string) ([]byte, error) {
	root := &cobra.Command{Use: "mannequin"}
	root.AddCommand(motion.Commands()...)
	var out, errs bytes.Buffer
	if code := command.Run(m.ctx, root, args, &out, &errs); code != 0 {
		return nil, fmt.Errorf("%s: %s", strings.Join(args, " "), strings.TrimSpace(errs.String()))
	}
	return out.Bytes(), nil
}

// file returns the path of a motion of a generator, and makes its folder.
func (m *peopleMaker) file(generator, motion string) (string, error) {
	plain := strings.NewReplacer(" ", "-", ":", "-", ",", "-", "--", "")
	dir := filepath.Join(m.o.out, plain.Replace(generator))
	return filepath.Join(dir, plain.Replace(motion)+".bvh"), os.MkdirAll(dir, 0o777)
}

// add measures what a generator made.
func (m *peopleMaker) add(generator string, files, from []string) (err error) {
	made := evalpeople.Made{Generator: generator}
	opt := judge.ReadOptions{Workers: m.o.threads}
	if made.Set, err = judge.Read(generator, files, opt); err == nil && from != nil {
		made.From, err = judge.Read(generator, from, opt)
	}
	m.made = append(m.made, made)
	return err
}

func writeBVH(path string, clip *skel.Clip) error {
	return atomicfile.Write(path, func(w io.Writer) error { return mocap.WriteClip(w, clip) })
}

func writeText(path, text string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// excerpts writes the fastest stretch of each recording, on a level floor.
func (m *peopleMaker) excerpts(paths []string) error {
	for _, path := range paths {
		r, err := judge.Open(path, m.o.read)
		if err != nil {
			return err
		}
		r.Level()
		n := min(r.Clip.Frames, int(m.o.seconds*judge.Rate))
		first := r.Fastest(n)
		out, err := m.file("clips", cli.Stem(filepath.Base(path)))
		if err == nil {
			err = writeBVH(out, r.Clip.Section(first, first+n))
		}
		if err != nil {
			return err
		}
		m.clips = append(m.clips, out)
	}
	return nil
}

// synth makes motions along curves, each by another person. A motion is a path, a speed and, if not 0,
// the direction of the body in degrees.
func (m *peopleMaker) synth(name string, motions ...string) error {
	line, err := m.file(name, "line")
	if err != nil {
		return err
	}
	line = cli.Stem(line) + ".csv"
	if err := writeText(line, "0,0\n0,100\n0,200\n0,2500\n"); err != nil {
		return err
	}
	var files []string
	for i, motion := range motions {
		words := append(strings.Fields(motion), "0")
		out, err := m.file(name, motion)
		if err != nil {
			return err
		}
		if words[0] == "line" {
			words[0] = line
		}
		if _, err = m.tool("synth", "--path", words[0], "--speed", words[1], "--facing="+words[2], "--person", fmt.Sprint(i+1), "--seconds", fmt.Sprint(m.o.seconds), "--out", out); err != nil {
			return err
		}
		files = append(files, out)
	}
	return m.add(name, files, nil)
}

// predict continues each clip three times as long as a motion, twice. What was recorded is cut off.
func (m *peopleMaker) predict(name string) error {
	var files, from []string
	for _, clip := range m.clips {
		for seed := 1; seed <= 2; seed++ {
			out, err := m.file(name, fmt.Sprintf("%s-seed%d", cli.Stem(filepath.Base(clip)), seed))
			if err != nil {
				return err
			}
			if _, err := m.tool("predict", clip, "--seconds", fmt.Sprint(3*m.o.seconds), "--seed", fmt.Sprint(seed), "--out", out); err != nil {
				return err
			}
			r, err := judge.Open(out, retarget.Reading{})
			if err != nil {
				return err
			}
			if err := writeBVH(out, r.Clip.Section(max(0, r.Clip.Frames-int(3*m.o.seconds*judge.Rate)), r.Clip.Frames)); err != nil {
				return err
			}
			files, from = append(files, out), append(from, clip)
		}
	}
	return m.add(name, files, from)
}

// inbetween makes each clip again between some of its poses a second.
func (m *peopleMaker) inbetween(name string, rate int) error {
	var files []string
	for _, clip := range m.clips {
		r, err := judge.Open(clip, retarget.Reading{})
		if err != nil {
			return err
		}
		var keys strings.Builder
		for t := 0.0; t < r.Clip.Seconds(); t += 1 / float64(rate) {
			fmt.Fprintf(&keys, "[[key]]\ntime = %g\nat = %g\nfile = %q\n", t, t, clip)
		}
		out, err := m.file(name, cli.Stem(filepath.Base(clip)))
		if err != nil {
			return err
		}
		table := cli.Stem(out) + ".toml"
		if err := writeText(table, keys.String()); err != nil {
			return err
		}
		if _, err := m.tool("inbetween", table, "--out", out); err != nil {
			return err
		}
		files = append(files, out)
	}
	return m.add(name, files, m.clips)
}

// edit edits the feet of each clip.
func (m *peopleMaker) edit(name string) error {
	var files []string
	for _, clip := range m.clips {
		out, err := m.file(name, cli.Stem(filepath.Base(clip)))
		if err != nil {
			return err
		}
		if _, err := m.tool("edit", clip, "--feet", "--out", out); err != nil {
			return err
		}
		files = append(files, out)
	}
	return m.add(name, files, m.clips)
}

func (m *peopleMaker) mar(name string) error {
	db, err := stylesfree.Open()
	if err != nil {
		return err
	}
	return m.styled(name, db.Styles, "stylize", "--method", "mar", "--style", "")
}

func (m *peopleMaker) gram(name string) error {
	set, err := stylesgram.Open()
	if err != nil {
		return err
	}
	return m.styled(name, set.Names, "stylize", "--style", "styles-gram:")
}

// styled gives two clips each style, whose name is appended to args.
func (m *peopleMaker) styled(name string, styles []string, args ...string) error {
	var files, from []string
	for i, style := range styles {
		for _, k := range []int{2 * i, 2*i + 1} {
			clip := m.clips[k%len(m.clips)]
			out, err := m.file(name, cli.Stem(filepath.Base(clip))+"-"+style)
			if err != nil {
				return err
			}
			line := append(append(args[:len(args)-1:len(args)-1], args[len(args)-1]+style), clip, "--out", out)
			if _, err := m.tool(line...); err != nil {
				return err
			}
			files, from = append(files, out), append(from, clip)
		}
	}
	return m.add(name, files, from)
}

// sceneSettle is the time until the people of a scene are under way, s.
const sceneSettle = 2

// scene runs a scene on flat ground and writes each person as the scene shows it.
func (m *peopleMaker) scene(name, kind string, agents int) error {
	setup := open.Default(kind)
	setup.Agents, setup.Terrain = agents, "flat"
	s, _, err := open.Scene(setup, open.Resources{Net: models.Open, Styles: stylesfree.Open, Transfers: stylesgram.Open, Workers: m.o.threads})
	if err != nil {
		return err
	}
	defer s.Close()
	var frame scenes.Frame
	var clips []*skel.Clip
	frames := int(m.o.seconds * judge.Rate)
	var near evalpeople.Nearness
	for tick := range frames + sceneSettle*judge.Rate {
		if err := s.Step(scenes.Input{}); err != nil {
			return err
		}
		f := tick - sceneSettle*judge.Rate
		if f < 0 {
			continue
		}
		s.Frame(&frame, 1)
		person := 0
		var hips []m3.Vec3
		for _, cast := range frame.Casts {
			for i := range cast.Len() {
				if f == 0 {
					clips = append(clips, skel.NewClip(cast.Skel, judge.Rate, frames))
				}
				pos, rot := clips[person].Frame(f)
				cast.Skel.ModelToLocal(pos, rot, cast.Of(i))
				hips = append(hips, cast.Of(i)[0].Pos)
				person++
			}
		}
		near.Add(hips)
	}
	var files []string
	for i, c := range clips {
		out, err := m.file(name, fmt.Sprintf("%03d", i+1))
		if err == nil {
			err = writeBVH(out, c)
		}
		if err != nil {
			return err
		}
		files = append(files, out)
	}
	if err := m.add(name, files, nil); err != nil {
		return err
	}
	m.made[len(m.made)-1].Near = near.Report(float64(frames) / judge.Rate)
	return nil
}
