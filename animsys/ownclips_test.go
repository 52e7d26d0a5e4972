package animsys_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/layer"
	"mannequin/animsys/manifold"
	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	tc "mannequin/internal/testing/testcharacter"

	arche "github.com/mlange-42/arche/ecs"
)

// further is how a joint that people lack turns in the clips of these tests.
func further(name string, seconds float32) m3.Quat {
	turn := 0.3 + 0.3*m3.Sin(4*seconds)
	switch {
	case strings.Contains(name, "finger"):
		return m3.AxisAngle(m3.V(0, 0, 1), -turn)
	case name == "jaw":
		return m3.AxisAngle(m3.V(1, 0, 0), turn)
	case strings.HasPrefix(name, "tail"):
		return m3.AxisAngle(m3.Up, turn)
	}
	return m3.Ident
}

// recorded returns a clip on the own skeleton of each character, of what its agent did: it walks. Fingers, jaws and tails
// move. The ground is at 0, and the walk begins at the origin.
func recorded(t testing.TB, ticks int) (*mixed, []*skel.Clip) {
	x := newMixed(t, 1, onLevel)
	x.step(300)
	clips := make([]*skel.Clip, len(x.all))
	origin := make([]m3.Xform, len(x.all))
	for i, ch := range x.all {
		clips[i] = skel.NewClip(ch.Skel, animsys.TickRate, ticks)
		origin[i] = x.street.people.Root(x.people[i]).Inv()
	}
	for f := range ticks {
		x.step(1)
		for i, ch := range x.all {
			model := append([]m3.Xform(nil), x.street.people.Bones(x.people[i])...)
			for j := range model {
				model[j] = origin[i].Mul(model[j])
			}
			pos, rot := clips[i].Frame(f)
			ch.Skel.ModelToLocal(pos, rot, model)
			for j, name := range ch.Skel.Names {
				rot[j] = rot[j].Mul(further(name, float32(f)/animsys.TickRate)).Normalize()
			}
		}
	}
	return x, clips
}

// relative returns the rotations of joints in those of their parents.
func relative(sk *skel.Skeleton, bones []m3.Xform) []m3.Quat {
	pos, rot := make([]m3.Vec3, sk.Len()), make([]m3.Quat, sk.Len())
	sk.ModelToLocal(pos, rot, bones)
	return rot
}

func isLeg(name string) bool {
	return strings.Contains(name, "Leg") || strings.Contains(name, "Foot") || strings.Contains(name, "Toe")
}

