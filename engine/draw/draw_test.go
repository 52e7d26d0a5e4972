package draw

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"testing"

	"mannequin/engine/m3"
)

func ink(img *image.RGBA) (n int, box image.Rectangle) {
	for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
		for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
			if img.RGBAAt(x, y) != Paper {
				n++
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return n, box
}

// The camera's pictures follow the conventions that its constructors promise.
func TestCameraConventions(t *testing.T) {
	const w, h = 200, 100
	at := func(c Camera, p m3.Vec3) (float32, float32) {
		x, y, ok := c.Project(w, h, p)
		if !ok {
			t.Fatalf("%v is not visible", p)
		}
		return x, y
	}
	o := m3.V(1, 2, 3)
	near := func(a, b float32) bool { return m3.Abs(a-b) < 1e-3 }
	x, y := at(Side(o, 2), o.Add(m3.V(0, 0.5, 1)))
	if !near(x, 150) || !near(y, 25) {
		t.Errorf("side view: ahead and up falls on (%g, %g), want (150, 25)", x, y)
	}
	x, y = at(Top(o, 2), o.Add(m3.V(1, 0, 0.5)))
	if !near(x, 50) || !near(y, 25) {
		t.Errorf("top view: left and ahead falls on (%g, %g), want (50, 25)", x, y)
	}
	x, y = at(Front(o, 2), o.Add(m3.V(1, -0.5, 0)))
	if !near(x, 150) || !near(y, 75) {
		t.Errorf("front view: the character's left falls on (%g, %g), want (150, 75)", x, y)
	}
	// With a right angle of view a point at the edge is as far off the axis as ahead.
	p := Camera{FOV: math.Pi / 2, Target: m3.V(0, 0, -1)}
	x, y = at(p, m3.V(0, 3, -3))
	if !near(x, 100) || !near(y, 0) {
		t.Errorf("perspective: (%g, %g), want (100, 0)", x, y)
	}
	if _, _, ok := p.Project(w, h, m3.V(0, 0, 1)); ok {
		t.Error("a point behind the camera is visible")
	}
}

func TestLineCoversItsPixels(t *testing.T) {
	img := New(64, 64, Paper)
	cam := Camera{Eye: m3.V(0, 0, 5), Height: 64} // one pixel per metre, looking along −Z
	Line(img, cam, m3.V(-20, 0.5, 0), m3.V(20, 0.5, 0), 1, Ink)
	if got := img.RGBAAt(32, 31); got != Ink {
		t.Errorf("centre of the line is %v", got)
	}
	n, box := ink(img)
	if box.Dx() < 40 || box.Dx() > 43 || box.Dy() > 3 || n < 40 {
		t.Errorf("%d pixels in %v, want a horizontal line of about 41", n, box)
	}
}

// Lines that start behind the camera, end far outside or hold NaN neither panic nor spill.
func TestHostileCoordinates(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	img := New(32, 32, Paper)
	for _, cam := range []Camera{{Eye: m3.V(0, 1, 5), FOV: 1}, {Eye: m3.V(0, 1, 5), Height: 2}, {}} {
		for _, p := range []m3.Vec3{{X: nan}, {Y: inf}, {Z: 1e30}, {X: -1e30, Y: 1e30}, {Z: 7}, {}} {
			Line(img, cam, m3.V(0, 0, 0), p, 2, Ink)
			Line(img, cam, p, p, 3, Ink)
		}
		Grid(img, cam, m3.V(nan, 0, 0), 5, 0.5)
		Grid(img, cam, m3.Vec3{}, 5, 0)
		Grid(img, cam, m3.Vec3{}, inf, 1e-9)
	}
}

func TestSkeletonHitsItsJoints(t *testing.T) {
	parents := []int16{-1, 0, 1, 0}
	pos := []m3.Vec3{{Y: 0.5}, {Y: 0.8}, {Y: 0.8, Z: 0.4}, {X: 0.1, Z: -0.3}}
	cam := ThreeQuarter(m3.V(0, 0.5, 0), 2)
	img := New(160, 120, Paper)
	Skeleton(img, cam, parents, pos, Red)
	for i, p := range pos {
		x, y, _ := cam.Project(160, 120, p)
		if c := img.RGBAAt(int(x), int(y)); c == Paper {
			t.Errorf("joint %d is not drawn at (%g, %g)", i, x, y)
		}
	}
	mid := pos[1].Lerp(pos[2], 0.5)
	x, y, _ := cam.Project(160, 120, mid)
	if img.RGBAAt(int(x), int(y)) == Paper {
		t.Error("the bone between joints 1 and 2 is missing")
	}
}

func TestTextAndSheet(t *testing.T) {
	w, h := TextSize(14, "0.25 m/s")
	if w < 30 || w > 90 || h < 12 || h > 24 {
		t.Errorf("text measures %d×%d", w, h)
	}
	img := New(w+20, h+20, Paper)
	Text(img, 10, 10, 14, Ink, "0.25 m/s")
	n, box := ink(img)
	if n < 60 || !box.In(image.Rect(9, 9, w+12, h+12)) {
		t.Errorf("text has %d pixels in %v", n, box)
	}

	s := Sheet(2, 10, 8, 3, func(i int, tile *image.RGBA) {
		Fill(tile, image.Rect(2, 2, 4, 4), color.RGBA{uint8(10 + i), 0, 0, 255})
	})
	if s.Rect != image.Rect(0, 0, 20, 16) {
		t.Fatalf("sheet is %v", s.Rect)
	}
	for i, at := range []image.Point{{3, 3}, {13, 3}, {3, 11}} {
		if got := s.RGBAAt(at.X, at.Y).R; got != uint8(10+i) {
			t.Errorf("tile %d shows %d", i, got)
		}
	}
}

func TestClipSheetIsDeterministicAndFollows(t *testing.T) {
	m := Motion{Parents: []int16{-1, 0}, Frames: 50, FPS: 60, Pose: func(f int) []m3.Vec3 {
		z := float32(f)
		return []m3.Vec3{{Y: 0.4, Z: z}, {Y: 0.4, Z: z + 0.3}}
	}}
	a, b := ClipSheet(m, 6, 3, 1), ClipSheet(m, 6, 3, 1)
	if !bytes.Equal(a.Pix, b.Pix) {
		t.Error("two sheets of one clip differ")
	}
	// The moving body stays in the middle of every tile.
	for i := range 6 {
		cx, cy := (i%3)*240+120+30, (i/3)*200+100
		if a.RGBAAt(cx, cy) == Paper {
			t.Errorf("tile %d does not follow the body", i)
		}
	}
}

// A stretch of a clip is labelled with the whole clip's frames and seconds.
func TestClipSheetOfAStretch(t *testing.T) {
	whole := Motion{Parents: []int16{-1, 0}, Frames: 50, FPS: 60, Pose: func(f int) []m3.Vec3 {
		return []m3.Vec3{{Y: 0.4, Z: float32(f)}, {Y: 0.4, Z: float32(f) + 0.3}}
	}}
	part := whole
	part.First, part.Frames, part.Pose = 49, 1, func(f int) []m3.Vec3 { return whole.Pose(f + 49) }
	all, one := ClipSheet(whole, 2, 2, 1), ClipSheet(part, 1, 1, 1)
	for y := range 200 {
		for x := range 240 {
			if all.RGBAAt(240+x, y) != one.RGBAAt(x, y) {
				t.Fatalf("pixel %d, %d differs", x, y)
			}
		}
	}
}

func ExampleSkeleton() {
	img := New(320, 240, Paper)
	cam := ThreeQuarter(m3.V(0, 0.3, 0), 1.5)
	Grid(img, cam, m3.Vec3{}, 2, 0.5)
	Skeleton(img, cam, []int16{-1, 0, 1}, []m3.Vec3{{Y: 0.5}, {Y: 0.5, Z: 0.4}, {Z: 0.4}}, Blue)
	// Output:
}

// A tile says what its motion's Label says of it.
func TestClipSheetLabel(t *testing.T) {
	m := Motion{Parents: []int16{-1, 0}, Frames: 2, Pose: func(int) []m3.Vec3 { return []m3.Vec3{{Y: 0.4}, {Y: 0.4, Z: 0.3}} }}
	plain := ClipSheet(m, 2, 2, 1)
	m.Label = func(f int) string { return []string{"0", "one"}[f] }
	named := ClipSheet(m, 2, 2, 1)
	same := func(tile int) bool {
		for y := range 20 {
			from, to := plain.PixOffset(240*tile, y), plain.PixOffset(240*(tile+1)-1, y)
			if !bytes.Equal(plain.Pix[from:to], named.Pix[from:to]) {
				return false
			}
		}
		return true
	}
	if !same(0) || same(1) {
		t.Error("the first tile is still called 0, the second is not 1 any more")
	}
}

// Nearer triangles hide farther ones, whatever their order, and cover their pixels alone.
func TestMeshHides(t *testing.T) {
	// A small triangle before a large one, as seen from +Z.
	pos := []m3.Vec3{m3.V(-1, -1, 0), m3.V(1, -1, 0), m3.V(0, 1, 0), m3.V(-0.3, -0.6, 0.5), m3.V(0.3, -0.6, 0.5), m3.V(0, 0, 0.1), m3.V(0, float32(math.NaN()), 0)}
	var first *image.RGBA
	for _, index := range [][]uint32{{0, 1, 2, 3, 4, 5}, {3, 4, 5, 2, 1, 0}, {0, 1, 2, 3, 4, 5, 0, 1, 6, 0, 1, 99, 0}} {
		img := New(100, 100, Paper)
		Mesh(img, Front(m3.V(0, 0, 0), 4), pos, index, color.RGBA{200, 200, 200, 255})
		if first == nil {
			first = img
		}
		if !bytes.Equal(img.Pix, first.Pix) {
			t.Errorf("index %v gives another picture", index)
		}
	}
	n, box := ink(first)
	if n < 1150 || n > 1350 || box != image.Rect(25, 26, 75, 75) {
		t.Errorf("%d pixels in %v, want half of 50 × 50", n, box)
	}
	if front, behind := first.RGBAAt(50, 60), first.RGBAAt(50, 40); front == behind || behind == Paper {
		t.Errorf("the small triangle is %v, the large one %v", front, behind)
	}
}
