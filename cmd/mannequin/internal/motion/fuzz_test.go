package motion

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/manifold"
	"mannequin/animsys/skel"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models"
)

// named fails the test if an error of a reader does not name its file.
func named(t *testing.T, file string, err error) {
	t.Helper()
	if err != nil && !strings.HasPrefix(err.Error(), file+":") || err != nil && strings.Contains(err.Error(), "\n") {
		t.Fatalf("%q does not name %s", err, file)
	}
}

func finite(v ...float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return x-x != 0 })
}

// Keyframes are an error that names the file, or a track of finite numbers. Recordings that are
// called stroll.bvh are there.
func FuzzKeys(f *testing.F) {
	m := must.Get(keypose.NewModel(must.Get(models.Open("human-keypose"))(f)))(f)
	clip := skel.NewClip(m.Layout.Skel, 181, 60)
	for i := range clip.Frames {
		clip.Pos[i*clip.Skel.Len()] = m3.V(0, 0.95, float32(i)/60)
	}
	open := func(path string) (*skel.Clip, error) {
		if path != "stroll.bvh" {
			return nil, errors.New("no such file")
		}
		return clip, nil
	}
	f.Add([]byte(threeKeys))
	f.Add([]byte(threeKeys + "heading = -90\nplace = [1, 2]\nweight = 0.5\n[[path]]\ntime = 1\nplace = [0, 0]\n[[path]]\ntime = 3\nplace = [2.6, 0]\nheading = 90\n"))
	f.Add([]byte("[[key]]\ntime = 1\nfile = \"stroll.bvh\"\nweights = {Spine = 0.5, path = 1}\njoints = [\"root\"]\n[[key]]\ntime = 2e0\nfile = \"stroll.bvh\"\n"))
	f.Add([]byte("[[key]]\ntime = 1\nfile = \"\"\n[[path]]\ntime = 1\nplace = [0,1]\nheading = 1e300\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 2000 {
			return
		}
		_, track, err := readKeys("k.toml", text, m.Layout, open)
		if named(t, "k.toml", err); err != nil {
			return
		}
		if track.Frames < 2 || track.Frames > betweenRate*keypose.MaxDuration+1 || !finite(track.Weight...) {
			t.Fatalf("%d frames, weights %v", track.Frames, track.Weight)
		}
		for f, p := range track.Place {
			if !p.Pos.Finite() || !m3.Finite(p.Yaw) {
				t.Fatalf("frame %d is at %v", f, p)
			}
		}
	})
}

// Targets are an error that names the file, or places that are finite in a motion of four seconds.
func FuzzTargets(f *testing.F) {
	m := must.Get(input.OpenManifold("human"))(f)
	f.Add([]byte("[[target]]\njoint = \"LeftHand\"\nat = [0, 1.5, 1]\nfrom = 1\nto = 1.1\nease = 0.2\nweight = 10\nspace = \"body\"\n[[target]]\njoint = \"LeftFoot\"\nat = [0, 0, 1]\nfrom = 3\n"))
	f.Add([]byte("[[target]]\njoint = \"Head\"\nat = [0, 1e30, 1]\nfrom = 3.99\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		g, err := readTargets("t.toml", text, "world", "body")
		if named(t, "t.toml", err); err != nil {
			return
		}
		const frames = 4 * manifold.Rate
		job := &manifold.Edit{Batch: 1, Length: frames, Rows: make([]float32, frames*m.Layout.Columns())}
		err = g.aim(m, job, feature.Place{})
		if named(t, "t.toml", err); err == nil && (!finite(job.Want...) || !finite(job.Weight...)) {
			t.Fatal("wants what is not finite")
		}
	})
}

// Gaps are an error that names the file, or lie within the motion.
func FuzzGaps(f *testing.F) {
	l := feature.Human()
	f.Add([]byte("[[missing]]\njoints = [\"all\"]\nfrom = 2\nto = 2.2\n[[missing]]\njoints = [\"Head\", \"LeftHand\"]\n"))
	f.Add([]byte("[[missing]]\njoints = [\"Hips\"]\nfrom = 1e300\nto = -1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		gaps, err := readGaps("g.toml", text, l, 240)
		named(t, "g.toml", err)
		for _, g := range gaps {
			if err == nil && !(0 <= g.From && g.From < g.To && g.To <= 240) {
				t.Fatalf("gap %+v", g)
			}
		}
	})
}

// A table of hands or feet is an error that names the file, or finite places for its seconds.
func FuzzGivenTable(f *testing.F) {
	m := must.Get(input.OpenManifold("human"))(f)
	var columns [2][]int
	for i, kind := range []string{"punch", "kick"} {
		columns[i] = must.Get(m.Columns(kind))(f)
	}
	f.Add(false, []byte("\ufeff# punch\ntime,LeftHand.x,LeftHand.y,LeftHand.z,RightHand.x,RightHand.y,RightHand.z\n0,1,1,1,1,1,1\n0.5,1,1,1,1,-1e4,1\n1,1,1,1,1,1,1\n"))
	head := "time"
	for _, c := range columns[1] {
		head += "," + m.Layout.Joints[c/3] + "." + string("xyz"[c%3])
	}
	f.Add(true, []byte(head+"\n0"+strings.Repeat(", 1", len(columns[1]))+"\n0.1"+strings.Repeat(",\"2\"", len(columns[1]))+"\n"))
	f.Fuzz(func(t *testing.T, feet bool, text []byte) {
		c := columns[0]
		if feet {
			c = columns[1]
		}
		given, err := givenTable(m, "t.csv", text, c)
		if named(t, "t.csv", err); err != nil {
			return
		}
		if n := len(given) / len(c); len(given)%len(c) != 0 || n < 2 || n > maxGiven*manifold.Rate+1 || !finite(given...) {
			t.Fatalf("%d values for %d columns", len(given), len(c))
		}
	})
}
