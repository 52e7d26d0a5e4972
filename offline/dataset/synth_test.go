package dataset

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

// synthSkeleton is a dog of our own making: limbs along local X, sides apart
// in local Z, except under the joints whose lateral axis is Y.
func synthSkeleton() *skel.Skeleton {
	l := feature.Dog()
	s := &skel.Skeleton{
		Names:   l.Joints,
		Parents: []int16{-1, 0, 1, 2, 3, 4, 2, 6, 7, 8, 9, 2, 11, 12, 13, 14, 0, 16, 17, 18, 0, 20, 21, 22, 0, 24, 25},
		Offsets: make([]m3.Vec3, len(l.Joints)),
		EndSite: make([]bool, len(l.Joints)),
	}
	at := map[string]m3.Vec3{
		"Spine1": m3.V(0.2, 0, 0), "Neck": m3.V(0.2, 0.02, 0), "Head": m3.V(0.1, 0.05, 0), "HeadSite": m3.V(0.15, 0, 0),
		"Shoulder": m3.V(0.18, -0.04, -0.05), "Arm": m3.V(0.08, 0.02, 0), "ForeArm": m3.V(0.15, 0, 0), "Hand": m3.V(0.17, 0, 0), "HandSite": m3.V(0.07, 0, 0),
		"UpLeg": m3.V(0.06, -0.08, -0.05), "Leg": m3.V(0.16, 0, 0), "Foot": m3.V(0.18, 0, 0), "FootSite": m3.V(0, -0.1, 0),
		"Tail": m3.V(-0.07, 0, 0), "Tail1": m3.V(-0.12, 0, 0), "Tail1Site": m3.V(-0.12, 0, 0),
	}
	for j, name := range s.Names {
		o, side := at[name], float32(1)
		for _, p := range []string{"Left", "Right"} {
			if len(name) > len(p) && name[:len(p)] == p {
				o = at[name[len(p):]]
				if p == "Right" {
					side = -1
				}
			}
		}
		s.Offsets[j] = m3.V(o.X, o.Y, o.Z*side)
		if strings.HasSuffix(name, "tArm") { // under a shoulder, whose lateral axis is Y
			s.Offsets[j] = m3.V(o.X, o.Y*side, o.Z)
		}
		s.EndSite[j] = len(name) > 4 && name[len(name)-4:] == "Site"
	}
	return s
}

// circle is a walk on a circle of radius r at angular speed w (rad/s,
// counter-clockwise for w > 0) with the body held stiff in an uneven pose.
type circle struct {
	r, w   float64
	frames int
}

// at returns the walker's position and heading at frame f.
func (c circle) at(f float64) (x, z, yaw float64) {
	yaw = c.w * f / 60
	return c.r * (1 - math.Cos(yaw)) * sign(c.w), c.r * math.Sin(math.Abs(yaw)) * 1, yaw
}

func sign(w float64) float64 { return math.Copysign(1, w) }

const hipsHeight = 0.45

// clip poses sk on the circle. The pose of a clockwise circle is the mirror
// image of a counter-clockwise one's.
func (c circle) clip(sk *skel.Skeleton) *skel.Clip {
	out := skel.NewClip(sk, 60, c.frames)
	right := c.w < 0
	side, other := "Left", "Right"
	if right {
		side, other = other, side
	}
	quarter := m3.AxisAngle(m3.V(1, 0, 0), math.Pi/2)
	for f := range c.frames {
		x, z, yaw := c.at(float64(f))
		pos, rot := out.Frame(f)
		pos[0] = m3.V(float32(x), hipsHeight, float32(z))
		rot[0] = m3.YawQuat(float32(yaw) - math.Pi/2) // local X ahead
		set := func(name string, q m3.Quat) { rot[sk.Index(name)] = q }
		// Lateral axis local Y from here on; the arms turn back.
		set("LeftShoulder", quarter)
		set("RightShoulder", quarter)
		set("LeftArm", quarter.Conj())
		set("RightArm", quarter.Conj())
		// A raised leg and a turned head tell the sides apart. The mirror image
		// of a local rotation has the axis components in the mirror negated.
		leg := m3.FromRotationVector(m3.V(0.2, -0.3, 0.5))
		head := m3.FromRotationVector(m3.V(0.1, 0.2, 0.4))
		if right {
			leg = m3.Quat{X: -leg.X, Y: -leg.Y, Z: leg.Z, W: leg.W}
			head = m3.Quat{X: -head.X, Y: head.Y, Z: -head.Z, W: head.W}
		}
		set(side+"UpLeg", leg)
		set(other+"UpLeg", m3.Ident)
		set("Head", quarter.Mul(head))
	}
	return out
}

// track returns the rows' source for the clip, labelled as moving throughout.
func (c circle) track(t *testing.T, sk *skel.Skeleton) *track {
	t.Helper()
	m := feature.Dog()
	w := make([]float32, c.frames*len(m.Actions))
	for f := range c.frames {
		w[f*len(m.Actions)+1] = 1
	}
	at := must.Get(joinJoints(m, sk))(t)
	tr := must.Get(newTrack(sk, c.clip(sk), at, 1, w, len(m.Actions), 1))(t)
	must.Do(t, tr.face(sk))
	return tr
}

// folder writes clips in centimetres and labels as a folder of recordings.
func folder(t *testing.T, clips map[string]*skel.Clip, labels map[string]Labels) string {
	t.Helper()
	dir := t.TempDir()
	for name, c := range clips {
		writeBVH(t, filepath.Join(dir, name+".bvh"), c.Scaled(100))
	}
	b := must.Get(json.Marshal(labels))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, LabelsFile), b, 0o644))
	return dir
}

// writeBVH writes a clip to a file.
func writeBVH(t *testing.T, path string, c *skel.Clip) {
	t.Helper()
	var text bytes.Buffer
	must.Do(t, mocap.WriteClip(&text, c))
	must.Do(t, os.WriteFile(path, text.Bytes(), 0o644))
}

// walking labels all of a recording's frames as a walk to train on.
func walking(frames int) Labels {
	return Labels{Frames: frames, Train: []Range{{0, frames - 1}}, Segments: map[string][]Range{"Walk": {{0, frames - 1}}}}
}
