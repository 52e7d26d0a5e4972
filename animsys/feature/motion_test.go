package feature

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// stroll makes places of people's joints: a stick body that follows a curve and swings its limbs.
func stroll(m *Motion, frames int, phase float64) []m3.Vec3 {
	n := len(m.Joints)
	world := make([]m3.Vec3, frames*n)
	for f := range frames {
		a := phase + float64(f)/60
		yaw := float32(0.8 * math.Sin(0.7*a))
		at := m3.V(float32(0.3*math.Sin(0.5*a)), 0.1, float32(0.3*a))
		for j, name := range m.Joints {
			p := m3.V(0, 0.9+0.03*float32(j), 0)
			side := float32(0)
			switch {
			case strings.HasPrefix(name, "Left"):
				side = 1
			case strings.HasPrefix(name, "Right"):
				side = -1
			}
			p.X = 0.15 * side
			for i, c := range []string{"LeftFoot", "LeftToeBase", "RightFoot", "RightToeBase"} {
				if name == c {
					s := math.Sin(5*a + math.Pi*float64(i/2))
					p.Y = float32(0.03 + 0.2*max(0, s))
					p.Z = float32(0.05 * math.Cos(5*a+math.Pi*float64(i/2)))
				}
			}
			world[f*n+j] = m3.YawQuat(yaw).Rotate(p).Add(at)
		}
	}
	return world
}

func TestMotionLayout(t *testing.T) {
	m := Human()
	must.Do(t, m.Validate())
	if m.Columns() != 70 { // Holden et al. 2016, sec. 4.2
		t.Errorf("%d columns, the paper has 70", m.Columns())
	}
	other := Human()
	other.Contacts[1].Height = 0.1
	if m.Hash() != Human().Hash() || m.Hash() == other.Hash() {
		t.Error("the hash does not tell layouts apart")
	}
}

func TestMotionValidate(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*Motion)
		want  string
	}{
		"zero":         {func(m *Motion) { *m = Motion{} }, "no joints"},
		"no facing":    {func(m *Motion) { m.Left = nil }, "facing"},
		"twice":        {func(m *Motion) { m.Joints[3] = "Hips" }, "twice"},
		"one side":     {func(m *Motion) { m.Joints[1] = "LeftThigh" }, "partner"},
		"facing":       {func(m *Motion) { m.Left[0] = "LeftEar" }, "LeftEar"},
		"facing mid":   {func(m *Motion) { m.Left[0] = "Hips" }, "partner"},
		"contact":      {func(m *Motion) { m.Contacts[0].Joint = "LeftEar" }, "LeftEar"},
		"contact lone": {func(m *Motion) { m.Contacts = m.Contacts[:1] }, "partner"},
		"contact same": {func(m *Motion) { m.Contacts[1] = m.Contacts[0] }, "twice"},
		"bend":         {func(m *Motion) { m.Bends[0].Joint = "LeftEar" }, "LeftEar"},
		"height":       {func(m *Motion) { m.Contacts[0].Height = 0 }, "more than 0"},
		"speed":        {func(m *Motion) { m.Contacts[2].Speed = float32(math.NaN()) }, "more than 0"},
	} {
		m := Human()
		c.spoil(m)
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// ToWorld undoes FromWorld, wherever the motion stands and faces.
func TestMotionThereAndBack(t *testing.T) {
	m := Human()
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.IntRange(1, 200).Draw(t, "frames")
		world := stroll(m, frames, rapid.Float64Range(0, 10).Draw(t, "phase"))
		turn := m3.YawQuat(float32(rapid.Float64Range(-4, 4).Draw(t, "yaw")))
		move := m3.V(float32(rapid.Float64Range(-50, 50).Draw(t, "x")), float32(rapid.Float64Range(-2, 2).Draw(t, "y")), 3)
		for i, p := range world {
			world[i] = turn.Rotate(p).Add(move)
		}
		rows, back := make([]float32, frames*m.Columns()), make([]m3.Vec3, len(world))
		start := must.Get(m.FromWorld(rows, world, 60))(t)
		m.ToWorld(back, rows, 60, start)
		for i := range world {
			if d := world[i].Dist(back[i]); d > 1e-4 {
				t.Fatalf("joint %d of frame %d comes back %g m off", i%len(m.Joints), i/len(m.Joints), d)
			}
		}
	})
}

