package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// puppet returns a motion whose joints stand where pose puts them. They begin at rest, with the hips
// at hipsHeight over the origin.
func puppet(frames int, pose func(seconds float64, at []m3.Vec3)) *Motion {
	c := skel.NewClip(human, Rate, frames)
	at, n := make([]m3.Vec3, human.Len()), human.Len()
	for f := range frames {
		for j, p := range human.Parents {
			if at[j] = human.Offsets[j]; p >= 0 {
				at[j] = at[j].Add(at[p])
			} else {
				at[j] = at[j].Add(m3.V(0, hipsHeight, 0))
			}
		}
		pose(float64(f)/Rate, at)
		for j, p := range human.Parents {
			if c.Pos[f*n+j] = at[j]; p >= 0 {
				c.Pos[f*n+j] = at[j].Sub(at[p])
			}
		}
	}
	return &Motion{Name: "puppet", Clip: c}
}

const hipsHeight = 0.96

// shift moves all joints.
func shift(at []m3.Vec3, by m3.Vec3) {
	for j := range at {
		at[j] = at[j].Add(by)
	}
}

// walking is somebody who walks along z.
type walking struct {
	speed float64   // m/s
	steps []float64 // moments at which the feet pass each other, s; the left foot passes at even ones
	slide float64   // of the standing foot, m/s ahead
	swing float64   // range of the hands fore and aft, m; below 0 with the legs
}

// pose moves the joints to a moment between the second step and the last.
func (w walking) pose(seconds float64, at []m3.Vec3) {
	shift(at, m3.V(0, 0, float32(w.speed*seconds)))
	mid := func(i int) float64 { return (w.steps[i] + w.steps[i+1]) / 2 }
	i := 1
	for seconds >= mid(i) {
		i++
	}
	// One foot swings between the places where the body is at the steps before and after; the other stands.
	u := (seconds - mid(i-1)) / (mid(i) - mid(i-1))
	from, to := w.speed*w.steps[i-1], w.speed*w.steps[i+1]
	put := func(side int, z, y float64) {
		for _, j := range []int{ankle[side], toe[side]} {
			at[j] = at[j].Add(m3.V(0, float32(y), float32(z-w.speed*seconds)))
		}
	}
	put(i%2, from+(to-from)*u, 0.1*math.Sin(math.Pi*u))
	put(1-i%2, w.speed*w.steps[i]+w.slide*(seconds-w.steps[i]), 0)
	for side, hand := range hand {
		ahead := w.swing / 2 * math.Cos(math.Pi*u)
		if side != i%2 {
			ahead = -ahead
		}
		at[hand].Z += float32(ahead)
	}
}

// even returns moments every step seconds.
func even(step float64) (out []float64) {
	for i := range 100 {
		out = append(out, (float64(i)-2)*step)
	}
	return out
}

// valueOf returns a measure of one motion.
func valueOf(t *testing.T, m *Motion, name string, k Kind) float64 {
	t.Helper()
	var s series
	s.collect(newBody(m))
	for _, row := range measures() {
		if row.name == name && slices.Contains(row.kinds, k) {
			return row.value(&s, k)
		}
	}
	t.Fatalf("no measure %q of %v", name, k)
	return 0
}

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s is %.4g, want %.4g", what, got, want)
	}
}

