package body

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// humanRig is a person of about 1.75 m in a T-pose, the numbers round.
func humanRig() *Rig {
	r := &Rig{}
	add := func(name, parent string, x, y, z float32) {
		r.Names = append(r.Names, name)
		r.Parents = append(r.Parents, int16(r.index(parent)))
		r.Offsets = append(r.Offsets, m3.V(x, y, z))
	}
	add("Hips", "", 0, 0, 0)
	for i, s := range []string{"Left", "Right"} {
		x := float32(1 - 2*i)
		add(s+"UpLeg", "Hips", 0.098*x, -0.108, 0.045)
		add(s+"Leg", s+"UpLeg", 0, -0.44, 0)
		add(s+"Foot", s+"Leg", 0, -0.46, 0)
		add(s+"ToeBase", s+"Foot", 0, -0.031, 0.127)
		add(s+"ToeBaseSite", s+"ToeBase", 0, 0, 0.066)
	}
	add("LowerBack", "Hips", 0, 0, 0)
	add("Spine", "LowerBack", 0, 0.126, -0.011)
	add("Spine1", "Spine", 0, 0.126, -0.002)
	add("Neck", "Spine1", 0, 0, 0)
	add("Neck1", "Neck", 0, 0.1, 0.01)
	add("Head", "Neck1", 0, 0.1, -0.015)
	for i, s := range []string{"Left", "Right"} {
		x := float32(1 - 2*i)
		add(s+"Shoulder", "Spine1", 0, 0, 0)
		add(s+"Arm", s+"Shoulder", 0.2*x, 0.064, -0.01)
		add(s+"ForeArm", s+"Arm", 0.32*x, 0, 0)
		add(s+"Hand", s+"ForeArm", 0.2*x, 0, 0)
	}
	return r
}

func humanBody(t testing.TB, rig *Rig) *Body {
	t.Helper()
	b := must.Get(New(rig))(t)
	if b.Cover != Clothes {
		t.Fatal("the human is not recognised")
	}
	return b
}

// person is the body of humanRig, made once.
var person = sync.OnceValues(func() (*Body, error) { return New(humanRig()) })

func aPerson(t testing.TB) *Body {
	t.Helper()
	return must.Get(person())(t)
}

func TestHumanMeshIsSound(t *testing.T) {
	rig := humanRig()
	b := aPerson(t)
	for k := range b.Levels {
		t.Run(fmt.Sprint("level=", k), func(t *testing.T) {
			lo, hi := sound(t, rig, &b.Levels[k], humanLevels[k], 0.05, 0.1)
			if m3.Abs(lo.Y) > 0.005 || hi.Y < 1.65 || hi.Y > 1.85 {
				t.Errorf("the person stands from %.3f to %.3f m", lo.Y, hi.Y)
			}
			if m3.Abs(lo.X+hi.X) > 0.02 || lo.X > -0.5 || hi.Z > 0.35 || lo.Z < -0.25 {
				t.Errorf("the person spans %v to %v", lo, hi)
			}
		})
	}
}

// Each shoe stands on the ground under heel and ball, and nowhere below.
func TestSolesOnTheGround(t *testing.T) {
	rig := humanRig()
	b := aPerson(t)
	for k, m := range b.Levels {
		for _, joint := range []string{"LeftFoot", "LeftToeBase", "RightFoot", "RightToeBase"} {
			p, low := b.Bind[rig.index(joint)].Pos, float32(1)
			for _, v := range m.Pos {
				if v.Sub(p).Flat().Len() < 0.07 {
					low = min(low, v.Y)
				}
			}
			if m3.Abs(low) > 0.008 {
				t.Errorf("level %d: the sole under %s is at %.4f m", k, joint, low)
			}
		}
	}
	ankle, ball := b.Bind[rig.index("LeftFoot")].Pos.Y, b.Bind[rig.index("LeftToeBase")].Pos.Y
	if ankle < 0.06 || ankle > 0.09 || ball < 0.02 || ball > 0.04 {
		t.Errorf("ankle at %.3f m, ball at %.3f m", ankle, ball)
	}
}

// No vertex follows a limb of the other side, nor an arm a leg.
func TestHumanWeightsDoNotCross(t *testing.T) {
	rig := humanRig()
	for _, m := range aPerson(t).Levels {
		for i, p := range m.Pos {
			arm, leg := false, false
			for k, w := range m.Weights[i] {
				name := rig.Names[m.Joints[i][k]]
				_, s, bare := side(name)
				if s*p.X < -0.0085 && w > 0 {
					t.Fatalf("vertex %v follows %s by %.3f", p, name, w)
				}
				if w > 0.01 {
					arm = arm || strings.Contains(bare, "Arm") || bare == "Hand"
					leg = leg || strings.Contains(bare, "Leg") || strings.Contains(bare, "Foot")
				}
			}
			if arm && leg {
				t.Fatalf("vertex %v follows an arm and a leg", p)
			}
		}
	}
}

