package matching

import (
	"math/rand/v2"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Under a stick that is pushed at random the simulated body of the shipped person stays within 15 cm of the person.
func TestBodyStays(t *testing.T) {
	f, err := OpenFile("../../models/hero/hero.character")
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Learned.NewStream(StreamOptions{Capacity: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Add(feature.Place{}, &control.Goal{}); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	way := func() m3.Vec3 { return m3.YawQuat(6.28 * r.Float32()).Forward() }
	var most, sum float32
	const ticks = 60 * TickRate
	for i := range ticks {
		if i%40 == 0 {
			g := control.Goal{Move: way().Scale(min(1, 1.3*r.Float32())), Speed: 0.5 + 4*r.Float32()}
			if r.IntN(3) == 0 {
				g.Face = way()
			}
			if r.IntN(8) == 0 {
				g.Action = control.Jump
			}
			s.Controls()[0] = g
		}
		if err := s.Generate([]bool{false}); err != nil {
			t.Fatal(err)
		}
		d := s.agents[0].Body.At.Pos.Dist(s.agents[0].At.Pos)
		most, sum = max(most, d), sum+d
	}
	t.Logf("the body is %.3f m beside the person at most, %.3f m in the mean", most, sum/ticks)
	if most > 0.15001 || most < 0.01 {
		t.Errorf("the body is %.3f m beside the person", most)
	}
}

// A quick body speeds up ever harder, within Jerk and Accel, and brakes at once.
func TestBodySpeedsUp(t *testing.T) {
	const run, most = 3.5, 1e-3 // m/s
	tuning := ResponsiveTuning()
	ahead := m3.V(0, 0, run)
	var b body
	var grows, hardest float32
	for b.Vel.Len() < 0.9*run {
		was := b
		b.step(&tuning, ahead, 0, dt)
		by := b.Vel.Sub(was.Vel).Len() / dt
		grows, hardest = max(grows, (by-was.Acc.Len())/dt), max(hardest, by)
	}
	if grows > tuning.Jerk*(1+most) || grows < 0.9*tuning.Jerk || hardest > tuning.Accel*(1+most) {
		t.Errorf("speeding up: the acceleration grows by %.1f m/s³, to %.1f m/s²; want %g and at most %g", grows, hardest, tuning.Jerk, tuning.Accel)
	}
	b = body{Vel: ahead}
	for range 3 {
		b.step(&tuning, m3.Vec3{}, 0, dt)
	}
	if got := b.Acc.Len(); m3.Abs(got-tuning.Accel) > most*tuning.Accel {
		t.Errorf("after three ticks of braking the acceleration is %.1f m/s², want %g", got, tuning.Accel)
	}
	free := DefaultTuning()
	free.Velocity = tuning.Velocity
	b = body{}
	for range 3 {
		b.step(&free, ahead, 0, dt)
	}
	if b.Acc.Len() <= tuning.Accel {
		t.Errorf("without bounds the acceleration is %.1f m/s² after three ticks", b.Acc.Len())
	}
}
