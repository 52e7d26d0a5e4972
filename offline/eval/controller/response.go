package controller

import (
	"fmt"
	"io"
	"text/tabwriter"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// Response is how soon a character does what it is asked for, from the tick of the command on: over phases of its gait at which the
// command comes, to both sides.
type Response struct {
	Name  string  `json:"name"`
	Mean  float64 `json:"mean_s"` // of the runs in which it does
	Worst float64 `json:"worst_s"`
	Way   float64 `json:"way_m,omitempty"` // mean way until it stands
	Runs  int     `json:"runs"`
	Never int     `json:"never"` // runs in which it does not within three seconds, or did not go as it had to before; without Mean, Worst and Way
}

const (
	phases   = 20  // at which a command comes
	between  = 3   // ticks between phases: a stride in all
	began    = 0.3 // share of a speed by which the velocity before the command may be off
	settle   = 3 * animsys.TickRate
	patience = 3 * animsys.TickRate
	near     = 0.1                   // share of a speed, or of a height, by which it may be off
	lifted   = 0.05                  // m that feet rise by when they leave the ground
	half     = animsys.TickRate / 20 // ticks on either side over which a velocity is measured
	lead     = 2 * half              // ticks before a command that are kept
)

// order is what a body that first faced +Z is asked for. Actions by their names; none is to go.
type order struct {
	velocity, face m3.Vec3
	action         string
}

// change is two orders, the second of which is measured.
type change struct {
	name     string
	from, to order
	speed    float32 // m/s, of which velocities may be off by a tenth
	done     func(c *change, r *answer, f int) bool
	stops    bool
}

// answer is what a body does per tick, from lead ticks before the command until half after patience; as seen by one that is asked to
// the left. Entry lead is from before the command.
type answer struct {
	at     []m3.Vec3 // root
	hips   []float32 // height
	lowest []float32 // height of the lowest foot
}

// velocity is that of the root f ticks after the command, m/s.
func (r *answer) velocity(f int) m3.Vec3 {
	return r.at[lead+f+half].Sub(r.at[lead+f-half]).Scale(animsys.TickRate / float32(2*half))
}

// goes reports whether the velocity is the one that is wanted.
func (c *change) goes(r *answer, f int) bool {
	return r.velocity(f).Dist(c.to.velocity) < near*c.speed
}

// returns reports whether the body goes the wanted way at nine tenths of the speed.
func (c *change) returns(r *answer, f int) bool {
	return r.velocity(f).Dot(c.to.velocity.Normalize(m3.Vec3{})) > (1-near)*c.speed
}

// settles reports whether the hips are as high as in the end: in the mean of the last second, as who stands or crouches bobs.
func (c *change) settles(r *answer, f int) bool {
	first, last := r.hips[0], float32(0)
	end := r.hips[max(0, len(r.hips)-animsys.TickRate):]
	for _, h := range end {
		last += h / float32(len(end))
	}
	return m3.Abs(r.hips[lead+f]-last) < near*m3.Abs(first-last)
}

// lifts reports whether all feet have left the ground.
func (c *change) lifts(r *answer, f int) bool { return r.lowest[lead+f] > r.lowest[0]+lifted }

// first returns the first tick in which what is wanted is done, or patience.
func (c *change) first(r *answer) (f int) {
	for f < patience && !c.done(c, r, f) {
		f++
	}
	return f
}

// changes lists what is measured at a slow and a fast speed, units of the skeleton a second.
func changes(walk, run float32, has func(action string) bool) []change {
	ahead, left := m3.V(0, 0, 1), m3.V(1, 0, 0)
	stand := order{face: ahead}
	going := func(way m3.Vec3, speed float32, face m3.Vec3) order {
		return order{velocity: way.Scale(speed), face: face}
	}
	out := []change{
		{name: "stand to walk", from: stand, to: going(ahead, walk, ahead), speed: walk, done: (*change).goes},
		{name: "stand to run", from: stand, to: going(ahead, run, ahead), speed: run, done: (*change).goes},
		{name: "run to stand", from: going(ahead, run, ahead), to: stand, speed: run, done: (*change).goes, stops: true},
		{name: "run, turn round", from: going(ahead, run, ahead), to: going(ahead, -run, ahead.Neg()), speed: run, done: (*change).returns},
		{name: "aside, to the other side", from: going(left, walk, ahead), to: going(left, -walk, ahead), speed: walk, done: (*change).returns},
	}
	if low := (order{face: ahead, action: "crouch"}); has(low.action) {
		out = append(out, change{name: "stand to crouch", from: stand, to: low, done: (*change).settles}, change{name: "crouch to stand", from: low, to: stand, done: (*change).settles})
	}
	if up := (order{face: ahead, action: "jump"}); has(up.action) {
		out = append(out, change{name: "stand to jump", from: stand, to: up, done: (*change).lifts})
	}
	return out
}

// Respond measures how soon a character answers at two speeds, m/s of its own size.
func Respond(s Subject, walk, run float32) ([]Response, error) {
	if err := gaits(walk, run); err != nil {
		return nil, err
	}
	if s.Size == 0 {
		s.Size = 1
	}
	has := func(name string) bool { _, ok := s.action(name); return ok }
	var out []Response
	for _, c := range changes(walk/s.Size, run/s.Size, has) {
		r, err := s.respond(&c)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// action returns the action of a name.
func (s *Subject) action(name string) (control.Action, bool) {
	switch {
	case name == "":
		return control.Move, true
	case s.Action == nil:
		return control.Move, false
	}
	return s.Action(name)
}

// respond measures a change with an agent for each phase and side.
func (s *Subject) respond(c *change) (out Response, err error) {
	w, err := s.world(2 * phases)
	if err != nil {
		return out, err
	}
	defer w.crowd.Close()
	answers := make([]answer, len(w.agents))
	begin := func(i int) int { return settle + i/2*between } // tick of the command
	for tick := range begin(len(w.agents)) + patience + half {
		for i, e := range w.agents {
			o := &c.from
			if tick >= begin(i) {
				o = &c.to
			}
			w.ask(e, mirrored(o.velocity, i), mirrored(o.face, i))
			g := w.goals.Get(e)
			if g.Action, _ = s.action(o.action); o.action == "" && o.velocity == (m3.Vec3{}) {
				g.Action = control.Idle
			}
		}
		if err := w.schedule.Step(); err != nil {
			return out, err
		}
		for i, e := range w.agents {
			r, bones := &answers[i], w.crowd.Bones(e)
			if tick < begin(i)-lead-1 || tick >= begin(i)+patience+half {
				continue
			}
			lowest := float32(1e6)
			for _, l := range w.crowd.Ground.Rig.Roles.Legs {
				lowest = min(lowest, bones[l[len(l)-1]].Pos.Y)
			}
			r.at, r.hips, r.lowest = append(r.at, mirrored(w.crowd.Root(e).Pos, i)), append(r.hips, bones[0].Pos.Y), append(r.lowest, lowest)
		}
	}
	out.Name, out.Runs = c.name, len(answers)
	for i := range answers {
		r := &answers[i]
		f := c.first(r)
		if f == patience || c.speed > 0 && r.velocity(-half).Dist(c.from.velocity) > began*c.speed {
			out.Never++
			continue
		}
		took := float64(f) / animsys.TickRate
		out.Mean, out.Worst = out.Mean+took, max(out.Worst, took)
		if c.stops {
			out.Way += float64(r.at[lead+f].Dist(r.at[lead])) * float64(s.Size)
		}
	}
	n := float64(max(out.Runs-out.Never, 1))
	out.Mean, out.Way = out.Mean/n, out.Way/n
	return out, nil
}

// mirrored is a vector of the i-th agent, of whom every other one is asked to the right.
func mirrored(v m3.Vec3, i int) m3.Vec3 {
	if i%2 == 1 {
		v.X = -v.X
	}
	return v
}

// PrintResponses writes a table.
func PrintResponses(to io.Writer, all []Response) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "from the tick of the command\tmean\tworst\t")
	for _, r := range all {
		if r.Never == r.Runs {
			fmt.Fprintf(w, "%s\t–\t–\t", r.Name)
		} else {
			fmt.Fprintf(w, "%s\t%.2f s\t%.2f s\t", r.Name, r.Mean, r.Worst)
		}
		if r.Way > 0 {
			fmt.Fprintf(w, "%.2f m until it stands ", r.Way)
		}
		if r.Never > 0 {
			fmt.Fprintf(w, "not in %d of %d runs", r.Never, r.Runs)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
