package retarget

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

// people are sets of recordings of people.
var people = []struct {
	name, glob  string
	every, thin int    // of the files, and of the frames, one in so many is read
	only        string // animations
}{
	{"CMU locomotion", "cmu-locomotion/[0-9][0-9]_*.bvh", 6, 8, ""},
	{"CMU with 21 joints", "cmu-actions/h21_*.bvh", 1, 4, ""},
	{"CMU for DAZ figures", "cmu-locomotion/daz43_*.bvh", 1, 8, ""},
	{"CMU on Mesh2Motion's rig", "mesh2motion/cmu-fbx/*.fbx", 1, 8, ""},
	{"HDM05", "hdm05/*.amc", 12, 8, ""},
	{"Bandai-Namco 1", "bandai1/*.bvh", 12, 2, ""},
	{"O3DE", "human-o3de/bvh/*.bvh", 2, 8, ""},
	{"ReActIdle", "reactidle/*/*.bvh", 2, 8, ""},
	{"LAFAN1", "lafan1/*.bvh", 8, 2, ""},
	{"Mesh2Motion", "mesh2motion/human/*base*.glb", 1, 1, "Idle Idle_Loop Walk Walk_Loop Walk_Formal_Loop"},
	{"Quaternius", "quaternius-*/*/*.glb", 1, 1, "Idle Idle_Neutral Walk Walking"},
	{"Quaternius, FBX", "quaternius-fbx/*.fbx", 1, 1, "Idle Walk"},
	{"KayKit", "kaykit/*.glb", 1, 1, "Idle Idle_A Idle_B Walking_A Walking_B Walking_C Waving"},
	{"Mixamo", "local-only/*[mM]ixamo*", 1, 1, "Idle Walk walk_Armature"},
	{"VRM animations", "local-only/*.vrma", 1, 4, "animation"},
}

// lean sums up how a trunk leans over frames, rad, ahead positive: the pelvis, the lower back on it, and the chest.
type lean struct {
	pelvis, back, chest float64
	frames              int
}

func (l *lean) String() string {
	if l.frames == 0 {
		return fmt.Sprintf("%7s%7s%7s", "–", "–", "–")
	}
	k := 180 / math.Pi / float64(l.frames)
	return fmt.Sprintf("%7.1f%7.1f%7.1f", k*l.pelvis, k*l.back, k*l.chest)
}

// The pelvis of people who stand and walk is upright, and turns as their recording's. With -v it prints the means of
// each set in degrees, and the errors in cm.
func TestPelvis(t *testing.T) {
	dir := mocapdata.Dir(t)
	t.Logf("%-25s%21s%21s%8s%8s%8s", "", "standing", "walking", "turns", "error", "copied")
	for _, set := range people {
		files := must.Get(filepath.Glob(filepath.Join(dir, set.glob)))(t)
		var stand, walk lean
		var sway, mean, copied, frames float64
		for i := 0; i < len(files); i += set.every {
			for _, name := range animations(files[i], set.only) {
				b, err := mocap.Open(files[i], mocap.OpenOptions{Animation: name})
				if err != nil {
					continue
				}
				b.Clip = thin(b.Clip, set.thin)
				b, p, _, err := character(files[i], b, nil)
				if err != nil {
					continue // an animal
				}
				out, rep := must.Get2(OfRecording(files[i], b, OpenOptions{}))(t)
				leans(out, strings.ToLower(name), &stand, &walk)
				n := float64(out.Frames)
				sway, mean, copied, frames = sway+n*turns(t, b, p, out, rep.Skipped), mean+n*rep.MeanCM, copied+n*rep.CopiedCM, frames+n
			}
		}
		if frames == 0 {
			t.Logf("%s: no files", set.name)
			continue
		}
		t.Logf("%-25s%v%v%8.1f%8.2f%8.2f", set.name, &stand, &walk, sway/frames, mean/frames, copied/frames)
		for _, l := range []*lean{&stand, &walk} {
			if m := l.pelvis / float64(max(l.frames, 1)) * 180 / math.Pi; m < -12 || m > 12 {
				t.Errorf("%s: the pelvis leans by %.1f° on average", set.name, m)
			}
			if m := l.back / float64(max(l.frames, 1)) * 180 / math.Pi; m < -12 || m > 12 {
				t.Errorf("%s: the lower back leans by %.1f° on the pelvis on average", set.name, m)
			}
		}
		if sway/frames > 2.5 {
			t.Errorf("%s: the pelvis turns otherwise than the recording's by %.1f° on average", set.name, sway/frames)
		}
	}
}

// animations returns the animations of a file whose last words are among only; one without a name if that is empty.
func animations(file, only string) (names []string) {
	if only == "" {
		return []string{""}
	}
	all, _ := mocap.Animations(file)
	for _, n := range all {
		if slices.Contains(strings.Fields(only), n[strings.LastIndexByte(n, '|')+1:]) {
			names = append(names, n)
		}
	}
	return names
}

