package judge

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
	"mannequin/engine/media"
	"mannequin/internal/atomicfile"
	"mannequin/internal/boundedfile"
	"mannequin/internal/command"
	"mannequin/offline/eval/figure"
	"mannequin/offline/judge"
	"mannequin/offline/retarget"
)

// compareOptions are the flags of compare.
type compareOptions struct {
	out, format, score string
	pairs              int
	seconds            float64
	seed               uint64
	read               retarget.Reading
}

func newCompare() *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare {MADE RECORDED --out FOLDER | ANSWERS --score FORM}",
		Short: "Show made beside recorded motion for a blind look",
		Long: `Draw pairs of motions side by side, one made and one recorded, as videos in a folder. MADE and
RECORDED are files or folders. Both of a pair do the same, at about the same speed; which of them is
on the left, and the order of the pairs, depend on --seed. form.csv in the folder has a line for
each pair: write left or right behind it, where you think the recorded motion is. FOLDER-answers.csv,
beside the folder, has the answers.

--score reads a form that was filled in, and reports how often it is right.`,
		Example: `  mannequin compare made data/human-o3de --out look
  mannequin compare walk.bvh recorded.bvh --pairs 4 --seconds 3 --format gif --out look
  mannequin compare look-answers.csv --score look/form.csv`,
		Args: command.Want("made and recorded motions, or answers", 1, 2),
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		switch {
		case o.score != "" && len(args) == 1:
			return scoreForm(o.score, args[0])
		case o.score != "":
			return nil, command.Usagef("--score wants the answers alone, not %d files", len(args))
		case len(args) != 2 || o.out == "":
			return nil, command.Usagef("want MADE, RECORDED and --out, or ANSWERS and --score")
		}
		return compare(cmd.Context(), args[0], args[1], o)
	})
	command.Output(c, &o.out, "out", command.Folder, "`folder` to write the videos and the form to")
	command.Choice(c, &o.format, "format", "mp4", []string{"mp4", "gif", "png"}, "kind of the videos; png is a folder of pictures for each")
	command.Number(c, &o.pairs, "pairs", 12, 1, 1000, "number of pairs, at most")
	command.Number(c, &o.seconds, "seconds", 4, 1, 60, "seconds of each excerpt")
	cli.Seed(c, &o.seed, "the draws")
	command.Path(c, &o.score, "score", "`form` that was filled in")
	input.Reading(c, &o.read)
	return c
}

// compareReport is the report of compare on what it drew.
type compareReport struct {
	Pairs   int    `json:"pairs"`
	Out     string `json:"out"`
	Form    string `json:"form"`
	Answers string `json:"answers"`
}

func (r *compareReport) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d pairs in %s; fill in %s; the answers are in %s\n", r.Pairs, r.Out, r.Form, r.Answers)
	return err
}

func compare(ctx context.Context, made, recorded string, o compareOptions) (*compareReport, error) {
	var excerpts [2][]judge.Excerpt
	for i, path := range []string{made, recorded} {
		files, err := judge.Expand(path, nil)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			m, err := judge.Open(file, o.read)
			if err != nil {
				return nil, err
			}
			if i == 1 {
				m.Level()
			}
			excerpts[i] = append(excerpts[i], judge.Excerpts(m, int(o.seconds*judge.Rate))...)
		}
	}
	pairs := judge.Pairs(excerpts[0], excerpts[1], o.pairs, o.seed)
	if len(pairs) == 0 {
		return nil, fmt.Errorf("%s and %s have no %g s of one kind in common: give longer motions, or a smaller --seconds", made, recorded, o.seconds)
	}
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return nil, err
	}
	ext := "." + o.format
	if o.format == "png" {
		ext = ""
	}
	form, answers := [][]string{{"pair", "recorded"}}, [][]string{{"pair", "recorded", "kind", "made file", "made from s", "recorded file", "recorded from s"}}
	for i, p := range pairs {
		name := fmt.Sprintf("pair-%02d", i+1)
		if err := drawPair(ctx, filepath.Join(o.out, name+ext), p); err != nil {
			return nil, err
		}
		side := "right"
		if p.Left {
			side = "left"
		}
		at := func(e judge.Excerpt) string { return strconv.FormatFloat(float64(e.From)/judge.Rate, 'g', -1, 64) }
		form = append(form, []string{name, ""})
		answers = append(answers, []string{name, side, p.Made.Kind.String(), p.Made.Motion.Name, at(p.Made), p.Recorded.Motion.Name, at(p.Recorded)})
	}
	r := &compareReport{len(pairs), o.out, filepath.Join(o.out, "form.csv"), filepath.Clean(o.out) + "-answers.csv"}
	return r, errors.Join(writeRows(r.Form, form), writeRows(r.Answers, answers))
}

