package fbx

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
	"game_sausage", "mixed_inherit_mode", // joints do not inherit scales, which glTF cannot say
}

// What is read is as FBX2glTF reads it, by Autodesk's FBX SDK.
func TestAsAutodesk(t *testing.T) {
	program, err := exec.LookPath("FBX2glTF")
	if err != nil {
		t.Skip("needs FBX2glTF (the npm package fbx2gltf)")
	}
	o := &autodesk{program, t.TempDir(), map[string]string{}}
	t.Run("motions", o.motions)
	t.Run("characters", o.characters)
}

// autodesk converts FBX files to GLB, each once.
type autodesk struct {
	program, dir string
	done         map[string]string
}

// convert returns the path of a file's GLB, or "" if it cannot be converted. rate is how often animations are
// sampled per second: 24, 30 or 60.
func (o *autodesk) convert(t *testing.T, file string, rate int) string {
	key := fmt.Sprint(rate, file)
	if out, ok := o.done[key]; ok {
		return out
	}
	out := filepath.Join(o.dir, strconv.Itoa(len(o.done)))
	text, err := exec.Command(o.program, "--binary", "--anim-framerate", fmt.Sprintf("bake%d", rate), "--input", file, "--output", out).CombinedOutput()
	if out += ".glb"; err != nil {
		t.Logf("%s: FBX2glTF: %v %.100s", filepath.Base(file), err, text)
		out = ""
	}
	o.done[key] = out
	return out
}

// Joints are within a millimetre of where they are in theirs.
func (o *autodesk) motions(t *testing.T) {
	dir := mocapdata.Dir(t)
	compared := 0
	for _, pattern := range samples {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range files {
			ours, err := Open(file)
			if err != nil {
				continue
			}
			differs := slices.ContainsFunc(other, func(part string) bool { return strings.Contains(file, part) })
			rate := 60
			if fps := ours[0].Clip.FPS; fps == 24 || fps == 30 {
				rate = int(fps)
			}
			out := o.convert(t, file, rate)
			if out == "" {
				continue
			}
			theirs, err := skin.OpenMotions(out)
			if err != nil {
				t.Logf("%s: %v", filepath.Base(file), err)
				continue
			}
			for i := range ours {
				for k := range theirs {
					if ours[i].Name != theirs[k].Name || differs && slices.Contains([]string{"deform", "Take 001"}, ours[i].Name) {
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
	if t.Logf("%d animations compared", compared); compared < 230 {
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
