package train

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteCurves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loss")
	points := []Point{{HeldOut: 0.9, Rate: 1e-4}, {Epoch: 1, Train: 0.5, HeldOut: 0.3, Rate: 9.75e-5, Seconds: 42.34}}
	if err := WriteCurves(path, points); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	want := "epoch,train_loss,held_out_loss,learning_rate,seconds\n0,,0.9,0.0001,0.0\n1,0.5,0.3,9.75e-05,42.3\n"
	if string(got) != want {
		t.Errorf("CSV:\n%swant:\n%s", got, want)
	}
	f, err := os.Open(path + ".png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	im, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	colours := map[[3]uint32]bool{}
	for y := range im.Bounds().Dy() {
		for x := range im.Bounds().Dx() {
			r, g, b, _ := im.At(x, y).RGBA()
			colours[[3]uint32{r, g, b}] = true
		}
	}
	if len(colours) < 5 {
		t.Errorf("the picture has %d colours: nothing is drawn", len(colours))
	}
	points[1].Losses = map[string]float64{"error": 0.25, "KL": 40}
	if err := WriteCurves(path, points); err != nil {
		t.Fatal(err)
	}
	if got, err = os.ReadFile(path + ".csv"); err != nil {
		t.Fatal(err)
	}
	want = "epoch,train_loss,held_out_loss,learning_rate,seconds,KL,error\n0,,0.9,0.0001,0.0,0,0\n1,0.5,0.3,9.75e-05,42.3,40,0.25\n"
	if string(got) != want {
		t.Errorf("CSV with parts:\n%swant:\n%s", got, want)
	}
	if _, err := os.Stat(path + ".parts.png"); err != nil {
		t.Error(err)
	}
	if err := WriteCurves(filepath.Join(path, "absent", "x"), points); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("into an absent folder: %v", err)
	}
}

// Losses that explode are drawn, or left out, and do not stop the training.
func TestWriteHugeCurves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loss")
	points := []Point{{HeldOut: 0.9}, {Epoch: 1, Train: 1e200, HeldOut: 5e-324}, {Epoch: 2, Train: 1e308, HeldOut: 1e308, Losses: map[string]float64{"kl": 1e299, "skate": 1e-299}}}
	if err := WriteCurves(path, points); err != nil {
		t.Fatal(err)
	}
}
