package stage

import (
	"bytes"
	"image"
	"math"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// Three characters in one call, each in its colour and its place.
func TestCrowdOfThree(t *testing.T) {
	s := open(t, 320, 180)
	s.SetGround(flat)
	var bones []m3.Xform
	for i := range 3 {
		bones = stand(bones, m3.V(float32(i)-1, 0, 0), m3.Ident)
	}
	tint := [][3]float32{{0.8, 0.02, 0.02}, {0.02, 0.8, 0.02}, {0.02, 0.02, 0.8}}
	c := newCrowd(t, s, post(t), bones, tint)
	s.Camera.Place(m3.V(0, 0.6, 4), m3.V(0, 0.5, 0))
	img := shoot(t, s, View{})
	if levels, shadows := c.instances(); levels[0]+levels[1]+levels[2] != 3 || shadows != 3 {
		t.Errorf("drew %v and %d shadows, want 3 and 3", levels, shadows)
	}
	for i := range 3 {
		got := at(t, s, img, m3.V(float32(i)-1, 0.7, 0))
		for k := range 3 {
			if k != i && got[k] > 0.5*got[i] {
				t.Errorf("character %d is %v, want channel %d to rule", i, got, i)
			}
		}
	}
	sky := at(t, s, img, m3.V(0.5, 1.2, 0))
	if sky[2] < sky[0] || light(sky) < 100 {
		t.Errorf("the sky is %v, want light blue", sky)
	}
	grass := at(t, s, img, m3.V(0.5, 0, 1))
	if grass[1] < grass[0] || grass[1] < 1.2*grass[2] {
		t.Errorf("the ground is %v, want green", grass)
	}
}

// A bent bone bends the mesh, and its normals turn too: the new top is the light side.
func TestSkinning(t *testing.T) {
	s := open(t, 320, 240)
	bones := stand(nil, m3.Vec3{}, m3.AxisAngle(m3.V(0, 0, 1), -math.Pi/2)) // the upper half lies along +X
	newCrowd(t, s, post(t), bones, [][3]float32{{0.5, 0.5, 0.5}})
	s.Camera.Place(m3.V(0.2, 0.5, 2.5), m3.V(0.2, 0.5, 0))
	img := shoot(t, s, View{})
	empty := at(t, s, img, m3.V(-0.4, 0.9, 0))
	if d := math.Abs(light(at(t, s, img, m3.V(0, 0.9, 0))) - light(empty)); d > 12 {
		t.Errorf("something is drawn where the bone was: %g from the sky", d)
	}
	r := float32(0.02)
	top, bottom := at(t, s, img, m3.V(0.3, 0.5+r, 0)), at(t, s, img, m3.V(0.3, 0.5-r, 0))
	if light(top) < light(bottom)+15 {
		t.Errorf("the bent half is %v above and %v below: its normals did not turn", top, bottom)
	}
}

// Characters are thinned with distance and left out behind the camera.
func TestLevelsAndCulling(t *testing.T) {
	s := open(t, 128, 128)
	b := post(t)
	var bones []m3.Xform
	for _, z := range []float32{-2, -9, -30, 40} {
		bones = stand(bones, m3.V(0, 0, z*b.Size), m3.Ident)
	}
	c := newCrowd(t, s, b, bones, nil)
	s.Camera.Place(m3.Vec3{}, m3.V(0, 0, -1))
	shoot(t, s, View{})
	levels, shadows := c.instances()
	if len(levels) != 3 || levels[0] != 1 || levels[1] != 1 || levels[2] != 1 {
		t.Errorf("drew %v, want one of each level", levels)
	}
	if shadows < 1 || shadows > 2 {
		t.Errorf("%d throw shadows, want those within the map: 1 or 2", shadows)
	}
}

// One character's NaN is that character's alone.
func TestBrokenPoseStaysAlone(t *testing.T) {
	s := open(t, 160, 90)
	s.SetGround(flat)
	s.Camera.Place(m3.V(0, 0.6, 4), m3.V(0, 0.5, 0))
	c := newCrowd(t, s, post(t), stand(nil, m3.Vec3{}, m3.Ident), nil)
	want := shoot(t, s, View{})
	nan := float32(math.NaN())
	bones := stand(nil, m3.V(nan, 0, 0), m3.Ident)
	bones = stand(bones, m3.Vec3{}, m3.Ident)
	must.Do(t, c.Set(bones, nil))
	if got := shoot(t, s, View{Focus: m3.V(nan, 0, 0)}); !bytes.Equal(got.Pix, want.Pix) {
		t.Error("a character with NaN changes the picture of the other")
	}
}

func BenchmarkDraw(b *testing.B) {
	s := open(b, 1280, 720)
	s.SetGround(func(x, z float32) float32 { return 0.3 * m3.Sin(x) * m3.Cos(z) })
	var bones []m3.Xform
	for i := range 50 {
		bones = stand(bones, m3.V(float32(i%8)-4, 0, float32(i/8)), m3.Ident)
	}
	c := newCrowd(b, s, post(b), bones, nil)
	s.Camera.Track(m3.Vec3{}, 0, 0, nil)
	var img *image.RGBA
	for b.Loop() {
		must.Do(b, c.Set(bones, nil))
		must.Do(b, s.Draw(View{HUD: []string{"fifty"}}))
		img, _ = s.Capture(img)
	}
}

// instances returns the number of characters that the last Draw showed at each level of detail,
// finest first, and the number that cast shadows.
func (c *Crowd) instances() (levels []int, shadows int) {
	last := len(c.all.Body.Levels)
	for k := range last {
		levels = append(levels, c.all.Count(k))
	}
	return levels, c.all.Count(last)
}
