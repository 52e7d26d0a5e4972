package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skin"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// twoClips writes a character of a Mixamo-like rig with the animations Walk and Back/Side, and returns its
// path. Walk is long enough to learn from.
func twoClips(t *testing.T, dir string) string {
	t.Helper()
	const cases = "../character/testdata/"
	b := must.Get(mocap.Open(cases+"rest-tpose-same-motion.bvh", mocap.OpenOptions{FrameRate: 10}))(t)
	hero := must.Get(os.ReadFile("../../animsys/skin/testdata/plain-person.glb"))(t)
	clip, _ := must.Get2(skin.OntoRig(must.Get(skin.ReadRig("hero.glb", hero))(t), b.Clip, nil))(t)
	data, _ := must.Get2(skin.AppendMotions("hero.glb", hero, []skin.Motion{{Name: "Walk", Clip: clip}, {Name: "Back/Side", Clip: clip}}, skin.AddOptions{}))(t)
	path := filepath.Join(dir, "hero.glb")
	must.Do(t, os.WriteFile(path, data, 0o644))
	return path
}

// Each animation of a glTF is a recording; a character without animations is none.
func TestRecordingsOfAnimations(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	must.Do(t, os.MkdirAll(dir, 0o755))
	twoClips(t, dir)
	still := must.Get(os.ReadFile("../../animsys/skin/testdata/plain-person.glb"))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "still.glb"), still, 0o644))
	names, paths, err := Recordings([]string{dir}, nil, nil)
	if want := []string{"set/hero#Walk", "set/hero#Back_Side"}; err != nil || !slices.Equal(names, want) {
		t.Fatalf("%v, names %q, want %q", err, names, want)
	}
	for i, want := range []string{"hero.glb#Walk", "hero.glb#Back/Side"} {
		if !strings.HasSuffix(paths[i], want) {
			t.Errorf("path %s, want %s", paths[i], want)
		}
		if _, _, err := OpenPerson(paths[i], feature.Human(), retarget.Human(), retarget.Reading{}); err != nil {
			t.Error(err)
		}
	}
	train, _ := must.Get2(BuildMotion([]string{dir}, MotionOptions{Skip: []string{"*Side"}, HeldOut: []string{}, Length: 60, Margin: 10}))(t)
	if len(train.Clips) != 2 || train.Clips[0].Name != "set/hero#Walk" {
		t.Errorf("%d clips, %s", len(train.Clips), train.Clips[0].Name)
	}
	guessed := slices.ContainsFunc(train.Warnings, func(w Warning) bool { return strings.Contains(w.What, "22 joints guessed") })
	if !guessed {
		t.Errorf("%v", train.Warnings)
	}
}
