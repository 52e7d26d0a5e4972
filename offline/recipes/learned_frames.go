package recipes

import (
	"errors"
	"math"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/netruntime/grad"
)

// learnedFrames are the frames of a database as networks see them. A pose is the place of joint 0, and the X and Y axes of
// each joint that turns, in the space of the root: places of joints are linear in these and in the Z axes.
type learnedFrames struct {
	d             *matching.Database
	cols, outputs int
	starts        draws // frames with a next one
	windows       draws // frames from which a stepper's window goes on
	fresh         draws // frames that a search finds
	once          []matching.Span

	turns []int32   // joints that turn
	still []m3.Quat // (joints) local rotations of the others

	poses, turning scaling   // (outputs) of poses, and of their change in a tick
	features       scaling   // (cols)
	weights        []float32 // (outputs) of errors: longer limbs count more
	fk, fkBias     *grad.Param
	gather         [4][]int // columns of X and Y axes: of the products that make Z axes

	pos        []m3.Vec3 // scratch of pose
	rot, model []m3.Quat

	// Of states, after setStates:
	size        int
	latent      []float32
	states      scaling   // (size)
	coded       scaling   // (size) of the decoder's inputs: latent values as they are
	changes     scaling   // (size + 3) of the change of a tick, and of the root's motion
	slow        []float32 // (frames) by how much errors of motion from there count: more where it is slow
	least, most []float32 // (size)
}

// scaling is a normalisation by mean and deviation.
type scaling struct{ mean, std, per, shift []float32 } // per is 1/std, and shift −mean/std

func newScaling(mean, std []float32) scaling {
	s := scaling{mean: mean, std: std}
	for i, v := range std {
		s.per, s.shift = append(s.per, 1/v), append(s.shift, -mean[i]/v)
	}
	return s
}

// with returns the scaling with some columns more, which stay as they are.
func (s *scaling) with(more int) scaling {
	return newScaling(append(slices.Clone(s.mean), make([]float32, more)...), append(slices.Clone(s.std), slices.Repeat([]float32{1}, more)...))
}

func (s *scaling) apply(t *grad.Tape, x *grad.Mat) *grad.Mat { return t.Affine(x, s.per, s.shift) }
func (s *scaling) undo(t *grad.Tape, x *grad.Mat) *grad.Mat  { return t.Affine(x, s.std, s.mean) }

func newLearnedFrames(d *matching.Database) (*learnedFrames, error) {
	f := &learnedFrames{d: d, cols: d.Columns()}
	for i := range d.Frames() {
		at := i
		for k := 0; k < stepWindow && at >= 0; k++ {
			at = d.Next(at)
		}
		if d.Next(i) >= 0 {
			f.starts.all = append(f.starts.all, i)
		}
		if at >= 0 {
			f.windows.all = append(f.windows.all, i)
		}
	}
	for i := range d.Clips() {
		s := d.Span(i)
		switch {
		case s.Once:
			f.once = append(f.once, s)
			continue
		case !s.Loop:
			s.End -= stepWindow
		}
		for at := s.First; at < s.End; at++ {
			f.fresh.all = append(f.fresh.all, at)
		}
	}
	if len(f.windows.all) == 0 || len(f.fresh.all) == 0 {
		return nil, errors.New("recipes: all clips of the database are shorter than a third of a second")
	}
	for _, of := range [...]*draws{&f.starts, &f.windows, &f.fresh} {
		of.findRare(d)
	}
	f.find()
	f.outputs = 3 + 6*len(f.turns)
	f.kinematics()
	f.statistics()
	return f, nil
}

// draws are frames to draw from. A share of the draws is for actions that few frames show, each as often, so that they are learned; and
// another for ways of going that few frames show, such as aside in a pack of clips that go ahead, each by the root of its frames.
type draws struct {
	all           []int
	actions, ways [][]int   // frames of the rare ones
	upTo          []float64 // (ways) sums of the shares of the ways, up to 1
}

const (
	actionShare = 0.15
	wayShare    = 0.25
	fewFrames   = 0.1 // share of all frames up to which an action is rare
	fewGo       = 0.2 // and a way
)