// A walk of a character's own skeleton plays on it with all its joints, moves the agent as far as in the clip, and its
// feet stand.
func TestOwnClip(t *testing.T) {
	const ticks = 180
	x, clips := recorded(t, ticks)
	c := x.street.people
	for i, e := range x.people {
		x.curves.Get(e).Path = nil
		must.Do(t, c.Place(e, m3.V(5*float32(i), 0, 3), 1))
	}
	x.step(120)
	begin := make([]m3.Xform, len(x.all))
	for i, ch := range x.all {
		clip := must.Get(layer.NewOwn(ch, clips[i], layer.ClipOptions{Name: "walk"}))(t)
		if clip.Character() != ch {
			t.Fatal("the clip has another character")
		}
		must.Do(t, c.Play(x.people[i], clip, layer.PlayOptions{RootMotion: true, In: -1}))
		begin[i] = c.Root(x.people[i])
	}
	const stepped = 40 // ticks, in which feet that stood elsewhere have left the ground
	var angle, leg, toes, knee, toe, way [4]float32
	for tick := range ticks - 1 {
		x.step(1)
		for i, ch := range x.all {
			e := x.people[i]
			playing, at := c.Playing(e, 0)
			if playing == nil {
				t.Fatal("the clip has ended early")
			}
			f := int(at*animsys.TickRate + 0.5)
			_, want := clips[i].Frame(f)
			model := make([]m3.Xform, ch.Len())
			clips[i].Model(model, f)
			bones := c.Bones(e)
			got := relative(ch.Skel, bones)
			for j, name := range ch.Skel.Names {
				a := got[j].Angle(want[j])
				switch {
				case name == "root" || ch.Skel.Parents[j] < 0 || ch.Skel.Names[ch.Skel.Parents[j]] == "root" && !isLeg(name):
				case !isLeg(name):
					angle[i] = max(angle[i], a)
				case tick > stepped && strings.Contains(name, "Toe"): // they bend as near as they are to the ground
					toes[i] = max(toes[i], a)
				case tick > stepped:
					leg[i] = max(leg[i], a)
				}
				if d := m3.Abs(bones[j].Pos.Y - model[j].Pos.Y); tick > stepped && strings.HasSuffix(name, "ToeBase") {
					toe[i] = max(toe[i], d/ch.Scale)
				} else if tick > stepped && strings.HasSuffix(name, "Leg") {
					knee[i] = max(knee[i], d/ch.Scale)
				}
			}
			first, last := c.Root(e).Pos.Sub(begin[i].Pos), model[ch.Player(0)].Pos
			way[i] = max(way[i], m3.Abs(first.Len()-last.Flat().Len())/ch.Scale)
		}
	}
	for i, ch := range x.all {
		t.Logf("size %.2f: errors: %.2g rad of joints above the legs, %.2g of legs, %.2g of toes; heights: knees %.2g m, toes %.2g m; distance walked: %.2g m", ch.Scale, angle[i], leg[i], toes[i], knee[i], toe[i], way[i])
		if angle[i] > 1e-3 || leg[i] > 0.2 || toes[i] > 0.4 || knee[i] > 0.03 || toe[i] > 0.02 || way[i] > 0.1 {
			t.Errorf("size %.2f: it moves otherwise than in the clip", ch.Scale)
		}
	}
}

// own returns a clip on the own skeleton of a character that stands, and moves its right arm and what people lack.
func own(t testing.TB, ch *retarget.Character, seconds float64) *layer.Clip {
	c := skel.NewClip(ch.Skel, 30, int(seconds*30)+1)
	rest := relative(ch.Skel, ch.Rest)
	for f := range c.Frames {
		_, rot := c.Frame(f)
		for j, name := range ch.Skel.Names {
			rot[j] = rest[j].Mul(further(name, float32(f)/30)).Normalize()
			if name == "own RightArm" {
				rot[j] = rest[j].Mul(m3.AxisAngle(m3.V(0, 0.6, 0.8), 0.8*m3.Sin(float32(f)/10)))
			}
		}
	}
	return must.Get(layer.NewOwn(ch, c, layer.ClipOptions{Name: "own", Markers: []layer.Marker{{Name: "half", Time: float32(seconds / 2)}}}))(t)
}

