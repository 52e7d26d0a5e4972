package m3

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func genVec(t *rapid.T, name string) Vec3 {
	g := rapid.Float32Range(-10, 10)
	return Vec3{g.Draw(t, name+"x"), g.Draw(t, name+"y"), g.Draw(t, name+"z")}
}

func genQuat(t *rapid.T, name string) Quat {
	return FromRotationVector(genVec(t, name).Scale(0.4))
}

func near(a, b Vec3, tol float32) bool { return a.Dist(b) <= tol }

// The step is level at both ends, half way up in the middle, and stays at its ends.
func TestSmoothStep(t *testing.T) {
	for x, want := range map[float32]float32{-1: 0, 2: 0, 2.001: 0, 3: 0.5, 3.999: 1, 4: 1, 9: 1} {
		if got := SmoothStep(2, 4, x); Abs(got-want) > 1e-5 {
			t.Errorf("at %g it is %g, want %g", x, got, want)
		}
	}
}

func TestXformInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := Xform{genVec(t, "p"), genQuat(t, "q")}
		p := genVec(t, "v")
		if got := x.Inv().Apply(x.Apply(p)); !near(got, p, 1e-4) {
			t.Fatalf("got %v want %v", got, p)
		}
		y := Xform{genVec(t, "p2"), genQuat(t, "q2")}
		if a, b := x.Mul(y).Apply(p), x.Apply(y.Apply(p)); !near(a, b, 1e-4) {
			t.Fatalf("Mul is not composition: %v %v", a, b)
		}
	})
}

func TestQuatAxesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuat(t, "q")
		x, y, z := q.Rotate(V(1, 0, 0)), q.Rotate(V(0, 1, 0)), q.Rotate(V(0, 0, 1))
		if a := q.Angle(FromAxes(x, y, z)); a > 2e-3 {
			t.Fatalf("FromAxes off by %g rad", a)
		}
		if a := q.Angle(LookRotation(z, y)); a > 2e-3 {
			t.Fatalf("LookRotation off by %g rad", a)
		}
		if a := q.Angle(FromRotationVector(q.RotationVector())); a > 2e-3 {
			t.Fatalf("rotation vector off by %g rad", a)
		}
	})
}

func TestBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := genVec(t, "a").Normalize(Up)
		b := genVec(t, "b").Normalize(Up)
		// And nearly opposite ones.
		c := genVec(t, "off").Scale(Exp(-rapid.Float32Range(0, 20).Draw(t, "near"))).Sub(a).Normalize(a.Neg())
		for _, to := range []Vec3{b, c} {
			if q := Between(a, to); !near(q.Rotate(a), to, 4e-6) || Abs(q.Dot(q)-1) > 1e-6 {
				t.Fatalf("Between(%v,%v) carries to %v", a, to, q.Rotate(a))
			}
		}
	})
	for _, a := range []Vec3{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} {
		if got := Between(a, a.Neg()).Rotate(a); !near(got, a.Neg(), 1e-5) {
			t.Errorf("opposite of %v: %v", a, got)
		}
	}
}

func TestYaw(t *testing.T) {
	for _, yaw := range []float32{-3, -1, 0, 0.5, 3} {
		if got := YawQuat(yaw).Yaw(); Abs(WrapAngle(got-yaw)) > 1e-6 {
			t.Errorf("yaw %g came back as %g", yaw, got)
		}
	}
	// The heading is the forward axis's, to the bit.
	rapid.Check(t, func(t *rapid.T) {
		q := genQuat(t, "q")
		if f := q.Rotate(V(0, 0, 1)); q.Forward() != f || q.Yaw() != YawOf(f) {
			t.Fatalf("forward %v, yaw %g; want %v, %g", q.Forward(), q.Yaw(), f, YawOf(f))
		}
	})
}

func TestSlerpEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genQuat(t, "a"), genQuat(t, "b")
		if a.Slerp(b, 0).Angle(a) > 2e-3 || a.Slerp(b, 1).Angle(b) > 2e-3 {
			t.Fatal("slerp misses its ends")
		}
		h := a.Slerp(b, 0.5)
		if d := h.Angle(a) - h.Angle(b); Abs(d) > 4e-3 {
			t.Fatalf("the middle is not in the middle: %g", d)
		}
	})
}

// The closed form must satisfy x” = −2y x' − y² (x − g), integrated in float64.
func TestSpringMatchesODE(t *testing.T) {
	const halflife, dt = 0.2, 0.3
	y := 2 * math.Ln2 / halflife
	x, v, g := 1.0, -3.0, 2.0
	n := 300000
	h := dt / float64(n)
	for range n {
		a := -2*y*v - y*y*(x-g)
		v += a * h
		x += v * h
	}
	gx, gv := Spring(1, -3, 2, halflife, dt)
	if math.Abs(float64(gx)-x) > 1e-4 || math.Abs(float64(gv)-v) > 1e-3 {
		t.Errorf("spring (%g, %g), ODE (%g, %g)", gx, gv, x, v)
	}
	wx, wv := SpringVec(V(1, 0, 0), V(-3, 0, 0), V(2, 0, 0), halflife, dt)
	if wx.X != gx || wv.X != gv {
		t.Error("vector spring differs from scalar spring")
	}
}

func TestNormalizeDegenerate(t *testing.T) {
	if (Vec3{}).Normalize(Up) != Up {
		t.Error("zero vector")
	}
	nan := float32(math.NaN())
	if (Quat{nan, 0, 0, 1}).Normalize() != Ident {
		t.Error("NaN quaternion")
	}
	if Finite(nan) || Finite(float32(math.Inf(1))) || !Finite(3) {
		t.Error("Finite")
	}
}