// findRare finds the rare actions and ways. Of a few frames there is nothing to be learned.
func (w *draws) findRare(d *matching.Database) {
	actions, ways := make([][]int, len(d.Tags)), make([][]int, numWays)
	for _, f := range w.all {
		if tags := d.TagsOf(f); tags != 0 {
			actions[tags.First()] = append(actions[tags.First()], f)
		}
		if k := wayOf(d, f); k != wayNone {
			ways[k] = append(ways[k], f)
		}
	}
	rare := func(by [][]int, few float64) (out [][]int) {
		for _, frames := range by {
			if n := len(frames); n > stepWindow && float64(n) < few*float64(len(w.all)) {
				out = append(out, frames)
			}
		}
		return out
	}
	w.actions, w.ways = rare(actions, fewFrames), rare(ways, fewGo)
	sum := 0.0
	for _, frames := range w.ways {
		sum += math.Sqrt(float64(len(frames)))
		w.upTo = append(w.upTo, sum)
	}
	for i := range w.upTo {
		w.upTo[i] /= sum
	}
}

// The ways that a body goes or turns on the spot.
const (
	wayNone = iota // it stays, shows an action other than idle and move, or its clip ends
	wayAhead
	wayBack
	wayLeft
	wayRight
	wayTurnLeft
	wayTurnRight
	numWays
)

// wayOf returns the way of the third of a second from a frame on.
func wayOf(d *matching.Database, frame int) int {
	const (
		goes  = 0.15 // m/s
		turns = 0.6  // rad/s
		ahead = 0.7  // cosine of the largest angle between the facing and a way ahead
	)
	if tags := d.TagsOf(frame); tags != 0 && d.Tags[tags.First()] != control.Move.String() && d.Tags[tags.First()] != control.Idle.String() {
		return wayNone
	}
	at, turn, f := m3.Identity, float32(0), frame
	for range stepWindow {
		x, z, yaw := d.Move(f)
		at, turn = at.Mul(m3.Xform{Pos: m3.V(x, 0, z), Rot: m3.YawQuat(yaw)}), turn+yaw
		if f = d.Next(f); f < 0 {
			return wayNone
		}
	}
	const seconds = float32(stepWindow) / matching.TickRate
	v := at.Pos.Scale(1 / seconds)
	turn /= seconds
	switch speed := v.Len(); {
	case speed < goes && turn > turns:
		return wayTurnLeft
	case speed < goes && turn < -turns:
		return wayTurnRight
	case speed < goes:
		return wayNone
	case v.Z > ahead*speed:
		return wayAhead
	case v.Z < -ahead*speed:
		return wayBack
	case v.X > 0:
		return wayLeft
	}
	return wayRight
}

// draw returns a frame.
func (w *draws) draw(key uint64) int {
	from, which := w.all, share01(grad.Hash(key, 82))
	switch share := share01(grad.Hash(key, 81)); {
	case share < actionShare && len(w.actions) > 0:
		from = w.actions[int(which*float64(len(w.actions)))]
	case share >= actionShare && share < actionShare+wayShare && len(w.ways) > 0:
		i, _ := slices.BinarySearch(w.upTo, which)
		from = w.ways[min(i, len(w.ways)-1)]
	}
	return from[int(grad.Hash(key, 83)%uint64(len(from)))]
}

// find finds the joints that turn.
func (f *learnedFrames) find() {
	const turns = 2e-3 // rad
	joints := f.d.Skel.Len()
	f.pos, f.rot, f.model = make([]m3.Vec3, joints), make([]m3.Quat, joints), make([]m3.Quat, joints)
	f.still = make([]m3.Quat, joints)
	f.d.Pose(0, f.pos, f.still)
	moves := make([]bool, joints)
	moves[0] = true
	for i := range f.d.Frames() {
		f.d.Pose(i, f.pos, f.rot)
		for j, q := range f.rot {
			moves[j] = moves[j] || q.Angle(f.still[j]) > turns
		}
	}
	for j, m := range moves {
		if m {
			f.turns = append(f.turns, int32(j))
		}
	}
}

