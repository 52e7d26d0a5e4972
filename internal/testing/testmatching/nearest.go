package testmatching

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	"mannequin/netruntime"
)

// SameBits plays a database's agents on tours, with and without a device that searches, and fails the test in the first tick whose states or
// poses differ in a bit. before is called before the device's ticks. It returns how many searches the device was asked for, and how
// many the processor did again.
func SameBits(t testing.TB, d *matching.Database, device netruntime.NearestOpener, agents, ticks int, before func(tick int)) (all, again int) {
	t.Helper()
	var streams [2]*matching.Stream
	var players [2]*testgen.Player[control.Goal]
	var actions []control.Action
	for _, tag := range d.Tags {
		if a, ok := d.Action(tag); ok {
			actions = append(actions, a)
		}
	}
	for i := range streams {
		o := matching.StreamOptions{Capacity: agents, Workers: 2}
		if i == 1 {
			o.Nearest = device
		}
		streams[i] = must.Get(d.NewStream(o))(t)
		t.Cleanup(func() { must.Do(t, streams[i].Close()) })
		players[i] = testgen.Play[control.Goal](streams[i], d.Skel.Len())
		for row := range agents {
			must.Get(streams[i].Add(feature.Place{Pos: m3.V(3*float32(row), 0, 0)}, nil))(t)
		}
	}
	var states [2]generator.State
	jumps := 0
	for tick := range ticks {
		if before != nil {
			before(tick)
		}
		for i, s := range streams {
			for row := range agents {
				g := tour(row, tick)
				if k := row + tick/90; len(actions) > 0 && k%3 == 0 {
					g = control.Goal{Action: actions[k/3%len(actions)], Move: m3.V(0, 0, float32(k%2)), Speed: 1.2}
				}
				s.Controls()[row] = g
			}
			switch tick {
			case 100:
				s.Remove(0)
				must.Get(s.Add(feature.Place{}, nil))(t)
			case ticks - 10:
				s.Place(0, feature.Place{Pos: m3.V(float32(math.NaN()), 0, 0)}) // its queries are not numbers
			}
			players[i].Still[1] = tick%50 > 40
			must.Do(t, players[i].Tick(agents))
			states[i].Reset()
			for row := range agents {
				s.Save(&states[i], row)
			}
		}
		for row := range agents {
			at, rot := players[0].Poses().Joints(row, d.Skel.Len())
			at1, rot1 := players[1].Poses().Joints(row, d.Skel.Len())
			if row != 0 && (!slices.Equal(at, at1) || !slices.Equal(rot, rot1)) {
				t.Fatalf("tick %d: the pose of agent %d is another with the device", tick, row)
			}
			if a, b := streams[0].Frame(row), streams[1].Frame(row); a != b {
				t.Fatalf("tick %d: agent %d shows frame %d, with the device %d", tick, row, a, b)
			}
			if players[0].Restarted(row) {
				jumps++
			}
		}
		if !bytes.Equal(states[0].Data, states[1].Data) {
			t.Fatalf("tick %d: the states differ", tick)
		}
	}
	if jumps < ticks*agents/100 {
		t.Fatalf("only %d jumps", jumps)
	}
	return streams[1].Searched()
}
