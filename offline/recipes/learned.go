package recipes

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/train"
)

// Learned is the recipe of learned motion matching (Holden, Kanoun, Perepichka and Popa 2020): three networks that make the
// motion of a database. They are trained one after another:
//
//  1. An autoencoder of the poses. Its encoder finds the latent values of each frame, which tell of the pose what the
//     features do not; its decoder is the decompressor.
//  2. The stepper, on the database's own sequences of states.
//  3. The projector, on queries and the frames that a search finds for them.
//
// All frames of the database are learned: networks are to say what it says. The held-out loss is that of other draws of
// frames, windows and queries than those of the training.
type Learned struct {
	Database *matching.Database

	Latent  int    // values of a state besides the features
	Hidden  int    // units of the hidden layers of decompressor and stepper
	Project int    // of the projector's three
	Steps   [3]int // steps of training of the three
	Seed    uint64

	Threads  int    // workers; the result does not depend on it
	Folder   string // of the checkpoints
	Resume   bool
	Progress func(part string, p train.Progress) // may be nil
	Log      *slog.Logger
	Now      func() time.Time
}

// learnedShare says that networks take at most an eighth of the database's memory.
const learnedShare = 8

// Of the three trainings: steps a minute on two cores, with networks of full size, and shares of the time.
var (
	learnedPace = [3]float64{24000, 6000, 9000}
	learnedTime = [3]float64{0.2, 0.3, 0.5}
)

// DefaultLearned returns our recipe for a database, for about so many minutes on two cores of a common PC.
func DefaultLearned(d *matching.Database, minutes float64) Learned {
	m := Learned{Database: d, Latent: 32, Seed: 1, Threads: runtime.GOMAXPROCS(0)}
	const most, least = 256, 64
	m.Hidden, m.Project = most, most*5/4
	idles := idlesOf(d)
	for m.Hidden > least && learnedShare*m.bytes(idles) > d.Bytes() {
		m.Hidden -= 32
		m.Project = m.Hidden * 5 / 4
	}
	for i := range m.Steps {
		m.Steps[i] = max(1, int(minutes*learnedPace[i]*learnedTime[i]))
	}
	return m
}

// bytes returns the memory of the networks and of so many idles, but for actions that play once.
func (m *Learned) bytes(idles int) int {
	d := m.Database
	state, outputs := d.Columns()+m.Latent, 3+6*d.Skel.Len()
	// Weights and biases of layers, and two values for each input and output, which normalise them.
	net := func(sizes ...int) (n int) {
		for i := range len(sizes) - 1 {
			n += (sizes[i] + 1) * sizes[i+1]
		}
		return n + 2*(sizes[0]+sizes[len(sizes)-1])
	}
	n := net(state, m.Hidden, outputs) + net(state, m.Hidden, m.Hidden, state+3) +
		net(d.Columns()+len(d.Tags), m.Project, m.Project, m.Project, state)
	return 4 * (n + idles*matching.IdleKeys*(state+3))
}

const (
	epochSteps   = 500 // steps between evaluations
	learnedBatch = 32  // pairs of frames, or windows
	stepWindow   = 20  // ticks over which the stepper goes on from its own states
	queryBatch   = 64
	encoderUnits = 256
)

// LearnedReport is the outcome of the three trainings.
type LearnedReport struct {
	Autoencoder, Stepper, Projector *train.Report
	Latent                          []float32 // (frames, latent values) of the database
}

// check reports the first field that is out of range.
func (m *Learned) check() error {
	if m.Database == nil || m.Database.Frames() == 0 {
		return fmt.Errorf("recipes: a database is missing")
	}
	if err := checkCounts("latent values", 256, m.Latent); err != nil {
		return err
	}
	if err := checkCounts("units of a layer", 1<<12, m.Hidden, m.Project); err != nil {
		return err
	}
	return checkCounts("steps", 1<<30, m.Steps[:]...)
}

