package resident_test

import (
	"testing"
	"time"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/resident"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/models"
	"mannequin/models/hero"
)

// TestF16: with networks in float16 joints are near the processor's, each tick from the processor's state.
func TestF16(t *testing.T) {
	if inBrowser {
		t.Skip("its software driver is slow, and package webgpu tests networks in float16 there")
	}
	m := must.Get(mann.NewModel(must.Get(models.Open("dog"))(t)))(t)
	l := must.Get(hero.Open())(t).Learned
	for _, of := range []struct {
		name string
		open func(resident.Options) (*resident.Crowd, error)
		goal func(tick int) control.Goal
	}{
		{"dog", func(o resident.Options) (*resident.Crowd, error) { return resident.New(m, o) }, testdog.Tour},
		{"hero", func(o resident.Options) (*resident.Crowd, error) { return resident.NewLearned(l, o) }, func(tick int) control.Goal { return wander(l, tick) }},
	} {
		t.Run(of.name, func(t *testing.T) {
			o := resident.Options{Capacity: 1, Ground: hills(), Timeout: time.Hour}
			cpu := must.Get(of.open(o))(t)
			defer cpu.Close()
			cpu.Break()
			o.F16 = true
			c := must.Get(of.open(o))(t)
			defer c.Close()
			needGPU(t, c)
			for _, c := range []*resident.Crowd{c, cpu} {
				must.Get(c.Add(feature.Place{Pos: m3.V(1, 0, 2)}))(t)
			}
			var sum, most float32
			var a, b []m3.Xform
			others := 0
			const ticks = 200
			for tick := range ticks {
				for _, c := range []*resident.Crowd{c, cpu} {
					must.Do(t, c.SetGoal(0, of.goal(tick)))
					must.Do(t, c.Step())
				}
				is, want := must.Get(c.Packed(0))(t), must.Get(cpu.Packed(0))(t)
				if of.name == "hero" && !samePlay(is, want) {
					others++
				} else {
					a, b = must.Get(c.Bones(a, 0))(t), must.Get(cpu.Bones(b, 0))(t)
					for j := range a {
						d := a[j].Pos.Dist(b[j].Pos)
						sum, most = sum+d/float32(ticks*len(a)), max(most, d)
					}
				}
				must.Do(t, c.Repack(0, want))
			}
			t.Logf("joints are %.2f mm off in the mean, %.1f mm at most; in %d ticks of %d it plays something else", 1000*sum, 1000*most, others, ticks)
			if !(sum < 1e-3 && most < 3e-3) || sum < 3e-6 || others > 5 {
				t.Error("that is too far, or no float16")
			}
		})
	}
}