// A walk in which each measure has a known value.
func TestWalk(t *testing.T) {
	const speed, step, slide, swing = 1.2, 0.5, 0.05, 0.3
	w := walking{speed: speed, steps: even(step), slide: slide, swing: swing}
	plain := puppet(20*Rate, w.pose)
	near(t, "planted toe", valueOf(t, plain, "planted toe, median", Walk), 100*slide, 0.05)
	near(t, "over 10 cm/s", valueOf(t, plain, "planted toe over 10 cm/s", Walk), 0, 0.07) // where feet change
	near(t, "in the air", valueOf(t, plain, "both feet over 3 cm up", Walk), 0, 0)
	near(t, "arm swing", valueOf(t, plain, "arm swing", Walk), 100*swing, 0.5)
	near(t, "steps", valueOf(t, plain, "steps at 1 to 1.3 m/s", Walk), 1/step, 1e-3)
	near(t, "variation of strides", valueOf(t, plain, "stride to stride, at one phase", Walk), 0, 0.05)
	near(t, "variation of times", valueOf(t, plain, "stride time, variation", Walk), 0, 1e-3)
	near(t, "sway", valueOf(t, plain, "hips aside of their path", Straight), 0, 1e-3)
	near(t, "surge", valueOf(t, plain, "hips fore and aft", Straight), 0, 1e-2)
	near(t, "knees cross", valueOf(t, plain, "knees cross", Walk), 0, 0)
	near(t, "feet", valueOf(t, plain, "feet within 6 cm", Walk), 0, 0)
	near(t, "hand in torso", valueOf(t, plain, "hand within 14 cm of the spine", Walk), 0, 0)
	near(t, "left and right step", valueOf(t, plain, "left and right step differ", Walk), 0, 1e-3)
	if c := valueOf(t, plain, "arms opposed to legs", Walk); c < 0.95 {
		t.Errorf("arms opposed: %g", c)
	}
	w.swing = -swing
	if c := valueOf(t, puppet(10*Rate, w.pose), "arms opposed to legs", Walk); c > -0.95 {
		t.Errorf("arms with the legs: %g", c)
	}
	// Toes slide at 20 cm/s, and fast ones stay above the ground for a fifth of the time.
	w.slide = 0.2
	near(t, "fast slide", valueOf(t, puppet(10*Rate, w.pose), "planted toe over 10 cm/s", Walk), 1, 0.01)
	hop := puppet(10*Rate, func(s float64, at []m3.Vec3) {
		w.pose(s, at)
		if math.Mod(s, 1) >= 0.8 {
			shift(at, m3.V(0, 0.2, 0))
		}
	})
	var hops series
	hops.collect(newBody(hop))
	near(t, "share of frames with a low toe", float64(len(hops.values[Walk][feedToe]))/float64(hops.frames[Walk]), 0.8, 0.012)
	near(t, "hops", valueOf(t, hop, "both feet over 3 cm up", Walk), 0.2, 0.012)
}

// The hips of a walk sway, surge and bounce with the period of a stride that the path is smoothed over.
func TestHips(t *testing.T) {
	const sway, surge, bounce = 0.02, 0.015, 0.025 // m, amplitudes
	stride := float64(2*smooth+1) / Rate
	w := walking{speed: 1.2, steps: even(stride / 2)}
	m := puppet(20*Rate, func(s float64, at []m3.Vec3) {
		w.pose(s, at)
		p := 2 * math.Pi * s / stride
		shift(at, m3.V(float32(sway*math.Sin(p)), float32(bounce*math.Sin(2*p)), float32(surge*math.Sin(2*p))))
	})
	near(t, "sway", valueOf(t, m, "hips aside of their path", Straight), 200*sway, 0.1)
	near(t, "surge", valueOf(t, m, "hips fore and aft", Straight), 200*surge, 0.1)
	near(t, "bounce", valueOf(t, m, "bounce of the hips", Walk), 200*bounce, 0.05)
}

// The trunk leans, tilts and twists.
func TestTrunk(t *testing.T) {
	const amplitude = 0.1                      // radians
	w := walking{speed: 1.2, steps: even(0.6)} // a stride is a window
	turned := func(axis m3.Vec3) *Motion {
		return puppet(10*Rate, func(s float64, at []m3.Vec3) {
			w.pose(s, at)
			q := m3.AxisAngle(axis, float32(amplitude*math.Sin(2*math.Pi*s/1.2)))
			for _, j := range slices.Concat(members["trunk"], members["arms"]) {
				at[j] = at[hips].Add(q.Rotate(at[j].Sub(at[hips])))
			}
		})
	}
	want := degrees(amplitude) / math.Sqrt2
	near(t, "lean", valueOf(t, turned(m3.V(1, 0, 0)), "swing of the trunk's lean", Walk), want, 0.05)
	near(t, "tilt", valueOf(t, turned(m3.V(0, 0, 1)), "tilt of the trunk", Walk), want, 0.05)
	near(t, "twist", valueOf(t, turned(m3.Up), "twist of the shoulders", Walk), want, 0.05)
	near(t, "twist of a lean", valueOf(t, turned(m3.V(1, 0, 0)), "twist of the shoulders", Walk), 0, 0.05)
}

