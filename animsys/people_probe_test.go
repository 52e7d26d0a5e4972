package animsys_test

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"testing"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/models/human"
	humanfootstep "mannequin/models/human-footstep"
	humanlocomotion "mannequin/models/human-locomotion"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

func TestProbe(t *testing.T) {
	n1, _ := human.Open()
	n2, _ := humanfootstep.Open()
	n3, _ := humanlocomotion.Open()
	m, err := manifold.NewModel(n1)
	if err != nil {
		t.Fatal(err)
	}
	N, _ := strconv.Atoi(os.Getenv("N"))
	if N == 0 {
		N = 8
	}
	its := []int{-1, 2, 4, 10}
	if os.Getenv("IT") != "" {
		v, _ := strconv.Atoi(os.Getenv("IT"))
		its = []int{v}
	}
	for _, slope := range []float32{0, 0.3} {
		for _, it := range its {
			var field *terrain.Field
			if slope == 0 {
				field, _ = terrain.Flat(terrain.Grid{Size: 80, Cell: 0.5})
			} else {
				field, _ = terrain.Hills(terrain.Grid{Size: 80, Cell: 0.5}, terrain.HillsOptions{Seed: 2, MaxSlope: slope, Wavelength: 14})
			}
			w := arche.NewWorld()
			p, err := animsys.NewPeople(&w, m, n2, n3, animsys.PeopleOptions{Capacity: N, Terrain: field, Workers: 2, Stream: manifold.StreamOptions{Iterations: it}})
			if err != nil {
				t.Fatal(err)
			}
			sch, err := ecs.NewSchedule(&w, 1.0/60, animsys.Systems()...)
			if err != nil {
				t.Fatal(err)
			}
			curves := generic.NewMap1[manifold.Curve](&w)
			for i := range N {
				path, _ := control.Circle(3 + float32(i%20))
				start := float32(i) * 7
				at, dir := path.At(start)
				e, err := p.Spawn(at, m3.YawOf(dir))
				if err != nil {
					t.Fatal(err)
				}
				*curves.Get(e) = manifold.Curve{Path: path, Start: start, Speed: []float32{1.4, 1, 3, 1.8}[i%4]}
			}
			var skate, hold, raw, h []float64
			var ticks []float64
			stage := make([]float64, 10)
			var t0 time.Time
			last := -1
			sch.Trace = func(n int) {
				now := time.Now()
				if last >= 0 {
					stage[last] += now.Sub(t0).Seconds() * 1e3
				}
				t0, last = now, n
				if n == 9 {
					last = -1
				}
			}
			tips := []int{m.Skel.Index("LeftToeBase"), m.Skel.Index("RightToeBase"), m.Skel.Index("LeftFoot"), m.Skel.Index("RightFoot")}
			prev := make([][4]m3.Vec3, N)
			T := 900
			clear(stage)
			for tick := range T {
				if tick == 400 {
					clear(stage)
					p.Waits = 0
				}
				begin := time.Now()
				if err := sch.Step(); err != nil {
					t.Fatal(err)
				}
				d := time.Since(begin)
				if os.Getenv("REAL") != "" {
					time.Sleep(time.Second/60 - d)
				}
				if tick < 400 {
					for r := range N {
						for i, j := range tips {
							prev[r][i] = p.Bones(r)[j].Pos
						}
					}
					continue
				}
				ticks = append(ticks, d.Seconds()*1e3)
				for r := range min(N, 8) {
					b := p.Bones(r)
					for i, j := range tips {
						v := float64(b[j].Pos.Sub(prev[r][i]).Len() * 60)
						if i < 2 {
							ft := &p.Ground.Feet[r*2+i]
							if ft.Stands() {
								skate = append(skate, v*100/60)
								held := 0.0
								if ft.Held() {
									held = 1
								}
								hold = append(hold, held)
								h = append(h, float64(b[j].Pos.Y-field.Height(b[j].Pos.X, b[j].Pos.Z)))
							}
						}
						prev[r][i] = b[j].Pos
					}
				}
			}
			mean := func(v []float64) float64 {
				s := 0.0
				for _, x := range v {
					s += x
				}
				return s / float64(len(v))
			}
			q := func(v []float64, p float64) float64 { sort.Float64s(v); return v[int(p*float64(len(v)-1))] }
			_ = raw
			fmt.Printf("slope %.1f it %d: skate cm/frame mean %.3f 90%% %.3f 99%% %.3f; held %.2f; height 1%% %.3f 50%% %.3f 99%% %.3f; tick ms mean %.2f 99%% %.2f max %.2f waits %d\n", slope, it, mean(skate), q(skate, .9), q(skate, .99), mean(hold), q(h, .01), q(h, .5), q(h, .99), mean(ticks), q(ticks, .99), q(ticks, 1), p.Waits)
			for i, n := range sch.Names() {
				fmt.Printf("   %s %.3f", n, stage[i]/float64(T-400))
			}
			fmt.Println()
			sch.Close()
			p.Close()
		}
	}
}
