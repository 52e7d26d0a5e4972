// Package controller measures characters that are steered by goals: do they go as fast as they are asked to and where,
// how soon do they answer, do their feet slide, do they jerk, what do they cost. The same table is for every
// character and for every generator that takes control.Goal.
package controller

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Subject is what is measured.
type Subject struct {
	// New makes the generator for a number of agents.
	New func(capacity int) (generator.Generator[control.Goal], error)
	// Clips are the recordings that it plays or has learned from, at 60 frames per second, on the generator's
	// skeleton with the floor at 0: slide and jerk are compared with theirs. nil: they are not.
	Clips []*skel.Clip
	// Speeds are asked for, ascending, units of the skeleton a second: Gaits of matching.Character.Speeds.
	Speeds []float32
	Top    float32 // likewise, of the fastest gait, which only has to be held; 0: the last of Speeds
	// Moves says which frames of the clips show a body that goes, (clips, frames). nil: all.
	Moves [][]bool
	Size  float32 // metres per unit of the skeleton's; 0: 1
	// Action returns the action of a name, and whether the character shows it; nil: it shows none.
	Action func(name string) (control.Action, bool)
	// Memory is the bytes of what is played; 0: it is not known.
	Memory int
}

// Gaits is the number of speeds that a character is asked for, so that each of its gaits is among them.
const Gaits = 5

// Report is the measures. Lengths and speeds are those of the character's own size.
type Report struct {
	// Speeds are those of the subject and its top speed, ahead, and the slowest of them to either side and backward.
	Speeds []Held `json:"speeds"`
	// Changes are those of speed ahead, from standing and each of the speeds to each of them and to some between them.
	Changes []Change `json:"changes"`
	// Means over the speeds, s: until the velocity is within a quarter of the one that is asked for.
	Start, Stop, Turn90, Turn180 float64
	Path                         Path `json:"path"`
	Slide                        Pair `json:"slide"` // mean speed of feet that stand while the body goes, m/s
	Jerk                         Pair `json:"jerk"`  // 99.9th percentile of all joints', m/s³
	// Pose is the mean distance of joints from those of the nearest pose of the clips, m, and Coverage the share of the clips'
	// poses that came up in the courses: within 5 cm of a usual body's.
	Pose     float64 `json:"pose"`
	Coverage float64 `json:"coverage"`
	Memory   int     `json:"memory"` // bytes of recordings or networks; 0: not known
	Finite   bool    `json:"finite"`
	Micros   float64 `json:"micros"` // of a whole tick, for each of Agents agents on one core
	Agents   int     `json:"agents"`
}

// Path is how a character follows a circle: mean distance, m, and mean angle to its direction, degrees.
type Path struct{ Radius, Distance, Angle float64 }

// Pair is a measure of what is shown and of the clips.
type Pair struct{ Shown, Clips float64 }

// Ratio is what is shown as a share of the clips'.
func (p Pair) Ratio() float64 { return p.Shown / max(p.Clips, 1e-9) }

// ErrStill says that there is no speed to be asked for.
var ErrStill = errors.New("controller: the clips do not move over the ground")

// Measure runs the courses.
func Measure(s Subject) (_ *Report, err error) {
	if len(s.Speeds) == 0 {
		return nil, ErrStill
	}
	if s.Size == 0 {
		s.Size = 1
	}
	r := &Report{Finite: true, Agents: 200}
	var slide, jerk []float64
	var shown poses
	count := map[*float64]float64{}
	mean := func(to *float64, v float64) { *to += v; count[to]++ }
	for _, v := range s.Speeds {
		run, err := s.course(v, r)
		if err != nil {
			return nil, err
		}
		slide, jerk = append(slide, run.slide...), append(jerk, run.jerk...)
		shown.joints, shown.at = run.poses.joints, append(shown.at, run.poses.at...)
		mean(&r.Start, run.start)
		mean(&r.Stop, run.stop)
		mean(&r.Turn90, run.turn90)
		mean(&r.Turn180, run.turn180)
	}
	for to, n := range count {
		*to /= n
	}
	if r.Speeds, err = s.gaits(); err != nil {
		return nil, err
	}
	if r.Changes, err = s.changes(); err != nil {
		return nil, err
	}
	size := float64(s.Size)
	ownSlide, ownJerk, err := s.own()
	if err != nil {
		return nil, err
	}
	r.Slide = Pair{size * average(slide), size * average(ownSlide)}
	r.Jerk = Pair{size * quantile(jerk, 0.999), size * quantile(ownJerk, 0.999)}
	if len(s.Clips) > 0 {
		const most, reach = 6000, 0.05
		clips := sampled(s.Clips, most)
		r.Pose, r.Coverage = shown.beside(&clips, reach)
		r.Pose *= size
	}
	r.Memory = s.Memory
	if r.Path, err = s.path(s.Speeds[len(s.Speeds)/2]); err != nil {
		return nil, err
	}
	r.Path.Radius, r.Path.Distance = r.Path.Radius*size, r.Path.Distance*size
	r.Micros, err = s.cost(r.Agents, s.Speeds[len(s.Speeds)/2])
	return r, err
}

