package resident_test

import (
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/animsys/resident"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/models/hero"
	"mannequin/netruntime/webgpu"
	"mannequin/terrain"
)

// deck is ground of a game.
type deck struct{ ik.Level }

func TestMisuse(t *testing.T) {
	goOnly(t)
	m := testdog.Model(t)
	for what, o := range map[string]resident.Options{
		"Capacity is 0":     {Ground: ik.Level(0)},
		"Every is -1":       {Capacity: 1, Ground: ik.Level(0), Every: -1},
		"Workers is -1":     {Capacity: 1, Ground: ik.Level(0), Workers: -1},
		"Ground is missing": {Capacity: 1},
		"Ground is a":       {Capacity: 1, Ground: deck{}},
		"nodes":             {Capacity: 1, Ground: new(terrain.Field)},
		"Bind has 3 joints": {Capacity: 1, Ground: ik.Level(0), Bind: make([]m3.Xform, 3)},
		"Roles.Spine":       {Capacity: 1, Ground: ik.Level(0), Roles: &ik.Roles{}},
		"want at least 1":   {Capacity: -5, Ground: ik.Level(0)},
		"9223372036854775807: want at least 1, at most 1048576": {Capacity: math.MaxInt, Ground: ik.Level(0)},
		"Every is 3601":       {Capacity: 1, Ground: ik.Level(0), Every: resident.MaxEvery + 1},
		"Options.Every is -7": {Capacity: 1, Ground: ik.Level(0), Every: -7},
	} {
		if _, err := resident.New(m, o); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := resident.New(&mann.Model{}, resident.Options{Capacity: 1, Ground: ik.Level(0)}); err == nil {
		t.Error("a model without a network: no error")
	}
	person := must.Get(hero.Open())(t).Learned
	for _, l := range []*matching.Learned{nil, {}} {
		if _, err := resident.NewLearned(l, resident.Options{Capacity: 1, Ground: ik.Level(0)}); err == nil {
			t.Error("a character without networks: no error")
		}
	}
	if _, err := resident.NewLearned(person, resident.Options{Capacity: 1, Ground: ik.Level(0), Bind: make([]m3.Xform, 3)}); err == nil {
		t.Error("three joints of a person: no error")
	}
	c := must.Get(resident.New(m, resident.Options{Capacity: 2, Ground: ik.Level(1), Log: slog.New(slog.DiscardHandler)}))(t)
	agent := must.Get(c.Add(feature.Place{Pos: m3.V(1, 0, 2)}))(t)
	var st generator.State
	path := control.Goal{Path: must.Get(control.Circle(5))(t)}
	refused := func(c *resident.Crowd, what string, agent int) {
		t.Helper()
		for call, err := range map[string]error{"SetGoal": c.SetGoal(agent, control.Goal{}), "Remove": c.Remove(agent), "Save": c.Save(&st, agent),
			"Bones": second(c.Bones(nil, agent)), "Skin": second(c.Skin(&resident.Mesh{}, agent))} {
			if err == nil || !strings.HasPrefix(err.Error(), "resident: ") {
				t.Errorf("%s: %s: %v", what, call, err)
			}
		}
		if c.Root(agent) != (resident.Root{}) || c.Has(agent) || c.Goal(agent) != (control.Goal{}) {
			t.Error(what, ": there is an agent")
		}
	}
	refused(c, "an agent that is not there", 1)
	refused(c, "a number below 0", -1)
	refused(c, "a number beyond all", 2)
	if c.SetGoal(agent, path) == nil {
		t.Error("a path is a goal")
	}
	// The state of one that follows a path.
	dogs := must.Get(m.NewController(mann.ControllerOptions{Capacity: 1, Workers: 1}))(t)
	defer dogs.Close()
	must.Get(dogs.Add(feature.Place{}, &path))(t)
	dogs.Save(&st, 0)
	if _, err := c.Adopt(&st, m3.Vec3{}); err == nil || !strings.Contains(err.Error(), "Path") {
		t.Error("who follows a path: ", err)
	}
	st.Data = st.Data[:len(st.Data)/3]
	if _, err := c.Adopt(&st, m3.Vec3{}); err == nil {
		t.Error("half a state is taken")
	}
	// The state of a person, and a dog's among people.
	people := must.Get(resident.NewLearned(person, resident.Options{Capacity: 1, Ground: ik.Level(1), Log: slog.New(slog.DiscardHandler)}))(t)
	defer people.Close()
	must.Do(t, people.Save(&st, must.Get(people.Add(feature.Place{}))(t)))
	if _, err := c.Adopt(&st, m3.Vec3{}); err == nil {
		t.Error("a person is a dog")
	}
	// What is left to be eased is none, or is not all.
	for range 2 {
		must.Do(t, people.Step())
	}
	must.Do(t, people.Save(&st, 0))
	must.Do(t, people.Remove(0))
	whole := slices.Clone(st.Data)
	for what, data := range map[string][]byte{
		"finite":    append(slices.Clone(whole[:len(whole)-4]), 0, 0, 0xc0, 0x7f),
		"ends":      whole[:len(whole)-1],
		"goes on":   append(slices.Clone(whole), 0),
		"too large": append(slices.Clone(whole[:len(whole)-4]), 0, 0, 0, 0x7f),
	} {
		st.Data = data
		if _, err := people.Adopt(&st, m3.Vec3{}); err == nil || !strings.HasPrefix(err.Error(), "resident: ") || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	st.Data = whole
	must.Get(people.Adopt(&st, m3.Vec3{}))(t)
	if people.SetGoal(0, path) == nil {
		t.Error("a path is a goal of people")
	}
	must.Do(t, people.Remove(0))
	must.Do(t, c.Save(&st, agent))
	if _, err := people.Adopt(&st, m3.Vec3{}); err == nil {
		t.Error("a dog is a person")
	}
	for _, x := range []float32{float32(math.NaN()), float32(math.Inf(1)), 1e30} {
		if _, err := c.Add(feature.Place{Pos: m3.V(x, 0, 0)}); err == nil || !strings.Contains(err.Error(), "finite") {
			t.Error("a dog at ", x, ": ", err)
		}
		if _, err := people.Add(feature.Place{Pos: m3.V(0, 0, -x)}); err == nil || !strings.Contains(err.Error(), "finite") {
			t.Error("a person at ", x, ": ", err)
		}
		if _, err := c.Adopt(&st, m3.V(0, 0, x)); err == nil || !strings.Contains(err.Error(), "finite") {
			t.Error("an origin at ", x, ": ", err)
		}
	}
	for call, err := range map[string]error{"Save": c.Save(nil, agent), "Adopt": second(c.Adopt(nil, m3.Vec3{}))} {
		if err == nil || !strings.Contains(err.Error(), "state is nil") {
			t.Errorf("%s of a nil state: %v", call, err)
		}
	}
	must.Get(c.Add(feature.Place{}))(t)
	if _, err := c.Add(feature.Place{}); err == nil || !strings.Contains(err.Error(), "taken") {
		t.Error("a third agent of two: ", err)
	}
	must.Do(t, c.Step())
	if r := c.Root(agent); r.At.Pos.Dist(m3.V(1, 0, 2)) > 0.1 || !(m3.Abs(r.Hips-1.47) < 0.1) {
		t.Errorf("it is at %+v", r)
	}
	if err := c.Room(1 << 16); err == nil || !strings.Contains(err.Error(), "65535") {
		t.Error("a launch of 65,536 workgroups: ", err)
	}
	must.Do(t, c.Close())
	must.Do(t, c.Close())
	for what, c := range map[string]*resident.Crowd{"closed": c, "zero": {}} {
		refused(c, what, 1)
		if c.Step() == nil || second(c.Add(feature.Place{})) == nil || second(c.Adopt(&st, m3.Vec3{})) == nil || c.Close() != nil {
			t.Error(what, ": no error")
		}
	}
}

// Without a GPU the agents are the processor's, with the bits of mann.
func TestProcessor(t *testing.T) {
	if _, err := webgpu.Device(); err == nil {
		t.Skip("there is a GPU")
	}
	m := testdog.Model(t)
	c := must.Get(resident.New(m, resident.Options{Capacity: 3, Ground: hills(), Log: slog.New(slog.DiscardHandler)}))(t)
	defer c.Close()
	dogs := must.Get(m.NewController(mann.ControllerOptions{Capacity: 1, Workers: 1}))(t)
	defer dogs.Close()
	at := feature.Place{Pos: m3.V(2, 0, 1), Yaw: 2}
	must.Get(dogs.Add(at, nil))(t)
	must.Get(c.Add(feature.Place{}))(t)
	must.Get(c.Add(at))(t)
	for tick := range 90 {
		must.Do(t, c.SetGoal(1, testdog.Tour(5*tick)))
		must.Do(t, c.Step())
		dogs.Controls()[0] = testdog.Tour(5 * tick)
		dogs.Select([]uint8{1})
		dogs.Plan(0, 1)
		dogs.Gather(0, 1)
		must.Do(t, dogs.Infer())
		dogs.Scatter(0, 1)
		if r := c.Root(1); r.At != dogs.Root(0) || r.Velocity != dogs.Velocity(0) {
			t.Fatal("tick ", tick, ": ", r, ", want ", dogs.Root(0))
		}
	}
	if d := dogs.Root(0).Pos.Dist(at.Pos); d == 0 || c.Device() != "" || c.Matrices() != nil {
		t.Error("it has come ", d, " m far, on ", c.Device())
	}
	if _, err := c.NewMesh(nil, 1); !errors.Is(err, webgpu.ErrLost) {
		t.Error("a mesh without a GPU: ", err)
	}
}
