package body

import (
	"fmt"
	"math"
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

// humanParts limits the triangles of fingers and faces, per level of detail.
var humanParts = [levels]int{1500, 800, 130}

func TestHumanMeshIsSound(t *testing.T) {
	rig := humanRig()
	b := aPerson(t)
	for k := range b.Levels {
		t.Run(fmt.Sprint("level=", k), func(t *testing.T) {
			lo, hi := sound(t, rig, &b.Levels[k], bodyLevels[k]+headLevels[k]+hairLevels[k], humanParts[k], 0.05, 0.1)
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
	for _, q := range p.pieces {
		pos, _ := must.Get2(q.shape.surface(2 * q.cell))(t)
		for _, v := range pos {
			if d := q.shape.dist(m3.V(-v.X, v.Y, v.Z)); m3.Abs(d-q.shape.dist(v)) > 0.003 {
				t.Fatalf("vertex %v, mirrored, is %.4f m off the surface", v, d)
			}
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

// posed returns level 0 of b with the skin weights applied to bones.
func posed(b *Body, bones []m3.Xform) []m3.Vec3 {
	m := &b.Levels[0]
	out := make([]m3.Vec3, len(m.Pos))
	for i, p := range m.Pos {
		for k, w := range m.Weights[i] {
			j := m.Joints[i][k]
			out[i] = out[i].Add(bones[j].Mul(b.Bind[j].Inv()).Apply(p).Scale(w))
		}
	}
	return out
}

// turned returns b's bind pose with joint, and all below it, turned by rot about the joint.
func turned(b *Body, rig *Rig, joint string, rot m3.Quat) []m3.Xform {
	bones := append([]m3.Xform(nil), b.Bind...)
	moved := make([]bool, len(bones))
	root := rig.index(joint)
	about := b.Bind[root].Pos
	for i, p := range rig.Parents {
		if moved[i] = i == root || p >= 0 && moved[p]; moved[i] {
			x := b.Bind[i]
			bones[i] = m3.Xform{Pos: about.Add(rot.Rotate(x.Pos.Sub(about))), Rot: rot.Mul(x.Rot)}
		}
	}
	return bones
}

// A body keeps its volume at the shoulder when the arm hangs or is level. A shoulder has about 2 l.
func TestShouldersKeepTheirVolume(t *testing.T) {
	rig, b := humanRig(), aPerson(t)
	index := b.Levels[0].Index
	before := closed(t, b.Levels[0].Pos, index)
	for name, angle := range map[string]float32{"hangs": armsDown - 1.5, "is level": armsDown} {
		bones := turned(b, rig, "LeftArm", m3.AxisAngle(m3.V(0, 0, 1), angle))
		if v := closed(t, posed(b, bones), index) - before; math.Abs(v) > 0.00025 {
			t.Errorf("a shoulder whose arm %s changes by %.2f l", name, 1000*v)
		}
	}
}

// The neck fills the collar in all directions, also when the head is bent and turned.
func TestNoHoleAtTheNeck(t *testing.T) {
	rig, b := humanRig(), aPerson(t)
	m := &b.Levels[0]
	h, _ := newHuman(rig)
	throat := h.pieces[1].shape
	for name, rot := range map[string]m3.Quat{"straight": m3.Ident, "nods": m3.AxisAngle(m3.V(1, 0, 0), 0.5),
		"looks up": m3.AxisAngle(m3.V(1, 0, 0), -0.4), "leans": m3.AxisAngle(m3.V(0, 0, 1), 0.35), "turns": m3.AxisAngle(m3.Up, 0.9)} {
		pos := posed(b, turned(b, rig, "Neck1", rot))
		// Sectors around the neck: the skin that is deep in the shirt, and the collar's rim.
		base := b.Bind[rig.index("Neck")].Pos
		var skin, rim [8]float32
		for k := range skin {
			skin[k], rim[k] = 1, -1
		}
		for i, v := range m.Pos {
			d := v.Sub(base)
			k, up := int((m3.Atan2(d.X, d.Z)/6.2832+1)*8)%8, pos[i].Y-base.Y
			if m.Coat[i][0] >= 1 && d.Flat().Len() < 0.09 && d.Y < 0.12 {
				skin[k] = min(skin[k], up)
			} else if m.Coat[i] == ([4]float32{}) && d.Flat().Len() < 0.08 && m.Normal[i].Y > 0.6 {
				rim[k] = max(rim[k], up)
			}
		}
		for k := range skin {
			if skin[k] > rim[k]-0.01 {
				t.Errorf("%s: in direction %d the neck ends %.3f m above the joint, the collar %.3f", name, k, skin[k], rim[k])
			}
		}
	}
	if d := throat.dist(h.bind[rig.index("Head")].Pos); d > -0.02 {
		t.Errorf("the neck ends %.3f m before the skull", d)
	}
}

// From straight ahead, white and iris of both eyes lie before lids and skin.
func TestEyesAreSeen(t *testing.T) {
	b := aPerson(t)
	for k := range 2 {
		m := &b.Levels[k]
		seen := map[string]int{}
		for x := float32(-0.06); x <= 0.06; x += 0.002 {
			for y := float32(-0.02); y <= 0.02; y += 0.002 {
				eye := b.Bind[humanRig().index("Head")].Pos.Add(m3.V(x, 0.09+y, 0))
				front, coat := float32(-1), [4]float32{}
				for i := 0; i+2 < len(m.Index); i += 3 {
					if z, ok := depth(m, i, eye); ok && z > front {
						front, coat = z, m.Coat[m.Index[i]]
					}
				}
				side := "left"
				if x < 0 {
					side = "right"
				}
				switch coat {
				case eyeball:
					seen[side+" white"]++
				case iris:
					seen[side+" iris"]++
				}
			}
		}
		for _, part := range []string{"left white", "right white", "left iris", "right iris"} {
			if n := seen[part]; n < 8 || n > 100 {
				t.Errorf("level %d: %d points of the %s are seen", k, n, part)
			}
		}
	}
}

// depth returns the depth at which a ray along +Z through p meets triangle i.
func depth(m *Mesh, i int, p m3.Vec3) (z float32, ok bool) {
	a, b, c := m.Pos[m.Index[i]], m.Pos[m.Index[i+1]], m.Pos[m.Index[i+2]]
	area := func(u, v m3.Vec3) float32 { return (u.X-p.X)*(v.Y-p.Y) - (u.Y-p.Y)*(v.X-p.X) }
	u, v, w := area(b, c), area(c, a), area(a, b)
	sum := u + v + w
	if sum <= 0 || u < 0 || v < 0 || w < 0 { // faces away, or beside
		return 0, false
	}
	return (u*a.Z + v*b.Z + w*c.Z) / sum, true
}

// A hand has five fingers that lie apart.
func TestFingersAreApart(t *testing.T) {
	h, _ := newHuman(humanRig())
	var fingers []tube
	for _, q := range h.tubes {
		if q.joint == humanRig().index("LeftHand") {
			fingers = append(fingers, q)
		}
	}
	if len(fingers) != 5 {
		t.Fatalf("%d fingers", len(fingers))
	}
	for i := range fingers {
		for j := range i {
			p, q := fingers[i], fingers[j]
			end := len(p.path) - 1
			if d := p.path[end].Dist(q.path[end]); d < p.radii[end]+q.radii[end] {
				t.Errorf("the tips of fingers %d and %d are %.4f m apart", j, i, d)
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
		{"crown", at("Head", 0, 0.26, 0), [4]bool{0: true, 3: true}},
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