// A clip of the own skeleton on some joints changes these alone, at all update rates, starts and ends without a jump,
// and leaves the bits of all others, and in the end its own.
func TestOwnClipMasks(t *testing.T) {
	for name, of := range map[string]func(c *animsys.Crowd, ch *retarget.Character) (*layer.Mask, error){
		"fingers": func(_ *animsys.Crowd, ch *retarget.Character) (*layer.Mask, error) {
			return layer.Joints(ch.Skel, "Right finger 1")
		},
		"upper body": func(c *animsys.Crowd, _ *retarget.Character) (*layer.Mask, error) { return layer.UpperBody(c.Skel) },
	} {
		for _, rate := range []animsys.UpdateRate{animsys.EveryTick, animsys.Every4} {
			t.Run(fmt.Sprint(name, " every ", rate), func(t *testing.T) {
				calm, x := newMixed(t, 1), newMixed(t, 2)
				for i := range x.people {
					must.Do(t, calm.street.people.SetUpdateRate(calm.people[i], rate))
					must.Do(t, x.street.people.SetUpdateRate(x.people[i], rate))
				}
				calm.step(100)
				x.step(100)
				const plays = 2 // of those in x
				ch := x.all[plays]
				clip := own(t, ch, 1)
				mask := must.Get(of(x.street.people, ch))(t)
				must.Do(t, x.street.people.Play(x.people[plays], clip, layer.PlayOptions{Mask: mask, In: 0.3, Out: 0.3}))
				finger := ch.Skel.Index("Right finger 2")
				moved, before := float32(0), m3.Ident
				var most float32
				for tick := range 120 {
					calm.step(1)
					x.step(1)
					for i := range x.people {
						a, b := calm.street.people.Bones(calm.people[i]), x.street.people.Bones(x.people[i])
						if i != plays || tick > 100 {
							if !slices.Equal(a, b) {
								t.Fatalf("tick %d: agent %d has other bits", tick, i)
							}
							continue
						}
						for j, joint := range ch.Skel.Names {
							switch {
							case name == "fingers" && !strings.HasPrefix(joint, "Right finger") && a[j] != b[j]:
								t.Fatalf("tick %d: %s has other bits", tick, joint)
							case strings.HasSuffix(joint, "ToeBase") && a[j].Pos.Dist(b[j].Pos) > 1e-4: // hips turn with the back
								t.Fatalf("tick %d: %s is elsewhere", tick, joint)
							}
						}
						now := relative(ch.Skel, b)[finger]
						moved = max(moved, now.Angle(relative(ch.Skel, a)[finger]))
						if tick > 0 {
							most = max(most, now.Angle(before))
						}
						before = now
					}
				}
				if moved < 0.4 {
					t.Errorf("the finger moves by %g rad", moved)
				}
				if most > 0.08 {
					t.Errorf("the finger turns by %g rad in a tick", most)
				}
			})
		}
	}
}

// A clip of the own skeleton on the whole body begins and ends within a walk as smoothly as one of the crowd's: no joint
// is accelerated more, in the mean over phases of the walk.
func TestOwnClipBlends(t *testing.T) {
	const phases = 4
	at := func(phase int, play func(x *mixed, i int) *layer.Clip) (out [4]float32) {
		x := newMixed(t, 1, onLevel)
		for _, e := range x.people {
			x.curves.Get(e).Speed = 1.2
		}
		x.step(300 + 16*phase)
		for i := range x.all {
			must.Do(t, x.street.people.Play(x.people[i], play(x, i), layer.PlayOptions{Start: 0.5, RootMotion: true}))
		}
		var before, last [4][]m3.Xform
		for tick := range 200 {
			x.step(1)
			for i, e := range x.people[:4] {
				now := append([]m3.Xform(nil), x.street.people.Bones(e)...)
				if tick > 1 {
					for j := range now {
						a := now[j].Pos.Add(before[i][j].Pos).Sub(last[i][j].Pos.Scale(2)).Len() * animsys.TickRate * animsys.TickRate
						if name := x.all[i].Skel.Names[j]; strings.HasPrefix(name, "own") {
							out[i] = max(out[i], a/x.all[i].Scale)
						}
					}
				}
				before[i], last[i] = last[i], now
			}
		}
		return out
	}
	most := func(play func(x *mixed, i int) *layer.Clip) (mean [4]float32) {
		for phase := range phases {
			for i, a := range at(phase, play) {
				mean[i] += a / phases
			}
		}
		return mean
	}
	_, clips := recorded(t, 120)
	calm, _ := recorded(t, 1)
	sk := calm.street.people.Skel
	shared := most(func(x *mixed, i int) *layer.Clip {
		c := skel.NewClip(sk, animsys.TickRate, 120)
		src, turns := make([]m3.Xform, sk.Len()), make([]m3.Quat, len(x.all[i].Further()))
		model := make([]m3.Xform, x.all[i].Len())
		for f := range c.Frames {
			clips[i].Model(model, f)
			x.all[i].Invert(src, turns, model)
			pos, rot := c.Frame(f)
			sk.ModelToLocal(pos, rot, src)
		}
		return must.Get(layer.New(sk, c, layer.ClipOptions{}))(t)
	})
	owns := most(func(x *mixed, i int) *layer.Clip {
		return must.Get(layer.NewOwn(x.all[i], clips[i], layer.ClipOptions{}))(t)
	})
	for i := range shared {
		t.Logf("body %d: %.0f m/s² with a clip of the crowd's skeleton, %.0f with its own", i, shared[i], owns[i])
		if owns[i] > 1.2*shared[i]+5 {
			t.Errorf("body %d: a joint is accelerated by %g m/s², with a clip of the crowd's skeleton by %g", i, owns[i], shared[i])
		}
	}
}

