package overlay

import (
	"math"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testdog"
	"mannequin/scenes"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// pack is dogs that walk over hills, and their marks.
type pack struct {
	t          testing.TB
	world      arche.World
	crowd      *animsys.Crowd
	controller *mann.Controller
	schedule   *ecs.Schedule
	dogs       []arche.Entity
	overlay    *Overlay
	experts    Experts
	bones      []m3.Xform
	frame      scenes.Frame
}

func newPack(t testing.TB, n int) *pack {
	t.Helper()
	field, err := terrain.Hills(terrain.Grid{Size: 120, Cell: 0.5}, terrain.HillsOptions{Seed: 2, MaxSlope: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	p := &pack{t: t, world: arche.NewWorld()}
	if p.controller, err = testdog.Model(t).NewController(mann.ControllerOptions{Capacity: n}); err != nil {
		t.Fatal(err)
	}
	if p.crowd, err = animsys.NewCrowd(&p.world, p.controller, animsys.Options{Ground: field, Workers: 1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.crowd.Close() })
	if p.schedule, err = ecs.NewSchedule(&p.world, 1.0/scenes.TickRate, animsys.Systems()...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.schedule.Close() })
	goals := generic.NewMap1[control.Goal](&p.world)
	for i := range n {
		e, err := p.crowd.Spawn(m3.V(float32(i)*2, 0, 0), 0.3*float32(i))
		if err != nil {
			t.Fatal(err)
		}
		*goals.Get(e) = control.Goal{Move: m3.V(0, 0, 1), Speed: 1}
		p.dogs = append(p.dogs, e)
	}
	p.overlay = New(Of(p.crowd, field, func(dst []m3.Vec3, row int) []m3.Vec3 {
		root := p.crowd.Roots[row]
		return append(dst, root.Apply(m3.V(0, 0, 0.5)), root.Apply(m3.V(0.2, 0, 1)))
	}))
	p.frame.Terrain = field
	return p
}

func (p *pack) tick(n int) {
	p.t.Helper()
	for range n {
		if err := p.schedule.Step(); err != nil {
			p.t.Fatal(err)
		}
		p.overlay.Step(p.crowd.Agents())
		p.experts.Step(p.controller.Experts(), p.crowd.Agents(), 0)
	}
}

// draw returns the lines of an overlay.
func (p *pack) draw(show hud.Overlay, watched int, alpha float32) []hud.Line {
	p.t.Helper()
	p.frame.Show = show
	p.frame.Begin(p.frame.Terrain)
	p.bones = p.crowd.Interpolate(p.bones, alpha)
	p.overlay.Draw(&p.frame, p.bones, watched, alpha)
	if p.frame.Has != All {
		p.t.Fatalf("there is %v, want %v", p.frame.Has, All)
	}
	for _, l := range p.frame.Lines {
		if !l.From.Finite() || !l.To.Finite() {
			p.t.Fatalf("%v: a line from %v to %v", show, l.From, l.To)
		}
	}
	return p.frame.Lines
}

// ends reports whether a line ends at p.
func ends(lines []hud.Line, p m3.Vec3) bool {
	for _, l := range lines {
		if l.From.Dist(p) < 1e-4 || l.To.Dist(p) < 1e-4 {
			return true
		}
	}
	return false
}

func count(lines []hud.Line, colour [3]float32) (n int) {
	for _, l := range lines {
		if l.Colour == colour {
			n++
		}
	}
	return n
}

// Every mark is where what it tells of is.
func TestMarks(t *testing.T) {
	p := newPack(t, 2)
	if got := p.draw(All, 0, 1); len(got) != 0 {
		t.Errorf("%d lines before the first tick", len(got))
	}
	p.tick(90)
	joints := p.crowd.Skel.Len()
	ground := func(at m3.Vec3) m3.Vec3 { return m3.V(at.X, p.frame.Terrain.Height(at.X, at.Z)+0.01, at.Z) }

	if got := p.draw(0, 0, 1); len(got) != 0 {
		t.Errorf("%d lines that nobody asked for", len(got))
	}
	got := p.draw(hud.Skeletons, 1, 0.5)
	if len(got) != 2*(joints-1) || count(got, selectedColour) != joints-1 {
		t.Errorf("%d bones, %d of them the watched one's: want %d and half of them", len(got), count(got, selectedColour), 2*(joints-1))
	}
	for j := range joints {
		if !ends(got, p.bones[joints+j].Pos) {
			t.Errorf("no bone at joint %d of the watched one", j)
		}
	}

	got = p.draw(hud.Roots, 0, 1)
	for _, root := range p.crowd.Roots[:2] {
		if !ends(got, ground(root.Pos)) || !ends(got, ground(root.Apply(m3.V(0, 0, 0.45)))) {
			t.Errorf("no cross at %v that faces ahead", root.Pos)
		}
	}

	got = p.draw(hud.Trajectories, 0, 1)
	for _, root := range p.crowd.Roots[:2] {
		if !ends(got, ground(root.Apply(m3.V(0.2, 0, 1)))) {
			t.Errorf("the way from %v does not lead where it shall", root.Pos)
		}
	}
	if n := count(got, pastColour); n != 2*samples {
		t.Errorf("%d lines of the past, want %d of each", n, samples)
	}
	for range every {
		p.tick(1)
		longest := float32(0)
		for _, l := range p.draw(hud.Trajectories, 0, 1) {
			if l.Colour == pastColour {
				longest = max(longest, l.From.Flat().Dist(l.To.Flat()))
			}
		}
		if longest < 0.01 || longest > 0.3 {
			t.Errorf("in a tenth of a second they went %g m", longest)
		}
	}

	got = p.draw(hud.Velocities, 0, 1)
	if n := count(got, velocityColour); n > 3*(joints+1) || n < joints+1 {
		t.Errorf("%d lines of velocities, want one arrow for each of %d joints and the other one's root", n, joints)
	}
	last, now := p.crowd.Published()
	for _, j := range []int{0, 5, joints + 0} {
		v := now[j].Pos.Sub(last[j].Pos).Scale(scenes.TickRate * 0.2)
		if !ends(got, now[j].Pos.Add(v)) {
			t.Errorf("no arrow from joint %d, which goes by %v", j, v)
		}
	}
}

// Feet that stand have a disc under them, and targets are where the solver takes them.
func TestFeet(t *testing.T) {
	p := newPack(t, 1)
	stood, held := 0, 0
	for range 40 {
		p.tick(3)
		contacts := append([]hud.Line(nil), p.draw(hud.Contacts, 0, 1)...)
		targets := p.draw(hud.Targets, 0, 1)
		want := 0
		for i, leg := range p.crowd.Ground.Rig.Roles.Legs {
			foot, tip := &p.crowd.Ground.Feet[i], p.bones[leg[len(leg)-1]].Pos
			if !ends(targets, foot.Target()) && !ends(targets, foot.Target().Add(m3.V(0.035, 0, 0))) {
				t.Fatalf("leg %d: nothing marks %v", i, foot.Target())
			}
			if !foot.Contact() {
				continue
			}
			stood++
			want += corners + 2
			if foot.Locked() {
				held++
				if d := tip.Dist(foot.Target()); d > 0.01 {
					t.Errorf("leg %d is held %g m from its target", i, d)
				}
			}
		}
		for _, l := range contacts {
			if y := l.From.Y - p.frame.Terrain.Height(l.From.X, l.From.Z); y < -0.01 || y > 0.03 {
				t.Fatalf("a contact is drawn %g m over the ground", y)
			}
		}
		if len(contacts) != want {
			t.Fatalf("%d lines of contacts, want %d", len(contacts), want)
		}
		if n := count(contacts, heldColour) + count(contacts, standColour); n != want {
			t.Fatalf("%d lines in the colours of contacts, want %d", n, want)
		}
	}
	if stood == 0 || held == 0 {
		t.Errorf("%d feet stood and %d were held: nothing was tested", stood, held)
	}
}

// Who is placed elsewhere leaves no lines across the world, and who is broken none at all.
func TestLeaps(t *testing.T) {
	p := newPack(t, 2)
	p.tick(30)
	if err := p.crowd.Place(p.dogs[0], m3.V(0, 0, 9), 0); err != nil {
		t.Fatal(err)
	}
	p.tick(1)
	for _, alpha := range []float32{0, 0.5, 1} {
		for _, l := range p.draw(All, 0, alpha) {
			if l.From.Dist(l.To) > 1.5 {
				t.Fatalf("alpha %g: a line from %v to %v", alpha, l.From, l.To)
			}
		}
	}
	nan := float32(math.NaN())
	for i := range p.crowd.Skel.Len() {
		p.bones[i].Pos.Y = nan
	}
	p.frame.Begin(p.frame.Terrain)
	p.overlay.Draw(&p.frame, p.bones, 0, 1)
	for _, l := range p.frame.Lines {
		if !l.From.Finite() || !l.To.Finite() {
			t.Fatalf("a line from %v to %v", l.From, l.To)
		}
	}
	if len(p.frame.Lines) == 0 {
		t.Error("one who is broken takes the other's marks away")
	}
	for i := range p.overlay.Roots {
		p.overlay.Roots[i].Pos.X = nan
	}
	p.overlay.Step(2)
	p.frame.Begin(p.frame.Terrain)
	p.overlay.Draw(&p.frame, p.bones, 0, 1)
	if len(p.frame.Lines) != 0 {
		t.Errorf("%d lines of those who are nowhere", len(p.frame.Lines))
	}
}

// Those far away and those too many have no marks, but the one who is watched has.
func TestFewHaveMarks(t *testing.T) {
	p := newPack(t, most+10)
	p.tick(1)
	joints := p.crowd.Skel.Len() - 1
	near := 0
	for _, r := range p.crowd.Roots {
		if r.Pos.Len() < within {
			near++
		}
	}
	if got := len(p.draw(hud.Skeletons, -1, 1)) / joints; got != near || got == 0 {
		t.Errorf("%d have marks, want the %d that are near", got, near)
	}
	if got := len(p.draw(hud.Skeletons, most+9, 1)) / joints; got != near+1 {
		t.Errorf("%d have marks, want the near ones and the one who is watched", got)
	}
	for i := range p.overlay.now {
		p.overlay.now[i].Pos = m3.Vec3{}
	}
	if got := len(p.draw(hud.Skeletons, most+9, 1)) / joints; got != most+1 {
		t.Errorf("%d of %d who stand together have marks, want %d", got, most+10, most+1)
	}
}

// The graph has the network's weights of the row that is watched, the newest last.
func TestExperts(t *testing.T) {
	p := newPack(t, 2)
	p.experts.Step(p.controller.Experts(), 0, 0)
	p.frame.Show = hud.Activations
	p.experts.Draw(&p.frame)
	if p.frame.Has != hud.Activations || len(p.frame.Graphs) != 1 || len(p.frame.Graphs[0].Values) != 0 {
		t.Errorf("before the first tick there is %v and %d graphs", p.frame.Has, len(p.frame.Graphs))
	}
	p.tick(5)
	p.frame.Begin(p.frame.Terrain)
	p.experts.Draw(&p.frame)
	g := p.frame.Graphs[0]
	gating := p.controller.Experts()
	k := len(gating) / 2
	if k < 2 || len(g.Values) != k || len(g.Names) != k {
		t.Fatalf("%d curves and %d names of %d experts", len(g.Values), len(g.Names), k)
	}
	for i, v := range g.Values {
		if n := len(v); n != expertTicks || v[n-1] != gating[i] || m3.Finite(v[n-6]) || !m3.Finite(v[n-5]) {
			t.Errorf("expert %d: %v", i, v[len(v)-6:])
		}
	}
	for i := range gating {
		gating[i] = float32(i)
	}
	p.experts.Step(gating, 2, 1)
	p.experts.Step(nil, 2, 1)
	p.frame.Begin(p.frame.Terrain)
	p.experts.Draw(&p.frame)
	for i, v := range p.frame.Graphs[0].Values {
		if n := len(v); m3.Finite(v[n-1]) || v[n-2] != gating[k+i] || m3.Finite(v[n-3]) {
			t.Errorf("expert %d of another row, then unknown: %v", i, v[n-3:])
		}
	}
	var none Experts
	none.Step(nil, 2, 0)
	p.frame.Begin(p.frame.Terrain)
	none.Draw(&p.frame)
	if p.frame.Has != 0 || len(p.frame.Graphs) != 0 {
		t.Error("a network without experts has a graph of them")
	}
}

// Once there is room, marks allocate nothing.
func TestMarksDoNotAllocate(t *testing.T) {
	p := newPack(t, 8)
	p.tick(20)
	p.draw(All, 0, 0.5)
	gating := p.controller.Experts()
	if n := testing.AllocsPerRun(20, func() {
		p.overlay.Step(8)
		p.experts.Step(gating, 8, 0)
		p.frame.Show = hud.AllOverlays
		p.frame.Begin(p.frame.Terrain)
		p.overlay.Draw(&p.frame, p.bones, 0, 0.5)
		p.experts.Draw(&p.frame)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
