package stage

import (
	"bytes"
	"image"
	"math"
	"strings"
	"testing"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// open returns an offscreen stage, or skips the test where this machine cannot render.
func open(t testing.TB, w, h int) *Stage {
	t.Helper()
	s, err := Open(Options{Width: w, Height: h, Offscreen: true})
	if err != nil {
		if strings.Contains(err.Error(), "offscreen") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// post is a rig that stands 1 m high: joint 0 on the ground, 1 half way up, 2 on top.
func post(t testing.TB) *body.Body {
	t.Helper()
	b := must.Get(body.New(&body.Rig{Names: []string{"foot", "knee", "top"}, Parents: []int16{-1, 0, 1},
		Offsets: []m3.Vec3{{}, {Y: 0.5}, {Y: 0.5}}}))(t)
	return b
}

// stand appends the joints of a post at p whose upper half is turned by bend.
func stand(bones []m3.Xform, p m3.Vec3, bend m3.Quat) []m3.Xform {
	foot := m3.Xform{Pos: p, Rot: m3.Ident}
	knee := foot.Mul(m3.Xform{Pos: m3.V(0, 0.5, 0), Rot: bend})
	return append(bones, foot, knee, knee.Mul(m3.Xform{Pos: m3.V(0, 0.5, 0), Rot: m3.Ident}))
}

func newCrowd(t testing.TB, s *Stage, b *body.Body, bones []m3.Xform, tint [][3]float32) *Crowd {
	t.Helper()
	c := must.Get(s.NewCrowd(b))(t)
	must.Do(t, c.Set(bones, tint))
	return c
}

func shoot(t testing.TB, s *Stage, v View) *image.RGBA {
	t.Helper()
	must.Do(t, s.Draw(v))
	return must.Get(s.Capture(nil))(t)
}

// at returns the mean colour of 3×3 pixels around the world point p.
func at(t testing.TB, s *Stage, img *image.RGBA, p m3.Vec3) (c [3]float64) {
	t.Helper()
	x, y := pixel(t, s, img, p)
	return mean(img, image.Pt(x, y))
}

// pixel returns the position of the world point p in the picture.
func pixel(t testing.TB, s *Stage, img *image.RGBA, p m3.Vec3) (x, y int) {
	t.Helper()
	clip := s.eye.clip()
	w := clip[3]*p.X + clip[7]*p.Y + clip[11]*p.Z + clip[15]
	x = int((clip[0]*p.X+clip[4]*p.Y+clip[8]*p.Z+clip[12])/w*float32(img.Rect.Dx())/2 + float32(img.Rect.Dx())/2)
	y = int(float32(img.Rect.Dy())/2 - (clip[1]*p.X+clip[5]*p.Y+clip[9]*p.Z+clip[13])/w*float32(img.Rect.Dy())/2)
	if w <= 0 || !image.Pt(x, y).In(img.Rect.Inset(2)) {
		t.Fatalf("%v is not in the picture: (%d, %d)", p, x, y)
	}
	return x, y
}

func light(c [3]float64) float64 { return (c[0] + c[1] + c[2]) / 3 }

func flat(x, z float32) float32 { return 0 }

// The sun comes from above: a bar is lighter there and throws its shadow away from the sun.
func TestLightAndShadow(t *testing.T) {
	s := open(t, 320, 240)
	s.SetGround(flat)
	bar := must.Get(body.New(&body.Rig{Names: []string{"bar", "end"}, Parents: []int16{-1, 0}, Offsets: []m3.Vec3{{}, {Y: 1}}}))(t)
	// Along +Z, 0.6 m above the ground.
	p, lying := m3.V(0, 0.6, -0.5), m3.AxisAngle(m3.V(1, 0, 0), math.Pi/2)
	newCrowd(t, s, bar, []m3.Xform{{Pos: p, Rot: lying}, {Pos: p.Add(m3.V(0, 0, 1)), Rot: lying}}, [][3]float32{{0.4, 0.4, 0.4}})
	s.Camera.Place(m3.V(2.4, 1.6, 1.2), m3.V(-0.2, 0.3, 0))
	img := shoot(t, s, View{})
	mid := p.Add(m3.V(0, 0, 0.5))
	foot := mid.Sub(s.lighting.sun.Scale(mid.Y / s.lighting.sun.Y))
	in, out := at(t, s, img, foot), at(t, s, img, m3.V(-foot.X, 0, foot.Z+0.45))
	if over, under := at(t, s, img, mid.Add(m3.V(0, 0.018, 0))), at(t, s, img, mid.Sub(m3.V(0, 0.022, 0))); light(over) < light(under)+10 {
		t.Errorf("the bar is %v above, %v below", over, under)
	}
	if light(in) > 0.75*light(out) {
		t.Errorf("the shadow's middle is %v, lit ground %v", in, out)
	}
}

// The same scene gives the same bytes: again on one stage, and on another.
func TestPicturesAreDeterministic(t *testing.T) {
	picture := func() (a, b *image.RGBA) {
		s := open(t, 256, 144)
		defer s.Close()
		s.SetGround(func(x, z float32) float32 { return 0.3 * m3.Sin(x) * m3.Cos(z) })
		var bones []m3.Xform
		for i := range 40 {
			bones = stand(bones, m3.V(float32(i%8)-4, 0, -float32(i/8)), m3.AxisAngle(m3.V(1, 0, 0), float32(i)*0.1))
		}
		newCrowd(t, s, post(t), bones, nil)
		s.Camera.Track(m3.V(0, 0.5, 0), 0.3, 0, nil)
		v := View{HUD: []string{"forty"}, Help: []string{"none"}, Path: []m3.Vec3{{Z: 1}, {X: 1, Z: 2}}}
		return shoot(t, s, v), shoot(t, s, v)
	}
	a, b := picture()
	c, _ := picture()
	if !bytes.Equal(a.Pix, b.Pix) {
		t.Error("the second picture of a stage differs from the first")
	}
	if !bytes.Equal(a.Pix, c.Pix) {
		t.Error("a second stage's picture differs")
	}
}

// Text appears in its corner, changes with its lines and goes with them.
func TestText(t *testing.T) {
	s := open(t, 400, 200)
	s.Camera.Place(m3.V(0, 1, 0), m3.V(0, 1, -1))
	none := shoot(t, s, View{})
	one := shoot(t, s, View{HUD: []string{"trot 1.9 m/s"}})
	two := shoot(t, s, View{HUD: []string{"trot 1.9 m/s"}, Help: []string{"H: help"}})
	again := shoot(t, s, View{})
	if !bytes.Equal(none.Pix, again.Pix) {
		t.Error("the text stays when its lines are gone")
	}
	diff := func(a, b *image.RGBA) (box image.Rectangle, white int) {
		for y := range 200 {
			for x := range 400 {
				if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
					box = box.Union(image.Rect(x, y, x+1, y+1))
				}
				if q := b.RGBAAt(x, y); q.R > 230 && q.G > 230 && q.B > 225 {
					white++
				}
			}
		}
		return box, white
	}
	box, white := diff(none, one)
	if box.Min != image.Pt(panelMargin, panelMargin) || box.Dx() > 160 || box.Dy() > 50 || white < 8 {
		t.Errorf("the HUD covers %v with %d bright pixels", box, white)
	}
	if box, _ := diff(one, two); box.Min.X != panelMargin || box.Max.Y != 200-panelMargin || box.Min.Y < 120 {
		t.Errorf("the help covers %v, want the bottom left", box)
	}
}

func TestPathIsDrawn(t *testing.T) {
	s := open(t, 200, 120)
	s.SetGround(flat)
	s.Camera.Place(m3.V(0, 1.5, 2), m3.V(0, 0, 0))
	var path []m3.Vec3
	for i := range 21 {
		path = append(path, m3.V(0.1*float32(i)-1, 0, 0))
	}
	nan := float32(math.NaN())
	plain := shoot(t, s, View{})
	with := shoot(t, s, View{Path: path})
	broken := shoot(t, s, View{Path: []m3.Vec3{{X: nan}, {}, {Y: nan}}})
	changed := 0
	for i := range plain.Pix {
		if plain.Pix[i] != with.Pix[i] {
			changed++
		}
	}
	if changed < 200 {
		t.Errorf("the path changes %d bytes", changed)
	}
	if !bytes.Equal(plain.Pix, broken.Pix) {
		t.Error("a path without two points is drawn")
	}
}

func TestBadUse(t *testing.T) {
	for _, o := range []Options{{Width: 0, Height: 100}, {Width: 100, Height: 1 << 20}} {
		o.Offscreen = true
		if _, err := Open(o); err == nil {
			t.Errorf("%d×%d was accepted", o.Width, o.Height)
		}
	}
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	if HasDisplay() {
		t.Skip("this system has a display anyway")
	}
	if _, err := Open(Options{Width: 100, Height: 100}); err == nil || !strings.Contains(err.Error(), "display") {
		t.Errorf("a window without a display: %v", err)
	}
	s := open(t, 64, 64)
	if _, err := s.NewCrowd(&body.Body{}); err == nil {
		t.Error("an empty body was accepted")
	}
	c := newCrowd(t, s, post(t), nil, nil)
	if err := c.Set(make([]m3.Xform, 4), nil); err == nil {
		t.Error("four bones for a rig of three were accepted")
	}
	if err := c.Set(make([]m3.Xform, 3), make([][3]float32, 2)); err == nil {
		t.Error("two tints for one character were accepted")
	}
	if err := c.Set(make([]m3.Xform, 3*(c.all.Max()+1)), nil); err == nil {
		t.Error("more characters than the driver can draw were accepted")
	}
	s.Close()
	s.Close()
	if err := s.Draw(View{}); err == nil {
		t.Error("drawing on a closed stage worked")
	}
}
