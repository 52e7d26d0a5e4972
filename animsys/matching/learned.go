package matching

import (
	"fmt"
	"slices"
	"sync"

	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/netruntime"
)

// Learned makes the motion of a database by three networks in place of its recordings (Holden, Kanoun, Perepichka and Popa
// 2020, "Learned Motion Matching"). A state is the features of a frame and the latent values that tell its pose:
//
//   - the stepper leads from a state to that of the next tick, and gives the root's motion
//   - the projector finds the state that is nearest to a query, as a search does
//   - the decompressor makes the pose of a state
//
// It is immutable and can be shared by streams. mannequin make --train trains one.
type Learned struct {
	Character
	net    Networks
	latent int
	turns  []int32 // (joints) number of a joint among Networks.Turns, or −1
	above  []int32 // joints of the upper body, of bodies on two legs
	uppers func() [][]m3.Quat
	sum    uint64
}

// Networks are what a Learned is made of. S is the size of a state: the character's Columns, and latent values.
type Networks struct {
	Decompressor *netruntime.Net // (S) to (3 + 6·len(Turns)): joint 0, m, and two axes of each joint that turns, in the space of the root
	Stepper      *netruntime.Net // (S) to (S + 3): the change to the next tick, and the motion of the root: X, Z, m, and yaw, rad
	Projector    *netruntime.Net // (Columns + tags) to (S); a tag that is asked for is 1, others are 0

	Acts        []Act     // of the clips that are played once
	Idles       []Idle    // of stances that are kept on the spot; may be empty
	Turns       []int32   // joints that turn against their parents, ascending; joint 0 is the first
	Still       []m3.Quat // (joints) local rotations of those that do not
	Rest        []float32 // (S) a state that stands
	Least, Most []float32 // (S) bounds of all states
}

// Idle is a stretch in which a body stays where it is: it stands, crouches or sits. An agent that does so plays one after another.
type Idle struct {
	Tags   Tags
	States []float32 // (IdleKeys, S + 3) states IdleTicks ticks apart, each with the root's motion in a tick from there on: X, Z, m, and yaw, rad
}

const (
	IdleKeys  = 33
	IdleTicks = 15
)

// Act is a clip that is played once, from its first state on: the stepper makes the rest.
type Act struct {
	Tags  Tags
	Ticks int  // of the clip
	Holds bool // see Clip
	State []float32
}

// NewLearned returns what networks have learned of a database.
func NewLearned(d *Database, n Networks) (*Learned, error) {
	if d.Skel == nil {
		return nil, errZero
	}
	l := &Learned{Character: d.Character, net: n}
	if err := l.finish(); err != nil {
		return nil, err
	}
	return l, nil
}

// maxLatent bounds the latent values of a state.
const maxLatent = 256

// finish checks the networks.
func (l *Learned) finish() error {
	n, cols, joints := &l.net, l.Columns(), l.Skel.Len()
	if n.Decompressor == nil || n.Stepper == nil || n.Projector == nil {
		return fmt.Errorf("matching: a network is missing: want a decompressor, a stepper and a projector")
	}
	state := n.Decompressor.Inputs()
	if l.latent = state - cols; l.latent < 1 || l.latent > maxLatent {
		return fmt.Errorf("matching: the decompressor has %d inputs: want %d features and 1 to %d latent values", state, cols, maxLatent)
	}
	if len(n.Turns) == 0 || len(n.Turns) > joints || n.Turns[0] != 0 || !slices.IsSorted(n.Turns) || int(n.Turns[len(n.Turns)-1]) >= joints || len(n.Still) != joints {
		return fmt.Errorf("matching: %d joints that turn and %d that do not, of %d", len(n.Turns), len(n.Still), joints)
	}
	for _, v := range []struct {
		name      string
		got, want int
	}{
		{"outputs of the decompressor", n.Decompressor.Outputs(), 3 + 6*len(n.Turns)},
		{"inputs of the stepper", n.Stepper.Inputs(), state},
		{"outputs of the stepper", n.Stepper.Outputs(), state + 3},
		{"inputs of the projector", n.Projector.Inputs(), cols + len(l.Tags)},
		{"outputs of the projector", n.Projector.Outputs(), state},
		{"values of the state that stands", len(n.Rest), state},
		{"least values of states", len(n.Least), state},
		{"most values of states", len(n.Most), state},
	} {
		if v.got != v.want {
			return fmt.Errorf("matching: %d %s, want %d", v.got, v.name, v.want)
		}
	}
	for i, v := range n.Rest {
		if !(n.Least[i] <= v && v <= n.Most[i]) {
			return fmt.Errorf("matching: value %d of the state that stands is %g: want %g to %g", i, v, n.Least[i], n.Most[i])
		}
	}
	for _, a := range n.Acts {
		if len(a.State) != state || a.Ticks < 1 || a.Ticks > maxFrames || a.Tags == 0 {
			return fmt.Errorf("matching: an action of %d ticks with a state of %d values, want %d", a.Ticks, len(a.State), state)
		}
	}
	for _, idle := range n.Idles {
		if len(idle.States) != IdleKeys*(state+3) || idle.Tags == 0 {
			return fmt.Errorf("matching: an idle with tags %b of %d values, want %d states of %d values and the root's motion", idle.Tags, len(idle.States), IdleKeys, state)
		}
		for i, v := range idle.States {
			least, most := float32(-1), float32(1) // of the root's motion, m and rad a tick
			if k := i % (state + 3); k < state {
				least, most = n.Least[k], n.Most[k]
			}
			if !(least <= v && v <= most) {
				return fmt.Errorf("matching: value %d of an idle is %g: want %g to %g", i, v, least, most)
			}
		}
	}
	for j, q := range n.Still {
		if !(m3.Abs(q.Dot(q)-1) <= unit) {
			return fmt.Errorf("matching: joint %s is turned by %v: want a unit quaternion", l.Skel.Names[j], q)
		}
	}
	l.turns = slices.Repeat([]int32{-1}, joints)
	for i, j := range n.Turns {
		if l.turns[j] >= 0 {
			return fmt.Errorf("matching: joint %s turns twice", l.Skel.Names[j])
		}
		l.turns[j] = int32(i)
	}
	l.above, l.uppers = l.aboveLegs(), sync.OnceValue(l.playUppers)
	h := statehash.New.Uint(l.Skel.Fingerprint()).Floats(l.mean...).Floats(l.scale...).Floats(n.Rest...).Floats(n.Least...).Floats(n.Most...)
	for _, a := range n.Acts {
		h = h.Uint(uint64(a.Tags)).Int(a.Ticks).Bool(a.Holds).Floats(a.State...)
	}
	for _, idle := range n.Idles {
		h = h.Uint(uint64(idle.Tags)).Floats(idle.States...)
	}
	for _, net := range [...]*netruntime.Net{n.Decompressor, n.Stepper, n.Projector} {
		sum, err := net.Checksum()
		if err != nil {
			return fmt.Errorf("matching: %w", err)
		}
		for _, c := range []byte(sum) {
			h = h.Int(int(c))
		}
	}
	l.sum = uint64(h)
	return nil
}

