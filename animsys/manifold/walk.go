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

// Gait are a user's changes to the steps of a motion: the parameters a, b and c of Holden et al.
// 2016, eq. 7. The zero value changes nothing.
type Gait struct {
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
	toe         []bool    // (contacts) whether it is a toe
	gamma       []float32 // (batch, length, contacts+1) duty angles and step frequency
	motionInput []float32 // (batch, length, 3+contacts)
	batch       int
	length      int
	run         netruntime.Sequences
	wave        func(worker, b int)
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
	if err := m.checkNet(steps, feature.MotionLen, contacts+1); err != nil {
		return nil, err
	}
	if err := m.checkNet(locomotion, feature.MotionLen+contacts, m.Layout.Columns()); err != nil {
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
	w.motionInput = make([]float32, o.Batch*o.Length*(feature.MotionLen+contacts))
	w.wave = func(_, b int) { w.writeContacts(w.job, b) }
	for _, c := range m.Layout.Contacts {
		w.toe = append(w.toe, slices.ContainsFunc(m.Layout.Contacts, func(heel feature.Contact) bool {
			return heel != c && m.isAncestor(heel.Joint, c.Joint)
		}))
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

	Rows     []float32 // out: (Batch, Length, columns) the motion, raw
	Contacts []float32 // out, from frame Kept on: (Batch, Length, contacts) 1 if a contact stands, else 0
	Phases   []float32 // out, from frame Kept on: (Batch, Length) phase of stepping after each frame; may be nil
}

// Run synthesizes the motions. A motion's result is bit-identical alone or in a batch. Filters
// reach about a second to both sides and see zeros beyond the first and last frame.
func (w *Walker) Run(job *Walk) error {
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
		{"Rows", len(job.Rows), frames * cols, false}, {"Contacts", len(job.Contacts), frames * n, false}, {"Phases", len(job.Phases), frames, true},
	} {
		if v.len != v.n && !(v.optional && v.len == 0) {
			return fmt.Errorf("manifold: Walk.%s has %d values, want %d", v.name, v.len, v.n)
		}
	}
	if err := w.run.Run(w.steps, w.gamma[:frames*(n+1)], job.Body, job.Batch, job.Length); err != nil {
		return err
	}
	w.job = job
	w.pool.Run(job.Batch, w.wave)
	w.job = nil
	return w.run.Run(w.motion, job.Rows, w.motionInput[:frames*(feature.MotionLen+n)], job.Batch, job.Length)
}

// waves writes the contacts of walk b, square waves of its step frequency and duties, and the input
// of the locomotion network.
func (w *Walker) writeContacts(job *Walk, b int) {
	n := len(w.lags)
	var g Gait
	if len(job.Gaits) > 0 {
		g = job.Gaits[b]
	}
	g.Cadence = cmp.Or(g.Cadence, 1)
	phase := 0.0
	if len(job.Phase) > 0 {
		phase = float64(job.Phase[b])
	}
	for f := b * job.Length; f < (b+1)*job.Length; f++ {
		gamma := w.gamma[f*(n+1):][:n+1]
		given := w.motionInput[f*(feature.MotionLen+n):][:feature.MotionLen+n]
		body := job.Body[f*feature.MotionLen:][:feature.MotionLen]
		copy(given, body)
		if f < b*job.Length+job.Kept {
			copy(given[feature.MotionLen:], job.Contacts[f*n:][:n])
			continue
		}
		if still := math.Hypot(float64(body[feature.MotionX]), float64(body[feature.MotionZ])) < idleSpeed &&
			math.Abs(float64(body[feature.MotionYaw])) < idleTurn; still {
			for i := range w.lags {
				job.Contacts[f*n+i], given[feature.MotionLen+i] = 1, 1
			}
		} else {
			phase = math.Remainder(phase+float64(g.Cadence*max(0, gamma[n])), 2*math.Pi)
			for i, lag := range w.lags {
				stands := g.stands(phase-float64(lag), gamma[i], w.toe[i])
				job.Contacts[f*n+i], given[feature.MotionLen+i] = stands, stands
			}
		}
		if job.Phases != nil {
			job.Phases[f] = float32(phase)
		}
	}
}

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
