package skin

import (
	"slices"
	"strconv"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

func number(t testing.TB, text string) float32 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 32)
	if err != nil {
		t.Fatal(err)
	}
	return float32(v)
}

// What we write and read again is the same body: mesh, pose and weights.
func TestRoundTrip(t *testing.T) {
	roundTrip(t, "person", person(t))
	roundTrip(t, "dog", dog(t))
}

func roundTrip(t *testing.T, who string, sk *skel.Skeleton) {
	t.Helper()
	b := grown(t, sk)
	s, err := Read(who+".glb", written(t, sk, b, nil))
	if err != nil {
		t.Fatal(err)
	}
	got, report, err := s.Fit(sk, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report)
	want, m := &b.Levels[0], &got.Levels[0]
	if !slices.Equal(m.Index, want.Index) || !slices.Equal(m.Joints, want.Joints) {
		t.Errorf("%s: other triangles or joints", who)
	}
	var worst, turned, weight float32
	for i := range want.Pos {
		worst = max(worst, m.Pos[i].Dist(want.Pos[i]))
		turned = max(turned, m.Normal[i].Dist(want.Normal[i]))
		for k, w := range want.Weights[i] {
			weight = max(weight, m3.Abs(w-m.Weights[i][k]))
		}
	}
	var place, angle float32
	for j, x := range b.Bind {
		place, angle = max(place, got.Bind[j].Pos.Dist(x.Pos)), max(angle, got.Bind[j].Rot.Angle(x.Rot))
	}
	t.Log(who, worst, turned, weight, place, angle)
	if worst > 2e-6 || turned > 1e-5 || weight > 1e-6 || place > 2e-6 || angle > 1e-3 {
		t.Errorf("%s: vertices are off by %g m, normals by %g, weights by %g, joints by %g m and %g rad", who, worst, turned, weight, place, angle)
	}
}
