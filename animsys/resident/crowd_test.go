package resident_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/mann"
	"mannequin/animsys/resident"
	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/internal/testing/testdog"
	"mannequin/models"
	"mannequin/models/hero"
	"mannequin/netruntime"
	"mannequin/netruntime/webgpu"
	"mannequin/terrain"
)

func open(t *testing.T, o resident.Options) (*mann.Model, *resident.Crowd) {
	t.Helper()
	m := must.Get(mann.NewModel(must.Get(models.Open("dog"))(t)))(t)
	o.Timeout = time.Hour
	c := must.Get(resident.New(m, o))(t)
	t.Cleanup(func() { must.Do(t, c.Close()) })
	return m, c
}

// inBrowser: a tick of a dog takes 60 ms on the software driver there, and one of a person 15.
const inBrowser = runtime.GOOS == "js"

// fewer returns n, or fewer in a browser.
func fewer(n, browser int) int {
	if inBrowser {
		return browser
	}
	return n
}

// goOnly skips a test in a browser of what has nothing to do with the driver.
func goOnly(t *testing.T) {
	t.Helper()
	if inBrowser {
		t.Skip("the same in all drivers")
	}
}

// kinds are the kinds of agents, and what a tour asks of them.
var kinds = []struct {
	name string
	open func(*testing.T, resident.Options) *resident.Crowd
	tour func(tick int) control.Goal
}{
	{"dogs", func(t *testing.T, o resident.Options) *resident.Crowd {
		_, c := open(t, o)
		return c
	}, testdog.Tour},
	{"people", func(t *testing.T, o resident.Options) *resident.Crowd {
		return openLearned(t, must.Get(hero.Open())(t).Learned, o)
	}, func(tick int) control.Goal {
		l, _ := hero.Open()
		return wander(l.Learned, tick)
	}},
}

func needGPU(t *testing.T, c *resident.Crowd) {
	t.Helper()
	if _, err := webgpu.Device(); err != nil && c.Device() == "" && !strings.HasSuffix(err.Error(), "was lost") {
		t.Skip("no GPU, no software driver of one, or a build without the tag webgpu: ", err)
	}
	if c.Device() == "" {
		t.Fatal("the GPU does not take the crowd, or was lost")
	}
}

// hills returns a field with slopes of up to about a half.
func hills() *terrain.Field {
	f := &terrain.Field{X0: -40, Z0: -40, Cell: 0.5, NX: 161, NZ: 161}
	for k := range f.NZ {
		for i := range f.NX {
			x, z := f.X0+float32(i)*f.Cell, f.Z0+float32(k)*f.Cell
			f.Y = append(f.Y, 0.9*m3.Sin(0.5*x)+0.7*m3.Cos(0.6*z+0.3*x))
		}
	}
	return f
}

// terrace returns a field with a step that is a wall, and one that is a drop.
func terrace() *terrain.Field {
	f := hills()
	for n := range f.Y {
		f.Y[n] = 0
		if x := f.X0 + float32(n%f.NX)*f.Cell; x > 5 {
			f.Y[n] = 0.9
		} else if x < -1.5 {
			f.Y[n] = -0.8
		}
	}
	return f
}

