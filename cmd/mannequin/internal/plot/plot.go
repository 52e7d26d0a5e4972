// Package plot has the commands that draw motion, tables and filters.
package plot

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
	"mannequin/internal/command"
	"mannequin/offline/chart"
	"mannequin/offline/eval/figure"
	"mannequin/offline/mocap"
)

// clipKinds are the drawings of clips.
var clipKinds = []string{"sheet", "top", "height", "speed", "together"}

// New returns the command plot.
func New() *cobra.Command {
	var (
		kind, out  string
		scale      float32
		frames     int
		from, span float64
		logY       bool
		read       mocap.OpenOptions
	)
	c := &cobra.Command{
		Use:   "plot FILE... --out PICTURE",
		Short: "Draw clips or a table of curves as a picture or a video",
		Long: `Draw clips (BVH, FBX, glTF, AMC or TXT) or tables of curves (CSV) as PNG, SVG or PDF pictures. --kind
says how a clip is drawn:

  sheet     frames side by side, seen from the body's right (PNG)
  top       the path of the root on the ground, seen from above (PNG)
  height    the heights of root and end sites over time
  speed     the root's ground speed over time
  together  up to 16 clips side by side: a video (.mp4, .gif or a folder of PNGs), or a sheet
            with a column for each clip (.png)

A CSV file needs a header line. Its first column is the x axis. Several files, except with
--kind together, become a PNG each in the folder --out. plot filters draws a model.`,
		Example: `  mannequin plot walk.bvh --out walk.png
  mannequin plot dog.bvh --scale 0.01 --kind height --from 2 --span 3 --out feet.svg
  mannequin plot takes/*.bvh --kind top --out paths
  mannequin plot walk.bvh old.bvh proud.bvh --kind together --out styles.mp4
  mannequin plot train/loss.csv --log --out loss.png`,
		Args: command.Want("a motion file or a table", 1, -1),
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		open := func(path string) (*skel.Clip, error) {
			b, _, err := input.OpenMotion(path, read)
			if err != nil {
				return nil, err
			}
			clip := b.Clip
			if scale != 1 {
				clip = clip.Scaled(scale)
			}
			if clip, err = section(clip, from, span); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			return clip, nil
		}
		if kind == "together" {
			if err := checkTogether(args, frames); err != nil {
				return err
			}
			var clips []*skel.Clip
			var names []string
			for _, path := range args {
				clip, err := open(path)
				if err != nil {
					return err
				}
				clips, names = append(clips, clip), append(names, cli.Stem(filepath.Base(path)))
			}
			if err := together(cmd.Context(), names, clips, from, frames, out); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: drawn from %s\n", out, strings.Join(args, ", "))
			return err
		}
		outs, err := cli.Outputs(cmd, args, out, ".png")
		if err != nil {
			return err
		}
		for i, path := range args {
			if strings.EqualFold(filepath.Ext(path), ".csv") {
				err = plotTable(path, outs[i], logY)
			} else if clip, e := open(path); e != nil {
				err = e
			} else {
				err = plotClip(clip, kind, from, frames, outs[i])
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: drawn from %s\n", outs[i], path)
		}
		return nil
	}
	command.Out(c, &out, command.Either, "the `picture` to write: .png, or .svg and .pdf for curves; a folder if several files are read")
	command.Choice(c, &kind, "kind", "sheet", clipKinds, "drawing of a clip")
	command.Number(c, &scale, "scale", 1, command.Positive, 1e6, "metres per unit of the clip: 0.01 for centimetres")
	command.Number(c, &frames, "frames", 16, 1, mostTiles, "frames on a sheet")
	command.Number(c, &from, "from", 0, 0, math.Inf(1), "first second to draw")
	command.Number(c, &span, "span", 0, 0, math.Inf(1), "seconds to draw; 0 is all")
	input.File(c, &read)
	c.Flags().BoolVar(&logY, "log", false, "logarithmic y axis, for CSV")
	c.AddCommand(newPlotFilters())
	return c
}

// plotClip draws a clip.
func plotClip(clip *skel.Clip, kind string, from float64, frames int, out string) error {
	switch kind {
	case "top":
		return savePNG(out, fromAbove(clip))
	case "height":
		return heights(clip, from).Save(out)
	case "speed":
		return speeds(clip, from).Save(out)
	}
	return savePNG(out, sheet(clip, from, frames))
}

// section returns the frames of clip in [from, from+span) seconds.
func section(c *skel.Clip, from, span float64) (*skel.Clip, error) {
	// Seconds may be any number, so they are clamped before they become integers.
	frame := func(seconds float64) int { return int(min(seconds*c.FPS+0.5, float64(c.Frames))) }
	first, last := frame(from), c.Frames
	if span > 0 {
		last = min(last, first+frame(span))
	}
	if first >= last {
		return nil, fmt.Errorf("no frame between %g s and the end at %.2f s", from, c.Seconds())
	}
	return c.Section(first, last), nil
}

func sheet(c *skel.Clip, from float64, frames int) image.Image {
	top := float32(0.1)
	for f := 0; f < c.Frames; f += max(1, c.Frames/50) {
		for _, p := range figure.Positions(c, f) {
			top = max(top, p.Y)
		}
	}
	return draw.ClipSheet(draw.Motion{
		Parents: c.Skel.Parents, Frames: c.Frames, First: int(from*c.FPS + 0.5), FPS: c.FPS,
		Pose:   func(f int) []m3.Vec3 { return figure.Positions(c, f) },
		Facing: facing(c),
	}, min(frames, c.Frames), 4, 1.3*top)
}

// facing returns which way the body faces in a frame, at right angles to the line between its hips. It
// is nil if the skeleton has no hips that can be told.
func facing(c *skel.Clip) func(f int) float32 {
	joints := anatomy.OfClip(c, nil).Uniform()
	left, ok := joints["LeftUpLeg"]
	right, too := joints["RightUpLeg"]
	if !ok || !too {
		return nil
	}
	return func(f int) float32 {
		at := figure.Positions(c, f)
		across := at[left].Sub(at[right])
		return m3.YawOf(m3.V(-across.Z, 0, across.X))
	}
}

func fromAbove(c *skel.Clip) image.Image {
	path := make([]m3.Vec3, c.Frames)
	lo, hi := c.Pos[0], c.Pos[0]
	for f := range path {
		p := c.Pos[f*c.Skel.Len()].Flat()
		path[f] = p
		lo.X, lo.Z = min(lo.X, p.X), min(lo.Z, p.Z)
		hi.X, hi.Z = max(hi.X, p.X), max(hi.Z, p.Z)
	}
	img := draw.New(1000, 1000, draw.Paper)
	size := max(hi.X-lo.X, hi.Z-lo.Z, 1)
	centre := lo.Lerp(hi, 0.5).Flat()
	cam := draw.Top(centre, 1.2*size)
	step := float32(1)
	for step*20 < size {
		step *= 10
	}
	draw.Grid(img, cam, centre, size, step)
	draw.Path(img, cam, path, 2, draw.Blue)
	draw.Dot(img, cam, path[0], 12, draw.Green)
	draw.Dot(img, cam, path[len(path)-1], 12, draw.Red)
	draw.Text(img, 12, 12, 20, draw.Ink, fmt.Sprintf("grid %g m; starts green, ends red; %.1f s", step, c.Seconds()))
	return img
}

func heights(c *skel.Clip, from float64) chart.Chart {
	out := chart.Chart{Title: "Heights", XLabel: "seconds", YLabel: "metres"}
	for j, name := range c.Skel.Names {
		if j != 0 && !c.Skel.EndSite[j] {
			continue
		}
		out.Series = append(out.Series, chart.Series{Name: name, X: times(c, from), Y: make([]float64, c.Frames)})
	}
	for f := range c.Frames {
		k := 0
		for j, p := range figure.Positions(c, f) {
			if j == 0 || c.Skel.EndSite[j] {
				out.Series[k].Y[f] = float64(p.Y)
				k++
			}
		}
	}
	return out
}

func speeds(c *skel.Clip, from float64) chart.Chart {
	s := chart.Series{X: times(c, from), Y: make([]float64, c.Frames)}
	n := c.Skel.Len()
	for f := range c.Frames {
		g := max(f, 1)
		if g < c.Frames {
			s.Y[f] = c.FPS * float64(c.Pos[g*n].Flat().Dist(c.Pos[(g-1)*n].Flat()))
		}
	}
	return chart.Chart{Title: "Ground speed of " + c.Skel.Names[0], XLabel: "seconds", YLabel: "m/s", Series: []chart.Series{s}}
}

func times(c *skel.Clip, from float64) []float64 {
	t := make([]float64, c.Frames)
	for f := range t {
		t[f] = from + float64(f)/c.FPS
	}
	return t
}

// maxTable bounds the size of a CSV file in bytes.
const maxTable = 64 << 20

func plotTable(path, out string, logY bool) error {
	text, err := boundedfile.Read(path, maxTable)
	if err != nil {
		return err
	}
	c, err := readTable(path, text, logY)
	if err != nil {
		return err
	}
	c.Title = filepath.Base(path)
	return c.Save(out)
}

// readTable reads a CSV table with a header from the file called name. Cells and columns without a
// number are left out.
func readTable(name string, text []byte, logY bool) (chart.Chart, error) {
	rows := input.NewTable(name, bytes.NewReader(text))
	row, line, err := rows.Next()
	if errors.Is(err, io.EOF) {
		return chart.Chart{}, fmt.Errorf("%s: the table is empty: want a header line and numbers", name)
	} else if err != nil {
		return chart.Chart{}, err
	}
	if len(row) < 2 {
		return chart.Chart{}, fmt.Errorf("%s:%d: the table has %d column, want an x column and at least one more", name, line, len(row))
	}
	head := slices.Clone(row)
	c := chart.Chart{XLabel: head[0], LogY: logY, Series: make([]chart.Series, len(head)-1)}
	// No more rows than lines, and none without a byte for each cell.
	most := min(bytes.Count(text, []byte("\n")), len(text)/len(head)) + 1
	xs := make([]float64, 0, most) // of all series
	for i := range c.Series {
		c.Series[i].Y = make([]float64, 0, most)
	}
	for {
		row, line, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return chart.Chart{}, err
		}
		for i, cell := range row {
			v, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
			large := math.Abs(v) > chart.Limit && !math.IsInf(v, 0) || errors.Is(err, strconv.ErrRange)
			switch {
			case large || logY && i > 0 && v > 0 && v < 1/chart.Limit:
				return chart.Chart{}, fmt.Errorf("%s:%d: %.40q in the column %.40q cannot be drawn: want at most %g, and with --log at least %g", name, line, cell, head[i], chart.Limit, 1/chart.Limit)
			case err != nil && i == 0:
				return chart.Chart{}, fmt.Errorf("%s:%d: %.40q is not a number for the x axis", name, line, cell)
			case i == 0:
				xs = append(xs, v)
				continue
			}
			s := &c.Series[i-1]
			if err != nil {
				v = math.NaN()
			} else {
				s.Name = head[i]
			}
			s.Y = append(s.Y, v)
		}
	}
	for i := range c.Series {
		c.Series[i].X = xs
	}
	return c, nil
}

func savePNG(path string, img image.Image) error {
	if !strings.EqualFold(filepath.Ext(path), ".png") {
		return command.Usagef("--out %s: this picture is a PNG, name it .png", path)
	}
	return figure.WritePNG(path, img)
}
