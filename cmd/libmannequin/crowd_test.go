package main_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	dogfree "mannequin/models/dog-free"
	"mannequin/models/hero"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

const callLimit = 1000 // ns

// A crowd has the same bits from C and from Go, and takes about as long. MANNEQUIN_SECONDS and MANNEQUIN_AGENTS make it larger.
func TestSameBits(t *testing.T) {
	lib := library(t, plain)
	program := compile(t, lib, "testdata/crowd.c", "-O2")
	seconds, agents := 4, 40
	for name, v := range map[string]*int{"MANNEQUIN_SECONDS": &seconds, "MANNEQUIN_AGENTS": &agents} {
		if s := os.Getenv(name); s != "" {
			*v = must.Get(strconv.Atoi(s))(t)
		}
	}
	for _, c := range []struct {
		name, file string
		stream     func() (generator.Generator[control.Goal], error)
	}{
		{"dog", dogFile, func() (generator.Generator[control.Goal], error) {
			return must.Get(mann.NewModel(must.Get(dogfree.Open())(t)))(t).NewController(mann.ControllerOptions{Capacity: agents})
		}},
		{"hero", heroFile, func() (generator.Generator[control.Goal], error) {
			return must.Get(hero.Open())(t).NewStream(matching.StreamOptions{Capacity: agents})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ticks := seconds * animsys.TickRate
			k := startTicker(t, program, c.file, agents, ticks, animsys.TickRate)
			w := arche.NewWorld()
			crowd := must.Get(animsys.NewCrowd(&w, must.Get(c.stream())(t), animsys.Options{Ground: ik.Level(0)}))(t)
			defer crowd.Close()
			schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
			goals := generic.NewMap1[control.Goal](&w)
			for i := range agents {
				must.Get(crowd.Spawn(m3.V(2*float32(i%32), 0, 2*float32(i/32)), 0.1*float32(i)))(t)
			}
			var bones []m3.Xform
			var inC, inGo float64
			for second := range seconds {
				var hash string
				var spent float64
				must.Get(fmt.Fscan(k.out, &hash, &spent))(t)
				inC += spent
				began := time.Now()
				for tick := second * animsys.TickRate; tick < (second+1)*animsys.TickRate; tick++ {
					for i := range agents {
						*goals.Get(crowd.Entity(i)) = control.Goal{Move: m3.V(0, 0, 1), Turn: float32((tick/60+i)%5-2) * 0.25, Speed: float32(i%4) * 0.8}
					}
					must.Do(t, schedule.Step())
					bones = crowd.Interpolate(bones, 1)
				}
				inGo += time.Since(began).Seconds()
				if own := fmt.Sprintf("%016x", crowd.Hash()); own != hash {
					t.Fatalf("after %d s the hash is %s in C and %s in Go", second+1, hash, own)
				}
				must.Get(fmt.Fprintln(k.in))(t)
			}
			var what string
			var call int
			must.Get(fmt.Fscan(k.out, &what, &call))(t)
			if what != "call" || call > callLimit {
				t.Errorf("a call takes %d ns, want at most %d", call, callLimit)
			}
			t.Logf("%d agents, %d s: %.2f s in C, %.2f s in Go: %.3f times; a call takes %d ns", agents, seconds, inC, inGo, inC/inGo, call)
			if long && inC > 1.03*inGo {
				t.Errorf("C takes %.3f times as long as Go", inC/inGo)
			}
		})
	}
}
