package remote_test

import (
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/netruntime/remote"
	"mannequin/netruntime/remote/server"
	"mannequin/scenes"
	"mannequin/scenes/open"
)

// Every kind of generator makes the same motion whoever computes its networks.
func TestScenes(t *testing.T) {
	for _, name := range []string{"herd", "people", "latent", "strnn", "interact", "person", "play"} {
		t.Run(name, func(t *testing.T) {
			const ticks = 120
			setup := open.Default(name)
			if name == "person" || name == "play" {
				setup.Character = "hero"
			}
			if name != "play" {
				setup.Agents = 4
			}
			scene := func(o netruntime.Opener) scenes.Scene {
				s, _, err := open.Scene(setup, open.Resources{Net: models.Open, Character: models.OpenCharacter, Open: o, Workers: 2})
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			var nets []*netruntime.Net
			alone := scene(func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
				nets = append(nets, n)
				return n.NewSession(o)
			})
			defer alone.Close()
			_, at, _ := serve(t, "localhost:0", []server.Model{{Name: name, Nets: nets}}, server.Options{Rows: 64, Workers: 2})
			c, log := dial(t, at, remote.Options{})
			s := scene(c.Open)
			defer s.Close()
			wait(t, c)
			before := c.Stats() // runs of the scene's making
			var took [2]time.Duration
			for tick := range ticks {
				for i, scene := range []scenes.Scene{alone, s} {
					from := time.Now()
					must.Do(t, scene.Step(scenes.Input{Forward: 1}))
					took[i] += time.Since(from)
				}
				if s.Hash() != alone.Hash() {
					t.Fatalf("tick %d: the scene differs from the one without a server", tick)
				}
			}
			got := c.Stats()
			t.Logf("%d networks, %+v, a tick takes %v, without a server %v", len(nets), got, took[1]/ticks, took[0]/ticks)
			if got.Remote < 3 || got.Local > before.Local || got.Lost > 0 {
				t.Errorf("%+v, want runs by the server alone\n%v", got, log.lines())
			}
		})
	}
}
