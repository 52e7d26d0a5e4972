package terrain

import (
	"math"
	"testing"

	"mannequin/engine/m3"
	"mannequin/ik"
)

var (
	_ ik.Floors        = (*Decks)(nil)
	_ ik.TurningGround = (*Decks)(nil)
)

// A bridge 3 m above a road, with a ramp, stairs beside it, and a lift that moves aside.
func bridge(t *testing.T) *Decks {
	d := &Decks{}
	decks := []Deck{
		{At: m3.V(0, 3, 0), Width: 2, Depth: 10},
		{At: m3.V(0, 1.5, -10), Width: 2, Depth: 10, Rise: 0.3},
		{At: m3.V(20, 1, 0), Yaw: math.Pi / 6, Width: 2, Depth: 2, Moved: m3.V(0.5, 0.1, 0)},
	}
	decks = append(decks, Deck{At: m3.V(30, 2, 0), Width: 2, Depth: 2, Thick: 2}, Deck{At: m3.V(34, 2, 0), Width: 2, Depth: 2, Thick: 0.6})
	for i := range 5 {
		decks = append(decks, Deck{At: m3.V(10, 0.17*float32(i+1), 0.3*float32(i)), Width: 2, Depth: 0.3})
	}
	if err := d.Set(decks...); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDecks(t *testing.T) {
	d := bridge(t)
	for _, c := range []struct{ x, z, y, want float32 }{
		{0, 0, 0, 0}, {0, 0, 3, 3}, {0, 0, 2.6, 3}, {0, 0, 2.4, 0}, {0, 0, 9, 3}, {5, 0, 3, 0}, // under the bridge, on it, off it
		{0, -10, 1.5, 1.5}, {0, -8, 2, 2.1}, {0, -14.9, 0, 0.03}, {0, -8, 0, 0}, // the ramp, and under it
		{10, 0.6, 0.34, 0.51}, {10, 1.2, 0.68, 0.85}, // stairs
		{20, 0, 1, 1}, {21.2, 0.3, 1, 1}, {21.2, -0.3, 1, 0}, // turned by 30° about the vertical
		{0, 0, -5, 0},                                                               // below all ground
		{30, 0, 0, 2}, {30, 0, 1.6, 2}, {30, 0, 9, 2}, {34, 0, 0, 0}, {34, 0, 1, 2}, // thick: nobody walks under it, or who is below its bottom
	} {
		if got := d.HeightFrom(c.x, c.z, c.y); m3.Abs(got-c.want) > 1e-4 {
			t.Errorf("at (%g, %g) an agent of height %g stands at %g, want %g", c.x, c.z, c.y, got, c.want)
		}
	}
	if got := d.Height(0, 0); got != 3 {
		t.Errorf("the highest ground is at %g, want 3", got)
	}
	if n := d.NormalFrom(0, -10, 1.5); n.Dist(m3.V(0, 1, -0.3).Normalize(m3.Up)) > 1e-5 {
		t.Errorf("the ramp's normal is %v", n)
	}
	// A walk from the road up the ramp and over the bridge.
	y := float32(0)
	for z := float32(-16); z < 5; z += 0.02 {
		y = d.HeightFrom(0, z, y)
	}
	if y != 3 {
		t.Errorf("the ramp leads to height %g, want 3", y)
	}
}

func TestDecksMove(t *testing.T) {
	d := bridge(t)
	moved := m3.V(0.5, 0.1, 0)
	for _, c := range []struct {
		at   m3.Vec3
		want m3.Vec3
	}{
		{m3.V(19.5, 0.9, 0), moved},       // in the middle, where it was
		{m3.V(18.4, 0.9, 0), moved},       // at its edge then
		{m3.V(20.9, 0.9, 0), m3.Vec3{}},   // where it has come to
		{m3.V(19.5, 0, 0), m3.Vec3{}},     // below it
		{m3.V(0, 3, 0), m3.Vec3{}},        // on another deck
		{m3.V(100, 0, 100), m3.Vec3{}},    // nowhere near
		{m3.V(19.5, 0.45, 0), moved},      // a step below
		{m3.V(19.5, 1e9, 1e9), m3.Vec3{}}, // far
	} {
		if got := d.Moved(c.at); got != c.want {
			t.Errorf("at %v the ground has moved by %v, want %v", c.at, got, c.want)
		}
	}
}

// A deck that turns takes each place along on its circle, ramps included.
func TestDecksTurn(t *testing.T) {
	d := &Decks{}
	k := Deck{At: m3.V(10, 1, 5), Yaw: 0.7, Width: 1, Depth: 8, Rise: 0.1, Moved: m3.V(0.3, 0.2, -0.1), Turned: 0.4}
	if err := d.Set(k); err != nil {
		t.Fatal(err)
	}
	was := m3.Xform{Pos: k.At.Sub(k.Moved), Rot: m3.YawQuat(k.Yaw - k.Turned)}
	is := m3.Xform{Pos: k.At, Rot: m3.YawQuat(k.Yaw)}
	for _, p := range []m3.Vec3{{}, {Z: 3.9, Y: 0.39}, {X: -0.45, Z: -3.9, Y: -0.39}, {X: 0.4, Z: 1, Y: 0.1}} {
		from, to := was.Apply(p), is.Apply(p)
		if got := d.Moved(from); got.Dist(to.Sub(from)) > 1e-5 {
			t.Errorf("%v on the deck has moved by %v, want %v", p, got, to.Sub(from))
		}
		if got := d.Turned(from); got != k.Turned {
			t.Errorf("%v on the deck has turned by %g, want %g", p, got, k.Turned)
		}
	}
	for _, p := range []m3.Vec3{{X: 0.6}, {Z: 4.2}, {Z: -4.2}} {
		if from := was.Apply(p); d.Moved(from) != (m3.Vec3{}) || d.Turned(from) != 0 {
			t.Errorf("%v beside the deck moves", p)
		}
	}
}

func TestDecksRefuse(t *testing.T) {
	d := bridge(t)
	nan := float32(math.NaN())
	for _, spoil := range []func(*Deck){
		func(d *Deck) { d.Width = -1 },
		func(d *Deck) { d.Width = 0 },
		func(d *Deck) { d.Depth = 0 },
		func(d *Deck) { d.Depth = 1e9 },
		func(d *Deck) { d.At.X = nan },
		func(d *Deck) { d.At.Y = nan },
		func(d *Deck) { d.Rise = nan },
		func(d *Deck) { d.Yaw = nan },
		func(d *Deck) { d.Moved.X = nan },
		func(d *Deck) { d.Turned = nan },
	} {
		good := Deck{Width: 1, Depth: 1}
		bad := good
		spoil(&bad)
		if d.Set(good, bad) == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if got := d.HeightFrom(0, 0, 3); got != 3 {
		t.Error("after an error the decks have changed")
	}
	for _, x := range []float32{nan, float32(math.Inf(-1)), 1e30} {
		d.HeightFrom(x, x, x)
		d.Moved(m3.V(x, x, x))
		d.Turned(m3.V(x, x, x))
	}
}
