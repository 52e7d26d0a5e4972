package anatomy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// A person with the ends of its bones and a finger.
const fingersText = personText + `l_toe_tip l_toe 0.09 0.01 0.2
head_tip head 0 1.74 0.02
l_finger l_hand 0.79 1.41 0
l_finger_2 l_finger 0.82 1.41 0
`

// schemes are names of joints as programs, studios and languages give them, in the order hips, spine, chest, neck, head and
// its tip, collar, upper arm, forearm, hand, two fingers, thigh, shin, foot, toe and its tip. $ is the side.
var schemes = map[string]string{
	"Xsens":            "Pelvis L5 T12 Neck Head HeadTop $Shoulder $UpperArm $Forearm $Hand $Finger1 $Finger2 $UpperLeg $LowerLeg $Foot $Toe $ToeTip|Left Right",
	"Second Life":      "mPelvis mTorso mChest mNeck mHead mSkull mCollar$ mShoulder$ mElbow$ mWrist$ mHandMiddle1$ mHandMiddle2$ mHip$ mKnee$ mAnkle$ mFoot$ mToe$|Left Right",
	"controls":         "hips_ctrl spine_ctrl chest_ctrl neck_ctrl head_ctrl head_tip_ctrl $_clavicle_ctrl $_upperarm_ctrl $_forearm_ctrl $_hand_ctrl $_index1_ctrl $_index2_ctrl $_thigh_ctrl $_calf_ctrl $_foot_ctrl $_toe_ctrl $_toe_tip_ctrl|l r",
	"fingers only":     "b1 b2 b3 b4 b5 b6 b7$ b8$ b9$ b10$ index_1_$ index_2_$ b11$ b12$ b13$ b14$ b15$|a z",
	"Maya":             "Root_M Spine1_M Chest_M Neck_M Head_M HeadEnd_M Scapula_$ Shoulder_$ Elbow_$ Wrist_$ IndexFinger1_$ IndexFinger2_$ Hip_$ Knee_$ Ankle_$ Toes_$ ToesEnd_$|L R",
	"SMPL":             "Pelvis Spine1 Spine3 Neck Head Jaw $_Collar $_Shoulder $_Elbow $_Wrist $_Hand $_Index1 $_Hip $_Knee $_Ankle $_Foot $_BigToe|L R",
	"MakeHuman":        "root spine05 spine01 neck01 head special01 clavicle.$ upperarm01.$ lowerarm01.$ wrist.$ finger2-1.$ finger2-2.$ upperleg01.$ lowerleg01.$ foot.$ toe2-1.$ toe2-2.$|L R",
	"Character Studio": "CATRigPelvis CATRigSpine1 CATRigRibcage CATRigNeck1 CATRigHead CATRigHeadNub CATRig$ArmCollarbone CATRig$Arm1 CATRig$Arm2 CATRig$ArmPalm CATRig$ArmDigit21 CATRig$ArmDigit22 CATRig$Leg1 CATRig$Leg2 CATRig$LegAnkle CATRig$LegDigit11 CATRig$LegDigit12|L R",
	"Motive":           "S_Hip S_Ab S_Chest S_Neck S_Head S_HeadTop S_$Shoulder S_$UArm S_$FArm S_$Hand S_$Index1 S_$Index2 S_$Thigh S_$Shin S_$Foot S_$Toe S_$ToeTip|L R",
	"German":           "Becken Wirbel Brust Hals Kopf Kopf_Ende Schluesselbein.$ Oberarm.$ Unterarm.$ Hand.$ Zeigefinger.$ Zeigefinger2.$ Oberschenkel.$ Unterschenkel.$ Fuss.$ Zehen.$ Zehen_Ende.$|L R",
	"Chinese":          "骨盆 脊柱 胸 脖子 头 头顶 $锁骨 $上臂 $前臂 $手 $手指1 $手指2 $大腿 $小腿 $脚 $脚趾 $脚趾尖|左 右",
}

// Whatever joints are called, they play the same parts.
func TestFindSchemes(t *testing.T) {
	ours := strings.Fields("hips spine chest neck head head_tip clavicle upperarm forearm hand finger finger_2 thigh calf foot toe toe_tip")
	for scheme, text := range schemes {
		parts := strings.Split(text, "|")
		names, sides := strings.Fields(parts[len(parts)-2]), strings.Fields(parts[len(parts)-1])
		m := parse(t, TwoLegs, fingersText)
		was := slices.Clone(m.s.Names)
		for j, name := range was {
			side := ""
			for i, prefix := range []string{"l_", "r_"} {
				if cut, ok := strings.CutPrefix(name, prefix); ok {
					name, side = cut, sides[i]
				}
			}
			if k := slices.Index(ours, name); k >= 0 {
				m.s.Names[j] = strings.ReplaceAll(names[k], "$", side)
			} else {
				m.s.Names[j] = "root" + fmt.Sprint(j)
			}
		}
		wantPerson(t, scheme, find(m).Uniform(), was)
	}
}

