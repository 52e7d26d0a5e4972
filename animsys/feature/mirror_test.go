package feature

import (
	"math"
	"testing"

	"mannequin/engine/m3"
)

func TestMirrorTwiceIsIdentity(t *testing.T) {
	in, out, err := Dog().MirrorColumns()
	if err != nil {
		t.Fatal(err)
	}
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

// The image of a bone is a right-handed frame, and reflecting the joint's
// world matrix by hand gives the same forward and up.
func TestMirrorKeepsFramesRightHanded(t *testing.T) {
	m := Dog()
	in, _, err := m.MirrorColumns()
	if err != nil {
		t.Fatal(err)
	}
	q := m3.AxisAngle(m3.V(1, 2, -0.5).Normalize(m3.Up), 1.1)
	f, u := q.Rotate(m3.V(0, 0, 1)), q.Rotate(m3.V(0, 1, 0))
	row, img := make([]float32, m.Inputs()), make([]float32, m.Inputs())
	const left, right = 9, 14 // LeftHand, RightHand
	put := func(at int, v m3.Vec3) { row[at], row[at+1], row[at+2] = v.X, v.Y, v.Z }
	get := func(at int) m3.Vec3 { return m3.V(img[at], img[at+1], img[at+2]) }
	put(m.InBone(left)+BoneForward, f)
	put(m.InBone(left)+BoneUp, u)
	Mirror(img, row, in)
	gf, gu := get(m.InBone(right)+BoneForward), get(m.InBone(right)+BoneUp)
	// M·R·S with M = diag(−1,1,1), S = diag(1,1,−1), in matrix entries.
	x := q.Rotate(m3.V(1, 0, 0))
	wx, wy, wz := m3.V(-x.X, x.Y, x.Z), m3.V(-u.X, u.Y, u.Z), m3.V(f.X, -f.Y, -f.Z)
	if gf != wz || gu != wy {
		t.Errorf("forward %v up %v, want %v %v", gf, gu, wz, wy)
	}
	if d := gu.Cross(gf).Sub(wx); math.Abs(float64(d.Dot(d))) > 1e-10 {
		t.Errorf("up × forward is %v, the reflected x axis is %v: not right-handed", gu.Cross(gf), wx)
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
