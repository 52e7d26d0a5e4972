package metrics

import (
	"math"
	"path/filepath"
	"sync"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/dataset"
)

// build reads the recordings once for all tests.
var build = sync.OnceValue(func() (sets [2]*dataset.MANN) {
	var err error
	if sets[0], sets[1], err = dataset.BuildMANN(filepath.Join(dir, "dog"), dataset.Options{}); err != nil {
		panic(err)
	}
	return sets
})

var dir string // of the recordings

// recordings returns the rows to train on and those held out, which tests must not change.
func recordings(t *testing.T) (train, held *dataset.MANN) {
	t.Helper()
	dir = mocapdata.Dir(t)
	sets := build()
	return sets[0], sets[1]
}

func heldOut(t *testing.T) *dataset.MANN {
	t.Helper()
	_, held := recordings(t)
	return held
}

// The pace of a root matches the dataset's rows of the same frames.
func TestRootPaceIsRowPace(t *testing.T) {
	held := heldOut(t)
	n := 0
	for _, run := range held.Runs() {
		clip := held.Replay(run[0], run[1])
		pos, dir := facing(clip, held.Skeleton.Index("Neck"))
		roots := make([]m3.Xform, len(pos))
		for f := range roots {
			roots[f] = m3.Xform{Pos: pos[f].Flat(), Rot: m3.YawQuat(m3.YawOf(dir[f]))}
		}
		// Frame f of the clip is a frame after row f's.
		for f := 40; f+50 < clip.Frames; f += 7 {
			speed, turn := rootPace(roots, f)
			s, u := rowPace(held, run[0]+f+1)
			if math.Abs(speed-s) > 0.01 || math.Abs(turn-u) > 0.5 {
				t.Fatalf("rows %v, frame %d: %.3f m/s and %.2f °/s, the row says %.3f and %.2f", run, f, speed, turn, s, u)
			}
			n++
		}
	}
	if n < 100 {
		t.Errorf("only %d frames", n)
	}
}

// Segments cover every row once, and none is longer than matchedFrames.
func TestDrives(t *testing.T) {
	held := heldOut(t)
	got := must.Get(segments([]*dataset.MANN{held}))(t)
	rows := 0
	for _, d := range got {
		rows += d.end - d.first
		if d.end-d.first > matchedFrames || d.first-d.from > matchedLead || held.Clip[d.from] != held.Clip[d.end-1] {
			t.Errorf("%d %d %d", d.from, d.first, d.end)
		}
	}
	// The rows that count come after the lead, one a tick.
	for _, d := range got {
		last := d.end - d.first - 1
		for tick, row := range map[int]int{0: max(d.from, d.first-matchedLead), matchedLead: d.first, matchedLead + last/2: d.first + last/2, 1 << 20: d.end - 1} {
			if g := d.goal(tick, m3.Xform{}); g != rowGoal(held, row) {
				t.Fatalf("tick %d: %+v, row %d asks for %+v", tick, g, row, rowGoal(held, row))
			}
		}
	}
	if rows != held.Rows/2 {
		t.Errorf("%d rows of %d", rows, held.Rows/2)
	}
}

// Goals ask for the recorded motion: for its direction and speed if it moves, and for its action.
func TestRowGoal(t *testing.T) {
	held := heldOut(t)
	seen := map[control.Action]int{}
	for r := 0; r < held.Rows/2; r += 5 {
		g := rowGoal(held, r)
		action, _ := rowAction(held, r)
		seen[action]++
		speed, turn := rowPace(held, r)
		if g.Action != action || !g.Finite() {
			t.Fatalf("row %d: %+v", r, g)
		}
		if action != control.Move {
			continue
		}
		if d := math.Abs(float64(g.Speed) - speed); d > 1e-6 || m3.Abs(g.Move.Len()-1) > 1e-4 {
			t.Fatalf("row %d: %+v", r, g)
		}
		if turn*float64(g.Turn) < 0 || math.Abs(turn) < 55 && math.Abs(float64(g.Turn)*60-turn) > 0.1 {
			t.Fatalf("row %d turns by %.1f: %+v", r, turn, g)
		}
		if speed > 1 && g.Move.Z < 0.7 {
			t.Fatalf("row %d runs ahead: %+v", r, g)
		}
	}
	if seen[control.Move] < 100 || seen[control.Sit] < 50 || seen[control.Idle] < 50 {
		t.Errorf("%v", seen)
	}
}

// The slider goes 1 m/s whatever it is asked for, which is a pace.
func TestMatched(t *testing.T) {
	// Of one recording, to save time.
	held := heldOut(t)
	only, in, out := *held, held.Layout.Inputs(), held.Layout.Outputs()
	for _, run := range held.Runs() {
		if held.Clips[held.Clip[run[0]]] == "D1_ex01_KAN01_001" {
			n := run[1] - run[0]
			only.Rows, only.Clip, only.Frame = 2*n, held.Clip[run[0]:run[1]], held.Frame[run[0]:run[1]]
			only.X, only.Y = held.X[run[0]*in:run[1]*in], held.Y[run[0]*out:run[1]*out]
		}
	}
	got := must.Get(Matched(&Rollout{Model: slider(t, 1), Workers: 2}, Gaits(), &only))(t)
	for i, g := range Gaits() {
		m := got[i].Raw
		if g.Name != "pace" {
			if m.Frames > got[1].Raw.Frames/10 {
				t.Errorf("%s: %d frames", g.Name, m.Frames)
			}
			continue
		}
		if m.Frames < 3*mann.Rate {
			t.Errorf("%d frames of pace", m.Frames)
		}
		close(t, "speed", m.Speed, 1, 0.05)
		close(t, "skate", m.Skate, 100./60/2, 0.05)
	}
}
