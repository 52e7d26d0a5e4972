package animsys_test

import (
	"reflect"
	"slices"
	"testing"

	"mannequin/animsys"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/testing/extreme"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	stylesfree "mannequin/models/styles-free"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// spoil sets all numbers of one component of e to x, which e has from then on.
func spoil[T any](w *arche.World, e arche.Entity, x float64) {
	var v T
	extreme.Made{}.Fill(reflect.ValueOf(&v).Elem(), x)
	components := generic.NewMap1[T](w)
	if components.Get(e) == nil {
		components.Add(e)
	}
	*components.Get(e) = v
}

// mend removes all that spoil has added.
func mend(w *arche.World, e arche.Entity) {
	look, reach := generic.NewMap1[ecs.LookAt](w), generic.NewMap1[ecs.Reach](w)
	mar, gram := generic.NewMap1[ecs.MARStyle](w), generic.NewMap1[ecs.GramStyle](w)
	look.Remove(e)
	reach.Remove(e)
	mar.Remove(e)
	gram.Remove(e)
}

// extremeAt returns an extreme number, another one every few ticks.
func extremeAt(tick int) float64 { return extreme.Numbers[tick/7%len(extreme.Numbers)] }

// Extreme numbers in all fields of one agent's components change no bit of others, give it finite
// bones, and leave it sound: it moves, and stands on the ground.
func TestConformanceExtremes(t *testing.T) {
	race.Single(t)
	const from, to, ticks = 30, 240, 350
	forAll(t, func(t *testing.T, k kind) {
		styled := func(o *animsys.Options) {}
		if k.name == "manifold" {
			styles := must.Get(stylesfree.Open())(t)
			styled = func(o *animsys.Options) { o.Styles, o.Known = styles, styles.InStyle("neutral") }
		}
		track := func(broken bool) (out [][]m3.Xform) {
			s := k.scene(t, 3, 2, styled)
			all := s.run(0, 0, 1, 2)
			for tick := range ticks {
				for i, e := range all {
					s.control(e, i, tick)
				}
				if x := extremeAt(tick); broken && tick >= from && tick < to {
					s.broken(all[1], x)
					spoil[ecs.LookAt](&s.ecs, all[1], x)
					spoil[ecs.Reach](&s.ecs, all[1], x)
					spoil[ecs.MARStyle](&s.ecs, all[1], x)
					spoil[ecs.GramStyle](&s.ecs, all[1], x)
				} else if broken && tick == to {
					mend(&s.ecs, all[1])
				}
				s.step(1)
				s.finite()
				out = append(out, slices.Concat(s.bones(all[0]), s.bones(all[2])))
			}
			before := slices.Clone(s.bones(all[1]))
			s.play(all, numbers(3), ticks, ticks+30, nil)
			s.standing(all[1])
			if slices.Equal(before, s.bones(all[1])) {
				t.Error("the agent does not move")
			}
			return out
		}
		same(t, "beside a sound agent and one of extremes", track(false), track(true))
	})
}

// standing fails unless the root joint of e is above the ground, up to two metres.
func (s *scene) standing(e arche.Entity) {
	s.t.Helper()
	if at := s.bones(e)[0].Pos; !(m3.Abs(at.Y-s.people.Ground.Ground.Height(at.X, at.Z)-1) < 1) {
		s.t.Errorf("%v is at %v, where the ground is at %g", e, at, s.people.Ground.Ground.Height(at.X, at.Z))
	}
}

// Extreme heights of the ground and settings of a crowd give finite bones. After they are mended,
// all agents are soon where they would be without them.
func TestConformanceMended(t *testing.T) {
	const agents, from, each, ticks = 3, 40, 25, 375
	all := append(slices.Clone(extreme.Numbers), -1) // without a NaN after it, which the solver forgets
	type breaks func(c *animsys.Crowd, f *terrain.Field, x float64)
	forAll(t, func(t *testing.T, k kind) {
		track := func(broken breaks) []m3.Xform {
			s := k.scene(t, agents, 2, func(o *animsys.Options) {
				field := *o.Ground.(*terrain.Field)
				field.Y = slices.Clone(field.Y)
				o.Ground = &field
			})
			field := s.people.Ground.Ground.(*terrain.Field)
			ground, inertial, heights := s.people.Ground, *s.people.Inertial, slices.Clone(field.Y)
			who := s.run(0, numbers(agents)...)
			for tick := range ticks {
				i := (tick - from) / each
				if tick >= from && i < len(all) && (tick-from)%each < each-5 {
					broken(s.people, field, all[i])
				} else {
					s.people.Ground, *s.people.Inertial = ground, inertial
					copy(field.Y, heights)
				}
				s.play(who, numbers(agents), tick, tick+1, nil)
				s.finite()
			}
			_, bones := s.people.Published()
			return slices.Clone(bones)
		}
		calm := track(func(*animsys.Crowd, *terrain.Field, float64) {})
		for what, broken := range map[string]breaks{
			"heights": func(_ *animsys.Crowd, f *terrain.Field, x float64) {
				for i := range f.Y {
					f.Y[i] = float32(x) * float32(1-i%2*2)
				}
			},
			"settings of the solver": func(c *animsys.Crowd, _ *terrain.Field, x float64) {
				extreme.Made{}.Fill(reflect.ValueOf(&c.Ground).Elem(), x)
			},
			"settings of inertialization": func(c *animsys.Crowd, _ *terrain.Field, x float64) {
				extreme.Made{}.Fill(reflect.ValueOf(c.Inertial).Elem(), x)
			},
		} {
			for i, bone := range track(broken) {
				if d := bone.Pos.Dist(calm[i].Pos); !(d < 0.02) {
					t.Errorf("joint %d is %g m off after extreme %s", i, d, what)
					break
				}
			}
		}
	})
}
