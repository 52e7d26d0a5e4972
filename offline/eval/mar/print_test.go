package mar

import (
	"strings"
	"testing"

	"mannequin/offline/metrics/transfer"
)

// Bars are marked where the figures miss them, and stricter for one action alone.
func TestEvalMARBars(t *testing.T) {
	mean := func(method string, pose, time float64) transfer.Mean {
		return transfer.Mean{Method: method, Cases: 1, Errors: transfer.Errors{Pose: pose, Time: time}}
	}
	means := []transfer.Mean{mean(transfer.MAR, 3, 3), mean(transfer.MAR+transfer.Unlabelled, 3.6, 3), mean(transfer.LTIOwn, 4.5, 5), mean(transfer.LTIPose, 2.5, 4), mean(transfer.GP, 2.9, 1)}
	r := Report{
		Sets: []Set{{Name: "walk", Means: means}, {Name: "mixed", Mixed: true, Means: means}, {Name: "free", Free: true, Means: means}},
		Far:  []Far{{FarScore: transfer.FarScore{Clip: "a", Finite: true, Input: 2, Output: 3.2}}, {FarScore: transfer.FarScore{Clip: "b", Input: 2, Output: 2}}},
	}
	want := map[string]bool{ // measure and set → passes
		"pose error ÷ the linear systems' of Hsu et al. 2005 walk":  true,  // 0.67
		"pose error ÷ the linear systems' of Hsu et al. 2005 mixed": false, // of 0.6
		"pose error ÷ those with the whole pose as input walk":      false, // 1.2
		"pose error ÷ the best other's walk (LTI pose)":             false,
		"timing error ÷ the linear systems' walk":                   true,  // 3/5
		"pose error, unlabelled ÷ labelled walk":                    false, // 1.2
		"pose error where the truth is known, cm free":              false,
		"timing error there, frames free":                           false,
		"share of far input whose output is finite 2 clips":         false,
		"fastest joint ÷ the input's a to ":                         false, // 1.6
	}
	for _, b := range r.bars() {
		name := b.Measure + " " + b.Of
		if pass, ok := want[name]; ok {
			if b.Pass != pass {
				t.Errorf("%s: %.2f passes is %v", name, *b.Value, b.Pass)
			}
			delete(want, name)
		}
	}
	for name := range want {
		t.Errorf("no bar %q", name)
	}
	var text strings.Builder
	r.Bars = r.bars()
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "*mixed 0.67 ≤ 0.60") {
		t.Errorf("no mark at what is missed in\n%s", text.String())
	}
}
