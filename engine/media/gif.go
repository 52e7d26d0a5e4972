package media

import (
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"
	"math"
	"slices"

	"mannequin/internal/atomicfile"
)

// A GIF has one palette for all frames, so frames stay in memory until the end. Its delays are
// whole hundredths of a second. Frames are thinned to at most gifFPS per second and halved in
// size until they are at most gifWidth wide.
const (
	gifFPS    = 25
	gifWidth  = 640
	gifPixels = 1 << 28 // in all frames; each takes two bytes
)

type gifWriter struct {
	base
	every, half int // keeps one frame of every; a pixel is the mean of half×half
	w, h        int
	cells       [][]uint16 // per kept frame: w×h dithered colour cells
	counts      []int      // pixels per cell over all kept frames
}

func newGIF(b base) (Writer, error) {
	g := &gifWriter{base: b, half: 1, counts: make([]int, 1<<(3*cellBits))}
	for b.opt.Width/g.half > gifWidth {
		g.half *= 2
	}
	g.every = (b.opt.FPS + gifFPS - 1) / gifFPS
	g.w, g.h = max(b.opt.Width/g.half, 1), max(b.opt.Height/g.half, 1)
	return g, nil
}

// bayer is the 4×4 ordered-dither matrix. It does not crawl between frames, and compresses well.
var bayer = [16]int{0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5}

func (g *gifWriter) Frame(img *image.RGBA) error {
	if err := g.accept(img); err != nil {
		return err
	}
	if (g.frames-1)%g.every != 0 {
		return nil
	}
	if (len(g.cells)+1)*g.w*g.h > gifPixels {
		return fmt.Errorf("media: %s: longer than a GIF may be (%d frames): write an .mp4", g.path, len(g.cells))
	}
	cells := make([]uint16, g.w*g.h)
	n := g.half * g.half
	for y := range g.h {
		for x := range g.w {
			var sum [3]int
			for dy := range g.half {
				i := img.PixOffset(img.Rect.Min.X+x*g.half, img.Rect.Min.Y+min(y*g.half+dy, g.opt.Height-1))
				for dx := range g.half {
					for k := range 3 {
						sum[k] += int(img.Pix[i+4*dx+k])
					}
				}
			}
			d := (bayer[y&3<<2|x&3] - 8) / 2 // about one colour cell from end to end
			c := func(k int) int { return min(max(sum[k]/n+d, 0), 255) }
			at := cell(c(0), c(1), c(2))
			cells[y*g.w+x] = uint16(at)
			g.counts[at]++
		}
	}
	g.cells = append(g.cells, cells)
	return nil
}

func (g *gifWriter) Close() error {
	defer g.Abort()
	if err := g.finish(); err != nil {
		return err
	}
	pal := medianCut(g.counts, 256)
	lookup := cellTable(pal)
	var anim gif.GIF
	// Delays are rounded so that their sum stays right.
	due := func(k int) int { return (100*k*g.every + g.opt.FPS/2) / g.opt.FPS }
	for k, cells := range g.cells {
		p := image.NewPaletted(image.Rect(0, 0, g.w, g.h), pal)
		for i, c := range cells {
			p.Pix[i] = lookup[c]
		}
		g.cells[k] = nil
		anim.Image = append(anim.Image, p)
		anim.Delay = append(anim.Delay, due(k+1)-due(k))
	}
	return atomicfile.Write(g.path, func(w io.Writer) error { return gif.EncodeAll(w, &anim) })
}

func (g *gifWriter) Abort() {
	g.done = true
	g.cells = nil
}

// Colours are counted and looked up in cells of 32 levels per channel.
const cellBits = 5

func cell(r, g, b int) int {
	const s = 8 - cellBits
	return r>>s<<(2*cellBits) | g>>s<<cellBits | b>>s
}

// medianCut returns at most n colours for the pixels counted per colour cell:
// boxes of cells are split at the median of their longest side (Heckbert 1982).
func medianCut(counts []int, n int) color.Palette {
	type entry struct {
		c     [3]int // cell coordinates
		count int
	}
	var all []entry
	const mask = 1<<cellBits - 1
	for i, c := range counts {
		if c > 0 {
			all = append(all, entry{[3]int{i >> (2 * cellBits), i >> cellBits & mask, i & mask}, c})
		}
	}
	// spread returns a box's longest side and the gain of splitting it.
	spread := func(b []entry) (axis, gain int) {
		total := 0
		lo, hi := b[0].c, b[0].c
		for _, e := range b {
			total += e.count
			for k := range 3 {
				lo[k], hi[k] = min(lo[k], e.c[k]), max(hi[k], e.c[k])
			}
		}
		for k := range 3 {
			if hi[k]-lo[k] > hi[axis]-lo[axis] {
				axis = k
			}
		}
		// The square root of the count keeps small but different areas, such
		// as text, from losing every colour to the sky.
		return axis, (hi[axis] - lo[axis]) * int(math.Sqrt(float64(total)))
	}
	boxes := [][]entry{all}
	for len(boxes) < n {
		best, bestAxis, bestGain := -1, 0, 0
		for i, b := range boxes {
			if axis, gain := spread(b); gain > bestGain {
				best, bestAxis, bestGain = i, axis, gain
			}
		}
		if best < 0 {
			break
		}
		b := boxes[best]
		slices.SortStableFunc(b, func(x, y entry) int { return x.c[bestAxis] - y.c[bestAxis] })
		total, half, cut := 0, 0, 1
		for _, e := range b {
			total += e.count
		}
		for i, e := range b[:len(b)-1] {
			half += e.count
			cut = i + 1
			if 2*half >= total {
				break
			}
		}
		boxes[best] = b[:cut]
		boxes = append(boxes, b[cut:])
	}
	pal := make(color.Palette, 0, n)
	for _, b := range boxes {
		var sum [3]int
		total := 0
		for _, e := range b {
			for k := range 3 {
				sum[k] += e.c[k] * e.count
			}
			total += e.count
		}
		at := func(k int) uint8 {
			v := (2*sum[k] + total) << (7 - cellBits) / total // middle of the cells
			return uint8(min(v, 255))
		}
		pal = append(pal, color.RGBA{at(0), at(1), at(2), 255})
	}
	return pal
}

// cellTable returns the nearest palette entry of each colour cell.
func cellTable(pal color.Palette) []uint8 {
	t := make([]uint8, 1<<(3*cellBits))
	const s, mid = 8 - cellBits, 1 << (7 - cellBits)
	for i := range t {
		r, g, b := i>>(2*cellBits)<<s+mid, i>>cellBits&(1<<cellBits-1)<<s+mid, i&(1<<cellBits-1)<<s+mid
		best := 1 << 30
		for k, c := range pal {
			p := c.(color.RGBA)
			dr, dg, db := int(p.R)-r, int(p.G)-g, int(p.B)-b
			if d := dr*dr + dg*dg + db*db; d < best {
				best, t[i] = d, uint8(k)
			}
		}
	}
	return t
}
