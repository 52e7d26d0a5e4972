package plot

import (
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
)

// A filter that reads one value, and that of opposite sign, are a red and a blue
// bar in that value's row, strongest in the middle.
func TestPlotFilters(t *testing.T) {
	dir := t.TempDir()
	out, model, cols := filepath.Join(dir, "f.png"), testcli.Manifold(t), feature.Human().Columns()
	const value, width = 5, 13
	if code, _, errs := mannequin("plot", "filters", model, "--units", "5,75", "--out", out); code != 0 || cols+value != 75 {
		t.Fatal(errs)
	}
	f := must.Get(os.Open(out))(t)
	defer f.Close()
	img := must.Get(png.Decode(f))(t)
	at := func(filter, row, frame int) color.RGBA {
		x := sheetLeft + filter*(width*cellWide+betweenFilters) + frame*cellWide + cellWide/2
		return color.RGBAModel.Convert(img.At(x, sheetTop+row*cellHigh+cellHigh/2)).(color.RGBA)
	}
	for filter, full := range []color.RGBA{weightColour(1), weightColour(-1)} {
		for row := range cols {
			if got := at(filter, row, width/2); (got == full) != (row == value) {
				t.Errorf("filter %d, row %d: %v", filter, row, got)
			}
		}
		if mid, end := at(filter, value, width/2), at(filter, value, 0); mid == end || end.G < 200 {
			t.Errorf("filter %d: %v in the middle, %v at its end", filter, mid, end)
		}
	}
	if a, b := weightColour(1), weightColour(-1); a.R <= a.B || b.B <= b.R || weightColour(0) != (color.RGBA{255, 255, 255, 255}) {
		t.Errorf("colours %v and %v", a, b)
	}
	if code, _, errs := mannequin("plot", "filters", "human-footstep", "--count", "3", "--out", out); code != 0 {
		t.Error(errs)
	}
	for want, args := range map[string][]string{
		"no filter 140": {model, "--units", "140"}, "no filter -1": {model, "--units", "-1"},
		"1 to 16": {model, "--count", "17"}, "no convolution": {"dog"}, `no model "cat"`: {"cat"},
	} {
		if code, _, errs := mannequin(append([]string{"plot", "filters", "--out", out}, args...)...); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}
