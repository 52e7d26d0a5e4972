package matching_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/matching"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
	"mannequin/models"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// rester is the shipped person alone in a crowd.
type rester struct {
	t        *testing.T
	crowd    *animsys.Crowd
	schedule *ecs.Schedule
	e        arche.Entity
	goal     *control.Goal
}

func newRester(t *testing.T, f *matching.File) *rester {
	t.Helper()
	return newResterOf(t, must.Get(f.NewStream(matching.StreamOptions{Capacity: 1}))(t))
}

func newResterOf(t *testing.T, by generator.Generator[control.Goal]) *rester {
	t.Helper()
	w := arche.NewWorld()
	r := &rester{t: t, crowd: must.Get(animsys.NewCrowd(&w, by, animsys.Options{Ground: ik.Level(0)}))(t)}
	t.Cleanup(func() { r.crowd.Close() })
	r.schedule = must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	r.e = must.Get(r.crowd.Spawn(m3.Vec3{}, 0))(t)
	goals := generic.NewMap1[control.Goal](&w)
	r.goal = goals.Get(r.e)
	return r
}

func actionOf(t *testing.T, f *matching.File, name string) control.Action {
	t.Helper()
	a, ok := f.Character().Action(name)
	if !ok {
		t.Fatalf("no %s", name)
	}
	return a
}

// steps returns the joints' places after each of some ticks, (ticks, joints).
func (r *rester) steps(ticks int) (out [][]m3.Vec3) {
	r.t.Helper()
	for range ticks {
		must.Do(r.t, r.schedule.Step())
		var at []m3.Vec3
		for _, x := range r.crowd.Bones(r.e) {
			at = append(at, x.Pos)
		}
		out = append(out, at)
	}
	return out
}

// life returns the mean distance of joints from their mean over a second, m.
func life(poses [][]m3.Vec3) float32 {
	const second = animsys.TickRate
	sum, n := float32(0), 0
	for from := 0; from+second <= len(poses); from += second {
		for j := range poses[from] {
			var mean m3.Vec3
			for _, p := range poses[from : from+second] {
				mean = mean.Add(p[j].Scale(1.0 / second))
			}
			for _, p := range poses[from : from+second] {
				sum += p[j].Dist(mean)
				n++
			}
		}
	}
	return sum / float32(n)
}

// A standing agent moves as recorded people do who stand (0.37 cm within a second), and stays where it is. All but its legs,
// which now and then take a step, moves smoothly. It sets off as soon as the goal moves. What it shows is in the file.
func TestResting(t *testing.T) {
	l := must.Get(models.OpenCharacter("hero"))(t).Learned
	n := l.Networks()
	if len(n.Idles) < 8 {
		t.Fatalf("%d idles", len(n.Idles))
	}
	var b bytes.Buffer
	must.Do(t, (&matching.File{Learned: l}).Encode(&b))
	f := must.Get(matching.DecodeFile(b.Bytes()))(t)
	if f.Learned.Fingerprint() != l.Fingerprint() || len(f.Learned.Networks().Idles) != len(n.Idles) {
		t.Errorf("the file has %d idles", len(f.Learned.Networks().Idles))
	}
	r := newRester(t, f)
	r.steps(2 * animsys.TickRate)
	poses := r.steps(40 * animsys.TickRate)
	var fastest, bent float32 // m/s, m/s in a tick
	legs := map[int]bool{}
	for _, l := range r.crowd.Ground.Rig.Roles.Legs {
		for j := range r.crowd.Skel.Len() {
			legs[j] = legs[j] || slices.Contains(l, j) || legs[int(r.crowd.Skel.Parents[j])]
		}
	}
	for k := 2; k < len(poses); k++ {
		for j := range poses[k] {
			v, was := poses[k][j].Sub(poses[k-1][j]).Scale(animsys.TickRate), poses[k-1][j].Sub(poses[k-2][j]).Scale(animsys.TickRate)
			if fastest = max(fastest, v.Len()); !legs[j] {
				bent = max(bent, v.Dist(was))
			}
		}
	}
	at := r.crowd.Root(r.e).Pos
	t.Logf("joints move by %.2f cm within a second, at up to %.2f m/s, which changes by up to %.2f m/s in a tick; it stands at %v", 100*life(poses), fastest, bent, at)
	if x := life(poses); x < 0.001 || x > 0.01 || fastest > 0.5 || bent > 0.05 || at.Len() > 0.01 {
		t.Errorf("joints move by %.2f cm within a second, at up to %.2f m/s, which changes by up to %.2f m/s in a tick; it stands at %v", 100*x, fastest, bent, at)
	}
	*r.goal = control.Goal{Move: m3.V(0, 0, 1), Speed: 1.2}
	r.steps(animsys.TickRate)
	if z := r.crowd.Root(r.e).Pos.Sub(at).Z; z < 0.3 {
		t.Errorf("a second after it was asked to go it is %.2f m farther", z)
	}
	db := testmatching.People(t)
	n = testmatching.Learned(t).Networks()
	n.Idles = []matching.Idle{{Tags: 1, States: []float32{1}}}
	if _, err := matching.NewLearned(db, n); err == nil {
		t.Error("an idle of one value is taken")
	}
}

