package manifold

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// Gait says who steps and how: a user's changes to the steps of a motion are the parameters a, b and
// c of Holden et al. 2016, eq. 7. The zero value changes nothing.
type Gait struct {
	// Person says who moves. People differ in posture, in how far arms and legs swing and in how often
	// they step, and no stride of one is like another; equal numbers are the same person. 0 is nobody:
	// the mean of the recorded people, with even strides. In a Stream it is somebody by order of
	// spawning.
	Person uint32

	Heel, Toe       float32 // a: phase by which heels and toes touch down earlier, radians
	HeelOff, ToeOff float32 // b, −1 to 1: above 0 heels and toes have shorter contact, as in running; below 0 longer
	Cadence         float32 // c: factor of the step frequency; 0 counts as 1
}

// Bounds of the square waves' thresholds. Feet always have some contact and some swing.
const (
	minThreshold = -0.999
	maxThreshold = 0.9
)

// Below these speeds of the body both feet stand. Without that the networks step on the spot,
// because their training data hardly stand.
const (
	idleSpeed = 0.1 // m/s
	idleTurn  = 0.3 // rad/s
)

// Walker synthesizes locomotion: contacts from the body's motion over the ground, then all joints
// from both (Holden et al. 2016, sec. 6). It belongs to one goroutine.
type Walker struct {
	model       *Model
	steps       netruntime.Session
	motion      netruntime.Session
	pool        *netruntime.Pool
	lags        []float32
	toe         []bool     // (contacts) whether it is a toe
	heel        []int      // (contacts) of a toe: its heel's contact; −1 for others
	gamma       []float32  // (batch, length, contacts+1) duty angles and step frequency
	stepInput   []float32  // (batch, length, 3+manner)
	motionInput []float32  // (batch, length, 3+contacts+manner)
	manner      int        // number of values that say how a person moves
	line        []swayLine // by worker
	sidesteps   sidesteps
	batch       int
	length      int
	run         netruntime.Sequences
	given       func(worker, b int)
	wave        func(worker, b int)
	swing       func(worker, b int)
	job         *Walk
}

// WalkerOptions are the options of NewWalker.
type WalkerOptions struct {
	Batch   int               // maximum number of motions, at least 1
	Length  int               // maximum number of frames, even
	Workers int               // goroutines, at least 1
	Open    netruntime.Opener // opens sessions; nil: on the CPU
	BF16    bool              // see netruntime.SessionOptions
}

// NewWalker returns a walker. A *feature.SchemaError lists how the networks do not fit the model.
func (n *Networks) NewWalker(o WalkerOptions) (*Walker, error) {
	if n.Model == nil {
		return nil, errZeroNetworks
	}
	m, steps, locomotion := n.Model, n.Footsteps, n.Locomotion
	if err := checkSize("a walker", o.Batch, o.Length, o.Workers); err != nil {
		return nil, err
	}
	contacts := len(m.Layout.Contacts)
	w := &Walker{model: m, batch: o.Batch, length: o.Length}
	w.manner = max(0, locomotion.Inputs()-feature.MotionLen-contacts)
	if err := m.checkNet(locomotion, feature.MotionLen+contacts+w.manner, m.Layout.Columns()); err != nil {
		return nil, err
	}
	if err := m.checkNet(steps, feature.MotionLen+w.manner, contacts+1); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(steps.Meta().Extra[KeyLags]), &w.lags); err != nil || len(w.lags) != contacts {
		return nil, &feature.SchemaError{Package: "manifold", Model: steps.Meta().Name,
			Diff: []string{fmt.Sprintf("its metadata %q holds no list of %d lags", KeyLags, contacts)}}
	}
	var err error
	so := netruntime.SessionOptions{Batch: o.Batch, Length: o.Length, Workers: o.Workers}
	if w.steps, err = o.Open.Session(steps, so); err != nil {
		return nil, err
	}
	so.BF16 = o.BF16
	if w.motion, err = o.Open.Session(locomotion, so); err != nil {
		return nil, errors.Join(err, w.steps.Close())
	}
	w.pool = netruntime.NewPool(o.Workers)
	w.gamma = make([]float32, o.Batch*o.Length*(contacts+1))
	w.stepInput = make([]float32, o.Batch*o.Length*(feature.MotionLen+w.manner))
	w.motionInput = make([]float32, o.Batch*o.Length*(feature.MotionLen+contacts+w.manner))
	for range w.pool.Workers() {
		w.line = append(w.line, newSwayLine(o.Length))
	}
	w.sidesteps = newSidesteps(m)
	w.given = func(_, b int) { w.writeSteps(w.job, b) }
	w.swing = func(worker, b int) { w.writeSway(w.job, worker, b) }
	w.wave = func(_, b int) { w.writeContacts(w.job, b) }
	for _, c := range m.Layout.Contacts {
		heel := slices.IndexFunc(m.Layout.Contacts, func(heel feature.Contact) bool {
			return heel != c && m.isAncestor(heel.Joint, c.Joint)
		})
		w.toe, w.heel = append(w.toe, heel >= 0), append(w.heel, heel)
	}
	return w, nil
}

