package controller

import (
	"math"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models"
)

// The shipped person answers as soon as docs/person.md says, and holds its speeds.
func TestHero(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	s := Subject{New: Plays(f.Only(matching.LearnedMatching)), Speeds: f.Character().Speeds(3), Size: f.Character().Size, Action: f.Character().Action}
	bars := map[string]float64{"stand to walk": 0.4, "stand to run": 0.8, "run to stand": 0.6, "run, turn round": 0.6, "aside, to the other side": 0.45,
		"stand to crouch": 0.4, "crouch to stand": 0.4, "stand to jump": 0.2}
	all := must.Get(Respond(s, 1.4, 3.5))(t)
	if len(all) != len(bars) {
		t.Errorf("%d measures, want %d", len(all), len(bars))
	}
	for _, r := range all {
		if r.Never > 0 || r.Mean > bars[r.Name] || r.Worst > 0.75 || r.Way > 1.2 {
			t.Errorf("%+v, want a mean of %.2f s", r, bars[r.Name])
		}
	}
	apexes := map[string]float64{"walk in waves": 0.3, "aside, to and fro": 0.3, "run, turn round": 0.35} // plain motion matching: 0.45, 0.62, 0.43
	for _, a := range must.Get(Apexes(s, 1.4, 3.5))(t) {
		if a.Delay > apexes[a.Name] || a.Never > 0 {
			t.Errorf("%+v", a)
		}
	}
	for _, h := range must.Get(Hold(s, 1.4, 3.8))(t) {
		if math.Abs(h.Got-h.Asked) > 0.1*h.Asked || h.Beside > 0.1*h.Asked || h.Off > 15 {
			t.Errorf("%+v", h)
		}
	}
}

// The shipped person walks at the speeds at which people walk, from a second after it has set off or turned: in steps of half a second, a foot
// always on the ground, over a knee that is nearly straight. Its commands come at 20 phases of the gait, to both sides.
func TestHeroWalks(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	s := Subject{New: Plays(f.Only(matching.LearnedMatching)), Action: f.Character().Action}

	for _, speed := range []float32{1, 1.2, 1.4, 1.5} {
		for _, turn := range []float32{0, math.Pi / 4, math.Pi / 2, math.Pi} { // 0: it sets off
			g := must.Get(s.gaitAfter(speed, turn))(t)
			t.Logf("at %.1f m/s, turned by %.1f: %+v", speed, turn, g)
			if g.step < 0.48 || g.step > 0.62 || g.quick > 0.02 || g.bend > 12 || g.aloft > 0.02 {
				t.Errorf("at %.1f m/s, turned by %.1f: %+v", speed, turn, g)
			}
		}
	}
}

// walked is how bodies walk for two seconds, from a second after a command on.
type walked struct {
	step  float32 // s, mean
	quick float32 // share of steps of less than 0.42 s
	bend  float32 // degrees, mean, of the straighter knee as a foot passes the other
	aloft float32 // share of ticks without a foot on the ground
}

// gaitAfter lets bodies set off at a speed, or turn by an angle while they go at it, each side in turn.
func (s *Subject) gaitAfter(speed, turn float32) (out walked, err error) {
	const passed, quick, aloft, heel = 0.1, 0.42 * animsys.TickRate, 0.05, 0.08 // m; ticks; m
	w, err := s.world(2 * phases)
	if err != nil {
		return out, err
	}
	defer w.crowd.Close()
	legs := w.crowd.Ground.Rig.Roles.Legs
	ahead, last := make([]int, len(w.agents)), make([]int, len(w.agents)) // which foot is; when it passed
	var steps, ticks float32
	const from, until = animsys.TickRate, 3 * animsys.TickRate // ticks after a command
	begin := func(i int) int { return settle + i/2*between }
	for tick := range begin(len(w.agents)) + until {
		for i, e := range w.agents {
			way := m3.V(0, 0, 1)
			if tick >= begin(i) {
				way = mirrored(m3.YawQuat(turn).Forward(), i)
			}
			asked := way.Scale(speed)
			if turn == 0 && tick < begin(i) {
				asked = m3.Vec3{}
			}
			w.ask(e, asked, way)
		}
		if err := w.schedule.Step(); err != nil {
			return out, err
		}
		for i, e := range w.agents {
			bones, way := w.crowd.Bones(e), mirrored(m3.YawQuat(turn).Forward(), i)
			var foot [2]m3.Vec3
			bend, low := float32(math.Pi), float32(math.Inf(1))
			for k, l := range legs {
				ankle := bones[l[len(l)-2]].Pos
				foot[k] = bones[l[len(l)-1]].Pos
				low = min(low, foot[k].Y, ankle.Y-heel)
				thigh, shank := bones[l[0]].Pos.Sub(bones[l[1]].Pos), bones[l[2]].Pos.Sub(bones[l[1]].Pos)
				bend = min(bend, math.Pi-m3.Acos(thigh.Normalize(m3.Vec3{}).Dot(shank.Normalize(m3.Vec3{}))))
			}
			now, apart, since := ahead[i], foot[0].Sub(foot[1]).Dot(way), tick-begin(i)
			if apart > passed {
				now = 1
			} else if apart < -passed {
				now = -1
			}
			counts := since >= from && since < until
			if counts {
				if ticks++; low > aloft {
					out.aloft++
				}
			}
			if now != ahead[i] {
				if counts && last[i] > begin(i) {
					steps++
					out.step += float32(tick-last[i]) / animsys.TickRate
					out.bend += bend * 180 / math.Pi
					if float32(tick-last[i]) < quick {
						out.quick++
					}
				}
				ahead[i], last[i] = now, tick
			}
		}
	}
	steps = max(steps, 1)
	return walked{out.step / steps, out.quick / steps, out.bend / steps, out.aloft / ticks}, nil
}

// The shipped person leans ahead in a run, as recorded people do, and back to where it goes as it turns round.
func TestHeroLeans(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	s := Subject{New: Plays(f.Only(matching.LearnedMatching)), Action: f.Character().Action}
	w := must.Get(s.world(2 * phases))(t)
	defer w.crowd.Close()
	head := f.Character().Skel.Index("Head")
	const degrees = 180 / math.Pi
	var ahead, n float32
	back := make([]float32, len(w.agents))
	begin := func(i int) int { return settle + i/2*between }
	for tick := range begin(len(w.agents)) + animsys.TickRate/2 {
		for i, e := range w.agents {
			way := m3.V(0, 0, 3.5)
			if tick >= begin(i) {
				way = way.Neg()
			}
			w.ask(e, way, way.Normalize(m3.Vec3{}))
		}
		must.Do(t, w.schedule.Step())
		for i, e := range w.agents {
			bones := w.crowd.Bones(e)
			up := bones[head].Pos.Sub(bones[0].Pos)
			tilt := m3.Atan2(up.Z, up.Y) * degrees
			switch since := tick - begin(i); {
			case since < 0 && since >= -animsys.TickRate:
				ahead, n = ahead+tilt, n+1
			case since >= 0 && since < 3*animsys.TickRate/10:
				back[i] = max(back[i], -tilt)
			}
		}
	}
	var mean float32
	for _, b := range back {
		mean += b / float32(len(back))
	}
	t.Logf("it leans ahead by %.1f°, and back by %.1f°", ahead/n, mean)
	if ahead /= n; ahead < 4 || ahead > 8 || mean < 9 || mean > 20 {
		t.Errorf("it leans ahead by %.1f°, and back by %.1f°", ahead, mean)
	}
}
