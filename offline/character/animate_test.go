package character

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// person is a character of a Mixamo-like rig.
const person = "../../animsys/skin/testdata/plain-person.glb"

// renamed returns a copy of a file of testdata in which joints have other names. The new ones are as long
// as the old ones in a GLB, which has the lengths of its parts.
func renamed(t *testing.T, name string, pairs ...string) string {
	t.Helper()
	data := must.Get(os.ReadFile("testdata/" + name))(t)
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(strings.NewReplacer(pairs...).Replace(string(data))), 0o644))
	return path
}

// A motion of the same rig comes onto the character's own bones, whatever its rest pose: all joints are
// where the motion has them.
func TestAnimate(t *testing.T) {
	mixamo := []string{"ROOT ", "ROOT mixamorig:", "JOINT ", "JOINT mixamorig:"}
	for _, c := range []struct {
		motion string
		pairs  []string
	}{
		{"rest-tpose-same-motion.bvh", nil}, {"rest-bones-along-y.bvh", nil}, {"rest-tpose-same-motion.bvh", mixamo}, {"rest-bones-along-y.bvh", mixamo},
	} {
		b := must.Get(mocap.Open(renamed(t, c.motion, c.pairs...), mocap.OpenOptions{}))(t)
		b, stance := retarget.Upright(c.motion, b)
		a, err := Animate(person, b.Clip, stance.Rest, "walk")
		if err != nil {
			t.Errorf("%s: %v", c.motion, err)
			continue
		}
		if a.Driven != 22 || len(a.Missing) > 0 || m3.Abs(float32(a.Scale)-0.01) > 1e-4 || a.Vertices != 208 {
			t.Errorf("%s: %d joints, %v missing, scale %g", c.motion, a.Driven, a.Missing, a.Scale)
		}
		out := filepath.Join(t.TempDir(), "out.glb")
		f := must.Get(os.Create(out))(t)
		must.Do(t, a.Write(f))
		must.Do(t, f.Close())
		if s := must.Get(Open(out))(t); s.Vertices() != 208 {
			t.Errorf("%d vertices", s.Vertices())
		}
		is := must.Get(mocap.Open(out, mocap.OpenOptions{Animation: "walk"}))(t).Clip
		if is.Frames != b.Clip.Frames || m3.Abs(float32(is.FPS-b.Clip.FPS)) > 0.01 {
			t.Errorf("%d frames at %g", is.Frames, is.FPS)
		}
		far, turn := apart(is, b.Clip.Scaled(0.01)), turned(is, must.Get(mocap.Open("testdata/rest-tpose-same-motion.bvh", mocap.OpenOptions{}))(t).Clip)
		if far > 2e-3 || turn > 0.35 {
			t.Errorf("%s: a joint is %.1f cm off, one %.2f rad", c.motion, 100*far, turn)
		}
	}
}

// apart returns the largest distance of joints of the same names, with or without mixamorig:.
func apart(a, b *skel.Clip) (far float32) {
	x, y := make([]m3.Xform, a.Skel.Len()), make([]m3.Xform, b.Skel.Len())
	for f := range a.Frames {
		a.Model(x, f)
		b.Model(y, f)
		for j, name := range b.Skel.Names {
			if i := a.Skel.Index(strings.TrimPrefix(name, "mixamorig:")); i >= 0 {
				far = max(far, x[i].Pos.Dist(y[j].Pos))
			}
		}
	}
	return far
}

// turned returns the largest angle between joints of the same names.
func turned(a, b *skel.Clip) (angle float32) {
	x, y := make([]m3.Xform, a.Skel.Len()), make([]m3.Xform, b.Skel.Len())
	for f := range a.Frames {
		a.Model(x, f)
		b.Model(y, f)
		for j, name := range b.Skel.Names {
			if i := a.Skel.Index(name); i >= 0 {
				angle = max(angle, x[i].Rot.Angle(y[j].Rot))
			}
		}
	}
	return angle
}

// A motion of a larger body moves the character by its own size.
func TestAnimateScaled(t *testing.T) {
	b := must.Get(mocap.Open("testdata/rest-tpose-same-motion.bvh", mocap.OpenOptions{}))(t)
	small, err := Animate(person, b.Clip.Scaled(0.02), nil, "walk")
	if err != nil || m3.Abs(float32(small.Scale)-0.5) > 1e-3 {
		t.Errorf("scale %g, %v", small.Scale, err)
	}
}

func TestAnimateRejects(t *testing.T) {
	b := must.Get(mocap.Open("testdata/rest-tpose-same-motion.bvh", mocap.OpenOptions{}))(t)
	y := must.Get(mocap.Open("testdata/rest-bones-along-y.bvh", mocap.OpenOptions{}))(t)
	other := must.Get(mocap.Open(renamed(t, "rest-tpose-same-motion.bvh", "Left", "L_", "Right", "R_"), mocap.OpenOptions{}))(t)
	for want, c := range map[string]*skel.Clip{
		"the motion has other joints than the character: 6 of its 22 are among the character's 22": other.Clip,
		"at rest 2 bones point elsewhere by more than 110°":                                        y.Clip,
	} {
		if _, err := Animate(person, c, nil, "walk"); !errors.Is(err, ErrOtherRig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Animate("testdata/none.glb", b.Clip, nil, "walk"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Animate(person, skel.NewClip(b.Clip.Skel, 30, 0), nil, "walk"); err == nil || !strings.Contains(err.Error(), "0 frames") {
		t.Error(err)
	}
}
