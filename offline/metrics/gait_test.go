package metrics

import (
	"path/filepath"
	"testing"

	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

// On these recordings the back paws' skate was found before to lie between
// 0.057 and 0.088 cm per frame, all paws' between 0.034 and 0.048.
func TestDogSkate(t *testing.T) {
	dir := filepath.Join(mocapdata.Dir(t), "dog")
	for _, name := range []string{"D1_008_KAN01_001", "D1_031_KAN01_001", "D1_047_KAN01_001", "D1_047z_KAN01_005"} {
		b := must.Get(mocap.OpenBVH(filepath.Join(dir, name+".bvh")))(t)
		legs := must.Get(DogLegs(b.Clip.Skel))(t)
		m := Measure(b.Clip.Scaled(0.01), legs)
		if !(m.BackSkate >= 0.0565 && m.BackSkate <= 0.0885 && m.Skate >= 0.0335 && m.Skate <= 0.0485) {
			t.Errorf("%s: skate %.4f, back %.4f", name, m.Skate, m.BackSkate)
		}
	}
}

func TestGroundTruth(t *testing.T) {
	train, held := recordings(t)
	gaits := Gaits()
	all := must.Get(GroundTruth(gaits, train, held))(t)
	for i, m := range all {
		t.Logf("%-7s %+v", gaits[i].Name, m)
		if m.Frames < 400 {
			t.Errorf("%s: only %d frames", gaits[i].Name, m.Frames)
		}
		// The faster, the more the legs bend; turning is like a slow walk.
		if i > 0 && gaits[i].Name != "turn" && (m.Stiffness <= all[i-1].Stiffness || m.BackStiffness <= all[i-1].BackStiffness) {
			t.Errorf("legs bend no more in %s than in %s", gaits[i].Name, gaits[i-1].Name)
		}
	}
	// The paper's turn: 2.74° and 2.15°; its walk of 3.87° and 3.16° is our pace.
	for _, c := range []struct {
		m         Motion
		all, back float64
	}{{all[4], 2.74, 2.15}, {all[1], 3.87, 3.16}} {
		close(t, "stiffness", c.m.Stiffness, c.all, 0.2*c.all)
		close(t, "back stiffness", c.m.BackStiffness, c.back, 0.2*c.back)
	}
	// A gait that includes every frame measures the same as Measure.
	everything := []Gait{{Speed: [2]float64{0, 1e9}, Turn: [2]float64{0, 1e9}}}
	only := *train
	run := [2]int{}
	for _, r := range train.Runs() {
		if train.Clips[train.Clip[r[0]]] == "D1_010_KAN01_004" {
			run = r
		}
	}
	only.Rows = 2 * (run[1] - run[0])
	n := only.Rows / 2
	only.Clip, only.Frame = train.Clip[run[0]:run[1]], train.Frame[run[0]:run[1]]
	only.X, only.Y = train.X[run[0]*480:][:n*480], train.Y[run[0]*363:][:n*363]
	one := must.Get(GroundTruth(everything, &only))(t)
	legs, _ := DogLegs(only.Skeleton)
	if want := Measure(only.Replay(0, n), legs); one[0] != want {
		t.Errorf("%+v, want %+v", one[0], want)
	}
}