// leans adds the frames of a clip in which people stand or walk. Animations in place are told by their names, others
// by their speed.
func leans(c *skel.Clip, name string, stand, walk *lean) {
	at := c.Skel.Index
	hips, chest, feet := at("Hips"), at("Spine1"), [2]int{at("LeftFoot"), at("RightFoot")}
	now, then := make([]m3.Xform, c.Skel.Len()), make([]m3.Xform, c.Skel.Len())
	c.Model(now, 0)
	for f := 1; f < c.Frames; f++ {
		copy(then, now)
		c.Model(now, f)
		speed := now[hips].Pos.Sub(then[hips].Pos)
		speed.Y = 0
		v, to := float64(speed.Len())*c.FPS, walk
		switch {
		case now[hips].Pos.Y-min(now[feet[0]].Pos.Y, now[feet[1]].Pos.Y) < 0.8:
			continue // sits or crouches
		case strings.Contains(name, "walk"):
		case name != "" || v < 0.15:
			to = stand
		case v < 0.6 || v > 2:
			continue
		}
		left := now[hips].Rot.Rotate(m3.V(1, 0, 0))
		to.frames++
		to.pelvis += leansAhead(now[hips].Rot, left)
		to.chest += leansAhead(now[chest].Rot, left)
		to.back += leansAhead(now[hips].Rot.Conj().Mul(now[at("LowerBack")].Rot), m3.V(1, 0, 0))
	}
}

// leansAhead returns how far the up of a joint leans ahead of the vertical, rad, in a body whose left is left.
func leansAhead(q m3.Quat, left m3.Vec3) float64 {
	left.Y = 0
	up := q.Rotate(m3.Up)
	return math.Atan2(float64(up.Dot(left.Normalize(m3.V(1, 0, 0)).Cross(m3.Up))), float64(up.Y))
}

// turns returns the mean angle, degrees, by which the pelvis of out turns otherwise than that of b.
func turns(t *testing.T, b *mocap.Recording, p *Profile, out *skel.Clip, skipped int) float64 {
	r, up := Default(), *p
	if up.Up == "" {
		up.Up = b.Up
	}
	r.Source, r.Rest, r.Profile = b.Clip, b.LocalRest(), &up
	w := &work{job: &r, world: m3.Ident}
	must.Get(w.prepare(b.Clip, r.Rest, Human()))(t)
	hips := w.target.Index("Hips")
	src, to := make([]m3.Xform, w.source.Len()), make([]m3.Xform, out.Skel.Len())
	apart := make([]m3.Quat, out.Frames)
	var mean m3.Quat
	for f := range apart {
		w.model(src, f)
		out.Model(to, f)
		q := src[w.from[hips]].Rot.Conj().Mul(to[hips].Rot)
		if q.Dot(apart[0]) < 0 {
			q = q.Neg()
		}
		apart[f], mean = q, m3.Quat{X: mean.X + q.X, Y: mean.Y + q.Y, Z: mean.Z + q.Z, W: mean.W + q.W}
	}
	sum := 0.0
	for _, q := range apart {
		sum += float64(q.Angle(mean.Normalize()))
	}
	return sum / float64(out.Frames) * 180 / math.Pi
}

// A pelvis whose joint lies low between the legs, and a trunk that begins elsewhere, turn as in the source.
func TestLowPelvis(t *testing.T) {
	c := walk(80, 2)
	src := stretched(c, func(name string, o m3.Vec3) m3.Vec3 {
		switch name {
		case "LeftUpLeg", "RightUpLeg":
			return m3.V(o.X, -0.01, 0)
		case "LowerBack":
			return m3.V(0, 0.03, 0.02)
		case "LeftLeg": // legs that differ pull at the pelvis
			return o.Scale(1.06)
		case "RightLeg", "LeftFoot":
			return o.Scale(0.95)
		}
		return o
	})
	for _, random := range []bool{false, true} {
		in, most := src, float32(0.01)
		if random { // of the joints' frames; the motion tells how they are turned, and leans a little
			in, most = disguise(src, dialect{rest: "random", seed: 4}.frames(src.Skel), 1), 0.15
		}
		p := *Named("cmu")
		p.TurnOnly = []string{"Hips", "LowerBack"}
		out, rep := run(t, job(in, &p))
		n := out.Skel.Len()
		a, b := make([]m3.Xform, n), make([]m3.Xform, n)
		for f := range out.Frames {
			out.Model(a, f)
			c.Model(b, f)
			for _, joint := range []string{"Hips", "LowerBack", "Spine1", "Head"} {
				j := out.Skel.Index(joint)
				if by := a[j].Rot.Angle(b[j].Rot); by > most && joint == "Hips" || by > 0.3 {
					t.Fatalf("frame %d, by %s: %s is turned by %.2f rad", f, rep.Basis, joint, by)
				}
			}
		}
	}
}

// A toy with short legs far apart, high feet and a fat body stands and walks on the ground, with its legs under it.
func TestToy(t *testing.T) {
	src := stretched(walk(120, 3), func(name string, o m3.Vec3) m3.Vec3 {
		switch {
		case strings.HasSuffix(name, "UpLeg"):
			return m3.V(4*o.X, -0.1, 0)
		case strings.HasSuffix(name, "ToeBase"):
			return m3.V(0, -0.28, 0.22)
		case strings.HasSuffix(name, "Arm") || strings.HasPrefix(name, "Spine") || name == "Neck1" || name == "Head":
			return o.Scale(3)
		}
		return o
	})
	p := *Named("cmu")
	p.TurnOnly = []string{"Hips"}
	out, rep := run(t, job(src, &p))
	if d := rep.Ground - rep.SourceGround; math.Abs(d) > 0.04 {
		t.Errorf("the ground went from %.3f m to %.3f m", rep.SourceGround, rep.Ground)
	}
	m := make([]m3.Xform, out.Skel.Len())
	for f := range out.Frames {
		out.Model(m, f)
		at := func(name string) m3.Vec3 { return m[out.Skel.Index(name)].Pos }
		left := at("LeftUpLeg").Sub(at("RightUpLeg")).Normalize(m3.Vec3{})
		if wide := at("LeftFoot").Sub(at("RightFoot")).Dot(left); wide > 0.75 {
			t.Fatalf("frame %d: the feet are %.2f m apart", f, wide)
		}
	}
}
