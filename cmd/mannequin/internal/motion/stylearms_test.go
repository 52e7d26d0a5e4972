package motion

import (
	"slices"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/testcli"
)

// A forearm that drops for five frames is eased, and other joints stay; a walk passes to the bit.
func TestArmsEase(t *testing.T) {
	takes, _ := testcli.Takes()
	c := takes[0].Clip
	sk := c.Skel
	elbow := sk.Index("RightForeArm")
	for _, drops := range []bool{false, true} {
		a := newArms(sk, float32(c.FPS))
		pos, rot, model := make([]m3.Vec3, sk.Len()), make([]m3.Quat, sk.Len()), make([]m3.Xform, sk.Len())
		var hand [3]m3.Vec3 // from the elbow
		var push float32
		for f := range 60 {
			p, q := c.Frame(f)
			copy(pos, p)
			copy(rot, q)
			if drops && f >= 30 && f < 35 {
				rot[elbow] = rot[elbow].Mul(m3.FromRotationVector(m3.V(0, 0.3, 0.3)))
			}
			was := slices.Clone(rot)
			a.run(pos, rot)
			if !slices.Equal(pos, p) {
				t.Fatalf("frame %d: places have changed", f)
			}
			for j := range rot {
				name := sk.Names[j]
				if arm := name == "RightForeArm" || strings.HasPrefix(name, "RightHand"); rot[j] == was[j] || drops && f >= 30 && (arm || rot[j].Angle(was[j]) < 1e-3) {
					continue
				}
				t.Fatalf("frame %d: %s has changed", f, name)
			}
			sk.LocalToModel(model, pos, rot)
			hand = [3]m3.Vec3{hand[1], hand[2], model[elbow+1].Pos.Sub(model[elbow].Pos)}
			if f >= 2 {
				push = max(push, hand[0].Add(hand[2]).Sub(hand[1].Scale(2)).Len()*float32(c.FPS*c.FPS))
			}
		}
		if most := float32(1.3 * armPush); push > most || drops && push < 0.5*armPush {
			t.Errorf("drops %t: the hand is accelerated by %.1f m/s², want up to %.1f", drops, push, most)
		}
	}
}
