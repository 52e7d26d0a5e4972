package anatomy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// model is a made-up skeleton and what must be found in it.
type model struct {
	s    *skel.Skeleton
	at   []m3.Vec3
	kind Kind
}

// parse reads lines of "name parent x y z". A name with l_ stands for a pair: r_ mirrors it.
func parse(t *testing.T, kind Kind, text string) model {
	t.Helper()
	m := model{s: &skel.Skeleton{}, kind: kind}
	add := func(name, parent string, p m3.Vec3) {
		j := m.s.Index(parent)
		if j < 0 && parent != "-" {
			t.Fatalf("%s: no parent %s", name, parent)
		}
		m.s.Names, m.s.Parents = append(m.s.Names, name), append(m.s.Parents, int16(j))
		m.s.Offsets, m.s.EndSite = append(m.s.Offsets, p), append(m.s.EndSite, false)
		m.at = append(m.at, p)
	}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var name, parent string
		var p m3.Vec3
		if n, _ := fmt.Sscan(line, &name, &parent, &p.X, &p.Y, &p.Z); n != 5 {
			t.Fatalf("line %q", line)
		}
		add(name, parent, p)
	}
	// The mirror images, parents before children.
	for j := range len(m.s.Names) {
		if name, ok := strings.CutPrefix(m.s.Names[j], "l_"); ok {
			parent := "-"
			if p := m.s.Parents[j]; p >= 0 {
				parent = strings.Replace(m.s.Names[p], "l_", "r_", 1)
			}
			p := m.at[j]
			p.X = -p.X
			add("r_"+name, parent, p)
		}
	}
	return m
}

const personText = `
root - 0 0 0
hips root 0 0.94 0
l_thigh hips 0.09 0.89 0
l_calf l_thigh 0.09 0.47 0.01
l_foot l_calf 0.09 0.06 -0.01
l_toe l_foot 0.09 0.01 0.14
spine hips 0 1.04 0
chest spine 0 1.3 0
l_clavicle chest 0.06 1.41 0
l_upperarm l_clavicle 0.18 1.41 0
l_forearm l_upperarm 0.46 1.41 -0.01
l_hand l_forearm 0.71 1.41 0
neck chest 0 1.46 0
head neck 0 1.56 0.02
`

const horseText = `
hips - 0 1.3 -0.6
l_thigh hips 0.15 1.2 -0.65
l_calf l_thigh 0.17 0.8 -0.5
l_foot l_calf 0.17 0.5 -0.75
l_toe l_foot 0.17 0.05 -0.65
tail_1 hips 0 1.35 -0.75
tail_2 tail_1 0 1.1 -0.9
tail_3 tail_2 0 0.8 -0.95
spine hips 0 1.35 -0.2
chest spine 0 1.35 0.2
l_front_shoulder chest 0.1 1.25 0.35
l_front_upleg l_front_shoulder 0.18 1.0 0.45
l_front_lowleg l_front_upleg 0.18 0.65 0.35
l_front_foot l_front_lowleg 0.18 0.1 0.38
l_front_toe l_front_foot 0.18 0.02 0.46
neck chest 0 1.5 0.55
head neck 0 1.8 0.85
l_ear head 0.06 1.95 0.82
`

const spiderText = `
root - 0 0.5 0
l_leg_a_1 root 0.1 0.5 0.2
l_leg_a_2 l_leg_a_1 0.5 0.8 0.6
l_leg_a_3 l_leg_a_2 0.9 0 1.0
l_leg_b_1 root 0.1 0.5 0.1
l_leg_b_2 l_leg_b_1 0.6 0.8 0.25
l_leg_b_3 l_leg_b_2 1.2 0 0.45
l_leg_c_1 root 0.1 0.5 -0.05
l_leg_c_2 l_leg_c_1 0.6 0.8 -0.15
l_leg_c_3 l_leg_c_2 1.2 0 -0.3
l_leg_d_1 root 0.1 0.5 -0.15
l_leg_d_2 l_leg_d_1 0.5 0.8 -0.5
l_leg_d_3 l_leg_d_2 1.0 0 -0.95
abdomen root 0 0.55 -0.3
abdomen_2 abdomen 0 0.5 -0.7
head root 0 0.55 0.3
l_eye head 0.05 0.6 0.4
`