// The right side is the left one mirrored.
func TestHumanIsSymmetric(t *testing.T) {
	p, ok := newHuman(humanRig())
	if !ok {
		t.Fatal("the human is not recognised")
	}
	b := aPerson(t)
	for _, v := range b.Levels[0].Pos[:len(b.Levels[0].Pos)-400] { // without the face's parts
		if d := p.shape.dist(m3.V(-v.X, v.Y, v.Z)); m3.Abs(d-p.shape.dist(v)) > 0.003 {
			t.Fatalf("vertex %v, mirrored, is %.4f m off the surface", v, d)
		}
	}
	for i, name := range humanRig().Names {
		if _, s, bare := side(name); s > 0 {
			l, r := b.Bind[i].Pos, b.Bind[humanRig().index("Right"+bare)].Pos
			if l.Dist(m3.V(-r.X, r.Y, r.Z)) > 1e-4 {
				t.Errorf("%s is at %v left and %v right", bare, l, r)
			}
		}
	}
}

// Each channel of the clothes covers its part of the body.
func TestClothes(t *testing.T) {
	rig := humanRig()
	b := aPerson(t)
	at := func(joint string, x, y, z float32) m3.Vec3 { return b.Bind[rig.index(joint)].Pos.Add(m3.V(x, y, z)) }
	for _, c := range []struct {
		where string
		p     m3.Vec3
		want  [4]bool // skin, trousers, shoes, hair
	}{
		{"chest", at("Spine1", 0, 0, 0.12), [4]bool{}},
		{"cheek", at("Head", 0.06, 0.05, 0.08), [4]bool{0: true}},
		{"crown", at("Head", 0, 0.22, 0), [4]bool{0: true, 3: true}},
		{"hand", at("LeftHand", 0.03, -0.04, 0), [4]bool{0: true}},
		{"upper arm", at("RightArm", -0.03, 0, 0), [4]bool{}},
		{"thigh", at("LeftUpLeg", 0.02, -0.25, 0.08), [4]bool{1: true}},
		{"shoe", at("LeftToeBase", 0, 0.03, 0), [4]bool{1: true, 2: true}},
	} {
		for k, m := range b.Levels {
			best := 0
			for i := range m.Pos {
				if m.Pos[i].Dist(c.p) < m.Pos[best].Dist(c.p) {
					best = i
				}
			}
			for ch, v := range m.Coat[best] {
				if (v > 0.5) != c.want[ch] {
					t.Errorf("level %d, %s: coat %v, want %v", k, c.where, m.Coat[best], c.want)
					break
				}
			}
		}
	}
}

// Rigs with other joints between, other rest poses and other sizes are people too.
func TestOtherPeople(t *testing.T) {
	for name, change := range map[string]func(r *Rig){
		"child": func(r *Rig) {
			for i := range r.Offsets {
				r.Offsets[i] = r.Offsets[i].Scale(0.6)
			}
		},
		"arms hang": func(r *Rig) {
			for i, n := range r.Names {
				if _, _, bare := side(n); bare == "ForeArm" || bare == "Hand" {
					r.Offsets[i] = m3.V(0, -r.Offsets[i].Len(), 0)
				}
			}
		},
		"thumbs": func(r *Rig) {
			for _, s := range []string{"Left", "Right"} {
				r.Names, r.Parents = append(r.Names, s[:1]+"Thumb"), append(r.Parents, int16(r.index(s+"Hand")))
				r.Offsets = append(r.Offsets, m3.V(0, 0, 0.03))
			}
		},
		"no toe ends": func(r *Rig) {
			for i := len(r.Names) - 1; i >= 0; i-- {
				if strings.HasSuffix(r.Names[i], "Site") {
					r.Names, r.Parents, r.Offsets = slices.Delete(r.Names, i, i+1), slices.Delete(r.Parents, i, i+1), slices.Delete(r.Offsets, i, i+1)
					for k, p := range r.Parents {
						if int(p) > i {
							r.Parents[k]--
						}
					}
				}
			}
		},
	} {
		r := humanRig()
		change(r)
		for k, m := range humanBody(t, r).Levels {
			if v := closed(t, m.Pos, m.Index); v < 0.01 || v > 0.1 {
				t.Errorf("%s, level %d: %.4f m³", name, k, v)
			}
			if lo, _ := bounds(m.Pos); m3.Abs(lo.Y) > 0.005 {
				t.Errorf("%s, level %d: stands at %.4f m", name, k, lo.Y)
			}
		}
	}
	lying := humanRig()
	for i, o := range lying.Offsets {
		lying.Offsets[i] = m3.V(o.X, -o.Z, o.Y)
	}
	if _, ok := newHuman(lying); ok {
		t.Error("a rest pose that lies was taken for a person's")
	}
}

func TestSamePersonSameBytes(t *testing.T) {
	if !reflect.DeepEqual(aPerson(t), humanBody(t, humanRig())) {
		t.Error("two bodies of one rig differ")
	}
}

func BenchmarkHuman(b *testing.B) {
	rig := humanRig()
	for b.Loop() {
		must.Get(New(rig))(b)
	}
}
