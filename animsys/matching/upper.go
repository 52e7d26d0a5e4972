package matching

import (
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// upper is the action that a row plays with its upper body while it goes on.
type upper struct {
	Of, At int32 // among Networks.Acts, or −1; ticks from its beginning
}

const (
	upperSpeed   = 0.5          // m/s of a body from which on an action does not stop it
	upperLongest = 3 * TickRate // ticks of an action
	upperMost    = 1 << 21      // rotations of all of a character's actions, if they were the longest: 32 MiB
	upperOut     = 8            // last ticks of an action, in which it ends
	upperShare   = 2            // by how much more an upper body turns over legs that go on, so that it shows
)

// goesOn returns the tags of the action that the upper body of a row plays in this tick, or 0. Such an action is played on the spot, and the row is
// moving when it is asked for. The legs ignore it.
func (s *LearnedStream) goesOn(row int) Tags {
	u, uppers := &s.upper[row], s.of.uppers()
	if u.Of >= 0 {
		if u.At++; int(u.At) < s.of.net.Acts[u.Of].Ticks {
			return s.of.net.Acts[u.Of].Tags
		}
		u.Of = -1
	}
	must, _ := s.of.wants(s.goals[row].Action)
	if must&s.of.acts == 0 || s.acts[row].of >= 0 || s.agents[row].Body.Vel.Len() < upperSpeed {
		return 0
	}
	q := s.row(row)[:s.of.Columns()]
	at := s.act(must, q)
	if at < 0 || uppers[at] == nil || s.act(s.must[row]&s.of.acts, q) >= 0 { // the last is no stance, in which it could go on
		return 0
	}
	*u = upper{at, 0}
	return s.of.net.Acts[at].Tags
}

// turnUpper turns the upper body of a row's pose as its action turns it from the action's beginning on.
func (s *LearnedStream) turnUpper(row int, rot []m3.Quat) {
	u := s.upper[row]
	if u.Of < 0 {
		return
	}
	l := s.of
	all, n := l.uppers()[u.Of], len(l.above)
	share := upperShare * m3.SmoothStep(0, upperOut, float32(l.net.Acts[u.Of].Ticks-1-int(u.At)))
	for i, q := range all[int(u.At)*n:][:n] {
		j := l.above[i]
		rot[j] = rot[j].Mul(m3.Ident.Slerp(all[i].Conj().Mul(q), share)).Normalize()
	}
}

// aboveLegs returns the joints of a body on two legs that are neither joint 0 nor of a leg.
func (c *Character) aboveLegs() (joints []int32) {
	of := make([]bool, c.Skel.Len()) // a leg
	for _, l := range c.Roles.Legs {
		of[l[0]] = true
	}
	for j, p := range c.Skel.Parents {
		if p < 0 {
			continue
		}
		if of[j] = of[j] || of[p]; !of[j] && c.upright {
			joints = append(joints, int32(j))
		}
	}
	return joints
}

// playUppers returns, for each action that a body on two legs plays on the spot over feet that stay on the ground, the local rotations of its upper
// body, (ticks, len(above)); nil for others, and for all of a character with a thousand actions.
func (l *Learned) playUppers() [][]m3.Quat {
	n, size := len(l.net.Acts), l.Columns()+l.latent
	out := make([][]m3.Quat, n)
	if n == 0 || len(l.above) == 0 || n*len(l.above)*upperLongest > upperMost {
		return out
	}
	opt := netruntime.SessionOptions{Batch: n, Workers: 1}
	var open netruntime.Opener // on the processor
	stepper, err := open.Session(l.net.Stepper, opt)
	if err != nil {
		return out
	}
	defer stepper.Close()
	decompressor, err := open.Session(l.net.Decompressor, opt)
	if err != nil {
		return out
	}
	defer decompressor.Close()
	state, change, poses := make([]float32, n*size), make([]float32, n*(size+3)), make([]float32, n*l.net.Decompressor.Outputs())
	pos, rot, model := make([]m3.Vec3, l.Skel.Len()), make([]m3.Quat, l.Skel.Len()), make([]m3.Quat, l.Skel.Len())
	left := 0 // ticks
	for i, a := range l.net.Acts {
		copy(state[i*size:], a.State)
		if !a.Holds && a.Ticks <= upperLongest {
			out[i] = make([]m3.Quat, 0, a.Ticks*len(l.above))
			left = max(left, a.Ticks)
		}
	}
	gone, hips := make([]m3.Vec3, n), make([]float32, n)
	for tick := range left {
		if decompressor.Run(poses, state, n) != nil || stepper.Run(change, state, n) != nil {
			return make([][]m3.Quat, n)
		}
		for i, a := range l.net.Acts {
			if out[i] == nil || tick >= a.Ticks {
				continue
			}
			l.Pose(poses[i*len(poses)/n:], pos, rot, model)
			x, by := state[i*size:][:size], change[i*(size+3):][:size+3]
			gone[i] = gone[i].Add(m3.V(by[size], 0, by[size+1]))
			if tick == 0 {
				hips[i] = pos[0].Y
			}
			if !l.onTheSpot(x, pos[0].Y/hips[i], gone[i]) {
				out[i] = nil
				continue
			}
			for _, j := range l.above {
				out[i] = append(out[i], rot[j])
			}
			for k := range x {
				x[k] = m3.Clamp(x[k]+by[k], l.net.Least[k], l.net.Most[k])
			}
		}
	}
	return out
}

// onTheSpot reports whether a body stays in place and on its feet in a state of an action. hips is the height of its hips, as a share of that in the
// first state, and gone is how far the root has moved since.
func (l *Learned) onTheSpot(x []float32, hips float32, gone m3.Vec3) bool {
	const low, far, sinks = 0.15, 0.3, 0.85 // m; m; a share
	for leg := range l.legs {
		if !(l.foot(x, leg).Y < low) {
			return false
		}
	}
	return gone.Len() < far && hips > sinks
}