// world is a crowd that runs a course.
type world struct {
	ecs      arche.World
	crowd    *animsys.Crowd
	schedule *ecs.Schedule
	goals    generic.Map1[control.Goal]
	agents   []arche.Entity
}

func (s *Subject) world(agents int) (*world, error) {
	g, err := s.New(agents)
	if err != nil {
		return nil, err
	}
	w := &world{ecs: arche.NewWorld()}
	if w.crowd, err = animsys.NewCrowd(&w.ecs, g, animsys.Options{Ground: ik.Level(0), Workers: 1}); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	if w.schedule, err = ecs.NewSchedule(&w.ecs, 1.0/animsys.TickRate, animsys.Systems()...); err != nil {
		return nil, errors.Join(err, w.crowd.Close())
	}
	w.goals = generic.NewMap1[control.Goal](&w.ecs)
	for i := range agents {
		e, err := w.crowd.Spawn(m3.V(float32(4*(i%20)), 0, float32(4*(i/20))), 0)
		if err != nil {
			return nil, errors.Join(err, w.crowd.Close())
		}
		w.agents = append(w.agents, e)
	}
	return w, nil
}

// command is a velocity of the world and a direction to face, for some ticks.
type command struct {
	name           string
	velocity, face m3.Vec3
	ticks          int
}

// commands are the course at a speed.
func commands(speed float32) []command {
	ahead, left := m3.V(0, 0, 1), m3.V(1, 0, 0)
	const second = animsys.TickRate
	return []command{
		{"stand", m3.Vec3{}, ahead, second}, {"ahead", ahead.Scale(speed), ahead, 4 * second}, {"left", left.Scale(speed), left, 4 * second},
		{"back", left.Scale(-speed), left.Neg(), 4 * second}, {"stop", m3.Vec3{}, left.Neg(), 3 * second},
	}
}

// Record returns the motion of the course at all speeds as a clip, and what was asked for in each frame.
func Record(s Subject) (*skel.Clip, []string, error) {
	w, err := s.world(1)
	if err != nil {
		return nil, nil, err
	}
	defer w.crowd.Close()
	out := &skel.Clip{Skel: w.crowd.Skel, FPS: animsys.TickRate}
	n, e := out.Skel.Len(), w.agents[0]
	var asked []string
	for _, v := range s.Speeds {
		for _, c := range commands(v) {
			for range c.ticks {
				w.ask(e, c.velocity, c.face)
				if err := w.schedule.Step(); err != nil {
					return nil, nil, err
				}
				pos, rot := make([]m3.Vec3, n), make([]m3.Quat, n)
				out.Skel.ModelToLocal(pos, rot, w.crowd.Bones(e))
				out.Pos, out.Rot, out.Frames = append(out.Pos, pos...), append(out.Rot, rot...), out.Frames+1
				asked = append(asked, fmt.Sprintf("%s, %.1f m/s", c.name, c.velocity.Len()*cmp.Or(s.Size, 1)))
			}
		}
	}
	return out, asked, nil
}

// ask makes a stick of the world the goal of an agent.
func (w *world) ask(e arche.Entity, velocity, face m3.Vec3) {
	back := w.crowd.Root(e).Rot.Conj()
	g := control.Goal{Move: back.Rotate(velocity.Normalize(m3.Vec3{})), Speed: velocity.Len()}
	if face != (m3.Vec3{}) {
		g.Face = back.Rotate(face)
	}
	*w.goals.Get(e) = g
}

// run is what a course showed.
type run struct {
	start, stop, turn90, turn180 float64
	slide, jerk                  []float64
	poses                        poses // some
}