const birdText = `
hips - 0 0.5 -0.1
l_thigh hips 0.06 0.45 -0.08
l_shin l_thigh 0.07 0.32 0
l_foot l_shin 0.07 0.12 -0.06
l_toe l_foot 0.07 0.01 0.05
spine hips 0 0.54 0.02
chest spine 0 0.58 0.14
l_wing_1 chest 0.05 0.6 0.14
l_wing_2 l_wing_1 0.35 0.62 0.1
l_wing_3 l_wing_2 0.7 0.6 0.12
l_wing_4 l_wing_3 1.0 0.58 0.05
neck chest 0 0.68 0.2
head neck 0 0.78 0.28
tail hips 0 0.5 -0.25
tail_2 tail 0 0.5 -0.45
`

// elephant is a horse with a trunk, and without ears.
var elephantText = strings.Replace(horseText, "l_ear head 0.06 1.95 0.82\n", "n_1 head 0 1.7 1.0\nn_2 n_1 0 1.4 1.1\nn_3 n_2 0 1.0 1.15\nn_4 n_3 0 0.6 1.15\n", 1)

// Bodies that are no person's or no dog's are told so, with the reason.
func TestNoPerson(t *testing.T) {
	for want, b := range map[string]*Body{
		"four legs and has a trunk":          find(parse(t, FourLegs, elephantText)),
		"four legs and has a tail":           find(parse(t, FourLegs, horseText)),
		"it has wings: it is a bird":         find(parse(t, Bird, birdText)),
		"eight legs and has a tail":          find(parse(t, EightLegs, spiderText)),
		"":                                   find(parse(t, TwoLegs, personText)),
		"as a bird's is: it is not a person": find(parse(t, Bird, strings.NewReplacer("wing_4", "x_4", "wing", "arm").Replace(birdText))),
	} {
		err := b.NoPerson()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q\n%s", err, want, strings.Join(b.Describe(), "\n"))
		}
		if err := b.NoDog(); (err == nil) != strings.HasPrefix(want, "four") {
			t.Errorf("%q: as a dog %v", want, err)
		}
	}
}

// A body's motion is for bodies on as many legs.
func TestUnlike(t *testing.T) {
	six := strings.NewReplacer("l_leg_d", "l_x_d").Replace(spiderText)
	six = strings.Join(slices.DeleteFunc(strings.Split(six, "\n"), func(l string) bool { return strings.HasPrefix(l, "l_x_d") }), "\n")
	all := map[int]*Body{2: find(parse(t, TwoLegs, personText)), 4: find(parse(t, FourLegs, horseText)), 6: find(parse(t, SixLegs, six)), 8: find(parse(t, EightLegs, spiderText))}
	for n, a := range all {
		for m, b := range all {
			if err := a.Unlike(b); (err == nil) != (n == m) {
				t.Errorf("%d legs, motion of %d: %v", n, m, err)
			}
		}
	}
}

func find(m model) *Body { return Find(Rig{Skel: m.s, At: m.at}) }