// A person who crouches on the spot stays low. A person who sits stays seated and moves a little.
func TestStances(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	for _, name := range []string{"crouch", "sit"} {
		action := actionOf(t, f, name)
		r := newRester(t, f)
		head := r.crowd.Skel.Index("Head")
		upright := r.steps(2 * animsys.TickRate)[100]
		stands, tall := upright[0].Y, upright[head].Y
		r.goal.Action = action
		r.steps(4 * animsys.TickRate)
		poses := r.steps(20 * animsys.TickRate)
		low, high, top := stands, float32(0), float32(0)
		for _, p := range poses {
			low, high, top = min(low, p[0].Y), max(high, p[0].Y), max(top, p[head].Y)
		}
		t.Logf("%s: the hips stand at %.2f m and are %.2f to %.2f m high, the head at %.2f and up to %.2f; joints move by %.3f cm within a second", name, stands, low, high, tall, top, 100*life(poses))
		if high > 0.9*stands || top > 0.87*tall || high-low > 0.06 || life(poses) < 0.0002 {
			t.Errorf("%s: the hips stand at %.2f m and are %.2f to %.2f m high, the head at %.2f and up to %.2f; joints move by %.3f cm within a second", name, stands, low, high, tall, top, 100*life(poses))
		}
		*r.goal = control.Goal{}
		if y := r.steps(4 * animsys.TickRate)[239][0].Y; y < 0.97*stands {
			t.Errorf("%s: afterwards the hips are %.2f m high, they were %.2f", name, y, stands)
		}
	}
}

// A person who stands up has a foot on the ground, however long it has sat or crouched.
func TestStandsUp(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	for _, name := range []string{"sit", "crouch"} {
		action := actionOf(t, f, name)
		for ticks := 20; ticks < 6*animsys.TickRate; ticks += 37 {
			r := newRester(t, f)
			r.steps(animsys.TickRate)
			r.goal.Action = action
			r.steps(ticks)
			*r.goal = control.Goal{}
			for k, p := range r.steps(3 * animsys.TickRate) {
				lowest := float32(1)
				for _, l := range r.crowd.Ground.Rig.Roles.Legs {
					lowest = min(lowest, p[l[len(l)-1]].Y)
				}
				if lowest > 0.06 {
					t.Fatalf("%d ticks of %s, and %d later both feet are at least %.2f m high", ticks, name, k, lowest)
				}
			}
		}
	}
}

// feet returns the ends of the legs of a pose.
func (r *rester) feet(pose []m3.Vec3) (out []m3.Vec3) {
	for _, l := range r.crowd.Ground.Rig.Roles.Legs {
		out = append(out, pose[l[len(l)-1]])
	}
	return out
}

