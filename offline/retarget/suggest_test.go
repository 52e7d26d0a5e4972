package retarget

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// rig makes a clip of one frame from lines of "child<parent" names.
func rig(t *testing.T, text string) *skel.Clip {
	t.Helper()
	s := &skel.Skeleton{}
	for _, f := range strings.Fields(text) {
		name, parent, _ := strings.Cut(f, "<")
		name, parent = strings.ReplaceAll(name, "~", " "), strings.ReplaceAll(parent, "~", " ")
		p := s.Index(parent)
		if p < 0 && parent != "" {
			t.Fatalf("%s: no parent %s", name, parent)
		}
		s.Names, s.Parents = append(s.Names, name), append(s.Parents, int16(p))
		s.Offsets, s.EndSite = append(s.Offsets, m3.V(0.02, 0.1, 0.01)), append(s.EndSite, false)
	}
	must.Do(t, s.Validate())
	return skel.NewClip(s, 30, 1)
}

// Skeletons of common tools, and which joints must come out for Hips, Spine, Spine1, Neck1, Head,
// and for the left side UpLeg, Leg, Foot, ToeBase, Shoulder, Arm, ForeArm, Hand.
func TestSuggestNames(t *testing.T) {
	for name, c := range map[string]struct{ rig, want string }{
		"Mixamo": {`mixamorig:Hips mixamorig:Spine<mixamorig:Hips mixamorig:Spine1<mixamorig:Spine mixamorig:Spine2<mixamorig:Spine1 mixamorig:Neck<mixamorig:Spine2 mixamorig:Head<mixamorig:Neck mixamorig:HeadTop_End<mixamorig:Head mixamorig:LeftEye<mixamorig:Head
			mixamorig:LeftShoulder<mixamorig:Spine2 mixamorig:LeftArm<mixamorig:LeftShoulder mixamorig:LeftForeArm<mixamorig:LeftArm mixamorig:LeftHand<mixamorig:LeftForeArm mixamorig:LeftHandThumb1<mixamorig:LeftHand mixamorig:LeftHandIndex1<mixamorig:LeftHand
			mixamorig:RightShoulder<mixamorig:Spine2 mixamorig:RightArm<mixamorig:RightShoulder mixamorig:RightForeArm<mixamorig:RightArm mixamorig:RightHand<mixamorig:RightForeArm
			mixamorig:LeftUpLeg<mixamorig:Hips mixamorig:LeftLeg<mixamorig:LeftUpLeg mixamorig:LeftFoot<mixamorig:LeftLeg mixamorig:LeftToeBase<mixamorig:LeftFoot mixamorig:LeftToe_End<mixamorig:LeftToeBase
			mixamorig:RightUpLeg<mixamorig:Hips mixamorig:RightLeg<mixamorig:RightUpLeg mixamorig:RightFoot<mixamorig:RightLeg mixamorig:RightToeBase<mixamorig:RightFoot`,
			"mixamorig:Hips mixamorig:Spine1 mixamorig:Spine2 mixamorig:Neck mixamorig:Head mixamorig:LeftUpLeg mixamorig:LeftLeg mixamorig:LeftFoot mixamorig:LeftToeBase mixamorig:LeftShoulder mixamorig:LeftArm mixamorig:LeftForeArm mixamorig:LeftHand"},
		"Unreal": {`root pelvis<root spine_01<pelvis spine_02<spine_01 spine_03<spine_02 clavicle_l<spine_03 upperarm_l<clavicle_l lowerarm_l<upperarm_l hand_l<lowerarm_l index_01_l<hand_l thumb_01_l<hand_l lowerarm_twist_01_l<lowerarm_l upperarm_twist_01_l<upperarm_l
			clavicle_r<spine_03 upperarm_r<clavicle_r lowerarm_r<upperarm_r hand_r<lowerarm_r neck_01<spine_03 head<neck_01 thigh_l<pelvis calf_l<thigh_l calf_twist_01_l<calf_l foot_l<calf_l ball_l<foot_l thigh_twist_01_l<thigh_l thigh_r<pelvis calf_r<thigh_r foot_r<calf_r ball_r<foot_r ik_foot_root<root ik_foot_l<ik_foot_root ik_hand_l<root`,
			"pelvis spine_02 spine_03 neck_01 head thigh_l calf_l foot_l ball_l clavicle_l upperarm_l lowerarm_l hand_l"},
		"Rigify": {`DEF-spine DEF-spine.001<DEF-spine DEF-spine.002<DEF-spine.001 DEF-spine.003<DEF-spine.002 DEF-spine.004<DEF-spine.003 DEF-spine.005<DEF-spine.004 DEF-spine.006<DEF-spine.005
			DEF-shoulder.L<DEF-spine.003 DEF-upper_arm.L<DEF-shoulder.L DEF-upper_arm.L.001<DEF-upper_arm.L DEF-forearm.L<DEF-upper_arm.L.001 DEF-hand.L<DEF-forearm.L DEF-f_index.01.L<DEF-hand.L
			DEF-shoulder.R<DEF-spine.003 DEF-upper_arm.R<DEF-shoulder.R DEF-forearm.R<DEF-upper_arm.R DEF-hand.R<DEF-forearm.R
			DEF-thigh.L<DEF-spine DEF-shin.L<DEF-thigh.L DEF-foot.L<DEF-shin.L DEF-toe.L<DEF-foot.L DEF-thigh.R<DEF-spine DEF-shin.R<DEF-thigh.R DEF-foot.R<DEF-shin.R DEF-toe.R<DEF-foot.R`,
			"DEF-spine DEF-spine.002 DEF-spine.003 DEF-spine.004 DEF-spine.006 DEF-thigh.L DEF-shin.L DEF-foot.L DEF-toe.L DEF-shoulder.L DEF-upper_arm.L DEF-forearm.L DEF-hand.L"},
		"MotionBuilder": {`Character1_Hips Character1_Spine<Character1_Hips Character1_Spine1<Character1_Spine Character1_Neck<Character1_Spine1 Character1_Head<Character1_Neck Character1_LeftShoulder<Character1_Spine1 Character1_LeftArm<Character1_LeftShoulder Character1_LeftForeArm<Character1_LeftArm Character1_LeftHand<Character1_LeftForeArm
			Character1_RightShoulder<Character1_Spine1 Character1_RightArm<Character1_RightShoulder Character1_RightForeArm<Character1_RightArm Character1_RightHand<Character1_RightForeArm Character1_LeftUpLeg<Character1_Hips Character1_LeftLeg<Character1_LeftUpLeg Character1_LeftFoot<Character1_LeftLeg Character1_LeftToeBase<Character1_LeftFoot
			Character1_RightUpLeg<Character1_Hips Character1_RightLeg<Character1_RightUpLeg Character1_RightFoot<Character1_RightLeg`,
			"Character1_Hips Character1_Spine Character1_Spine1 Character1_Neck Character1_Head Character1_LeftUpLeg Character1_LeftLeg Character1_LeftFoot Character1_LeftToeBase Character1_LeftShoulder Character1_LeftArm Character1_LeftForeArm Character1_LeftHand"},
		"Biped": {`Bip01 Bip01~Pelvis<Bip01 Bip01~Spine<Bip01~Pelvis Bip01~Spine1<Bip01~Spine Bip01~Neck<Bip01~Spine1 Bip01~Head<Bip01~Neck Bip01~L~Clavicle<Bip01~Neck Bip01~L~UpperArm<Bip01~L~Clavicle Bip01~L~Forearm<Bip01~L~UpperArm Bip01~L~Hand<Bip01~L~Forearm Bip01~L~Finger0<Bip01~L~Hand
			Bip01~R~Clavicle<Bip01~Neck Bip01~R~UpperArm<Bip01~R~Clavicle Bip01~R~Forearm<Bip01~R~UpperArm Bip01~R~Hand<Bip01~R~Forearm Bip01~L~Thigh<Bip01~Spine Bip01~L~Calf<Bip01~L~Thigh Bip01~L~Foot<Bip01~L~Calf Bip01~L~Toe0<Bip01~L~Foot Bip01~R~Thigh<Bip01~Spine Bip01~R~Calf<Bip01~R~Thigh Bip01~R~Foot<Bip01~R~Calf`,
			"Bip01~Spine Bip01~Spine1 Bip01~Neck - Bip01~Head Bip01~L~Thigh Bip01~L~Calf Bip01~L~Foot Bip01~L~Toe0 Bip01~L~Clavicle Bip01~L~UpperArm Bip01~L~Forearm Bip01~L~Hand"},
		"elbows and knees": {`Hips Chest<Hips Chest2<Chest Neck<Chest2 Head<Neck LeftCollar<Chest2 LeftShoulder<LeftCollar LeftElbow<LeftShoulder LeftWrist<LeftElbow RightCollar<Chest2 RightShoulder<RightCollar RightElbow<RightShoulder RightWrist<RightElbow
			LeftHip<Hips LeftKnee<LeftHip LeftAnkle<LeftKnee LeftToe<LeftAnkle RightHip<Hips RightKnee<RightHip RightAnkle<RightKnee`,
			"Hips Chest Chest2 Neck Head LeftHip LeftKnee LeftAnkle LeftToe LeftCollar LeftShoulder LeftElbow LeftWrist"},
		"bones of the body": {`root lowerback<root upperback<lowerback thorax<upperback lowerneck<thorax head<lowerneck lclavicle<thorax lhumerus<lclavicle lradius<lhumerus lwrist<lradius lhand<lwrist rclavicle<thorax rhumerus<rclavicle rradius<rhumerus rwrist<rradius
			lhipjoint<root lfemur<lhipjoint ltibia<lfemur lfoot<ltibia ltoes<lfoot rhipjoint<root rfemur<rhipjoint rtibia<rfemur rfoot<rtibia rtoes<rfoot`,
			"root upperback thorax lowerneck head lfemur ltibia lfoot ltoes lclavicle lhumerus lradius lwrist"},
	} {
		s := Suggest(name, rig(t, c.rig))
		if s.Err != nil {
			t.Errorf("%s: %v\n%s", name, s.Err, s)
		}
		keys := strings.Fields("Hips Spine Spine1 Neck1 Head LeftUpLeg LeftLeg LeftFoot LeftToeBase LeftShoulder LeftArm LeftForeArm LeftHand")
		for i, want := range strings.Fields(c.want) {
			want = strings.ReplaceAll(strings.TrimPrefix(want, "-"), "~", " ")
			if got := s.Profile.Joints[keys[i]]; got != want {
				t.Errorf("%s: %s is %q, want %q", name, keys[i], got, want)
			}
		}
		for _, limb := range strings.Fields("UpLeg Leg Foot Arm ForeArm Hand") {
			if s.Profile.Joints["Right"+limb] == "" || s.Profile.Joints["Right"+limb] == s.Profile.Joints["Left"+limb] {
				t.Errorf("%s: Right%s is %q", name, limb, s.Profile.Joints["Right"+limb])
			}
		}
		roundTrip(t, name, s)
	}
}