// TestTour: 600 ticks of three dogs, each crowd on its own: the GPU's are where the processor's are, and stand on the ground as ik.Legged
// puts them there.
func TestTour(t *testing.T) {
	dogs := fewer(3, 1)
	for _, ground := range []struct {
		name  string
		ticks int
		ik.Ground
	}{{"level", 300, ik.Level(1.5)}, {"hills", 600, hills()}, {"terrace", 300, terrace()}} {
		if inBrowser && ground.name != "hills" {
			continue
		}
		t.Run(ground.name, func(t *testing.T) {
			m, c := open(t, resident.Options{Capacity: 4, Ground: ground.Ground})
			needGPU(t, c)
			b := mann.NewBatch(m, 4)
			rig := must.Get(must.Get(m.NewController(mann.ControllerOptions{Capacity: 1}))(t).Rig(nil))(t)
			session := must.Get(m.Net.NewSession(netruntime.SessionOptions{Batch: 3, Workers: 1}))(t)
			defer session.Close()
			x, y, goals := make([]float32, 3*m.Layout.Inputs()), make([]float32, 3*m.Layout.Outputs()), make([]control.Goal, 3)
			for i := range dogs {
				at := feature.Place{Pos: m3.V(float32(4*i), 0, float32(-3*i)), Yaw: float32(i)}
				must.Get(c.Add(at))(t)
				b.Reset(i, at.Pos, at.Yaw)
			}
			joints := m.Skel.Len()
			all := []int{0, 1, 2}[:dogs]
			var bones []m3.Xform
			flat, want := make([]m3.Xform, joints), make([]m3.Xform, joints)
			var root, posed, apart, lifted float32
			var sum float64
			for tick := range ground.ticks {
				for i := range dogs {
					goals[i] = testdog.Tour(tick + 200*i)
					must.Do(t, c.SetGoal(i, goals[i]))
				}
				must.Do(t, c.Step())
				b.Plan(goals, 0, dogs)
				b.Gather(x, 0, dogs)
				must.Do(t, session.Run(y, x, dogs))
				b.Scatter(y, 0, dogs)
				if tick%7 != 0 && tick != ground.ticks-1 {
					continue
				}
				bones = must.Get(c.Bones(bones, all...))(t)
				for i := range dogs {
					root = max(root, c.Root(i).At.Pos.Dist(b.Root(i).Pos))
					// What the processor makes of the GPU's own state.
					must.Do(t, b.Unpack(3, must.Get(c.Packed(i))(t)))
					pos, rot := b.Pose(3)
					m.Skel.LocalToModel(flat, pos, rot)
					resident.Stand(&rig.Ground, ground.Ground, want, pos, rot)
					for j := range want {
						d := bones[i*joints+j].Pos.Dist(want[j].Pos)
						if d > posed && d > 1e-3 {
							t.Log("tick", tick, "agent", i, m.Skel.Names[j], 1000*d, "mm")
						}
						posed, sum = max(posed, d), sum+float64(d)
						lifted = max(lifted, want[j].Pos.Dist(flat[j].Pos))
					}
					pos, rot = b.Pose(i)
					resident.Stand(&rig.Ground, ground.Ground, want, pos, rot)
					for j := range want {
						apart = max(apart, bones[i*joints+j].Pos.Dist(want[j].Pos))
					}
				}
			}
			t.Logf("joints at most %.4f mm from ik.Legged's, %.4f in the mean, of a way of up to %.0f mm; roots %.1f and joints %.1f mm from the processor's crowd of its own", 1000*posed, 1000*sum/float64(ground.ticks*dogs*joints)*7, 1000*lifted, 1000*root, 1000*apart)
			if !(posed < 1e-3 && root < 1e-3 && apart < 1e-3) || posed == 0 || apart == 0 {
				t.Error("that is too far")
			}
		})
	}
}

// An agent has the same bits alone and among others that come and go.
func TestSameBits(t *testing.T) {
	for _, kind := range kinds {
		if inBrowser && kind.name == "dogs" { // twenty dogs are slow there
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			many := kind.open(t, resident.Options{Capacity: 20, Ground: hills()})
			needGPU(t, many)
			alone := kind.open(t, resident.Options{Capacity: 400, Ground: hills()}) // its network's outputs are beyond float32 number 65,536
			if in, out := alone.Places(); max(in, out) < 1<<16 {
				t.Error("the network's inputs begin at ", in, ", its outputs at ", out)
			}
			at := feature.Place{Pos: m3.V(3, 0, -2), Yaw: 1}
			for i := range 5 {
				must.Get(many.Add(feature.Place{Pos: m3.V(float32(i), 0, 0)}))(t)
			}
			is, own := must.Get(many.Add(at))(t), must.Get(alone.Add(at))(t)
			r := rand.New(rand.NewPCG(7, 7))
			var a, b []m3.Xform
			for tick := range fewer(240, 100) {
				for i := range many.Capacity() {
					if many.Has(i) {
						must.Do(t, many.SetGoal(i, kind.tour(7*tick+97*i)))
					}
					switch {
					case i == is || r.IntN(40) > 0:
					case many.Has(i):
						must.Do(t, many.Remove(i))
					default:
						if n := must.Get(many.Add(feature.Place{Pos: m3.V(0, 0, float32(i)), Yaw: float32(tick)}))(t); n > i {
							t.Fatal("agent", n, "came, and", i, "is free")
						}
					}
				}
				must.Do(t, many.SetGoal(is, kind.tour(tick)))
				must.Do(t, alone.SetGoal(own, kind.tour(tick)))
				must.Do(t, many.Step())
				must.Do(t, alone.Step())
				if tick%20 == 19 {
					a, b = must.Get(many.Bones(a, is))(t), must.Get(alone.Bones(b, own))(t)
					if !slices.Equal(must.Get(many.Packed(is))(t), must.Get(alone.Packed(own))(t)) || !slices.Equal(a, b) || many.Root(is) != alone.Root(own) {
						t.Fatal("tick ", tick, ": other bits among others")
					}
				}
			}
			if d := alone.Root(own).At.Pos.Dist(at.Pos); d < float32(fewer(240, 100))/240 {
				t.Error("it has come ", d, " m far")
			}
		})
	}
}

