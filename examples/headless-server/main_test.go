package main

import (
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"mannequin/animsys/snapshot"
	"mannequin/internal/testing/must"
)

// start serves the herd as fast as it can be computed, and returns the address.
func start(t *testing.T) string {
	l := must.Get(net.Listen("tcp", "localhost:0"))(t)
	ticks, done, stop := make(chan time.Time), make(chan error), make(chan struct{})
	go func() {
		for {
			select {
			case ticks <- time.Time{}:
				time.Sleep(time.Millisecond)
			case <-stop:
				return
			}
		}
	}()
	go func() { done <- serve(l, ticks) }()
	t.Cleanup(func() {
		close(stop)
		l.Close()
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func Test(t *testing.T) {
	addr := start(t)
	idle := must.Get(net.Dial("tcp", addr))(t) // a viewer that reads nothing
	defer idle.Close()
	must.Do(t, watch(must.Get(net.Dial("tcp", addr))(t), filepath.Join(t.TempDir(), "herd.gif"), 20))
	model := must.Get(open())(t)
	codec := must.Get(snapshot.NewCodec(model.Skel))(t)
	conn := must.Get(net.Dial("tcp", addr))(t)
	defer conn.Close()
	m := must.Get(receive(conn, codec))(t)
	next := must.Get(receive(conn, codec))(t)
	if m.Agents() != dogs || next.Tick != m.Tick+sendEvery {
		t.Errorf("%d dogs in tick %d, then tick %d", m.Agents(), m.Tick, next.Tick)
	}
}

// A viewer takes no more than it can hold, and says what is wrong.
func FuzzReceive(f *testing.F) {
	model, err := open()
	if err != nil {
		f.Fatal(err)
	}
	codec, err := snapshot.NewCodec(model.Skel)
	if err != nil {
		f.Fatal(err)
	}
	for _, msg := range [][]byte{{}, {1, 2}, {0, 0, 0, 128}, {3, 0, 0, 0, 'm', 'q'}, {2, 0, 0, 0, 'm', 'q'}} {
		f.Add(msg)
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		a, b := net.Pipe()
		go func() {
			a.Write(msg)
			a.Close()
		}()
		m, err := receive(b, codec)
		b.Close()
		if err == nil && len(msg) < 16+m.Agents()*codec.PoseSize() {
			t.Errorf("%d bytes are a message of %d agents", len(msg), m.Agents())
		}
	})
}
