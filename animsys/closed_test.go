package animsys_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/generator"
	"mannequin/animsys/keypose"
	"mannequin/animsys/layer"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"

	arche "github.com/mlange-42/arche/ecs"
)

// What each method of a crowd gives that is closed or was not made by NewCrowd: an error, or what it
// gives for an entity or a row that are not in a crowd. e was an agent in row 0, and may be in another crowd.
var ofNoCrowd = map[string]func(c *animsys.Crowd, e arche.Entity) (got, want any){
	"Close":   func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return c.Close(), nil },
	"Spawn":   func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return refused(second(c.Spawn(m3.Vec3{}, 0))) },
	"Add":     func(c *animsys.Crowd, e arche.Entity) (got, want any) { return refused(c.Add(e, m3.Vec3{}, 0)) },
	"Despawn": func(c *animsys.Crowd, e arche.Entity) (got, want any) { return refused(c.Despawn(e)) },
	"Place":   func(c *animsys.Crowd, e arche.Entity) (got, want any) { return refused(c.Place(e, m3.Vec3{}, 0)) },
	"Nudge":   func(c *animsys.Crowd, e arche.Entity) (got, want any) { return refused(c.Nudge(e, m3.V(1, 0, 0))) },
	"SetUpdateRate": func(c *animsys.Crowd, e arche.Entity) (got, want any) {
		return refused(c.SetUpdateRate(e, animsys.Every2))
	},
	"Play": func(c *animsys.Crowd, e arche.Entity) (got, want any) {
		return refused(c.Play(e, &layer.Clip{}, layer.PlayOptions{}))
	},
	"Stop":     func(c *animsys.Crowd, e arche.Entity) (got, want any) { return refused(c.Stop(e, 0, 0)) },
	"SetLayer": func(c *animsys.Crowd, e arche.Entity) (got, want any) { return refused(c.SetLayer(e, 0, 1, 1)) },
	"TakePose": func(c *animsys.Crowd, e arche.Entity) (got, want any) {
		return refused(second(c.TakePose(e, &keypose.Inbetweener{}, animsys.PoseTarget{})))
	},
	"CanReach": func(c *animsys.Crowd, e arche.Entity) (got, want any) {
		return refused(c.CanReach(e, animsys.Left, m3.Vec3{}, 1))
	},
	"PoseOf": func(c *animsys.Crowd, e arche.Entity) (got, want any) {
		p := c.PoseOf(e)
		return len(p.Pos) + len(p.Rot), 0
	},
	"CanStep": func(c *animsys.Crowd, e arche.Entity) (got, want any) {
		return refused(c.CanStep(e, animsys.Left, m3.Vec3{}, 1))
	},
	"Save":    func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return refused(second(c.Save(nil))) },
	"Restore": func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return refused(c.Restore(nil)) },
	"SaveAgents": func(c *animsys.Crowd, e arche.Entity) (got, want any) {
		return refused(second(c.SaveAgents(nil, e)))
	},
	"SaveMotion": func(c *animsys.Crowd, e arche.Entity) (got, want any) {
		return refused(second(c.SaveMotion(new(generator.State), e)))
	},
	"SpawnSaved": func(c *animsys.Crowd, _ arche.Entity) (got, want any) {
		return refused(second(c.SpawnSaved(new(generator.State), m3.Vec3{})))
	},
	"AddSaved": func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return refused(second(c.AddSaved(nil, nil))) },

	"Agents":     func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return c.Agents(), 0 },
	"Capacity":   func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return c.Capacity(), 0 },
	"OutOfRange": func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return c.OutOfRange(), 0 },
	"Hash":       func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return c.Hash(), new(animsys.Crowd).Hash() },
	"Events":     func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return len(c.Events()), 0 },
	"Row": func(c *animsys.Crowd, e arche.Entity) (got, want any) {
		row, ok := c.Row(e)
		return []any{row, ok}, []any{0, false}
	},
	"Entity":       func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return c.Entity(0), arche.Entity{} },
	"Bones":        func(c *animsys.Crowd, e arche.Entity) (got, want any) { return len(c.Bones(e)), 0 },
	"BonesAt":      func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return len(c.BonesAt(0)), 0 },
	"Root":         func(c *animsys.Crowd, e arche.Entity) (got, want any) { return c.Root(e), m3.Xform{} },
	"Anchor":       func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return c.Anchor(0), m3.Vec3{} },
	"UpdateRateAt": func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return c.UpdateRateAt(0), animsys.Frozen },
	"RootMotion": func(c *animsys.Crowd, e arche.Entity) (got, want any) {
		from, to := c.RootMotion(e)
		return []any{from, to}, []any{m3.Xform{}, m3.Xform{}}
	},
	"Playing": func(c *animsys.Crowd, e arche.Entity) (got, want any) {
		clip, at := c.Playing(e, 0)
		return []any{clip == nil, at}, []any{true, 0.0}
	},
	"Interpolate": func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return len(c.Interpolate(nil, 0.5)), 0 },
	"InterpolateFrom": func(c *animsys.Crowd, _ arche.Entity) (got, want any) {
		return len(c.InterpolateFrom(make([]m3.Xform, 5), 0.5, m3.V(1, 2, 3))), 0
	},
	"Character":    func(c *animsys.Crowd, e arche.Entity) (got, want any) { return c.Character(e) == nil, true },
	"SetCharacter": func(c *animsys.Crowd, e arche.Entity) (got, want any) { return refused(c.SetCharacter(e, nil)) },
	"InterpolateCharacter": func(c *animsys.Crowd, _ arche.Entity) (got, want any) {
		return len(c.InterpolateCharacter(nil, nil, 0.5, m3.Vec3{})), 0
	},
	"WithCharacter": func(c *animsys.Crowd, _ arche.Entity) (got, want any) { return len(c.WithCharacter(nil, nil)), 0 },
	"Published": func(c *animsys.Crowd, _ arche.Entity) (got, want any) {
		last, now := c.Published()
		return len(last), len(now)
	},
	"ApplyLOD": func(c *animsys.Crowd, _ arche.Entity) (got, want any) {
		c.ApplyLOD(&animsys.LODPolicy{}, m3.Vec3{}, m3.Vec3{}, 0)
		return nil, nil
	},
}