// Of a group and the joint that stands in it, the joint moves what hangs on it, whatever the group is called.
func TestFindGroups(t *testing.T) {
	for _, group := range []string{"%s_grp", "null_%s", "%s_$AssimpFbx$_PreRotation", "%s"} {
		var text strings.Builder
		for line := range strings.Lines(strings.TrimSpace(personText) + "\n") {
			f := strings.SplitN(line, " ", 3)
			if f[1] == "-" {
				text.WriteString(line)
				continue
			}
			within := f[0] + "_group"
			fmt.Fprintf(&text, "%s %s %s%s %s %s", within, f[1], f[2], f[0], within, f[2])
		}
		m := parse(t, TwoLegs, text.String())
		was := slices.Clone(m.s.Names)
		for j, name := range was {
			if name, ok := strings.CutSuffix(name, "_group"); ok {
				m.s.Names[j] = fmt.Sprintf(group, name)
			}
		}
		wantPerson(t, group, find(m).Uniform(), was)
	}
}

// Groups need not stand where their joint does, and may be called as it is: the motion, the mesh or the name tells which of them is
// the joint.
func TestFindOffsetGroups(t *testing.T) {
	for _, group := range []string{"%s_grp", "Group_%s", "%s_$AssimpFbx$_PreRotation", "%s", "%s_jnt"} {
		for _, share := range []float32{0, 0.5, 1} {
			for _, below := range []bool{false, true} {
				for _, by := range []string{"motion", "mesh", "name"} {
					if by == "name" && (group == "%s" || group == "%s_jnt") {
						continue
					}
					what := fmt.Sprintf("%s at %g, below %v, by %s", group, share, below, by)
					plain := parse(t, TwoLegs, personText)
					m := model{s: &skel.Skeleton{}}
					var was []string
					var r Rig
					put := func(name string, parent int, at m3.Vec3, group bool) int {
						m.s.Names, was = append(m.s.Names, name), append(was, name)
						m.s.Parents, m.s.Offsets, m.s.EndSite = append(m.s.Parents, int16(parent)), append(m.s.Offsets, m3.Vec3{}), append(m.s.EndSite, false)
						m.at = append(m.at, at)
						if group {
							was[len(was)-1] = "group"
						}
						if by == "motion" {
							r.Still = append(r.Still, group)
						}
						if by == "mesh" {
							b := Box{}
							if !group {
								b.Add(at)
							}
							r.Mesh = append(r.Mesh, b)
						}
						return len(was) - 1
					}
					last := map[string]int{}
					for j, name := range plain.s.Names {
						up, from := -1, plain.at[j]
						if p := int(plain.s.Parents[j]); p >= 0 {
							up, from = last[plain.s.Names[p]], plain.at[p]
						}
						called, leads := fmt.Sprintf(group, name), slices.IndexFunc(plain.s.Parents, func(p int16) bool { return int(p) == j })
						switch {
						case name == "root":
							last[name] = put(name, up, from, false)
						case !below:
							last[name] = put(name, put(called, up, from.Lerp(plain.at[j], share), true), plain.at[j], false)
						case leads >= 0:
							last[name] = put(called, put(name, up, plain.at[j], false), plain.at[j].Lerp(plain.at[leads], 0.9*share), true)
						default:
							last[name] = put(name, up, plain.at[j], false)
						}
					}
					seen := map[string]bool{} // as the readers name joints
					for j, name := range m.s.Names {
						for i := 2; seen[m.s.Names[j]]; i++ {
							m.s.Names[j] = fmt.Sprintf("%s_%d", name, i)
						}
						seen[m.s.Names[j]] = true
					}
					r.Skel, r.At = m.s, m.at
					b := Find(r)
					wantPerson(t, what, b.Uniform(), was)
					for _, j := range append(slices.Clone(b.Spine), b.Neck...) {
						if was[j] == "group" {
							t.Errorf("%s: %s is of the trunk", what, m.s.Names[j])
						}
					}
				}
			}
		}
	}
}

// Joints that are called the same and both turn, or both move the mesh, are no groups, and neither are numbered joints of a trunk.
func TestFindNoGroups(t *testing.T) {
	for names, still := range map[string][]bool{"spine_2 spine_3": nil, "spine.001 spine.002": nil, "spine_grp spine_2": {false, false}} {
		m := parse(t, TwoLegs, strings.NewReplacer("chest spine 0 1.3 0", "A spine 0 1.15 0\nB A 0 1.22 0\nchest B 0 1.3 0").Replace(personText))
		ab := strings.Fields(names)
		m.s.Names[m.s.Index("A")], m.s.Names[m.s.Index("B")] = ab[0], ab[1]
		r := Rig{Skel: m.s, At: m.at}
		if still != nil {
			r.Still = make([]bool, m.s.Len())
		}
		if b := Find(r); len(b.Spine) != 4 {
			t.Errorf("%s: a spine of %v", names, b.Spine)
		}
	}
}

