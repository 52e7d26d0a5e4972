package recipes

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// recovering returns a recovery on rows of which a few turn, a few move and two do not go ahead.
func recovering(t *testing.T) (*MANN, *rollout, *recovery) {
	t.Helper()
	m := smallRecipe(t)
	m.Train = small(128, 0, "walk")
	set, l := m.Train, m.Train.Layout
	set.Rows = 256
	for r := range 128 { // mirror images are other made-up rows
		set.X = append(set.X, set.Input((r*7)%128)...)
		set.Y = append(set.Y, set.Output((r*7)%128)...)
		set.Clip, set.Frame, set.Order = append(set.Clip, 0), append(set.Frame, int32(r)), append(set.Order, int32(128+r))
	}
	set.Order = append(set.Order, 230) // visited twice
	for r := range set.Rows {
		x := set.Input(r)
		dir, vel, move := x[l.InSample(feature.TrajSamples-1)+feature.SampleDir:], x[l.InSample(feature.TrajNow)+feature.SampleVel:], &x[l.InActions(feature.TrajNow)+1]
		dir[0], dir[1], vel[0], vel[1], *move = 0.3, 0.9, 0, 1, 0
		switch r {
		case 124, 125:
			dir[0], dir[1] = -0.5, 0.8
		case 250:
			dir[0], dir[1] = 0, -1
		case 60, 122: // 60 has too few rows before it for the longer way
			*move = 1
		case 123, 230:
			*move, vel[0], vel[1] = 1, 0.3, -0.1
		case 121: // as good as standing
			*move, vel[0], vel[1] = 1, 0.05, -0.05
		}
	}
	u := newRollout(set, smallNet(m), set.Order, 3, 1)
	c := newRecovery(u, 0.5, must.Get(startsOf(u))(t))
	return m, u, c
}

// Windows begin with the pose to which the network, run by hand, has strayed from a row of their
// kind. They begin at the recorded row whose phases are most similar to those of the pose.
func TestRecoveryBegins(t *testing.T) {
	m, u, c := recovering(t)
	short, long := []int32{60, 121, 122, 123, 230, 230}, []int32{121, 122, 123, 230, 230}
	if want := [...][4][]int32{{{124, 125, 250}, short, short, {123, 230, 230}}, {{124, 125, 250}, long, long, {123, 230, 230}}}; len(c.Strays) != 2 || !reflect.DeepEqual(c.From[:2], want[:]) {
		t.Fatalf("lengths of %v ticks, windows from rows %v, want %v", c.Strays, c.From, want)
	}
	for key, ticks := range map[uint64]int{9: 60, 10: 20} {
		testRecoveryBegins(t, m, u, c, key, ticks)
	}
	// Legs that stop while the recorded ones swing are asked back, too; not all do.
	for key, ticks := range map[uint64]int{9: 60, 10: 20} {
		for r := range m.Train.Rows {
			bones := m.Train.Input(r)[m.Train.Layout.InBone(0):]
			for j := range m.Train.Layout.Joints {
				v := bones[j*feature.BoneChannels+feature.BoneVel:]
				v[0], v[1], v[2] = 0, 0, float32(r/16%3)*float32(j)
			}
		}
		c.tips = nil
		c.restarts(m.Train)
		if n := testRecoveryBegins(t, m, u, c, key, ticks); n == 0 || n == 10 {
			t.Errorf("the legs of %d windows of 10 stopped", n)
		}
	}
}

