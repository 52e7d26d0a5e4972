package motion

import (
	"math"
	"strings"

	"mannequin/animsys/blend"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// armPush is the acceleration of a bone's end beyond which an arm jumps, m/s². Arms of runners hardly reach it.
const armPush = 25

// arms eases arms that jump: a style that is translated frame by frame may drop a hand and raise it again
// within a tenth of a second.
type arms struct {
	ease *blend.Inertial
	root [1]m3.Xform // the world
}

// newArms returns the ease of motion on a skeleton at fps frames per second.
func newArms(sk *skel.Skeleton, fps float32) *arms {
	a := &arms{ease: blend.NewInertial(1, sk.Parents), root: [1]m3.Xform{m3.Identity}}
	a.ease.DT = 1 / fps
	bone := make([]float32, sk.Len())
	for j, p := range sk.Parents {
		if p >= 0 {
			bone[p] = max(bone[p], sk.Offsets[j].Len())
		}
	}
	a.ease.Turn = make([]float32, sk.Len())
	for j, name := range sk.Names {
		a.ease.Turn[j] = float32(math.Inf(1))
		if side := strings.TrimPrefix(strings.TrimPrefix(name, "Left"), "Right"); side == "Arm" || side == "ForeArm" || side == "Hand" {
			a.ease.Turn[j] = armPush / max(bone[j], 0.05)
		}
	}
	return a
}

// run eases the next pose, in place.
func (a *arms) run(pos []m3.Vec3, rot []m3.Quat) { a.ease.Run(pos, rot, a.root[:], 0, 1) }
