package mocap

import (
	"bytes"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testh36m"
)

// A walk posed by the public code's matrices is read back as it was, and level: its joints
// have the same heights and distances. Its heading may differ.
func TestReadH36M(t *testing.T) {
	walk := testh36m.Make(400)
	for name, text := range map[string][]byte{
		"lines": walk.Text,
		"crlf":  bytes.ReplaceAll(walk.Text, []byte("\n"), []byte("\r\n")),
		"loose": append([]byte("\xef\xbb\xbf\n"), bytes.ReplaceAll(bytes.TrimSuffix(walk.Text, []byte("\n")), []byte(","), []byte(" ,\t"))...),
	} {
		b, err := ReadH36M("walk.txt", text)
		if err != nil {
			t.Fatal(name, err)
		}
		c := b.Clip
		if c.Frames != len(walk.World) || c.FPS != H36MRate || c.Skel.Len() != testh36m.Joints || c.Skel.Validate() != nil {
			t.Fatalf("%s: %d frames at %g, %d joints, %v", name, c.Frames, c.FPS, c.Skel.Len(), c.Skel.Validate())
		}
		model := make([]m3.Xform, c.Skel.Len())
		first := make([]m3.Vec3, c.Skel.Len())
		var lift, worst, high float64
		for f := range c.Frames {
			c.Model(model, f)
			if f == 0 {
				lift = float64(model[0].Pos.Y) - walk.World[0][0][1]
			}
			for j, x := range model {
				if f == 0 {
					first[j] = x.Pos
				}
				p, q := walk.World[f][j], walk.World[0][testh36m.Joints-1-j]
				want := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2])
				worst = max(worst, math.Abs(float64(x.Pos.Dist(first[len(first)-1-j]))-want))
				high = max(high, math.Abs(float64(x.Pos.Y)-lift-p[1]))
			}
			if f == 0 {
				worst = 0 // first was not complete
			}
		}
		t.Logf("%s: distances are off by up to %.3f mm, heights by %.1f mm, after a lift of %.1f mm", name, worst, high, lift)
		if !(worst < 0.1) {
			t.Errorf("%s: distances are off by up to %g mm", name, worst)
		}
		// The toes are not all the time on the ground that is fitted through them.
		if !(high < 3 && math.Abs(lift) < 3) {
			t.Errorf("%s: heights are off by up to %g mm, after a lift of %g mm", name, high, lift)
		}
	}
}

func TestReadH36MErrors(t *testing.T) {
	line := strings.TrimSuffix(strings.Repeat("0,", 99), ",") + "\n"
	far := "1e8," + strings.TrimSuffix(strings.Repeat("0,", 98), ",") + "\n"
	for _, c := range []struct{ text, want string }{
		{"", "f.txt:1: expected a line of 99 numbers"},
		{"# nothing\n\n", "f.txt:3: expected a line of 99 numbers"},
		{line + "\n" + line[2:], "f.txt:3: expected 99 numbers with commas between them, a frame of exponential maps of Human3.6M, found 98"},
		{strings.TrimSuffix(line, "\n") + ",0\n", "f.txt:1: expected 99 numbers with commas between them, a frame of exponential maps of Human3.6M, found 100"},
		{line + "x" + line[1:], `f.txt:2: expected number 1 of the frame, found "x"`},
		{line + line[:4] + line[5:], "f.txt:2: expected number 3 of the frame, found \"\""},
		{"0,nan" + line[3:], `f.txt:1: expected number 2 of the frame, found "nan"`},
		{"0,-2e9" + line[3:], "f.txt:1: number 2 of the frame is -2e9: beyond ±1e+09"},
		{far + far, "f.txt:2: the body has moved beyond ±1e+08"},
		{"HIERARCHY\nROOT Hips\n", "f.txt:1: expected 99 numbers"},
	} {
		if _, err := ReadH36M("f.txt", []byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.30q: %v, want %s", c.text, err, c.want)
		}
	}
}