// testRecoveryBegins returns the number of windows before which legs stopped.
func testRecoveryBegins(t *testing.T, m *MANN, u *rollout, c *recovery, key uint64, ticks int) (stopped int) {
	samples := []int{3, 4, 5, 6, 7, 70, 71, 72, 73, 74}
	rows, x := c.begin(newTape(t), u, samples, key)
	set, l := m.Train, m.Train.Layout
	session := session(t, m, u.net)
	y := make([]float32, u.net.outputs)
	moved, bounded := false, false
	for i, r := range rows {
		from, pose, kind := c.draw(u, samples[i], key)
		first := from + ticks
		swing := func(x []float32) (sum float64) {
			for _, j := range c.tips {
				var squares float64
				for k := l.InBone(0) + feature.BoneVel; k < l.InBone(0)+feature.BoneVel+3; k++ {
					d := float64(x[k+j*feature.BoneChannels] - x[k])
					squares += d * d
				}
				sum += math.Sqrt(squares)
			}
			return sum
		}
		var own, recorded float64 // in the last quarter of a second
		want := append([]float32(nil), set.Input(from)...)
		copy(want[l.InBone(0):], set.Input(pose)[l.InBone(0):])
		for k := from; k < first; k++ {
			if err := session.Run(y, want, 1); err != nil {
				t.Fatal(err)
			}
			want, _, _ = byHand(set, want, y, k)
			for b := range l.Joints {
				unit(want[l.InBone(b)+feature.BoneForward:][:3])
				unit(want[l.InBone(b)+feature.BoneUp:][:3])
			}
			for k := l.InPhase(0); k < l.Inputs(); k += 2 {
				if length := math.Hypot(float64(want[k]), float64(want[k+1])); length > 0.9 {
					want[k], want[k+1] = want[k]*float32(0.9/length), want[k+1]*float32(0.9/length)
					bounded = true
				}
			}
			if k >= first-15 {
				own, recorded = own+swing(want), recorded+swing(set.Input(k+1))
			}
		}
		stops := c.tips != nil && own < 0.5*recorded && recorded > 0.2*15*float64(len(c.tips))
		if stops {
			stopped++
		}
		if c.asked[i] != (kind == 3 || stops) {
			t.Errorf("window %d, of kind %d, asks legs back: %v; they swing by %.2f m/s, recorded ones by %.2f", i, kind, c.asked[i], own/15, recorded/15)
		}
		// Rows of the same half with one row before and two after.
		best, most := 0, math.Inf(-1)
		for k := max(first-25, first/128*128+1); k <= min(first+25, first/128*128+125); k++ {
			product := 0.0
			for col := l.InPhase(0); col < l.Inputs(); col++ {
				product += float64(set.Input(k)[col]) * float64(want[col])
			}
			if product > most {
				best, most = k, product
			}
		}
		if best != r {
			t.Errorf("window %d begins in row %d, want %d", i, r, best)
			continue
		}
		moved = moved || r != first
		copy(want[:l.InBone(0)], set.Input(r))
		for col, v := range want {
			if got := x.Val[i*len(want)+col]*set.XStd[col] + set.XMean[col]; math.Abs(float64(got-v)) > 2e-3 {
				t.Fatalf("window %d, from row %d: column %d is %v, want %v", i, from, col, got, v)
			}
		}
	}
	if !moved || !bounded {
		t.Errorf("no window begins at another row than it ran to (%v), or no phase was bounded (%v)", !moved, !bounded)
	}
	return stopped
}

// Windows stray from 20 rows before a row of their kind; in turns, with the mirror image of the
// pose.
func TestRecoveryDraws(t *testing.T) {
	_, u, c := recovering(t)
	var other int
	// Each row is in one list, so it identifies the kind.
	c.From[0] = [4][]int32{{124, 125}, {121, 122}, {123}, {230, 231}}
	c.Strays = c.Strays[:1]
	var seen [4]int
	for sample := range 400 {
		r, pose, drawn := c.draw(u, sample, 5)
		kind := slices.IndexFunc(c.From[0][:], func(rows []int32) bool { return slices.Contains(rows, int32(r+20)) })
		if kind < 0 {
			t.Fatalf("sample %d strays from row %d", sample, r)
		}
		if drawn != kind {
			t.Errorf("a window of kind %d is drawn as one of kind %d", kind, drawn)
		}
		seen[kind]++
		switch kind {
		case 0:
			if pose != (r+128)%256 {
				t.Errorf("row %d in a turn begins with the pose of row %d", r, pose)
			}
		case 1:
			if pose != r {
				other++
			}
			if !slices.Contains(c.From[0][1], int32(pose+20)) {
				t.Errorf("row %d begins with the pose of row %d", r, pose)
			}
		default:
			if pose != r {
				t.Errorf("row %d begins with the pose of row %d", r, pose)
			}
		}
		if again, _, _ := c.draw(u, sample, 5); again != r {
			t.Errorf("sample %d strays from row %d, and then from %d", sample, r, again)
		}
	}
	// A fifth each of the first three, two fifths of the last, within three deviations.
	if slices.Min(seen[:3]) < 56 || seen[3] < 130 || seen[3] > 190 || other < seen[1]/3 {
		t.Errorf("windows of each kind: %v of 400; with another's pose: %d", seen, other)
	}
}

// The name of a sample with recovery has the frames that it began with.
func TestRecoveryName(t *testing.T) {
	_, u, c := recovering(t)
	u.recovery, c.share, c.begun = c, 1, true
	u.key = 5
	r, pose, _ := c.draw(u, 7, 5)
	if got, want := u.name(7), fmt.Sprintf("frame %d of %s with the pose of frame %d of ", u.set.Frame[r], u.set.Clips[u.set.Clip[r]], u.set.Frame[pose]); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q first", got, want)
	}
	if c.begun = false; u.name(7) != fmt.Sprintf("frame %d of %s", u.set.Frame[7], u.set.Clips[u.set.Clip[7]]) {
		t.Error(u.name(7))
	}
}

