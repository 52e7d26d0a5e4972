package remote_test

import (
	"testing"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/models/dog"
	"mannequin/netruntime"
	"mannequin/netruntime/remote"
	"mannequin/netruntime/remote/server"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// pack returns a crowd of trotting dogs and its schedule.
func pack(t *testing.T, dogs int, open netruntime.Opener) (*animsys.Crowd, *ecs.Schedule) {
	world := arche.NewWorld()
	model := must.Get(mann.NewModel(must.Get(dog.Open())(t)))(t)
	crowd := must.Get(animsys.NewCrowd(&world, must.Get(model.NewController(mann.ControllerOptions{Capacity: dogs, Open: open}))(t), animsys.Options{Ground: ik.Level(0)}))(t)
	schedule := must.Get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	t.Cleanup(func() { schedule.Close(); crowd.Close() })
	goals := generic.NewMap1[control.Goal](&world)
	for i := range dogs {
		*goals.Get(must.Get(crowd.Spawn(m3.V(3*float32(i), 0, 0), 0))(t)) = control.Goal{Move: m3.V(0, 0, 1), Speed: control.TrotSpeed}
	}
	return crowd, schedule
}

// A crowd has the same state in each tick whoever computes its network, also while the server is killed
// and comes back.
func TestTicks(t *testing.T) {
	const dogs, ticks = 12, 150
	dogOnly := served(must.Get(dog.Open())(t))
	_, at, stop := serve(t, "localhost:0", dogOnly, server.Options{})
	c, _ := dial(t, at, remote.Options{Deadline: time.Second})
	crowd, schedule := pack(t, dogs, c.Open)
	alone, steps := pack(t, dogs, nil)
	wait(t, c)
	for tick := range ticks {
		switch tick {
		case 50:
			stop()
		case 100:
			serve(t, at, dogOnly, server.Options{})
			wait(t, c)
		}
		must.Do(t, schedule.Step())
		must.Do(t, steps.Step())
		if crowd.Hash() != alone.Hash() {
			t.Fatalf("tick %d: the crowd differs from the one without a server", tick)
		}
	}
	if got := c.Stats(); got.Lost != 1 || got.Remote < 95 || got.Local < 45 || got.Remote+got.Local < ticks {
		t.Errorf("%+v: want about a hundred ticks by the server and fifty by the processor", got)
	}
}
