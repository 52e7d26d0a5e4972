// Command shards runs one world in several processes. Each owns a strip of the ground and the foxes
// on it. A fox that crosses a border goes to the next process, through a NATS server, and moves on
// there with the same bits. The hashes that it prints are those of one process:
//
//	nats-server &
//	go run ./examples/shards -shards 4 -foxes 2000
//	go run ./examples/shards -shards 1 -foxes 2000
//
// On several machines, start each process with its number, in any order:
//
//	shards -nats nats://HOST -shards 4 -shard 2 -foxes 2000
//
// world.go is the world of a process, line.go what the processes say to each other.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"time"
)

func main() {
	url := flag.String("nats", "nats://127.0.0.1:4222", "`URL` of the NATS server")
	name := flag.String("name", "", "`name` of the world on the server (default: a new one)")
	shards := flag.Int("shards", 4, "`number` of processes")
	shard := flag.Int("shard", -1, "`number` of this process, from 0; -1 starts all on this machine")
	foxes := flag.Int("foxes", 2000, "`number` of foxes")
	ticks := flag.Int("ticks", 300, "`ticks` to play")
	flag.Parse()
	if *shards < 1 || *shards > 64 || *shard >= *shards || *foxes < 1 || *ticks < 1 {
		log.Fatal("want 1 to 64 shards, a shard below their number, and at least one fox and tick")
	}
	if *name == "" {
		*name = fmt.Sprintf("foxes-%d-%d-%d", *shards, *foxes, *ticks)
		if *shard < 0 {
			*name += fmt.Sprintf("-%d", time.Now().UnixNano())
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var others []*exec.Cmd
	if *shard < 0 {
		*shard = 0
		for k := 1; k < *shards; k++ {
			c := exec.CommandContext(ctx, os.Args[0], "-nats", *url, "-name", *name, fmt.Sprint("-shards=", *shards), fmt.Sprint("-shard=", k), fmt.Sprint("-foxes=", *foxes), fmt.Sprint("-ticks=", *ticks))
			c.Stderr = os.Stderr
			if err := c.Start(); err != nil {
				log.Fatal(err)
			}
			others = append(others, c)
		}
	}
	out := io.Writer(os.Stdout)
	if *shard > 0 {
		out = io.Discard // the first prints for all
	}
	if err := play(ctx, out, *url, *name, *shard, *shards, *foxes, *ticks); err != nil {
		log.Fatalf("shard %d: %v", *shard, err)
	}
	for _, c := range others {
		if err := c.Wait(); err != nil {
			log.Fatal(err)
		}
	}
}

// printEvery is the number of ticks from one printed hash to the next.
const printEvery = 60

// play plays a shard of the world.
func play(ctx context.Context, out io.Writer, url, name string, shard, shards, foxes, ticks int) error {
	w, err := newWorld(shard, shards, foxes)
	if err != nil {
		return err
	}
	defer w.close()
	l, err := dial(url, name, shard, shards)
	if err != nil {
		return err
	}
	defer l.close()
	start, crossed := time.Now(), 0
	for tick := 1; tick <= ticks; tick++ {
		if err := w.step(); err != nil {
			return err
		}
		report := tick%printEvery == 0 || tick == ticks
		messages, err := w.leave(tick, report)
		if err != nil {
			return err
		}
		// Nobody begins the next tick before all have ended this one.
		got, err := l.exchange(ctx, messages)
		if err != nil {
			return err
		}
		total := message{}
		for _, m := range got {
			if err := w.enter(m); err != nil {
				return err
			}
			total.Foxes += m.Foxes
			total.Crossed += m.Crossed
			total.Hash += m.Hash
		}
		crossed += total.Crossed
		if report {
			fmt.Fprintf(out, "tick %d: %d foxes, hash %016x\n", tick, total.Foxes, total.Hash)
		}
	}
	took := time.Since(start)
	log.Printf("shard %d: %d ticks in %.1f s, %d borders crossed by all", shard, ticks, took.Seconds(), crossed)
	return l.finish(ctx, ticks+1)
}
