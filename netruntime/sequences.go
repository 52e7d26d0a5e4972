package netruntime

import "errors"

// Sequences calls RunSequences of sessions with one input and one output without allocating.
type Sequences struct{ out, in [1][]float32 }

// Run runs batch sequences of length inputs x, which gives y: see Session.RunSequences.
func (q *Sequences) Run(s Session, y, x []float32, batch, length int) error {
	if s == nil {
		return errors.New("netruntime: no session to run sequences on")
	}
	q.out[0], q.in[0] = y, x
	err := s.RunSequences(q.out[:], q.in[:], batch, length)
	q.out[0], q.in[0] = nil, nil
	return err
}
