package skel

import (
	"encoding/json"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// The form is that of model files: it must not change.
func TestSkeletonJSON(t *testing.T) {
	s := &Skeleton{Names: []string{"Hips", "HipsSite"}, Parents: []int16{-1, 0}, Offsets: []m3.Vec3{{}, {X: 1, Y: 2.5, Z: -3}}, EndSite: []bool{false, true}}
	b := must.Get(json.Marshal(s))(t)
	if want := `{"names":["Hips","HipsSite"],"parents":[-1,0],"offsets":[[0,0,0],[1,2.5,-3]],"end_sites":[false,true]}`; string(b) != want {
		t.Errorf("%s, want %s", b, want)
	}
	var back Skeleton
	must.Do(t, json.Unmarshal(b, &back))
	if again, err := json.Marshal(&back); err != nil || string(again) != string(b) {
		t.Errorf("comes back as %s, %v", again, err)
	}
	if json.Unmarshal([]byte(`{"offsets":[[1,"x"]]}`), &back) == nil {
		t.Error("an offset that is no number was read")
	}
}