func FuzzReadH36M(f *testing.F) {
	f.Add(testh36m.Make(3).Text)
	f.Add([]byte(strings.TrimSuffix(strings.Repeat("1e8,", 99), ",")))
	f.Add([]byte("#\r" + strings.TrimSuffix(strings.Repeat("-.5e-3,", 99), ",") + "\r\n1,2"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := ReadH36M("fuzz", data)
		if saved, serr := readH36M("fuzz", data, true); serr == nil && (saved.Clip.Frames == 0 || notFinite(saved.Clip.Pos)) || err == nil && serr != nil {
			t.Fatal(serr)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") {
				t.Fatal(err)
			}
			return
		}
		again := rewritten(t, b)
		must.Do(t, sameClip(b.Clip, again.Clip, 1e-5, 1e-4))
	})
}

// Walks of Human3.6M look like walks. This checks the signs and orders that the files do not
// define. Bones have the right length by construction.
func TestH36MData(t *testing.T) {
	for _, path := range h36mFiles(t, "S[15]_walking_*.txt.xz") {
		name := filepath.Base(path)
		b, err := ReadH36M(name, unxz(t, path))
		if err != nil {
			t.Error(err)
			continue
		}
		c := b.Clip
		n := c.Skel.Len()
		model := make([]m3.Xform, n)
		pos := make([]m3.Vec3, c.Frames*n)
		for f := range c.Frames {
			c.Model(model, f)
			for j, x := range model {
				pos[f*n+j] = x.Pos.Scale(0.001)
			}
		}
		at := func(f int, joint string) m3.Vec3 { return pos[f*n+c.Skel.Index(joint)] }
		var hips, way, ahead, low, high float64
		bent := 0
		const half = 12 // frames before and after
		for f := range c.Frames {
			foot := min(at(f, "LToe").Y, at(f, "RToe").Y)
			hips += float64(at(f, "Hip").Y-foot) / float64(c.Frames)
			low, high = min(low, float64(foot)), max(high, float64(foot))
			left := at(f, "LHip").Sub(at(f, "RHip")).Normalize(m3.Vec3{})
			for _, s := range []string{"L", "R"} {
				thigh, shin := at(f, s+"Knee").Sub(at(f, s+"Hip")), at(f, s+"Foot").Sub(at(f, s+"Knee"))
				if thigh.Cross(shin).Dot(left) < 0 {
					bent++
				}
			}
			if f >= half && f+half < c.Frames {
				went := at(f+half, "Hip").Sub(at(f-half, "Hip")).Flat()
				way += float64(went.Len())
				ahead += float64(left.Cross(m3.Up).Flat().Normalize(m3.Vec3{}).Dot(went))
			}
		}
		speed := way / float64(c.Frames-2*half) / (2 * half) * H36MRate
		facing := math.Acos(min(1, ahead/way)) * 180 / math.Pi
		t.Logf("%s: %d frames, hips %.3f m over the lower foot, %.2f m/s, facing within %.0f° of it, lower foot %.3f to %.3f m, knees bend ahead in %d", name, c.Frames, hips, speed, facing, low, high, bent)
		if !(hips > 0.85 && hips < 1 && speed > 0.5 && speed < 2 && facing < 30 && low > -0.04 && high < 0.04) || bent > c.Frames/100 {
			t.Errorf("%s: hips %.3f m over the lower foot, %.2f m/s, facing within %.0f° of it, lower foot %.3f to %.3f m, knees bend ahead in %d of %d frames", name, hips, speed, facing, low, high, bent, c.Frames)
		}
	}
}

// h36mFiles lists files of Human3.6M, or skips the test.
func h36mFiles(t *testing.T, glob string) []string {
	files := must.Get(filepath.Glob(filepath.Join(mocapdata.Dir(t), "h36m", glob)))(t)
	if len(files) == 0 {
		t.Skipf("no %s in the data folder's h36m", glob)
	}
	return files
}

// unxz unpacks a file by the program xz, or skips the test.
func unxz(t *testing.T, path string) []byte {
	xz, err := exec.LookPath("xz")
	if err != nil {
		t.Skip("the program xz is not here: it unpacks the recordings")
	}
	text, err := exec.Command(xz, "-dc", path).Output()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return text
}
