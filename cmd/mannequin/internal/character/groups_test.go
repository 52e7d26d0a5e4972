package character

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
)

// Clips whose names say nothing are grouped by poses in the review, with rows in the picture. A group that is named is an action
// that a goal asks for.
func TestReviewGroups(t *testing.T) {
	dir, out := clips(t), t.TempDir()
	for i, p := range must.Get(filepath.Glob(filepath.Join(dir, "*.bvh")))(t) {
		must.Do(t, os.Rename(p, filepath.Join(dir, fmt.Sprintf("T%02d.bvh", i))))
	}
	labels, file := filepath.Join(out, "labels.toml"), filepath.Join(out, "x.character")
	if code, text, errs := mannequin("make", dir, "--out", file, "--plain", "--review", labels); code != 0 {
		t.Fatal(text, errs)
	}
	text := string(must.Get(os.ReadFile(labels))(t))
	group := regexp.MustCompile(`(?m)^("T\d+ @ [\d.]+" = )"auto"( # row \d+, of \d+ clips: sit .*)$`)
	if !strings.Contains(text, "[clusters]") || !group.MatchString(text) {
		t.Fatalf("no group of those that sit:\n%s", text)
	}
	must.Do(t, os.WriteFile(labels, []byte(group.ReplaceAllString(text, `$1"beg"$2`)), 0o644))
	if code, text, errs := mannequin("make", dir, "--out", file, "--plain", "--labels", labels); code != 0 {
		t.Fatal(text, errs)
	}
	if _, ok := must.Get(matching.Open(file))(t).Action("beg"); !ok {
		t.Error("a goal cannot ask for the group's action")
	}
	if info, err := os.Stat(filepath.Join(out, "labels.png")); err != nil || info.Size() < 1000 {
		t.Errorf("no picture: %v", err)
	}
}
