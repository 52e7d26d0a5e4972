package netruntime

import (
	"fmt"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/kernel"
)

func BenchmarkMANN(b *testing.B) {
	n := paper.net(b, 1)
	for _, kind := range kernel.Kinds() {
		for _, bf16 := range []bool{false, true} {
			for _, workers := range []int{1, 2} {
				for _, rows := range []int{1, 4, 16, 64, 256, 1024} {
					restore := kernel.Force(kind)
					if kind == kernel.Generic && rows > 64 || bf16 && !kernel.BF16() {
						restore()
						continue
					}
					s := openWith(b, n, SessionOptions{Batch: rows, Workers: workers, BF16: bf16})
					b.Run(fmt.Sprintf("kernel=%v/workers=%d/agents=%d", s.Kernel(), workers, rows), func(b *testing.B) {
						x, y := randomRows(1, rows*paper.in), make([]float32, rows*paper.out)
						minimum(b, func() error { return s.Run(y, x, rows) })
					})
					restore()
				}
			}
		}
	}
}

// work is a network to time, at some batches of sequences.
type work struct {
	name    string
	net     *Net
	length  int
	batches []int
}

func works() []work {
	auto := newMaker(1)
	a := auto.node(Node{Op: OpConv, In: []string{auto.input("x", 73, false)}, Act: "relu"}, 256, 25)
	a = auto.node(Node{Op: OpDepool, In: []string{auto.node(Node{Op: OpMaxPool, In: []string{a}}, 0, 0)}}, 0, 0)
	a = auto.node(Node{Op: OpConv, In: []string{a}}, 73, 25)

	regress := newMaker(2)
	r := regress.node(Node{Op: OpConv, In: []string{regress.input("x", 7, false)}, Act: "relu"}, 64, 45)
	r = regress.node(Node{Op: OpConv, In: []string{r}, Act: "relu"}, 128, 25)
	r = regress.node(Node{Op: OpConv, In: []string{r}, Act: "relu"}, 256, 15)
	r = regress.node(Node{Op: OpMaxPool, In: []string{r}}, 0, 0)

	long := newMaker(3)
	l := long.node(Node{Op: OpLSTM, In: []string{long.input("x", 512, false)}}, 512, 0)
	return []work{
		{"autoencoder", auto.net(a), 240, []int{1, 16}},
		{"regression", regress.net(r), 240, []int{1, 16}},
		{"lstm", long.net(l), 40, []int{1, 16, 256}},
	}
}

func BenchmarkSequences(b *testing.B) {
	for _, c := range works() {
		for _, bf16 := range []bool{false, true} {
			for _, workers := range []int{1, 2} {
				for _, batch := range c.batches {
					s := openWith(b, c.net, SessionOptions{Batch: batch, Length: c.length, Workers: workers, BF16: bf16})
					b.Run(fmt.Sprintf("net=%s/kernel=%s/workers=%d/batch=%d", c.name, s.Kernel(), workers, batch), func(b *testing.B) {
						out, in := arrays(c.net, 1, batch, c.length)
						minimum(b, func() error { return s.RunSequences(out, in, batch, c.length) })
					})
				}
			}
		}
	}
}

// minimum times f and reports the shortest run, beside the mean.
func minimum(b *testing.B, f func() error) {
	least := time.Duration(1 << 62)
	for b.Loop() {
		from := time.Now()
		must.Do(b, f())
		least = min(least, time.Since(from))
	}
	b.ReportMetric(float64(least)/1e3, "min-us")
}

func BenchmarkDecode(b *testing.B) {
	in := encoded(b, paper.net(b, 1))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := Decode(in); err != nil {
			b.Fatal(err)
		}
	}
}