// Joints that are all called the same, or not at all, are no groups of one another, whatever the motion.
func TestFindOneName(t *testing.T) {
	for _, name := range []string{"", "bone", "Bone.001"} {
		m := parse(t, TwoLegs, personText)
		was := slices.Clone(m.s.Names)
		r := Rig{Skel: m.s, At: m.at, Still: make([]bool, m.s.Len())}
		for j := range was {
			if m.s.Names[j] = name; name != "" && j > 0 {
				m.s.Names[j] = fmt.Sprintf("%s_%d", name, j+1)
			}
			r.Still[j] = was[j] != "l_calf" && was[j] != "r_forearm" && was[j] != "chest"
		}
		wantPerson(t, name, Find(r).Uniform(), was)
	}
}

// wantPerson checks which joint was found for each joint of a person. got has indices by standard name; was has the names of personText, by index.
func wantPerson(t *testing.T, what string, got map[string]int, was []string) {
	t.Helper()
	want := map[string]string{"Hips": "hips", "Head": "head"}
	for _, side := range []string{"Left", "Right"} {
		for joint, is := range map[string]string{"Shoulder": "clavicle", "Arm": "upperarm", "ForeArm": "forearm", "Hand": "hand", "UpLeg": "thigh", "Leg": "calf", "Foot": "foot", "ToeBase": "toe"} {
			want[side+joint] = strings.ToLower(side[:1]) + "_" + is
		}
	}
	for joint, is := range want {
		if j, ok := got[joint]; !ok {
			t.Errorf("%s: no joint is %s, want %s", what, joint, is)
		} else if was[j] != is {
			t.Errorf("%s: %s is %s, want %s", what, joint, was[j], is)
		}
	}
}

// Fins, ears and the like at the end of a chain are ends of bones, as mano_fin, and make no fin of a leg.
func TestFindEndsCalledFin(t *testing.T) {
	m := parse(t, TwoLegs, personText+"l_punta_fin l_toe 0.09 0.01 0.2\n")
	was := slices.Clone(m.s.Names)
	for j, name := range was {
		if !strings.HasSuffix(name, "_fin") {
			m.s.Names[j] = fmt.Sprintf("b%d", j)
		}
	}
	wantPerson(t, "ends", find(m).Uniform(), was)
}

// The rest pose may be a seated person: up is toward the head, although the thighs point forward.
func TestFindSitting(t *testing.T) {
	text := strings.NewReplacer("0.09 0.47 0.01", "0.09 0.89 0.42", "0.09 0.06 -0.01", "0.09 0.48 0.43", "0.09 0.01 0.14", "0.09 0.43 0.58").Replace(personText)
	for _, zUp := range []bool{false, true} {
		m := parse(t, TwoLegs, text)
		up, ahead := m3.Up, m3.V(0, 0, 1)
		if zUp {
			for j, p := range m.at {
				m.at[j] = m3.V(p.X, -p.Z, p.Y)
			}
			up, ahead = m3.V(0, 0, 1), m3.V(0, -1, 0)
		}
		if b := find(m); b.Kind != TwoLegs || b.Up.Dot(up) < 0.9 || b.Ahead.Dot(ahead) < 0.9 {
			t.Errorf("z up %v: %s", zUp, strings.Join(b.Describe(), "\n"))
		}
	}
}

// A leaf that is called as the joint above it, in its place, does not take that joint's part.
func TestFindHelperLeaves(t *testing.T) {
	for _, of := range []string{"l_hand", "head"} {
		var text strings.Builder
		for line := range strings.Lines(fingersText) {
			text.WriteString(line)
			if f := strings.SplitN(strings.TrimSpace(line), " ", 3); f[0] == of {
				fmt.Fprintf(&text, "\n%s_skin %s %s\n", of, of, f[2])
			}
		}
		m := parse(t, TwoLegs, strings.ReplaceAll(text.String(), "\n\n", "\n"))
		for joint, j := range find(m).Uniform() {
			if m.s.Names[j] == of+"_skin" {
				t.Errorf("%s is %s_skin", joint, of)
			}
		}
	}
}

// A shoulder that a map or a file's table of bones gives is the collar, whatever names call one.
func TestFindMappedShoulder(t *testing.T) {
	m := parse(t, TwoLegs, personText)
	was := slices.Clone(m.s.Names)
	as := map[string]string{}
	for j, name := range was {
		m.s.Names[j] = fmt.Sprintf("j%d", j)
		for side, prefix := range map[string]string{"Left": "l_", "Right": "r_"} {
			for joint, is := range map[string]string{"Shoulder": "clavicle", "Hand": "hand"} {
				if name == prefix+is {
					as[side+joint] = m.s.Names[j]
				}
			}
		}
	}
	wantPerson(t, "mapped", Find(Rig{Skel: m.s, At: m.at, As: as}).Uniform(), was)
}