// Drivers keep compiled kernels by their source, and some take ten seconds to compile: all crowds of a model have the same, whatever their
// number and their ground.
func TestSameSource(t *testing.T) {
	goOnly(t)
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) { sameSource(t, kind.open) })
	}
}

func sameSource(t *testing.T, open func(*testing.T, resident.Options) *resident.Crowd) {
	c := open(t, resident.Options{Capacity: 3, Ground: hills()})
	want, tables, scene, err := c.Source(hills(), 64, 128)
	must.Do(t, err)
	for range 30 {
		again, t2, s2, err := c.Source(hills(), 64, 128)
		if must.Do(t, err); again != want || !slices.Equal(t2, tables) || !slices.Equal(s2, scene) {
			t.Fatal("the same crowd has another source")
		}
	}
	declared := map[string]bool{} // the library takes a name that is declared twice, browsers do not
	for _, m := range regexp.MustCompile(`(?m)^(?:const|fn|struct|(?:@\S+ )*var<[^>]*>) ?(\w+)`).FindAllStringSubmatch(want, -1) {
		if declared[m[1]] {
			t.Errorf("%s is declared twice", m[1])
		}
		declared[m[1]] = true
	}
	if len(declared) < 200 {
		t.Error(len(declared), " names are declared")
	}
	ground := &terrain.Field{X0: -3, Z0: 7, Cell: 2, NX: 5, NZ: 4, Y: make([]float32, 20)}
	more := open(t, resident.Options{Capacity: 50, Ground: ground, Bind: slices.Repeat([]m3.Xform{{Pos: m3.V(0, 1, 0), Rot: m3.Ident}}, len(must.Get(c.Bones(nil, must.Get(c.Add(feature.Place{}))(t)))(t)))})
	other, t2, s2, err := more.Source(ground, 3<<16+5, 1<<24+7)
	must.Do(t, err)
	if other != want {
		t.Error("a crowd of another number, on other ground, has another source")
	}
	if len(t2) != len(tables) || slices.Equal(t2, tables) || len(scene)-len(s2) != 161*161-20 {
		t.Error("its tables are not of its own: ", len(t2), " and ", len(s2), " numbers")
	}
}

// A tick allocates nothing, once states have been copied.
func TestAllocations(t *testing.T) {
	if race.Enabled || inBrowser {
		t.Skip("the race detector allocates, and so do waits for JavaScript")
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			c := kind.open(t, resident.Options{Capacity: 70, Ground: hills(), Every: 4})
			needGPU(t, c)
			for i := range 70 {
				must.Get(c.Add(feature.Place{Pos: m3.V(float32(i%8), 0, float32(i/8))}))(t)
			}
			tick := 0
			step := func() {
				for i := range 70 {
					must.Do(t, c.SetGoal(i, control.Goal{Move: m3.V(0, 0, float32(tick/5%2)), Turn: float32(i%3 - 1), Speed: 1.5}))
				}
				tick++
				must.Do(t, c.Step())
				c.Root(0)
			}
			for range 10 {
				step()
			}
			if n := leastAllocations(step); n > 0 {
				t.Errorf("a tick allocates %g times", n)
			}
		})
	}
}

