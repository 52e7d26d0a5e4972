package netruntime

// Opener opens sessions: what computes networks. That of this package is the
// method NewSession of Net.
type Opener func(n *Net, o SessionOptions) (Session, error)

// Buffered is a session with memory that it computes from and to faster than
// from other: a GPU copies it by itself.
type Buffered interface {
	Session
	// Buffer returns n zeros. They are gone when the session is closed.
	Buffer(n int) ([]float32, error)
}

// Buffer returns n zeros for the rows of s: its own memory where it is
// Buffered. They are to be let go of before s is closed.
func Buffer(s Session, n int) ([]float32, error) {
	if b, ok := s.(Buffered); ok {
		return b.Buffer(n)
	}
	return make([]float32, n), nil
}
