package recipes

import (
	"slices"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
)

// Networks make as many idles of each stance as there are, of other poses than the recordings', and the same ones again.
func TestOwnIdles(t *testing.T) {
	l := testmatching.Learned(t)
	n := l.Networks()
	state := len(n.Rest)
	var recorded []float32
	for key := range matching.IdleKeys { // of a body that goes from one bound of its values to the other
		for i := range state {
			recorded = append(recorded, n.Least[i]+float32(key)/matching.IdleKeys*(n.Most[i]-n.Least[i]))
		}
		recorded = append(recorded, 0, 0, 0.01)
	}
	n.Idles = []matching.Idle{{Tags: 1, States: recorded}, {Tags: 2, States: recorded}, {Tags: 1, States: recorded}}
	with := must.Get(matching.NewLearned(&matching.Database{Character: l.Character}, n))(t)
	own := must.Get(OwnIdles(with))(t)
	idles := own.Networks().Idles
	if len(idles) != 3 || idles[0].Tags != 1 || idles[1].Tags != 1 || idles[2].Tags != 2 {
		t.Fatalf("%d idles", len(idles))
	}
	for i, idle := range idles {
		moves := false
		for key := range matching.IdleKeys {
			s := idle.States[key*(state+3):][:state+3]
			if !slices.Equal(s[state:], []float32{0, 0, 0}) {
				t.Errorf("idle %d, key %d: the root goes by %v", i, key, s[state:])
			}
			if slices.Equal(s[:state], recorded[key*(state+3):][:state]) {
				t.Errorf("idle %d, key %d is recorded", i, key)
			}
			moves = moves || !slices.Equal(s, idle.States[:state+3])
		}
		if !moves {
			t.Errorf("idle %d is one pose", i)
		}
	}
	if again := must.Get(OwnIdles(with))(t); again.Fingerprint() != own.Fingerprint() {
		t.Error("other idles the second time")
	}
	if _, err := OwnIdles(&matching.Learned{}); err == nil {
		t.Error("no networks make idles")
	}
	if none := must.Get(OwnIdles(l))(t); len(none.Networks().Idles) != len(l.Networks().Idles) {
		t.Error("without idles there are some")
	}
}