// The feet of a person stay in place while it sits down and stands up, and the trunk bows over them. After a jump the person rises from the landing within a second. A
// roll covers two to four metres; the feet stay above the ground, and hardly slide after they have landed.
func TestMovesOverFeet(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	action := func(name string) control.Action { return actionOf(t, f, name) }
	r := newRester(t, f)
	stands := r.steps(2 * animsys.TickRate)
	at := r.feet(stands[len(stands)-1])
	moved := func(poses [][]m3.Vec3) (most float32) {
		for _, p := range poses {
			for i, q := range r.feet(p) {
				most = max(most, q.Flat().Dist(at[i].Flat()))
			}
		}
		return most
	}
	r.goal.Action = action("sit")
	down := r.steps(3 * animsys.TickRate)
	*r.goal = control.Goal{}
	up := r.steps(2 * animsys.TickRate)
	back := down[len(down)-1][0].Dist(stands[len(stands)-1][0])
	if a, b := moved(down), moved(up); a > 0.1 || b > 0.15 || back < 0.4 {
		t.Errorf("feet move by %.2f m in sitting down, then by %.2f; hips by %.2f", a, b, back)
	}
	bows := func(poses [][]m3.Vec3) (most float32) { // of the line from the hips to the neck
		neck := r.crowd.Ground.Rig.Roles.Neck
		for _, p := range poses {
			trunk := p[neck].Sub(p[0])
			most = max(most, m3.Atan2(trunk.Z, trunk.Y))
		}
		return most
	}
	a, b, seat := bows(down), bows(up), bows(down[len(down)-1:])
	t.Logf("it bows by %.2f rad as it sits down, and by %.2f as it gets up; in the seat by %.2f", a, b, seat)
	if min(a, b) < 0.35 || max(a, b) > 0.8 || seat > 0.2 {
		t.Errorf("it bows by %.2f rad as it sits down, and by %.2f as it gets up; in the seat by %.2f", a, b, seat)
	}

	height := stands[0][0].Y
	r = newRester(t, f)
	r.steps(2 * animsys.TickRate)
	r.goal.Action = action("jump")
	r.steps(6)
	*r.goal = control.Goal{}
	lowest, rises := height, 0
	for k, p := range r.steps(3 * animsys.TickRate) {
		if lowest = min(lowest, p[0].Y); p[0].Y < 0.95*height {
			rises = k
		}
	}
	if lowest > 0.93*height || rises > 70 {
		t.Errorf("a jump lands with hips at %.2f m, and they are up after %d ticks", lowest, rises)
	}

	r = newRester(t, f)
	r.steps(2 * animsys.TickRate)
	r.goal.Action = action("roll")
	r.steps(6)
	*r.goal = control.Goal{}
	var low, slid float32
	landed := map[int]m3.Vec3{} // where each foot comes down
	poses := r.steps(80)        // then it takes a step to stand
	for k, p := range poses {
		for i, q := range r.feet(p) {
			low = min(low, q.Y)
			if place, ok := landed[i]; ok {
				slid = max(slid, q.Dist(place))
			} else if k >= 40 && q.Y < 0.05 {
				landed[i] = q
			}
		}
	}
	if way := poses[len(poses)-1][0].Flat().Len(); low < 0 || len(landed) < 2 || slid > 0.35 || way < 2 || way > 4 {
		t.Errorf("a roll covers %.2f m; feet are at least %.2f m high, %d land, and slide by %.2f m", way, low, len(landed), slid)
	}
}

// A person who runs and stops takes a step ahead, and its hips stay high.
func TestStopsUpright(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	var lowest, mean float32 = 1, 0
	const phases = 10
	for k := range phases {
		r := newRester(t, f)
		r.goal.Move, r.goal.Speed = m3.V(0, 0, 1), 3.5
		r.steps(3*animsys.TickRate + 5*k)
		*r.goal = control.Goal{}
		low := float32(1)
		for _, p := range r.steps(animsys.TickRate) {
			low = min(low, p[0].Y)
		}
		lowest, mean = min(lowest, low), mean+low/phases
	}
	t.Logf("hips come down to %.3f m at the lowest, %.3f in the mean", lowest, mean)
	if lowest < 0.86 || mean < 0.91 {
		t.Errorf("hips come down to %.3f m at the lowest, %.3f in the mean", lowest, mean)
	}
}