// A window that begins with another pose has the trajectory of its own row.
func TestRecoveryPose(t *testing.T) {
	m, u, _ := recovering(t)
	set, bones := m.Train, m.Train.Layout.InBone(0)
	x := make([]float32, u.net.inputs)
	u.posed(x, 20, 148)
	for col, got := range x {
		want := set.Input(20)[col]
		if col >= bones {
			want = set.Input(148)[col]
		}
		if got := got*set.XStd[col] + set.XMean[col]; math.Abs(float64(got-want)) > 1e-4 {
			t.Fatalf("column %d is %v, want %v", col, got, want)
		}
	}
}

// The goal begins as far from the recorded pose as the window, and the distance halves every 12
// ticks. Velocities match. All columns except the pose are as recorded.
func TestRecoveryGoal(t *testing.T) {
	m, u, c := recovering(t)
	rows, x := c.begin(newTape(t), u, []int{3, 4, 5, 70, 71}, 4)
	set, l := m.Train, m.Train.Layout
	for tick := range 3 {
		want := make([]float32, len(rows)*u.net.outputs)
		for i, r := range rows {
			u.set.output(want[i*u.net.outputs:], r+tick)
		}
		y := make([]float32, len(want))
		for k := range y {
			y[k] = float32(k%7) - 3
		}
		for i := range rows {
			c.asked[i] = i%2 == 0
		}
		c.goal(want, y, u, tick)
		for i, r := range rows {
			off := func(k int) float64 { // of column k of the pose
				col := l.InBone(0) + k
				return float64(x.Val[i*u.net.inputs+col]*set.XStd[col]+set.XMean[col]) - float64(set.Input(r)[col])
			}
			for col, got := range want[i*u.net.outputs:][:u.net.outputs] {
				recorded, change := float64(set.Output(r + tick)[col]), 0.0
				k := col - l.OutBone(0)
				half := func(ticks int) float64 { return math.Pow(0.5, float64(ticks)/12) }
				joint := k / feature.BoneChannels
				switch bone := k < len(l.Joints)*feature.BoneChannels; {
				case k < 0 || col >= l.OutRoot():
				case !c.asked[i] && (!bone || joint == 1 || joint == 2 || joint == 3): // legs do not count
					if own := y[i*u.net.outputs+col]; got != own {
						t.Fatalf("tick %d, column %d: %v, want the network's own %v", tick, col, got, own)
					}
					continue
				case bone && k%feature.BoneChannels >= feature.BoneVel:
					change = 60 * off(k-feature.BoneVel) * (half(tick+1) - half(tick))
				default:
					change = off(k) * half(tick+1)
				}
				if got := float64(got*set.YStd[col] + set.YMean[col]); math.Abs(got-recorded-change) > 1e-3*(1+math.Abs(change)) {
					t.Fatalf("tick %d, column %d: %v, want %v", tick, col, got, recorded+change)
				}
			}
		}
	}
}

// A stopped and resumed run with recovery ends with the same bytes. Recovery changes the result,
// and refuses recordings without turns.
func TestRecoveryRun(t *testing.T) {
	run := func(share float32, resume bool) []byte {
		m, _, _ := recovering(t)
		m.Ticks, m.Recover, m.Keep, m.Skate = 3, share, 1, 0.1
		m.Epochs, m.Schedule.First = 4, 2
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
	heldOut := func(share float32, first int, start *netruntime.Net) float64 {
		m, _, _ := recovering(t)
		m.Ticks, m.Recover, m.Keep, m.Epochs, m.Schedule.First, m.Start = 3, share, 1, 2, first, start
		return mustRun(t, m).HeldOut
	}
	start := must.Get(netruntime.Decode(whole))(t)
	for _, c := range []struct {
		first  int
		start  *netruntime.Net
		begins bool
	}{{1, nil, true}, {4, nil, false}, {4, start, true}} {
		if begins := heldOut(0.5, c.first, c.start) != heldOut(0, c.first, c.start); begins != c.begins {
			t.Errorf("in 2 epochs of a first cycle of %d, started from a network: %v, recovery begins: %v", c.first, c.start != nil, begins)
		}
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
	m.Train.Layout.Phases = false
	if _, err := startsOf(newRollout(m.Train, smallNet(m), nil, 3, 1)); err == nil || !strings.Contains(err.Error(), "phases") {
		t.Error(err)
	}
	m.Ticks = 1
	if _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "two ticks") {
		t.Error(err)
	}
}
