package eval

import (
	"os"
	"path/filepath"
	"testing"

	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/testcli"
	evallatent "mannequin/offline/eval/latent"
)

// The shipped latent space gives walks back that it has not seen within 4 cm, and its
// sliders tell what they are called, and set it.
func TestEvalShippedLatent(t *testing.T) {
	data := t.TempDir()
	for _, name := range []string{"07_01", "07_04", "08_10", "exp_test_walking_walking_1"} {
		if err := os.Symlink(filepath.Join(mocapdata.Dir(t), "cmu-locomotion", name+".bvh"), filepath.Join(data, name+".bvh")); err != nil {
			t.Fatal(err)
		}
	}
	r := testcli.Report[evallatent.Report](t, mannequin, "eval", "latent", data, "--rates=false", "--chains", "2", "--json")
	t.Logf("%+v\n%+v\n%+v\n%+v", r.Walks, r.Told, r.Made, r.Chain)
	if len(r.Recordings) != 3 || r.Walks.RMS > 4 || r.Walks.Refined > 3.5 || r.Chain.Mean > 4 {
		t.Errorf("%d recordings, %.2f cm, after a fit %.2f, chains %.2f cm apart", len(r.Recordings), r.Walks.RMS, r.Walks.Refined, r.Chain.Mean)
	}
	for i, q := range r.Made {
		if least := []float64{0.95, 0.5, 0.95, 0.5, 0.8}[i]; q.R2 < least || q.Slope <= 0 {
			t.Errorf("slider %s sets it with R² %.2f and slope %g, want %g", q.Name, q.R2, q.Slope, least)
		}
	}
	if lead := r.Told[2]; lead.R2 < 0.9 || lead.Component != 3 {
		t.Errorf("component %d tells which leg leads, R² %.2f", lead.Component, lead.R2)
	}
}
