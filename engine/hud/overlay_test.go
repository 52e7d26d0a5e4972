package hud

import (
	"slices"
	"strings"
	"testing"

	"mannequin/engine/m3"
)

func TestOverlayNames(t *testing.T) {
	var all Overlay
	for i, n := range OverlayNames() {
		o, err := ParseOverlays([]string{n})
		if err != nil || o != 1<<i || o.String() != n {
			t.Errorf("%s is %d, %v, whose name is %s", n, o, err, o)
		}
		all |= o
	}
	if all != AllOverlays {
		t.Errorf("the names are those of %b, want all, %b", all, AllOverlays)
	}
	if o, err := ParseOverlays([]string{"times", "contacts"}); err != nil || o != Times|Contacts || o.String() != "contacts, times" {
		t.Errorf("two are %v, %v", o, err)
	}
	if o, err := ParseOverlays(nil); err != nil || o != 0 || o.String() != "" {
		t.Errorf("none is %v, %v", o, err)
	}
	if _, err := ParseOverlays([]string{"times", "time"}); err == nil || !strings.Contains(err.Error(), `"time"`) || !strings.Contains(err.Error(), "trajectories") {
		t.Errorf("a name of none: %v", err)
	}
}

func TestOverlayKeys(t *testing.T) {
	for o, want := range map[Overlay]string{
		0: "", Times: "F8", AllOverlays: "F1 to F8", AllOverlays &^ Activations: "F1 to F6, F8", Contacts | Velocities | Skeletons: "F2, F4 to F5",
	} {
		if got := o.Keys(); got != want {
			t.Errorf("%v have the keys %q, want %q", o, got, want)
		}
	}
}

// The last values are kept in their order, however many there were.
func TestRecent(t *testing.T) {
	r := NewRecent(3)
	var all []float32
	for i := range 20 {
		got := r.Values()
		want := all[max(0, len(all)-3):]
		if len(got) != 3 || !slices.Equal(got[3-len(want):], want) {
			t.Fatalf("after %d values: %v, want %v last", i, got, want)
		}
		for _, v := range got[:3-len(want)] {
			if m3.Finite(v) {
				t.Fatalf("after %d values: %v", i, got)
			}
		}
		r.Add(float32(i))
		all = append(all, float32(i))
	}
	r.Clear()
	r.Add(7)
	if got := r.Values(); m3.Finite(got[0]) || m3.Finite(got[1]) || got[2] != 7 {
		t.Errorf("cleared, then 7: %v", got)
	}
}
