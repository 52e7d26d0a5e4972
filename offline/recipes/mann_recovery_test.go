package recipes

import (
	"math"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/kernel"
	"mannequin/netruntime/grad"
)

// recovering returns a recovery on rows of which a few turn and a few move.
func recovering(t *testing.T) (*MANN, *rollout, *recovery) {
	t.Helper()
	m := smallRecipe(t)
	set, ahead := m.Train, m.Train.Layout.InSample(feature.TrajSamples-1)+feature.SampleDir
	for r := range set.Rows {
		dir := set.Input(r)[ahead:]
		if dir[0], dir[1] = 0.3, 0.9; r >= 60 {
			dir[0], dir[1] = -0.5, 0.8
		}
	}
	set.Rows = 128
	for r := range 64 { // the mirror images of made-up rows are other made-up rows
		set.X = append(set.X, set.Input((r*7)%64)...)
		set.Y = append(set.Y, set.Output((r*7)%64)...)
		set.Clip, set.Frame = append(set.Clip, 0), append(set.Frame, int32(r))
	}
	for r := 64; r < 128; r++ {
		dir := set.Input(r)[ahead:]
		if dir[0], dir[1] = 0.3, 0.9; r == 100 {
			dir[0], dir[1] = 0, -1
		}
	}
	for r := range set.Rows {
		w := &set.Input(r)[set.Layout.InActions(feature.TrajNow)+1]
		if *w = 0; r == 10 || r == 58 || r == 59 || r == 110 { // 10 has too few rows before it
			*w = 1
		}
	}
	u := newRollout(set, smallNet(m), set.Order, 3, 1, nil)
	c, err := newRecovery(u, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	return m, u, c
}

// Windows begin where the network's own way from another pose, run by hand, has come
// to, in turns and in motion that have enough rows around them.
func TestRecoveryBegins(t *testing.T) {
	m, u, c := recovering(t)
	if len(c.turns) != 3 || c.turns[0] != 60 || c.turns[1] != 61 || c.turns[2] != 100 {
		t.Fatalf("turns in rows %v, want 60, 61 and 100", c.turns)
	}
	if len(c.moves) != 3 || c.moves[0] != 58 || c.moves[1] != 59 || c.moves[2] != 110 {
		t.Fatalf("motion in rows %v, want 58, 59 and 110", c.moves)
	}
	pool := kernel.NewPool(1)
	defer pool.Close()
	const n = 9
	rows, x := c.begin(grad.NewTape(pool), u, n, 9)
	set, l := m.Train, m.Train.Layout
	session := session(t, m, u.net, set.YMean, set.YStd)
	y := make([]float32, u.net.outputs)
	seen := map[int]bool{}
	for i, r := range rows {
		seen[r] = true
		if turns := r == 60 || r == 61 || r == 100; turns != (i%2 == 0) {
			t.Errorf("window %d begins in row %d", i, r)
		}
		other := (r - 20 + 64) % 128
		want := append([]float32(nil), set.Input(r-20)...)
		copy(want[l.InBone(0):], set.Input(other)[l.InBone(0):])
		// After so many ticks of this network nothing of the first pose is left.
		begin := make([]float32, len(want))
		u.posed(begin, r-20, other)
		for col, v := range want {
			if got := begin[col]*set.XStd[col] + set.XMean[col]; math.Abs(float64(got-v)) > 1e-4 {
				t.Fatalf("the way to row %d begins with %v in column %d, want %v", r, got, col, v)
			}
		}
		for k := r - 20; k < r; k++ {
			if err := session.Run(y, want, 1); err != nil {
				t.Fatal(err)
			}
			want, _, _ = byHand(set, want, y, k)
		}
		for col, v := range want {
			if got := x.Val[i*len(want)+col]*set.XStd[col] + set.XMean[col]; math.Abs(float64(got-v)) > 1e-3 {
				t.Fatalf("window of row %d, column %d: %v, want %v", r, col, got, v)
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("windows begin in rows %v", rows)
	}
}

// The body's goal is as far from the recorded one as it was, halved every 12
// ticks, seen from the network's own hips; velocities are those of that way.
// Nothing else counts.
func TestRecoveryGoal(t *testing.T) {
	m, u, c := recovering(t)
	pool := kernel.NewPool(1)
	defer pool.Close()
	rows, x := c.begin(grad.NewTape(pool), u, 2, 4)
	set, l := m.Train, m.Train.Layout
	const head, hips = 4, 0
	in := func(v []float32, col int) float64 { return float64(v[col]*set.XStd[col] + set.XMean[col]) }
	out := func(v []float32, col int) float64 { return float64(v[col]*set.YStd[col] + set.YMean[col]) }
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	y := make([]float32, 2*u.net.outputs)
	for i := range y {
		y[i] = float32(math.Sin(float64(i)))
	}
	for tick := range 3 {
		want := make([]float32, len(y))
		for i, r := range rows {
			u.set.output(want[i*u.net.outputs:], r+tick)
		}
		c.goal(want, y, u, tick)
		for i, r := range rows {
			own := y[i*u.net.outputs:][:u.net.outputs]
			goal, begin, first, recorded := want[i*u.net.outputs:][:u.net.outputs], x.Val[i*u.net.inputs:], set.Input(r), set.Output(r+tick)
			counts := map[int]bool{}
			for k := range 3 {
				pos := func(bone int) int { return l.InBone(bone) + feature.BonePos + k }
				to := func(bone int) int { return l.OutBone(bone) + feature.BonePos + k }
				off := (in(begin, pos(head)) - float64(first[pos(head)])) - (in(begin, pos(hips)) - float64(first[pos(hips)]))
				left := func(ticks int) float64 { return off * math.Pow(0.5, float64(ticks)/12) }
				near("place", out(goal, to(head))-out(own, to(hips)), float64(recorded[to(head)]-recorded[to(hips)])+left(tick+1))
				v := feature.BoneVel
				near("velocity", out(goal, to(head)+v)-out(own, to(hips)+v), float64(recorded[to(head)+v]-recorded[to(hips)+v])+60*(left(tick+1)-left(tick)))
				counts[to(head)], counts[to(head)+v] = true, true
			}
			for k := feature.BoneForward; k < feature.BoneVel; k++ {
				off := in(begin, l.InBone(head)+k) - float64(first[l.InBone(head)+k])
				near("axis", out(goal, l.OutBone(head)+k), float64(recorded[l.OutBone(head)+k])+off*math.Pow(0.5, float64(tick+1)/12))
				counts[l.OutBone(head)+k] = true
			}
			for col := range goal {
				if !counts[col] && goal[col] != own[col] {
					t.Fatalf("column %d counts", col)
				}
			}
		}
	}
}

// A run with recovery goes on after a stop to the same bytes, does something, and
// says where there are no turns to learn it from.
func TestRecoveryRun(t *testing.T) {
	run := func(share float32, resume bool) []byte {
		m, _, _ := recovering(t)
		m.Ticks, m.Recover, m.Keep, m.Skate = 3, share, 1, 0.1
		m.Epochs = 4
		if resume {
			m.Epochs = 2
			mustRun(t, m)
			m.Epochs, m.Resume = 4, true
		}
		mustRun(t, m)
		return read(t, m.Out)
	}
	whole := run(0.5, false)
	if string(whole) != string(run(0.5, true)) {
		t.Error("stopped and resumed, it comes to another network")
	}
	if string(whole) == string(run(0, false)) {
		t.Error("recovery changes nothing")
	}
	m, _, _ := recovering(t)
	m.Train = small(64, 0, "walk")
	for r := range m.Train.Rows {
		copy(m.Train.Input(r)[m.Train.Layout.InSample(11)+feature.SampleDir:], []float32{0, 1})
	}
	m.Ticks, m.Recover = 3, 0.5
	if _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "turn") {
		t.Error(err)
	}
	m.Ticks = 1
	if _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "two ticks") {
		t.Error(err)
	}
}