// Clips of own skeletons have the same bits for any number of workers, and after a restore into another crowd, in the middle
// of blends, with other clips above and below. Ticks allocate nothing.
func TestOwnClipState(t *testing.T) {
	begin := func(t *testing.T, workers int) *mixed {
		x := newMixed(t, workers)
		c := x.street.people
		x.step(60)
		for i, ch := range x.all {
			must.Do(t, c.SetUpdateRate(x.people[i], []animsys.UpdateRate{animsys.EveryTick, animsys.Every2, animsys.Every4, animsys.EveryTick}[i]))
			clip := own(t, ch, 1)
			mask := must.Get(layer.Joints(ch.Skel, "Right finger 1", "tail 1", "own RightArm"))(t)
			must.Do(t, c.Play(x.people[i], clip, layer.PlayOptions{Mask: mask, Loop: true, Weight: 0.8}))
			must.Do(t, c.Play(x.people[i], clip, layer.PlayOptions{Layer: 2, Additive: true, Loop: true, Weight: 0.5}))
			wave, upper := gesture(t, c.Skel, 1)
			must.Do(t, c.Play(x.people[i], wave, layer.PlayOptions{Layer: 1, Mask: upper, Weight: 0.4}))
		}
		x.step(7)
		must.Do(t, c.SetCharacter(x.people[3], x.all[0]))
		must.Do(t, c.Play(x.people[3], own(t, x.all[0], 1), layer.PlayOptions{}))
		return x
	}
	one, three := begin(t, 1), begin(t, 3)
	var hashes []uint64
	var save []byte
	for tick := range 120 {
		switch tick {
		case 3, 10, 64, 70:
			again, err := one.street.people.Save(nil)
			must.Do(t, err)
			if save = again; tick == 3 {
				must.Do(t, three.street.people.Restore(save)) // its own clips are those of its characters
			}
		}
		one.step(1)
		three.step(1)
		a, b := one.street.people.Hash(), three.street.people.Hash()
		if a != b {
			t.Fatalf("tick %d: other bits with three workers", tick)
		}
		hashes = append(hashes, a)
	}
	fresh := newMixed(t, 2)
	must.Do(t, fresh.street.people.Restore(save))
	for tick := 70; tick < 120; tick++ {
		fresh.step(1)
		if fresh.street.people.Hash() != hashes[tick] {
			t.Fatalf("tick %d: other bits after a restore", tick)
		}
	}
	again := must.Get(one.street.people.Save(nil))(t)
	mustNotAllocate(t, func() {
		must.Do(t, one.street.people.Restore(again))
		one.step(20)
		again = must.Get(one.street.people.Save(again[:0]))(t)
	})
	for cut := range 40 {
		if err := fresh.street.people.Restore(save[:len(save)*cut/40]); err == nil {
			t.Error("a part of a save is restored")
		}
	}
}