// Stride times vary by a known share, and poses from stride to stride by a known distance.
func TestVariation(t *testing.T) {
	const share = 0.05
	rng := rand.New(rand.NewPCG(1, 2))
	steps := []float64{-2, -1.5, -1, -0.5, 0}
	for len(steps) < 600 {
		stride := 1 + share*rng.NormFloat64()
		last := steps[len(steps)-1]
		steps = append(steps, last+stride/2, last+stride)
	}
	w := walking{speed: 1.2, steps: steps}
	near(t, "stride time", valueOf(t, puppet(240*Rate, w.pose), "stride time, variation", Walk), share, 0.008)

	w.steps = even(0.5)
	const apart = 0.04 // of the arms, in every other stride
	m := puppet(20*Rate, func(s float64, at []m3.Vec3) {
		w.pose(s, at)
		if math.Mod(s, 2) >= 1 {
			for _, j := range members["arms"] {
				at[j].Y += apart
			}
		}
	})
	near(t, "strides", valueOf(t, m, "stride to stride, at one phase", Walk), 100*apart*float64(len(members["arms"]))/float64(len(joints)), 0.1)

	// A limp: right steps take 0.6 s, left ones 0.4 s.
	w.steps = nil
	for i := range 60 {
		w.steps = append(w.steps, float64(i)-2, float64(i)-1.4)
	}
	near(t, "limp", valueOf(t, puppet(20*Rate, w.pose), "left and right step differ", Walk), 0.2, 0.01)
}

// Somebody stands: frozen, then with life, on bent knees, and on a foot that slides.
func TestStand(t *testing.T) {
	frozen := puppet(10*Rate, func(float64, []m3.Vec3) {})
	near(t, "frozen", valueOf(t, frozen, "life of who stands", Stand), 0, 1e-4)
	near(t, "straight knees", valueOf(t, frozen, "knees straighter than 2°", Stand), 1, 0)
	const amplitude, bent = 0.01, 20
	live := puppet(10*Rate, func(s float64, at []m3.Vec3) {
		shift(at, m3.V(0, float32(amplitude*math.Cos(2*math.Pi*s)), 0))
		for side := range 2 {
			shin := at[ankle[side]].Sub(at[knee[side]])
			at[ankle[side]] = at[knee[side]].Add(m3.AxisAngle(m3.V(1, 0, 0), bent*math.Pi/180).Rotate(shin))
			at[hand[side]] = at[chest].Sub(m3.V(0, 0.1, 0.1))
		}
	})
	near(t, "life", valueOf(t, live, "life of who stands", Stand), 100*amplitude*2/math.Pi, 0.01)
	near(t, "knees", valueOf(t, live, "knee bend, mean", Stand), bent, 0.01)
	near(t, "bent knees", valueOf(t, live, "knees straighter than 2°", Stand), 0, 0)
	near(t, "hand in torso", valueOf(t, live, "hand within 14 cm of the spine", Stand), 1, 0)
	uneven := puppet(10*Rate, func(s float64, at []m3.Vec3) {
		shin := at[ankle[0]].Sub(at[knee[0]])
		at[ankle[0]] = at[knee[0]].Add(m3.AxisAngle(m3.V(1, 0, 0), bent*math.Pi/180).Rotate(shin))
		if s < 0.2 {
			at[toe[1]].Y -= 0.03
		}
		for _, j := range toe {
			at[j].Z += float32(0.07 * s)
		}
	})
	near(t, "one knee", valueOf(t, uneven, "left and right knee differ", Stand), bent, 0.01)
	near(t, "under the floor", valueOf(t, uneven, "toe over 2 cm under the floor", Stand), 0.02, 1e-3)
	near(t, "standing feet", valueOf(t, uneven, "planted toe, median", Stand), 7, 0.01)
}

