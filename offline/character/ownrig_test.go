package character

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skin"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/fbx"
)

// A motion that an FBX has of its own, told on joints with other axes, comes back onto the same character: motion and
// rig rest alike, where the meshes were bound, whatever pose the nodes have. People whose joints only turn are where
// the file has them.
func TestOwnRigOfFBX(t *testing.T) {
	dir := mocapdata.Dir(t)
	for _, name := range []string{"quaternius-fbx/Animated Human.fbx", "quaternius-fbx/Zombie.fbx"} {
		file := filepath.Join(dir, name)
		m := must.Get(fbx.Open(file))(t)[1]
		rig := must.Get(OpenRig(file))(t)
		clip := (&skin.Motion{Clip: m.Clip, Rest: m.Rest}).AtRest()
		onto, fit, err := skin.OntoRig(rig, clip, slices.Repeat([]m3.Quat{m3.Ident}, clip.Skel.Len()))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		data, _, err := AddMotions(file, []skin.Motion{{Name: "own", Clip: onto}}, skin.AddOptions{})
		must.Do(t, err)
		all := must.Get(skin.ReadMotions(file, data))(t)
		is := all[slices.IndexFunc(all, func(m skin.Motion) bool { return m.Name == "own" })].Clip
		a, b, far := make([]m3.Xform, is.Skel.Len()), make([]m3.Xform, m.Clip.Skel.Len()), float32(0)
		joints := 0
		for f := range min(is.Frames, m.Clip.Frames) {
			is.Model(a, f)
			m.Clip.Model(b, f)
			for j, name := range m.Clip.Skel.Names {
				if i := is.Skel.Index(name); i >= 0 {
					joints++
					far = max(far, a[i].Pos.Dist(b[j].Pos))
				}
			}
		}
		if t.Logf("%s: of %d joints, %d turned, one is %.2g m off", filepath.Base(strings.TrimSuffix(name, ".fbx")), joints, fit.Turned, far); far > 1e-3 || joints < 40*m.Clip.Frames || fit.Turned < 40 {
			t.Errorf("%s: a joint is %.4f m off; %d joints, scale %g", name, far, joints, fit.Scale)
		}
	}
}
