package dataset

import (
	"testing"

	"mannequin/animsys/feature"
)

// Only a person who stands for long enough, arms down and feet on the ground, is held.
func TestStanding(t *testing.T) {
	l := feature.Human()
	cols := l.Columns()
	clip := func(edit func(f int, row []float32)) *MotionClip {
		c := &MotionClip{Name: "x", Frames: 100, Rows: make([]float32, 100*cols)}
		for f := range 100 {
			row := c.Rows[f*cols:][:cols]
			row[l.Pos(0)+1] = 0.95
			for _, j := range []string{"LeftHand", "RightHand"} {
				row[l.Pos(l.Joint(j))+1] = 0.8
			}
			for i := range l.Contacts {
				row[l.Contact(i)] = 1
			}
			row[l.Body()+feature.MotionZ] = 1
			if f >= 30 && f < 70 {
				row[l.Body()+feature.MotionZ] = 0.05
			}
			row[l.Pos(5)] = float32(f)
			edit(f, row)
		}
		return c
	}
	got := standing(l, clip(func(int, []float32) {}), 240)
	if len(got) != 1 || got[0].Frames != 240 || len(got[0].Rows) != 240*cols {
		t.Fatalf("%d clips", len(got))
	}
	for f := range 240 {
		row := got[0].Rows[f*cols:][:cols]
		if row[l.Pos(5)] != 50 || row[l.Body()+feature.MotionZ] != 0 {
			t.Fatalf("frame %d is %v", f, row)
		}
	}
	for name, edit := range map[string]func(f int, row []float32){
		"turns":         func(_ int, row []float32) { row[l.Body()+feature.MotionYaw] = 1 },
		"never still":   func(_ int, row []float32) { row[l.Body()+feature.MotionX] = 0.5 },
		"a hand raised": func(_ int, row []float32) { row[l.Pos(l.Joint("LeftHand"))+1] = 1.2 },
		"a foot raised": func(_ int, row []float32) { row[l.Contact(2)] = 0 },
		"too short":     func(f int, row []float32) { row[l.Body()+feature.MotionX] = float32(f % 20) },
	} {
		if got := standing(l, clip(edit), 240); len(got) != 0 {
			t.Errorf("%s: %d clips", name, len(got))
		}
	}
	if got := standing(l, clip(func(_ int, row []float32) { row[l.Body()+feature.MotionZ] = 0 }), 10); len(got) != 1 {
		t.Errorf("still to the end: %d clips", len(got))
	}
}