// A person who is hit stands as before 1.5 s after the hit. A person who rolls from a stand speeds up over several ticks. A turn of
// 180° on the spot takes as long as people take, and has steps.
func TestActionsBeginAndEnd(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	action := func(name string) control.Action { return actionOf(t, f, name) }
	r := newRester(t, f)
	before := r.steps(3 * animsys.TickRate)
	r.goal.Action = action("hit")
	r.steps(6)
	*r.goal = control.Goal{}
	poses, far := r.steps(3*animsys.TickRate), float32(0)
	apart := func(a, b []m3.Vec3) (mean float32) { // under the hips: a hit pushes a person back
		by := b[0].Sub(a[0]).Flat()
		for j := range a {
			mean += a[j].Add(by).Dist(b[j]) / float32(len(a))
		}
		return mean
	}
	stands := before[len(before)-1]
	for _, p := range poses {
		far = max(far, apart(p, stands))
	}
	const hit = 0.06 // m; the animation that it has learned moves joints by 0.075 in the mean
	if end := apart(poses[len(poses)-1], stands); end > 0.07 || far < hit {
		t.Errorf("after a hit, of up to %.2f m, joints are %.2f m from where they were", far, end)
	}

	r = newRester(t, f)
	r.steps(2 * animsys.TickRate)
	r.goal.Action = action("roll")
	var speeds []float32
	for was := r.crowd.Root(r.e).Pos; len(speeds) < 30; {
		r.steps(1)
		at := r.crowd.Root(r.e).Pos
		speeds, was = append(speeds, at.Dist(was)*animsys.TickRate), at
	}
	if most := slices.Max(speeds); most < 2 || speeds[0] > 0.6 || speeds[3] > 2 {
		t.Errorf("speeds of the first ticks of a roll: %.2f m/s", speeds)
	}

	r = newRester(t, f)
	r.steps(2 * animsys.TickRate)
	ticks := 0
	for ; ticks < 2*animsys.TickRate; ticks++ {
		back := r.crowd.Root(r.e).Rot.Conj().Rotate(m3.V(0.05, 0, -1))
		if *r.goal = (control.Goal{Face: back}); m3.Abs(m3.YawOf(back)) < 0.2 {
			break
		}
		r.steps(1)
	}
	if s := float32(ticks) / animsys.TickRate; s < 0.7 || s > 1.2 {
		t.Errorf("it turns round on the spot in %.2f s", s)
	}
}

// A person who sits gets up before it goes, over feet that stay under it.
func TestGetsUpFirst(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	for k, yaw := range []float32{0, 1, 2, math.Pi, -2, -1} {
		r := newRester(t, f)
		r.steps(animsys.TickRate)
		r.goal.Action = actionOf(t, f, "sit")
		r.steps(3*animsys.TickRate + 10*k)
		way := r.crowd.Root(r.e).Rot.Rotate(m3.YawQuat(yaw).Forward())
		var slid [2]float32
		up, goes := 0, 0
		for was := r.feet(r.steps(1)[0]); goes == 0 && up < 2*animsys.TickRate; up++ {
			back := r.crowd.Root(r.e).Rot.Conj().Rotate(way)
			*r.goal = control.Goal{Move: back, Face: back, Speed: 3.5}
			at, pose := r.crowd.Root(r.e).Pos, r.steps(1)[0]
			feet := r.feet(pose)
			if r.crowd.Root(r.e).Pos.Dist(at)*animsys.TickRate > 3 {
				goes = up
			}
			for i := range feet {
				if feet[i].Y < stood+0.01 && pose[0].Y < 0.9 && goes == 0 {
					slid[i] += feet[i].Dist(was[i])
				}
			}
			was = feet
		}
		if worst := max(slid[0], slid[1]); worst > 0.1 || goes == 0 || goes > 80 {
			t.Errorf("it goes to %.0f rad from a seat: its feet slide by %.2f m, and it goes after %d ticks", yaw, worst, goes)
		}
	}
}