// kinematics makes the matrix from a pose with Z axes to the places of joints.
func (f *learnedFrames) kinematics() {
	sk, n := f.d.Skel, len(f.turns)
	joints := sk.Len()
	in := 3 + 9*n
	f.fk, f.fkBias = grad.NewParam("fk", 3*joints, in), grad.NewParam("fk.bias", 1, 3*joints)
	f.fk.Frozen, f.fkBias.Frozen = true, true
	number := make([]int, joints)        // of the joint among turns that a joint turns with
	with := make([]m3.Quat, joints)      // its rotation in that one's space
	column := func(k, axis, i int) int { // of component i of an axis of the k-th joint that turns
		if axis < 2 {
			return 3 + 6*k + 3*axis + i
		}
		return 3 + 6*n + 3*k + i
	}
	next := 0
	for j := range joints {
		p := int(sk.Parents[j])
		row := func(i int) []float32 { return f.fk.Val[(3*j+i)*in:][:in] }
		if p < 0 {
			for i := range 3 {
				row(i)[i] = 1
			}
		} else {
			v := with[p].Rotate(sk.Offsets[j])
			for i := range 3 {
				copy(row(i), f.fk.Val[(3*p+i)*in:][:in])
				for axis, by := range [...]float32{v.X, v.Y, v.Z} {
					row(i)[column(number[p], axis, i)] += by
				}
			}
		}
		if next < n && int(f.turns[next]) == j {
			number[j], with[j] = next, m3.Ident
			next++
		} else {
			number[j], with[j] = number[p], with[p].Mul(f.still[j])
		}
	}
	for k := range n {
		for i := range 3 { // z_i = x_(i+1)·y_(i+2) − x_(i+2)·y_(i+1)
			b, c := (i+1)%3, (i+2)%3
			for g, col := range [...]int{column(k, 0, b), column(k, 1, c), column(k, 0, c), column(k, 1, b)} {
				f.gather[g] = append(f.gather[g], col)
			}
		}
	}
	// A joint counts as much as what hangs on it is long.
	f.weights = make([]float32, 3+6*n)
	for i := range 3 {
		f.weights[i] = 1
	}
	reach := make([]float32, joints)
	for j := joints - 1; j > 0; j-- {
		p := sk.Parents[j]
		reach[p] = max(reach[p], reach[j]+sk.Offsets[j].Len())
	}
	for k, j := range f.turns {
		const least = 0.1 // m
		for i := range 6 {
			f.weights[3+6*k+i] = max(reach[j], least)
		}
	}
}

// pose writes the pose of a frame, (outputs).
func (f *learnedFrames) pose(to []float32, frame int) {
	f.d.Pose(frame, f.pos, f.rot)
	to[0], to[1], to[2] = f.pos[0].X, f.pos[0].Y, f.pos[0].Z
	for j, q := range f.rot {
		if f.model[j] = q; f.d.Skel.Parents[j] >= 0 {
			f.model[j] = f.model[f.d.Skel.Parents[j]].Mul(q)
		}
	}
	for i, j := range f.turns {
		x, y := f.model[j].Rotate(m3.V(1, 0, 0)), f.model[j].Rotate(m3.V(0, 1, 0))
		copy(to[3+6*i:], []float32{x.X, x.Y, x.Z, y.X, y.Y, y.Z})
	}
}

// change writes by how much a frame's pose y changes in the tick from it, or to it if it is the last.
func (f *learnedFrames) change(to, y []float32, frame int) {
	if next := f.d.Next(frame); next >= 0 {
		f.pose(to, next)
		for i, v := range y {
			to[i] -= v
		}
		return
	}
	f.pose(to, frame-1)
	for i, v := range y {
		to[i] = v - to[i]
	}
}

// statistics finds means and deviations of poses and features.
func (f *learnedFrames) statistics() {
	var pose, change, feature moments
	y, dy := make([]float32, f.outputs), make([]float32, f.outputs)
	var row []float32
	for i := range f.d.Frames() {
		f.pose(y, i)
		f.change(dy, y, i)
		pose.add(y)
		change.add(dy)
		row = f.d.AppendFeatures(row[:0], i)
		feature.add(row)
	}
	f.poses, f.turning, f.features = pose.of(1e-3), change.of(1e-4), feature.of(1e-3)
}

// moments are sums of values and of their squares, by column.
type moments struct {
	sum, square []float64
	n           float64
}

func (m *moments) add(v []float32) {
	if m.sum == nil {
		m.sum, m.square = make([]float64, len(v)), make([]float64, len(v))
	}
	for i, x := range v {
		m.sum[i] += float64(x)
		m.square[i] += float64(x) * float64(x)
	}
	m.n++
}

// of returns the scaling by means and deviations, these at least least.
func (m *moments) of(least float64) scaling {
	var mean, std []float32
	for i := range m.sum {
		a := m.sum[i] / m.n
		mean = append(mean, float32(a))
		std = append(std, float32(math.Sqrt(max(m.square[i]/m.n-a*a, least*least))))
	}
	return newScaling(mean, std)
}

// places returns the places of all joints of poses, (rows, 3·joints).
func (f *learnedFrames) places(t *grad.Tape, y *grad.Mat) *grad.Mat {
	g := func(i int) *grad.Mat { return t.Gather(y, f.gather[i]) }
	z := t.Sub(t.Mul(g(0), g(1)), t.Mul(g(2), g(3)))
	return t.Dense(t.Concat(y, z), f.fk, f.fkBias)
}

