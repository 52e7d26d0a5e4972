package character

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"mannequin/internal/testing/mocapdata"
)

// Feet of public packs of loops slide no more than those of their clips, in turns, too, and nothing jerks more than four times as
// much.
func TestPacksSlide(t *testing.T) {
	dir := mocapdata.Dir(t)
	for _, pack := range []string{
		"kaykit", "mesh2motion/animations/fox-animations.glb", "mesh2motion/animations/horse-animations.glb", "mesh2motion/animations/spider-animations.glb",
		"mesh2motion/human/human-base-animations.2025-08-10.glb", "quaternius-fbx/Animated Human.fbx", "quaternius-glb/animals/Horse.glb", "quaternius-glb/animals/Fox.glb",
	} {
		path := filepath.Join(dir, filepath.FromSlash(pack))
		if _, err := os.Stat(path); err != nil {
			t.Logf("%s is not here", pack)
			continue
		}
		code, text, errs := mannequin("make", path, "--out", filepath.Join(t.TempDir(), "x.character"), "--json")
		var r report
		if err := json.Unmarshal([]byte(text), &r); code != 0 || err != nil {
			t.Errorf("%s: code %d, %v: %s", pack, code, err, errs)
			continue
		}
		m := r.Measures
		t.Logf("%s: feet slide %.1f cm/s, the clips' %.1f: %.2f; jerk %.2f", pack, 100*m.Slide.Shown, 100*m.Slide.Clips, m.Slide.Ratio(), m.Jerk.Ratio())
		// The course runs for a third of the time, a pack's clips for a twentieth: the percentile of what is shown is that of running.
		const jerks = 4
		if m.Slide.Ratio() > 1 || m.Jerk.Ratio() > jerks {
			t.Errorf("%s: feet slide at %.3f m/s, the clips' at %.3f; jerk %.0f m/s³, the clips' %.0f", pack, m.Slide.Shown, m.Slide.Clips, m.Jerk.Shown, m.Jerk.Clips)
		}
	}
}
