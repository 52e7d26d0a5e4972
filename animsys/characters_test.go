package animsys_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/layer"
	"mannequin/animsys/manifold"
	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	tc "mannequin/internal/testing/testcharacter"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// bodies are a dwarf of 0.6 m, a toy with a large head, a person and a giant of 2.5 m.
var bodies = []tc.Build{
	{Size: 0.4, Legs: 0.75, Head: 1.6, Frames: 1, Fingers: true},
	{Size: 0.5, Legs: 0.5, Arms: 0.7, Head: 2.5, Hips: 1.5, LegsOnRoot: true, Frames: 2, Fingers: true},
	{Trunk: 1.4, ExtraInSpine: true, Fingers: true},
	{Size: 1.5, Legs: 1.05, Frames: 3, Fingers: true},
}

// withCharacters gives a crowd of people the bodies.
func withCharacters(t testing.TB, sk *skel.Skeleton, all *[]*retarget.Character) func(*animsys.Options) {
	for _, b := range bodies {
		*all = append(*all, tc.New(t, sk, tc.Stands(sk), b))
	}
	return func(o *animsys.Options) { o.Characters = *all }
}

// mixed is a world of people, one of each body and one without.
type mixed struct {
	*street
	all    []*retarget.Character
	people []arche.Entity // the last has no character
}

func newMixed(t testing.TB, workers int, extra ...func(*animsys.Options)) *mixed {
	m, _, _ := humans(t)
	x := &mixed{}
	x.street = newStreet(t, len(bodies)+1, workers, manifold.StreamOptions{}, append(extra, withCharacters(t, m.Skel, &x.all))...)
	for i := range len(bodies) + 1 {
		e := x.person(i)
		if i < len(x.all) {
			must.Do(t, x.street.people.SetCharacter(e, x.all[i]))
		}
		x.people = append(x.people, e)
	}
	return x
}

func onLevel(o *animsys.Options) { o.Ground = ik.Level(0) }

// A dwarf, a toy, a person and a giant go along their curves side by side as fast as they are told, with
// feet that stand where they stand, at their height, and bones as long as ever.
func TestCharactersWalk(t *testing.T) {
	race.Single(t)
	for _, ground := range []string{"level", "hills"} {
		t.Run(ground, func(t *testing.T) {
			var extra []func(*animsys.Options)
			if ground == "level" {
				extra = append(extra, onLevel)
			}
			x := newMixed(t, 2, extra...)
			c := x.street.people
			for _, e := range x.people {
				x.curves.Get(e).Speed = 1.2
			}
			x.step(300)
			type foot struct {
				at    m3.Vec3
				stood bool
			}
			feet, source := make([][2]foot, len(x.people)), make([][2]m3.Vec3, len(x.people))
			slide, slideSource, frames := make([]float64, len(x.people)), make([]float64, len(x.people)), make([]int, len(x.people))
			var off float64
			start := make([]m3.Xform, len(x.people))
			for i, e := range x.people {
				start[i] = c.Root(e)
			}
			way := make([]float32, len(x.people))
			last := append([]m3.Xform(nil), start...)
			for range 600 {
				x.step(1)
				_, now := c.Published()
				for i, e := range x.people {
					row, _ := c.Row(e)
					root := c.Root(e)
					way[i] += root.Pos.Dist(last[i].Pos)
					last[i] = root
					if _, d := x.curves.Get(e).Path.Nearest(root.Pos); d > 0.1 {
						t.Fatalf("person %d is %g m beside the path", i, d)
					}
					ch := c.Character(e)
					if ch == nil {
						continue
					}
					bones := c.Bones(e)
					if len(bones) != ch.Len() {
						t.Fatalf("%d bones of a character with %d joints", len(bones), ch.Len())
					}
					for j, p := range ch.Skel.Parents {
						if p < 0 || ch.Skel.Names[p] == "root" {
							continue
						}
						if is, want := bones[j].Pos.Dist(bones[p].Pos), ch.Rest[j].Pos.Dist(ch.Rest[p].Pos); m3.Abs(is-want) > 1e-4*(1+want) {
							t.Fatalf("person %d: the bone to %s is %g m long, at rest %g m", i, ch.Skel.Names[j], is, want)
						}
					}
					for k, name := range []string{"LeftToeBase", "RightToeBase"} {
						own := ch.Skel.Index("own " + name)
						at := bones[own].Pos
						from := now[row*c.Skel.Len()+c.Skel.Index(name)].Pos
						stands := c.Ground.Feet[row*2+k].Contact()
						if f := feet[i][k]; f.stood && stands {
							frames[i]++
							slide[i] += float64(at.Sub(f.at).Flat().Len())
							slideSource[i] += float64(from.Sub(source[i][k]).Flat().Len() * ch.Scale)
						}
						if stands && ground == "level" && from.Y < 0.035 {
							off = math.Max(off, float64(m3.Abs(at.Y-ch.Rest[own].Pos.Y-ch.Scale*from.Y)))
						}
						feet[i][k], source[i][k] = foot{at, stands}, from
					}
				}
			}
			for i := range x.people {
				size := float32(1)
				if ch := c.Character(x.people[i]); ch != nil {
					size = ch.Scale
					n := float64(frames[i]) / 6000
					t.Logf("size %.2f: %.2f m/s; feet slide by %.2f cm/s, scaled source %.2f", size, way[i]/10, slide[i]/n, slideSource[i]/n)
					if slide[i] > max(1.2*slideSource[i], slideSource[i]+0.05*n) { // a difference below 0.05 cm/s is not visible
						t.Errorf("size %.2f: feet slide by %.2f cm/s, those of the source by %.2f", size, slide[i]/n, slideSource[i]/n)
					}
				}
				if v := way[i] / 10; v < 1.1 || v > 1.3 {
					t.Errorf("size %.2f: goes at %.2f m/s, asked for 1.2", size, v)
				}
			}
			if off > 0.01 {
				t.Errorf("feet stand up to %.1f cm too high or too low", 100*off)
			}
		})
	}
}