// A swinging foot passes the other at a distance. With feet that pass through each other the share is that of the
// frames in which a toe or an ankle is near the other foot.
func TestFeetPass(t *testing.T) {
	w := walking{speed: 1.2, steps: even(0.5)}
	at := func(apart float32) float64 {
		return valueOf(t, puppet(10*Rate, func(s float64, at []m3.Vec3) {
			w.pose(s, at)
			for side, x := range [2]float32{apart / 2, -apart / 2} {
				at[ankle[side]].X, at[toe[side]].X = x, x
				at[ankle[side]].Y, at[toe[side]].Y = 0.08, 0.02 // a swing that hardly lifts them
			}
		}), "feet within 6 cm", Walk)
	}
	near(t, "feet that pass at 7 cm", at(0.07), 0, 0)
	if share := at(0.02); share < 0.15 || share > 0.35 {
		t.Errorf("feet that pass through each other are within 6 cm in a share of %g", share)
	}
}

// Joints that swing as sines have a known jerk. What alternates from frame to frame is noise.
func TestJerk(t *testing.T) {
	const amplitude, omega = 0.1, 2 * math.Pi
	w := walking{speed: 1.2, steps: even(0.5)}
	m := puppet(20*Rate, func(s float64, at []m3.Vec3) {
		w.pose(s, at)
		for _, j := range members["hands"] {
			at[j].Y += float32(amplitude * math.Sin(omega*s))
		}
		for j := range at {
			at[j].Y += float32(0.001 * math.Cos(math.Pi*Rate*s))
		}
	})
	want := amplitude * omega * omega * omega
	near(t, "hands", valueOf(t, m, "jerk of hands, 99th percentile", Walk), want, want/50)
	near(t, "hips", valueOf(t, m, "jerk of hips, 99th percentile", Walk), 0, 1)
}

// Frames are sorted by speed, direction and turn.
func TestKinds(t *testing.T) {
	along := func(speed, way float64) func(float64, []m3.Vec3) {
		sin, cos := math.Sincos(way * math.Pi / 180)
		return func(s float64, at []m3.Vec3) { shift(at, m3.V(float32(speed*s*sin), 0, float32(speed*s*cos))) }
	}
	circle := func(speed, turn float64) func(float64, []m3.Vec3) {
		omega := turn * math.Pi / 180
		return func(s float64, at []m3.Vec3) {
			for j := range at {
				at[j] = m3.YawQuat(float32(omega * s)).Rotate(at[j].Add(m3.V(float32(-speed/omega), 0, 0)))
			}
		}
	}
	pause := func(s float64, at []m3.Vec3) { // for 1.5 s, in which the smoothed speed is below 0.1 m/s for half a second
		shift(at, m3.V(0, 0, float32(min(s, 1.25)+max(0, s-2.75))))
	}
	for _, c := range []struct {
		name string
		pose func(float64, []m3.Vec3)
		want []Kind
	}{
		{"pauses", pause, []Kind{Slow}},
		{"stands", along(0.05, 0), []Kind{Stand}},
		{"strolls", along(0.3, 0), []Kind{Slow}},
		{"walks", along(1.2, 25), []Kind{Walk, Straight}},
		{"goes diagonally", along(1.2, 45), []Kind{Diagonal}},
		{"runs", along(3, 0), []Kind{Run}},
		{"steps aside", along(1.2, -90), []Kind{Side}},
		{"steps back", along(0.6, 170), []Kind{Back}},
		{"turns", circle(1.3, 45), []Kind{Walk, Bend}},
		{"turns a little", circle(1.3, 20), []Kind{Walk}},
	} {
		b := newBody(puppet(4*Rate, c.pose))
		var want kinds
		for _, k := range c.want {
			want.add(k)
		}
		if got := b.kinds[b.n/2]; got != want {
			t.Errorf("who %s has the kinds %b, want %b", c.name, got, want)
		}
	}
}

