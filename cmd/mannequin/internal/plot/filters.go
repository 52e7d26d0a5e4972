package plot

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"mannequin/animsys/feature"
	"mannequin/engine/draw"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
)

// mostFilters is the largest number of filters side by side.
const mostFilters = 16

func newPlotFilters() *cobra.Command {
	var out string
	var count int
	var units []int
	c := &cobra.Command{
		Use:   "filters MODEL --out PICTURE.png",
		Short: "Draw the filters of a network's first convolution",
		Long: `Draw the weights of a network's first convolution over time, as in Holden, Saito and
Komura 2016, fig. 3. Each filter is an image: time to the right, the values of a frame
downwards, x, y and z of a position below each other. Weights apply to normalised values.

Without --units the filters with the largest weights of positions are drawn. Weights of the
body's motion and of contacts may exceed the range of the colours.`,
		Example: `  mannequin plot filters human --out filters.png
  mannequin plot filters mine.safetensors --units 3,14,159 --out three.png`,
		Args: command.Want("one model", 1, 1),
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(units) > mostFilters {
			return command.Usagef("--units names %d filters, want at most %d", len(units), mostFilters)
		}
		net, err := models.Open(args[0])
		if err != nil {
			return err
		}
		w, node, err := firstConv(net)
		if err != nil {
			return fmt.Errorf("model %s: %w", args[0], err)
		}
		rows := rowNames(net, w.Shape[1])
		if len(units) == 0 {
			units = strongest(w, count, places(rows))
		}
		for _, u := range units {
			if u < 0 || u >= w.Shape[0] {
				return command.Usagef("--units: the layer %q has no filter %d: want 0 to %d", node, u, w.Shape[0]-1)
			}
		}
		if err := savePNG(out, filterSheet(w, units, rows)); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: filters of %s\n", out, args[0])
		return err
	}
	command.Out(c, &out, command.File, "the `picture` to write, .png")
	command.Number(c, &count, "count", 8, 1, mostFilters, "filters to draw")
	c.Flags().IntSliceVar(&units, "units", nil, "`numbers` of the filters to draw, from 0; may be repeated")
	return c
}

// firstConv returns the weights of a network's first convolution, (out, in,
// width), and its node's name.
func firstConv(net *netruntime.Net) (netruntime.Tensor, string, error) {
	for _, n := range net.Graph().Nodes {
		if n.Op == netruntime.OpConv && !n.Tied {
			w, ok := net.Tensor(n.Tensor("weight"))
			if !ok || len(w.Shape) != 3 {
				break
			}
			return w, n.Name, nil
		}
	}
	return netruntime.Tensor{}, "", errors.New("it has no convolution over time")
}

// places returns the number of values at the start of a frame that are positions of joints, or all
// if the layout is unknown.
func places(rows []feature.Span) int {
	n := 0
	for _, r := range rows {
		if r.Len == 3 && r.Start == n && r.Name != "body x, z, yaw" {
			n += r.Len
		}
	}
	if n == 0 {
		return rows[0].Len
	}
	return n
}

// strongest returns the filters with the largest sums of squared weights of the
// first values of a frame, in order.
func strongest(w netruntime.Tensor, count, values int) []int {
	n := len(w.Data) / w.Shape[0]
	size := func(u int) (sum float64) {
		for _, v := range w.Data[u*n:][:values*w.Shape[2]] {
			sum += float64(v) * float64(v)
		}
		return sum
	}
	units := make([]int, w.Shape[0])
	for u := range units {
		units[u] = u
	}
	slices.SortStableFunc(units, func(a, b int) int { return cmp.Compare(size(b), size(a)) })
	units = units[:min(count, len(units))]
	slices.Sort(units)
	return units
}

