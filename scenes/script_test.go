package scenes

import "testing"

func TestScript(t *testing.T) {
	s := Script{{1, Input{Forward: 1}}, {0, Input{Jump: true}}, {0.5, Input{Sit: true}}}
	if s.Seconds() != 1.5 {
		t.Errorf("%g seconds", s.Seconds())
	}
	for tick, want := range map[int64]Input{
		0: {Forward: 1}, 59: {Forward: 1}, 60: {Sit: true}, 89: {Sit: true}, 90: {Forward: 1}, 9000 + 75: {Sit: true},
	} {
		if got := s.At(tick); got != want {
			t.Errorf("tick %d: %+v, want %+v", tick, got, want)
		}
	}
	if (Script{}).At(5) != (Input{}) {
		t.Error("the empty script does something")
	}
}
