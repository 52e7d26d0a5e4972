package person

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/scenes"
)

// randomInput is what somebody might press who plays wildly.
func randomInput(r *rand.Rand) scenes.Input {
	in := scenes.Input{Gait: scenes.Gait(r.IntN(int(scenes.Canter) + 1))}
	if r.IntN(5) > 0 {
		way := m3.YawQuat(6.28 * r.Float32()).Forward().Scale(min(1, 0.3+r.Float32()))
		in.Forward, in.Side = way.Z, way.X
	}
	switch r.IntN(12) {
	case 0, 1:
		in.Jump = true
	case 2:
		in.Own = uint8(1 + r.IntN(3))
	case 3:
		in.Lock = true
	case 4:
		in.Stand = true
	case 5:
		in.Sit = true
	}
	return in
}

// For an hour of random input, or for five minutes if the environment does not ask for it, the player's person does not fall through the
// ground or leave the yard, and all is finite. Its joints jerk little but in jumps, rolls, hits and falls, which do so in recordings, too.
func TestHour(t *testing.T) {
	minutes := 5
	if os.Getenv("MANNEQUIN_HOUR") != "" {
		minutes = 60
	}
	// The 99.9th percentile of the recordings, m/s³: mannequin eval controller, of a database of them.
	const recorded = 6120
	s, r := open(t, 12, 0), rand.New(rand.NewPCG(3, 5))
	n := s.own.Skel.Len()
	var past [4][]m3.Vec3
	for i := range past {
		past[i] = make([]m3.Vec3, n)
	}
	var jerks []float32
	took := make([]time.Duration, 0, minutes*60*scenes.TickRate) // by each tick
	highest, leapt := float32(0), 0                              // when somebody last jumped, rolled, was hit or fell
	var in scenes.Input
	var was float32
	until := 0
	for tick := range minutes * 60 * scenes.TickRate {
		if tick == until {
			in, until = randomInput(r), tick+6+r.IntN(100)
		}
		began := time.Now()
		must.Do(t, s.Step(in))
		took = append(took, time.Since(began))
		in.Gait = scenes.KeepGait
		bones := s.Crowd.Bones(s.hero)
		root := s.Crowd.Roots[0].Pos
		if !bones[0].Pos.Finite() || max(m3.Abs(root.X), m3.Abs(root.Z)) > yardHalf {
			t.Fatalf("in tick %d the person is at %v", tick, root)
		}
		floor := s.Crowd.Ground.Body[0].Floor()
		highest = max(highest, floor)
		if y := lowest(s); floor < -0.01 || y < floor-0.8 || bones[0].Pos.Y < floor {
			t.Fatalf("in tick %d, asked for %+v, the floor is %.2f m high, hips %.2f and the lowest foot %.2f", tick, s.player.Goal(), floor, bones[0].Pos.Y, y)
		}
		p := past[0]
		copy(past[:], past[1:])
		past[3] = p
		for j := range n {
			p[j] = bones[j].Pos
		}
		if g := s.player.Goal(); g.Action == control.Jump || g.Action.Tag() >= 0 && s.of.Tags[g.Action.Tag()] != "crouch" || floor > 0.01 && floor < was-0.03 {
			leapt = tick
		}
		was = floor
		if tick < leapt+scenes.TickRate {
			continue
		}
		for j := range n {
			third := past[3][j].Sub(past[0][j]).Sub(past[2][j].Sub(past[1][j]).Scale(3)).Len()
			if tick%7 == 0 {
				jerks = append(jerks, third*scenes.TickRate*scenes.TickRate*scenes.TickRate)
			}
		}
	}
	slices.Sort(took)
	t.Logf("a tick of %d people takes %v, 99.9 %% of them up to %v, the worst %v", s.Crowd.Agents(), took[len(took)/2], took[len(took)*999/1000], took[len(took)-1])
	slices.Sort(jerks)
	p := jerks[len(jerks)*999/1000]
	t.Logf("%d minutes: jerk of 99.9 %% of joints, but in jumps and rolls, up to %.0f m/s³, at most %.0f; up to %.2f m high", minutes, p, jerks[len(jerks)-1], highest)
	if p > 2*recorded {
		t.Errorf("99.9 %% of the joints jerk by up to %.0f m/s³, the recordings' by %d", p, recorded)
	}
}
