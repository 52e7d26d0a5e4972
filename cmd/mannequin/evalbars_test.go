package main

import (
	"strings"
	"testing"

	"mannequin/offline/metrics"
)

// A figure passes on the right side of its bar, one that is not there never.
func TestEvalBars(t *testing.T) {
	half, two := 0.5, 2.0
	motion := func(skate, bend float64) metrics.Motion {
		return metrics.Motion{Skate: skate, Stiffness: bend, Frames: 100}
	}
	paper := motion(1, 1)
	best := metrics.PaperPaths()[0]
	trot := metrics.Footfall{Strides: 5, Gait: "trot"}
	glide := motion(0, 1)
	glide.Low = 0.5
	hover := glide
	hover.Low = 0.3
	r := evalReport{
		Gaits: []evalGait{
			{Name: "walk", Truth: motion(1, 1), Model: metrics.Made{Raw: motion(1.05, 0.9), Shown: motion(1.05, 1.2)}, PaperModel: &paper,
				Recorded: trot, Raw: trot, Shown: metrics.Footfall{Strides: 5, Gait: "pace"}},
			{Name: "canter", Model: metrics.Made{Raw: motion(1, 1)}, PaperModel: &paper}, // no such recordings
			{Name: "pace", Truth: glide, Model: metrics.Made{Raw: hover, Shown: glide}},
			{Name: "trot", Truth: motion(1, 1), Model: metrics.Made{Raw: motion(9, 0)}}, // not in the paper
		},
		Paths: []evalPath{{Path: "circle", Follow: metrics.Follow{DistanceCM: 1.9, AngleDeg: 1.8}, Paper: &best}, {Path: "own"}},
		Speeds: []metrics.SpeedHeld{{Command: 0.5, Speed: 0.54, Gait: "trot"}, {From: 1.1000000238418579, Command: 0.5, Speed: 0.46, Gait: "walk"},
			{Command: float64(metrics.GaitSpeeds[1]), Speed: 1.4}},
		Latencies: []metrics.Latency{{Action: "sit", From: "idle", Weight: &half, Pose: &two}, {Action: "lie", From: "idle"}, {Action: "sit", From: "pace"},
			{Action: "jump", From: "pace", Weight: &half, Pose: &half}},
		Transitions: evalTransitions{Recorded: metrics.Rates{Speed: 1, Acceleration: 1, Jerk: 10}, Changes: []metrics.Transition{
			{From: "idle", To: "lie", Shown: metrics.Rates{Jerk: 19}}, {From: "lie", To: "sit", Shown: metrics.Rates{Jerk: 21}}}},
	}
	want := map[string]bool{
		"skate ÷ recorded, walk, shown": false, "skate ÷ recorded, walk, raw": true,
		"leg angle update ÷ recorded, walk, shown": true, "leg angle update ÷ recorded, walk, raw": false,
		"time of paws under 2.5 cm ÷ recorded, pace, shown": true, "time of paws under 2.5 cm ÷ recorded, pace, raw": false,
		"distance from the circle, cm": true, "angle off the circle, °": false,
		"walk by footfall a trot as recorded, shown (is: pace)": false, "walk by footfall a trot as recorded, raw (is: trot)": true,
		"speed off the command of 0.5 m/s, worst start (from 0.0 m/s)": true, "speed off the command of 1.1 m/s, worst start (from 0.0 m/s)": false,
		"of 2 starts toward 0.5 m/s become a trot as recorded": false,
		"sit from idle: 90 % of the weight, s":                 true, "sit from idle: pose reached, s": false,
		"lie from idle: 90 % of the weight, s": false, "lie from idle: pose reached, s": false,
		"jump from pace: 90 % of the weight, s": true, "jump from pace: pose reached, s": true,
		"largest jerk of a change ÷ recorded (lie to sit)": false,
	}
	for _, b := range r.bars() {
		pass, ok := want[b.Measure]
		if !ok {
			t.Errorf("%+v is not expected", b)
		} else if b.Pass != pass {
			t.Errorf("%+v, want pass %v", b, pass)
		}
		delete(want, b.Measure)
	}
	if len(want) > 0 {
		t.Errorf("not among the bars: %v", want)
	}
	r.Bars = r.bars()
	if rows := r.barRows(); !strings.HasPrefix(rows[len(rows)-1], "11 of 20") || !strings.Contains(strings.Join(rows, "\n"), "never") {
		t.Errorf("%q", rows)
	}
}