// In a browser a tick allocates nothing if JavaScript has got the results of the one before by then, as between two frames.
func TestAllocationsInBrowser(t *testing.T) {
	if !inBrowser {
		t.Skip("it is for browsers")
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			c := kind.open(t, resident.Options{Capacity: 2, Ground: hills(), Every: 4})
			needGPU(t, c)
			agent := must.Get(c.Add(feature.Place{}))(t)
			var goals [4]control.Goal
			for tick := range goals {
				goals[tick] = kind.tour(tick)
			}
			var before, after runtime.MemStats
			least := [len(goals)]int{math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt}
			// The GPU may be late, and something else may allocate meanwhile.
			for pause := 100 * time.Millisecond; pause < 5*time.Second && least != [len(goals)]int{}; pause *= 2 {
				for tick, g := range goals {
					time.Sleep(pause)
					runtime.ReadMemStats(&before)
					must.Do(t, c.SetGoal(agent, g))
					c.Root(agent)
					must.Do(t, c.Step())
					runtime.ReadMemStats(&after)
					least[tick] = min(least[tick], int(after.Mallocs-before.Mallocs))
				}
			}
			if least != [len(goals)]int{} {
				t.Error("ticks allocate: ", least)
			}
		})
	}
}

// leastAllocations returns how often f allocates in ten calls: others in the process may allocate once.
func leastAllocations(f func()) float64 {
	least := math.Inf(1)
	for range 4 {
		least = min(least, testing.AllocsPerRun(1, func() {
			for range 10 {
				f()
			}
		}))
		if least == 0 {
			break
		}
	}
	return least
}

// Agents who come back from the GPU and go there again allocate nothing, once as many have done so between two copies of the states.
func TestHandoverAllocations(t *testing.T) {
	if race.Enabled || inBrowser {
		t.Skip("the race detector allocates, and so do calls of JavaScript")
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			c := kind.open(t, resident.Options{Capacity: 3, Ground: hills(), Every: 4})
			needGPU(t, c)
			for i := range 3 {
				must.Get(c.Add(feature.Place{Pos: m3.V(float32(i), 0, 0)}))(t)
			}
			var st generator.State
			step := func() {
				for i := range 2 {
					must.Do(t, c.Save(&st, i))
					must.Do(t, c.Remove(i))
					must.Get(c.Adopt(&st, m3.Vec3{}))(t)
				}
				must.Do(t, c.Step())
			}
			for range 10 {
				step()
			}
			if n := leastAllocations(step); n > 0 {
				t.Errorf("ten ticks in which two agents go and come allocate %g times", n)
			}
		})
	}
}

// A crowd whose agents are gone keeps nothing for a loss of the GPU, however long that lasts.
func TestEmpty(t *testing.T) {
	goOnly(t)
	_, c := open(t, resident.Options{Capacity: 3, Ground: hills(), Every: 5})
	needGPU(t, c)
	for tick := range 40 {
		must.Do(t, c.Step())
		if tick == 9 || tick == 32 {
			if ticks, arrivals := c.Kept(); ticks > 0 || arrivals > 0 {
				t.Errorf("tick %d: %d ticks and %d arrivals are kept", tick, ticks, arrivals)
			}
			must.Get(c.Add(feature.Place{Pos: m3.V(1, 0, 2)}))(t)
			must.Do(t, c.SetGoal(0, control.Goal{Move: m3.V(1, 0, 0), Speed: 1}))
		}
		if tick == 12 {
			must.Do(t, c.Remove(0))
		}
	}
	before := c.Root(0).At.Pos
	c.Break()
	must.Get(c.Bones(nil, 0))(t)
	if c.Device() != "" {
		t.Error("the GPU is not lost")
	}
	if d := c.Root(0).At.Pos.Dist(before); d > 1e-4 {
		t.Errorf("the loss moves the agent by %g m", d)
	}
}

// A loss of the GPU, in whatever call it shows, costs no tick: the processor goes on from where the agents are.
func TestLost(t *testing.T) {
	for _, kind := range kinds {
		for _, when := range []string{"Step", "Root", "Bones", "Save", "Add", "right after a copy", "before the first tick"} {
			if inBrowser && (kind.name == "dogs" || when != "Step" && when != "Bones" && when != "Save") { // dogs lose it in netruntime/webgpu
				continue
			}
			t.Run(kind.name+" "+when, func(t *testing.T) { lose(t, when, kind.open, kind.tour) })
		}
	}
}

