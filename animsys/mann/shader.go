package mann

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/internal/kernels"
	"mannequin/engine/m3"
)

//go:embed kernels/mann.wgsl
var mannSource string

// Shader is what a Batch does with its rows, as kernels in WGSL for WebGPU: a workgroup of 64 works on a row. Before its network "prepare"
// does what Plan and Gather do, after it "advance" does what Scatter does. Walls and paths are left out. Package animsys/resident runs
// it.
//
// The kernels read and write group 0:
//
//	0  tables  read        Tables
//	1  goals   read        (rows, GoalLen): see PutGoal
//	2  rows    read, write (rows, RowLen): see Batch.Pack
//	3  net     read, write the network's inputs and outputs
//	4  poses   read, write (rows, joints, PoseLen): place, 0 and rotation of each joint, in world space, on flat ground
type Shader struct {
	Source string
	Tables []float32
	RowLen int // float32s of a row

	batch *Batch
}

// The float32s of a goal, and of a joint's pose, in a Shader's memory.
const (
	GoalLen = 8
	PoseLen = 8
)

// shaderRow is where the arrays of a row begin.
type shaderRow struct {
	positions, directions, velocities, speeds, weights int
	bones                                              [4]int // places, forward, up, velocities
	phase, hips, rotations, good, size                 int
}

// The places of the numbers of an agent at the beginning of a row. mann.wgsl has the same.
const (
	rowHeading, rowTargetDir, rowTargetVel                    = 0, 2, 4
	rowCorrect, rowPace, rowLack, rowLowest, rowLeap          = 6, 7, 8, 9, 10
	rowRestored, rowAge, rowAlong, rowPositions, rowAgesAgain = 11, 12, 13, 24, 65536 * 2 * memoryTicks
)

func (b *Batch) shaderRow() (r shaderRow) {
	at := rowPositions
	place := func(n int) int {
		at += n
		return at - n
	}
	r.positions, r.directions, r.velocities = place(2*points), place(2*points), place(2*points)
	r.speeds, r.weights = place(points), place(points*b.actions)
	for i := range r.bones {
		r.bones[i] = place(3 * b.joints)
	}
	r.phase, r.hips, r.rotations = place(phaseLen(b.Model.Layout)), place(3), place(4*b.joints)
	r.good = place(2 * b.watch.pose)
	r.size = at
	return r
}

// NewShader returns the kernels for rows of b that step by its model's stride, with b's tuning. in and out are where the network's inputs
// and outputs begin in its memory, in float32s.
func (b *Batch) NewShader(in, out int) (*Shader, error) {
	switch {
	case b.Model == nil:
		return nil, errZeroController
	case b.follows:
		return nil, errors.New("mann: the rows of a follower have no kernels")
	}
	m, l, t := b.Model, b.Model.Layout, &b.tuning
	stride := l.Step()
	s := &Shader{batch: b, RowLen: b.shaderRow().size}
	var text kernels.Text
	whole, signed, number, table := text.Whole, text.Signed, text.Number, text.Table
	text.Bind()

	whole("points", points)
	whole("now", now)
	whole("future", future)
	whole("samples", feature.TrajSamples)
	whole("future_samples", feature.TrajFuture)
	whole("sample_step", feature.TrajStep)
	whole("traj_now", feature.TrajNow)
	whole("sample_size", l.SampleLen())
	text.Bool("has_speed", !l.NoSpeed)
	whole("actions", b.actions)
	whole("joints", b.joints)
	whole("phases", phaseLen(l))
	whole("inputs", l.Inputs())
	whole("outputs", l.Outputs())
	whole("out_bone", l.OutBone(0))
	whole("out_phase", l.OutPhase(0))
	whole("out_root", l.OutRoot())
	whole("goal_size", GoalLen)
	whole("stride", stride)
	number("rate", Rate)
	number("stride_seconds", float32(stride)/Rate)
	for a := control.Idle; a < control.NumActions; a++ {
		signed("column_"+a.String(), m.action[a])
	}
	signed("neck", m.neck)
	signed("head", m.head)
	signed("nose", m.nose)
	whole("head_lead", headLead)

	sh := &b.shares[stride]
	change := func(half float32) float32 { return m3.Exp(-math.Ln2 * float32(stride) / Rate / half) }
	rest := m.rest[feature.BonePos+1]
	for _, c := range []struct {
		name string
		v    float32
	}{
		{"rest_height", rest}, {"fastest", m.fastest}, {"max_turn", control.MaxTurn}, {"share_gain", sh.gain}, {"share_decay", sh.decay},
		{"share_forget", sh.forget}, {"share_sink", sh.sink}, {"share_head", sh.head}, {"speed_p", t.SpeedP}, {"speed_i", t.SpeedI},
		{"change_up", change(t.SpeedUp)}, {"change_down", change(t.SpeedDown)}, {"leash", t.Leash}, {"sideways", t.Sideways},
		{"backward", t.Backward}, {"pivot", t.Pivot}, {"rise_speed", t.Rise}, {"jump_speed", t.JumpSpeed}, {"slow_speed", t.SlowSpeed},
		{"max_curvature", t.Curvature}, {"leap_ticks", t.Leap * Rate}, {"lead_swing", leadSwing}, {"lead_stance", leadStance},
		{"lead_fast_swing", leadFastSwing}, {"lead_fast_stance", leadFastStance}, {"lead_slow", leadSlow}, {"lead_fast", leadFast},
		{"swing_full", swingFull}, {"max_phase", MaxPhase}, {"head_down", headDown}, {"head_free_yaw", headFreeYaw}, {"head_free_up", headFreeUp},
		{"most_output", limit}, {"farthest", farthest}, {"buried", buried}, {"deepest", deepest}, {"most_stretched", stretched * m.reach},
		{"memory_ticks", memoryTicks}, {"units", b.watch.units}, {"lowest_hips", lowest * rest}, {"bend_height", t.Bend * rest},
	} {
		number(c.name, c.v)
	}
	room := max((t.Ceiling-t.Bend)*rest, 0)
	if t.Ceiling <= 0 {
		room = 0
	}
	number("ceiling_room", room)

	text.Place("net_in", in)
	text.Place("net_out", out)
	var blends []float32
	for _, w := range b.blend {
		blends = append(blends, w.pos, w.dir, w.vel)
	}
	table("blends", blends...)
	var columns []float32
	for _, c := range m.action {
		columns = append(columns, float32(c))
	}
	table("columns", columns...)
	table("ramps", t.Ramp[:]...)
	table("rests", m.rest...)
	low, high := slices.Clone(m.low), slices.Clone(m.high)
	if low == nil {
		low, high = slices.Repeat([]float32{-math.MaxFloat32}, l.Inputs()), slices.Repeat([]float32{math.MaxFloat32}, l.Inputs())
	}
	table("lows", low...)
	table("highs", high...)
	m.tables(table, whole)
	s.Source, s.Tables = text.String()+kernels.Math+mannSource, text.Tables
	return s, nil
}