func writeRows(path string, rows [][]string) error {
	return atomicfile.Write(path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

// placed returns the joints of an excerpt by frame: the first frame is over the origin and faces +Z, and
// the lowest joint is at height 0, so that nothing but the motion differs.
func placed(e judge.Excerpt) (frames [][]m3.Vec3) {
	lowest := float32(math.Inf(1))
	for f := e.From; f < e.To; f++ {
		at := figure.Positions(e.Motion.Clip, f)
		for _, p := range at {
			lowest = min(lowest, p.Y)
		}
		frames = append(frames, at)
	}
	start := frames[0][0].Flat().Add(m3.V(0, lowest, 0))
	for _, at := range frames {
		for j, p := range at {
			at[j] = m3.YawQuat(-e.Yaw).Rotate(p.Sub(start))
		}
	}
	return frames
}

// drawPair draws both excerpts side by side, from the right of the bodies as they face at the start.
func drawPair(ctx context.Context, path string, p judge.Pair) error {
	const wide, high, rate, shown = 480, 480, 30, 2.2 // pixels, frames per second, m
	parents := p.Made.Motion.Clip.Skel.Parents
	both := [2][][]m3.Vec3{placed(p.Made), placed(p.Recorded)}
	if p.Left {
		both[0], both[1] = both[1], both[0]
	}
	video, err := media.Create(ctx, path, media.Options{Width: 2 * wide, Height: high, FPS: rate})
	if err != nil {
		return err
	}
	defer video.Abort()
	for f := 0; f < len(both[0]); f += judge.Rate / rate {
		picture := draw.Sheet(2, wide, high, 2, func(i int, tile *image.RGBA) {
			frames := both[i]
			// The camera follows the mean of the hips over a second, so that bounce and sway show.
			var centre m3.Vec3
			from, to := max(f-judge.Rate/2, 0), min(f+judge.Rate/2, len(frames)-1)
			for g := from; g <= to; g++ {
				centre = centre.Add(frames[g][0].Flat().Scale(1 / float32(to-from+1)))
			}
			cam := draw.SideOf(centre.Add(m3.V(0, 0.95, 0)), shown, 0.5)
			cam.Eye.Y += 2
			draw.Grid(tile, cam, centre, 4, 0.5)
			draw.Skeleton(tile, cam, parents, frames[f], draw.Blue)
		})
		if err := video.Frame(picture); err != nil {
			return err
		}
	}
	return video.Close()
}

// scoreReport is the report of compare on a form.
type scoreReport struct {
	Right int     `json:"right"`
	Of    int     `json:"of"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`  // of the 95 % confidence interval
	High  float64 `json:"high"` // by chance the share is 0.5
}

func (r *scoreReport) Print(w io.Writer) error {
	says := "made motion cannot be told from recorded by this"
	if r.Low > 0.5 {
		says = "made motion can be told from recorded"
	}
	_, err := fmt.Fprintf(w, "%d of %d right (%.0f %%), 95 %% confidence interval %.0f to %.0f %%: %s\n", r.Right, r.Of, 100*r.Share, 100*r.Low, 100*r.High, says)
	return err
}

// maxForm bounds the size of a form in bytes.
const maxForm = 1 << 20

func openSides(file string) (map[string]string, error) {
	text, err := boundedfile.Read(file, maxForm)
	if err != nil {
		return nil, err
	}
	return readSides(file, text)
}

// readSides reads a form or answers: left or right by pair, or "" where nothing is filled in.
func readSides(file string, text []byte) (map[string]string, error) {
	sides := map[string]string{}
	t := input.NewTable(file, bytes.NewReader(text))
	for {
		row, line, err := t.Next()
		if err == io.EOF {
			return sides, nil
		}
		if err != nil {
			return nil, err
		}
		if len(row) < 2 {
			return nil, fmt.Errorf("%s:%d: %d cell, want a pair and a side", file, line, len(row))
		}
		name, side := strings.TrimSpace(row[0]), strings.ToLower(strings.TrimSpace(row[1]))
		if name == "pair" {
			continue
		}
		if side != "left" && side != "right" && side != "" {
			return nil, fmt.Errorf("%s:%d: the side is %.40q, want left or right", file, line, side)
		}
		sides[name] = side
	}
}

func scoreForm(form, answers string) (*scoreReport, error) {
	filled, err := openSides(form)
	if err != nil {
		return nil, err
	}
	right, err := openSides(answers)
	if err != nil {
		return nil, err
	}
	r := &scoreReport{}
	for name, side := range filled {
		switch answer := right[name]; {
		case answer == "":
			return nil, fmt.Errorf("%s: no answer for %.40q: give the answers that were written with the form", answers, name)
		case side == answer:
			r.Right++
			fallthrough
		case side != "":
			r.Of++
		}
	}
	if r.Of == 0 {
		return nil, fmt.Errorf("%s: no pair is filled in: write left or right behind each", form)
	}
	r.Share = float64(r.Right) / float64(r.Of)
	r.Low, r.High = judge.Interval(r.Right, r.Of)
	return r, nil
}
