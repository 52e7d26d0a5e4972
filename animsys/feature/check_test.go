package feature

import (
	"math"
	"testing"

	"mannequin/engine/m3"
)

// One value that is not finite is found wherever it stands.
func TestAllFinite(t *testing.T) {
	inf := float32(math.Inf(1))
	bad := []float32{float32(math.NaN()), inf, -inf}
	for n := range 9 {
		places, quats := make([]Place, n), make([]m3.Quat, n)
		if !AllFinite(places) || !AllFinite(quats) {
			t.Fatal("zeros are not finite")
		}
		for i := range n {
			for k, at := range []*float32{&places[i].Pos.X, &places[i].Pos.Y, &places[i].Pos.Z, &places[i].Yaw} {
				*at = bad[(i+k)%3]
				if AllFinite(places) {
					t.Errorf("%v are finite", places)
				}
				*at = 1e38
			}
			for k, at := range []*float32{&quats[i].X, &quats[i].Y, &quats[i].Z, &quats[i].W} {
				*at = bad[(i+k)%3]
				if AllFinite(quats) {
					t.Errorf("%v are finite", quats)
				}
				*at = 1e38
			}
		}
	}
}
