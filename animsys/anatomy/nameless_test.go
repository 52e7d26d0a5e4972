package anatomy

import (
	"slices"
	"strings"
	"testing"

	"mannequin/engine/m3"
)

// withoutNames returns what is found in a body whose joints have no names, by the names that they had.
func withoutNames(m model, r Rig) (*Body, func(j int) string) {
	was := slices.Clone(m.s.Names)
	bare := *m.s
	bare.Names = make([]string, len(was))
	r.Skel, r.At = &bare, m.at
	return Find(r), func(j int) string {
		if j < 0 {
			return "-"
		}
		return was[j]
	}
}

// chain joins the names of a limb's hip, knee and ankle.
func chain(l Limb, name func(int) string) string {
	return strings.Join([]string{name(l.Upper), name(l.Middle), name(l.Lower)}, " ")
}

// A fox with shoulder blades and toes: its thighs and shins are not its longest bones.
const foxText = `
hips - 0 0.70 -0.2
l_pelvis hips 0.02 0.697 -0.06
l_thigh l_pelvis 0.04 0.597 -0.17
l_calf l_thigh 0.04 0.416 -0.137
l_hock l_calf 0.04 0.21 -0.205
l_foot l_hock 0.04 0.067 -0.193
l_toe l_foot 0.04 0.017 -0.176
l_tip l_toe 0.04 0.016 -0.161
spine hips 0 0.72 0
chest spine 0 0.70 0.2
l_blade chest 0.02 0.698 0.034
l_arm l_blade 0.04 0.525 0.153
l_elbow l_arm 0.04 0.295 0.112
l_wrist l_elbow 0.04 0.079 0.115
l_paw l_wrist 0.04 0.023 0.124
l_claw l_paw 0.04 0.018 0.148
neck chest 0 0.8 0.3
head neck 0 0.95 0.4
tail hips 0 0.7 -0.3
tail_2 tail 0 0.6 -0.45
`

func TestNamelessFox(t *testing.T) {
	b, name := withoutNames(parse(t, FourLegs, foxText), Rig{})
	if b.Kind != FourLegs || len(b.Legs) != 4 {
		t.Fatalf("%v with %d legs", b.Kind, len(b.Legs))
	}
	for i, want := range []string{"l_arm l_elbow l_wrist", "r_arm r_elbow r_wrist", "l_thigh l_calf l_hock", "r_thigh r_calf r_hock"} {
		if got := chain(b.Legs[i], name); got != want {
			t.Errorf("leg %d is %s, want %s", i, got, want)
		}
	}
}

// A pair that moves no part of the mesh is a control and no leg, whatever it looks like.
func TestNamelessControls(t *testing.T) {
	m := parse(t, TwoLegs, strings.TrimSpace(personText)+`
l_control root 0.05 0.02 0.14
l_control_2 l_control 0.05 0.02 -0.2
l_control_3 l_control_2 0.05 0.02 0.1
l_knee l_control_3 0.05 0.3 0.5
`)
	mesh := make([]Box, m.s.Len())
	for j, name := range m.s.Names {
		if !strings.Contains(name, "control") && !strings.Contains(name, "knee") {
			mesh[j].Add(m.at[j])
			mesh[j].Add(m.at[j].Add(m3.V(0.05, 0.05, 0.05)))
		}
	}
	b, name := withoutNames(m, Rig{Mesh: mesh})
	if b.Kind != TwoLegs || len(b.Legs) != 2 || chain(b.Legs[0], name) != "l_thigh l_calf l_foot" {
		t.Errorf("%v, %d legs", b.Kind, len(b.Legs))
	}
	if len(b.Arms) != 2 || chain(b.Arms[0], name) != "l_upperarm l_forearm l_hand" {
		t.Errorf("%d arms", len(b.Arms))
	}
}

// A head is the joint that moves the skull, not the end of its bone, its nose or its jaw.
func TestNamelessHead(t *testing.T) {
	m := parse(t, FourLegs, foxText+"nose head 0 0.97 0.5\nnose_end nose 0 0.97 0.53\njaw head 0 0.9 0.42\n")
	mesh := make([]Box, m.s.Len())
	for j, name := range m.s.Names {
		size := map[string]float32{"head": 0.2, "nose": 0.05, "jaw": 0.04, "nose_end": 0}[name]
		if size == 0 && name != "nose_end" {
			size = 0.08
		}
		if size > 0 {
			mesh[j].Add(m.at[j])
			mesh[j].Add(m.at[j].Add(m3.V(size, size, size)))
		}
	}
	if b, name := withoutNames(m, Rig{Mesh: mesh}); name(b.Head) != "head" {
		t.Errorf("the head is %s", name(b.Head))
	}
}

// Feet that are targets of inverse kinematics may be far below a shin that is longer than the thigh.
func TestNamelessFeetApart(t *testing.T) {
	m := parse(t, FourLegs, strings.NewReplacer("l_wrist l_elbow 0.04 0.079 0.115\n", "", "l_paw l_wrist", "l_paw -", "l_arm l_blade 0.04 0.525 0.153", "l_arm l_blade 0.04 0.69 0.03", "l_elbow l_arm 0.04 0.295 0.112", "l_elbow l_arm 0.04 0.45 0.0").Replace(foxText))
	b, name := withoutNames(m, Rig{})
	if b.Kind != FourLegs || len(b.Legs) != 4 || name(b.Legs[0].Foot) != "l_paw" {
		t.Errorf("%v, %d legs", b.Kind, len(b.Legs))
	}
}

// A pair whose feet are in the air at rest is legs all the same if it stands in the motion.
func TestNamelessLegsInMotion(t *testing.T) {
	m := parse(t, FourLegs, foxText)
	stands := slices.Clone(m.at)
	hind := func(name string) bool {
		return slices.Contains([]string{"calf", "hock", "foot", "toe", "tip"}, strings.TrimLeft(name, "lr_"))
	}
	for j, name := range m.s.Names {
		if hind(name) { // drawn up
			m.at[j].Y = 0.597 - 0.55*(0.597-m.at[j].Y)
		}
	}
	b, name := withoutNames(m, Rig{Poses: [][]m3.Vec3{stands, stands, stands}})
	if b.Kind != FourLegs || len(b.Legs) != 4 || name(b.Legs[2].Upper) != "l_thigh" {
		t.Errorf("%v, %d legs", b.Kind, len(b.Legs))
	}
}
