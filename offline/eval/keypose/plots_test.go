package keypose

import (
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	"mannequin/models"
	"mannequin/offline/dataset"
	"mannequin/offline/eval/figure"
)

// rightmost returns how far to the right a colour is in part of a picture, −1 where it
// is not.
func rightmost(img image.Image, part image.Rectangle, c color.RGBA) int {
	for x := part.Max.X - 1; x >= part.Min.X; x-- {
		for y := part.Min.Y; y < part.Max.Y; y++ {
			if color.RGBAModel.Convert(img.At(x, y)) == c {
				return x
			}
		}
	}
	return -1
}

// Figures show the right recordings, and in them how far methods get.
func TestKeyposeFigures(t *testing.T) {
	net := must.Get(models.Open("human-keypose"))(t)
	m := must.Get(keypose.NewModel(net))(t)
	l, sk := feature.Human(), m.Layout.Skel
	// Somebody at rest is moved at speed m/s.
	glide := func(name string, frames int, speed, yaw float32) *dataset.MotionClip {
		c := skel.NewClip(sk, dataset.Rate, frames)
		for f := range frames {
			pos, rot := c.Frame(f)
			copy(pos, sk.Offsets)
			s := float32(f) / dataset.Rate
			pos[0] = m3.V(1, 2, 3+speed*s)
			for j := range rot {
				rot[j] = m3.Quat{W: 1}
			}
			rot[0] = m3.YawQuat(yaw * s)
		}
		return &dataset.MotionClip{Name: "set/" + name, Frames: frames, Poses: c}
	}
	fig := &keyposeFigures{}
	for _, c := range []*dataset.MotionClip{glide("ahead", 130, 1, 0), glide("back", 130, -1, 0), glide("run", 130, 3, 0), glide("slow", 400, 0.1, 0), glide("turn", 130, 0.01, 1)} {
		s := must.Get(fig.recording(l, c, 60))(t)
		if len(s.course) != 121 && c.Frames == 130 {
			t.Fatalf("%d frames from the first pose to the last, want 121", len(s.course))
		}
		rows := make([]float32, len(s.joints)*l.Columns())
		if _, err := l.FromWorld(rows, slices.Concat(s.joints...), dataset.Rate); err != nil {
			t.Fatal(err)
		}
		s.rows(methodCorrected, rows)
		for f := range s.joints {
			for k := range feature.MotionLen {
				rows[f*l.Columns()+l.Body()+k] /= 2 // half as fast as recorded
			}
		}
		s.rows(methodSparse, rows)
		if err := s.clip(methodKeypose, c.Poses); err != nil {
			t.Fatal(err)
		}
		s.made[methodKeypose] = s.made[methodKeypose][:len(s.joints)]
	}
	ahead := fig.of[0]
	for method, want := range map[string]float32{methodCorrected: 0, methodKeypose: 0, methodSparse: 1} {
		if got := ahead.drift(method); m3.Abs(got-want) > 0.02 {
			t.Errorf("%s: %g m off in the end, want %g", method, got, want)
		}
	}
	if off := ahead.off(methodSparse); math.Abs(float64(off)-50) > 2 {
		t.Errorf("joints %g cm off, want 50 on the average of the way", off)
	}
	for _, method := range []string{methodCorrected, methodKeypose} {
		if off := ahead.off(method); !(off < 0.5) {
			t.Errorf("%s: joints %g cm off, which is the recording itself", method, off)
		}
	}
	for want, by := range map[string]func(s *shownRecording) float32{"set/ahead": walk, "set/back": (*shownRecording).aside, "set/turn": (*shownRecording).turn, "set/slow": longWalk} {
		if got := fig.most(60, 0, by); got == nil || got.name != want {
			t.Errorf("%+v is shown, want %s", got, want)
		}
	}
	if fig.most(30, 0, walk) != nil || fig.most(60, 10, walk) != nil {
		t.Error("a recording with other poses or too short a way is shown")
	}
	dir := t.TempDir()
	album := must.Get(figure.NewAlbum(dir))(t)
	if err := fig.draw(album); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range album.Paths {
		names = append(names, filepath.Base(p))
		if s, err := os.Stat(p); err != nil || s.Size() < 5000 || s.Size() > 150<<10 {
			t.Errorf("%s: %v, %v", p, s, err)
		}
	}
	if want := []string{"keypose-walk-1.png", "keypose-backward-1.png", "keypose-paths-1.png"}; !slices.Equal(names, want) {
		t.Fatalf("%v, want %v", names, want)
	}
	// Half of the way: ours gets to the last pose, the one as published does not.
	img := testcli.PNG(t, filepath.Join(dir, "keypose-walk-1.png"))
	b := img.Bounds()
	third := b.Dy() / 3
	row := func(i int) image.Rectangle { return image.Rect(0, i*third+figure.AlongTitle, b.Dx(), (i+1)*third-2) }
	if x := rightmost(img, row(1), draw.Orange); x < b.Dx()/3 || x > b.Dx()*2/3 {
		t.Errorf("as published it gets to %d of %d", x, b.Dx())
	}
	for i := range 3 {
		if x := rightmost(img, row(i), draw.Red); x < b.Dx()*3/4 {
			t.Errorf("row %d: the last pose is at %d of %d", i, x, b.Dx())
		}
	}
	if rightmost(img, row(2), draw.Blue) < 0 || rightmost(img, row(2), draw.Orange) >= 0 {
		t.Error("the last row is not ours")
	}
	// Who goes backward faces right, and goes left.
	img = testcli.PNG(t, filepath.Join(dir, "keypose-backward-1.png"))
	if x := rightmost(img, row(1), draw.Orange); x < b.Dx()*2/3 {
		t.Errorf("who goes backward begins at %d of %d", x, b.Dx())
	}
}
