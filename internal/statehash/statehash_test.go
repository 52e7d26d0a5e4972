package statehash

import (
	"math"
	"testing"

	"mannequin/engine/m3"
)

// Every bit of every number changes the hash, and so does the order.
func TestEveryBit(t *testing.T) {
	x := []m3.Xform{{Pos: m3.V(1, 2, 3), Rot: m3.Quat{X: 4, Y: 5, Z: 6, W: 7}}, {Pos: m3.V(8, 9, 10)}}
	seen := map[Hash]string{New.Xforms(x): "as they are", New.Xforms(x[:1]): "one of them", New: "nothing"}
	add := func(h Hash, what string) {
		t.Helper()
		if was, ok := seen[h]; ok {
			t.Errorf("%s and %s have the same sum", what, was)
		}
		seen[h] = what
	}
	for i := range x {
		p, q := &x[i].Pos, &x[i].Rot
		for k, f := range []*float32{&p.X, &p.Y, &p.Z, &q.X, &q.Y, &q.Z, &q.W} {
			for bit := range 32 {
				was := *f
				*f = math.Float32frombits(math.Float32bits(was) ^ 1<<bit)
				add(New.Xforms(x), string(rune('a'+i))+string(rune('0'+k))+" bit "+string(rune('A'+bit)))
				// Two signs in one word, which would cancel in a plain product.
				if k == 1 && bit == 31 {
					p.Z = -p.Z
					add(New.Xforms(x), "two signs")
					p.Z = -p.Z
				}
				*f = was
			}
		}
	}
	x[0], x[1] = x[1], x[0]
	add(New.Xforms(x), "in another order")
	add(New.Bool(true), "true")
	add(New.Bool(false), "false")
	add(New.Floats(1, 2), "1, 2")
	add(New.Floats(2, 1), "2, 1")
	add(New.Floats(float32(math.Copysign(0, -1))), "−0")
	add(New.Int(-1), "−1")
}

// Hashes are the same on any machine and in any version of Go, because tapes hold them.
func TestStable(t *testing.T) {
	x := []m3.Xform{{Pos: m3.V(1, -2, 0.5), Rot: m3.Quat{W: 1}}}
	if got, want := New.Int(3).Xforms(x).Bool(true), Hash(0x71de206708313304); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
}
