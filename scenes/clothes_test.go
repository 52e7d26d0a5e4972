package scenes

import "testing"

// People keep their colours, no two are equal, and a shade stays near its colour.
func TestClothesDiffer(t *testing.T) {
	worn := map[[3]float32]int{}
	for i := range 500 {
		c := Clothes(i, 3)
		if c != Clothes(i, 3) {
			t.Fatalf("person %d changes clothes", i)
		}
		if other, ok := worn[c]; ok {
			t.Errorf("persons %d and %d wear the same", i, other)
		}
		worn[c] = i
		for k, v := range Shade([3]float32{0.3, 0.6, 0.9}, uint64(i)) {
			if was := 0.3 * float32(k+1); v < was*0.83 || v > was*1.17 {
				t.Errorf("shade %d of %g is %g", i, was, v)
			}
		}
	}
}