// Rows say where the body goes: a motion moved and turned in the world has the same ones.
func TestMotionRowsAreTheBodys(t *testing.T) {
	m := Human()
	const frames = 150
	world := stroll(m, frames, 1)
	a, b := make([]float32, frames*m.Columns()), make([]float32, frames*m.Columns())
	must.Get(m.FromWorld(a, world, 60))(t)
	for i, p := range world {
		world[i] = m3.YawQuat(2).Rotate(p).Add(m3.V(4, -1, 2))
	}
	place := must.Get(m.FromWorld(b, world, 60))(t)
	for i := range a {
		if m3.Abs(a[i]-b[i]) > 2e-3 {
			t.Fatalf("column %d of frame %d is %g, elsewhere %g", i%m.Columns(), i/m.Columns(), a[i], b[i])
		}
	}
	if h := place.Pos.Y; m3.Abs(h-(0.1-1+0.03)) > 0.01 {
		t.Errorf("the ground is at %g m, the feet stand at %g", h, 0.1-1+0.03)
	}
}

// Ahead is +Z, to the left +X, and a turn to the left positive.
func TestMotionAxes(t *testing.T) {
	m := Human()
	const frames = 241
	n := len(m.Joints)
	for name, c := range map[string]struct {
		at   func(s float32) (m3.Vec3, float32)
		want [3]float32 // x, z, yaw
	}{
		"ahead": {func(s float32) (m3.Vec3, float32) { return m3.V(0, 0, 1.5*s), 0 }, [3]float32{0, 1.5, 0}},
		"left":  {func(s float32) (m3.Vec3, float32) { return m3.V(0.5*s, 0, 0), 0 }, [3]float32{0.5, 0, 0}},
		"turn":  {func(s float32) (m3.Vec3, float32) { return m3.Vec3{}, s }, [3]float32{0, 0, 1}},
		"ahead, facing left": {func(s float32) (m3.Vec3, float32) { return m3.V(s, 0, 0), math.Pi / 2 },
			[3]float32{0, 1, 0}},
	} {
		world := make([]m3.Vec3, frames*n)
		still := stroll(m, 1, 0)
		for f := range frames {
			at, yaw := c.at(float32(f) / 60)
			for j := range n {
				p := still[j].Sub(still[0].Flat())
				world[f*n+j] = m3.YawQuat(yaw).Rotate(p).Add(at)
			}
		}
		rows := make([]float32, frames*m.Columns())
		must.Get(m.FromWorld(rows, world, 60))(t)
		row := rows[120*m.Columns():][m.Body():]
		for k, want := range c.want {
			if m3.Abs(row[k]-want) > 1e-3 {
				t.Errorf("%s: body's motion is %v, want %v", name, row[:MotionLen], c.want)
				break
			}
		}
	}
}

// The mirrored rows are those of the mirrored motion.
func TestMotionMirror(t *testing.T) {
	m := Human()
	const frames = 130
	world := stroll(m, frames, 2)
	cols := must.Get(m.MirrorColumns())(t)
	pair := must.Get(Pairs(m.Joints))(t)
	image := make([]m3.Vec3, len(world))
	for i := range image {
		f, j := i/len(m.Joints), i%len(m.Joints)
		p := world[f*len(m.Joints)+pair[j]]
		image[i] = m3.V(-p.X, p.Y, p.Z)
	}
	a, b, want := make([]float32, frames*m.Columns()), make([]float32, m.Columns()), make([]float32, frames*m.Columns())
	must.Get(m.FromWorld(a, world, 60))(t)
	must.Get(m.FromWorld(want, image, 60))(t)
	ones := 0
	for f := range frames {
		Mirror(b, a[f*m.Columns():][:m.Columns()], cols)
		for c, v := range b {
			if m3.Abs(v-want[f*m.Columns()+c]) > 1e-4 {
				t.Fatalf("column %d of frame %d is %g, want %g", c, f, v, want[f*m.Columns()+c])
			}
		}
		for i := range m.Contacts {
			ones += int(b[m.Contact(i)])
		}
	}
	if ones == 0 || ones == frames*len(m.Contacts) {
		t.Errorf("%d contacts in %d frames: nothing was told apart", ones, frames)
	}
}