// Run trains, and returns the networks.
func (m *Learned) Run(ctx context.Context) (*matching.Learned, *LearnedReport, error) {
	if err := m.check(); err != nil {
		return nil, nil, err
	}
	pool := grad.NewPool(m.Threads)
	defer pool.Close()
	frames, err := newLearnedFrames(m.Database)
	if err != nil {
		return nil, nil, err
	}
	l := &learning{Learned: m, frames: frames, pool: pool}
	report := &LearnedReport{}
	for _, part := range []struct {
		name   string
		report **train.Report
		run    func(ctx context.Context) (*train.Report, error)
	}{{"autoencoder", &report.Autoencoder, l.autoencoder}, {"stepper", &report.Stepper, l.stepper}, {"projector", &report.Projector, l.projector}} {
		if *part.report, err = part.run(ctx); err != nil {
			return nil, report, fmt.Errorf("the %s: %w", part.name, err)
		}
		if (*part.report).Ended == train.EndInterrupted {
			return nil, report, context.Cause(ctx)
		}
	}
	report.Latent = l.latent
	if m.Database.Responsive {
		if err := hasten(&l.networks); err != nil {
			return nil, report, err
		}
	}
	out, err := matching.NewLearned(m.Database, l.networks)
	return out, report, err
}

// hasten lets actions that play once begin later in their clips, where the stepper brings them: so a responsive character jumps sooner.
func hasten(n *matching.Networks) error {
	const ticks = 3
	s, err := n.Stepper.NewSession(netruntime.SessionOptions{Batch: 1, Workers: 1})
	if err != nil {
		return err
	}
	defer s.Close()
	change := make([]float32, n.Stepper.Outputs())
	for i := range n.Acts {
		a := &n.Acts[i]
		if a.Ticks <= 2*ticks {
			continue
		}
		a.Ticks -= ticks
		for range ticks {
			if err := s.Run(change, a.State, 1); err != nil {
				return err
			}
			for k := range a.State {
				a.State[k] = m3.Clamp(a.State[k]+change[k], n.Least[k], n.Most[k])
			}
		}
	}
	return nil
}

// learning is a Learned in progress.
type learning struct {
	*Learned
	frames   *learnedFrames
	pool     *grad.Pool
	latent   []float32 // (frames, Latent) of the trained encoder
	networks matching.Networks
	decoder  stack
}

// key draws the sample of a row in an epoch. Those that are held out are always the same.
func (m *Learned) key(epoch int, row int32, isHeldOut bool) uint64 {
	if isHeldOut {
		epoch = -1
	}
	return grad.Hash(grad.Hash(m.Seed, uint64(epoch+1)), uint64(row))
}

// train runs the job of a part and gives params the best weights.
func (l *learning) train(ctx context.Context, name string, steps, batch int, rate float64, params []*grad.Param, loss func(t *grad.Tape, keys []uint64) *grad.Mat) (*train.Report, error) {
	epoch, best := 0, [][]float32(nil)
	keys := make([]uint64, 0, batch)
	each := min(steps, epochSteps)
	epochs := steps / each
	job := &train.Job{
		Params: params, Samples: each * batch, HeldOut: 8 * batch, Batch: batch, Epochs: epochs, Seed: l.Seed,
		Loss: func(t *grad.Tape, rows []int32, isHeldOut bool, _ uint64) *grad.Mat {
			keys = keys[:0]
			for _, r := range rows {
				keys = append(keys, l.key(epoch, r, isHeldOut))
			}
			return loss(t, keys)
		},
		Begin:     func(e int) { epoch = e },
		Optimizer: train.Adam(rate), Schedule: wholeCycle(train.WarmRestarts{Mult: 1, Clamp: 0.99}, epochs), ClipNorm: 1,
		DataHash: fmt.Sprintf("%016x", l.Database.Fingerprint()), Checkpoint: filepath.Join(l.Folder, name+".checkpoint"), Every: time.Minute, Resume: l.Resume,
		Curves: filepath.Join(l.Folder, name), Log: l.Log, Now: l.Now,
		Save: func(weights [][]float32, _ *train.Report) error {
			best = best[:0]
			for _, w := range weights {
				best = append(best, slices.Clone(w))
			}
			return nil
		},
	}
	if l.Progress != nil {
		job.Progress = func(p train.Progress) { l.Progress(name, p) }
	}
	var err error
	if job.Recipe, err = checkpointKey(fields{"network": "learned " + name}, fields{"latent": l.Latent, "hidden": l.Hidden, "project": l.Project, "steps": steps, "rate": rate, "seed": l.Seed}); err != nil {
		return nil, err
	}
	report, err := job.Run(ctx, l.pool)
	if err != nil {
		return report, err
	}
	for i, w := range best {
		copy(params[i].Val, w)
	}
	return report, nil
}

