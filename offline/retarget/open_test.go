package retarget

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/offline/mocap"
)

// written writes clips one beside the other into a BVH and returns its path.
func written(t *testing.T, clips ...*skel.Clip) string {
	t.Helper()
	all := &skel.Skeleton{}
	for _, c := range clips {
		first := int16(all.Len())
		for j, p := range c.Skel.Parents {
			if p >= 0 {
				p += first
			}
			all.Parents, all.Names = append(all.Parents, p), append(all.Names, c.Skel.Names[j])
		}
		all.Offsets, all.EndSite = append(all.Offsets, c.Skel.Offsets...), append(all.EndSite, c.Skel.EndSite...)
	}
	out := skel.NewClip(all, clips[0].FPS, clips[0].Frames)
	for f := range out.Frames {
		pos, rot := out.Frame(f)
		for _, c := range clips {
			p, r := c.Frame(f)
			pos, rot = pos[copy(pos, p):], rot[copy(rot, r):]
		}
	}
	var b bytes.Buffer
	must.Do(t, mocap.WriteClip(&b, out))
	path := filepath.Join(t.TempDir(), "f.bvh")
	must.Do(t, os.WriteFile(path, b.Bytes(), 0o644))
	return path
}

// Of two people in a file one is taken, and the other can be; their joints do not mix.
func TestTwoPeople(t *testing.T) {
	a, b := opened(t, "rest-tpose-same-motion.bvh"), opened(t, "rest-bones-along-y.bvh")
	for f := range b.Frames {
		b.Pos[f*b.Skel.Len()].X += 300
	}
	path := written(t, a, b)
	first, rep := must.Get2(Open(path, OpenOptions{}))(t)
	alone, _ := guessed(t, a)
	if d, _ := apart(t, first, alone); d > 1e-3 {
		t.Errorf("%g m from the first alone", d)
	}
	if notes := fmt.Sprint(rep.Notes); !strings.Contains(notes, "f.bvh: it has 2 people, Hips, Hips_2: took Hips; --root takes another") {
		t.Error(notes)
	}
	var opt OpenOptions
	opt.Root = "Hips_2"
	second, rep := must.Get2(Open(path, opt))(t)
	alone, _ = guessed(t, b)
	if d, _ := apart(t, second, alone); d > 1e-3 || len(rep.Notes) > 0 {
		t.Errorf("%g m from the second alone, %v", d, rep.Notes)
	}
	// A prop is nobody.
	prop := &skel.Skeleton{Names: []string{"Box", "BoxSite"}, Parents: []int16{-1, 0}, Offsets: make([]m3.Vec3, 2), EndSite: []bool{false, true}}
	_, rep = must.Get2(Open(written(t, skel.NewClip(prop, 30, a.Frames), a), OpenOptions{}))(t)
	if len(rep.Notes) > 0 {
		t.Error(rep.Notes)
	}
}

