package fbx

import (
	"math"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// The ways between keys.
func TestCurve(t *testing.T) {
	c := &curve{times: []int64{0, second, 2 * second, 3 * second, 4 * second}, values: []float64{0, 1, 3, 2, 2}}
	c.setShapes([]key{{flags: linear}, {flags: constant}, {flags: constant | auto}, key7(cubic|user, [4]float64{}), {flags: linear}})
	for at, want := range map[float64]float64{-1: 0, 0: 0, 0.5: 0.5, 1: 1, 1.5: 1, 2: 3, 2.5: 2, 3: 2, 3.5: 2, 9: 2} {
		if got := c.at(int64(at * ticks)); got != want {
			t.Errorf("at %g s: %g, want %g", at, got, want)
		}
	}
	// A cubic one with slopes of 3 per second at both ends goes straight from 0 to 3, with any weights.
	for _, w := range []float64{1.0 / 3, 0.1, 0.6} {
		c = &curve{times: []int64{0, second}, values: []float64{0, 3}, shape: []shape{{kind: 2, out: 3, in: 3, outW: w, inW: w}, {}}}
		for _, u := range []float64{0.1, 0.5, 0.8} {
			if got := c.at(int64(u * ticks)); math.Abs(got-3*u) > 1e-6 {
				t.Errorf("weights of %g: at %g s %g, want %g", w, u, got, 3*u)
			}
		}
	}
}

// Slopes after and before keys of 0, 3, 1 and 2 at 0, 1, 3 and 7 s are those that Autodesk's SDK gives them.
func TestSlopes(t *testing.T) {
	for _, x := range []struct {
		name  string
		flags int64
		data  [3]float64
		want  [6]float64 // after and before, way by way
	}{
		{"flat", cubic, [3]float64{1, 2}, [6]float64{0, 0, 0, 0, 0, 0}},
		{"user", cubic | user, [3]float64{1, 2}, [6]float64{1, 2, 1, 2, 1, 2}},
		{"auto", cubic | auto, [3]float64{}, [6]float64{3, 1, 1, -0.375, -0.375, 0.25}},
		{"even", cubic | auto | even, [3]float64{}, [6]float64{3, 1. / 3, 1. / 3, -1. / 6, -1. / 6, 0.25}},
		{"gentle", cubic | auto | even | gentle, [3]float64{}, [6]float64{}},
		{"gentle, not even", cubic | auto | gentle, [3]float64{}, [6]float64{3, 1, 1, -0.375, -0.375, 0.25}},
		{"bias 50", cubic | auto, [3]float64{50}, [6]float64{3, 1, 0, -0.375, -0.0625, 0.25}},
		{"bias -50", cubic | auto | even, [3]float64{-50}, [6]float64{3, 1. / 3, 2, -1. / 6, -0.6875, 0.25}},
		{"bias before 50", cubic | auto, [3]float64{0, 50}, [6]float64{3, 2, 1, -0.6875, -0.375, 0.25}},
		{"bias 150", cubic | auto, [3]float64{150, 150}, [6]float64{3, 4, -2, -1.3125, 0.5625, 0.25}},
		{"bias 550", cubic | auto, [3]float64{550, 550}, [6]float64{13, 22, -20, -13.8125, 13.0625, -9.75}},
		{"bias -550", cubic | auto, [3]float64{-550, -550}, [6]float64{-7, -20, 22, 13.0625, -13.8125, 10.25}},
		{"broken", cubic | auto | broken, [3]float64{50, -30}, [6]float64{3, 0.4, 0, -0.1875, -0.0625, 0.25}},
		{"tension", cubic | tcb, [3]float64{0.5, 0, 0}, [6]float64{1.5, 0.5, 0.5, -0.1875, -0.1875, 0.125}},
		{"continuity", cubic | tcb, [3]float64{0, 0.5, 0}, [6]float64{1.5, 0, 2, -0.0625, -0.6875, 0.125}},
		{"bias", cubic | tcb, [3]float64{0, 0, 0.5}, [6]float64{1.5, 2, 2, -0.6875, -0.6875, 0.375}},
	} {
		c := &curve{times: []int64{0, second, 3 * second, 7 * second}, values: []float64{0, 3, 1, 2}}
		k := key{flags: x.flags, data: x.data, outW: usualWeight, inW: usualWeight}
		c.setShapes([]key{k, k, k, k})
		for i, want := range x.want {
			w := c.shape[i/2]
			if got := [2]float64{w.out, w.in}[i%2]; math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: slope %d is %g, want %g", x.name, i, got, want)
			}
		}
	}
}