// A foot stands where it is low and slow, and on no other frame.
func TestMotionContacts(t *testing.T) {
	m := Human()
	n, toe := len(m.Joints), m.Joint("LeftToeBase")
	const frames = 100
	still := stroll(m, 1, 0)
	for j, c := range map[int]float32{m.Joint("LeftFoot"): 0.08, toe: 0.02, m.Joint("RightFoot"): 0.08, m.Joint("RightToeBase"): 0.02} {
		still[j].Y = c
	}
	world := make([]m3.Vec3, 0, frames*n)
	for range frames {
		world = append(world, still...)
	}
	for f := 30; f < 60; f++ {
		world[f*n+toe].Y = 0.3 // held up
	}
	for f := 80; f < frames; f++ {
		world[f*n+toe].Z += 0.02 * float32(f-79) // 1.2 m/s along the ground
	}
	rows := make([]float32, frames*m.Columns())
	must.Get(m.FromWorld(rows, world, 60))(t)
	for f := range frames {
		got := rows[f*m.Columns()+m.Contact(1)]
		want := float32(1)
		if f >= 29 && f < 60 || f >= 79 {
			want = 0
		}
		if got != want {
			t.Errorf("frame %d: contact %g, want %g", f, got, want)
		}
		if other := rows[f*m.Columns()+m.Contact(3)]; other != 1 {
			t.Errorf("frame %d: the other toe stands, contact %g", f, other)
		}
	}
}

// A joint that stands is level, one that rises or falls like a step is not, and in between it is so by degrees.
func TestMotionLevel(t *testing.T) {
	m := Human()
	const frames, fps, foot = 6, 60, 2
	rows, level := make([]float32, frames*m.Columns()), make([]float32, frames*len(m.Contacts))
	at := m.Pos(m.Joint(m.Contacts[foot].Joint)) + 1
	for f, y := range []float32{0.02, 0.02, 0.02 + 0.2/fps, 0.1, 0, 0} {
		rows[f*m.Columns()+at] = y
	}
	m.Level(level, rows, fps)
	for f, want := range []float32{1, 0.5, 0, 0, 1, 1} {
		for i := range m.Contacts {
			if got := level[f*len(m.Contacts)+i]; i == foot && math.Abs(float64(got-want)) > 1e-4 || i != foot && got != 1 {
				t.Errorf("frame %d: contact %d is level by %g, want %g", f, i, got, want)
			}
		}
	}
}