// An agent whose character is taken away has the turns of none; another one's clip is refused, with the reason.
func TestOwnClipOfAnother(t *testing.T) {
	x := newMixed(t, 1, onLevel)
	c := x.street.people
	clip := own(t, x.all[0], 1)
	must.Do(t, c.Play(x.people[0], clip, layer.PlayOptions{Loop: true}))
	x.step(30)
	must.Do(t, c.SetCharacter(x.people[0], x.all[3]))
	x.step(1)
	finger := x.all[3].Skel.Index("jaw")
	if a := relative(x.all[3].Skel, c.Bones(x.people[0]))[finger].Angle(relative(x.all[3].Skel, x.all[3].Rest)[finger]); a > 1e-3 {
		t.Errorf("the jaw of the new character is open by %g rad", a)
	}
	x.step(60)
	if is, _ := c.Playing(x.people[0], 0); is != nil {
		t.Error("the clip of the old character plays on")
	}
	stranger := tc.New(t, c.Skel, tc.Stands(c.Skel), tc.Build{Size: 2})
	plain := must.Get(layer.New(x.all[1].Skel, skel.NewClip(x.all[1].Skel, 30, 2), layer.ClipOptions{}))(t)
	fingers := must.Get(layer.Joints(x.all[1].Skel, "jaw"))(t)
	wave, _ := gesture(t, c.Skel, 1)
	last := len(x.people) - 1
	for want, err := range map[string]error{
		"another character than the agent's":           c.Play(x.people[1], clip, layer.PlayOptions{}),
		"the agent has no character: see SetCharacter": c.Play(x.people[last], clip, layer.PlayOptions{}),
		"own skeleton of another character":            c.Play(x.people[2], own(t, stranger, 1), layer.PlayOptions{}),
		"or NewOwn the agent's character":              c.Play(x.people[1], plain, layer.PlayOptions{}),
		"the mask is of another skeleton":              c.Play(x.people[1], wave, layer.PlayOptions{Mask: fingers}),
		"it has no joint own Hips of the character's":  second(layer.NewOwn(x.all[2], skel.NewClip(c.Skel, 30, 2), layer.ClipOptions{})),
		"from its place in the character's skeleton":   second(layer.NewOwn(x.all[0], skel.NewClip(x.all[0].Skel, 30, 2).Scaled(100), layer.ClipOptions{})),
		"the character or the clip is missing":         second(layer.NewOwn(nil, nil, layer.ClipOptions{})),
		"it has no joint Hips of the crowd's skeleton": second(layer.New(c.Skel, skel.NewClip(x.all[0].Skel, 30, 2), layer.ClipOptions{})),
		`clip "x": it has 0 frames, want 1 to 131072`:  second(layer.NewOwn(x.all[0], skel.NewClip(x.all[0].Skel, 30, 0), layer.ClipOptions{Name: "x"})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Events are at the joints of the character: its toes, its hips, its knuckles.
func TestEventsOfCharacters(t *testing.T) {
	x := newMixed(t, 1)
	c := x.street.people
	for i, ch := range x.all {
		must.Do(t, c.Play(x.people[i], own(t, ch, 1), layer.PlayOptions{Loop: true, Mask: must.Get(layer.Joints(ch.Skel, "jaw"))(t)}))
	}
	row := map[arche.Entity]int{}
	for i, e := range x.people {
		row[e] = i
	}
	var steps, marks [5]int
	for range 400 {
		x.step(1)
		for _, e := range c.Events() {
			i := row[e.Entity]
			bones, names := c.Bones(e.Entity), c.Skel.Names
			own := ""
			if ch := c.Character(e.Entity); ch != nil {
				names, own = ch.Skel.Names, "own "
			}
			want := own + "Hips"
			switch e.Kind {
			case animsys.FootDown, animsys.FootUp:
				want = own + []string{"Left", "Right"}[e.Leg] + "ToeBase"
				if steps[i]++; !(e.Speed >= 0 && e.Speed < 12) {
					t.Errorf("a foot comes down at %g m/s", e.Speed)
				}
			case animsys.ClipMarker:
				marks[i]++
			}
			if names[e.Joint] != want || e.Pos != bones[e.Joint].Pos {
				t.Fatalf("agent %d: the event %d is at %s, %v, and the joint at %v; want %s", i, e.Kind, names[e.Joint], e.Pos, bones[e.Joint].Pos, want)
			}
		}
	}
	for i := range x.people {
		if steps[i] < 8 || i < len(x.all) && marks[i] < 5 {
			t.Errorf("agent %d has %d events of feet and %d of clips", i, steps[i], marks[i])
		}
	}
}

// Animations of real files play on the characters of these files as they are: with fingers, heads, hands and feet at their
// places, at all sizes.
func TestOwnClipsOfFiles(t *testing.T) {
	dir := mocapdata.Dir(t)
	sk := must.Get(base())(t).Skel
	for file, motions := range map[string]string{
		"local-only/Xbot-mixamo.glb":                    "",
		"local-only/Soldier-original-mixamo.glb":        "",
		"quaternius-glb/humans/cyberpunk-Character.glb": "",
		"quaternius-glb/humans/KnightCharacter.glb":     "",
		"kaykit/Adventurers-Knight.glb":                 "",
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ch := must.Get(must.Get(skin.Open(filepath.Join(dir, file)))(t).Character(sk, skin.CharacterOptions{}))(t)
			x := newStreet(t, 1, 1, manifold.StreamOptions{}, onLevel, func(o *animsys.Options) { o.Characters = []*retarget.Character{ch.Bones} })
			e := must.Get(x.people.Spawn(m3.V(1, 0, 2), 0.5))(t)
			must.Do(t, x.people.SetCharacter(e, ch.Bones))
			x.people.Ground.MaxFootAccel = 1e4 // of cartoons
			x.step(60)
			if motions == "" {
				motions = file
			}
			own := ch.Bones
			for _, m := range must.Get(skin.OpenMotions(filepath.Join(dir, motions)))(t) {
				clip := must.Get(ch.Motion(&m))(t)
				play, err := layer.NewOwn(own, clip, layer.ClipOptions{Name: m.Name})
				if err != nil {
					t.Errorf("%s: %v", m.Name, err)
					continue
				}
				must.Do(t, x.people.Play(e, play, layer.PlayOptions{In: -1, Hold: true}))
				at := 0.0
				for n := range 40 { // until a frame is shown exactly
					x.step(1)
					if _, at = x.people.Playing(e, 0); n >= 30 && math.Abs(at*clip.FPS-math.Round(at*clip.FPS)) < 1e-3 {
						break
					}
				}
				f := int(math.Round(at * clip.FPS))
				want := make([]m3.Xform, own.Len())
				clip.Model(want, f)
				var angle, foot float32
				worst := ""
				got, is := x.people.Bones(e), relative(own.Skel, x.people.Bones(e))
				legs := legsOf(own)
				for j, q := range relative(own.Skel, want) {
					if a := q.Angle(is[j]); !legs[j] && own.Skel.Parents[j] >= 0 && a > angle {
						angle, worst = a, own.Skel.Names[j]
					}
				}
				for leg := range own.Legs() {
					j, at := own.Toe(leg)
					foot = max(foot, m3.Abs(got[j].Apply(at).Y-want[j].Apply(at).Y))
				}
				src, turns, made := make([]m3.Xform, sk.Len()), make([]m3.Quat, len(own.Further())), make([]m3.Xform, own.Len())
				own.Invert(src, turns, want)
				own.Pose(made, src, [2]float32{}, nil, turns)
				var ground float32
				for leg := range own.Legs() {
					j, at := own.Toe(leg)
					ground = max(ground, m3.Abs(got[j].Apply(at).Y-made[j].Apply(at).Y)/own.Scale)
				}
				t.Logf("%-20s joints off by %.2g rad (%s), toes by %.1f cm in height, %.1f by the ground", m.Name, angle, worst, 100*foot, 100*ground)
				upright := !strings.Contains(m.Name, "Lie") && !strings.Contains(m.Name, "Sit") && !strings.Contains(m.Name, "Death")
				if angle > 0.02 || upright && ground > 0.13 {
					t.Errorf("%s: joints are off by %g rad (%s), toes by %g m of our size", m.Name, angle, worst, ground)
				}
			}
		})
	}
}

// legsOf says which joints are of legs, or above the hips.
func legsOf(ch *retarget.Character) []bool {
	out := make([]bool, ch.Len())
	for j := range out {
		name := ch.Source().Names[ch.Covers(j)]
		out[j] = isLeg(name) || name == "Hips"
	}
	return out
}