func lose(t *testing.T, when string, open func(*testing.T, resident.Options) *resident.Crowd, tour func(tick int) control.Goal) {
	c := open(t, resident.Options{Capacity: 3, Ground: hills(), Every: 20})
	needGPU(t, c)
	whole := open(t, resident.Options{Capacity: 3, Ground: hills(), Every: 20})
	both := []*resident.Crowd{c, whole}
	add := func(i int) {
		for _, c := range both {
			must.Get(c.Add(feature.Place{Pos: m3.V(float32(i), 0, 2), Yaw: float32(i)}))(t)
		}
	}
	add(0)
	lost, broken := 53, false
	switch when {
	case "right after a copy":
		lost = 60
	case "before the first tick":
		lost = 0
	}
	var st generator.State
	var now, later float32
	for tick := range 100 {
		if tick == 7 || tick == 45 {
			add(tick)
		}
		if tick == 30 { // another takes its place
			must.Do(t, c.Remove(0))
			must.Do(t, whole.Remove(0))
			add(0)
		}
		if tick == lost {
			c.Break()
			broken = true
			switch when {
			case "Root":
				c.Root(0)
			case "Bones":
				must.Get(c.Bones(nil, 0))(t)
			case "Save":
				must.Do(t, c.Save(&st, 0))
			case "Add":
				must.Do(t, c.Remove(1))
				must.Do(t, whole.Remove(1))
				add(5)
			}
		}
		for _, c := range both {
			for i := range c.Capacity() {
				if c.Has(i) {
					must.Do(t, c.SetGoal(i, tour(3*tick+100*i)))
				}
			}
			must.Do(t, c.Step())
		}
		for i := range c.Capacity() {
			if !c.Has(i) {
				continue
			}
			d := max(c.Root(i).At.Pos.Dist(whole.Root(i).At.Pos), m3.Abs(c.Root(i).Hips-whole.Root(i).Hips))
			a, b := must.Get(c.Bones(nil, i))(t), must.Get(whole.Bones(nil, i))(t)
			for j := range a {
				d = max(d, a[j].Pos.Dist(b[j].Pos))
			}
			if later = max(later, d); tick <= lost {
				now = max(now, d)
			}
		}
		if (c.Device() == "") != broken {
			t.Fatal("tick ", tick, ": it lives on ", c.Device())
		}
	}
	t.Logf("%.4f mm from a crowd whose GPU was not lost in that tick, %.4f mm until the end", 1000*now, 1000*later)
	if now > 1e-3 || later > 5e-3 || later == 0 {
		t.Error("that is too far")
	}
}

// If no session opens on the processor after a loss of the GPU, the call in which the loss shows returns an error, and so do all later ones.
func TestStranded(t *testing.T) {
	goOnly(t)
	var st generator.State
	calls := []struct {
		name string
		call func(*resident.Crowd) error
	}{
		{"Step", (*resident.Crowd).Step},
		{"Bones", func(c *resident.Crowd) error { return second(c.Bones(nil, 0)) }},
		{"Save", func(c *resident.Crowd) error { return c.Save(&st, 0) }},
		{"Add", func(c *resident.Crowd) error { return second(c.Add(feature.Place{})) }},
		{"Root", func(c *resident.Crowd) error {
			if r := c.Root(0); r != (resident.Root{}) {
				return nil
			}
			return c.Step()
		}},
		{"Hips", func(c *resident.Crowd) error {
			if len(c.Hips(nil)) > 0 {
				return nil
			}
			return c.Step()
		}},
	}
	m, whole := open(t, resident.Options{Capacity: 1, Ground: hills()})
	needGPU(t, whole)
	dog := must.Get(body.New(&body.Rig{Names: m.Skel.Names, Parents: m.Skel.Parents, Offsets: m.Skel.Offsets}))(t)
	for _, first := range calls {
		_, c := open(t, resident.Options{Capacity: 2, Ground: hills()})
		must.Get(c.Add(feature.Place{Pos: m3.V(1, 0, 2)}))(t)
		mesh := must.Get(c.NewMesh(&dog.Levels[0], 1))(t)
		must.Do(t, c.Step())
		must.Do(t, c.Save(&st, 0))
		must.Do(t, c.Step())
		c.Strand()
		err := first.call(c)
		if err == nil || !strings.Contains(err.Error(), "cannot take over") {
			t.Errorf("%s: %v", first.name, err)
		}
		for _, later := range append(calls, []struct {
			name string
			call func(*resident.Crowd) error
		}{
			{"Adopt", func(c *resident.Crowd) error { return second(c.Adopt(&st, m3.Vec3{})) }},
			{"SetGoal", func(c *resident.Crowd) error { return c.SetGoal(0, control.Goal{}) }},
			{"Remove", func(c *resident.Crowd) error { return c.Remove(0) }},
			{"NewMesh", func(c *resident.Crowd) error { return second(c.NewMesh(&dog.Levels[0], 1)) }},
			{"Skin", func(c *resident.Crowd) error { return second(c.Skin(mesh, 0)) }},
			{"SkinTo", func(c *resident.Crowd) error { return second(c.SkinTo(nil, mesh, 0)) }},
		}...) {
			if got := later.call(c); got == nil || got != err {
				t.Errorf("%s after %s: %v", later.name, first.name, got)
			}
		}
		if c.Device() != "" || c.Matrices() != nil {
			t.Error("it lives on ", c.Device())
		}
	}
}