// The profile that explains more of a body wins over a smaller one that fits wholly, and what the file
// lacks is told. Trunks with more joints than a profile has are not its.
func TestDetectNearly(t *testing.T) {
	lacking := func(names ...string) *skel.Clip {
		c := walk(30, 1)
		for j, n := range c.Skel.Names {
			if slices.Contains(names, n) {
				c.Skel.Names[j] = fmt.Sprint("Part", j)
			}
		}
		return c
	}
	for want, c := range map[string]*skel.Clip{
		"cmu": walk(30, 1), "cmu but for LeftHandIndex1, RightHandIndex1": lacking("LeftHandIndex1", "RightHandIndex1"),
		"cmu but for Neck": lacking("Neck"), "guessed": rename(lacking("LowerBack", "Neck"), "Neck1", "Neck"), "h21": lacking("LeftHandIndex1", "RightHandIndex1", "LowerBack", "Neck"),
	} {
		p, _ := must.Get2(ProfileFor(&mocap.Recording{Clip: c}))(t)
		_, rep := run(t, job(c, p))
		var missing []string
		for _, m := range rep.Missing {
			missing = append(missing, m[:strings.Index(m, " ")])
		}
		got := p.Name
		if slices.Sort(missing); missing != nil {
			got += " but for " + strings.Join(missing, ", ")
		}
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	_, rep := must.Get2(Open(written(t, lacking("LeftHandIndex1", "RightHandIndex1")), OpenOptions{}))(t)
	if notes := fmt.Sprint(rep.Notes); !strings.Contains(notes, "profile cmu fits, but the file lacks LeftHandIndex1 (for LeftHandIndex1), RightHandIndex1") {
		t.Error(notes)
	}
	// Mixamo's rig without its prefix: its chest is Spine2, which h21 and cmu do not know.
	c := opened(t, "rest-tpose-same-motion.bvh")
	for j, n := range c.Skel.Names {
		if n == "Neck" {
			c.Skel.Names[j] = "Neck1"
		}
	}
	if p, found := must.Get2(ProfileFor(&mocap.Recording{Clip: c}))(t); found == nil || p.Joints["Spine1"] != "Spine2" {
		t.Errorf("profile %s, chest %s", p.Name, p.Joints["Spine1"])
	}
}

func rename(c *skel.Clip, from, to string) *skel.Clip {
	c.Skel.Names[c.Skel.Index(from)] = to
	return c
}

// A rate that is improbable is not resampled.
func TestOpenRate(t *testing.T) {
	const path = "../mocap/testdata/frame-time-in-ms.bvh"
	if _, _, err := Open(path, OpenOptions{FPS: 60}); err == nil || !strings.Contains(err.Error(), "in milliseconds it is 30 frames per second; --frame-rate sets the rate") {
		t.Error(err)
	}
	opt := OpenOptions{FPS: 60}
	opt.FrameRate = 30
	c, rep := must.Get2(Open(path, opt))(t)
	if c.Frames != 47 || c.FPS != 60 || rep.FileFPS != 30 || len(rep.Notes) > 0 {
		t.Errorf("%d frames at %g, %v", c.Frames, c.FPS, rep.Notes)
	}
}

// The axis that the caller names comes before what the motion shows.
func TestOpenUp(t *testing.T) {
	const path = "testdata/z-up-with-h21-names.bvh"
	found, rep := must.Get2(Open(path, OpenOptions{}))(t)
	if rep.Up != "z" || rep.Ground < -0.05 || rep.Ground > 0.05 {
		t.Errorf("up %s, profile %s, ground at %g m", rep.Up, rep.Profile, rep.Ground)
	}
	// Names alone fit the profile h21: the body is that of the same motion in a T-pose and with other names.
	plain, _ := must.Get2(Open("../character/testdata/rest-tpose-same-motion.bvh", OpenOptions{}))(t)
	if d, a := apart(t, plain, found); d > 0.01 || a > 0.02 {
		t.Errorf("%g m and %g rad apart from the same body with other names", d, a)
	}
	var opt OpenOptions
	opt.Up = "z"
	set, _ := must.Get2(Open(path, opt))(t)
	if d, a := apart(t, set, found); d > 1e-3 || a > 1e-2 {
		t.Errorf("%g m and %g rad apart", d, a)
	}
	opt.Up = "y"
	if _, rep := must.Get2(Open(path, opt))(t); rep.Up != "y" || rep.Ground > -1 {
		t.Errorf("up %s, ground at %g m", rep.Up, rep.Ground)
	}
}

// glTF has y up: z is found against that if the rest pose stands along it, too, and not if a person lies.
func TestOpenUpOfFormat(t *testing.T) {
	plain := opened(t, "rest-tpose-same-motion.bvh")
	want, _ := must.Get2(OfRecording("f", &mocap.Recording{Clip: plain}, OpenOptions{}))(t)
	turned := dialect{rest: "T", up: "z", unit: 0.01, names: same}.write(plain.Scaled(0.01))
	got, rep := must.Get2(OfRecording("f", &mocap.Recording{Clip: turned, Format: mocap.FormatGLTF}, OpenOptions{}))(t)
	if d, _ := apart(t, want, got); rep.Up != "z" || d > 0.01 {
		t.Errorf("up %s, joints %g m off", rep.Up, d)
	}
	lies := *turned.Skel
	lies.Offsets = plain.Skel.Offsets // at rest it stands
	turned.Skel = &lies
	if _, rep := must.Get2(OfRecording("f", &mocap.Recording{Clip: turned, Format: mocap.FormatGLTF}, OpenOptions{}))(t); rep.Up != "y" {
		t.Errorf("a person who lies in a glTF has up %s", rep.Up)
	}
}

// A dog whose joints have the names of a person's is no person, though a built-in profile has almost all of them.
func TestDogRefused(t *testing.T) {
	s := testdog.Skeleton()
	c := skel.NewClip(s, 60, 3)
	if Detect(s) == nil {
		t.Fatal("no built-in profile has the names: the test shows nothing")
	}
	_, _, err := ProfileFor(&mocap.Recording{Clip: c})
	if err == nil || !strings.Contains(err.Error(), "it stands on four legs and has a tail: it is not a person") {
		t.Error(err)
	}
}

// Upright turns a file to y up and right-handed axes, and has a rest pose of a person.
func TestUpright(t *testing.T) {
	plain := opened(t, "rest-tpose-same-motion.bvh")
	d := dialect{rest: "random", up: "z", unit: 0.01, names: same, flip: "x", seed: 4}
	b, s := Upright("f", &mocap.Recording{Clip: d.write(plain.Scaled(0.01))})
	if s == nil || s.Up != "z" || !s.Mirrored || len(s.Rest) != plain.Skel.Len() {
		t.Fatalf("%+v", s)
	}
	n := plain.Skel.Len()
	x, y := make([]m3.Xform, n), make([]m3.Xform, n)
	for f := range plain.Frames {
		plain.Model(x, f)
		b.Clip.Model(y, f)
		for j := range n {
			if d := x[j].Pos.Dist(y[j].Pos); d > 0.1 {
				t.Fatalf("frame %d: %s is %g cm off", f, plain.Skel.Names[j], d)
			}
		}
	}
	// The rest pose stands as the T-pose file's.
	b.Clip.Skel.LocalToModel(y, b.Clip.Skel.Offsets, s.Rest)
	plain.Skel.LocalToModel(x, plain.Skel.Offsets, slices.Repeat([]m3.Quat{m3.Ident}, n))
	for _, bone := range [][2]string{{"LeftArm", "LeftHand"}, {"RightArm", "RightForeArm"}, {"LeftUpLeg", "LeftFoot"}, {"Spine", "Head"}} {
		i, j := plain.Skel.Index(bone[0]), plain.Skel.Index(bone[1])
		was, is := x[j].Pos.Sub(x[i].Pos).Normalize(m3.Up), y[j].Pos.Sub(y[i].Pos).Normalize(m3.Up)
		if was.Dot(is) < 0.97 {
			t.Errorf("%v points to %v at rest, want %v", bone, is, was)
		}
	}
	rng := rand.New(rand.NewPCG(1, 3))
	for range 40 { // bones without length, joints in one place
		share := rng.Float32()
		c := stretched(walk(3, 1), func(_ string, o m3.Vec3) m3.Vec3 {
			if rng.Float32() < share/3 {
				return m3.Vec3{}
			}
			return o
		})
		b, s := Upright("f", &mocap.Recording{Clip: c})
		if s == nil {
			continue
		}
		for i := range b.Clip.Pos {
			if !b.Clip.Pos[i].Finite() || !b.Clip.Rot[i].Finite() {
				t.Fatal("not finite")
			}
		}
		for _, q := range s.Rest {
			if !q.Finite() {
				t.Fatal("a rest pose that is not finite")
			}
		}
	}
	box := &mocap.Recording{Clip: skel.NewClip(&skel.Skeleton{Names: []string{"Box"}, Parents: []int16{-1}, Offsets: make([]m3.Vec3, 1), EndSite: make([]bool, 1)}, 30, 2)}
	if b, s := Upright("f", box); s != nil || b != box {
		t.Errorf("a box is a person: %+v", s)
	}
}
