package matching

import (
	"errors"
	"fmt"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// AdaptiveStream is a [generator.Generator] as [Stream] is, of an [Adaptive]: the network sees where the simulated body of an agent
// goes, and the agent's root is drawn to it. It is a [generator.Batched]: the network runs once a tick for all agents.
type AdaptiveStream struct {
	steering
	of    *Adaptive
	bf16  bool
	batch *mann.Batch
	seen  []int // (capacity) of what is restored, as of the last tick

	session netruntime.Session
	x, y    []float32 // (batch, inputs) and (batch, outputs)
	due     []int32   // rows of this tick's batch
}

var (
	_ generator.Generator[control.Goal] = (*AdaptiveStream)(nil)
	_ generator.Batched                 = (*AdaptiveStream)(nil)
	_ generator.Walled                  = (*AdaptiveStream)(nil)
)

// NewStream returns a stream without agents.
func (a *Adaptive) NewStream(o StreamOptions) (*AdaptiveStream, error) {
	if a.model == nil {
		return nil, errZero
	}
	if o.Tuning == nil {
		// The network goes on from the drawn root, as recordings do not: it need not be spared.
		t := a.Tuning()
		t.Follow, t.Share = 0.05, 1
		o.Tuning = &t
	}
	of, err := newSteering(&a.Character, &o)
	if err != nil {
		return nil, err
	}
	var sole float32
	if a.upright {
		sole = ik.DefaultHuman().Sole
	}
	n := o.Capacity
	s := &AdaptiveStream{steering: of, of: a, bf16: o.BF16, batch: mann.NewFollower(a.model, n, sole), seen: make([]int, n), due: make([]int32, 0, n)}
	if s.session, err = o.Open.Session(a.model.Net, netruntime.SessionOptions{Batch: n, Workers: generator.Workers(o.Workers, n), BF16: o.BF16}); err != nil {
		return nil, fmt.Errorf("matching: %w", err)
	}
	if s.x, err = netruntime.Buffer(s.session, n*a.model.Layout.Inputs()); err == nil {
		s.y, err = netruntime.Buffer(s.session, n*a.model.Layout.Outputs())
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the network session.
func (s *AdaptiveStream) Close() error {
	if s.of == nil || s.closed {
		return nil
	}
	s.closed, s.x, s.y = true, nil, nil
	return s.session.Close()
}

// Rig returns the character's skeleton with its legs; see [generator.Generator].
func (s *AdaptiveStream) Rig(roles *ik.Roles) (generator.Rig, error) {
	if s.of == nil {
		return generator.Rig{}, errZero
	}
	rig, err := s.rig(roles, fmt.Sprintf("mode-adaptive network %016x, bfloat16 %t", s.of.Fingerprint(), s.bf16))
	rig.Late = false
	if err == nil {
		rig.Turn, rig.Move = mann.Jumps(s.of.Skel, rig.Ground.Rig.Roles)
	}
	return rig, err
}

// Weight returns how much of an action a row shows, 0 to 1.
func (s *AdaptiveStream) Weight(row int, a control.Action) float32 {
	if s.of == nil {
		return 0
	}
	column := -1
	switch must, _ := s.of.wants(a); {
	case must != 0:
		column = s.of.columns[must.First()]
	case a == control.Idle:
		column = s.of.idle
	case a == control.Move:
		column = s.of.move
	}
	if column < 0 {
		return 0
	}
	return s.batch.WeightOf(row, column)
}

// Batch returns the trajectories and poses of the agents, by row.
func (s *AdaptiveStream) Batch() *mann.Batch { return s.batch }

// Add puts an agent at a place and returns its row. It stands.
func (s *AdaptiveStream) Add(at feature.Place, goal *control.Goal) (row int, err error) {
	if row, err = s.add(at, goal); err == nil {
		s.Place(row, at)
	}
	return row, err
}

// Place puts row at rest at a place.
func (s *AdaptiveStream) Place(row int, at feature.Place) {
	s.steering.Place(row, at)
	at = s.agents[row].At
	s.batch.Reset(row, at.Pos, at.Yaw)
	s.seen[row] = 0
}

// Shift moves all places of a row; see [generator.Generator].
func (s *AdaptiveStream) Shift(row int, by m3.Vec3) {
	s.steering.Shift(row, by)
	s.batch.Shift(row, by)
}

// Turn turns all places and directions of a row; see [generator.Turner].
func (s *AdaptiveStream) Turn(row int, by m3.Turn) {
	s.steering.Turn(row, by)
	s.batch.Turn(row, by)
}

// Remove takes a row out. The last row becomes this one.
func (s *AdaptiveStream) Remove(row int) {
	if s.remove(row); row != s.rows {
		s.batch.Copy(row, s.rows)
		s.seen[row] = s.seen[s.rows]
	}
}

// Save writes the state of a row; see [generator.Generator].
func (s *AdaptiveStream) Save(st *generator.State, row int) {
	if s.of == nil {
		return
	}
	s.visit(st, row)
	s.batch.Save(st, row)
}

// Restore adds an agent in a saved state; see [generator.Generator].
func (s *AdaptiveStream) Restore(st *generator.State) (row int, err error) {
	if err := s.room(); err != nil {
		return 0, err
	}
	row = s.rows
	s.visit(st, row)
	s.batch.Restore(st, row) // its error is the state's
	return s.restored(row, st)
}

func (s *AdaptiveStream) visit(st *generator.State, row int) {
	st.Kind("adaptive matching", s.of.model.Layout.Inputs(), len(s.of.Tags))
	s.steering.visit(st, row)
	st.Int(&s.seen[row])
}

// Generate begins a tick. The motion is made by Plan, Gather, Infer and Scatter.
func (s *AdaptiveStream) Generate(frozen []bool) error { return s.begin(frozen) }

// HasStride reports that agents update in every tick.
func (s *AdaptiveStream) HasStride(ticks int) bool { return ticks == 1 }

// Select chooses the rows that update in this tick, and returns their number; see [generator.Batched].
func (s *AdaptiveStream) Select(strides []uint8) int {
	s.due = s.due[:0]
	for r, stride := range strides {
		if stride == 1 {
			s.due = append(s.due, int32(r))
		}
	}
	return len(s.due)
}

// actionRamp is the time in which an action takes over from another, s.
const actionRamp = 0.25

// Plan advances the simulated bodies of entries i0 to i1−1 of the batch, and writes where they will be.
func (s *AdaptiveStream) Plan(i0, i1 int) {
	for _, r := range s.due[i0:i1] {
		row := int(r)
		w, _ := s.plan(row, 0, 0, false)
		s.agents[row].Wait, s.agents[row].Since = 0, 0 // it never searches
		var future [mann.Aheads]body
		s.future(row, &w, mann.AheadStep, future[:])
		var ahead [mann.Aheads]mann.Ahead
		for i, b := range future {
			ahead[i] = mann.Ahead{At: b.At, Velocity: b.Vel}
		}
		s.batch.SetFuture(row, &ahead, s.action(row, &w), actionRamp, w.velocity.Len())
	}
}

// action returns the column of the action that a wish asks for.
func (s *AdaptiveStream) action(row int, w *wish) int {
	if w.must != 0 {
		if c := s.of.columns[w.must.First()]; c >= 0 {
			return c
		}
	}
	if w.velocity.Len() > 0 || w.path.Path != nil || s.goes(row) {
		return s.of.move
	}
	return s.of.idle
}

// Gather writes the network's inputs of entries i0 to i1−1 of the batch.
func (s *AdaptiveStream) Gather(i0, i1 int) {
	if s.closed || s.of == nil {
		return
	}
	n := s.of.model.Layout.Inputs()
	for i := i0; i < i1; i++ {
		s.batch.GatherRow(s.x[i*n:][:n], int(s.due[i]))
	}
}

// Infer runs the network once.
func (s *AdaptiveStream) Infer() error {
	switch {
	case s.of == nil:
		return errZero
	case s.closed:
		return errors.New("matching: the stream is closed")
	case len(s.due) == 0:
		return nil
	}
	in, out := s.of.model.Layout.Inputs(), s.of.model.Layout.Outputs()
	return s.session.Run(s.y[:len(s.due)*out], s.x[:len(s.due)*in], len(s.due))
}

// Scatter moves the agents of entries i0 to i1−1 of the batch by the network's outputs, and draws them to their bodies.
func (s *AdaptiveStream) Scatter(i0, i1 int) {
	if s.closed || s.of == nil {
		return
	}
	n := s.of.model.Layout.Outputs()
	for i := i0; i < i1; i++ {
		row := int(s.due[i])
		a := &s.agents[row]
		s.batch.ScatterRow(s.y[i*n:][:n], row)
		was := a.At
		root := s.batch.Root(row)
		a.At = feature.Place{Pos: root.Pos, Yaw: root.Rot.Yaw()}
		if times := s.batch.Restored(row); times != s.seen[row] {
			s.seen[row], a.Restart = times, 1
			a.Body = body{At: a.At, Along: -1, Heading: a.Body.Heading}
			continue
		}
		a.join(&s.tuning, between(was, a.At), s.tuning.Share)
		s.batch.Draw(row, a.At)
	}
}

// between returns the move from a place to another.
func between(from, to feature.Place) move {
	way := m3.YawQuat(-from.Yaw).Rotate(to.Pos.Sub(from.Pos))
	return move{way.X, way.Z, m3.WrapAngle(to.Yaw - from.Yaw)}
}

// Sample writes the poses of rows r0 to r1−1 with p.Update.
func (s *AdaptiveStream) Sample(p *generator.Poses, r0, r1 int) { p.Pose(s, r0, r1) }

// Pose writes the pose of a row.
func (s *AdaptiveStream) Pose(p *generator.Poses, row int) {
	if s.of == nil {
		return
	}
	a := &s.agents[row]
	if a.Restart != 0 {
		a.Restart, p.Restarted[row] = 0, true
	}
	p.Roots[row] = s.batch.Root(row)
	pos, rot := p.Joints(row, s.of.Skel.Len())
	from, turns := s.batch.Pose(row)
	copy(pos, from)
	copy(rot, turns)
}