// Vertices on the GPU are where the matrices of the bones take them.
func TestSkin(t *testing.T) {
	m := must.Get(mann.NewModel(must.Get(models.Open("dog"))(t)))(t)
	dog := must.Get(body.New(&body.Rig{Names: m.Skel.Names, Parents: m.Skel.Parents, Offsets: m.Skel.Offsets}))(t)
	_, c := open(t, resident.Options{Capacity: 3, Ground: hills(), Bind: dog.Bind})
	needGPU(t, c)
	for i := range 3 {
		must.Do(t, c.SetGoal(must.Get(c.Add(feature.Place{Pos: m3.V(float32(i), 0, 3)}))(t), testdog.Tour(60*i)))
	}
	for range fewer(30, 5) {
		must.Do(t, c.Step())
	}
	level := &dog.Levels[len(dog.Levels)-1]
	mesh := must.Get(c.NewMesh(level, 2))(t)
	must.Get(c.Skin(mesh, 1))(t)
	agents := []int{2, 0}
	got := must.Get(c.SkinTo(nil, mesh, agents...))(t)
	bones := must.Get(c.Bones(nil, agents...))(t)
	var worst, moved float32
	for i := range agents {
		own := bones[i*m.Skel.Len():][:m.Skel.Len()]
		for v, p := range level.Pos {
			var want m3.Vec3
			for k, w := range level.Weights[v] {
				j := level.Joints[v][k]
				want = want.Add(own[j].Mul(dog.Bind[j].Inv()).Apply(p).Scale(w))
			}
			worst = max(worst, got[i*len(level.Pos)+v].Dist(want))
			moved = max(moved, want.Dist(p))
		}
	}
	t.Logf("%d vertices, at most %.5f mm off", len(got), 1000*worst)
	if !(worst < 1e-4) || moved < 1 {
		t.Errorf("vertices are %g mm off, after a way of %g m", 1000*worst, moved)
	}
	other := must.Get(c.NewMesh(level, 1))(t)
	must.Get(c.Skin(other, 0))(t) // the test never reads its result
	must.Do(t, other.Close())
	must.Do(t, other.Close())
	if again := must.Get(c.SkinTo(nil, mesh, agents...))(t); !slices.Equal(again, got) {
		t.Error("vertices differ when another mesh is gone")
	}
	if second(c.Skin(other, 0)) == nil || c.Device() == "" {
		t.Error("a mesh that is closed: no error, or the GPU is lost")
	}
	for what, err := range map[string]error{"too many": second(c.Skin(mesh, 0, 1, 2)), "a stranger": second(c.Skin(mesh, 7)), "an empty mesh": second(c.NewMesh(&body.Mesh{}, 1))} {
		if err == nil {
			t.Error(what, ": no error")
		}
	}
}

func second[T any](_ T, err error) error { return err }
