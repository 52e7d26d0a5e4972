package dataset_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/offline/dataset"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
)

// Faults of people's recordings are told with the frame of the file, and a held-out recording that is
// faster than all of training. Good recordings have no warnings.
func TestPeopleWarnings(t *testing.T) {
	takes, _ := must.Get2(human.Generate(human.Options{Seed: 1, Minutes: 0.05, Actions: []string{human.Walk, human.Run}, Styles: []string{"neutral"}}))(t)
	dir := t.TempDir()
	build := func(heldOut string) []string {
		must.Do(t, human.Write(dir, takes))
		set, _ := must.Get2(dataset.BuildMotion([]string{dir}, dataset.MotionOptions{HeldOut: []string{heldOut}}))(t)
		var got []string
		for _, w := range set.Warnings {
			_, file, _ := strings.Cut(w.Recording, "/")
			got = append(got, fmt.Sprintf("%s %s %d: %s", w.Kind, file, w.Frame, w.What))
		}
		return got
	}
	if got := build("walk*"); got != nil {
		t.Errorf("good recordings: %q", got)
	}
	if got := build("run-*"); len(got) == 0 || !strings.HasPrefix(got[0], "speed run") || !strings.Contains(got[0], "training has at most") {
		t.Errorf("runs are held out: %q", got)
	}
	i := slices.IndexFunc(takes, func(t *registration.Take) bool { return strings.HasPrefix(t.Name, "walk") })
	pos, _ := takes[i].Clip.Frame(40)
	pos[0].Z += 4
	name := takes[i].Name
	got := build("walk*")
	if len(got) < 2 || !strings.HasPrefix(got[0], fmt.Sprintf("motion %s 40: ", name)) || !strings.HasPrefix(got[1], fmt.Sprintf("motion %s 41: ", name)) {
		t.Errorf("frame 40 of %s is 4 m away: %q", name, got)
	}
}
