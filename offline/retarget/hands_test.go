package retarget

import (
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// The hands of a person with longer arms lean on the ground, and so do those of ours, whose arms are too short for it in the copied pose.
func TestHandsOnGround(t *testing.T) {
	const frames = 61
	s := Human()
	bow := skel.NewClip(s, 60, frames)
	for f := range frames {
		pos, rot := bow.Frame(f)
		u := 1 - m3.Abs(2*float32(f)/(frames-1)-1) // down and up again
		u = u * u * (3 - 2*u)
		pos[0] = m3.V(0, 0.95-0.45*u, 0)
		rot[0] = m3.AxisAngle(m3.V(1, 0, 0), 0.02+1.5*u) // no frame shows the rest pose, which is left out
		for j, name := range s.Names {
			switch side := float32(1); {
			case strings.HasSuffix(name, "UpLeg"):
				rot[j] = m3.AxisAngle(m3.V(1, 0, 0), -2.4*u)
			case name == "LeftLeg" || name == "RightLeg":
				rot[j] = m3.AxisAngle(m3.V(1, 0, 0), 2*u)
			case name == "LeftArm" || name == "RightArm":
				if name == "RightArm" {
					side = -1
				}
				hang := m3.AxisAngle(m3.V(0, 0, 1), -1.4*side) // down from the T-pose, and with the body's bow ahead of it
				rot[j] = m3.AxisAngle(m3.V(1, 0, 0), -1.5*u).Mul(hang)
			}
		}
	}
	src := stretched(bow, func(name string, o m3.Vec3) m3.Vec3 {
		if slices.Contains([]string{"LeftForeArm", "RightForeArm", "LeftHand", "RightHand"}, name) {
			return o.Scale(1.35)
		}
		return o
	})
	out, _ := run(t, job(src, Named("cmu")))
	a, b := make([]m3.Xform, s.Len()), make([]m3.Xform, s.Len())
	leans, before := false, [2]float32{} // of ours and of the source
	for f := range frames {
		src.Model(a, f)
		out.Model(b, f)
		for _, name := range []string{"LeftHand", "RightHand", "LeftFoot", "RightFoot"} {
			j := s.Index(name)
			is, want := b[j].Pos.Y, a[j].Pos.Y
			foot := strings.HasSuffix(name, "Foot")
			if !foot && want < lowHand {
				leans = true
			}
			if (foot || want < lowHand) && m3.Abs(is-want) > 0.02 {
				t.Errorf("frame %d: %s is %.3f m high, in the source %.3f", f, name, is, want)
			}
		}
		hand := s.Index("LeftHand")
		now := [2]float32{b[hand].Pos.Y, a[hand].Pos.Y}
		if ours, theirs := m3.Abs(now[0]-before[0]), m3.Abs(now[1]-before[1]); f > 0 && ours > 2.5*theirs+0.01 {
			t.Errorf("frame %d: a hand moves by %.3f m at once, in the source by %.3f", f, ours, theirs)
		}
		before = now
	}
	if !leans {
		t.Error("no hand of the source leans on the ground")
	}
}