// code returns the encoder's latent values of frames with poses y that change by dy.
func (f *learnedFrames) code(t *grad.Tape, encoder stack, y, dy *grad.Mat) *grad.Mat {
	return encoder.forward(t, t.Concat(f.poses.apply(t, y), t.Affine(dy, f.turning.per, nil)))
}

// encode returns the latent values of all frames.
func (f *learnedFrames) encode(encoder stack, pool *grad.Pool, latent int) []float32 {
	const batch = 256
	n := f.d.Frames()
	out := make([]float32, n*latent)
	tape := grad.NewTape(pool)
	for from := 0; from < n; from += batch {
		tape.Reset()
		rows := min(batch, n-from)
		y, dy := tape.Const(rows, f.outputs), tape.Const(rows, f.outputs)
		for i := range rows {
			pose := y.Val[i*f.outputs:][:f.outputs]
			f.pose(pose, from+i)
			f.change(dy.Val[i*f.outputs:][:f.outputs], pose, from+i)
		}
		copy(out[from*latent:], f.code(tape, encoder, y, dy).Val)
	}
	return out
}

// setStates completes the states by latent values.
func (f *learnedFrames) setStates(latent []float32, n int) {
	f.latent, f.size = latent, f.cols+n
	var all, change moments
	for i := range f.d.Frames() {
		all.add(f.state(i))
	}
	f.states, f.coded = all.of(1e-3), f.features.with(n)
	step := make([]float32, f.size+3)
	for _, i := range f.starts.all {
		f.step(step, i)
		change.add(step)
	}
	f.changes = change.of(1e-4)
	f.findSlow()
	f.least, f.most = slices.Clone(f.states.mean), slices.Clone(f.states.mean)
	for i := range f.d.Frames() {
		for k, v := range f.state(i) {
			f.least[k], f.most[k] = min(f.least[k], v), max(f.most[k], v)
		}
	}
}

// findSlow finds by how much errors count. A slow step changes a state by little beside a run, and would be lost in the run's errors.
func (f *learnedFrames) findSlow() {
	const most = 2.5
	n := f.d.Frames()
	changes, paces, mean := make([]float64, n), make([]float64, n), 0.0 // of a tick; of a window
	step := make([]float32, f.size+3)
	for _, i := range f.starts.all {
		f.step(step, i)
		for k, v := range step[:f.size] {
			changes[i] += math.Abs(float64(v*f.changes.per[k])) / float64(f.size)
		}
	}
	for _, i := range f.windows.all {
		at := i
		for range stepWindow {
			paces[i] += changes[at] / stepWindow
			at = f.d.Next(at)
		}
		mean += paces[i] / float64(len(f.windows.all))
	}
	f.slow = slices.Repeat([]float32{1}, n)
	for _, i := range f.windows.all {
		f.slow[i] = float32(min(max(mean/max(paces[i], 1e-9), 1), most))
	}
}

// weighted returns x with each row times its weight.
func weighted(t *grad.Tape, x *grad.Mat, rows []float32) *grad.Mat {
	by := t.Const(x.Rows, x.Cols)
	for i := range by.Val {
		by.Val[i] = rows[i/x.Cols]
	}
	return t.Mul(x, by)
}

// state returns the state of a frame.
func (f *learnedFrames) state(frame int) []float32 {
	n := f.size - f.cols
	out := make([]float32, 0, f.size)
	return append(f.d.AppendFeatures(out, frame), f.latent[frame*n:(frame+1)*n]...)
}

// step writes the change of a state to that of the next tick, and the root's motion.
func (f *learnedFrames) step(to []float32, frame int) {
	a, b := f.state(frame), f.state(f.d.Next(frame))
	for i := range a {
		to[i] = b[i] - a[i]
	}
	to[f.size], to[f.size+1], to[f.size+2] = f.d.Move(frame)
}

// acts returns the clips that are played once.
func (f *learnedFrames) acts() (out []matching.Act) {
	for _, s := range f.once {
		out = append(out, matching.Act{Tags: f.d.TagsOf(s.First), Ticks: s.End - s.First - 1, Holds: s.Holds, State: f.state(s.First)})
	}
	return out
}

// mostIdles is the most idles of a stance.
const mostIdles = 24

// idles returns what each stance shows on the spot, spread over all frames that do.
func (f *learnedFrames) idles() (out []matching.Idle) {
	for i := range f.d.Tags {
		all := staying(f.d, 1<<i)
		n := min(mostIdles, len(all))
		for k := range n {
			out = append(out, matching.Idle{Tags: 1 << i, States: f.idle(all[(2*k+1)*len(all)/(2*n)])})
		}
	}
	return out
}

