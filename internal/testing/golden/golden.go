// Package golden compares pictures with stored ones, for tests.
package golden

import (
	"flag"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"

	"mannequin/internal/atomicfile"
	"mannequin/internal/testing/must"
)

// update, set by make golden, rewrites the stored pictures. Look at them before you commit them.
var update = flag.Bool("update", false, "write the golden pictures")

// A golden picture and a new one are compared in squares of 4×4 pixels, so that drivers, which
// differ in how they place samples, agree. These are the limits: the mean difference of a channel
// of 255, the square that counts as another one, and how many of those there may be.
const (
	side      = 4
	mostMean  = 2.5
	other     = 12
	mostShare = 0.01
)

// Check compares img with testdata/golden/name.png.
func Check(t *testing.T, img *image.RGBA, name string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".png")
	if *update {
		must.Do(t, atomicfile.Write(path, func(w io.Writer) error { return png.Encode(w, reduced(img)) }))
	}
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	want := must.Get(png.Decode(f))(t)
	mean, share := differ(t, img, want)
	t.Logf("mean difference %.2f, other squares %.2f %%", mean, 100*share)
	if mean > mostMean || share > mostShare {
		seen := filepath.Join(t.ArtifactDir(), name+".png")
		_ = atomicfile.Write(seen, func(w io.Writer) error { return png.Encode(w, img) })
		t.Errorf("%s differs from what is drawn by %.2f in the mean, at most %g is allowed, and in %.1f %% of its squares, at most %g %%. "+
			"go test -run Golden -artifacts keeps the new picture in %s; make golden, if it is right",
			path, mean, mostMean, 100*share, 100*mostShare, seen)
	}
}

// reduced returns img with 32 levels a channel, which makes its file small.
func reduced(img *image.RGBA) *image.NRGBA {
	r := image.NewNRGBA(img.Rect)
	for i, v := range img.Pix {
		r.Pix[i] = v&^7 | 4
		if i%4 == 3 {
			r.Pix[i] = 255
		}
	}
	return r
}

// differ compares the squares' means: by how much a channel differs in the mean,
// and the share of squares of which one differs by more than other.
func differ(t *testing.T, a, b image.Image) (mean, share float64) {
	t.Helper()
	if a.Bounds() != b.Bounds() {
		t.Fatalf("the picture is %v, want %v", b.Bounds(), a.Bounds())
	}
	n := 0
	for y := 0; y < a.Bounds().Dy(); y += side {
		for x := 0; x < a.Bounds().Dx(); x += side {
			p, q := square(a, x, y), square(b, x, y)
			n++
			differs := false
			for c := range p {
				d := max(p[c]-q[c], q[c]-p[c])
				mean += d / 3
				differs = differs || d > other
			}
			if differs {
				share++
			}
		}
	}
	return mean / float64(n), share / float64(n)
}

func square(m image.Image, x, y int) (c [3]float64) {
	for k := range side * side {
		p := color.NRGBAModel.Convert(m.At(x+k%side, y+k/side)).(color.NRGBA)
		for i, v := range []uint8{p.R, p.G, p.B} {
			c[i] += float64(v) / (side * side)
		}
	}
	return c
}
