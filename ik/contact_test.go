package ik_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/mocapdata"
	"mannequin/offline/dataset"
)

// contacts tells, frame by frame, whether a joint of a recording stands on the ground, from what
// comes before and after: over the three frames around it is slower than 0.4 m/s and 15 % of the
// hips' speed (paws in flight are faster than the hips, and at a canter a contact is over before
// its edges are slow), and it is less than 3 cm above the lowest that it comes to in the second
// around, but for 5 % of the frames. Gaps of up to two frames are closed, then contacts of less
// than three dropped.
func contacts(clip *skel.Clip, joint int, hips []float32) []bool {
	n := clip.Frames
	pos := make([]m3.Vec3, n)
	model := make([]m3.Xform, clip.Skel.Len())
	for f := range n {
		clip.Model(model, f)
		pos[f] = model[joint].Pos
	}
	out := make([]bool, n)
	var around []float32
	for f := range n {
		around = around[:0]
		for g := max(0, f-30); g < min(n, f+31); g++ {
			around = append(around, pos[g].Y)
		}
		slices.Sort(around)
		a, b := max(0, f-1), min(n-1, f+1)
		speed := pos[b].Dist(pos[a]) * 60 / float32(max(b-a, 1))
		out[f] = speed < 0.4+0.15*hips[f] && pos[f].Y-around[len(around)/20] < 0.03
	}
	runs(out, false, 2)
	runs(out, true, 2)
	return out
}

// runs turns over the runs of what in on that are at most long, those at the ends apart.
func runs(on []bool, what bool, long int) {
	for f := 0; f < len(on); {
		g := f
		for g < len(on) && on[g] == on[f] {
			g++
		}
		if on[f] == what && f > 0 && g < len(on) && g-f <= long {
			for k := f; k < g; k++ {
				on[k] = !what
			}
		}
		f = g
	}
}

// tally compares two ways to tell contacts.
type tally struct{ both, online, offline, frames, touched, events int }

func (t *tally) add(online, offline []bool, keep []bool) {
	for f := range online {
		if !keep[f] {
			continue
		}
		t.frames++
		if online[f] {
			t.online++
		}
		if offline[f] {
			t.offline++
			if online[f] {
				t.both++
			}
		}
		if offline[f] && (f == 0 || !offline[f-1]) {
			t.events++
			for g := f; g < len(offline) && offline[g]; g++ {
				if online[g] {
					t.touched++
					break
				}
			}
		}
	}
}

func (t *tally) precision() float64 { return float64(t.both) / float64(max(t.online, 1)) }
func (t *tally) recall() float64    { return float64(t.both) / float64(max(t.offline, 1)) }

// gaits are told apart by the speed of the hips over the second around, m/s.
var gaits = []struct {
	name     string
	from, to float32
}{{"rest", 0, 0.25}, {"walk", 0.25, 0.8}, {"pace", 0.8, 1.5}, {"trot", 1.5, 2.6}, {"canter", 2.6, 99}}

// The solver tells contacts as they happen. What it was tuned by are the recordings that networks
// train on; those that are held out show what it is worth, in every gait.
func TestContactsOfRecordings(t *testing.T) {
	dir := filepath.Join(mocapdata.Dir(t), "dog")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var sums [2][5][2]tally // held out, gait, back
	for _, file := range files {
		name, ok := strings.CutSuffix(file.Name(), ".bvh")
		if !ok {
			continue
		}
		held := 0
		if slices.Contains(dataset.DogHeldOut, name) {
			held = 1
		}
		clip := recorded(t, name)
		q := solver(t, clip.Skel, ik.Level(0))
		hips, keep := make([]m3.Vec3, clip.Frames), make([]bool, clip.Frames)
		var online [4][]bool
		for f := range clip.Frames {
			q.Pos, q.Rot = clip.Frame(f)
			hips[f] = q.Pos[0]
			q.Run(0, 1)
			for i := range online {
				online[i] = append(online[i], q.Feet[i].Contact())
			}
		}
		speed := make([]float32, clip.Frames)
		for f := range speed {
			a, b := max(0, f-30), min(clip.Frames-1, f+30)
			speed[f] = hips[b].Sub(hips[a]).Flat().Len() * 60 / float32(b-a)
		}
		for i, l := range q.Rig.Roles.Legs {
			offline := contacts(clip, l[len(l)-1], speed)
			for g := range gaits {
				for f, v := range speed {
					keep[f] = gaits[g].from <= v && v < gaits[g].to
				}
				sums[held][g][i/2].add(online[i], offline, keep)
			}
		}
	}
	for held, set := range []string{"tuned by", "held out"} {
		for g := range gaits {
			for back, legs := range []string{"fore", "hind"} {
				s := &sums[held][g][back]
				t.Logf("%s, %-6s %s: %6d frames, precision %.3f, recall %.3f, contacts found %d of %d", set, gaits[g].name, legs, s.frames, s.precision(), s.recall(), s.touched, s.events)
				if s.frames > 100 && (s.precision() < 0.85 || s.recall() < 0.8 || s.touched < s.events*88/100) {
					t.Errorf("%s, %s, %s legs: contacts are told badly", set, gaits[g].name, legs)
				}
			}
		}
	}
}
