package body

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// dogRig is a dog with plausible proportions, every bone along its local +X as
// in the motion-capture set, the numbers round.
func dogRig() *Rig {
	r := &Rig{}
	add := func(name, parent string, x, y, z float32) {
		r.Names = append(r.Names, name)
		r.Parents = append(r.Parents, int16(r.index(parent)))
		r.Offsets = append(r.Offsets, m3.V(x, y, z))
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
	}
	for i, s := range []string{"Left", "Right"} {
		z := float32(1 - 2*i)
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

func dogBody(t testing.TB) *Body {
	t.Helper()
	return must.Get(New(dogRig()))(t)
}

// closed fails the test unless every edge is met once each way, and returns the volume.
func closed(t *testing.T, pos []m3.Vec3, index []uint32) float64 {
	t.Helper()
	seen := map[[2]uint32]int{}
	var volume float64
	for i := 0; i+2 < len(index); i += 3 {
		a, b, c := pos[index[i]], pos[index[i+1]], pos[index[i+2]]
		volume += float64(a.Dot(b.Cross(c))) / 6
		for k := range 3 {
			seen[[2]uint32{index[i+k], index[i+(k+1)%3]}]++
		}
	}
	open := 0
	for e := range seen {
		if seen[e] != seen[[2]uint32{e[1], e[0]}] {
			open++
		}
	}
	if open > 0 {
		t.Errorf("%d edges of %d are open", open, len(seen))
	}
	return volume
}

// A sphere and a capsule are polygonised to their volumes in closed form.
func TestSurfaceMatchesClosedForm(t *testing.T) {
	r, l := 0.3, 0.5
	for _, c := range []struct {
		b    m3.Vec3
		want float64
	}{
		{m3.V(0, 0, 0), 4.0 / 3 * math.Pi * r * r * r},
		{m3.V(0.3, 0.4, 0), 4.0/3*math.Pi*r*r*r + math.Pi*r*r*l},
	} {
		s := shape{{a: m3.Vec3{}, b: c.b, ra: float32(r), rb: float32(r), squash: 1}}
		pos, index := must.Get2(s.surface(0.03))(t)
		for i, p := range pos {
			pos[i], _ = s.project(p, 0.03)
			if d := m3.Abs(s.dist(pos[i])); d > 1e-4 {
				t.Fatalf("vertex %v is %g m off the surface", pos[i], d)
			}
		}
		if v := closed(t, pos, index); math.Abs(v/c.want-1) > 0.02 {
			t.Errorf("volume %.4f, want %.4f", v, c.want)
		}
		thin, tri, _ := decimate(pos, index, 300, nil)
		if n := len(tri) / 3; n > 300 || n < 250 {
			t.Errorf("thinned to %d triangles, want about 300", n)
		}
		if v := closed(t, thin, tri); math.Abs(v/c.want-1) > 0.05 {
			t.Errorf("thinned volume %.4f, want %.4f", v, c.want)
		}
	}
}

// sound fails the test unless m is closed, fills between least and most m³, and has unit normals
// that agree with its triangles and weights that sum to 1. It returns the mesh's extent.
func sound(t *testing.T, rig *Rig, m *Mesh, want, parts int, least, most float64) (lo, hi m3.Vec3) {
	t.Helper()
	if n := m.Triangles(); n > want+parts || n < want*8/10 {
		t.Errorf("%d triangles, want about %d", n, want)
	}
	if v := closed(t, m.Pos, m.Index); v < least || v > most {
		t.Errorf("it fills %.4f m³: want %g to %g", v, least, most)
	}
	for i := range m.Pos {
		if !m.Pos[i].Finite() || m3.Abs(m.Normal[i].Len()-1) > 1e-3 {
			t.Fatalf("vertex %d: position %v, normal %v", i, m.Pos[i], m.Normal[i])
		}
		var sum float32
		for j, w := range m.Weights[i] {
			sum += w
			if w < 0 || int(m.Joints[i][j]) >= len(rig.Names) {
				t.Fatalf("vertex %d: joints %v, weights %v", i, m.Joints[i], m.Weights[i])
			}
		}
		if !(m3.Abs(sum-1) <= 1e-5) {
			t.Fatalf("vertex %d: weights sum to %g", i, sum)
		}
	}
	bad := 0
	for i := 0; i+2 < len(m.Index); i += 3 {
		p, q, r := m.Index[i], m.Index[i+1], m.Index[i+2]
		face := m.Pos[q].Sub(m.Pos[p]).Cross(m.Pos[r].Sub(m.Pos[p]))
		if face.Dot(m.Normal[p].Add(m.Normal[q]).Add(m.Normal[r])) <= 0 {
			bad++
		}
	}
	if bad > m.Triangles()/40 { // in creases, whose corners the decimated mesh cuts
		t.Errorf("%d of %d triangles face away from their normals", bad, m.Triangles())
	}
	return bounds(m.Pos)
}

func TestDogMeshIsSound(t *testing.T) {
	rig := dogRig()
	b := dogBody(t)
	for k := range b.Levels {
		t.Run(fmt.Sprint("level=", k), func(t *testing.T) {
			lo, hi := sound(t, rig, &b.Levels[k], dogLevels[k], 460, 0.01, 0.06)
			if lo.Y < -0.01 || lo.Y > 0.015 || hi.Y < 0.5 || hi.Y > 0.75 || hi.Z-lo.Z < 0.85 || hi.Z-lo.Z > 1.3 {
				t.Errorf("the dog spans %v to %v", lo, hi)
			}
		})
	}
}

// No vertex on one side of the dog may follow a limb of the other side.
func TestWeightsDoNotCross(t *testing.T) {
	rig := dogRig()
	m := dogBody(t).Levels[0]
	for i, p := range m.Pos {
		for k, w := range m.Weights[i] {
			name := rig.Names[m.Joints[i][k]]
			limb := strings.Contains(name, "Leg") || strings.Contains(name, "Foot") || strings.Contains(name, "Arm") || strings.Contains(name, "Hand")
			if limb && w > 0.12 && ((p.X > 0.03 && strings.HasPrefix(name, "Right")) || (p.X < -0.03 && strings.HasPrefix(name, "Left"))) {
				t.Fatalf("vertex %v follows %s by %.2f", p, name, w)
			}
		}
	}
}

// The standing pose keeps every bone's length and is symmetric.
func TestStandingPose(t *testing.T) {
	rig := dogRig()
	bind, ok := standing(rig)
	if !ok {
		t.Fatal("the dog is not recognised")
	}
	for i, p := range rig.Parents {
		if p >= 0 && m3.Abs(bind[i].Pos.Dist(bind[p].Pos)-rig.Offsets[i].Len()) > 1e-5 {
			t.Errorf("%s: the bone changed its length", rig.Names[i])
		}
		if name, ok := strings.CutPrefix(rig.Names[i], "Left"); ok {
			l, r := bind[i].Pos, bind[rig.index("Right"+name)].Pos
			if l.Dist(m3.V(-r.X, r.Y, r.Z)) > 1e-3 {
				t.Errorf("%s stands at %v left and %v right", name, l, r)
			}
			if l.X < 0.01 {
				t.Errorf("Left%s stands on the right: %v", name, l)
			}
		}
	}
	if h, n := bind[rig.index("HeadSite")].Pos, bind[0].Pos; h.Z < n.Z+0.5 {
		t.Errorf("the nose %v is not ahead of the hips %v", h, n)
	}
	for _, paw := range []string{"LeftHandSite", "LeftFootSite"} {
		if y := bind[rig.index(paw)].Pos.Y; y < 0 || y > 0.06 {
			t.Errorf("%s stands %.3f m above the ground", paw, y)
		}
	}
}

func TestAnyRigGetsABody(t *testing.T) {
	rig := &Rig{Names: []string{"root", "a", "b", "c"}, Parents: []int16{-1, 0, 1, 0},
		Offsets: []m3.Vec3{{Y: 3}, {Y: 0.5}, {Y: 0.4, Z: 0.1}, {X: 0.3, Y: -0.3}}}
	b := must.Get(New(rig))(t)
	for _, m := range b.Levels {
		if v := closed(t, m.Pos, m.Index); v <= 0 {
			t.Errorf("volume %g", v)
		}
	}
	one, err := New(&Rig{Names: []string{"x"}, Parents: []int16{-1}, Offsets: make([]m3.Vec3, 1)})
	if err != nil || len(one.Levels[0].Index) == 0 {
		t.Errorf("a single joint: %v", err)
	}
}

func TestSameRigSameBytes(t *testing.T) {
	if !reflect.DeepEqual(dogBody(t), dogBody(t)) {
		t.Error("two bodies of one rig differ")
	}
}

func TestBadRigs(t *testing.T) {
	nan := float32(math.NaN())
	for name, r := range map[string]*Rig{
		"empty":   {},
		"lengths": {Names: []string{"a"}, Parents: []int16{-1, 0}, Offsets: make([]m3.Vec3, 1)},
		"order":   {Names: []string{"a", "b"}, Parents: []int16{1, -1}, Offsets: make([]m3.Vec3, 2)},
		"nan":     {Names: []string{"a"}, Parents: []int16{-1}, Offsets: []m3.Vec3{{X: nan}}},
		"many":    {Names: make([]string, 300), Parents: make([]int16, 300), Offsets: make([]m3.Vec3, 300)},
	} {
		if _, err := New(r); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkDog(b *testing.B) {
	rig := dogRig()
	for b.Loop() {
		must.Get(New(rig))(b)
	}
}
