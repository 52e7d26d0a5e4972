package feature

import (
	"math"
	"slices"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

func TestMirrorTwiceIsIdentity(t *testing.T) {
	m := Dog()
	m.Phases = true
	in, out := must.Get2(m.MirrorColumns())(t)
	for _, cols := range [][]Column{in, out} {
		a, b, c := make([]float32, len(cols)), make([]float32, len(cols)), make([]float32, len(cols))
		for i := range a {
			a[i] = float32(i) + 1
		}
		Mirror(b, a, cols)
		Mirror(c, b, cols)
		same := 0
		for i := range a {
			if c[i] != a[i] {
				t.Fatalf("column %d: %g became %g", i, a[i], c[i])
			}
			if b[i] == a[i] {
				same++
			}
		}
		if same == len(a) {
			t.Error("the mirror changes nothing")
		}
	}
}

// Zero has one sign: rows of equal values have equal bytes.
func TestMirrorOfZero(t *testing.T) {
	dst := make([]float32, 1)
	Mirror(dst, []float32{0}, []Column{{0, -1}})
	if math.Signbit(float64(dst[0])) {
		t.Error("the mirror image of 0 is −0")
	}
}

// A bone's image is a right-handed frame with the same forward and up as the reflected matrix.
func TestMirrorKeepsFramesRightHanded(t *testing.T) {
	m := Dog()
	in, _ := must.Get2(m.MirrorColumns())(t)
	q := m3.AxisAngle(m3.V(1, 2, -0.5).Normalize(m3.Up), 1.1)
	x, u, f := q.Rotate(m3.V(1, 0, 0)), q.Rotate(m3.V(0, 1, 0)), q.Rotate(m3.V(0, 0, 1))
	row, img := make([]float32, m.Inputs()), make([]float32, m.Inputs())
	put := func(at int, v m3.Vec3) { row[at], row[at+1], row[at+2] = v.X, v.Y, v.Z }
	get := func(at int) m3.Vec3 { return m3.V(img[at], img[at+1], img[at+2]) }
	reflect := func(v m3.Vec3, k float32) m3.Vec3 { return m3.V(-v.X*k, v.Y*k, v.Z*k) }
	for _, c := range []struct {
		from, to string
		y, z     float32 // diagonal of S in M·R·S, M = diag(−1, 1, 1)
	}{
		{"LeftHand", "RightHand", 1, -1},
		{"Hips", "Hips", 1, -1},
		{"RightShoulder", "LeftShoulder", -1, 1},
		{"Head", "Head", -1, 1},
	} {
		from, to := m.InBone(slices.Index(m.Joints, c.from)), m.InBone(slices.Index(m.Joints, c.to))
		put(from+BoneForward, f)
		put(from+BoneUp, u)
		Mirror(img, row, in)
		gf, gu := get(to+BoneForward), get(to+BoneUp)
		if gf != reflect(f, c.z) || gu != reflect(u, c.y) {
			t.Errorf("%s: forward %v up %v, want %v %v", c.from, gf, gu, reflect(f, c.z), reflect(u, c.y))
		}
		if d := gu.Cross(gf).Sub(reflect(x, 1)); !(d.Len() <= 1e-5) {
			t.Errorf("%s: up × forward is %v, the reflected x axis %v: not right-handed", c.from, gu.Cross(gf), reflect(x, 1))
		}
	}
}

func TestMirrorRejects(t *testing.T) {
	for _, y := range [][]string{{"LeftHand"}, {"Wheel"}} {
		m := Dog()
		m.MirrorY = y
		if _, _, err := m.MirrorColumns(); err == nil {
			t.Errorf("MirrorY %q accepted", y)
		}
	}
}

func TestPairsNeedsBothSides(t *testing.T) {
	if _, err := Pairs([]string{"Hips", "LeftFoot"}); err == nil {
		t.Error("a Left without its Right accepted")
	}
	p, err := Pairs([]string{"Hips", "LeftFoot", "RightFoot"})
	if err != nil || p[0] != 0 || p[1] != 2 || p[2] != 1 {
		t.Errorf("%v %v", p, err)
	}
}
