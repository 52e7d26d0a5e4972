package anatomy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mannequin/engine/m3"
)

// Arms that are straight at rest, from the collar to the fingers' end: without names the motion says which of the joints
// are the elbow and the wrist, and which a twist bone on the way.
func TestFindStraightArms(t *testing.T) {
	const plain = personText + `l_hand_tip l_hand 0.88 1.41 0
head_tip head 0 1.74 0.02
`
	twisted := strings.NewReplacer("l_forearm l_upperarm", "l_twist l_upperarm 0.32 1.41 0\nl_forearm l_twist", "l_hand l_forearm", "l_twist_2 l_forearm 0.585 1.41 0\nl_hand l_twist_2").Replace(plain)
	beside := plain
	for i, at := range []string{"l_upperarm 0.27", "l_upperarm 0.37", "l_forearm 0.54", "l_forearm 0.63"} {
		beside += fmt.Sprintf("l_twist_%d %s 1.41 0\n", i, at)
	}
	for name, text := range map[string]string{"plain": plain, "with twist bones": twisted, "with twist bones beside": beside} {
		m := parse(t, TwoLegs, strings.ReplaceAll(text, "0.46 1.41 -0.01", "0.46 1.41 0"))
		// In the motion arms hang, and elbows bend.
		bent := slices.Clone(m.at)
		for j, name := range m.s.Names {
			p, side := m.at[j], float32(1)
			if strings.HasPrefix(name, "r_") {
				side = -1
			}
			if out := side*p.X - 0.18; out > 0 && p.Y == 1.41 {
				down := min(out, 0.28)
				bent[j] = m3.V(side*(0.18+0.3*down), 1.41-0.95*down, 0.8*max(out-0.28, 0))
			}
		}
		was := slices.Clone(m.s.Names)
		want := map[string]string{}
		for _, side := range []string{"Left", "Right"} {
			for joint, is := range map[string]string{"Shoulder": "clavicle", "Arm": "upperarm", "ForeArm": "forearm", "Hand": "hand"} {
				want[side+joint] = strings.ToLower(side[:1]) + "_" + is
			}
		}
		for j := range m.s.Names {
			m.s.Names[j] = fmt.Sprintf("node%d", j)
		}
		got := Find(Rig{Skel: m.s, At: m.at, Poses: [][]m3.Vec3{bent}}).Uniform()
		for joint, is := range want {
			if j, ok := got[joint]; !ok || was[j] != is {
				t.Errorf("%s: %s is %v, want %s", name, joint, was[max(j, 0)], is)
			}
		}
	}
}

// Of four joints called arm the first may be the collar: lengths tell.
func TestFindNumberedArms(t *testing.T) {
	text := personText
	for k, name := range []string{"clavicle", "upperarm", "forearm", "hand"} {
		text = strings.ReplaceAll(text, "l_"+name, fmt.Sprintf("l_arm_%d", k+1))
	}
	m := parse(t, TwoLegs, text)
	got := find(m).Uniform()
	for joint, is := range map[string]string{"LeftShoulder": "l_arm_1", "LeftArm": "l_arm_2", "LeftForeArm": "l_arm_3", "RightHand": "r_arm_4"} {
		if j, ok := got[joint]; !ok || m.s.Names[j] != is {
			t.Errorf("%s is not %s: %v", joint, is, got)
		}
	}
}

// A guess never lies on the wrong side of a joint that a map or a file's table of bones gives.
func TestFindMappedOrder(t *testing.T) {
	m := parse(t, TwoLegs, strings.Replace(personText, "chest spine", "spine_2 spine 0 1.15 0\nchest spine_2", 1))
	got := Find(Rig{Skel: m.s, At: m.at, As: map[string]string{"Spine1": "spine", "LeftLeg": "l_foot"}}).Uniform()
	for _, joint := range []string{"Spine", "LowerBack", "LeftFoot"} {
		if j, ok := got[joint]; ok {
			t.Errorf("%s is %s", joint, m.s.Names[j])
		}
	}
	for joint, is := range map[string]string{"Spine1": "spine", "LeftLeg": "l_foot", "LeftUpLeg": "l_thigh", "RightFoot": "r_foot", "Head": "head"} {
		if j, ok := got[joint]; !ok || m.s.Names[j] != is {
			t.Errorf("%s is not %s: %v", joint, is, got)
		}
	}
}