// roundTrip writes a usable suggestion as a profile and reads it again.
func roundTrip(t *testing.T, name string, s *Suggestion) {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, s.Write(&b))
	p, err := ReadProfile(name, b.Bytes())
	if s.Err != nil {
		return
	}
	if err != nil || !reflect.DeepEqual(p, s.Profile) {
		t.Errorf("%s: %v; read back %+v\nwritten %s", name, err, p, b.String())
	}
}

// A skeleton that is no person's is reported, with the joints that were found.
func TestSuggestIncomplete(t *testing.T) {
	s := Suggest("one-legged", rig(t, "Hips Spine<Hips LeftUpLeg<Hips LeftLeg<LeftUpLeg Box\n<Hips"))
	if s.Err == nil || !strings.Contains(s.Err.Error(), "joints.LeftFoot is missing") || s.Profile.Joints["LeftUpLeg"] != "LeftUpLeg" {
		t.Errorf("%v, %+v", s.Err, s.Profile)
	}
	text := s.String()
	for _, want := range []string{"LeftUpLeg        LeftUpLeg", "not found: LeftFoot, ", "not used: Spine, Box"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var b bytes.Buffer
	if err := s.Write(&b); err != nil || !strings.Contains(b.String(), "# it cannot be used as it is: joints.LeftFoot") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// A guess leaves to the motion what the motion shows.
func TestSuggestKeepsRestPose(t *testing.T) {
	if s := Suggest("plain", disguise(walk(200, 12), nil, 1)); s.Profile.Axes != nil || s.Profile.Up != "" || len(s.Missing) > 0 {
		t.Errorf("axes %v, up %q, missing %v", s.Profile.Axes, s.Profile.Up, s.Missing)
	}
	still := skel.NewClip(Human(), 60, 100)
	rng := rand.New(rand.NewPCG(1, 4))
	for i := range still.Rot {
		if !still.Skel.EndSite[i%still.Skel.Len()] {
			v := func() float32 { return 0.04 * (rng.Float32() - 0.5) }
			still.Rot[i] = m3.FromRotationVector(m3.V(v(), v(), v()))
		}
	}
	if _, rep := run(t, job(still, Named("cmu"))); rep.Basis != "rest pose" {
		t.Errorf("frames by %s from a clip with hardly any motion", rep.Basis)
	}
}
