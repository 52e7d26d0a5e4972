package mann

import (
	"fmt"
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// Rate is the ticks per second that networks of this kind are trained for.
const Rate = generator.TickRate

// Points of the trajectory.
const (
	points = feature.TrajPoints
	now    = feature.TrajRoot
	future = points - 1 - now // points that make up the next second
)

// vec2 is a point or direction on the ground.
type vec2 struct{ X, Z float32 }

func (a vec2) add(b vec2) vec2             { return vec2{a.X + b.X, a.Z + b.Z} }
func (a vec2) sub(b vec2) vec2             { return vec2{a.X - b.X, a.Z - b.Z} }
func (a vec2) scale(s float32) vec2        { return vec2{s * a.X, s * a.Z} }
func (a vec2) dot(b vec2) float32          { return a.X*b.X + a.Z*b.Z }
func (a vec2) length() float32             { return m3.Sqrt(a.dot(a)) }
func (a vec2) lerp(b vec2, t float32) vec2 { return a.add(b.sub(a).scale(t)) }
func (a vec2) finite() bool                { return m3.Finite(a.X) && m3.Finite(a.Z) }
func (a vec2) vec3() m3.Vec3               { return m3.V(a.X, 0, a.Z) }
func flat(v m3.Vec3) vec2                  { return vec2{v.X, v.Z} }
func (a vec2) unit(fallback vec2) vec2 {
	l := a.length()
	if !(l > 1e-6) {
		return fallback
	}
	return a.scale(1 / l)
}

// frame is a root: a place on the ground and a heading. Local coordinates are leftward and forward.
type frame struct{ pos, fwd vec2 }

// in returns the local coordinates of the world vector v.
func (f frame) in(v vec2) vec2 { return vec2{v.X*f.fwd.Z - v.Z*f.fwd.X, v.X*f.fwd.X + v.Z*f.fwd.Z} }

// out returns the world vector with the local coordinates v.
func (f frame) out(v vec2) vec2 {
	return vec2{v.X*f.fwd.Z + v.Z*f.fwd.X, v.Z*f.fwd.Z - v.X*f.fwd.X}
}

// angleTo returns the angle from the heading to the direction d, radians,
// counter-clockwise seen from above.
func (f frame) angleTo(d vec2) float32 {
	l := f.in(d)
	return m3.Atan2(l.X, l.Z)
}

// rotate returns v turned counter-clockwise, seen from above, by the angle with
// the given sine and cosine.
func (a vec2) rotate(sin, cos float32) vec2 { return vec2{a.X*cos + a.Z*sin, a.Z*cos - a.X*sin} }

// turned returns a turned counter-clockwise by angle radians.
func (a vec2) turned(angle float32) vec2 {
	s, c := math.Sincos(float64(angle))
	return a.rotate(float32(s), float32(c))
}

// blend holds the weights of the target in a future point.
type blend struct{ pos, dir, vel float32 }

// Batch is the state of up to Capacity agents, one per row. Slices are indexed by
// row first. Different rows may be worked on from different goroutines.
type Batch struct {
	Model *Model

	rows, joints, actions int

	tuning Tuning
	blend  [future + 1]blend             // per future point, from tuning
	models [feature.MaxStride + 1]*Model // by stride; nil where there is none
	shares [feature.MaxStride + 1]shares // by stride, from tuning

	// Trajectory, (rows, points), world space: the past second, the present at
	// index now, the next second.
	pos, dir, vel []vec2
	speed         []float32 // desired speed, m/s
	act           []float32 // (rows, points, actions) action weights, each point's sum one

	agent []agent         // (rows)
	path  []*control.Path // (rows) nil without one

	// The recurrent pose, (rows, joints), world space.
	bonePos, boneFwd, boneUp, boneVel []m3.Vec3
	phase                             []float32 // (rows, tips, PhaseLen), none without phases

	// The displayed pose, (rows, joints).
	localPos []m3.Vec3
	localRot []m3.Quat

	watch watch
	walls generator.Surroundings
	state generator.State                    // of the row that Copy copies
	part  func(st *generator.State, row int) // visitArrays, without an allocation each

	scratch []m3.Xform // (rows, joints)

	follows   bool    // see NewFollower
	plainLegs bool    // they are as predicted
	plainHead bool    // likewise
	sole      float32 // height of the lowest joint of who stands, m
}

// agent is the numbers of a row. It has no padding: see generator.Value.
type agent struct {
	stride    int32   // ticks of the next step
	heading   vec2    // unit; where a steered row means to face now
	targetDir vec2    // unit
	targetVel vec2    // m/s
	correct   float32 // the network's weight in the future after a prediction, 0 to 1
	pace      float32 // speed of a plausible change by now, m/s
	lack      float32 // its integral of what is missing, m
	lowest    float32 // height of the lowest joint of late, m
	leap      int32   // ticks for which the present jump has had all the weight
	along     float32 // arc length on the path, m
	restored  uint32  // times that the row went back to a good pose since its last Reset
	age       uint32  // ticks since the row began or was restored
}

// shares are what changes by a share per tick, over a stride.
type shares struct{ gain, decay, forget, sink, head float32 }

// over returns the share per step of several ticks that equals share per tick.
func over(share float32, ticks int) float32 {
	if ticks == 1 {
		return share
	}
	return 1 - m3.Pow(1-share, float32(ticks))
}

// NewBatch returns room for capacity agents of model m, all at rest at the
// origin. Rows go on by m's stride at a time; see SetStride for others.
func NewBatch(m *Model, capacity int) *Batch {
	if m.Layout == nil {
		panic(errZeroModel.Error())
	}
	capacity = max(capacity, 0)
	nj, na := m.Skel.Len(), len(m.Layout.Actions)
	vec := func() []vec2 { return make([]vec2, capacity*points) }
	vec3 := func() []m3.Vec3 { return make([]m3.Vec3, capacity*nj) }
	b := &Batch{
		Model: m, rows: capacity, joints: nj, actions: na,
		pos: vec(), dir: vec(), vel: vec(),
		speed: make([]float32, capacity*points), act: make([]float32, capacity*points*na),
		agent: make([]agent, capacity), path: make([]*control.Path, capacity),
		phase:   make([]float32, capacity*phaseLen(m.Layout)),
		bonePos: vec3(), boneFwd: vec3(), boneUp: vec3(), boneVel: vec3(),
		localPos: vec3(), localRot: make([]m3.Quat, capacity*nj), watch: newWatch(m, capacity), scratch: make([]m3.Xform, capacity*nj),
	}
	b.part = b.visitArrays
	b.Tune(DefaultTuning()) // which is valid
	b.models[m.Layout.Step()] = m
	for r := range capacity {
		b.agent[r].stride = int32(m.Layout.Step())
		b.Reset(r, m3.Vec3{}, 0)
	}
	return b
}

// Tuning returns the controller's constants.
func (b *Batch) Tuning() Tuning { return b.tuning }

// Tune sets the controller's constants for all rows. It may not run at the same
// time as any other method. It returns the error of Tuning.Validate, and then changes nothing.
func (b *Batch) Tune(t Tuning) error {
	if b.Model == nil {
		return errZeroController
	}
	if err := t.Validate(); err != nil {
		return err
	}
	b.tuning = t
	for i := range b.blend {
		w := float32(i) / future
		rest := func(e float32) float32 { return 1 - m3.Pow(1-w, e) }
		b.blend[i] = blend{rest(t.BlendPos), rest(t.BlendDir), rest(t.BlendVel)}
	}
	for s := 1; s < len(b.shares); s++ {
		b.shares[s] = shares{over(t.Gain, s), over(t.Decay, s), over(sinkForget, s), over(sinkShare, s), 1 - m3.Exp(-math.Ln2*float32(s)/(headHalflife*Rate))}
	}
	return nil
}

// AddStride has rows go on by m's stride, too, by SetStride: m drives the same
// characters as the batch's own model, more coarsely.
func (b *Batch) AddStride(m *Model) error {
	if m.Layout == nil {
		return errZeroModel
	}
	step := m.Layout.Step()
	if b.models[step] != nil {
		return fmt.Errorf("mann: the batch has a model of stride %d already", step)
	}
	mine, theirs := *b.Model.Layout, *m.Layout
	mine.Stride, theirs.Stride = 0, 0
	if mine.Hash() != theirs.Hash() {
		return fmt.Errorf("mann: model %q has other columns than model %q, which it is to stand in for far away: train both on the same recordings with the same flags", m.name(), b.Model.name())
	}
	b.models[step] = m
	return nil
}

// HasStride reports whether rows may go on by stride ticks at a time.
func (b *Batch) HasStride(stride int) bool {
	return stride >= 1 && stride < len(b.models) && b.models[stride] != nil
}

// SetStride makes row step by stride ticks at a time from now on. Its next outputs are
// to come from the model of that stride, which the batch must have.
func (b *Batch) SetStride(row, stride int) {
	b.check(row, row+1)
	if !b.HasStride(stride) {
		panic(fmt.Sprintf("mann: no model of stride %d", stride))
	}
	b.agent[row].stride = int32(stride)
}

// Stride returns the ticks that row goes on by at a time.
func (b *Batch) Stride(row int) int { return int(b.agent[row].stride) }

// Capacity returns the number of rows.
func (b *Batch) Capacity() int { return b.rows }

// check panics where the range of rows is not inside the batch.
func (b *Batch) check(r0, r1 int) {
	if r0 < 0 || r1 < r0 || r1 > b.rows {
		panic(fmt.Sprintf("mann: rows %d to %d of a batch of %d", r0, r1, b.rows))
	}
}

// Reset puts row at rest at pos, whose height is dropped, with heading yaw in radians. What is not
// finite or farther than generator.Farthest counts as the origin, and as heading 0.
func (b *Batch) Reset(row int, pos m3.Vec3, yaw float32) {
	b.check(row, row+1)
	f := frame{flat(pos), vec2{m3.Sin(yaw), m3.Cos(yaw)}}
	if !f.near() || !f.fwd.finite() {
		f = frame{fwd: vec2{0, 1}}
	}
	b.stand(row, f, nil)
	b.placeBones(row, b.Model.rest)
	b.display(row)
	b.begin(row)
}

// stand makes the trajectory of row one of standing at f, with the action weights act; nil is idle.
func (b *Batch) stand(row int, f frame, act []float32) {
	t := row * points
	for i := t; i < t+points; i++ {
		b.pos[i], b.dir[i], b.vel[i], b.speed[i] = f.pos, f.fwd, vec2{}, 0
		w := b.act[i*b.actions : (i+1)*b.actions]
		if act == nil {
			clear(w)
			w[b.Model.action[control.Idle]] = 1
		} else {
			copy(w, act)
		}
	}
	a := &b.agent[row]
	*a = agent{stride: a.stride, restored: a.restored, age: a.age, heading: f.fwd, targetDir: f.fwd}
	b.path[row] = nil
}

// placeBones puts a pose, the pose block of an input row, at the present root of row, at rest.
func (b *Batch) placeBones(row int, pose []float32) {
	f := b.root(row)
	for j := range b.joints {
		b.setBone(row*b.joints+j, f, pose[j*feature.BoneChannels:])
		b.boneVel[row*b.joints+j] = m3.Vec3{}
	}
	copy(b.phases(row), pose[b.joints*feature.BoneChannels:])
}

// shift moves all places of row by by.
func (b *Batch) shift(row int, by m3.Vec3) {
	for i := row * points; i < (row+1)*points; i++ {
		b.pos[i] = b.pos[i].add(flat(by))
	}
	for k := row * b.joints; k < (row+1)*b.joints; k++ {
		b.bonePos[k] = b.bonePos[k].Add(by)
	}
	b.localPos[row*b.joints] = b.localPos[row*b.joints].Add(by)
}

// turn turns all places and directions of row.
func (b *Batch) turn(row int, by m3.Turn) {
	vec := func(v vec2) vec2 { return flat(by.Rot.Rotate(v.vec3())) }
	for i := row * points; i < (row+1)*points; i++ {
		b.pos[i], b.dir[i], b.vel[i] = flat(by.Point(b.pos[i].vec3())), vec(b.dir[i]), vec(b.vel[i])
	}
	for k := row * b.joints; k < (row+1)*b.joints; k++ {
		b.bonePos[k], b.boneVel[k] = by.Point(b.bonePos[k]), by.Rot.Rotate(b.boneVel[k])
		b.boneFwd[k], b.boneUp[k] = by.Rot.Rotate(b.boneFwd[k]), by.Rot.Rotate(b.boneUp[k])
	}
	k := row * b.joints
	b.localPos[k], b.localRot[k] = by.Point(b.localPos[k]), by.Rot.Mul(b.localRot[k])
	a := &b.agent[row]
	a.heading, a.targetDir, a.targetVel = vec(a.heading), vec(a.targetDir), vec(a.targetVel)
}

// Copy makes row dst the same as row src.
func (b *Batch) Copy(dst, src int) {
	b.state.Reset()
	b.visit(&b.state, src)
	b.state.Rewind()
	b.visit(&b.state, dst)
	copy(b.act[dst*points*b.actions:][:points*b.actions], b.act[src*points*b.actions:])
}

// visit writes or reads the state of a row.
func (b *Batch) visit(st *generator.State, row int) {
	b.check(row, row+1)
	st.Kind("mann", b.joints, b.actions, b.Model.Layout.Inputs())
	generator.Value(st, &b.agent[row])
	generator.Asset(st, &b.path[row])
	st.Part(row, b.part)
}

// visitArrays is visit for what is in the row's arrays.
func (b *Batch) visitArrays(st *generator.State, row int) {
	visitRow(st, b.pos, row, points)
	visitRow(st, b.dir, row, points)
	visitRow(st, b.vel, row, points)
	visitRow(st, b.speed, row, points)
	generator.Repeated(st, b.act[row*points*b.actions:][:(now+1)*b.actions], b.actions) // Plan writes the weights of the future
	visitRow(st, b.bonePos, row, b.joints)
	visitRow(st, b.boneFwd, row, b.joints)
	visitRow(st, b.boneUp, row, b.joints)
	visitRow(st, b.boneVel, row, b.joints)
	visitRow(st, b.phase, row, phaseLen(b.Model.Layout))
	i, k := row*b.joints, (row+1)*b.joints
	if generator.Value(st, &b.localPos[i]); st.Reading() {
		copy(b.localPos[i+1:k], b.Model.Skel.Offsets[1:])
	}
	visitRow(st, b.localRot, row, b.joints)
	visitRow(st, b.watch.good, row, 2*b.watch.pose)
}

// restored returns what was wrong with the state that was read into a row, and then puts the row at rest at the origin.
func (b *Batch) restored(st *generator.State, row int) error {
	if stride := int(b.agent[row].stride); st.Err() == nil && !b.HasStride(stride) {
		st.Fail(fmt.Errorf("the state is of an agent that steps %d ticks at a time, without a model of it", stride))
	}
	if st.Err() != nil {
		b.agent[row].stride = int32(b.Model.Layout.Step()) // what was read may be none
		b.Reset(row, m3.Vec3{}, 0)
	}
	return st.Err()
}

func visitRow[T any](st *generator.State, s []T, row, n int) {
	generator.Values(st, s[row*n:(row+1)*n])
}

// phaseLen returns how many values all tips' phases have.
func phaseLen(l *feature.MANN) int { return l.PoseLen() - len(l.Joints)*feature.BoneChannels }

// phases returns the phases of row.
func (b *Batch) phases(row int) []float32 {
	n := phaseLen(b.Model.Layout)
	return b.phase[row*n : (row+1)*n]
}

// root returns the present root of row.
func (b *Batch) root(row int) frame { return frame{b.pos[row*points+now], b.dir[row*points+now]} }

// Root returns the root of row in world space, on the ground, +Z forward.
func (b *Batch) Root(row int) m3.Xform {
	f := b.root(row)
	return m3.Xform{Pos: f.pos.vec3(), Rot: m3.YawQuat(m3.Atan2(f.fwd.X, f.fwd.Z))}
}

// Velocity returns the velocity of the root of row, world space, m/s.
func (b *Batch) Velocity(row int) m3.Vec3 { return b.vel[row*points+now].vec3() }

// Pose returns the displayed pose of row: local transforms with the bone lengths of the model's
// skeleton, joint 0 in world space. The slices alias the batch and change with the next Scatter.
func (b *Batch) Pose(row int) (pos []m3.Vec3, rot []m3.Quat) {
	i, k := row*b.joints, (row+1)*b.joints
	return b.localPos[i:k:k], b.localRot[i:k:k]
}

// Bone returns the recurrent pose of row in world space: the predicted
// positions (m) and velocities (m/s) of all joints, aliasing the batch.
func (b *Batch) Bone(row int) (pos, vel []m3.Vec3) {
	i, k := row*b.joints, (row+1)*b.joints
	return b.bonePos[i:k:k], b.boneVel[i:k:k]
}

// Weight returns the present weight of an action in row, 0 to 1.
func (b *Batch) Weight(row int, a control.Action) float32 {
	if b.Model == nil || !b.Model.Can(a) {
		return 0
	}
	return b.WeightOf(row, b.Model.action[a])
}

// Trajectory copies the positions of all points of row, oldest first, into dst
// and returns how many there are; the present is number feature.TrajRoot.
func (b *Batch) Trajectory(row int, dst []m3.Vec3) int {
	n := min(len(dst), points)
	for i := range n {
		dst[i] = b.pos[row*points+i].vec3()
	}
	return n
}
