package mann

import (
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// Bounds of a row's state. Rows of the dog's recordings come to 0.9 of a bound at most. So do its
// networks under random commands, except for the bones, which they stretch by up to 0.2 in the
// mean.
const (
	limit     = 1e4  // largest magnitude of an output, m, m/s or degrees per second
	deviation = 40   // largest deviation of an input from its mean in the training data, in standard deviations
	least     = 0.05 // least standard deviation, m, m/s or 1: nearly constant columns have less
	deepest   = 0.1  // largest depth of joint 0 in the ground, m
	buried    = 0.5  // largest depth of other joints, m; recorded elbows come to 0.13, generated ones to 0.23
	stretched = 0.5  // largest mean difference of bones from their lengths, as a share of these
)

// memoryTicks is the time between two remembered poses of a row. It remembers two and goes back to
// the older, because the fault may have begun before it was found. If the row fails again within
// that time, it begins anew from the rest pose.
const memoryTicks = 30

// watch is the watchdog's state.
type watch struct {
	good  []int16   // (rows, 2, pose) good poses: bones, action weights
	units float32   // of these for 1: 0.06 mm, up to 2 m, for a dog
	pose  int       // values of a pose
	input []float32 // (rows, inputs) the row's state as the network would see it
}

func newWatch(m *Model, rows int) watch {
	pose := m.Layout.PoseLen() + len(m.Layout.Actions)
	units, largest := float32(1<<14), float32(0)
	for _, v := range m.rest {
		largest = max(largest, m3.Abs(v))
	}
	for ; largest > 1; largest /= 2 {
		units /= 2
	}
	return watch{pose: pose, units: units, good: make([]int16, rows*2*pose), input: make([]float32, rows*m.Layout.Inputs())}
}

// slot returns row's pose i, 0 or 1.
func (w *watch) slot(row, i int) []int16 { return w.good[(2*row+i)*w.pose:][:w.pose] }

// Restored returns how often row went back to a good pose since its last Reset, because the output
// of its network was not finite or left the range of the training data.
func (b *Batch) Restored(row int) int { return int(b.agent[row].restored) }

// bound derives the inputs' range and the greatest speed from the inputs' mean and standard
// deviation.
func (m *Model) bound(mean, std []float32) {
	n := m.Layout.Inputs()
	if len(mean) != n || len(std) != n {
		return
	}
	m.low, m.high = make([]float32, n), make([]float32, n)
	for c := range n {
		d := deviation * max(std[c], least)
		m.low[c], m.high[c] = mean[c]-d, mean[c]+d
	}
	speed := m.Layout.InSample(feature.TrajNow) + feature.SampleSpeed
	if m.Layout.NoSpeed {
		speed = m.Layout.InSample(feature.TrajNow) + feature.SampleVel + 1
	}
	m.fastest = mean[speed] + maxDeviation*std[speed]
}

// begin makes the present pose of row the only remembered one.
func (b *Batch) begin(row int) {
	b.agent[row].restored, b.agent[row].age = 0, 0
	b.observe(row)
	b.remember(row, 0)
	b.remember(row, 1)
}

// observe writes the state of row as the network reads it, and returns it.
func (b *Batch) observe(row int) []float32 {
	n := b.Model.Layout.Inputs()
	x := b.watch.input[row*n : (row+1)*n]
	b.gather(x, row)
	return x
}

// inRange reports whether the network can go on from the state of row. The state is then in
// watch.input.
func (b *Batch) inRange(row int) bool {
	if !b.root(row).near() {
		return false
	}
	x, m := b.observe(row), b.models[b.agent[row].stride]
	for c, v := range x {
		if !m3.Finite(v) || m.low != nil && !(v >= m.low[c] && v <= m.high[c]) {
			return false
		}
	}
	bones := b.bonePos[row*b.joints : (row+1)*b.joints]
	var off float32
	for j, parent := range m.Skel.Parents {
		if bones[j].Y < -buried {
			return false
		}
		if parent >= 0 {
			off += m3.Abs(bones[j].Dist(bones[parent]) - m.Skel.Offsets[j].Len())
		}
	}
	return bones[0].Y >= -deepest && off <= stretched*m.reach
}

// keep counts a good tick of row, with its state in watch.input, and remembers its pose when due.
func (b *Batch) keep(row int) {
	before := b.agent[row].age / memoryTicks
	b.agent[row].age += uint32(b.agent[row].stride)
	if now := b.agent[row].age / memoryTicks; now != before {
		b.remember(row, int(now)%2)
	}
}

// remember stores the pose in watch.input in slot i of row.
func (b *Batch) remember(row, i int) {
	m, slot := b.Model.Layout, b.watch.slot(row, i)
	x := b.watch.input[row*m.Inputs():]
	bones := b.Model.Layout.PoseLen()
	pack := func(dst []int16, from []float32) {
		for i := range dst {
			dst[i] = feature.Round16(from[i] * b.watch.units)
		}
	}
	pack(slot[:bones], x[m.InBone(0):])
	pack(slot[bones:], x[m.InActions(feature.TrajNow):])
}

// restore stops row at root: in its present pose if that is sound, else in the older good one, or
// in the rest pose if it fails again and again.
func (b *Batch) restore(row int, root frame, sound bool) {
	w := &b.watch
	if !root.near() || !root.fwd.finite() {
		root = frame{fwd: vec2{0, 1}}
		// The displayed pose says where it was.
		if shown := (frame{pos: flat(b.localPos[row*b.joints])}); shown.near() {
			root.pos = shown.pos
		}
	}
	older, bones := b.watch.input[row*b.Model.Layout.Inputs():][:w.pose], b.Model.Layout.PoseLen() // scratch: the next check overwrites it
	for i, v := range w.slot(row, int(b.agent[row].age/memoryTicks+1)%2) {
		older[i] = float32(v) / w.units
	}
	switch {
	case b.agent[row].restored > 0 && b.agent[row].age < memoryTicks:
		b.stand(row, root, nil)
		b.placeBones(row, b.Model.rest)
	case sound:
		present := (row*points + now) * b.actions
		b.stand(row, root, b.act[present:present+b.actions])
		clear(b.boneVel[row*b.joints : (row+1)*b.joints])
	default:
		b.stand(row, root, older[bones:])
		b.placeBones(row, older[:bones])
	}
	b.display(row)
	times := b.agent[row].restored + 1
	b.begin(row)
	b.agent[row].restored = times
}

// near reports whether f is at a place that float32 resolves.
func (f frame) near() bool {
	return m3.Abs(f.pos.X) < generator.Farthest && m3.Abs(f.pos.Z) < generator.Farthest
}