// A map of the user comes before names, and its sides and parts count for the other joints.
func TestFindMapped(t *testing.T) {
	m := parse(t, TwoLegs, strings.NewReplacer("head", "shin", "l_calf", "l_toe_x").Replace(personText))
	b := Find(Rig{Skel: m.s, At: m.at, As: map[string]string{"Head": "shin", "LeftLeg": "l_toe_x", "RightLeg": NameOf(m.s.Names, m.s.Index("r_toe_x"))}})
	got := b.Uniform()
	if m.s.Names[got["Head"]] != "shin" || m.s.Names[got["LeftLeg"]] != "l_toe_x" || m.s.Names[got["RightFoot"]] != "r_foot" || b.Legs[0].Middle != got["LeftLeg"] {
		t.Errorf("%v\n%s", got, strings.Join(b.Describe(), "\n"))
	}
	if Joint([]string{"a", "#0", ""}, "#0") != 1 || Joint([]string{"a", "", ""}, "#2") != 2 || Joint([]string{"a"}, "") != -1 || NameOf([]string{"a", "a", ""}, 1) != "#1" {
		t.Error("joints by index")
	}
}

// The test pose moves what it should: the left leg ahead, a foot that hangs elsewhere with its leg.
func TestExercise(t *testing.T) {
	m := parse(t, TwoLegs, strings.Replace(personText, "l_foot l_calf", "l_foot root", 1))
	b := find(m)
	by := b.Exercise(m.s.Parents, 1)
	moved := func(name string) m3.Vec3 { j := m.s.Index(name); return by[j].Apply(m.at[j]).Sub(m.at[j]) }
	if moved("l_calf").Z < 0.1 || moved("r_calf").Z > -0.1 || moved("hips").Len() > 1e-6 {
		t.Errorf("knees move by %v and %v, hips by %v", moved("l_calf"), moved("r_calf"), moved("hips"))
	}
	foot, knee := m.s.Index("l_foot"), m.s.Index("l_calf")
	if d := by[foot].Apply(m.at[foot]).Dist(by[knee].Apply(m.at[knee])); m3.Abs(d-m.at[foot].Dist(m.at[knee])) > 1e-3 {
		t.Errorf("the shin is %g long", d)
	}
	if moved("l_hand").Y > -0.1 || moved("r_hand").Y > -0.1 {
		t.Errorf("hands move by %v and %v", moved("l_hand"), moved("r_hand"))
	}
}

func models(t *testing.T) map[string]model {
	return map[string]model{"person": parse(t, TwoLegs, personText), "horse": parse(t, FourLegs, horseText),
		"spider": parse(t, EightLegs, spiderText), "bird": parse(t, Bird, birdText)}
}