// autoencoder trains the encoder and the decompressor, and encodes all frames.
func (l *learning) autoencoder(ctx context.Context) (*train.Report, error) {
	f := l.frames
	cols, out := f.cols, f.outputs
	encoder := newStack("encoder", []int{2 * out, encoderUnits, encoderUnits, l.Latent}, grad.Hash(l.Seed, 11))
	decoder := newStack("decoder", []int{cols + l.Latent, l.Hidden, out}, grad.Hash(l.Seed, 12))
	loss := func(t *grad.Tape, keys []uint64) *grad.Mat {
		x, y, dy := t.Const(2*len(keys), cols), t.Const(2*len(keys), out), t.Const(2*len(keys), out)
		for i, k := range keys {
			at := f.starts.draw(k)
			for _, row := range [2]int{2 * i, 2*i + 1} {
				l.Database.AppendFeatures(x.Val[row*cols:row*cols], at)
				pose := y.Val[row*out:][:out]
				f.pose(pose, at)
				f.change(dy.Val[row*out:][:out], pose, at)
				at = l.Database.Next(at)
			}
		}
		z := f.code(t, encoder, y, dy)
		made := f.poses.undo(t, decoder.forward(t, t.Concat(f.features.apply(t, x), z)))
		miss := t.Sub(f.places(t, made), f.places(t, y))
		turned := t.Affine(t.Sub(made, y), f.weights, nil)
		return t.WeightedSum(
			grad.Term{Loss: meanAbs(t, miss), Weight: 40},
			grad.Term{Loss: meanAbs(t, turned), Weight: 10},
			grad.Term{Loss: meanAbs(t, t.Diff(miss, 2)), Weight: 2 * matching.TickRate},
			grad.Term{Loss: meanAbs(t, t.Diff(turned, 2)), Weight: 0.5 * matching.TickRate},
			grad.Term{Loss: t.Mean(t.Mul(z, z)), Weight: 0.02},
			grad.Term{Loss: meanAbs(t, t.Diff(z, 2)), Weight: 0.01 * matching.TickRate},
		)
	}
	report, err := l.train(ctx, "autoencoder", l.Steps[0], learnedBatch, 2e-3, slices.Concat(encoder.params(), decoder.params()), loss)
	if err != nil || report.Ended == train.EndInterrupted {
		return report, err
	}
	for _, p := range decoder.params() {
		p.Frozen = true
	}
	l.decoder = decoder
	l.latent = f.encode(encoder, l.pool, l.Latent)
	f.setStates(l.latent, l.Latent)
	l.networks.Turns, l.networks.Still = f.turns, f.still
	l.networks.Acts, l.networks.Idles = f.acts(), f.idles()
	l.networks.Rest, l.networks.Least, l.networks.Most = f.rest(), f.least, f.most
	l.networks.Decompressor, err = decoder.network("decompressor", &f.coded, &f.poses)
	return report, err
}

// meanAbs returns the mean magnitude of the values of x.
func meanAbs(t *grad.Tape, x *grad.Mat) *grad.Mat { return t.Scale(t.SumAbs(x), 1/float32(len(x.Val))) }

// stepper trains the stepper.
func (l *learning) stepper(ctx context.Context) (*train.Report, error) {
	const noise = 0.05 // of the first state, in deviations
	f := l.frames
	size := f.size
	net := newStack("stepper", []int{size, l.Hidden, l.Hidden, size + 3}, grad.Hash(l.Seed, 21))
	loss := func(t *grad.Tape, keys []uint64) *grad.Mat {
		n := len(keys)
		at, slow := make([]int, n), make([]float32, n)
		s := t.Const(n, size)
		for i, k := range keys {
			at[i] = f.windows.draw(k)
			slow[i] = f.slow[at[i]]
			row := s.Val[i*size:][:size]
			copy(row, f.state(at[i]))
			for j := range row {
				row[j] += noise * f.states.std[j] * float32(normal(grad.Hash(k, uint64(2*j)), grad.Hash(k, uint64(2*j+1))))
			}
		}
		terms := make([]grad.Term, 0, 3*stepWindow)
		for range stepWindow {
			made := net.forward(t, f.states.apply(t, s))
			want, target := t.Const(n, size+3), t.Const(n, size)
			for i := range at {
				f.step(want.Val[i*(size+3):][:size+3], at[i])
				at[i] = l.Database.Next(at[i])
				copy(target.Val[i*size:], f.state(at[i]))
			}
			norm := f.changes.apply(t, want)
			s = t.Add(s, t.Affine(t.Columns(made, 0, size), f.changes.std[:size], f.changes.mean[:size]))
			terms = append(terms,
				grad.Term{Loss: meanAbs(t, weighted(t, t.Sub(f.states.apply(t, s), f.states.apply(t, target)), slow)), Weight: 2.0 / stepWindow},
				grad.Term{Loss: meanAbs(t, weighted(t, t.Sub(made, norm), slow)), Weight: 0.5 / stepWindow},
				// The root's motion counts more: who stands must not creep.
				grad.Term{Loss: meanAbs(t, weighted(t, t.Sub(t.Columns(made, size, size+3), t.Columns(norm, size, size+3)), slow)), Weight: 2.0 / stepWindow})
		}
		return t.WeightedSum(terms...)
	}
	report, err := l.train(ctx, "stepper", l.Steps[1], learnedBatch, 1e-3, net.params(), loss)
	if err != nil || report.Ended == train.EndInterrupted {
		return report, err
	}
	l.networks.Stepper, err = net.network("stepper", &f.states, &f.changes)
	return report, err
}