// A character stands where the agent was, and goes back to the crowd's skeleton.
func TestSetCharacter(t *testing.T) {
	x := newMixed(t, 1, onLevel)
	c := x.street.people
	x.step(100)
	for i, e := range x.people {
		for _, ch := range append(x.all, nil) {
			before := c.Root(e)
			must.Do(t, c.SetCharacter(e, ch))
			if after := c.Root(e); after.Pos.Dist(before.Pos) > 1e-4 || after.Rot != before.Rot {
				t.Fatalf("person %d moves from %v to %v", i, before, after)
			}
			if c.Character(e) != ch {
				t.Fatal("it has another character")
			}
			hips, size := c.Bones(e)[0].Pos, float32(1)
			if ch != nil {
				size = ch.Scale
			}
			if d := hips.Sub(before.Pos).Flat().Len(); d > 0.4*size+0.1 {
				t.Fatalf("person %d: the hips are %g m from the root", i, d)
			}
			x.step(3)
		}
	}
	stranger := tc.New(t, c.Skel, tc.Stands(c.Skel), tc.Build{})
	for want, err := range map[string]error{
		"not one of Options.Characters": c.SetCharacter(x.people[0], stranger),
		"is not in this crowd":          c.SetCharacter(arche.Entity{}, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	w := arche.NewWorld()
	for want, bad := range map[string]*retarget.Character{"is nil": nil, "another skeleton": {}} {
		m, steps, locomotion := humans(t)
		g := must.Get(m.With(steps, locomotion).NewStream(manifold.StreamOptions{Capacity: 1}))(t)
		if _, err := animsys.NewCrowd(&w, g, animsys.Options{Ground: ik.Level(0), Characters: []*retarget.Character{bad}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		must.Do(t, g.Close())
	}
}

// Bones of characters have the same bits for any number of workers, and interpolate between two ticks.
func TestCharactersSameBits(t *testing.T) {
	a, b := newMixed(t, 1), newMixed(t, 3)
	for range 20 {
		a.step(20)
		b.step(20)
		if a.street.people.Hash() != b.street.people.Hash() {
			t.Fatal("the hash depends on the workers")
		}
	}
	c := a.street.people
	for i, ch := range a.all {
		e := a.people[i]
		now := append([]m3.Xform(nil), c.Bones(e)...)
		for j, x := range c.InterpolateCharacter(nil, ch, 1, m3.Vec3{}) {
			if x.Pos.Dist(now[j].Pos) > 1e-4 {
				t.Fatalf("%s is shown at %v and interpolated at %v", ch.Skel.Names[j], now[j].Pos, x.Pos)
			}
		}
		if n := len(c.InterpolateCharacter(nil, ch, 0.5, m3.V(1, 2, 3))); n != ch.Len() {
			t.Errorf("%d joints, want %d", n, ch.Len())
		}
	}
}

// Each agent is drawn once. The node of its character draws it; an agent without a character is drawn by the node of the crowd's skeleton.
func TestWithCharacter(t *testing.T) {
	x := newMixed(t, 1)
	x.step(200)
	c := x.street.people
	drawn, all := map[arche.Entity]int{}, c.Interpolate(nil, 0.4)
	for _, ch := range append(x.all, nil) {
		agents, bones := c.WithCharacter(nil, ch), c.InterpolateCharacter(nil, ch, 0.4, m3.Vec3{})
		n := c.Skel.Len()
		if ch != nil {
			n = ch.Len()
		}
		if len(bones) != n*len(agents) {
			t.Fatalf("%d bones of %d agents with %d joints", len(bones), len(agents), n)
		}
		for i, e := range agents {
			drawn[e]++
			if c.Character(e) != ch {
				t.Errorf("agent %v has another character", e)
			}
			if row, _ := c.Row(e); ch == nil && !slices.Equal(bones[i*n:][:n], all[row*n:][:n]) {
				t.Errorf("agent %v is not where Interpolate shows it", e)
			}
		}
	}
	if len(drawn) != c.Agents() {
		t.Errorf("%d of %d agents are drawn", len(drawn), c.Agents())
	}
	for e, times := range drawn {
		if times != 1 {
			t.Errorf("agent %v is drawn %d times", e, times)
		}
	}
	if len(c.WithCharacter(nil, tc.New(t, c.Skel, tc.Stands(c.Skel), tc.Build{}))) != 0 {
		t.Error("agents have a character that the crowd does not know")
	}
}

// A hand that reaches is at its place, in the size of each.
func TestCharactersReach(t *testing.T) {
	race.Single(t)
	x := newMixed(t, 1, onLevel)
	c := x.street.people
	reaches := generic.NewMap1[ecs.Reach](&x.ecs)
	for _, e := range x.people {
		x.curves.Get(e).Path = nil
	}
	x.step(200)
	for i, e := range x.people {
		if c.Character(e) == nil {
			continue
		}
		ch := c.Character(e)
		bones := c.Bones(e)
		shoulder := bones[ch.Skel.Index("own RightArm")].Pos
		arm := shoulder.Dist(bones[ch.Skel.Index("own RightForeArm")].Pos) + bones[ch.Skel.Index("own RightForeArm")].Pos.Dist(bones[ch.Skel.Index("own RightHand")].Pos)
		at := shoulder.Add(c.Root(e).Rot.Forward().Scale(0.7 * arm))
		if err := c.CanReach(e, animsys.Right, at, 0.8); err != nil {
			t.Errorf("person %d: %v", i, err)
		}
		far := shoulder.Add(c.Root(e).Rot.Forward().Scale(1.3 * arm))
		if err := c.CanReach(e, animsys.Right, far, 5); err == nil {
			t.Errorf("person %d reaches 1.3 of its arm", i)
		}
		reaches.Assign(e, &ecs.Reach{Right: ecs.Hand{Target: at, Weight: 1, Seconds: 0.8}})
		x.step(100)
		if d := c.Bones(e)[ch.Skel.Index("own RightHandIndex1")].Pos.Dist(at); d > 0.02 {
			t.Errorf("person %d: the hand is %.1f cm from its place", i, 100*d)
		}
		reaches.Remove(e)
	}
}

// A tick with characters allocates nothing.
func TestCharactersAllocateNothing(t *testing.T) {
	x := newMixed(t, 1)
	x.step(300)
	dst := make([]m3.Xform, 0, 1000)
	if n := testing.AllocsPerRun(30, func() {
		x.step(1)
		dst = x.street.people.InterpolateCharacter(dst, x.all[0], 0.5, m3.Vec3{})
		dst = x.street.people.InterpolateCharacter(dst, nil, 0.5, m3.Vec3{})
	}); n > 0.5 { // windows are made now and then
		t.Errorf("a tick allocates %g times", n)
	}
}

// A wall keeps all sizes out, each by its own girth.
func TestCharactersAlongWalls(t *testing.T) {
	walls := &control.Obstacles{}
	must.Do(t, walls.Set(control.Wall(m3.V(-50, 0, 3), m3.V(50, 0, 3), 0.1)))
	x := newMixed(t, 1, onLevel, func(o *animsys.Options) { o.Walls = walls })
	c := x.street.people
	for _, e := range x.people {
		must.Do(t, c.Place(e, m3.V(0, 0, 0), 0))
		must.Do(t, c.Nudge(e, m3.V(0, 0, 2)))
	}
	for range 60 {
		for _, e := range x.people {
			must.Do(t, c.Nudge(e, m3.V(0, 0, 0.05)))
		}
		x.step(1)
	}
	for _, e := range x.people {
		size := float32(1)
		if ch := c.Character(e); ch != nil {
			size = ch.Scale
		}
		if z := c.Root(e).Pos.Z; z > 2.96 || z < 2.6-0.6*size {
			t.Errorf("size %.2f: stands at %g m, the wall is at 2.95", size, z)
		}
	}
}

func BenchmarkCharacters(b *testing.B) {
	for _, k := range []struct {
		name       string
		own, plays bool
	}{{"none", false, false}, {"own bones", true, false}, {"own clips", true, true}} {
		b.Run(k.name, func(b *testing.B) {
			m, _, _ := humans(b)
			var all []*retarget.Character
			s := newStreet(b, 200, 1, manifold.StreamOptions{}, withCharacters(b, m.Skel, &all))
			for i := range 200 {
				e := s.person(i)
				if !k.own {
					continue
				}
				ch := all[i%len(all)]
				must.Do(b, s.people.SetCharacter(e, ch))
				if k.plays {
					must.Do(b, s.people.Play(e, own(b, ch, 1), layer.PlayOptions{Loop: true}))
				}
			}
			s.step(200)
			best(b, func() { s.step(8) }) // windows are requested every eighth tick
		})
	}
}
