package animsys_test

import (
	"errors"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/animsys/matching"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	herofile "mannequin/models/hero"
	stylesgram "mannequin/models/styles-gram"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// withTransfers gives a crowd the shipped styles of ecs.GramStyle, pose by pose.
func withTransfers(t testing.TB) func(*animsys.Options) {
	t.Helper()
	all := must.Get(must.Get(stylesgram.Open())(t).ForPoses())(t)
	return func(o *animsys.Options) { o.Transfers = all }
}

func transferOf(t testing.TB, name string) int {
	for i, n := range must.Get(stylesgram.Open())(t).Names {
		if n == name {
			return i
		}
	}
	t.Fatalf("no style %q", name)
	return -1
}

// heroes are people of the shipped networks of a person under a stick, with styles pose by pose.
type heroes struct {
	*animsys.Crowd
	t        testing.TB
	schedule *ecs.Schedule
	goals    generic.Map1[control.Goal]
	styles   generic.Map1[ecs.GramStyle]
}

func newHeroes(t testing.TB, n, workers int, ground ik.Ground) *heroes {
	t.Helper()
	w := arche.NewWorld()
	stream := must.Get(must.Get(herofile.Open())(t).NewStream(matching.StreamOptions{Capacity: n, Workers: workers}))(t)
	opt := animsys.Options{Ground: ground, Workers: workers}
	withTransfers(t)(&opt)
	h := &heroes{Crowd: must.Get(animsys.NewCrowd(&w, stream, opt))(t), t: t}
	t.Cleanup(func() { h.Close() })
	h.schedule = must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	h.goals, h.styles = generic.NewMap1[control.Goal](&w), generic.NewMap1[ecs.GramStyle](&w)
	for i := range n {
		e := must.Get(h.Spawn(m3.V(2*float32(i), 0, 0), 0))(t)
		h.styles.Add(e)
	}
	return h
}

// step asks all for a goal, for a number of ticks.
func (h *heroes) step(ticks int, g control.Goal) {
	h.t.Helper()
	for range ticks {
		for row := range h.Agents() {
			*h.goals.Get(h.Entity(row)) = g
		}
		must.Do(h.t, h.schedule.Step())
	}
}

// People whose motion no manifold makes get the styles of Gram matrices, at once and of any weight: who sneaks bends
// the knees, who is cold folds the arms, standing feet stay, and who loses the style moves as before.
func TestPoseStyles(t *testing.T) {
	h := newHeroes(t, 4, 2, ik.Level(0))
	plain := newHeroes(t, 4, 1, ik.Level(0))
	sneaking, cold := transferOf(t, "sneaking"), transferOf(t, "cold")
	walk := control.Goal{Move: m3.V(0, 0, 1), Speed: 1.3}
	*h.styles.Get(h.Entity(1)) = ecs.GramStyle{Style: sneaking, Weight: 1}
	*h.styles.Get(h.Entity(2)) = ecs.GramStyle{Style: cold, Weight: 1}
	*h.styles.Get(h.Entity(3)) = ecs.GramStyle{Style: sneaking, Weight: 0.5}
	both := func(n int, g control.Goal) { h.step(n, g); plain.step(n, g) }
	both(60, walk)
	hips, hands := make([]float32, 4), make([]float32, 4)
	const ticks = 120
	toe := h.Skel.Index("LeftToeBase")
	var slid, slidPlain float32
	last, lastPlain := m3.Up, m3.Up
	left, right := h.Skel.Index("LeftHand"), h.Skel.Index("RightHand")
	for range ticks {
		both(1, walk)
		for row := range 4 {
			b, p := h.Bones(h.Entity(row)), plain.Bones(plain.Entity(row))
			hips[row] += (p[0].Pos.Y - b[0].Pos.Y) / ticks
			hands[row] += (b[left].Pos.Dist(b[right].Pos) - p[left].Pos.Dist(p[right].Pos)) / ticks
		}
		at, was := h.Bones(h.Entity(1))[toe].Pos, plain.Bones(plain.Entity(1))[toe].Pos
		if at.Y < 0.05 && last.Y < 0.05 {
			slid += at.Sub(last).Flat().Len()
		}
		if was.Y < 0.05 && lastPlain.Y < 0.05 {
			slidPlain += was.Sub(lastPlain).Flat().Len()
		}
		last, lastPlain = at, was
	}
	t.Logf("hips are lower by %.3f m, hands farther apart by %.3f; a toe slides by %.2f m, without the style by %.2f", hips, hands, slid, slidPlain)
	if m3.Abs(hips[0]) > 0 || m3.Abs(hands[0]) > 0 {
		t.Errorf("without a style the hips are %g m lower, the hands %g m nearer", hips[0], hands[0])
	}
	if hips[1] < 0.06 || hips[3] < 0.35*hips[1] || hips[3] > 0.65*hips[1] {
		t.Errorf("who sneaks has hips %.3f m lower, who does by half %.3f", hips[1], hips[3])
	}
	if hands[2] > -0.08 {
		t.Errorf("the hands of who is cold are %.3f m farther apart", hands[2])
	}
	if slid > 1.6*slidPlain+0.1 {
		t.Errorf("the toe of who sneaks slides by %.2f m, without the style by %.2f", slid, slidPlain)
	}
	for row := range 4 { // the style goes, one after the other
		*h.styles.Get(h.Entity(row)) = ecs.GramStyle{}
	}
	both(180, walk)
	for row := range 4 {
		b, p := h.Bones(h.Entity(row)), plain.Bones(plain.Entity(row))
		for j := range b {
			if d := b[j].Pos.Dist(p[j].Pos); d > 0.02 { // locked feet may have been let go of elsewhere
				t.Errorf("row %d: joint %s is %.3f m off, without its style again", row, h.Skel.Names[j], d)
			}
		}
	}
}

// One style gives way to another without a jump.
func TestPoseStylesChange(t *testing.T) {
	h := newHeroes(t, 1, 1, ik.Level(0))
	plain := newHeroes(t, 1, 1, ik.Level(0))
	stand := control.Goal{}
	h.step(120, stand)
	plain.step(120, stand)
	var styled, unstyled jerk
	var most, usual float64
	for i := range 600 {
		if i%40 == 0 {
			*h.styles.Get(h.Entity(0)) = ecs.GramStyle{Style: i / 40 % 9, Weight: float32(i/40%3) / 2}
		}
		h.step(1, stand)
		plain.step(1, stand)
		v, _ := styled.add(h.Bones(h.Entity(0)), nil)
		u, _ := unstyled.add(plain.Bones(plain.Entity(0)), nil)
		most, usual = max(most, v), max(usual, u)
	}
	t.Logf("joints jerk by up to %.0f m/s³, without changes of style by %.0f", most, usual)
	if most > 2000 {
		t.Errorf("joints jerk by up to %.0f m/s³, without changes of style by %.0f", most, usual)
	}
}

// Styles for people on curves only, and styles for other skeletons, are refused; indices of none are no style.
func TestPoseStylesRefuses(t *testing.T) {
	w := arche.NewWorld()
	stream := must.Get(must.Get(herofile.Open())(t).NewStream(matching.StreamOptions{Capacity: 1}))(t)
	defer stream.Close()
	_, err := animsys.NewCrowd(&w, stream, animsys.Options{Ground: ik.Level(0), Transfers: []*manifold.StyleTransfer{{Name: "curves"}}})
	if !errors.Is(err, manifold.ErrNoPoses) {
		t.Errorf("styles without maps of poses: %v", err)
	}
	h, plain := newHeroes(t, 1, 1, ik.Level(0)), newHeroes(t, 1, 1, ik.Level(0))
	for _, index := range []int{-1, 9, 1 << 40} {
		*h.styles.Get(h.Entity(0)) = ecs.GramStyle{Style: index, Weight: 1}
		h.step(30, control.Goal{})
		plain.step(30, control.Goal{})
		if h.Hash() != plain.Hash() {
			t.Errorf("style %d changes the pose", index)
		}
	}
}

// A style costs a few microseconds and no memory.
func TestPoseStylesAllocate(t *testing.T) {
	h := newHeroes(t, 8, 2, ik.Level(0))
	for row := range 8 {
		*h.styles.Get(h.Entity(row)) = ecs.GramStyle{Style: row, Weight: 1}
	}
	h.step(60, control.Goal{})
	mustNotAllocate(t, func() { h.step(30, control.Goal{Move: m3.V(0, 0, 1), Speed: 2}) })
}

func BenchmarkPoseStyles(b *testing.B) {
	for _, c := range []struct {
		name   string
		weight float32
	}{{"without", 0}, {"with", 1}} {
		b.Run(c.name, func(b *testing.B) {
			h := newHeroes(b, 200, 1, ik.Level(0))
			for row := range h.Agents() {
				*h.styles.Get(h.Entity(row)) = ecs.GramStyle{Style: row % 9, Weight: c.weight}
			}
			h.step(60, control.Goal{Move: m3.V(0, 0, 1), Speed: 1.3})
			b.ReportAllocs()
			for b.Loop() {
				h.step(1, control.Goal{Move: m3.V(0, 0, 1), Speed: 1.3})
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*h.Agents()), "µs/agent")
		})
	}
}