// summary is the roles as text with the names of names; sides are left out if bare.
func summary(b *Body, names []string) string {
	name := func(j int) string {
		if j < 0 {
			return "-"
		}
		return names[j]
	}
	var out []string
	add := func(role string, joints ...int) {
		text := role
		for _, j := range joints {
			text += " " + name(j)
		}
		out = append(out, text)
	}
	add(b.Kind.String())
	add("hips", b.Hips)
	add("spine", b.Spine...)
	add("neck", b.Neck...)
	add("head", b.Head)
	for role, limbs := range map[string][]Limb{"leg": b.Legs, "arm": b.Arms, "wing": b.Wings} {
		for i, l := range limbs {
			add(fmt.Sprintf("%s %d %v", role, i/2, l.Side), l.Girdle, l.Upper, l.Middle, l.Lower, l.Tip)
		}
	}
	for _, t := range b.Tails {
		add("tail", t...)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// The made-up bodies by their names, to begin with.
func TestFindModels(t *testing.T) {
	for name, want := range map[string]string{
		"person": "hips=hips spine=spine,chest neck=neck head=head leg=l_thigh,l_calf,l_foot,l_toe arm=l_upperarm,l_forearm,l_hand girdle=l_clavicle",
		"horse":  "hips=hips spine=spine,chest neck=neck head=head leg=l_front_upleg,l_front_lowleg,l_front_foot,l_front_toe girdle=l_front_shoulder hind=l_thigh,l_calf,l_foot,l_toe tail=tail_1,tail_2,tail_3",
		"spider": "head=head leg=l_leg_a_1,l_leg_a_2,l_leg_a_3 hind=l_leg_d_1,l_leg_d_2,l_leg_d_3",
		"bird":   "hips=hips spine=spine,chest neck=neck head=head leg=l_thigh,l_shin,l_foot,l_toe wing=l_wing_1 tail=tail,tail_2",
	} {
		m := models(t)[name]
		b := Find(Rig{Skel: m.s, At: m.at})
		if b.Kind != m.kind || b.Up.Dist(m3.Up) > 1e-3 || b.Ahead.Dist(m3.V(0, 0, 1)) > 1e-3 {
			t.Errorf("%s: %v, up %v, ahead %v", name, b.Kind, b.Up, b.Ahead)
		}
		names := func(joints ...int) string {
			var out []string
			for _, j := range joints {
				if j >= 0 {
					out = append(out, m.s.Names[j])
				}
			}
			return strings.Join(out, ",")
		}
		limb := func(l Limb) string { return names(l.Upper, l.Middle, l.Lower, l.Tip) }
		for _, f := range strings.Fields(want) {
			key, value, _ := strings.Cut(f, "=")
			got := "nothing"
			switch key {
			case "hips":
				got = names(b.Hips)
			case "spine":
				got = names(b.Spine...)
			case "neck":
				got = names(b.Neck...)
			case "head":
				got = names(b.Head)
			case "leg":
				got = limb(b.Legs[0])
			case "hind":
				got = limb(b.Legs[len(b.Legs)-2])
			case "arm":
				got = limb(b.Arms[0])
			case "girdle":
				got = names(append(slices.Clone(b.Arms), b.Legs...)[0].Girdle)
			case "wing":
				got = names(b.Wings[0].Chain[0])
			case "tail":
				got = names(b.Tails[0]...)
			}
			if got != value {
				t.Errorf("%s: %s is %s, want %s\n%s", name, key, got, value, strings.Join(b.Describe(), "\n"))
			}
		}
	}
}

// Neither the order of joints, nor their names, nor turns by right angles, nor the unit change what is
// found; a mirror image has its sides swapped.
func TestFindSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for _, name := range []string{"person", "horse", "spider", "bird"} {
		m := models(t)[name]
		n := m.s.Len()
		// Without names, a body is found by its tree and shape alone.
		bare := *m.s
		bare.Names = make([]string, n)
		byNames, byTree := summary(Find(Rig{Skel: m.s, At: m.at}), m.s.Names), summary(Find(Rig{Skel: &bare, At: m.at}), m.s.Names)
		if name != "spider" && byNames != byTree { // names tell a spider's knees from its hips
			t.Errorf("%s by names\n%s\nand without\n%s", name, byNames, byTree)
		}
		for trial := range 60 {
			named := trial%2 == 0
			want := byTree
			if named {
				want = byNames
			}
			s, at, names := shuffled(rng, m)
			turn := rightAngle(rng)
			scale := m3.Exp(8 * (rng.Float32() - 0.5))
			off := m3.V(rng.Float32(), rng.Float32(), rng.Float32()).Scale(3 * scale)
			mirrored := trial%3 == 2
			for j, p := range at {
				if mirrored {
					p.X = -p.X
				}
				at[j] = turn.Rotate(p.Scale(scale)).Add(off)
			}
			if !named {
				for j := range s.Names {
					s.Names[j] = ""
					if trial%4 == 1 {
						s.Names[j] = fmt.Sprintf("%c%c%d", 'q'+rng.IntN(3), 'v'+rng.IntN(3), rng.IntN(100))
					}
				}
			}
			b := Find(Rig{Skel: s, At: at})
			got := summary(b, names)
			if mirrored {
				got = strings.NewReplacer(" Left", " Right", " Right", " Left").Replace(got)
				lines := strings.Split(got, "\n")
				slices.Sort(lines)
				got = strings.Join(lines, "\n")
			}
			if got != want {
				t.Errorf("%s, trial %d (names %v, mirrored %v, scale %g, turn %v):\n%s\nwant\n%s", name, trial, named, mirrored, scale, turn, got, want)
				break
			}
			if up, ahead := turn.Rotate(m3.Up), turn.Rotate(m3.V(0, 0, 1)); b.Up.Dist(up) > 1e-2 || b.Ahead.Dist(ahead) > 1e-2 {
				t.Errorf("%s, trial %d: up %v, ahead %v, want %v, %v", name, trial, b.Up, b.Ahead, up, ahead)
			}
		}
	}
}

// A body may face any way, not only along an axis.
func TestFindFacing(t *testing.T) {
	for _, name := range []string{"person", "horse", "bird"} {
		m := models(t)[name]
		for _, named := range []bool{true, false} {
			for yaw := float32(-3); yaw < 3; yaw += 0.25 {
				s := *m.s
				if !named {
					s.Names = make([]string, s.Len())
				}
				turn := m3.YawQuat(yaw)
				at := make([]m3.Vec3, s.Len())
				for j, p := range m.at {
					at[j] = turn.Rotate(p)
				}
				b := Find(Rig{Skel: &s, At: at})
				if b.Kind != m.kind || b.Up.Dist(m3.Up) > 0.05 || b.Ahead.Dist(turn.Rotate(m3.V(0, 0, 1))) > 0.05 {
					t.Errorf("%s, names %v, turned by %g: %v, up %v, ahead %v", name, named, yaw, b.Kind, b.Up, b.Ahead)
				}
			}
		}
	}
}

// shuffled returns a model with its joints in another order, parents before children.
func shuffled(rng *rand.Rand, m model) (*skel.Skeleton, []m3.Vec3, []string) {
	s := &skel.Skeleton{}
	var at []m3.Vec3
	place := make([]int, m.s.Len())
	for i := range place {
		place[i] = -1
	}
	for s.Len() < m.s.Len() {
		j := rng.IntN(m.s.Len())
		p := int(m.s.Parents[j])
		if place[j] >= 0 || p >= 0 && place[p] < 0 {
			continue
		}
		place[j] = s.Len()
		if p >= 0 {
			p = place[p]
		}
		s.Names, s.Parents = append(s.Names, m.s.Names[j]), append(s.Parents, int16(p))
		s.Offsets, s.EndSite = append(s.Offsets, m3.Vec3{}), append(s.EndSite, false)
		at = append(at, m.at[j])
	}
	return s, at, slices.Clone(s.Names)
}

func rightAngle(rng *rand.Rand) m3.Quat {
	q := m3.Ident
	for range 4 {
		axis := [3]m3.Vec3{{X: 1}, {Y: 1}, {Z: 1}}[rng.IntN(3)]
		q = m3.AxisAngle(axis, 1.5707964*float32(rng.IntN(4))).Mul(q)
	}
	return q.Normalize()
}

// Feet that hang on the root as targets belong to the legs above them.
func TestFindFeetApart(t *testing.T) {
	for name, names := range map[string]bool{"named": true, "nameless": false} {
		m := parse(t, TwoLegs, strings.NewReplacer("l_foot l_calf", "l_foot root", "l_toe l_foot 0.09 0.01 0.14\n", "l_pole root 0.1 0.5 2\n").Replace(strings.Replace(personText, "l_toe", "l_toe", 1)))
		if !names {
			for j := range m.s.Names {
				if !strings.Contains(m.s.Names[j], "pole") {
					m.s.Names[j] = ""
				}
			}
		}
		b := Find(Rig{Skel: m.s, At: m.at})
		if b.Kind != TwoLegs || len(b.Legs) != 2 || b.Legs[0].Foot < 0 || b.Legs[0].Lower != b.Legs[0].Foot || m.at[b.Legs[0].Foot].Y != 0.06 {
			t.Errorf("%s: %s", name, strings.Join(b.Describe(), "\n"))
		}
	}
}

// Names of tools, spellings and languages.
func TestReadOtherNames(t *testing.T) {
	for name, want := range map[string]reading{
		"Palm.L": {hand, "Left", ""}, "RightFist": {hand, "Right", ""}, "b_LeftLeg01_015": {legAny, "Left", ""}, "leg_joint_L_1": {legAny, "Left", ""},
		"Bip01 L Thigh": {legUpper, "Left", ""}, "Bip01 R Calf": {legLower, "Right", ""}, "FootL": {foot, "Left", ""},
		"左足": {legUpper, "Left", ""}, "右ひざ": {legLower, "Right", ""}, "左足首": {foot, "Left", ""}, "右つま先": {toe, "Right", ""},
		"左腕": {armUpper, "Left", ""}, "左ひじ": {armLower, "Left", ""}, "右手首": {hand, "Right", ""}, "左肩": {collar, "Left", ""}, "左人指１": {fingerIndex, "Left", ""},
		"首": {neckPart, "", ""}, "頭": {headPart, "", ""}, "上半身2": {spinePart, "", ""}, "下半身": {hipsPart, "", ""}, "左足ＩＫ": {}, "左腕捩": {},
		"FrontUpperLeg.L": {legUpper, "Left", "front"}, "l-backleg001": {legAny, "Left", "back"}, "MidFrontLeg2.R": {legAny, "Right", "midfront"},
		"thighFBXASC046L": {legUpper, "Left", ""}, "LeftForeArm": {armLower, "Left", ""}, "HandMiddle1.L": {fingerAny, "Left", ""}, "Back": {spinePart, "", ""},
		"wing_1_R": {wing, "Right", ""}, "Bip01 L HorseLink": {foot, "Left", ""}, "front_fin_0_l": {fin, "Left", ""}, "PoleTarget.L": {}, "HeadTop_End": {},
	} {
		if got := read(tokenise(plain(name))); got != want {
			t.Errorf("%q is %v, want %v", name, got, want)
		}
	}
}

// Joints anywhere, in trees of any form: no panic, and indices in range.
func TestFindWild(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	words := strings.Fields("L R Left Right leg Foot toe arm Hand spine neck head hips tail wing ik pole end front back 左 足 01 .")
	for range 400 {
		n := 1 + rng.IntN(40)
		s := &skel.Skeleton{}
		at := make([]m3.Vec3, n)
		for j := range n {
			name := ""
			for range rng.IntN(4) {
				name += words[rng.IntN(len(words))]
			}
			s.Names, s.Parents = append(s.Names, name), append(s.Parents, int16(rng.IntN(j+1)-1))
			s.Offsets, s.EndSite = append(s.Offsets, m3.Vec3{}), append(s.EndSite, rng.IntN(6) == 0)
			at[j] = m3.V(rng.Float32(), rng.Float32(), rng.Float32())
			switch rng.IntN(12) {
			case 0:
				at[j] = m3.Vec3{}
			case 1:
				at[j] = at[j].Scale(1e30)
			}
		}
		b := Find(Rig{Skel: s, At: at, Poses: [][]m3.Vec3{at, nil}, As: map[string]string{"Hips": "#0", "LeftUpLeg": "#3", "Head": "none"}})
		for name, j := range b.Uniform() {
			if j < 0 || j >= n {
				t.Fatalf("%s is %d of %d", name, j, n)
			}
		}
		b.Describe()
		if x := b.Exercise(s.Parents, 1); len(x) != n && len(x) != 0 {
			t.Fatalf("%d transforms of %d joints", len(x), n)
		}
		b.NoPerson()
		b.NoDog()
	}
}

// Trees that are no bodies take no long: stars, combs and chains of thousands of joints.
func TestFindLargeTrees(t *testing.T) {
	for name, parent := range map[string]func(j int) int{
		"star": func(j int) int { return min(j, 1) - 1 },
		"comb": func(j int) int { // a trunk of 200 joints with 20 on each
			if j%20 == 0 {
				return max(j-20, -1)
			}
			return j - j%20
		},
		"chains": func(j int) int { // of 250 joints on one
			if j == 0 || (j-1)%250 == 0 {
				return min(j, 1) - 1
			}
			return j - 1
		},
		"tree": func(j int) int { return (j - 1) / 2 },
	} {
		for _, word := range []string{"", "Arm", "Foot", "Leg"} {
			s := &skel.Skeleton{}
			var at []m3.Vec3
			for j := range skel.MaxJoints {
				n := word
				if word != "" {
					n = [2]string{"Left", "Right"}[j%2] + word
				}
				s.Names, s.Parents = append(s.Names, n), append(s.Parents, int16(min(parent(j), j-1)))
				s.Offsets, s.EndSite = append(s.Offsets, m3.Vec3{}), append(s.EndSite, false)
				at = append(at, m3.V(float32(j%7)-3, float32(j%11), float32(j%13)))
			}
			must.Do(t, s.Validate())
			start := time.Now()
			Find(Rig{Skel: s, At: at})
			alone := time.Since(start)
			// With a mesh, and in 32 poses.
			mesh := make([]Box, len(at))
			for j := range mesh {
				mesh[j].Add(at[j])
			}
			start = time.Now()
			Find(Rig{Skel: s, At: at, Mesh: mesh, Poses: slices.Repeat([][]m3.Vec3{at}, 32)})
			if d := time.Since(start); alone > 2*time.Second || d > 20*time.Second {
				t.Errorf("%s of %q takes %v, with poses %v", name, word, alone, d)
			} else {
				t.Logf("%s of %q takes %v, with poses %v", name, word, alone, d)
			}
		}
	}
}

// A person of MMD: Japanese names, the trunk beside the hips, targets and helpers.
func TestFindMMD(t *testing.T) {
	text := `
全ての親 - 0 0 0
センター 全ての親 0 8 0
上半身 センター 0 12 0
上半身2 上半身 0 13.5 0
首 上半身2 0 16 0
頭 首 0 17 0.1
左肩 上半身2 0.3 15.8 0
左腕 左肩 1.2 15.5 0
左ひじ 左腕 3.2 14 0
左手首 左ひじ 5 12.6 0
左人指１ 左手首 5.6 12.2 0.2
右肩 上半身2 -0.3 15.8 0
右腕 右肩 -1.2 15.5 0
右ひじ 右腕 -3.2 14 0
右手首 右ひじ -5 12.6 0
下半身 センター 0 12 0
左足 下半身 0.9 11 0
左ひざ 左足 0.9 6 0.1
左足首 左ひざ 0.9 1.2 -0.2
左つま先 左足首 0.9 0.1 1
右足 下半身 -0.9 11 0
右ひざ 右足 -0.9 6 0.1
右足首 右ひざ -0.9 1.2 -0.2
右つま先 右足首 -0.9 0.1 1
左足ＩＫ 全ての親 0.9 1.2 -0.2
左つま先ＩＫ 左足ＩＫ 0.9 0.1 1
右足ＩＫ 全ての親 -0.9 1.2 -0.2
左目 頭 0.3 17.8 0.6
右目 頭 -0.3 17.8 0.6`
	m := parse(t, TwoLegs, text)
	b := find(m)
	got := b.Uniform()
	for ours, want := range map[string]string{"Hips": "下半身", "Spine1": "上半身2", "LowerBack": "上半身", "Neck1": "首", "Head": "頭", "LeftUpLeg": "左足", "RightLeg": "右ひざ",
		"LeftFoot": "左足首", "RightToeBase": "右つま先", "LeftShoulder": "左肩", "RightArm": "右腕", "LeftForeArm": "左ひじ", "LeftHand": "左手首", "LeftHandIndex1": "左人指１"} {
		if j, ok := got[ours]; !ok || m.s.Names[j] != want {
			t.Errorf("%s is %v (%v), want %s", ours, j, ok, want)
		}
	}
	if up, err := b.Upright(); !up || err != nil {
		t.Error(up, err)
	}
}
