package stage

import (
	"slices"
	"sync"
	"testing"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/testing/golden"
	"mannequin/internal/testing/must"
)

// Pictures of fixed poses match the golden pictures.
func TestGolden(t *testing.T) {
	for name, scene := range map[string]func(t *testing.T, s *Stage) View{
		"dog": oneDog, "person": onePerson, "crowd": manyOfBoth,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, 320, 180)
			golden.Check(t, shoot(t, s, scene(t, s)), name)
		})
	}
}

// dogRig is a dog with plausible proportions, every bone along its local +X.
func dogRig() *body.Rig {
	r := &body.Rig{}
	add := func(name, parent string, x, y, z float32) {
		r.Parents = append(r.Parents, int16(slices.Index(r.Names, parent)))
		r.Names, r.Offsets = append(r.Names, name), append(r.Offsets, m3.V(x, y, z))
	}
	add("Hips", "", 0, 0.46, 0)
	add("Spine", "Hips", 0, 0, 0)
	add("Spine1", "Spine", 0.19, 0, 0)
	add("Neck", "Spine1", 0.22, 0, 0)
	add("Head", "Neck", 0.14, 0, 0)
	add("HeadSite", "Head", 0.17, 0, 0)
	for i, s := range []string{"Left", "Right"} {
		z := float32(1 - 2*i)
		add(s+"Shoulder", "Spine1", 0.2, 0.04, 0.04*z)
		add(s+"Arm", s+"Shoulder", 0.08, 0, 0)
		add(s+"ForeArm", s+"Arm", 0.15, 0, 0)
		add(s+"Hand", s+"ForeArm", 0.18, 0, 0)
		add(s+"HandSite", s+"Hand", 0.07, 0, 0)
		add(s+"UpLeg", "Hips", 0.06, -0.075, 0.05*z)
		add(s+"Leg", s+"UpLeg", 0.16, 0, 0)
		add(s+"Foot", s+"Leg", 0.18, 0, 0)
		add(s+"FootSite", s+"Foot", 0, -0.11, 0)
	}
	add("Tail", "Hips", 0.07, 0, 0)
	add("Tail1", "Tail", 0.12, 0, 0)
	add("Tail1Site", "Tail1", 0.12, 0, 0)
	return r
}

// The bodies of the dog and the person are grown once, because that takes long.
var (
	dogBody    = sync.OnceValues(func() (*body.Body, error) { return body.New(dogRig()) })
	personBody = sync.OnceValues(func() (*body.Body, error) { return body.New(personRig()) })
)

func grown(t *testing.T, of func() (*body.Body, error)) *body.Body {
	t.Helper()
	return must.Get(of())(t)
}

// posed appends the joints of a body in its bind pose, some of them turned by angles in radians
// about the axis that points to the body's left, set down at a place with a heading.
func posed(bones []m3.Xform, rig *body.Rig, b *body.Body, turns map[string]float32, at m3.Vec3, yaw float32) []m3.Xform {
	place := m3.Xform{Pos: at, Rot: m3.YawQuat(yaw)}
	base := len(bones)
	turned := make([]m3.Quat, len(rig.Names)) // from the bind pose
	for i, p := range rig.Parents {
		turned[i] = m3.AxisAngle(m3.V(1, 0, 0), turns[rig.Names[i]])
		x := b.Bind[i]
		if p >= 0 {
			x.Pos = bones[base+int(p)].Pos.Add(turned[p].Rotate(b.Bind[i].Pos.Sub(b.Bind[p].Pos)))
			turned[i] = turned[p].Mul(turned[i])
		}
		x.Rot = turned[i].Mul(b.Bind[i].Rot)
		bones = append(bones, x)
	}
	for i := base; i < len(bones); i++ {
		bones[i] = place.Mul(bones[i])
	}
	return bones
}

var (
	trotting = map[string]float32{"LeftArm": 0.5, "RightArm": -0.4, "RightForeArm": -0.5, "LeftUpLeg": -0.3, "RightUpLeg": 0.4, "LeftLeg": 0.5, "Neck": -0.3, "Tail": -0.6}
	striding = map[string]float32{"LeftUpLeg": -0.6, "RightUpLeg": 0.4, "RightLeg": 0.6, "LeftArm": 0.5, "RightArm": -0.6, "RightForeArm": -0.8, "Spine": 0.08}
)

func oneDog(t *testing.T, s *Stage) View {
	rig, b := dogRig(), grown(t, dogBody)
	newCrowd(t, s, b, posed(nil, rig, b, trotting, m3.Vec3{}, 0.9), [][3]float32{{0.33, 0.17, 0.07}})
	s.SetGround(flat)
	s.Camera.Place(m3.V(0.2, 0.75, 1.75), m3.V(0.05, 0.36, 0))
	return View{}
}

func onePerson(t *testing.T, s *Stage) View {
	rig, b := personRig(), grown(t, personBody)
	newCrowd(t, s, b, posed(nil, rig, b, striding, m3.Vec3{}, 0.6), [][3]float32{{0.06, 0.16, 0.42}})
	s.SetGround(func(x, z float32) float32 { return -0.02 })
	s.Camera.Place(m3.V(-0.1, 1.25, 2.6), m3.V(0, 0.85, 0))
	return View{}
}

// manyOfBoth stand on hills and go beyond the shadow map.
func manyOfBoth(t *testing.T, s *Stage) View {
	hills := func(x, z float32) float32 { return 0.7 * m3.Sin(0.35*x) * m3.Cos(0.3*z) }
	for k, rig := range []*body.Rig{dogRig(), personRig()} {
		b := grown(t, []func() (*body.Body, error){dogBody, personBody}[k])
		turns := []map[string]float32{trotting, striding}[k]
		var bones []m3.Xform
		var tint [][3]float32
		for i := range 14 {
			x, z := 1.3*float32(i%7-3)+0.6*float32(k), 2-4.5*float32(i/7)-1.2*float32(i%3)-9*float32(k)
			bones = posed(bones, rig, b, turns, m3.V(x, hills(x, z), z), float32(i)*1.7)
			tint = append(tint, [3]float32{0.10 + 0.08*float32(i%5), 0.07 + 0.05*float32(i%5), 0.03 + 0.03*float32(i%4)})
		}
		newCrowd(t, s, b, bones, tint)
	}
	s.SetGround(hills)
	s.Camera.Place(m3.V(0.5, 2.2, 6.5), m3.V(0, 0.4, 0))
	return View{}
}
