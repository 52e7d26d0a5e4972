package clipset

import (
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/label"
)

// leaping is a recording of someone who stands, and jumps at some frames for half a second.
func leaping(s *Set, frames int, at ...int) Clip {
	stand := s.Clips[slices.IndexFunc(s.Clips, func(c Clip) bool { return c.Name == "Idle" })].Motion
	m := skel.NewClip(s.Skel, FPS, 0)
	for f := range frames {
		pos, rot := stand.Frame(0)
		m.Pos, m.Rot = append(m.Pos, pos...), append(m.Rot, rot...)
		m.Frames++
		for _, a := range at {
			const flight = FPS / 2
			if k := f - a; k >= 0 && k <= flight {
				m.Pos[f*s.Skel.Len()].Y += 9.81 / 2 * float32(k) * float32(flight-k) / (FPS * FPS)
			}
		}
	}
	return Clip{Name: "take", Motion: m, Actions: s.stance.Actions(m, "")}
}

// Each jump of a recording is a clip of its own, which plays once and begins shortly before the feet leave the ground; nothing else
// shows jumps, and the rest of the recording is kept.
func TestLeaps(t *testing.T) {
	s := walker(t, false)
	s.Clips = append(s.Clips, leaping(s, 500, 100, 160, 300, 332))
	others := len(s.Clips) - 1
	if n := s.Leaps(); n != 3 { // the last two are hops
		t.Fatalf("%d jumps, want 3", n)
	}
	var jumps, rest int
	for _, c := range s.Clips[others:] {
		once, _ := s.once(&c)
		if is := strings.Contains(c.Name, "jump"); is != once || slices.Contains(c.Actions, label.Jump) != is || len(c.Actions) != c.Motion.Frames {
			t.Errorf("%s: plays once %t, %d frames show %v", c.Name, once, c.Motion.Frames, slices.Compact(slices.Clone(c.Actions)))
		}
		if !once {
			rest += c.Motion.Frames
			continue
		}
		jumps++
		joints := s.Skel.Len()
		rise := slices.IndexFunc(c.Motion.Pos, func(p m3.Vec3) bool { return p.Y > c.Motion.Pos[0].Y+0.01 }) / joints
		if last := c.Motion.Pos[(c.Motion.Frames-1)*joints].Y; rise < FPS/20 || rise > FPS/5 || last > c.Motion.Pos[0].Y+0.01 {
			t.Errorf("%s: it rises after %d frames, and ends %.2f m higher", c.Name, rise, last-c.Motion.Pos[0].Y)
		}
	}
	if jumps != 3 || rest < 250 || rest > 380 {
		t.Errorf("%d clips of jumps, and %d frames of the rest", jumps, rest)
	}
	db := must.Get(s.Database())(t)
	if _, ok := db.Action(control.Jump.String()); !ok {
		t.Error("nobody can jump")
	}
	if n := s.Leaps(); n != 0 {
		t.Errorf("%d more jumps are cut out", n)
	}
}