// farthest is generator.Farthest: see frame.near.
const farthest = 1 << 15

// tables writes the skeleton's tables.
func (m *Model) tables(table func(name string, v ...float32), whole func(name string, v int)) {
	var parents, offsets, bones, lengths, sites, ends, legs, aims []float32
	three := func(to *[]float32, v m3.Vec3) { *to = append(*to, v.X, v.Y, v.Z) }
	aimEnds, depth, deepest := []float32{0}, make([]int, m.Skel.Len()), 0
	for j, p := range m.Skel.Parents {
		parents, ends, legs = append(parents, float32(p)), append(ends, float32(m.ends[j])), append(legs, float32(m.leg[j]))
		three(&offsets, m.Skel.Offsets[j])
		three(&bones, m.bone[j])
		lengths = append(lengths, m.Skel.Offsets[j].Len())
		site := float32(0)
		if m.Skel.EndSite[j] {
			site = 1
		}
		sites = append(sites, site)
		for _, c := range m.aims[j] {
			aims = append(aims, float32(c))
		}
		aimEnds = append(aimEnds, float32(len(aims)))
		if p >= 0 {
			depth[j] = depth[p] + 1
		}
		deepest = max(deepest, depth[j])
	}
	var order []float32
	levels := []float32{0}
	for d := range deepest + 1 {
		for j := range depth {
			if depth[j] == d {
				order = append(order, float32(j))
			}
		}
		levels = append(levels, float32(len(order)))
	}
	whole("levels", deepest+1)
	table("level_ends", levels...)
	table("order", order...)
	table("parents", parents...)
	table("offsets", offsets...)
	table("bones", bones...)
	table("lengths", lengths...)
	table("sites", sites...)
	table("ends", ends...)
	table("legs", legs...)
	table("aim_ends", aimEnds...)
	table("aims", aims...)
}

// PutGoal writes a goal into dst, GoalLen float32s. The shader knows no paths: their goals are to stand.
func (s *Shader) PutGoal(dst []float32, g *control.Goal) {
	if s.batch == nil || len(dst) < GoalLen {
		panic("mann: PutGoal of a Shader that NewShader has not made, or into too few numbers")
	}
	m := s.batch.Model
	if !g.Finite() || g.Path != nil {
		g = &control.Goal{}
	}
	move := vec2{m3.Clamp(g.Move.X, -1, 1), m3.Clamp(g.Move.Z, -1, 1)}
	if l := move.length(); l > 1 {
		move = move.scale(1 / l)
	}
	want := g.Action
	if !m.Can(want) {
		want = control.Idle
	}
	dst[0], dst[1], dst[2], dst[3], dst[4], dst[5] = move.X, move.Z, g.Turning(), m3.Clamp(g.Speed, 0, m.fastest), float32(want), 1
}

