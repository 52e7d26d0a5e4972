package dataset

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testh36m"
	"mannequin/offline/retarget"
)

// Recordings to measure on are whole, at Rate, with their mirror images; a walk in
// Human3.6M's exponential maps goes ahead as fast as it does.
func TestOpenMotion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "S5_walking_1.txt")
	must.Do(t, os.WriteFile(path, testh36m.Make(200).Text, 0o644))
	l := feature.Human()
	m := must.Get(OpenMotion([]string{path, path}, l, retarget.Reading{}, 100, 2))(t)
	if len(m.Clips) != 4 || m.Clips[0].Name != "S5_walking_1" || !m.Clips[3].Mirror || len(m.Windows) != 0 || len(m.Mean) != l.Columns() {
		t.Fatalf("%d clips, %d windows, %d means", len(m.Clips), len(m.Windows), len(m.Mean))
	}
	c := m.Clips[0]
	if want := 200 * Rate / testh36m.Rate; c.Frames < want-2 || c.Frames > want || len(c.Rows) != c.Frames*l.Columns() {
		t.Errorf("%d frames, want %d", c.Frames, want)
	}
	var ahead, aside, stands float64
	for f := range c.Frames {
		row := c.Rows[f*l.Columns():][:l.Columns()]
		ahead += float64(row[l.Body()+feature.MotionZ]) / float64(c.Frames)
		aside += float64(row[l.Body()+feature.MotionX]) / float64(c.Frames)
		for i := range l.Contacts {
			stands += float64(row[l.Contact(i)]) / float64(c.Frames*len(l.Contacts))
		}
	}
	// Legs of 0.897 m are made ours of 0.834 m.
	if want := 0.93 * testh36m.Speed / 1000; math.Abs(ahead-want) > 0.1*want || math.Abs(aside) > 0.1*want {
		t.Errorf("%g m/s ahead and %g to the left, want %g", ahead, aside, want)
	}
	if !(stands > 0.3 && stands < 0.8) {
		t.Errorf("contacts stand for %g of the time", stands)
	}
	if _, err := OpenMotion([]string{path}, l, retarget.Reading{}, 1000, 1); err == nil || !strings.Contains(err.Error(), "none of the 1 recordings has 1000 frames") {
		t.Error(err)
	}
	if _, err := OpenMotion([]string{path + "x"}, l, retarget.Reading{}, 2, 1); err == nil {
		t.Error("a file that is not there reads")
	}
}