// course starts, turns by a right angle, turns back, and stops, at a speed.
func (s *Subject) course(speed float32, r *Report) (*run, error) {
	w, err := s.world(1)
	if err != nil {
		return nil, err
	}
	defer w.crowd.Close()
	e, watch := w.agents[0], newWatch(w.crowd, s.slow())
	var roots []m3.Vec3
	out := &run{}
	for i, c := range commands(speed) {
		from := len(roots)
		for range c.ticks {
			w.ask(e, c.velocity, c.face)
			if err := w.schedule.Step(); err != nil {
				return nil, err
			}
			roots = append(roots, w.crowd.Root(e).Pos)
			r.Finite = r.Finite && roots[len(roots)-1].Finite()
			watch.add(w.crowd.Bones(e), c.velocity != m3.Vec3{})
			if len(roots)%sparse == 0 {
				out.poses.add(w.crowd.Bones(e))
			}
		}
		took := answered(roots[from:], c.velocity, speed)
		switch i {
		case 1:
			out.start = took
		case 2:
			out.turn90 = took
		case 3:
			out.turn180 = took
		case 4:
			out.stop = took
		}
	}
	out.slide, out.jerk = watch.slide, watch.jerk
	return out, nil
}

// sparse is the number of ticks between poses that are compared with the clips'.
const sparse = 15

// answered returns the seconds until the velocity is within a quarter of the speed of the one that is asked for.
func answered(roots []m3.Vec3, velocity m3.Vec3, speed float32) float64 {
	const span = 6
	for f := span; f < len(roots); f++ {
		v := roots[f].Sub(roots[f-span]).Scale(animsys.TickRate / float32(span))
		if v.Dist(velocity) < 0.25*speed {
			return float64(f) / animsys.TickRate
		}
	}
	return float64(len(roots)) / animsys.TickRate
}

// path follows a circle.
func (s *Subject) path(speed float32) (p Path, err error) {
	p.Radius = max(2, 2*float64(speed))
	circle, err := control.Circle(float32(p.Radius))
	if err != nil {
		return p, err
	}
	w, err := s.world(1)
	if err != nil {
		return p, err
	}
	defer w.crowd.Close()
	e, n := w.agents[0], 0
	for tick := range 20 * animsys.TickRate {
		*w.goals.Get(e) = control.Goal{Path: circle, Speed: speed}
		if err := w.schedule.Step(); err != nil {
			return p, err
		}
		if tick < 8*animsys.TickRate {
			continue
		}
		root := w.crowd.Root(e)
		at, off := circle.Nearest(root.Pos)
		_, dir := circle.At(at)
		n++
		p.Distance += float64(off)
		p.Angle += float64(m3.Acos(root.Rot.Forward().Dot(dir))) * 180 / math.Pi
	}
	p.Distance, p.Angle = p.Distance/float64(n), p.Angle/float64(n)
	return p, nil
}

// cost returns the microseconds of a tick for each of many agents that change what they do.
func (s *Subject) cost(agents int, speed float32) (float64, error) {
	w, err := s.world(agents)
	if err != nil {
		return 0, err
	}
	defer w.crowd.Close()
	const warm, ticks = 60, 120
	var begin time.Time
	for tick := range warm + ticks {
		if tick == warm {
			begin = time.Now()
		}
		for i, e := range w.agents {
			if (tick+7*i)%90 == 0 {
				w.ask(e, m3.YawQuat(float32(i+tick)).Forward().Scale(speed*float32(i%3)/2), m3.Vec3{})
			}
		}
		if err := w.schedule.Step(); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(begin).Nanoseconds()) / 1000 / ticks / float64(agents), nil
}

// own returns slide and jerk of the clips, as they are.
func (s *Subject) own() (slide, jerk []float64, err error) {
	w, err := s.world(1)
	if err != nil {
		return nil, nil, err
	}
	defer w.crowd.Close()
	for i, c := range s.Clips {
		if c.Skel.Len() != w.crowd.Skel.Len() {
			return nil, nil, fmt.Errorf("controller: clip %d has %d joints, the generator %d", i, c.Skel.Len(), w.crowd.Skel.Len())
		}
		watch, model := newWatch(w.crowd, s.slow()), make([]m3.Xform, c.Skel.Len())
		for f := range c.Frames {
			c.Model(model, f)
			watch.add(model, s.Moves == nil || s.Moves[i][f])
		}
		slide, jerk = append(slide, watch.slide...), append(jerk, watch.jerk...)
	}
	return slide, jerk, nil
}

