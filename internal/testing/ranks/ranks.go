// Package ranks is processes that train together, as goroutines of a test.
package ranks

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Rank is one of a group.
type Rank struct {
	*group
	rank     int
	Die      int // waits and shares until it dies, and all others with it; 0: never
	sent     []message
	received []message
}

type group struct {
	mu      sync.Mutex
	changed *sync.Cond
	count   int
	mail    map[address][][]byte
	shared  [][]byte
	shares  []int // by rank
	machine int   // ranks of one
	memory  [][]float32
	dead    bool
}

type address struct{ from, to, tag int }

type message struct {
	address
	b, was []byte
}

// ErrDead is the error of all ranks after one has died.
var ErrDead = errors.New("a rank has died")

// New returns n ranks, each on a machine of its own.
func New(n int) []*Rank { return Machines(n, 1) }

// Machines returns n ranks, of which every machine but the last has the given number.
func Machines(n, machine int) []*Rank {
	g := &group{count: n, mail: map[address][][]byte{}, shares: make([]int, n), machine: machine, memory: make([][]float32, n)}
	g.changed = sync.NewCond(&g.mu)
	var out []*Rank
	for i := range n {
		out = append(out, &Rank{group: g, rank: i})
	}
	return out
}

// Rank returns the number of this rank.
func (r *Rank) Rank() int { return r.rank }

// Count returns the number of ranks.
func (r *Rank) Count() int { return r.count }

// Send sends a copy of b, which Wait compares with b.
func (r *Rank) Send(to, tag int, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := message{address{r.rank, to, tag}, b, bytes.Clone(b)}
	r.sent = append(r.sent, m)
	r.mail[m.address] = append(r.mail[m.address], m.was)
	r.changed.Broadcast()
}

// Receive spoils b, which Wait fills.
func (r *Rank) Receive(from, tag int, b []byte) {
	for i := range b {
		b[i] = 0xff // NaN
	}
	r.received = append(r.received, message{address{from, r.rank, tag}, b, nil})
}

// Wait fills what was received, when it is there.
func (r *Rank) Wait() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.age(); err != nil {
		return err
	}
	for _, m := range r.sent {
		if !bytes.Equal(m.b, m.was) {
			return fmt.Errorf("rank %d changes what it sends to %d with tag %d before it has waited", m.from, m.to, m.tag)
		}
	}
	for _, m := range r.received {
		for len(r.mail[m.address]) == 0 && !r.dead {
			r.changed.Wait()
		}
		if r.dead {
			return ErrDead
		}
		got := r.mail[m.address][0]
		r.mail[m.address] = r.mail[m.address][1:]
		if len(got) != len(m.b) {
			return fmt.Errorf("rank %d sends %d bytes to %d, which wants %d", m.from, len(got), m.to, len(m.b))
		}
		copy(m.b, got)
	}
	r.sent, r.received = nil, nil
	return nil
}

// age brings the rank's death nearer. r.mu is held.
func (r *Rank) age() error {
	if r.Die > 0 {
		if r.Die--; r.Die == 0 {
			r.dead = true
			r.changed.Broadcast()
		}
	}
	if r.dead {
		return ErrDead
	}
	return nil
}

// Share returns rank 0's bytes on all ranks.
func (r *Rank) Share(b []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.age(); err != nil {
		return nil, err
	}
	if r.rank == 0 {
		r.shared = append(r.shared, bytes.Clone(b))
		r.changed.Broadcast()
	}
	n := r.shares[r.rank]
	r.shares[r.rank]++
	for len(r.shared) <= n && !r.dead {
		r.changed.Wait()
	}
	if len(r.shared) <= n {
		return nil, ErrDead
	}
	return bytes.Clone(r.shared[n]), nil
}

// Memory returns memory of NaN for the ranks of this machine.
func (r *Rank) Memory(n int) ([][]float32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.age(); err != nil {
		return nil, err
	}
	out := make([][]float32, r.count)
	first := r.rank / r.machine * r.machine
	for k := first; k < min(first+r.machine, r.count); k++ {
		if r.memory[k] == nil {
			r.memory[k] = slices.Repeat([]float32{float32(math.NaN())}, n)
		}
		if len(r.memory[k]) != n {
			return nil, fmt.Errorf("rank %d wants %d values of memory, another one %d", r.rank, n, len(r.memory[k]))
		}
		out[k] = r.memory[k]
	}
	return out, nil
}
