package retarget

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testh36m"
)

// A walk in Human3.6M's exponential maps opens with its profile. Legs are where they were,
// arms hang down and the body is upright and moves where it faces.
func TestH36M(t *testing.T) {
	path := filepath.Join(t.TempDir(), "walk.txt")
	must.Do(t, os.WriteFile(path, testh36m.Make(250).Text, 0o644))
	out, rep := must.Get2(Open(path, OpenOptions{}))(t)
	if rep.Profile != "h36m" {
		t.Fatalf("detected as %v", rep.Profile)
	}
	if fast, _, err := Open(path, OpenOptions{Reading: Reading{Profile: Named("h36m")}, Target: Human(), FPS: 100}); err != nil || fast.FPS != 100 || fast.Frames < 2*out.Frames-2 {
		t.Errorf("at 100 per second: %v, %v", fast, err)
	}
	if _, _, err := Open(path, OpenOptions{Reading: Reading{Profile: Named("cmu")}}); err == nil || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("another profile: %v", err)
	}
	for _, j := range rep.Joints {
		if !(j.MeanCM < map[bool]float64{true: 5, false: 16}[j.Pull == 1]) {
			t.Errorf("%s is %.1f cm off, pulled by %.2f", j.Joint, j.MeanCM, j.Pull)
		}
	}
	model := make([]m3.Xform, out.Skel.Len())
	at := func(f int, joint string) m3.Vec3 {
		out.Model(model, f)
		return model[out.Skel.Index(joint)].Pos
	}
	for f := 0; f+5 < out.Frames; f += 5 {
		left := at(f, "LeftUpLeg").Sub(at(f, "RightUpLeg"))
		went := at(f+5, "Hips").Sub(at(f, "Hips")).Flat()
		if d := left.Cross(m3.Up).Normalize(m3.Vec3{}).Dot(went.Normalize(m3.Vec3{})); !(d > 0.9) {
			t.Errorf("frame %d: a body that moves %v has its left at %v", f, went, left)
		}
		for _, side := range []string{"Left", "Right"} {
			arm := at(f, side+"ForeArm").Sub(at(f, side+"Arm")).Normalize(m3.Vec3{})
			if !(arm.Y < -0.8) {
				t.Errorf("frame %d: the %s arm points %v", f, side, arm)
			}
		}
		if head := at(f, "Head").Sub(at(f, "Hips")).Normalize(m3.Vec3{}); !(head.Y > 0.95) {
			t.Errorf("frame %d: the head is %v from the hips", f, head)
		}
	}
	speed := float64(at(100, "Hips").Sub(at(50, "Hips")).Flat().Len())
	if want := testh36m.Speed * rep.Scale; math.Abs(speed-want) > 0.1*want {
		t.Errorf("%g m in a second, want about %g", speed, want)
	}
}
