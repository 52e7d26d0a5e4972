package benchnet

import (
	"math"
	"math/rand/v2"

	"mannequin/netruntime"
)

// Session is a work's network with its input and output.
type Session struct {
	X []float32 // (batch, length, channels), of unit variance
	Y []float32 // (batch, length, channels) of the last run

	netruntime.Session
	net   *netruntime.Net
	batch int
	w     *Work
}

// Inputs returns a batch of random inputs of unit variance.
func (w *Work) Inputs(net *netruntime.Net, batch int) []float32 {
	x := make([]float32, batch*w.Length*net.Inputs())
	uniform(rand.New(rand.NewPCG(1, uint64(batch))), x, math.Sqrt(3))
	return x
}

// OutputLength returns the frames of each output sequence.
func (w *Work) OutputLength(net *netruntime.Net) (int, error) {
	g := net.Graph()
	return g.Length(g.Outputs[0], w.Length)
}

// Session returns a session for one batch and the given number of threads, in float32 or, if the
// processor supports it, bfloat16.
func (w *Work) Session(net *netruntime.Net, batch, threads int, bf16 bool) (*Session, error) {
	length, err := w.OutputLength(net)
	if err != nil {
		return nil, err
	}
	s, err := net.NewSession(netruntime.SessionOptions{Batch: batch, Length: w.Length, Workers: threads, BF16: bf16})
	if err != nil {
		return nil, err
	}
	return &Session{
		X: w.Inputs(net, batch), Y: make([]float32, batch*length*net.Outputs()),
		Session: s, net: net, batch: batch, w: w,
	}, nil
}

// Compute computes Y from X.
func (s *Session) Compute() func() error {
	if s.w.Length == 1 {
		return func() error { return s.Run(s.Y, s.X, s.batch) }
	}
	out, in := [][]float32{s.Y}, [][]float32{s.X}
	return func() error { return s.RunSequences(out, in, s.batch, s.w.Length) }
}

// Run is a candidate with a known number of operations.
type Run struct {
	Candidate         // named after the kernel
	Work      string  //
	Batch     int     //
	FLOP      float64 // of one run
	BF16      bool    // of the kernel

	close func() error
}

// Runs returns the forward passes of w at all its batches, in float32 and, if the processor
// supports it, in bfloat16. Call closeAll after the last run, also after an error.
func (w *Work) Runs(threads int) (runs []*Run, closeAll func(), err error) {
	closeAll = func() {
		for _, r := range runs {
			r.close()
		}
	}
	net, err := w.Net(1)
	if err != nil {
		return runs, closeAll, err
	}
	for _, batch := range w.Batches {
		exact := ""
		for _, bf16 := range []bool{false, true} {
			s, err := w.Session(net, batch, threads, bf16)
			if err != nil {
				return runs, closeAll, err
			}
			if bf16 && s.Kernel() == exact { // no product runs in bfloat16
				s.Close()
				continue
			}
			exact = s.Kernel()
			runs = append(runs, &Run{
				Candidate: Candidate{Name: s.Kernel(), Run: s.Compute()},
				Work:      w.Name, Batch: batch, FLOP: w.FLOP * float64(batch), BF16: bf16, close: s.Close,
			})
		}
	}
	return runs, closeAll, nil
}