// isAncestor reports whether joint a is joint b or an ancestor of it.
func (m *Model) isAncestor(a, b string) bool {
	for j := m.Skel.Index(b); j >= 0; j = int(m.Skel.Parents[j]) {
		if m.Skel.Names[j] == a {
			return true
		}
	}
	return false
}

// checkNet reports how a network does not fit this model's frames.
func (m *Model) checkNet(n *netruntime.Net, inputs, outputs int) error {
	e := &feature.SchemaError{Package: "manifold", Model: n.Meta().Name}
	if got, want := n.Meta().SchemaHash, m.Layout.Hash(); got != want {
		e.Diff = append(e.Diff, fmt.Sprintf("its schema is %q, the manifold's %q", got, want))
	}
	if n.Inputs() != inputs || n.Outputs() != outputs {
		e.Diff = append(e.Diff, fmt.Sprintf("it has %d outputs and %d inputs, want %d and %d", n.Outputs(), n.Inputs(), outputs, inputs))
	}
	if len(e.Diff) > 0 {
		return e
	}
	return nil
}

// Close stops the walker's workers.
func (w *Walker) Close() error {
	if w.pool == nil {
		return nil
	}
	w.pool.Close()
	return errors.Join(w.steps.Close(), w.motion.Close())
}

// Walk is one call of Walker.Run: a batch of motions of equal length.
type Walk struct {
	Batch, Length int       // motions, and frames of each: even, at most the walker's
	Body          []float32 // (Batch, Length, feature.MotionLen) the body's motion, raw
	Gaits         []Gait    // (Batch); nil: as trained
	Kept          int       // number of frames at the start whose Contacts are given, to continue a motion
	Phase         []float32 // (Batch) phase of stepping before frame Kept, radians; nil: 0
	First         []int     // (Batch) number of each motion's first frame, from which strides vary; at least 0; nil: 0

	// Stride, (Batch), are factors of the body's speed, 0.8 to 1.4: the networks make strides for that speed; nil: 1. Strides of some people are
	// too short for the speed that they are given, and their feet would slide. Run sets each to the factor for the same person's next walk.
	Stride []float32

	Rows     []float32 // out: (Batch, Length, columns) the motion, raw
	Contacts []float32 // out, from frame Kept on: (Batch, Length, contacts) 1 if a contact stands, else 0
	Phases   []float32 // out, from frame Kept on: (Batch, Length) phase of stepping after each frame; may be nil
	sway     []sway    // out: (Batch, Length) of the body about Body; may be nil
}

