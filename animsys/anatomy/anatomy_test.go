package anatomy

import (
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Joints that move nothing of a body play no part, and words tell sides apart.
func TestReadNames(t *testing.T) {
	for name, want := range map[string]reading{
		"ik_foot_l": {}, "lowerarm_twist_01_l": {}, "LeftForeArmRoll": {}, "LHipJoint": {}, "lButtock": {},
		"upper_arm.L": {armUpper, "Left", ""}, "LFingers": {fingerAny, "Left", ""}, "rfemur": {legUpper, "Right", ""}, "lowerback": {spinePart, "", ""},
		"leftShoulder": {shoulder, "Left", ""}, "Chest2": {spinePart, "", ""}, "RightHandThumb1": {unknown, "Right", ""}, "lradius": {armLower, "Left", ""},
		"neck": {neckPart, "", ""}, "pelvis": {hipsPart, "", ""}, "ball_r": {toe, "Right", ""}, "tail_02": {tailPart, "", ""}, "": {},
	} {
		if got := read(tokenise(name)); got != want {
			t.Errorf("%q is %v, want %v", name, got, want)
		}
	}
}

// A four-legged rig: the tail is found beside the limbs, with its second joint in the middle.
func TestGuessTail(t *testing.T) {
	s := &skel.Skeleton{}
	for _, f := range strings.Fields(`pelvis spine<pelvis chest<spine neck<chest head<neck tail_01<pelvis tail_02<tail_01 tail_03<tail_02
		thigh_l<pelvis calf_l<thigh_l foot_l<calf_l thigh_r<pelvis calf_r<thigh_r foot_r<calf_r
		upperarm_l<chest forearm_l<upperarm_l hand_l<forearm_l upperarm_r<chest forearm_r<upperarm_r hand_r<forearm_r`) {
		name, parent, _ := strings.Cut(f, "<")
		s.Names, s.Parents = append(s.Names, name), append(s.Parents, int16(s.Index(parent)))
		s.Offsets, s.EndSite = append(s.Offsets, m3.V(0.02, 0.1, 0.01)), append(s.EndSite, false)
	}
	at := make([]m3.Vec3, s.Len())
	for j, p := range s.Parents {
		if at[j] = s.Offsets[j]; p >= 0 {
			at[j] = at[j].Add(at[p])
		}
	}
	joints := Guess(s, at)
	for name, want := range map[string]string{"Hips": "pelvis", "Spine1": "chest", "Head": "head", "Tail": "tail_01", "Tail1": "tail_02",
		"LeftFoot": "foot_l", "RightForeArm": "forearm_r"} {
		if j, ok := joints[name]; !ok || s.Names[j] != want {
			t.Errorf("%s is %v (%v), want %s", name, j, ok, want)
		}
	}
	if _, ok := joints["Neck"]; ok {
		t.Error("a joint that is not there was found")
	}
}
