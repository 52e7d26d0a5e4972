package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"mannequin/internal/testing/race"
)

func start(t *testing.T, port int) *server.Server {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	return s
}

// One world has the same hashes in one process and in several, also while the server is restarted.
func TestShards(t *testing.T) {
	const foxes, ticks = 60, 120
	srv := start(t, -1)
	url, port := srv.ClientURL(), 0
	fmt.Sscanf(url[strings.LastIndex(url, ":"):], ":%d", &port)
	run := func(shards int) string {
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
		defer stop()
		var out bytes.Buffer
		var wg sync.WaitGroup
		for k := range shards {
			wg.Go(func() {
				to := new(bytes.Buffer)
				if k == 0 {
					to = &out
				}
				if err := play(ctx, to, url, fmt.Sprint("test-", shards), k, shards, foxes, ticks); err != nil {
					t.Errorf("shard %d of %d: %v", k, shards, err)
					stop()
				}
			})
		}
		wg.Wait()
		return out.String()
	}
	want := run(1)
	if n := strings.Count(want, fmt.Sprintf(": %d foxes, hash ", foxes)); n != ticks/printEvery {
		t.Fatalf("one process prints %q", want)
	}
	restarts := 6
	if race.Enabled {
		restarts = 0 // the server's own end is not ours to race
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // loses messages
		for range restarts {
			select {
			case <-stop:
				return
			case <-time.After(time.Second):
				srv.Shutdown()
				srv.WaitForShutdown()
				srv = start(t, port)
			}
		}
	})
	for _, shards := range []int{2, 3} {
		if got := run(shards); got != want {
			t.Errorf("%d processes print\n%s, one prints\n%s", shards, got, want)
		}
	}
	close(stop)
	wg.Wait()
	srv.Shutdown()
	srv.WaitForShutdown()
}

// A message in parts comes whole, in any order of its parts.
func TestParts(t *testing.T) {
	srv := start(t, -1)
	defer srv.Shutdown()
	var all [2]*line
	for k := range all {
		var err error
		if all[k], err = dial(srv.ClientURL(), "parts", k, 2); err != nil {
			t.Fatal(err)
		}
		defer all[k].close()
	}
	big := bytes.Repeat([]byte("fox"), mostMessage)
	got := make(chan []message, 1)
	go func() {
		m, err := all[1].exchange(t.Context(), []message{{Tick: 1, From: 1}, {Tick: 1, From: 1}})
		if err != nil {
			t.Error(err)
		}
		got <- m
	}()
	if _, err := all[0].exchange(t.Context(), []message{{Tick: 1}, {Tick: 1, Save: big}}); err != nil {
		t.Fatal(err)
	}
	if m := <-got; len(m) != 2 || !bytes.Equal(m[0].Save, big) {
		t.Error("a large message came otherwise")
	}
}