// rowNames names the values that a filter reads, by the layout of the model's frames if it reads
// frames.
func rowNames(net *netruntime.Net, inputs int) []feature.Span {
	layout := new(feature.Motion)
	if json.Unmarshal([]byte(net.Meta().Schema), layout) == nil && layout.Columns() == inputs {
		var rows []feature.Span
		for j, name := range layout.Joints {
			rows = append(rows, feature.Span{Name: name, Start: layout.Pos(j), Len: 3})
		}
		return append(rows, feature.Span{Name: "body x, z, yaw", Start: layout.Body(), Len: feature.MotionLen},
			feature.Span{Name: "contacts", Start: layout.Contact(0), Len: len(layout.Contacts)})
	}
	return []feature.Span{{Name: "inputs", Len: inputs}}
}

// Sizes on a sheet of filters, in pixels.
const (
	cellWide, cellHigh     = 5, 7 // of a weight
	sheetLeft, sheetTop    = 150, 40
	sheetRight, sheetBelow = 90, 40
	betweenFilters         = 16
)

// filterSheet draws filters side by side, with a legend of their colours.
func filterSheet(w netruntime.Tensor, units []int, rows []feature.Span) image.Image {
	in, width := w.Shape[1], w.Shape[2]
	wide, high := width*cellWide, in*cellHigh
	img := draw.New(sheetLeft+len(units)*(wide+betweenFilters)+sheetRight, sheetTop+max(high, 120)+sheetBelow, draw.Paper)
	most := 0.0
	for _, u := range units {
		for _, v := range w.Data[u*in*width:][:places(rows)*width] {
			most = max(most, math.Abs(float64(v)))
		}
	}
	for _, s := range rows {
		y := sheetTop + s.Start*cellHigh
		draw.Fill(img, image.Rect(sheetLeft-8, y, sheetLeft-betweenFilters/2, y+1), draw.Ink)
		tw, th := draw.TextSize(11, s.Name)
		draw.Text(img, sheetLeft-12-tw, y+(s.Len*cellHigh-th)/2, 11, draw.Ink, s.Name)
	}
	for i, u := range units {
		x0 := sheetLeft + i*(wide+betweenFilters)
		draw.Text(img, x0, sheetTop-20, 12, draw.Ink, fmt.Sprintf("filter %d", u))
		for r := range in {
			for k := range width {
				x, y := x0+k*cellWide, sheetTop+r*cellHigh
				draw.Fill(img, image.Rect(x, y, x+cellWide, y+cellHigh), weightColour(float64(w.Data[(u*in+r)*width+k])/max(most, 1e-12)))
			}
		}
		for k, frame := range []int{-(width / 2), 0, width - 1 - width/2} { // left, middle, right
			text := fmt.Sprint(frame)
			tw, _ := draw.TextSize(11, text)
			draw.Text(img, x0+k*(wide-tw)/2, sheetTop+high+6, 11, draw.Ink, text)
		}
	}
	draw.Text(img, sheetLeft, sheetTop+high+22, 11, draw.Ink, "frames before and after")
	legend(img, sheetLeft+len(units)*(wide+betweenFilters)+10, sheetTop+14, min(max(high, 100)-20, 300), most)
	return img
}

// legend draws the colours of weights.
func legend(img *image.RGBA, x, y, high int, most float64) {
	for k := range high {
		draw.Fill(img, image.Rect(x, y+k, x+16, y+k+1), weightColour(1-2*float64(k)/float64(high-1)))
	}
	for i, text := range []string{fmt.Sprintf("%+.2g", most), "0", fmt.Sprintf("%+.2g", -most)} {
		_, th := draw.TextSize(11, text)
		draw.Text(img, x+22, y+i*(high-1)/2-th/2, 11, draw.Ink, text)
	}
	draw.Text(img, x, y-20, 11, draw.Ink, "weight")
}

// weightColour goes from blue by white to red.
func weightColour(v float64) color.RGBA {
	end := draw.Red
	if v < 0 {
		end = draw.Blue
	}
	t := min(math.Abs(v), 1)
	mix := func(to uint8) uint8 { return uint8(math.Round(255 + t*(float64(to)-255))) }
	return color.RGBA{mix(end.R), mix(end.G), mix(end.B), 255}
}
