package clipset

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/procgen"
)

// made of clips that show actions for seconds: "idle 2 move 3".
func showing(t *testing.T, clips ...string) *Set {
	t.Helper()
	s := &Set{Skel: procgen.Skeleton()}
	for i, text := range clips {
		c := Clip{Name: fmt.Sprint("c", i), take: i}
		words := strings.Fields(text)
		for k := 0; k < len(words); k += 2 {
			var seconds float64
			must.Get(fmt.Sscan(words[k+1], &seconds))(t)
			c.Actions = append(c.Actions, slices.Repeat([]string{words[k]}, int(seconds*FPS))...)
		}
		c.Motion = skel.NewClip(s.Skel, FPS, len(c.Actions))
		s.Clips = append(s.Clips, c)
	}
	return s
}

// seconds returns the time of each action that is held out, and that which is not.
func heldSeconds(s *Set, held []bool) (out, in map[string]float64) {
	out, in = map[string]float64{}, map[string]float64{}
	for i, c := range s.Clips {
		to := in
		if held[i] {
			to = out
		}
		for _, a := range c.Actions {
			to[a] += 1.0 / FPS
		}
	}
	return out, in
}

// What is held out covers each action, and what remains does, too. Actions of one clip are trained on, with a warning.
func TestHoldOut(t *testing.T) {
	for name, c := range map[string]struct {
		clips   []string
		warn    []string
		least   string // actions that are held out
		nothing bool
	}{
		"many": {clips: []string{"move 10", "move 10", "move 10", "idle 5 move 5", "idle 5", "idle 5", "sit 3", "sit 4", "sit 3"}, least: "move idle sit"},
		"rare": {clips: []string{"move 10", "move 10", "jump 1 move 9", "jump 1 move 9", "move 10"}, least: "move jump"},
		"one":  {clips: []string{"move 10", "move 10", "roll 1"}, warn: []string{"one clip alone shows roll, c2"}, least: "move"},
		"bound": {clips: []string{"move 10", "move 10", "sit 2 roll 1", "sit 2 lie 1"}, least: "move",
			warn: []string{"one clip alone shows lie, c3", "one clip alone shows roll, c2", "too few clips show sit, c2, c3"}},
		"alone":  {clips: []string{"move 10"}, warn: []string{"one clip alone shows move"}, nothing: true},
		"uneven": {clips: []string{"move 100", "move 1"}, least: "move"},
		"poses":  {clips: []string{"move 10", "move 10", "pose 1"}, least: "move"},
	} {
		s := showing(t, c.clips...)
		held, warnings := s.HoldOut(0.2)
		out, in := heldSeconds(s, held)
		for _, a := range strings.Fields(c.least) {
			if out[a] == 0 || in[a] < out[a] {
				t.Errorf("%s: %.0f s of %s are held out, %.0f s are trained on", name, out[a], a, in[a])
			}
		}
		if c.nothing && slices.Contains(held, true) {
			t.Errorf("%s: %v", name, held)
		}
		if len(warnings) != len(c.warn) {
			t.Errorf("%s: warnings %q, want %q", name, warnings, c.warn)
			continue
		}
		for i, w := range c.warn {
			if !strings.Contains(warnings[i], w) {
				t.Errorf("%s: warnings %q, want %q", name, warnings, c.warn)
			}
		}
		if again, _ := s.HoldOut(0.2); !slices.Equal(held, again) {
			t.Errorf("%s: another choice the second time", name)
		}
	}
	if held, warnings := new(Set).HoldOut(0.2); len(held) != 0 || len(warnings) != 0 {
		t.Errorf("nothing: %v, %q", held, warnings)
	}
}

// The few takes that run are trained on, where others can be held out in their place.
func TestHoldOutPaces(t *testing.T) {
	clips := []string{"move 9", "move 10", "move 11", "move 10", "move 9", "move 11", "move 10", "move 10", "move 10", "move 10"}
	for fast := range clips {
		s := showing(t, clips...)
		for i, c := range s.Clips {
			speed := float32(1)
			if i == fast {
				speed = 4
			}
			for f := range c.Motion.Frames {
				c.Motion.Pos[f*s.Skel.Len()].Z = speed * float32(f) / FPS
			}
		}
		if held, _ := s.HoldOut(0.1); held[fast] || !slices.Contains(held, true) {
			t.Errorf("of takes of which number %d runs %v are held out", fast, held)
		}
	}
}

// The share is kept to where there is a choice.
func TestHoldOutShare(t *testing.T) {
	var clips []string
	for i := range 40 {
		clips = append(clips, fmt.Sprintf("move %d idle %d", 4+i%5, 1+i%3))
	}
	s := showing(t, clips...)
	for _, share := range []float64{0.1, 0.25} {
		held, _ := s.HoldOut(share)
		out, in := heldSeconds(s, held)
		for a := range out {
			if got := out[a] / (out[a] + in[a]); got < 0.6*share || got > 1.6*share {
				t.Errorf("%.2f of %s are held out, want %.2f", got, a, share)
			}
		}
	}
}

// Images and curves of a recording are held out with it, or there is no measuring on what is new.
func TestHoldOutTakes(t *testing.T) {
	s := pack(t)
	s.Bend()
	s.Mirror()
	held, _ := s.HoldOut(0.3)
	for i, c := range s.Clips {
		for k, d := range s.Clips {
			a, _, _ := strings.Cut(strings.TrimSuffix(c.Name, " mirrored"), ",")
			b, _, _ := strings.Cut(strings.TrimSuffix(d.Name, " mirrored"), ",")
			if a == b && (held[i] != held[k] || c.take != d.take) || a != b && c.take == d.take {
				t.Fatalf("%s of recording %d is held out %t, %s of %d %t", c.Name, c.take, held[i], d.Name, d.take, held[k])
			}
		}
	}
}

// Parts of a long recording can be held out, and together are the recording.
func TestSplit(t *testing.T) {
	s := showing(t, "move 100", "idle 5", "sit 9")
	s.Clips[2].Loop = true
	parts := s.Split(20)
	frames := 0
	for _, c := range parts.Clips {
		frames += c.Motion.Frames
		if len(c.Actions) != c.Motion.Frames {
			t.Errorf("%s has %d frames and %d actions", c.Name, c.Motion.Frames, len(c.Actions))
		}
	}
	if len(parts.Clips) != 7 || frames != 114*FPS || len(s.Clips) != 3 {
		t.Errorf("%d clips of %d frames, and %d are left of the set", len(parts.Clips), frames, len(s.Clips))
	}
	held, _ := parts.HoldOut(0.2)
	if n := len(slices.DeleteFunc(held, func(h bool) bool { return !h })); n != 1 {
		t.Errorf("%d of the parts are held out, want 1", n)
	}
}

// In the paper's recordings each action is covered.
func TestHoldOutRecorded(t *testing.T) {
	s := must.Get(Open(filepath.Join(mocapdata.Dir(t), "dog"), Options{}))(t)
	held, warnings := s.HoldOut(0.1)
	out, in := heldSeconds(s, held)
	n := 0
	for _, h := range held {
		if h {
			n++
		}
	}
	t.Logf("%d of %d recordings, %v s of %v, warnings %q", n, len(held), out, in, warnings)
	for a := range in {
		if out[a] == 0 || in[a] < out[a] {
			t.Errorf("%.1f s of %s are held out, %.1f s are trained on", out[a], a, in[a])
		}
	}
	if n > len(held)/4 || len(warnings) > 0 {
		t.Errorf("%d of %d recordings are held out, with the warnings %q", n, len(held), warnings)
	}
}
