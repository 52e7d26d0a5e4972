package retarget

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mannequin/animsys/skin"
	"mannequin/internal/testing/must"
)

// A file without a name corrects a guess: its lines come first, and an empty one leaves a joint out. The
// same file is a map of skins.
func TestOverrides(t *testing.T) {
	c := walk(60, 3)
	head, toe := c.Skel.Index("Head"), c.Skel.Index("LeftToeBase")
	c.Skel.Names[c.Skel.Index("LeftArm")] = "q"
	c.Skel.Names[head], c.Skel.Names[toe] = "LeftArm", "" // misleading, and none
	text := "Head = \"LeftArm\"\nLeftArm = \"q\"\nLeftToeBase = \"#" + strconv.Itoa(toe) + "\"\nNeck1 = \"\"\n"
	for _, form := range []string{text, "rest_frames = 2\n[joints]\n" + text} {
		path := filepath.Join(t.TempDir(), "fix.toml")
		must.Do(t, os.WriteFile(path, []byte(form), 0o644))
		p := must.Get(OpenProfile(path))(t)
		if p.Name != "" || p.Validate() == nil {
			t.Errorf("%+v is a whole profile", p)
		}
		whole := must.Get(p.Completed(c))(t)
		if j := whole.Joints; j["Head"] != "LeftArm" || j["LeftArm"] != "q" || j["LeftToeBase"] != "#"+strconv.Itoa(toe) || j["Neck1"] != "" || j["LeftUpLeg"] != "LeftUpLeg" || whole.RestFrames != p.RestFrames {
			t.Errorf("%+v", whole)
		}
		r := Default()
		r.Source, r.Profile = c, whole
		if _, rep, err := r.Run(); err != nil || rep.MeanCM > 1 {
			t.Errorf("%v, %+v", err, rep)
		}
		if m := must.Get(skin.OpenMap(path))(t); m["LeftArm"] != "q" || len(m) != 4 {
			t.Errorf("as a map of skins: %v", m)
		}
	}
	p := must.Get(ReadProfile("bad", []byte("Head = \"skull\"\n")))(t)
	if _, err := p.Completed(c); err == nil || !strings.Contains(err.Error(), `joints.Head of the map: the file has no joint "skull"`) {
		t.Error(err)
	}
	if p, err := (*Profile)(nil).Completed(c); p != nil || err != nil {
		t.Error(p, err)
	}
}