// Somebody walks, stops within a known time, stands, and sets off.
func TestStops(t *testing.T) {
	const ramp, dip = 1.2, 0.06 // s from 1.2 m/s to 0; m
	place := func(s float64) float64 {
		switch {
		case s < 4:
			return 1.2 * s
		case s < 4+ramp:
			return 4.8 + 1.2*(s-4) - (s-4)*(s-4)/2
		case s < 8:
			return 4.8 + 1.2*ramp/2
		}
		return 4.8 + 1.2*ramp/2 + 1.2*(s-8)
	}
	m := puppet(12*Rate, func(s float64, at []m3.Vec3) {
		shift(at, m3.V(0, 0, float32(place(s))))
		if s > 4 && s < 4+ramp {
			at[hips].Y -= dip
		}
	})
	changes := newBody(m).changes()
	if len(changes) != 2 || changes[0].start || !changes[1].start {
		t.Fatalf("%+v, want a stop and a start", changes)
	}
	near(t, "stopping", float64(changes[0].to-changes[0].from)/Rate, 0.65, 0.05)
	s := NewSet("test", m)
	near(t, "dip", s.values[Stop][feedDip][0], 100*dip, 0.01)
}

// The fastest second of somebody who speeds up and slows down is in the middle.
func TestFastest(t *testing.T) {
	m := puppet(10*Rate, func(s float64, at []m3.Vec3) { shift(at, m3.V(0, 0, float32(5*s-5*math.Sin(s*math.Pi/5)/math.Pi*5))) })
	if got := m.Fastest(2 * Rate); got != 4*Rate {
		t.Errorf("the fastest 2 s begin at %g s, want 4", float64(got)/Rate)
	}
}

// The posture and swing of people.
func TestPeople(t *testing.T) {
	const raised = 0.05
	w := walking{speed: 1.2, steps: even(0.5), swing: 0.2}
	v := walking{speed: 1.2, steps: even(0.5), swing: 0.4}
	person := func(name string, w walking, up float32) *Motion {
		m := puppet(10*Rate, func(s float64, at []m3.Vec3) {
			w.pose(s, at)
			for _, j := range members["head"] {
				at[j].Y += up
			}
		})
		m.Name = name
		return m
	}
	posture, swing := NewSet("", person("a", w, 0), person("b", w, raised)).people()
	near(t, "posture", posture, 100*raised*2/float64(len(joints)), 0.01)
	near(t, "no swing", swing, 0, 0.01)
	posture, swing = NewSet("", person("a", w, 0), person("b", v, 0)).people()
	near(t, "no posture", posture, 0, 0.05)
	near(t, "swing", swing, 100*0.1*2/math.Pi*2/float64(len(joints)), 0.05)
	if posture, _ = NewSet("", person("a", w, 0)).people(); !math.IsNaN(posture) {
		t.Errorf("one person's posture differs by %g", posture)
	}
}

// The tilt of a recording's floor is taken off, steps in it are not.
func TestLevel(t *testing.T) {
	w := walking{speed: 1.2, steps: even(0.5)}
	for _, c := range []struct {
		height func(p m3.Vec3) float32
		least  float64
		most   float64
	}{
		{func(p m3.Vec3) float32 { return 0.02 * p.Z }, 0, 0.02},
		{func(p m3.Vec3) float32 { return 0.25 * float32(int(p.Z)%2) }, 0.15, 0.35},
	} {
		m := puppet(6*Rate, func(s float64, at []m3.Vec3) {
			w.pose(s, at)
			for j, p := range at {
				at[j].Y += c.height(p)
			}
		})
		m.Level()
		if got := newBody(m).levels(); got < c.least || got > c.most {
			t.Errorf("feet stand at heights %g m apart, want %g to %g", got, c.least, c.most)
		}
	}
}

