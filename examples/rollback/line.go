package main

import (
	"errors"
	"math/rand/v2"
	"net"
)

// What the line does to messages.
const (
	delay  = 3   // frames
	jitter = 5   // frames more, at random: messages overtake each other
	loss   = 0.1 // share
)

// line sends and receives messages, late and not all of them.
type line struct {
	conn     net.PacketConn
	to       net.Addr // nil until a message has come
	rand     *rand.Rand
	frame    int
	late     []message
	received chan message
}

type message struct {
	due  int // frame
	data []byte
	from net.Addr
}

func newLine(conn net.PacketConn, peer string, seed uint64) (*line, error) {
	l := &line{conn: conn, rand: rand.New(rand.NewPCG(seed, 2)), received: make(chan message, 64)}
	if peer != "" {
		to, err := net.ResolveUDPAddr("udp", peer)
		if err != nil {
			return nil, err
		}
		l.to = to
	}
	go func() {
		defer close(l.received)
		for {
			b := make([]byte, 1500)
			n, from, err := conn.ReadFrom(b)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				select {
				case l.received <- message{data: b[:n], from: from}:
				default: // too many: as if it was lost
				}
			}
		}
	}()
	return l, nil
}

// Receive returns a message that has come, or nil.
func (l *line) Receive() []byte {
	select {
	case m, ok := <-l.received:
		if ok && l.to == nil {
			l.to = m.from
		}
		return m.data
	default:
		return nil
	}
}

// Send sends a message, and those that were held back until this frame.
func (l *line) Send(b []byte) error {
	l.frame++
	if l.rand.Float64() >= loss {
		l.late = append(l.late, message{due: l.frame + delay + l.rand.IntN(jitter), data: append([]byte(nil), b...)})
	}
	kept := l.late[:0]
	for _, m := range l.late {
		if m.due > l.frame {
			kept = append(kept, m)
		} else if l.to != nil {
			if _, err := l.conn.WriteTo(m.data, l.to); errors.Is(err, net.ErrClosed) {
				return err
			}
		}
	}
	l.late = kept
	return nil
}

func (l *line) Close() error { return l.conn.Close() }
