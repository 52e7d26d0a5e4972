package motion

import (
	"path/filepath"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testcli"
)

// A recording whose ground is 0.9 m below 0 becomes the same motion 0.9 m lower.
func TestStylizeMarFloor(t *testing.T) {
	const depth = 0.9
	takes, _ := testcli.Takes()
	dir, c := t.TempDir(), takes[0].Clip
	made := func(name string, lower float32) *skel.Clip {
		low := &skel.Clip{Skel: c.Skel, FPS: c.FPS, Frames: 60, Pos: append([]m3.Vec3(nil), c.Pos[:60*c.Skel.Len()]...), Rot: c.Rot[:60*c.Skel.Len()]}
		for f := range low.Frames {
			low.Pos[f*c.Skel.Len()].Y -= lower
		}
		path := filepath.Join(dir, name)
		if err := writeClip(path, low); err != nil {
			t.Fatal(err)
		}
		_, out := marRun(t, path, "old", "", func(o *stylizeFlags) { o.mar.timing = false })
		return out
	}
	level, low := made("level.bvh", 0), made("low.bvh", depth)
	for f := range level.Frames {
		p, q := level.Frame(f)
		p2, q2 := low.Frame(f)
		if d := p[0].Sub(p2[0]).Sub(m3.V(0, depth, 0)).Len(); d > 0.02 {
			t.Fatalf("frame %d: the root is %g m off", f, d)
		}
		for j := range q {
			if a := q[j].Angle(q2[j]); a > 0.1 {
				t.Fatalf("frame %d: %s is turned by %g", f, level.Skel.Names[j], a)
			}
		}
	}
}

// A walk that slides sideways stays on its way, and its hips hardly sink.
func TestFeetFollow(t *testing.T) {
	const speed = 0.3 // m/s
	f, err := newFeet(testcli.Database())
	if err != nil {
		t.Fatal(err)
	}
	takes, _ := testcli.Takes()
	c := takes[0].Clip
	moved := make([]m3.Vec3, c.Skel.Len())
	var off, bounce float32
	for i := range c.Frames {
		pos, rot := c.Frame(i)
		copy(moved, pos)
		moved[0].X += speed * float32(i) / float32(c.FPS)
		got, _ := f.hold(moved, rot)
		off, bounce = got[0].X-pos[0].X, max(bounce, m3.Abs(got[0].Y-pos[0].Y))
	}
	t.Logf("%d frames: %.3f m off, bounce %.4f", c.Frames, off, bounce)
	if all := speed * float32(c.Frames) / float32(c.FPS); !(off < 0.4*all) || bounce > 0.02 {
		t.Errorf("the walk slides %g m of %g; the hips move by %g m", off, all, bounce)
	}
}

// A walk whose feet would stand in the ground is raised: its knees do not fold instead.
func TestFeetRaise(t *testing.T) {
	const depth = 0.03 // m
	f, err := newFeet(testcli.Database())
	if err != nil {
		t.Fatal(err)
	}
	takes, _ := testcli.Takes()
	c := takes[0].Clip
	moved := make([]m3.Vec3, c.Skel.Len())
	var low float32
	for i := range c.Frames {
		pos, rot := c.Frame(i)
		copy(moved, pos)
		moved[0].Y -= depth
		got, _ := f.hold(moved, rot)
		if i > c.Frames/2 {
			low = max(low, m3.Abs(pos[0].Y-got[0].Y))
		}
	}
	if low > 0.6*depth {
		t.Errorf("the hips are up to %.3f m off the walk's", low)
	}
}
