package skel

import (
	"encoding/json"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// The skeleton of a model file is refused, or comes back as it was written and can be posed and
// mirrored.
func FuzzUnmarshalJSON(f *testing.F) {
	f.Add([]byte(`{"names":["Hips","LeftArm","RightArm","HipsSite"],"parents":[-1,0,0,0],"offsets":[[0,0,0],[1,2.5,-3],[-1,2.5,-3],[0,1,0]],"end_sites":[false,false,false,true]}`))
	f.Add([]byte(`{"names":["a"],"parents":[32767],"offsets":[[1e38,-1e38,0]],"end_sites":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s, again Skeleton
		if json.Unmarshal(text, &s) != nil || s.Validate() != nil {
			return
		}
		want := must.Get(json.Marshal(&s))(t)
		must.Do(t, json.Unmarshal(want, &again))
		if got := must.Get(json.Marshal(&again))(t); string(got) != string(want) {
			t.Fatalf("%s comes back as %s", want, got)
		}
		c := NewClip(&s, 60, 1)
		pos, rot := c.Frame(0)
		model := make([]m3.Xform, s.Len())
		s.LocalToModel(model, pos, rot)
		if m, err := NewMirror(&s); err == nil {
			c.Mirrored(m)
		}
	})
}
