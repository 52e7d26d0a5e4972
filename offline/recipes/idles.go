package recipes

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Constants of OwnIdles.
const (
	idleLooks = 5             // keys of a recorded idle from one of which a pose is made to the next
	idleSteps = 15            // ticks after which a pose is another
	idleFeet  = 0.07          // m by which feet of a pose are at most from those of the common one, so that the body takes no step
	idleHips  = 0.025         // and its hips
	idleHop   = 7             // least keys from one pose to the next
	idleSpeed = 0.18          // m/s that a joint goes at most on the way
	idleMore  = idleHop/2 + 1 // up to so many keys more, less one
	idleHolds = 10            // s for which an agent holds a stance without recorded idles before its poses are taken, and
	idleTaken = 60            // s for which they are
	idleMade  = 4             // idles of such a stance
)

// OwnIdles returns l with as many idles that are of its networks' own making, for files that shall hold no stretch of a
// recording: slow ways between poses that the projector makes of what is asked for in the idles that l has. Other stances in which an
// agent stays, such as a crouch that is recorded in walks only, get idles between the poses that it goes through.
func OwnIdles(l *matching.Learned) (*matching.Learned, error) {
	n := l.Networks()
	if n.Projector == nil {
		return nil, errors.New("recipes: OwnIdles of networks that are not trained")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var own []matching.Idle
	idles := func(tags matching.Tags, count int, poses []idlePose) {
		center := home(poses)
		for range count {
			own = append(own, matching.Idle{Tags: tags, States: wander(poses, center, rng)})
		}
	}
	for i, idle := range n.Idles {
		same := func(k matching.Idle) bool { return k.Tags == idle.Tags }
		if slices.ContainsFunc(n.Idles[:i], same) {
			continue
		}
		poses, err := projected(l, &n, idle.Tags)
		if err != nil {
			return nil, err
		}
		near, err := gathered(l, &n, poses)
		if err != nil {
			return nil, err
		}
		count := 0
		for _, k := range n.Idles {
			if same(k) {
				count++
			}
		}
		idles(idle.Tags, count, near)
	}
	for i, name := range l.Tags {
		tags := matching.Tags(1) << i
		if len(own) == 0 || name == control.Idle.String() || name == control.Move.String() || name == matching.WalkTag ||
			slices.ContainsFunc(own, func(k matching.Idle) bool { return k.Tags == tags }) ||
			slices.ContainsFunc(n.Acts, func(a matching.Act) bool { return a.Tags&tags != 0 }) {
			continue
		}
		poses, err := held(l, name)
		if err != nil {
			return nil, err
		}
		if len(poses) == 0 {
			continue
		}
		near, err := gathered(l, &n, poses)
		if err != nil {
			return nil, err
		}
		hips := near[home(near)].body[0].Pos
		slices.SortStableFunc(near, func(a, b idlePose) int {
			return cmp.Compare(a.body[0].Pos.Dist(hips), b.body[0].Pos.Dist(hips))
		})
		idles(tags, idleMade, near[:(len(near)+3)/4])
	}
	n.Idles = own
	return matching.NewLearned(&matching.Database{Character: l.Character}, n)
}

// held returns states of an agent that is asked for an action and else for nothing, after some seconds. There are none if it does not stay.
func held(l *matching.Learned, name string) (out [][]float32, err error) {
	const away = 0.2 // m
	action, ok := l.Action(name)
	if !ok {
		return nil, nil
	}
	s, err := l.NewStream(matching.StreamOptions{Capacity: 1, Workers: 1})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	row, err := s.Add(feature.Place{}, &control.Goal{Action: action})
	if err != nil {
		return nil, err
	}
	var from m3.Vec3
	for tick := range (idleHolds + idleTaken) * matching.TickRate {
		if err := s.Generate([]bool{false}); err != nil {
			return nil, err
		}
		if tick < idleHolds*matching.TickRate {
			from = s.Root(row).Pos
			continue
		}
		if s.Weight(row, action) != 1 || s.Root(row).Pos.Dist(from) > away {
			return nil, nil
		}
		if tick%idleSteps == 0 {
			out = append(out, slices.Clone(s.State(row)))
		}
	}
	return out, nil
}

// projected returns the states that the projector makes of some keys of the idles of a stance, and those to which the
// stepper brings them.
func projected(l *matching.Learned, n *matching.Networks, tags matching.Tags) (out [][]float32, err error) {
	state, cols := len(n.Rest), l.Columns()
	var x []float32
	for _, idle := range n.Idles {
		for key := 0; idle.Tags == tags && key < matching.IdleKeys; key += idleLooks {
			x = append(x, idle.States[key*(state+3):][:cols]...)
			at := len(x)
			x = append(x, make([]float32, len(l.Tags))...)
			matching.WriteTags(x[at:], tags)
		}
	}
	rows := len(x) / n.Projector.Inputs()
	s, err := n.Projector.NewSession(netruntime.SessionOptions{Batch: rows, Workers: 1})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	y := make([]float32, rows*state)
	if err := s.Run(y, x, rows); err != nil {
		return nil, err
	}
	clamp := func() {
		for i, v := range y {
			y[i] = m3.Clamp(v, n.Least[i%state], n.Most[i%state])
		}
		out = append(out, slices.Collect(slices.Chunk(slices.Clone(y), state))...)
	}
	clamp()
	step, err := n.Stepper.NewSession(netruntime.SessionOptions{Batch: rows, Workers: 1})
	if err != nil {
		return nil, err
	}
	defer step.Close()
	change := make([]float32, rows*(state+3))
	for range idleSteps {
		if err := step.Run(change, y, rows); err != nil {
			return nil, err
		}
		for i := range y {
			y[i] += change[i/state*(state+3)+i%state]
		}
	}
	clamp()
	return out, nil
}

// idlePose is a state and the places of its joints, m.
type idlePose struct {
	state []float32
	body  []m3.Xform
}

// farthest returns how far a joint is at most from where another pose has it, m.
func (p *idlePose) farthest(from *idlePose) (far float32) {
	for j, x := range p.body {
		far = max(far, x.Pos.Dist(from.body[j].Pos))
	}
	return far
}

// gathered returns the poses with feet and hips in about the same place: where most poses have them.
func gathered(l *matching.Learned, n *matching.Networks, poses [][]float32) ([]idlePose, error) {
	rows, out, joints := len(poses), n.Decompressor.Outputs(), l.Skel.Len()
	s, err := n.Decompressor.NewSession(netruntime.SessionOptions{Batch: rows, Workers: 1})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	y := make([]float32, rows*out)
	if err := s.Run(y, slices.Concat(poses...), rows); err != nil {
		return nil, err
	}
	pos, rot, turns := make([]m3.Vec3, joints), make([]m3.Quat, joints), make([]m3.Quat, joints)
	bodies := make([][]m3.Xform, rows)
	for k := range bodies {
		bodies[k] = make([]m3.Xform, joints)
		l.Pose(y[k*out:][:out], pos, rot, turns)
		l.Skel.LocalToModel(bodies[k], pos, rot)
	}
	still := func(a, b []m3.Xform) bool {
		for _, leg := range l.Roles.Legs {
			if tip := leg[len(leg)-1]; a[tip].Pos.Dist(b[tip].Pos) > idleFeet {
				return false
			}
		}
		return a[0].Pos.Dist(b[0].Pos) <= idleHips
	}
	var most []idlePose
	for _, a := range bodies {
		var near []idlePose
		for i, b := range bodies {
			if still(a, b) {
				near = append(near, idlePose{poses[i], b})
			}
		}
		if len(near) > len(most) {
			most = near
		}
	}
	if most == nil {
		return nil, errors.New("recipes: OwnIdles of networks whose poses are not finite")
	}
	return most, nil
}

// home returns the number of the pose that is nearest to the others.
func home(poses []idlePose) (best int) {
	least := float32(math.Inf(1))
	for i := range poses {
		var sum float32
		for k := range poses {
			sum += poses[i].farthest(&poses[k])
		}
		if sum < least {
			best, least = i, sum
		}
	}
	return best
}

// wander returns an idle that goes from one of some poses to others and back, no faster than idleSpeed, so that another one can follow. Its
// root stays where it is.
func wander(poses []idlePose, home int, rng *rand.Rand) (out []float32) {
	const peak = 1.5 // of the speed of a way that eases in and out, ÷ its mean
	keys := func(a, b int) int {
		return int(math.Ceil(float64(peak * poses[a].farthest(&poses[b]) / idleSpeed * matching.TickRate / matching.IdleTicks)))
	}
	at, to, begun, end := home, home, 0, 0
	for key := range matching.IdleKeys {
		if key >= end {
			at, to = to, rng.IntN(len(poses))
			if k := rng.IntN(len(poses)); poses[at].farthest(&poses[k]) > poses[at].farthest(&poses[to]) {
				to = k
			}
			lasts := max(idleHop+rng.IntN(idleMore), keys(at, to))
			if key+lasts+max(idleHop, keys(to, home)) > matching.IdleKeys {
				to, lasts = home, max(idleHop, keys(at, home))
			}
			begun, end = key, key+lasts
		}
		u := float32(key-begun) / float32(end-begun)
		u = u * u * (3 - 2*u)
		for i, v := range poses[at].state {
			out = append(out, v+u*(poses[to].state[i]-v))
		}
		out = append(out, 0, 0, 0)
	}
	return out
}
