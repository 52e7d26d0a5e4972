package animsys_test

import (
	"math"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Where the network fails a walking dog, by a NaN or by bones far under the
// ground, the dog is back in a good pose before anyone sees it: no joint is
// displaced by more in a tick than walking dogs' are, and a little for easing
// over. The failures are counted, and nobody else's bits change.
func TestFailuresDoNotShow(t *testing.T) {
	net, err := models.Open("dog")
	if err != nil {
		t.Fatal(err)
	}
	m, err := mann.NewModel(net)
	if err != nil {
		t.Fatal(err)
	}
	const dogs, sick = 3, 1
	l := m.Layout
	run := func(spoil func(y []float32, tick int)) (bones [dogs][]m3.Xform, leap float32, restored int) {
		field, err := terrain.Flat(terrain.Grid{Size: 80, Cell: 1})
		if err != nil {
			t.Fatal(err)
		}
		w := arche.NewWorld()
		var c *counter
		controller, err := m.NewController(mann.ControllerOptions{Capacity: dogs, Open: func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
			s, err := n.NewSession(o)
			c = &counter{Session: s}
			return c, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		crowd, err := animsys.NewCrowd(&w, controller, animsys.Options{Ground: field})
		if err != nil {
			t.Fatal(err)
		}
		defer crowd.Close()
		schedule, err := ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...)
		if err != nil {
			t.Fatal(err)
		}
		defer schedule.Close()
		goals := generic.NewMap1[control.Goal](&w)
		for i := range dogs {
			e, err := crowd.Spawn(m3.V(3*float32(i)-3, 0, 0), 0)
			if err != nil {
				t.Fatal(err)
			}
			*goals.Get(e) = control.Goal{Move: m3.V(0, 0, 1), Speed: 1.1}
		}
		tick := 0
		c.spoil = func(y []float32, _ int) error {
			if spoil != nil {
				spoil(y[sick*l.Outputs():(sick+1)*l.Outputs()], tick)
			}
			return nil
		}
		var last []m3.Xform
		for tick = range 420 {
			if err := schedule.Step(); err != nil {
				t.Fatal(err)
			}
			now := crowd.BonesAt(sick)
			for j := range last {
				leap = max(leap, now[j].Pos.Dist(last[j].Pos))
			}
			last = append(last[:0], now...)
			for i := range dogs {
				bones[i] = append(bones[i], crowd.BonesAt(i)...)
			}
		}
		return bones, leap, controller.TotalRestored()
	}
	calm, usual, none := run(nil)
	if none != 0 {
		t.Fatalf("restored %d times without a failure", none)
	}
	spoilt, leap, times := run(func(y []float32, tick int) {
		switch tick {
		case 150:
			y[77] = float32(math.NaN())
		case 300:
			for j := range l.Joints {
				y[l.OutBone(j)+feature.BonePos+1] -= 5
			}
		}
	})
	if times != 2 {
		t.Errorf("restored %d times, want twice", times)
	}
	if leap > 1.5*usual {
		t.Errorf("a joint is displaced by %g m in a tick, in a walk by %g", leap, usual)
	}
	for i := range dogs {
		if i == sick {
			continue
		}
		for k := range calm[i] {
			if calm[i][k] != spoilt[i][k] {
				t.Fatalf("dog %d, tick %d: its neighbour's failure changed it", i, k/m.Skel.Len())
			}
		}
	}
}