// A person who stands sets off to a run by steps: no foot is dragged over the ground as the pose changes.
func TestSetsOffBySteps(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	const low = stood + 0.01 // m
	var worst, sum float32
	const starts = 12
	for k := range starts {
		r := newRester(t, f)
		r.steps(2*animsys.TickRate + 17*k)
		r.goal.Move, r.goal.Speed = m3.YawQuat(float32(k)*2*math.Pi/starts).Forward(), 3.5
		poses := r.steps(animsys.TickRate / 2)
		var most float32
		for foot := range r.feet(poses[0]) {
			var slid float32
			for i := 1; i < len(poses); i++ {
				was, is := r.feet(poses[i-1])[foot], r.feet(poses[i])[foot]
				if is.Y > low {
					slid = 0
				}
				slid += is.Sub(was).Flat().Len()
				most = max(most, slid)
			}
		}
		worst, sum = max(worst, most), sum+most
	}
	t.Logf("feet slide by %.2f m in the mean and at most by %.2f", sum/starts, worst)
	if worst > 0.15 || sum > starts*0.12 {
		t.Errorf("feet slide by %.2f m in the mean and at most by %.2f", sum/starts, worst)
	}
}

const stood = 0.032 // height of a standing person's toes, m

// A person who sets off to a run, or turns at a run, keeps a foot on the ground as long as its networks do: the body does not float from the
// pose that it leaves to the one that it takes.
func TestCarriesItself(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	const (
		up, speed = stood + 0.03, 3.5 // m, m/s
		commands  = 12
	)
	floats := func(way m3.Vec3, runs bool, k int) (ticks int) {
		s := must.Get(f.Learned.NewStream(matching.StreamOptions{Capacity: 1}))(t)
		r := newResterOf(t, s)
		ask := func(way m3.Vec3, ticks int) (floats int) {
			for range ticks {
				back := r.crowd.Root(r.e).Rot.Conj().Rotate(way)
				*r.goal = control.Goal{Move: back, Face: back, Speed: speed}
				feet := r.feet(r.steps(1)[0])
				if feet[0].Y > up && feet[1].Y > up && s.Stands(0) != 0 {
					floats++
				}
			}
			return floats
		}
		if r.steps(2 * animsys.TickRate); runs {
			ask(m3.V(0, 0, 1), 2*animsys.TickRate)
		}
		ask(m3.V(0, 0, float32(map[bool]int{true: 1}[runs])), 5*k)
		return ask(way, animsys.TickRate)
	}
	for _, c := range []struct {
		name string
		turn float32 // rad; 0: as many ways as commands
		runs bool
		most float32 // ticks in which it floats, mean of the commands
	}{{"sets off", 0, false, 4}, {"turns", math.Pi / 2, true, 2}, {"turns round", math.Pi, true, 4}} {
		var sum int
		for k := range commands {
			turn := c.turn
			if turn == 0 {
				turn = float32(k) * 2 * math.Pi / commands
			} else if k%2 == 1 {
				turn = -turn
			}
			sum += floats(m3.YawQuat(turn).Forward(), c.runs, k)
		}
		mean := float32(sum) / commands
		t.Logf("%s: it floats for %.1f ticks", c.name, mean)
		if mean > c.most {
			t.Errorf("%s: it floats for %.1f ticks, more than %.1f", c.name, mean, c.most)
		}
	}
}

// The foot that a person leaves behind as it sets off turns up about its tip: the hips do not sink for it.
func TestPushesOff(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	const ways = 8
	lowest := float32(math.MaxFloat32)
	for k := range 2 * ways {
		s := must.Get(f.Learned.NewStream(matching.StreamOptions{Capacity: 1}))(t)
		r := newResterOf(t, s)
		r.steps(animsys.TickRate + 40*k)
		way := m3.YawQuat(float32(k) * 2 * math.Pi / ways).Forward()
		for range animsys.TickRate {
			back := r.crowd.Root(r.e).Rot.Conj().Rotate(way)
			*r.goal = control.Goal{Move: back, Face: back, Speed: 2.5}
			lowest = min(lowest, r.steps(1)[0][0].Y)
		}
	}
	t.Logf("hips sink to %.2f m", lowest)
	if lowest < 0.81 {
		t.Errorf("hips sink to %.2f m", lowest)
	}
}
