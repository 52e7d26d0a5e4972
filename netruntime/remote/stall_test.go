package remote_test

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/netruntime/remote"
	"mannequin/netruntime/remote/server"
)

// cable forwards connections, until it is cut: then bytes stay where they are.
type cable struct {
	mu     sync.Mutex
	joined *sync.Cond
	cut    bool
}

func (c *cable) set(cut bool) {
	c.mu.Lock()
	c.cut = cut
	c.mu.Unlock()
	c.joined.Broadcast()
}

// from reads from a connection while the cable is whole.
func (c *cable) from(conn net.Conn) io.Reader {
	return readerFunc(func(b []byte) (int, error) {
		c.mu.Lock()
		for c.cut {
			c.joined.Wait()
		}
		c.mu.Unlock()
		return conn.Read(b)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// plug returns the address of a cable to a server.
func plug(t *testing.T, at string) (*cable, string) {
	c := &cable{}
	c.joined = sync.NewCond(&c.mu)
	l := must.Get(net.Listen("tcp", "localhost:0"))(t)
	t.Cleanup(func() { l.Close(); c.set(false) })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", at)
			if err != nil {
				near.Close()
				continue
			}
			near.(*net.TCPConn).SetReadBuffer(64 << 10)
			for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
				go func() {
					io.Copy(struct{ io.Writer }{way[1]}, c.from(way[0]))
					way[1].Close()
				}()
			}
		}
	}()
	return c, l.Addr().String()
}

// A network that swallows everything costs three deadlines, also with requests that fill its buffers.
func TestCutCable(t *testing.T) {
	n := flat(t, 1)
	_, at, _ := serve(t, "localhost:0", served(n), server.Options{Rows: 20_000})
	way, at := plug(t, at)
	const deadline = 300 * time.Millisecond
	c, _ := dial(t, at, remote.Options{Deadline: deadline})
	p := pairOf(t, c, n, netruntime.SessionOptions{Batch: 20_000, Workers: 1})
	wait(t, c)
	p.run(t, 1, 20_000, 1)
	way.set(true)
	for i := range 20 {
		from := time.Now()
		p.run(t, uint64(i), 20_000, 1)
		if d := time.Since(from); d > 3*deadline {
			t.Errorf("run %d takes %v", i, d)
		}
	}
	if got := c.Stats(); got.Local < 20 || got.Late > 3 || got.Lost > 1 {
		t.Errorf("%+v after the cable was cut", got)
	}
	way.set(false)
	wait(t, c)
	before := c.Stats()
	p.run(t, 50, 1000, 1)
	if got := c.Stats(); got.Remote != before.Remote+1 {
		t.Errorf("%+v with a whole cable, %+v before", got, before)
	}
}
