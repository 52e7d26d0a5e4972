package main

import (
	"testing"
)

func TestParseSpeeds(t *testing.T) {
	v, err := parseSpeeds("0:1,2:1,4:3")
	if err != nil {
		t.Fatal(err)
	}
	for frame, want := range map[int]float32{0: 1, 60: 1, 180: 2, 240: 3, 1000: 3} {
		if got := v(frame); got != want {
			t.Errorf("frame %d: %g m/s, want %g", frame, got, want)
		}
	}
	if v, err = parseSpeeds("1.4"); err != nil || v(500) != 1.4 {
		t.Errorf("a single speed: %v", err)
	}
	for _, text := range []string{"", "x", "1:x", "x:1", "9", "-1", "NaN", "0:1,2", "0:1,0:2", "2:1,1:2", "1x", "0:1y"} {
		if _, err := parseSpeeds(text); err == nil {
			t.Errorf("%q accepted", text)
		}
	}
}