// Networks returns the networks. They must not be changed.
func (l *Learned) Networks() Networks { return l.net }

// Latent returns the number of latent values of a state.
func (l *Learned) Latent() int { return l.latent }

// Bytes returns the memory of the networks' weights in float32, and of the states from which acts and idles begin.
func (l *Learned) Bytes() int {
	if l.Skel == nil {
		return 0
	}
	n := &l.net
	count := n.Decompressor.Parameters() + n.Stepper.Parameters() + n.Projector.Parameters()
	for _, idle := range n.Idles {
		count += len(idle.States)
	}
	for _, a := range n.Acts {
		count += len(a.State)
	}
	return 4 * count
}

// Fingerprint returns a checksum: equal ones have the same.
func (l *Learned) Fingerprint() uint64 { return l.sum }

// Pose writes the pose of an output of the decompressor: local translations and rotations, (joints), joint 0's in the
// space of the root. model, (joints), is for the rotations in that space.
func (l *Learned) Pose(y []float32, pos []m3.Vec3, rot, model []m3.Quat) {
	if l.Skel == nil {
		return
	}
	copy(pos, l.Skel.Offsets)
	pos[0] = m3.V(y[0], y[1], y[2])
	for j, k := range l.turns {
		parent := l.Skel.Parents[j]
		if k < 0 {
			rot[j] = l.net.Still[j]
			model[j] = model[parent].Mul(rot[j])
			continue
		}
		v := y[3+6*k:]
		x := m3.V(v[0], v[1], v[2]).Normalize(m3.V(1, 0, 0))
		z := x.Cross(m3.V(v[3], v[4], v[5])).Normalize(m3.V(0, 0, 1))
		model[j] = m3.FromAxes(x, z.Cross(x), z).Normalize()
		if rot[j] = model[j]; parent >= 0 {
			rot[j] = model[parent].Conj().Mul(model[j])
		}
	}
}

// NewNetwork returns a network with a name: a stack of dense layers with rectified values between them, and normalised inputs and outputs.
// The tensors are in.mean, in.std, layer1.weight (O, I), layer1.bias (O), layer2.weight, …, out.mean, out.std.
func NewNetwork(name string, tensors []netruntime.Tensor) (*netruntime.Net, error) {
	layers, inputs := 0, 0
	for _, t := range tensors {
		if t.Name == "in.mean" {
			inputs = len(t.Data)
		}
	}
	for slices.ContainsFunc(tensors, func(t netruntime.Tensor) bool { return t.Name == layerName(layers+1)+".weight" }) {
		layers++
	}
	node := func(name, op, in, act string) netruntime.Node {
		return netruntime.Node{Name: name, Op: op, In: []string{in}, Act: act}
	}
	g := &netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: inputs}}, Outputs: []string{"out"}}
	g.Nodes = append(g.Nodes, node("in", netruntime.OpNormalize, "x", ""))
	from := "in"
	for i := range layers {
		act := "relu"
		if i == layers-1 {
			act = ""
		}
		g.Nodes = append(g.Nodes, node(layerName(i+1), netruntime.OpDense, from, act))
		from = layerName(i + 1)
	}
	g.Nodes = append(g.Nodes, node("out", netruntime.OpDenormalize, from, ""))
	return netruntime.New(netruntime.Meta{Arch: "graph", Name: name, Graph: g}, tensors)
}

func layerName(i int) string { return fmt.Sprintf("layer%d", i) }