// Before and after its keys a curve goes on as Autodesk's SDK has it.
func TestExtrapolation(t *testing.T) {
	times, ascii := []float64{-2.5, -2, -1.75, -1, -0.75, -0.25, 1.25, 1.75, 2, 2.25, 3.5}, false
	for _, x := range []struct {
		kind string
		n    int
		want [11]float64 // of a curve that goes straight from 1 at 0 s by 4 at 0.5 s to 2 at 1 s
	}{
		{"C", -1, [11]float64{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}},
		{"Z", -1, [11]float64{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}},
		{"R", -1, [11]float64{4, 2, 2.5, 2, 2.5, 3, 2.5, 3, 1, 2.5, 4}},
		{"R", 0, [11]float64{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}},
		{"R", 1, [11]float64{1, 1, 1, 1, 2.5, 3, 2.5, 3, 2, 2, 2}},
		{"M", -1, [11]float64{4, 1, 2.5, 2, 3, 2.5, 3, 2.5, 1, 2.5, 4}},
		{"M", 1, [11]float64{1, 1, 1, 1, 3, 2.5, 3, 2.5, 2, 2, 2}},
		{"A", -1, [11]float64{1, -1, 0.5, 0, 1.5, 2, 3.5, 4, 3, 4.5, 7}},
		{"A", 1, [11]float64{0, 0, 0, 0, 1.5, 2, 3.5, 4, 3, 3, 3}},
		{"K", -1, [11]float64{-14, -11, -9.5, -5, -3.5, -0.5, 1, -1, -2, -3, -8}},
		{"K", 1, [11]float64{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}},
	} {
		ascii = !ascii
		on := func(name string) tree { return rec(name, rec("Type", x.kind), rec("Repetition", x.n)) }
		k := keys(120, []float64{0, 0.5, 1}, []float32{1, 4, 2})
		k.below = append(k.below, on("Pre-Extrapolation"), on("Post-Extrapolation"))
		data := binaryFile(7400, []tree{k})
		if ascii {
			data = asciiFile(7400, []tree{k})
		}
		s := &scene{file: must.Get(newFile("a.fbx", data))(t)}
		c := must.Get(s.curve7(s.root.child("AnimationCurve")))(t)
		for i, at := range times {
			if got := c.at(int64(at * ticks)); math.Abs(got-x.want[i]) > 1e-9 {
				t.Errorf("%s %d: %g at %g s, want %g", x.kind, x.n, got, at, x.want[i])
			}
		}
	}
}

// An animation whose curves go on beyond their keys is as long as the file says.
func TestRepeated(t *testing.T) {
	for kind, want := range map[string]int{"": 25, "R": 49} {
		records := walker(zUp, body)
		objects := records[1].below
		for i := range objects {
			switch r := &objects[i]; {
			case r.name == "AnimationStack":
				*r = rec("AnimationStack", 100, "walk\x00\x01AnimStack", "", rec("Properties70", prop("LocalStart", int64(0)), prop("LocalStop", 2*second+1000)))
			case r.name == "AnimationCurve" && kind != "":
				r.below = append(r.below, rec("Post-Extrapolation", rec("Type", kind)))
			}
		}
		all := must.Get(Read("a.fbx", binaryFile(7400, records)))(t)
		if got := all[0].Clip.Frames; got != want {
			t.Errorf("%q: %d frames, want %d", strings.TrimSpace(kind), got, want)
		}
	}
}

// bends is the walker with curves of all kinds of keys, which go on beyond them in all ways.
func bends() []tree {
	records := walker(zUp, body)
	objects, n := records[1].below, 0
	for i := range objects {
		if objects[i].name != "AnimationCurve" {
			continue
		}
		flags := [][]int64{{cubic | auto, cubic | auto | even | gentle, cubic | tcb}, {cubic | user | weightOut | weightIn, cubic | auto | clamped}, {cubic | tcb, cubic | auto | broken}}[n]
		var data []float32
		var once []int64
		for range flags {
			data, once = append(data, 0.5, -0.25, 0.125, 0), append(once, 1)
		}
		how := []string{"R", "M", "A", "K"}
		below := objects[i].below[:2:2]
		objects[i].below = append(below, rec("KeyAttrFlags", flags), rec("KeyAttrDataFloat", data), rec("KeyAttrRefCount", once),
			rec("Pre-Extrapolation", rec("Type", how[n]), rec("Repetition", -1)), rec("Post-Extrapolation", rec("Type", how[n+1]), rec("Repetition", 2)))
		n++
	}
	return records
}
