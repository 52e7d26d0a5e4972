package fbx

import (
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
)

// samples are recordings' folders with FBX files.
var samples = []string{"formats/fbx-*/*.fbx", "quaternius-fbx/*.fbx", "mesh2motion/cmu-fbx/*.fbx", "local-only/*.fbx"}

// other are files that FBX2glTF shows otherwise, and why: parts of its name.
var other = []string{
	"auto_bias", "tcb", "velocity", // tangents that are read as automatic ones
	"extrapolat",                         // what comes before and after the keys
	"game_sausage", "mixed_inherit_mode", // glTF cannot hold scales that are not inherited
}

// Joints are within a millimetre of where FBX2glTF puts them, which reads by Autodesk's FBX SDK.
func TestAsAutodesk(t *testing.T) {
	program, err := exec.LookPath("FBX2glTF")
	if err != nil {
		t.Skip("needs FBX2glTF (the npm package fbx2gltf)")
	}
	dir := mocapdata.Dir(t)
	compared := 0
	for _, pattern := range samples {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range files {
			ours, err := Open(file)
			if err != nil || slices.ContainsFunc(other, func(part string) bool { return strings.Contains(file, part) }) {
				continue
			}
			rate := "bake60"
			switch ours[0].Clip.FPS {
			case 24:
				rate = "bake24"
			case 30:
				rate = "bake30"
			}
			out := filepath.Join(t.TempDir(), "a")
			text, err := exec.Command(program, "--binary", "--anim-framerate", rate, "--input", file, "--output", out).CombinedOutput()
			if err != nil {
				t.Logf("%s: FBX2glTF: %v %.100s", filepath.Base(file), err, text)
				continue
			}
			theirs, err := skin.OpenMotions(out + ".glb")
			if err != nil {
				t.Logf("%s: %v", filepath.Base(file), err)
				continue
			}
			for i := range ours {
				for k := range theirs {
					if ours[i].Name != theirs[k].Name {
						continue
					}
					worst, joint, frame, joints := apart(ours[i].Clip, theirs[k].Clip)
					if joints == 0 {
						continue
					}
					compared++
					if worst > 1e-3 {
						t.Errorf("%s, %s: joint %s is off by %.4f m in frame %d (%d joints, %d and %d frames at %g and %g)", filepath.Base(file), ours[i].Name,
							joint, worst, frame, joints, ours[i].Clip.Frames, theirs[k].Clip.Frames, ours[i].Clip.FPS, theirs[k].Clip.FPS)
					}
				}
			}
		}
	}
	if t.Logf("%d animations compared", compared); compared < 180 {
		t.Errorf("only %d animations were compared", compared)
	}
}

// apart returns the largest distance of joints with equal names at equal times.
func apart(a, b *skel.Clip) (worst float64, joint string, frame, joints int) {
	pairs := [][2]int{}
	for j, name := range a.Skel.Names {
		for k, other := range b.Skel.Names {
			if name == other {
				pairs = append(pairs, [2]int{j, k})
			}
		}
	}
	x, y := make([]m3.Xform, a.Skel.Len()), make([]m3.Xform, b.Skel.Len())
	for f := range a.Frames {
		g := float64(f) * b.FPS / a.FPS
		if math.Abs(g-math.Round(g)) > 1e-6 || int(math.Round(g)) >= b.Frames {
			continue
		}
		pos, rot := a.Frame(f)
		a.Skel.LocalToModel(x, pos, rot)
		pos, rot = b.Frame(int(math.Round(g)))
		b.Skel.LocalToModel(y, pos, rot)
		for _, p := range pairs {
			if d := float64(x[p[0]].Pos.Dist(y[p[1]].Pos)); d > worst {
				worst, joint, frame = d, a.Skel.Names[p[0]], f
			}
		}
	}
	return worst, joint, frame, len(pairs)
}
