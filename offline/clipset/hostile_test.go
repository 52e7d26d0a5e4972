package clipset

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
	"mannequin/offline/procgen"
)

// A clip that turns on the spot, from a pose to the same one, ends as it faces.
func TestTurnsOnTheSpot(t *testing.T) {
	stands, turns := made(t)[0].Clip.Frame(0)
	c := skel.NewClip(procgen.Skeleton(), FPS, 121)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		copy(pos, stands)
		copy(rot, turns)
		share := m3.Clamp(float32(f-40)/40, 0, 1) // of a hop in the middle
		pos[0].Y += 0.2 * m3.Sin(share*math.Pi)
		rot[0] = m3.YawQuat(share * math.Pi / 2).Mul(rot[0])
	}
	s := must.Get(Open(folder(t, map[string]*skel.Clip{"turn": c}), Options{}))(t)
	got := s.Clips[0].Motion
	if !s.Clips[0].Loop {
		t.Error("it is no loop")
	}
	n, most := s.Skel.Len(), float32(0)
	for f := 1; f < got.Frames; f++ {
		most = max(most, m3.Abs(m3.WrapAngle(got.Rot[f*n].Yaw()-got.Rot[(f-1)*n].Yaw())))
	}
	if turned := m3.WrapAngle(got.Rot[(got.Frames-1)*n].Yaw() - got.Rot[0].Yaw()); m3.Abs(turned-math.Pi/2) > 0.05 || most > 0.05 {
		t.Errorf("turns by %.2f rad, up to %.2f in a frame; want %.2f, and 0.04", turned, most, math.Pi/2)
	}
}

// Files that are left out by name may have faults, others and wrong patterns are errors.
func TestBrokenFiles(t *testing.T) {
	dir := folder(t, map[string]*skel.Clip{"idle": skel.NewClip(procgen.Skeleton(), FPS, 60)})
	for _, name := range []string{"broken.bvh", "broken.fbx", "broken.glb"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644))
	}
	_, err := Open(dir, Options{})
	must.FailWith(t, err, "broken")
	must.Get(Open(dir, Options{Skip: []string{"broken*"}}))(t)
	for _, o := range []Options{{Only: []string{"[a"}}, {Skip: []string{"x", "[a"}}} {
		_, err := Open(dir, o)
		must.FailWith(t, err, `the pattern "[a"`)
	}
}

// Skeletons whose joints have no names, the same one or no length are read or refused.
func TestStrangeSkeletons(t *testing.T) {
	sk := procgen.Skeleton()
	for name, change := range map[string]func(own *skel.Skeleton){
		"no names": func(own *skel.Skeleton) { clear(own.Names) },
		"no root":  func(own *skel.Skeleton) { own.Names[0] = "" },
		"one name": func(own *skel.Skeleton) {
			for j := range own.Names {
				own.Names[j] = "Bone"
			}
		},
		"no extent": func(own *skel.Skeleton) { clear(own.Offsets) },
		"no shins": func(own *skel.Skeleton) {
			for _, n := range []string{"LeftFoot", "RightFoot", "LeftHand", "RightHand"} {
				own.Offsets[sk.Index(n)] = m3.Vec3{}
			}
		},
		"nothing": func(*skel.Skeleton) {},
	} {
		own := *sk
		own.Names, own.Offsets = append([]string(nil), sk.Names...), append([]m3.Vec3(nil), sk.Offsets...)
		change(&own)
		// As a glTF file of it would be read: a BVH cannot hold all of these.
		b := &mocap.Recording{Clip: skel.NewClip(&own, FPS, 60)}
		of, err := newRig(b, Options{})
		if err != nil {
			if name != "no extent" || !strings.Contains(err.Error(), "one place") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if missing := of.fits(b); missing != "" {
			t.Errorf("%s: the first recording lacks %q", name, missing)
		}
		s := &Set{Skel: of.skel, Roles: of.roles, Kind: of.body.Kind, Clips: []Clip{of.clip(source{"a", "a", b})}}
		if err := errors.Join(s.ground(), s.label()); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s.Bend()
		s.Mirror()
		if _, err = s.Database(); !errors.Is(err, ErrNoMotion) {
			t.Errorf("%s: %v, want %v", name, err, ErrNoMotion)
		}
	}
	for frames, want := range map[int]string{0: "all clips are shorter", 1: "all clips are shorter"} {
		_, err := Open(folder(t, map[string]*skel.Clip{"a": skel.NewClip(sk, FPS, frames)}), Options{})
		must.FailWith(t, err, want)
	}
	for _, j := range sk.Names { // any joint may be called any other
		for _, role := range []string{"Hips", "LeftUpLeg", "LeftFoot", "Neck"} {
			c := skel.NewClip(sk, FPS, 60)
			_, _ = Open(folder(t, map[string]*skel.Clip{"a": c}), Options{Map: map[string]string{role: j}})
		}
	}
}