// watch follows the joints of one body.
type watch struct {
	tips        []int
	floor       float32 // height of the tip of a leg below which it is on the ground
	slow        float32 // speed of the body up to which its feet are not watched, m/s
	last        [3][]m3.Vec3
	seen        int
	slide, jerk []float64
}

// slow returns the speed of the hips up to which a body does not go: a third of the slowest that is asked for. Feet under a
// body that shifts its weight, or has stopped, would hide those that slide.
func (s *Subject) slow() float32 {
	return s.Speeds[0] / 3
}

func newWatch(c *animsys.Crowd, slow float32) *watch {
	// Feet on the ground are lower than 3 cm over their soles.
	w := &watch{floor: c.Ground.Sole + 0.03, slow: slow}
	for _, l := range c.Ground.Rig.Roles.Legs {
		w.tips = append(w.tips, l[len(l)-1])
	}
	for i := range w.last {
		w.last[i] = make([]m3.Vec3, c.Skel.Len())
	}
	return w
}

func (w *watch) add(bones []m3.Xform, moves bool) {
	if w.seen > 0 && moves {
		body := bones[0].Pos.Sub(w.last[0][0]).Flat().Len()
		for _, j := range w.tips {
			if body*animsys.TickRate <= w.slow {
				break
			}
			// A low foot that goes as fast as the body swings.
			if a, b := w.last[0][j], bones[j].Pos; a.Y < w.floor && b.Y < w.floor && b.Sub(a).Flat().Len() < 0.5*body {
				w.slide = append(w.slide, float64(b.Sub(a).Flat().Len())*animsys.TickRate)
			}
		}
	}
	if w.seen > 2 {
		const rate = animsys.TickRate * animsys.TickRate * animsys.TickRate
		for j, x := range bones {
			d := x.Pos.Sub(w.last[0][j].Scale(3)).Add(w.last[1][j].Scale(3)).Sub(w.last[2][j])
			w.jerk = append(w.jerk, float64(d.Len())*rate)
		}
	}
	w.last[0], w.last[1], w.last[2] = w.last[2], w.last[0], w.last[1]
	for j, x := range bones {
		w.last[0][j] = x.Pos
	}
	w.seen++
}

func average(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(len(v), 1))
}

func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Clone(v)
	slices.Sort(v)
	return v[int(q*float64(len(v)-1))]
}

// Print writes the table.
func (r *Report) Print(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, v := range r.Speeds {
		fmt.Fprintf(t, "speed held %s\t%.2f m/s\tasked for %.2f; legs bend by %.0f°/s, feet slip by %.0f %%\n", v.Way, v.Got, v.Asked, v.Bend, 100*v.Slip)
	}
	fmt.Fprintf(t, "answers\tstart %.2f s, stop %.2f s\tturn of 90° %.2f s, of 180° %.2f s\n", r.Start, r.Stop, r.Turn90, r.Turn180)
	fmt.Fprintf(t, "circle of %.1f m\t%.0f cm beside\t%.0f° aside\n", r.Path.Radius, 100*r.Path.Distance, r.Path.Angle)
	clips := func(format string, v float64) string {
		if v == 0 {
			return ""
		}
		return fmt.Sprintf("the clips' "+format, v)
	}
	fmt.Fprintf(t, "feet slide\t%.1f cm/s\t%s\n", 100*r.Slide.Shown, clips("%.1f", 100*r.Slide.Clips))
	fmt.Fprintf(t, "jerk, 99.9 %%\t%.0f m/s³\t%s\n", r.Jerk.Shown, clips("%.0f", r.Jerk.Clips))
	if r.Pose > 0 {
		fmt.Fprintf(t, "joints\t%.1f cm beside\tthe clips' nearest pose; %.0f %% of these came up\n", 100*r.Pose, 100*r.Coverage)
	}
	if r.Memory > 0 {
		fmt.Fprintf(t, "memory\t%.1f MB\n", float64(r.Memory)/1e6)
	}
	fmt.Fprintf(t, "cost\t%.1f µs an agent and tick\ton one core, %d agents\n", r.Micros, r.Agents)
	return t.Flush()
}