// Pack writes the state of a row as a Shader's kernels have it into dst, Shader.RowLen float32s. A path is left out.
func (b *Batch) Pack(dst []float32, row int) {
	b.check(row, row+1)
	a, r := &b.agent[row], b.shaderRow()
	if len(dst) < r.size {
		panic(fmt.Sprintf("mann: Pack of a row of %d numbers into %d", r.size, len(dst)))
	}
	clear(dst[:rowPositions])
	two := func(at int, v vec2) { dst[at], dst[at+1] = v.X, v.Z }
	two(rowHeading, a.heading)
	two(rowTargetDir, a.targetDir)
	two(rowTargetVel, a.targetVel)
	dst[rowCorrect], dst[rowPace], dst[rowLack], dst[rowLowest], dst[rowLeap] = a.correct, a.pace, a.lack, a.lowest, float32(a.leap)
	dst[rowRestored], dst[rowAge], dst[rowAlong] = float32(a.restored), float32(a.age%rowAgesAgain), a.along
	for i := range points {
		k := row*points + i
		two(r.positions+2*i, b.pos[k])
		two(r.directions+2*i, b.dir[k])
		two(r.velocities+2*i, b.vel[k])
	}
	copy(dst[r.speeds:], b.speed[row*points:][:points])
	copy(dst[r.weights:], b.act[row*points*b.actions:][:points*b.actions])
	for i, bones := range [...][]m3.Vec3{b.bonePos, b.boneFwd, b.boneUp, b.boneVel} {
		for j, v := range bones[row*b.joints:][:b.joints] {
			dst[r.bones[i]+3*j], dst[r.bones[i]+3*j+1], dst[r.bones[i]+3*j+2] = v.X, v.Y, v.Z
		}
	}
	copy(dst[r.phase:], b.phases(row))
	h := b.localPos[row*b.joints]
	dst[r.hips], dst[r.hips+1], dst[r.hips+2] = h.X, h.Y, h.Z
	for j, q := range b.localRot[row*b.joints:][:b.joints] {
		copy(dst[r.rotations+4*j:], []float32{q.X, q.Y, q.Z, q.W})
	}
	for i, v := range b.watch.good[2*row*b.watch.pose:][:2*b.watch.pose] {
		dst[r.good+i] = float32(v)
	}
}

// Unpack reads what Pack, or the kernels of a Shader of such a batch, wrote into a row. After an error, for numbers that are not finite,
// the row is at rest at the origin.
func (b *Batch) Unpack(row int, src []float32) error {
	b.check(row, row+1)
	a, r := &b.agent[row], b.shaderRow()
	if len(src) < r.size || !feature.Finite(src[:r.size]) {
		b.Reset(row, m3.Vec3{}, 0)
		return errors.New("mann: the state of a row that is to be unpacked is not finite, or not whole")
	}
	two := func(at int) vec2 { return vec2{src[at], src[at+1]} }
	*a = agent{
		stride: a.stride, heading: two(rowHeading), targetDir: two(rowTargetDir), targetVel: two(rowTargetVel),
		correct: src[rowCorrect], pace: src[rowPace], lack: src[rowLack], lowest: src[rowLowest], leap: int32(src[rowLeap]),
		along: src[rowAlong], restored: uint32(src[rowRestored]), age: uint32(src[rowAge]),
	}
	b.path[row] = nil
	for i := range points {
		k := row*points + i
		b.pos[k], b.dir[k], b.vel[k] = two(r.positions+2*i), two(r.directions+2*i), two(r.velocities+2*i)
	}
	copy(b.speed[row*points:][:points], src[r.speeds:])
	copy(b.act[row*points*b.actions:][:points*b.actions], src[r.weights:])
	for i, bones := range [...][]m3.Vec3{b.bonePos, b.boneFwd, b.boneUp, b.boneVel} {
		for j := range b.joints {
			bones[row*b.joints+j] = m3.V(src[r.bones[i]+3*j], src[r.bones[i]+3*j+1], src[r.bones[i]+3*j+2])
		}
	}
	copy(b.phases(row), src[r.phase:])
	o := row * b.joints
	b.localPos[o] = m3.V(src[r.hips], src[r.hips+1], src[r.hips+2])
	copy(b.localPos[o+1:o+b.joints], b.Model.Skel.Offsets[1:])
	for j := range b.joints {
		q := src[r.rotations+4*j:]
		b.localRot[o+j] = m3.Quat{X: q[0], Y: q[1], Z: q[2], W: q[3]}
	}
	good := b.watch.good[2*row*b.watch.pose:][:2*b.watch.pose]
	for i := range good {
		good[i] = feature.Round16(src[r.good+i])
	}
	return nil
}

// RootOf returns the root and its velocity, m/s, of a packed row, or that at the origin if it is too short: see [Batch.Root].
func (b *Batch) RootOf(packed []float32) (root m3.Xform, velocity m3.Vec3) {
	if b.Model == nil || len(packed) < b.shaderRow().size {
		return m3.Identity, m3.Vec3{}
	}
	r := b.shaderRow()
	at := func(i int) m3.Vec3 { return m3.V(packed[i+2*now], 0, packed[i+2*now+1]) }
	return m3.Xform{Pos: at(r.positions), Rot: m3.YawQuat(m3.YawOf(at(r.directions)))}, at(r.velocities)
}