// projector trains the projector.
func (l *learning) projector(ctx context.Context) (*train.Report, error) {
	f, d := l.frames, l.Database
	size, cols, in := f.size, f.cols, f.cols+len(d.Tags)
	net := newStack("projector", []int{in, l.Project, l.Project, l.Project, size}, grad.Hash(l.Seed, 31))
	queries := f.features.with(len(d.Tags))
	loss := func(t *grad.Tape, keys []uint64) *grad.Mat {
		x, want, slow := t.Const(len(keys), in), t.Const(len(keys), size), make([]float32, len(keys))
		l.pool.Run(len(keys), func(_, i int) {
			found := f.query(x.Val[i*in:][:in], keys[i])
			copy(want.Val[i*size:][:size], f.state(found))
			slow[i] = f.slow[found]
		})
		made := net.forward(t, queries.apply(t, x))
		target := f.states.apply(t, want)
		near := t.Sub(t.Columns(made, 0, cols), t.Columns(target, 0, cols))
		latent := t.Sub(t.Columns(made, cols, size), t.Columns(target, cols, size))
		miss := t.Sub(l.places(t, f.states.undo(t, made)), l.places(t, want))
		return t.WeightedSum(
			grad.Term{Loss: meanAbs(t, weighted(t, near, slow)), Weight: 1},
			grad.Term{Loss: meanAbs(t, weighted(t, latent, slow)), Weight: 0.5},
			grad.Term{Loss: meanAbs(t, weighted(t, miss, slow)), Weight: 20},
		)
	}
	report, err := l.train(ctx, "projector", l.Steps[2], queryBatch, 1e-3, net.params(), loss)
	if err != nil || report.Ended == train.EndInterrupted {
		return report, err
	}
	l.networks.Projector, err = net.network("projector", &queries, &f.states)
	return report, err
}

// places returns the places of the joints of states, by the decompressor.
func (l *learning) places(t *grad.Tape, s *grad.Mat) *grad.Mat {
	f := l.frames
	return f.places(t, f.poses.undo(t, l.decoder.forward(t, f.coded.apply(t, s))))
}

// stack is dense layers with rectified values between them.
type stack []*fcLayer

func newStack(name string, sizes []int, seed uint64) (s stack) {
	for i := range len(sizes) - 1 {
		s = append(s, newLinear(fmt.Sprintf("%s%d", name, i+1), sizes[i], sizes[i+1], grad.Hash(seed, uint64(i))))
	}
	return s
}

func (s stack) params() (out []*grad.Param) {
	for _, l := range s {
		out = append(out, l.params()...)
	}
	return out
}

func (s stack) forward(t *grad.Tape, x *grad.Mat) *grad.Mat {
	for i, l := range s {
		if i > 0 {
			x = t.ReLU(x)
		}
		x = t.Dense(x, l.w, l.b)
	}
	return x
}

// network returns the stack with the normalisation of its inputs and outputs.
func (s stack) network(name string, in, out *scaling) (*netruntime.Net, error) {
	tensors := slices.Concat(normTensors("in.", in.mean, in.std), normTensors("out.", out.mean, out.std))
	for i, l := range s {
		layer := fmt.Sprintf("layer%d", i+1)
		tensors = append(tensors, netruntime.Tensor{Name: layer + ".weight", Shape: []int{l.w.Rows, l.w.Cols}, Data: l.w.Val},
			netruntime.Tensor{Name: layer + ".bias", Shape: []int{l.b.Cols}, Data: l.b.Val})
	}
	return matching.NewNetwork(name, tensors)
}
