package mannequin_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/keypose"
	"mannequin/animsys/keypose/routines"
	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/models/person"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// Values as games have them take extreme numbers in every method, and close after that. Closed values
// take them as well. Rows and joints are 0: others are the caller's indices, as of slices.
func TestLiveValues(t *testing.T) {
	predictor := must.Get(models.OpenAs("human-strnn", strnn.NewModel))(t)
	clips := must.Get(models.OpenAs("human-latent", latent.NewModel))(t)
	next := must.Get(models.Open("human-next"))(t)
	poses := must.Get(models.OpenAs("human-keypose", keypose.NewModel))(t)
	author := must.Get(routines.NewAuthor(poses.Layout, 1))(t)
	loop := must.Get(author.Write("wave"))(t)
	dogs := must.Get(models.OpenAs("dog", mann.NewModel))(t)
	walkers := must.Get(person.Open())(t)
	w := arche.NewWorld()
	crowd := must.Get(animsys.NewCrowd(&w, must.Get(dogs.NewController(mann.ControllerOptions{Capacity: 2}))(t), animsys.Options{Ground: ik.Level(0)}))(t)
	must.Get(crowd.Spawn(m3.Vec3{}, 0))(t)
	rows := ecs.NewRows(&w, 2)
	must.Get(rows.Add(w.NewEntity()))(t)
	steps := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	steps.Trace = func(int) {}
	obstacles := &control.Obstacles{}
	must.Do(t, obstacles.Set(control.Pillar(m3.V(1, 0, 1), 1), control.Wall(m3.V(-3, 0, 0), m3.V(3, 0, 2), 0.2)))

	args[reflect.TypeFor[int]()] = func() any { return 0 }
	defer delete(args, reflect.TypeFor[int]())
	for _, v := range []any{
		inhabited(t, must.Get(dogs.NewController(mann.ControllerOptions{Capacity: 2}))(t), control.Goal{Speed: 1, Action: control.Move}),
		inhabited(t, must.Get(walkers.NewStream(manifold.StreamOptions{Capacity: 2}))(t), manifold.Curve{}),
		inhabited(t, must.Get(clips.NewStream(next, latent.StreamOptions{Capacity: 2}))(t), latent.Sliders{}),
		inhabited(t, must.Get(predictor.NewStream(strnn.StreamOptions{Capacity: 2}))(t), strnn.Steer{}),
		inhabited(t, must.Get(poses.NewStream(keypose.StreamOptions{Capacity: 2}))(t), keypose.Performance{Loop: loop}),
		crowd, rows, steps, crowd.Inertial, crowd.Skel, loop, clips.Components,
		must.Get(control.Circle(5))(t), control.NewWander(2, 1), obstacles, must.Get(control.NewFlow(-5, -5, 5, 5, 1, m3.Vec3{}, nil))(t),
		must.Get(terrain.Flat(terrain.Grid{Size: 10, Cell: 1}))(t),
	} {
		live(t, v)
		if c, ok := v.(interface{ Close() error }); ok {
			for range 2 {
				must.Do(t, c.Close())
			}
			live(t, v)
		}
	}
}

// live tries all methods of v, except those that close it, that remove its agent, and that need the
// poses of a crowd.
func live(t *testing.T, v any) {
	val := reflect.ValueOf(v)
	name := strings.TrimPrefix(val.Type().Elem().PkgPath(), module+"/") + "." + val.Type().Elem().Name()
	for i := range val.NumMethod() {
		m := val.Type().Method(i)
		if slices.Contains([]string{"Close", "Remove", "Pose"}, m.Name) || excused[name+"."+m.Name] != "" {
			continue
		}
		try(t, name+"."+m.Name, m.Func, val)
	}
}

// Preview ends, whatever the distance of the places.
func TestPreview(t *testing.T) {
	streams := []interface {
		Preview(dst []feature.Place, row, n int) []feature.Place
	}{
		inhabited(t, must.Get(must.Get(person.Open())(t).NewStream(manifold.StreamOptions{Capacity: 1}))(t), manifold.Curve{}),
		inhabited(t, must.Get(must.Get(models.OpenAs("human-strnn", strnn.NewModel))(t).NewStream(strnn.StreamOptions{Capacity: 1}))(t), strnn.Steer{}),
		inhabited(t, must.Get(must.Get(models.OpenAs("human-latent", latent.NewModel))(t).NewStream(must.Get(models.Open("human-next"))(t), latent.StreamOptions{Capacity: 1}))(t), latent.Sliders{}),
	}
	for _, s := range streams {
		all := len(s.Preview(nil, 0, 1))
		for n, want := range map[int]int{-1: all, 0: all, math.MinInt: all, math.MaxInt: 0} {
			if got := len(s.Preview(nil, 0, n)); all == 0 || got != want {
				t.Errorf("%T: %d places every %d frames, want %d", s, got, n, want)
			}
		}
	}
}

// inhabited returns g with an agent.
func inhabited[C any, G generator.Generator[C]](t *testing.T, g G, c C) G {
	must.Get(g.Add(feature.Place{}, &c))(t)
	return g
}
