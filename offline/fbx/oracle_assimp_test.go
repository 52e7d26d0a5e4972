package fbx

import (
	"os/exec"
	"path/filepath"
	"testing"

	"mannequin/animsys/skin"
	"mannequin/internal/testing/mocapdata"
)

// Joints are within a millimetre of where assimp has them, in all frames, in the sets of animals and people. Elsewhere
// Blender and Autodesk's SDK are the judges: assimp reads no files of version 6, takes one layer of several, knows
// straight curves only, and loses nodes for pivots and rotations before the joints' own as it writes glTF (Mixamo's).
func TestAsAssimp(t *testing.T) {
	program, err := exec.LookPath("assimp")
	if err != nil {
		t.Skip("needs assimp")
	}
	dir, out := mocapdata.Dir(t), filepath.Join(t.TempDir(), "a.glb")
	read, animations, frames, worst := 0, 0, 0, 0.0
	for _, pattern := range []string{"quaternius-fbx/*.fbx", "mesh2motion/cmu-fbx/*.fbx", "formats/fbx-isaacgym/*.fbx", "formats/fbx-assimp/*.fbx"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range files {
			base := filepath.Base(file)
			ours, err := Open(file)
			if err != nil {
				continue
			}
			if said, err := exec.Command(program, "export", file, out, "-fglb2").CombinedOutput(); err != nil {
				t.Errorf("%s: assimp: %v %.200s", base, err, said)
				continue
			}
			theirs, err := skin.OpenMotions(out)
			if err != nil {
				t.Errorf("%s: %v", base, err)
				continue
			}
			read++
			for _, a := range ours {
				for _, b := range theirs {
					if a.Name != b.Name {
						continue
					}
					off, joint, frame, joints := apart(a.Clip, b.Clip.Scaled(0.01)) // it leaves lengths in centimetres
					if worst = max(worst, off); off > 1e-3 || joints < 3 {
						t.Errorf("%s, %s: joint %s is off by %.4f m in frame %d, of %d joints", base, a.Name, joint, off, frame, joints)
					}
					animations++
					frames += a.Clip.Frames
				}
			}
		}
	}
	if t.Logf("%d files, %d animations, %d frames, off by %.2g m at most", read, animations, frames, worst); animations < 90 {
		t.Error("fewer were compared than there are")
	}
}
