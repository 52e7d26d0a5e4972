package mann

import (
	"strings"
	"testing"

	"mannequin/offline/metrics"
)

// A figure passes on the right side of its bar, one that is not there never.
func TestEvalBars(t *testing.T) {
	half, two := 0.5, 2.0
	motion := func(skate, bend float64) metrics.Motion {
		return metrics.Motion{Skate: skate, Stiffness: bend, Low: 0.5, Jerk: 10, Hips: 0.5, Frames: 100}
	}
	paper := motion(1, 1)
	best := metrics.PaperPaths()[0]
	trot := metrics.Footfall{Strides: 5, Gait: "trot"}
	glide := motion(0, 1)
	hover := glide
	hover.Low = 0.3
	r := Report{
		Gaits: []Gait{
			{Name: "walk", Truth: motion(1, 1), Model: metrics.Made{Raw: motion(1.05, 0.9), Shown: motion(1.05, 1.2)}, PaperModel: &paper,
				Recorded: trot, Raw: trot, Shown: metrics.Footfall{Strides: 5, Gait: "pace"}},
			{Name: "canter", Model: metrics.Made{Raw: motion(1, 1)}, PaperModel: &paper}, // no such recordings
			{Name: "pace", Truth: glide, Model: metrics.Made{Raw: hover, Shown: glide}},
			{Name: "trot", Truth: motion(1, 1), Model: metrics.Made{Raw: motion(9, 0)}}, // not in the paper
		},
		Paths: []Path{{Path: "circle", Follow: metrics.Follow{DistanceCM: 1.9, AngleDeg: 1.8}, Paper: &best}, {Path: "own"}},
		Speeds: []metrics.SpeedHeld{{Command: 0.5, Speed: 0.54, Gait: "trot"}, {From: 1.1000000238418579, Command: 0.5, Speed: 0.46, Gait: "walk"},
			{Command: float64(metrics.GaitSpeeds[1]), Speed: 1.4}},
		Latencies: []metrics.Latency{{Action: "sit", From: "idle", Weight: &half, Pose: &two}, {Action: "lie", From: "idle"}, {Action: "sit", From: "pace"},
			{Action: "jump", From: "pace", Weight: &half, Pose: &half}},
		Transitions: Transitions{Recorded: metrics.Rates{Speed: 1, Acceleration: 1, Jerk: 10}, Changes: []metrics.Transition{
			{From: "idle", To: "lie", Shown: metrics.Rates{Jerk: 19}}, {From: "lie", To: "sit", Shown: metrics.Rates{Jerk: 21}}}},
	}
	r.Gaits[0].Model.InGait, r.Gaits[0].Matched.Shown = 0.95, motion(0.9, 0.9)
	r.Gaits[2].Model.Shown.Jerk = 11
	r.Restored = 1
	crouch := motion(0.5, 1)
	crouch.Hips, crouch.Pitch = 0.44, 31
	r.Ways = []metrics.Way{{Name: "back", Asked: 0.3, Does: 0.2, Raw: motion(0.5, 0.1), Shown: crouch},
		{Name: "aside", Asked: 0.4, Does: 0.4, Raw: motion(0.5, 0.6), Shown: motion(1.1, 1)}}
	want := map[string]bool{
		"skate ÷ recorded, shown: walk": false, "skate ÷ recorded, raw: walk": true, "skate ÷ recorded, matched, shown: walk": true,
		"leg angle update ÷ recorded, shown: walk": true, "leg angle update ÷ recorded, raw: walk": false,
		"leg angle update ÷ recorded, matched, shown: walk":  false,
		"share of frames in the gait's speed and turn: walk": true,
		"share of frames in the gait's speed and turn: pace": false, "share of frames in the gait's speed and turn: trot": false,
		"time of paws under 2.5 cm ÷ recorded, shown: pace": true, "time of paws under 2.5 cm ÷ recorded, raw: pace": false,
		"time of paws under 2.5 cm ÷ recorded, shown: walk": true, "time of paws under 2.5 cm ÷ recorded, raw: walk": true,
		"time of paws under 2.5 cm ÷ recorded, shown: trot": false, "time of paws under 2.5 cm ÷ recorded, raw: trot": true,
		"mean jerk ÷ recorded, shown: walk": true, "mean jerk ÷ recorded, raw: walk": true,
		"mean jerk ÷ recorded, shown: trot": true, "mean jerk ÷ recorded, raw: trot": true,
		"mean jerk ÷ recorded, shown: pace": false, "mean jerk ÷ recorded, raw: pace": true,
		"distance from the path, cm: circle": true, "angle off the path, °: circle": false, "speed on the path ÷ asked for: circle": false, "seconds to set off: circle": false,
		"footfall as recorded, shown: walk (a pace)": false, "footfall as recorded, raw: walk (a trot)": true,
		"speed off the command, share, worst start: 0.5 m/s (from 0.0)":        true,
		"speed off the command, share, worst start: 1.1 m/s (from 0.0)":        false,
		"share of starts that come to the recorded footfall: 0.5 m/s (a trot)": false,
		"off what is asked for, share: back":                                   false, "skate ÷ the recorded walk's, shown: back": true,
		"height of the hips ÷ the recorded walk's, shown: back": false, "leg angle update ÷ the recorded walk's, raw: back": false,
		"head off the recorded up or down, °: walk": true, "head off the recorded up or down, °: pace": true, "head off the recorded up or down, °: trot": true,
		"head off the recorded up or down, °: back": false, "head off the recorded up or down, °: aside": true,
		"off what is asked for, share: aside": true, "skate ÷ the recorded walk's, shown: aside": false,
		"height of the hips ÷ the recorded walk's, shown: aside": true, "leg angle update ÷ the recorded walk's, raw: aside": true,
		"seconds to 90 % of the weight: sit from idle":    true,
		"seconds to the pose: sit from idle":              false,
		"seconds to 90 % of the weight: lie from idle":    false,
		"seconds to the pose: lie from idle":              false,
		"seconds to 90 % of the weight: jump from pace":   true,
		"seconds to the pose: jump from pace":             true,
		"largest jerk of a change ÷ recorded: lie to sit": false,
		"times the watchdog put a dog back: all drives":   false,
	}
	total, misses := len(want), 0
	for _, b := range r.bars() {
		name := b.Measure + ": " + b.Of
		pass, ok := want[name]
		if !ok {
			t.Errorf("%s is not expected", name)
		} else if b.Pass != pass {
			t.Errorf("%s: %+v, want pass %v", name, b, pass)
		}
		if !pass {
			misses++
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not among the bars: %v", want)
	}
	r.Bars = r.bars()
	if len(r.Bars) != total || r.Bars.Missed() != misses {
		t.Errorf("%d of %d missed, want %d of %d", r.Bars.Missed(), len(r.Bars), misses, total)
	}
	text := strings.Join(r.Bars.Rows(), "\n")
	for _, row := range []string{
		"skate ÷ recorded, shown\t≤ 1.00\t*walk 1.05\n",
		"seconds to the pose\t≤ 1.50\t*sit from idle 2.00   *lie from idle never   jump from pace 0.50\n",
	} {
		if !strings.Contains(text, row) {
			t.Errorf("no row %q in\n%s", row, text)
		}
	}
}