// idlesOf returns how many of them a database has.
func idlesOf(d *matching.Database) (n int) {
	for i := range d.Tags {
		n += min(mostIdles, len(staying(d, 1<<i)))
	}
	return n
}

// idleTicks is how long an idle is.
const idleTicks = (matching.IdleKeys - 1) * matching.IdleTicks

// idle returns the states of the idle that begins with a frame, and the root's motion, which ends where it began.
func (f *learnedFrames) idle(from int) (out []float32) {
	var drift [3]float32
	at := from
	for range idleTicks {
		x, z, yaw := f.d.Move(at)
		for k, v := range [...]float32{x, z, yaw} {
			drift[k] += v / idleTicks
		}
		at = f.d.Next(at)
	}
	at = from
	for key := range matching.IdleKeys {
		out = append(out, f.state(at)...)
		var way [3]float32
		for range matching.IdleTicks {
			if key == matching.IdleKeys-1 {
				break
			}
			x, z, yaw := f.d.Move(at)
			for k, v := range [...]float32{x, z, yaw} {
				way[k] += (v - drift[k]) / matching.IdleTicks
			}
			at = f.d.Next(at)
		}
		out = append(out, way[:]...)
	}
	return out
}

// staying returns the first frames of idles of a stance: for that long a database shows it, and the root stays about where it is. Loops go round.
func staying(d *matching.Database, stance matching.Tags) (out []int) {
	const (
		away   = 0.06 // m
		turned = 0.04 // rad; twice as much without the drift, and an agent that turns by 0.1 leaves its idle
	)
	for i := range d.Clips() {
		s := d.Span(i)
		for from := s.First; from < s.End; {
			at, f, ticks := m3.Identity, from, 0
			for ticks < idleTicks && d.Next(f) >= 0 && d.TagsOf(f) == stance && at.Pos.Len() < away && m3.Abs(at.Rot.Yaw()) < turned {
				x, z, yaw := d.Move(f)
				at = at.Mul(m3.Xform{Pos: m3.V(x, 0, z), Rot: m3.YawQuat(yaw)})
				f = d.Next(f)
				ticks++
			}
			if ticks == idleTicks && d.TagsOf(f) == stance {
				out = append(out, from)
			}
			from += ticks + 1
		}
	}
	return out
}

// rest returns the state of the frame that stands.
func (f *learnedFrames) rest() []float32 { return f.state(f.d.Rest()) }

// query draws a query with its tags, as agents ask: the pose of a frame, and a way that leads from that of the frame toward
// that of another, which may go anywhere. It returns the frame that a search finds for it.
func (f *learnedFrames) query(to []float32, key uint64) int {
	const (
		noise   = 0.1 // deviations
		turning = 0.3 // share of ways that are turned
		runs    = 0.3 // share of walks that need not be: who is about to run, or stops
	)
	d := f.d
	from := f.fresh.draw(grad.Hash(key, 1))
	toward := f.fresh.draw(grad.Hash(key, 2))
	query, tags := to[:f.cols], to[f.cols:]
	must, never := d.Wanted(d.TagsOf(toward))
	d.AppendFeatures(query[:0], from)
	share := float32(share01(grad.Hash(key, 3)))
	if share01(grad.Hash(key, 4)) < 0.2 {
		share = 0
		must, never = d.Wanted(d.TagsOf(from))
	}
	if must != 0 && d.Tags[must.First()] == matching.WalkTag {
		if way := wayOf(d, toward); way == wayLeft || way == wayRight || share01(grad.Hash(key, 8)) < runs {
			must = 0
		}
	}
	other := d.AppendFeatures(nil, toward)
	if share01(grad.Hash(key, 6)) < turning {
		d.TurnWay(other, float32(2*math.Pi*share01(grad.Hash(key, 7))))
	}
	for c := d.WayColumn(); c < f.cols; c++ {
		query[c] += share * (other[c] - query[c])
	}
	by := noise * float32(share01(grad.Hash(key, 5)))
	for c := range query {
		query[c] += by * f.features.std[c] * float32(normal(grad.Hash(key, uint64(10+2*c)), grad.Hash(key, uint64(11+2*c))))
	}
	matching.WriteTags(tags, must)
	found, _ := d.Search(&matching.Target{Query: query, Must: must, Never: never})
	if found < 0 {
		return from
	}
	return found
}
