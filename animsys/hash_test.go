package animsys_test

import (
	"fmt"
	"testing"

	"mannequin/animsys"
	"mannequin/engine/m3"
)

// The hash is that of the state, for any number of workers, and sees any bone of any
// agent, any root and who is there.
func TestHash(t *testing.T) {
	const n = 7
	a, b := newWorld(t, n, 1), newWorld(t, n+3, 3)
	for i := range n {
		a.spawn(i)
		b.spawn(i)
	}
	was := uint64(0)
	for tick := range 30 {
		a.step()
		b.step()
		h := a.crowd.Hash()
		if h != b.crowd.Hash() || h == was {
			t.Fatalf("tick %d: %x with one worker, %x with three, %x before", tick, h, b.crowd.Hash(), was)
		}
		was = h
	}
	for r := range n {
		for _, x := range []*m3.Xform{&a.crowd.Roots[r], &a.crowd.BonesAt(r)[0], &a.crowd.BonesAt(r)[len(a.crowd.BonesAt(r))-1]} {
			for _, f := range []*float32{&x.Pos.X, &x.Rot.W} {
				keep := *f
				*f = -*f
				if a.crowd.Hash() == was {
					t.Errorf("row %d: it does not see a number", r)
				}
				*f = keep
			}
		}
	}
	setRate(t, b.crowd, 2, animsys.Every2)
	if b.crowd.Hash() == was {
		t.Error("it does not see a rate")
	}
	setRate(t, b.crowd, 2, animsys.EveryTick)
	e := b.crowd.Entity(n - 1)
	if err := b.crowd.Despawn(e); err != nil {
		t.Fatal(err)
	}
	if b.crowd.Hash() == was {
		t.Error("it does not see that one is gone")
	}
	if n := testing.AllocsPerRun(10, func() { a.crowd.Hash() }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkHash(b *testing.B) {
	for _, n := range []int{1, 500} {
		b.Run(fmt.Sprintf("agents=%d", n), func(b *testing.B) {
			w := newWorld(b, n, 0)
			for i := range n {
				w.spawn(i)
			}
			for b.Loop() {
				w.crowd.Hash()
			}
		})
	}
}