// Seconds of like motions cannot be told apart. A tremor of the hands gives itself away by their jerk.
func TestTell(t *testing.T) {
	set := func(seed uint64, tremor float64) (out []second) {
		for i := range 5 {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			w := walking{speed: 1.1 + 0.1*rng.NormFloat64(), swing: 0.3 + 0.02*rng.NormFloat64()}
			for range 60 {
				w.steps = append(w.steps, -1+0.5*float64(len(w.steps))+0.01*rng.NormFloat64())
			}
			m := puppet(6*Rate, func(s float64, at []m3.Vec3) {
				w.pose(s, at)
				for j := range at {
					at[j] = at[j].Add(m3.V(float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())).Scale(0.001))
				}
				for _, j := range hand {
					at[j].Y += float32(tremor * rng.NormFloat64())
				}
			})
			out = append(out, newBody(m).seconds(i)...)
		}
		return out
	}
	first, second, trembles := set(1, 0), set(2, 0), set(1, 0.004)
	same, ok := tell("walk", "recordings", first, second)
	if !ok || same.Accuracy > 0.85 {
		t.Errorf("like motions: %+v", same)
	}
	other, ok := tell("walk", "recordings", trembles, second)
	if !ok || other.Accuracy < 0.95 || other.Groups[0].Accuracy > 0.9 || other.Groups[3].Accuracy < 0.95 || !strings.HasSuffix(other.By[0].Feature, "Hand") {
		t.Errorf("a tremor: %+v", other)
	}
	if _, ok := tell("walk", "recordings", first[:leastTold-1], second); ok {
		t.Error("too few windows were told apart")
	}
}

// Pairs have one kind and like speeds, use each excerpt once, and put the recorded one on either side.
func TestPairs(t *testing.T) {
	at := func(speed float32) *Motion {
		return puppet(4*Rate, func(s float64, at []m3.Vec3) { shift(at, m3.V(0, 0, speed*float32(s))) })
	}
	var made, recorded []Excerpt
	for _, speed := range []float32{0, 1, 1.5, 3} {
		made = append(made, Excerpts(at(speed), 2*Rate)...)
		recorded = append(recorded, Excerpts(at(speed+0.05), Rate)...)
	}
	aside := func(s float64, at []m3.Vec3) { shift(at, m3.V(float32(1.05*s), 0, 0)) }
	recorded = append(recorded, Excerpts(puppet(9*Rate, aside), Rate)...) // as fast as a walk, and another kind
	recorded = slices.DeleteFunc(recorded, func(e Excerpt) bool { return e.Kind == Walk && e.Speed < 1.2 && e.From > Rate })
	if len(made) != 8 || made[2].From != 0 || made[3].From != 2*Rate {
		t.Fatalf("%d excerpts: %+v", len(made), made)
	}
	pairs, left := Pairs(made, recorded, 8, 3), 0
	for i, p := range pairs {
		if p.Made.Kind != p.Recorded.Kind || math.Abs(p.Made.Speed-p.Recorded.Speed) > 0.06 {
			t.Errorf("a %v at %.2f m/s beside a %v at %.2f", p.Made.Kind, p.Made.Speed, p.Recorded.Kind, p.Recorded.Speed)
		}
		for _, q := range pairs[:i] {
			if p.Recorded == q.Recorded || p.Made == q.Made {
				t.Error("an excerpt is shown twice")
			}
		}
		if p.Left {
			left++
		}
	}
	if !slices.Equal(Pairs(made, recorded, 8, 3), pairs) || slices.Equal(Pairs(made, recorded, 8, 4), pairs) {
		t.Error("the seed does not decide")
	}
	if len(pairs) != 8 || left == 0 || left == 8 || len(Pairs(made, recorded, 3, 1)) != 3 {
		t.Errorf("%d pairs, %d with the recorded one on the left", len(pairs), left)
	}
}

// Intervals of Clopper and Pearson: 8 of 10 from their table, and the ends.
func TestInterval(t *testing.T) {
	low, high := Interval(8, 10)
	near(t, "low", low, 0.444, 0.001)
	near(t, "high", high, 0.975, 0.001)
	low, high = Interval(0, 10)
	near(t, "none: low", low, 0, 0)
	near(t, "none: high", high, 0.308, 0.001)
}
