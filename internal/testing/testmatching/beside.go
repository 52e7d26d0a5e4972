package testmatching

import (
	"slices"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	"mannequin/netruntime"
)

// tour is what an agent is asked for, two seconds each.
func tour(row, tick int) control.Goal {
	ahead := m3.V(0, 0, 1)
	goals := [...]control.Goal{
		{Move: ahead, Speed: 1.4}, {Move: ahead, Speed: 3.5, Turn: 0.5}, {}, {Move: m3.V(1, 0, 0), Face: ahead, Speed: 1.2}, {Action: control.Jump, Move: ahead, Speed: 2},
		{Action: control.Sit}, {Move: ahead.Neg(), Speed: 2},
	}
	return goals[(3*row+tick/120)%len(goals)]
}

// Beside plays what a file's agents do on tours, with networks on the processor and on a device, and begins each tick of the
// device in the processor's state. It returns how far a joint is off at most in each tick, m. before is called before the device's ticks.
func Beside(t testing.TB, f *matching.File, device netruntime.Opener, ticks int, before func(tick int)) []float32 {
	t.Helper()
	const agents = 3
	sk := f.Character().Skel
	joints := sk.Len()
	open := func(o netruntime.Opener) (matching.Player, *testgen.Player[control.Goal]) {
		s := must.Get(f.NewStream(matching.StreamOptions{Capacity: agents, Workers: 2, Open: o}))(t)
		t.Cleanup(func() { must.Do(t, s.Close()) })
		return s, testgen.Play[control.Goal](s, joints)
	}
	cpu, want := open(nil)
	gpu, got := open(device)
	for row := range agents {
		at := feature.Place{Pos: m3.V(3*float32(row), 0, 0)}
		must.Get(cpu.Add(at, nil))(t)
		must.Get(gpu.Add(at, nil))(t)
	}
	bones := func(p *generator.Poses, row int) []m3.Xform {
		pose := make([]m3.Xform, joints)
		pos, rot := p.Joints(row, joints)
		sk.LocalToModel(pose, pos, rot)
		return pose
	}
	var st generator.State
	off := make([]float32, ticks)
	var shown [2][]m3.Vec3
	for tick := range ticks {
		for row := range agents {
			cpu.Controls()[row] = tour(row, tick)
		}
		st.Reset()
		for row := range agents {
			cpu.Save(&st, row)
			gpu.Remove(0)
		}
		st.Rewind()
		for range agents {
			must.Get(gpu.Restore(&st))(t)
		}
		must.Do(t, want.Tick(agents))
		if before != nil {
			before(tick)
		}
		must.Do(t, got.Tick(agents))
		for row := range agents {
			a, b := bones(got.Poses(), row), bones(want.Poses(), row)
			for j := range b {
				if d := a[j].Pos.Dist(b[j].Pos); !(d <= off[tick]) {
					off[tick] = d
				}
			}
			if tick == 60 {
				shown[0] = append(shown[0], b[joints-1].Pos)
			} else if tick == ticks-1 {
				shown[1] = append(shown[1], b[joints-1].Pos)
			}
		}
	}
	for row, from := range shown[0] {
		if ticks > 120 && shown[1][row].Dist(from) < 0.1 {
			t.Fatalf("agent %d does not move", row)
		}
	}
	if i := slices.IndexFunc(off, func(d float32) bool { return d != d }); i >= 0 {
		t.Fatalf("tick %d: a joint is nowhere", i)
	}
	return off
}
