package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/internal/testing/must"
)

// Faults in frames to learn from, and actions and speeds that training lacks, are told with the
// recording and its frame. Faults in frames that no row shows are not.
func TestMANNWarnings(t *testing.T) {
	sk := synthSkeleton()
	for _, c := range []struct {
		name  string
		spoil func(clips map[string]*skel.Clip, labels map[string]Labels)
		want  []string
	}{
		{"nothing", func(map[string]*skel.Clip, map[string]Labels) {}, nil},
		{"an outlier", func(clips map[string]*skel.Clip, labels map[string]Labels) {
			pos, _ := clips["a"].Frame(100)
			pos[0].X = 9e6
		}, []string{"motion a 100: Hips moves at ", "motion a 101: Hips moves at "}},
		{"an outlier in a trajectory", func(clips map[string]*skel.Clip, labels map[string]Labels) {
			pos, _ := clips["a"].Frame(100)
			pos[0].X = 9e6
			l := labels["a"]
			l.Train = []Range{{150, 190}}
			labels["a"] = l
		}, []string{"motion a 100: ", "motion a 101: "}},
		{"an outlier that no row shows", func(clips map[string]*skel.Clip, labels map[string]Labels) {
			pos, _ := clips["a"].Frame(100)
			pos[0].X = 9e6
			l := labels["a"]
			l.Train = []Range{{0, 30}, {170, 190}}
			labels["a"] = l
		}, nil},
		{"a held-out outlier", func(clips map[string]*skel.Clip, labels map[string]Labels) {
			pos, _ := clips["held"].Frame(50)
			pos[0].X += 3
		}, []string{"motion held 50: Hips moves at ", "motion held 51: Hips moves at ", "speed held "}},
		{"a held-out run", func(clips map[string]*skel.Clip, labels map[string]Labels) {
			clips["held"] = circle{r: 5, w: 1, frames: 200}.clip(sk)
		}, []string{"speed held "}},
		{"a held-out action", func(clips map[string]*skel.Clip, labels map[string]Labels) {
			labels["held"].Segments["Walk"], labels["held"].Segments["Sit"] = []Range{{0, 99}}, []Range{{100, 199}}
		}, []string{"label held "}},
	} {
		clips, labels := map[string]*skel.Clip{}, map[string]Labels{}
		for _, name := range []string{"a", "held"} {
			clips[name], labels[name] = circle{r: 2, w: 1, frames: 200}.clip(sk), walking(200)
		}
		c.spoil(clips, labels)
		train, held := must.Get2(BuildMANN(folder(t, clips, labels), Options{HeldOut: []string{"held"}}))(t)
		var got []string
		for _, w := range train.Warnings {
			got = append(got, fmt.Sprintf("%s %s %d: %s", w.Kind, w.Recording, w.Frame, w.What))
		}
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) || held.Warnings != nil {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Training tells what the reader passed over, such as rows that are not lines.
func TestFileWarnings(t *testing.T) {
	clips, labels := map[string]*skel.Clip{}, map[string]Labels{}
	for _, name := range []string{"a", "held"} {
		clips[name], labels[name] = circle{r: 2, w: 1, frames: 200}.clip(synthSkeleton()), walking(200)
	}
	dir := folder(t, clips, labels)
	path := filepath.Join(dir, "a.bvh")
	text := string(must.Get(os.ReadFile(path))(t))
	end := strings.LastIndex(text, " ") // within the last row
	must.Do(t, os.WriteFile(path, []byte(text[:end]+"\n"+text[end+1:]), 0o644))
	train, _ := must.Get2(BuildMANN(dir, Options{HeldOut: []string{"held"}}))(t)
	if w := train.Warnings; len(w) != 1 || w[0].Kind != WarnFile || w[0].Recording != "a" || !strings.Contains(w[0].What, "not a line each") {
		t.Errorf("%+v", w)
	}
}