// Run synthesizes the motions. A motion's result is bit-identical alone or in a batch. Filters
// reach about a second to both sides and see zeros beyond the first and last frame.
func (w *Walker) Run(job *Walk) error {
	if w.model == nil {
		return errZeroModel
	}
	n, cols := len(w.lags), w.model.Layout.Columns()
	frames := job.Batch * job.Length
	if err := checkBatch("walks", job.Batch, job.Length, w.batch, w.length); err != nil {
		return err
	}
	if job.Kept < 0 || job.Kept > job.Length {
		return fmt.Errorf("manifold: Walk.Kept is %d, of %d frames", job.Kept, job.Length)
	}
	for _, v := range []struct {
		name     string
		len, n   int
		optional bool
	}{
		{"Body", len(job.Body), frames * feature.MotionLen, false}, {"Gaits", len(job.Gaits), job.Batch, true}, {"Phase", len(job.Phase), job.Batch, true},
		{"First", len(job.First), job.Batch, true}, {"Stride", len(job.Stride), job.Batch, true},
		{"Rows", len(job.Rows), frames * cols, false}, {"Contacts", len(job.Contacts), frames * n, false}, {"Phases", len(job.Phases), frames, true},
	} {
		if v.len != v.n && !(v.optional && v.len == 0) {
			return fmt.Errorf("manifold: Walk.%s has %d values, want %d", v.name, v.len, v.n)
		}
	}
	for _, f := range job.First {
		if f < 0 {
			return fmt.Errorf("manifold: Walk.First has frame %d, want 0 or more", f)
		}
	}
	w.job = job
	defer func() { w.job = nil }()
	w.pool.Run(job.Batch, w.given)
	if err := w.run.Run(w.steps, w.gamma[:frames*(n+1)], w.stepInput[:frames*(feature.MotionLen+w.manner)], job.Batch, job.Length); err != nil {
		return err
	}
	w.pool.Run(job.Batch, w.wave)
	if err := w.run.Run(w.motion, job.Rows, w.motionInput[:frames*(feature.MotionLen+n+w.manner)], job.Batch, job.Length); err != nil {
		return err
	}
	if len(job.Stride) > 0 {
		for b := range job.Stride {
			w.nextStride(job, b)
		}
	}
	if job.sway != nil {
		w.pool.Run(job.Batch, w.swing)
	}
	return nil
}

// gait returns the gait of motion b of a walk, and the number of its first frame.
func (job *Walk) gait(b int) (g Gait, first int) {
	if len(job.Gaits) > 0 {
		g = job.Gaits[b]
	}
	if len(job.First) > 0 {
		first = job.First[b]
	}
	return g, first
}

// writeSteps writes the input of the footstep network.
func (w *Walker) writeSteps(job *Walk, b int) {
	cols := feature.MotionLen + w.manner
	g, first := job.gait(b)
	dst := w.stepInput[b*job.Length*cols:][:job.Length*cols]
	for f := range job.Length {
		body := dst[f*cols:][:feature.MotionLen]
		copy(body, job.Body[(b*job.Length+f)*feature.MotionLen:])
		job.stretch(b, body)
		body[feature.MotionX], body[feature.MotionZ] = stepsAs(body[feature.MotionX], body[feature.MotionZ])
	}
	writeManners(dst, cols, feature.MotionLen, g.Person, first)
}

// stepsAs returns the motion of a body, m/s to the left and ahead, that has the steps of a body with the
// motion x and z: it goes less aside. Few recorded people go aside, and most of those jog, so that the
// network has steps as quick as theirs for every way that is not straight ahead.
func stepsAs(x, z float32) (aside, ahead float32) {
	const quarter = math.Pi / 2
	way := math.Atan2(math.Abs(float64(x)), float64(z))
	if way >= quarter {
		return x, z
	}
	sin, cos := math.Sincos(way * math.Sqrt(way/quarter))
	speed := math.Hypot(float64(x), float64(z))
	return float32(math.Copysign(speed*sin, float64(x))), float32(speed * cos)
}

// stretch multiplies the speed of a body of walk b by the walk's stride.
func (job *Walk) stretch(b int, body []float32) {
	if len(job.Stride) > 0 {
		body[feature.MotionX] *= job.Stride[b]
		body[feature.MotionZ] *= job.Stride[b]
	}
}

const (
	leastStride, mostStride = 0.8, 1.4 // bounds of Walk.Stride
	strideGain              = 0.5      // share of a mismatch that the next walk makes up for
	strideSpeed             = 0.4      // m/s: slower walks change no stride
)

