package controller

import (
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// A person holds the speeds of its clips ahead. Where more is asked than the clips have, the measured speed is lower.
func TestHold(t *testing.T) {
	all := must.Get(Hold(subject(t), 1.2, 2.4))(t)
	if len(all) != 10 {
		t.Errorf("%d speeds of a person who cannot crouch", len(all))
	}
	for _, h := range all {
		if h.Way == "ahead" && h.Asked > 1 && (h.Got < 0.9*h.Asked || h.Got > 1.1*h.Asked || h.Off > 10 || h.Beside > 0.1) {
			t.Errorf("%+v", h)
		}
	}
	var out strings.Builder
	must.Do(t, PrintHeld(&out, all))
	if !strings.Contains(out.String(), "aside") || !strings.Contains(out.String(), "2.40 m/s") {
		t.Errorf("printed: %s", out.String())
	}
	fast := must.Get(Hold(subject(t), 1.2, 30))(t)[3]
	if fast.Asked != 30 || fast.Got > 10 {
		t.Errorf("%+v", fast)
	}
	if _, err := Hold(subject(t), 2, 1); err == nil {
		t.Error("running slower than walking is taken")
	}
	// Twice the size goes at the same speeds, of its own size.
	large := subject(t)
	large.Size = 2
	if h := must.Get(Hold(large, 2.4, 4.8))(t)[1]; h.Got < 2.1 || h.Got > 2.7 {
		t.Errorf("%+v", h)
	}
}