// refused wants an error that names the package.
func refused(err error) (got, want any) {
	if err == nil || !strings.HasPrefix(err.Error(), "animsys: ") {
		return err, "an error"
	}
	return nil, nil
}

// ofFields are methods of generator.Poses, whose fields a crowd has, and of these tests.
var ofFields = []string{"Joints", "Pose", "Put", "Reanchor", "WantedRate", "LayersState"}

func TestClosedAndZeroCrowds(t *testing.T) {
	methods := reflect.TypeFor[*animsys.Crowd]()
	for i := range methods.NumMethod() {
		if name := methods.Method(i).Name; ofNoCrowd[name] == nil && !slices.Contains(ofFields, name) {
			t.Errorf("%s is missing in ofNoCrowd", name)
		}
	}
	closed := newWorld(t, 3, 2)
	e := closed.spawn(0)
	clip, _ := gesture(t, closed.crowd.Skel, 0.7)
	must.Do(t, closed.crowd.Play(e, clip, layer.PlayOptions{}))
	for ticks := 0; len(closed.crowd.Events()) == 0; ticks++ {
		if closed.step(); ticks > 300 {
			t.Fatal("no event")
		}
	}
	must.Do(t, closed.crowd.Close())
	reset := newWorld(t, 3, 1)
	reset.spawn(0)
	reset.ecs.Reset()
	// Another crowd has the same entity in the same row.
	dogs := must.Get(testdog.Model(t).NewController(mann.ControllerOptions{Capacity: 1}))(t)
	next := must.Get(animsys.NewCrowd(&reset.ecs, dogs, animsys.Options{Ground: ik.Level(0)}))(t)
	defer next.Close()
	is := must.Get(next.Spawn(m3.V(1, 0, 2), 0))(t)
	must.Do(t, reset.crowd.Close())
	sum := next.Hash()
	for what, c := range map[string]struct {
		*animsys.Crowd
		arche.Entity
	}{"closed": {closed.crowd, e}, "closed after a reset": {reset.crowd, is}, "zero": {new(animsys.Crowd), e}} {
		for name, call := range ofNoCrowd {
			if got, want := call(c.Crowd, c.Entity); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s gives %v, want %v", what, name, got, want)
			}
		}
	}
	if _, ok := next.Row(is); !ok || next.Hash() != sum {
		t.Error("calls of a closed crowd have changed another")
	}
	must.Do(t, next.Despawn(is))
	must.Do(t, closed.schedule.Step())
}