// nextStride sets the stride of walk b for the same person's next walk. The rows hold the speed at which a body goes with these strides.
func (w *Walker) nextStride(job *Walk, b int) {
	l := w.model.Layout
	cols, at := l.Columns(), l.Body()
	var along, own, ways float64
	for f := b * job.Length; f < (b+1)*job.Length; f++ {
		body, row := job.Body[f*feature.MotionLen:][:feature.MotionLen], job.Rows[f*cols+at:][:feature.MotionLen]
		x, z := float64(body[feature.MotionX]), float64(body[feature.MotionZ])
		along += x*x + z*z
		own += x*float64(row[feature.MotionX]) + z*float64(row[feature.MotionZ])
		ways += math.Hypot(x, z)
	}
	if ways < strideSpeed*float64(job.Length) || !(own > 0) {
		return
	}
	next := float64(job.Stride[b]) * math.Pow(along/own, strideGain)
	if next-next == 0 {
		job.Stride[b] = float32(min(max(next, leastStride), mostStride))
	}
}

// writeSway finds how the body of walk b sways about the given motion.
func (w *Walker) writeSway(job *Walk, worker, b int) {
	l, n := w.model.Layout, job.Length
	w.line[worker].find(job.sway[b*n:][:n], job.Rows[b*n*l.Columns():][:n*l.Columns()], l.Columns(), l.Body(), job.Body[b*n*feature.MotionLen:])
}

// waves writes the contacts of walk b, square waves of its step frequency and duties, and the input
// of the locomotion network.
func (w *Walker) writeContacts(job *Walk, b int) {
	n := len(w.lags)
	cols := feature.MotionLen + n + w.manner
	g, first := job.gait(b)
	g.Cadence = cmp.Or(g.Cadence, 1)
	pace := wanders{person: g.Person, channel: channelPace, period: pacePeriod}
	phase := 0.0
	if len(job.Phase) > 0 {
		phase = float64(job.Phase[b])
	}
	for f := b * job.Length; f < (b+1)*job.Length; f++ {
		gamma := w.gamma[f*(n+1):][:n+1]
		given := w.motionInput[f*cols:][:cols]
		body := job.Body[f*feature.MotionLen:][:feature.MotionLen]
		copy(given, body)
		job.stretch(b, given)
		copy(given[feature.MotionLen+n:], w.stepInput[f*(feature.MotionLen+w.manner)+feature.MotionLen:][:w.manner])
		if f < b*job.Length+job.Kept {
			copy(given[feature.MotionLen:], job.Contacts[f*n:][:n])
			continue
		}
		if still(body) {
			for i := range w.lags {
				job.Contacts[f*n+i], given[feature.MotionLen+i] = 1, 1
			}
		} else {
			often := g.Cadence
			if g.Person != 0 {
				often *= 1 + paceVaries*pace.at(first+f-b*job.Length)
			}
			phase = math.Remainder(phase+float64(often*asideSteps(max(0, gamma[n]), body)), 2*math.Pi)
			short := shortInRuns(math.Hypot(float64(body[feature.MotionX]), float64(body[feature.MotionZ])))
			for i, lag := range w.lags {
				stands := g.stands(phase-float64(lag), gamma[i]-short, w.toe[i])
				job.Contacts[f*n+i], given[feature.MotionLen+i] = stands, stands
			}
		}
		if job.Phases != nil {
			job.Phases[f] = float32(phase)
		}
	}
}

// shortInRuns returns by how much the duty angles of the footstep network are too large at a speed, m/s.
// At 3 m/s its heels and toes stand for 0.25 and 0.32 of a stride, in recordings for 0.16 and 0.24, so
// that runners would hardly leave the ground.
func shortInRuns(speed float64) float32 { return float32(0.1 * math.Pi * inRuns(speed)) }

// inRuns rises from 0 to 1 where people begin to run. speed is in m/s.
func inRuns(speed float64) float64 { return rise(speed, 1.8, 2.4) }

// stands returns 1 if a contact stands at its phase, else 0 (eq. 7). gamma is the duty angle of the
// network.
func (g *Gait) stands(phase float64, gamma float32, toe bool) float32 {
	ahead, off := g.Heel, g.HeelOff
	if toe {
		ahead, off = g.Toe, g.ToeOff
	}
	threshold := min(max(math.Cos(float64(gamma))+float64(off), minThreshold), maxThreshold)
	if math.Sin(phase+float64(ahead)) > threshold {
		return 1
	}
	return 0
}
