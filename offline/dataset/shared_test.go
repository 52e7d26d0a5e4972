package dataset

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/internal/testing/must"
)

// Sets that are read from a shared file are those that were written to it.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rows")
	train, heldOut := must.Get2(BuildMANN(herd(t), Options{HeldOut: []string{"test"}}))(t)
	rest := must.Get(Share(path, train, heldOut))(t)
	gotTrain, gotHeldOut := new(MANN), new(MANN)
	must.Do(t, OpenShared(path, rest, gotTrain, gotHeldOut))
	if len(train.X) == 0 || !reflect.DeepEqual(gotTrain, train) || !reflect.DeepEqual(gotHeldOut, heldOut) {
		t.Error("another set of a quadruped")
	}
	if n := len(train.X) + len(train.Y) + len(heldOut.X) + len(heldOut.Y); len(rest) > n {
		t.Errorf("%d bytes beside the file for %d numbers in it", len(rest), n)
	}

	m := stepping(t, 200, 30, []int{0, 1, 2, 3}, []int{0, 0, 0, 0})
	m.cut(MotionOptions{}.withDefaults())
	m.normalise(1)
	rest = must.Get(Share(path, m, m))(t)
	for _, got := range []*MotionSet{new(MotionSet), m} {
		again := new(MotionSet)
		want := *m
		must.Do(t, OpenShared(path, rest, got, again))
		if !reflect.DeepEqual(got, &want) || !reflect.DeepEqual(again, &want) {
			t.Error("another set of people's motion")
		}
	}

	posed := *m
	posed.Clips = []MotionClip{{Poses: new(skel.Clip)}}
	must.Fail(Share(filepath.Join(dir, "poses"), &posed))(t, "train without --rows")

	b := must.Get(os.ReadFile(path))(t)
	for _, other := range [][]byte{b[:len(b)/2], append(b, 0, 0, 0, 0), nil} {
		must.Do(t, os.WriteFile(path, other, 0o666))
		if err := OpenShared(path, rest, new(MotionSet), new(MotionSet)); err == nil || !strings.Contains(err.Error(), "a disk that all processes share") {
			t.Errorf("%d of %d bytes: %v", len(other), len(b), err)
		}
	}
}