func TestFromWorldRefuses(t *testing.T) {
	m := Human()
	world := stroll(m, 3, 0)
	rows := make([]float32, 3*m.Columns())
	bad := slices.Clone(world)
	bad[len(m.Joints)+4].Y = float32(math.NaN())
	for name, c := range map[string]struct {
		rows  []float32
		world []m3.Vec3
		fps   float64
		want  string
	}{
		"no frames": {rows[:0], nil, 60, "0 places"},
		"odd":       {rows, world[1:], 60, "places"},
		"rows":      {rows[1:], world, 60, "rows"},
		"rate":      {rows, world, 0, "frames per second"},
		"nan":       {rows, bad, 60, `"LeftToeBase" in frame 1`},
	} {
		if _, err := m.FromWorld(c.rows, c.world, c.fps); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Bodies that face nowhere make finite rows: all joints in one place, no width, lying on a side.
func TestFromWorldNoFacing(t *testing.T) {
	m := Human()
	const frames = 4
	for name, move := range map[string]func(p m3.Vec3) m3.Vec3{
		"point":    func(m3.Vec3) m3.Vec3 { return m3.V(1, 2, 3) },
		"no width": func(p m3.Vec3) m3.Vec3 { return m3.V(0, p.Y, p.Z) },
		"side":     func(p m3.Vec3) m3.Vec3 { return m3.V(p.Y, p.X, p.Z) },
		"flat":     func(p m3.Vec3) m3.Vec3 { return m3.V(p.X, 0, p.Z) },
		"far":      func(p m3.Vec3) m3.Vec3 { return p.Scale(1e9) },
	} {
		world, rows := stroll(m, frames, 0), make([]float32, frames*m.Columns())
		for i, p := range world {
			world[i] = move(p)
		}
		place := must.Get(m.FromWorld(rows, world, 60))(t)
		for i, v := range rows {
			if !m3.Finite(v) || !place.Pos.Finite() || !m3.Finite(place.Yaw) {
				t.Fatalf("%s: value %d is %v, place %v", name, i, v, place)
			}
		}
	}
}

// Poses turned and moved under their body come back to where recorded ones are; those stay.
func TestMotionCentre(t *testing.T) {
	m := Human()
	const frames = 300
	rows := make([]float32, frames*m.Columns())
	must.Get(m.FromWorld(rows, stroll(m, frames, 1), 60))(t)
	off := slices.Clone(rows)
	for f := range frames {
		a := float64(f) / 100
		turn := m3.YawQuat(float32(0.2 * math.Sin(a)))
		for j := range m.Joints {
			p := off[f*m.Columns()+m.Pos(j):]
			v := turn.Rotate(m3.V(p[0], p[1], p[2])).Add(m3.V(float32(0.1*math.Cos(a)), 0, 0.05))
			p[0], p[1], p[2] = v.X, v.Y, v.Z
		}
	}
	for name, got := range map[string][]float32{"turned and moved": off, "in place": slices.Clone(rows)} {
		m.NewCentring(len(got)/m.Columns(), 60).Run(got)
		for f := 90; f < frames-90; f++ { // away from ends, where smoothing sees less
			for c := range m.Columns() {
				if d := m3.Abs(got[f*m.Columns()+c] - rows[f*m.Columns()+c]); d > 0.012 {
					t.Fatalf("%s: column %d of frame %d is %g, in the recording %g", name, c, f, got[f*m.Columns()+c], rows[f*m.Columns()+c])
				}
			}
		}
	}
}

func TestMeanSpeed(t *testing.T) {
	m := Human()
	rows := make([]float32, 2*m.Columns())
	copy(rows[m.Body():], []float32{3, 4})
	if got := m.MeanSpeed(rows); got != 2.5 {
		t.Errorf("a frame at 5 m/s and one at rest have a mean of %g m/s", got)
	}
}

// A value that is not finite is found at every place of slices of every length.
func TestFinite(t *testing.T) {
	for n := range 20 {
		v := make([]float32, n)
		for i := range v {
			v[i] = [...]float32{0, -1, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32}[i%5]
		}
		if !Finite(v) {
			t.Errorf("%v is not finite", v)
		}
		for i := range v {
			for _, bad := range [...]float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				w := slices.Clone(v)
				if w[i] = float32(bad); Finite(w) {
					t.Errorf("%v is finite", w)
				}
			}
		}
	}
	numbers := [...]float32{math.MaxFloat32, 1, -math.MaxFloat32, 0}
	for i := range numbers {
		for _, bad := range [...]float64{1, math.NaN(), math.Inf(1), math.Inf(-1)} {
			n := numbers
			n[i] = float32(bad)
			q, p := m3.Quat{X: n[0], Y: n[1], Z: n[2], W: n[3]}, m3.Vec3{X: n[0], Y: n[1], Z: n[2]}
			if q.Finite() != (bad == 1) || p.Finite() != (bad == 1 || i == 3) {
				t.Errorf("%v: finite %v, its first three %v", n, q.Finite(), p.Finite())
			}
		}
	}
}
