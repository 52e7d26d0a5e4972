package retarget

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

// A clip of the skeleton itself, in any unit, comes back.
func TestSameSkeleton(t *testing.T) {
	c := walk(40, 1)
	out, rep := run(t, job(disguise(c, nil, 100), Named("cmu")))
	if d, a := apart(t, out, c); d > 1e-3 || a > 1e-2 {
		t.Errorf("%g m and %g rad off", d, a)
	}
	if m3.Abs(float32(rep.Scale)-0.01) > 1e-6 || rep.MeanCM > 0.05 || rep.WorstCM > 0.1 || rep.Skipped != 0 {
		t.Errorf("report %+v", rep)
	}
}

// The frames of the source's joints are found from the motion, and positions and rotations come back.
func TestTurnedFrames(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 3))
		c := walk(200, seed)
		turns := make([]m3.Quat, c.Skel.Len())
		for j := range turns {
			if turns[j] = quarter(rng); c.Skel.EndSite[j] {
				turns[j] = m3.Ident
			}
		}
		src := disguise(c, turns, 39)
		s := Suggest("turned", src)
		if s.Err != nil || len(s.Missing) > 0 {
			t.Fatalf("suggestion: %v, missing %v", s.Err, s.Missing)
		}
		out, rep := run(t, job(src, s.Profile))
		if d, _ := apart(t, out, c); d > 0.12 || rep.MeanCM > 0.5 || rep.Basis != "motion" {
			t.Errorf("seed %d: %g m off, mean %g cm, by %s", seed, d, rep.MeanCM, rep.Basis)
		}
		n := c.Skel.Len()
		a, b := make([]m3.Xform, n), make([]m3.Xform, n)
		out.Model(a, 100)
		c.Model(b, 100)
		for _, name := range []string{"Hips", "Spine1", "Head", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm", "RightUpLeg", "RightLeg", "RightFoot", "RightArm", "RightForeArm"} {
			j := c.Skel.Index(name)
			if x := a[j].Rot.Angle(b[j].Rot); x > 0.21 {
				t.Errorf("seed %d: %s is %g rad off", seed, name, x)
			}
		}
	}
}

// Another rest pose, arms down and legs astride, gives the same motion.
func TestOtherRestPose(t *testing.T) {
	c := walk(60, 4)
	src := disguise(c, nil, 1)
	s := src.Skel
	n := s.Len()
	turns := map[string]m3.Quat{
		"LeftArm": m3.AxisAngle(m3.V(0, 0, 1), -1.4), "RightArm": m3.AxisAngle(m3.V(0, 0, 1), 1.4),
		"LeftUpLeg": m3.AxisAngle(m3.V(0, 0, 1), 0.35), "RightUpLeg": m3.AxisAngle(m3.V(0, 0, 1), -0.35),
	}
	// A limb's frames stay along the axes while its bones turn: what was at rest
	// is now turned back, from the limb's first joint on.
	turn := make([]m3.Quat, n)
	for j, p := range s.Parents {
		turn[j] = m3.Ident
		if p >= 0 {
			turn[j] = turn[p]
		}
		if q, ok := turns[s.Names[j]]; ok {
			turn[j] = q
		}
	}
	for f := range src.Frames {
		pos, rot := src.Frame(f)
		for j, p := range s.Parents {
			up := m3.Ident
			if p >= 0 {
				up = turn[p]
			}
			pos[j] = up.Rotate(pos[j])
			rot[j] = up.Mul(rot[j]).Mul(turn[j].Conj())
			if f == 0 && p >= 0 {
				s.Offsets[j] = pos[j]
			}
		}
	}
	out, rep := run(t, job(src, Named("cmu")))
	if d, a := apart(t, out, c); d > 5e-3 || a > 0.05 {
		t.Errorf("%g m and %g rad off, mean %g cm", d, a, rep.MeanCM)
	}
}

// Other proportions: feet on their marks, and the report has the recomputed distances.
func TestReport(t *testing.T) {
	c := walk(50, 5)
	rng := rand.New(rand.NewPCG(5, 5))
	src := stretched(c, func(_ string, o m3.Vec3) m3.Vec3 { return o.Scale(0.93 + 0.14*rng.Float32()) })
	s := src.Skel
	out, rep := run(t, job(src, Named("cmu")))
	var sum, worst float64
	count, where := 0, ""
	var feet float64
	a, b := make([]m3.Xform, s.Len()), make([]m3.Xform, s.Len())
	for f := range out.Frames {
		out.Model(a, f)
		src.Model(b, f)
		for j, name := range s.Names {
			if s.EndSite[j] || name == "LowerBack" || name == "Neck" || strings.HasSuffix(name, "Shoulder") {
				continue
			}
			d := float64(a[j].Pos.Dist(b[j].Pos.Scale(float32(rep.Scale))))
			sum, count = sum+d, count+1
			if d > worst {
				worst, where = d, name
			}
			if strings.HasSuffix(name, "Foot") {
				feet += d / float64(2*out.Frames)
			}
		}
	}
	if math.Abs(rep.MeanCM-100*sum/float64(count)) > 1e-3 || math.Abs(rep.WorstCM-100*worst) > 1e-3 || rep.WorstJoint != where {
		t.Errorf("the report says %g, %g at %s; want %g, %g at %s", rep.MeanCM, rep.WorstCM, rep.WorstJoint, 100*sum/float64(count), 100*worst, where)
	}
	if len(rep.Joints) != 21 || rep.MeanCM > 1.5 || !(rep.MeanCM < rep.CopiedCM) || 100*feet > 0.5*rep.MeanCM {
		t.Errorf("%d joints, mean %g cm, copied %g cm, ankles %g m", len(rep.Joints), rep.MeanCM, rep.CopiedCM, feet)
	}
}

// Shoulders that are far too wide are not pulled; legs are, for any hips.
func TestFarJoints(t *testing.T) {
	src := stretched(walk(30, 11), func(name string, o m3.Vec3) m3.Vec3 {
		if slices.Contains([]string{"LeftUpLeg", "RightUpLeg", "LeftArm", "RightArm"}, name) {
			o.X *= 2.5
		}
		return o
	})
	_, rep := run(t, job(src, Named("cmu")))
	for _, e := range rep.Joints {
		leg := strings.HasSuffix(e.Joint, "Leg") || strings.HasSuffix(e.Joint, "Foot") || strings.HasSuffix(e.Joint, "ToeBase")
		arm := strings.HasSuffix(e.Joint, "Arm") || strings.HasSuffix(e.Joint, "Hand")
		if leg && e.Pull != 1 || arm && e.Pull != 0 {
			t.Errorf("%s is pulled by %g, %.1f cm off", e.Joint, e.Pull, e.MeanCM)
		}
	}
}

// Axes say how a frame is turned; the bone's direction is still the rest pose's.
func TestAxesKeepBones(t *testing.T) {
	s := Human()
	toe := s.Index("LeftToeBase")
	s.Offsets[toe] = m3.V(0, 0, 0.12)
	p := *Named("cmu")
	p.Axes = map[string]string{"LeftFoot": "x y"}
	b := must.Get(bind(&p, s, Human()))(t)
	to, at := b.between(s.Index("LeftFoot"), toe)
	if d := b.align[s.Index("LeftFoot")].Rotate(to).Dist(at); d > 1e-3 {
		t.Errorf("the foot's bone is %g off", d)
	}
}

// Rotations of the result change no faster than the source's.
func TestContinuous(t *testing.T) {
	src := stretched(walk(300, 6), func(name string, o m3.Vec3) m3.Vec3 {
		if slices.Contains([]string{"LeftForeArm", "LeftHand", "RightLeg", "Head"}, name) {
			return o.Scale(1.08)
		}
		return o
	})
	s := src.Skel
	for i := range src.Rot {
		if i%7 < 3 {
			src.Rot[i] = src.Rot[i].Neg() // the same rotation
		}
	}
	out, _ := run(t, job(src, Named("cmu")))
	n := s.Len()
	step := func(c *skel.Clip, f, j int) float32 { return c.Rot[f*n+j].Angle(c.Rot[(f-1)*n+j]) }
	for j := range n {
		var ours, theirs float32
		for f := 1; f < out.Frames; f++ {
			ours, theirs = max(ours, step(out, f, j)), max(theirs, step(src, f, j))
			if out.Rot[f*n+j].Dot(out.Rot[(f-1)*n+j]) < 0 {
				t.Fatalf("frame %d, %s: the quaternion changes its sign", f, s.Names[j])
			}
		}
		if ours > theirs+0.02 {
			t.Errorf("%s turns by up to %g rad in a frame, the source's by %g", s.Names[j], ours, theirs)
		}
	}
}

// The same bits for any number of workers.
func TestWorkers(t *testing.T) {
	src := disguise(walk(64, 7), nil, 3)
	var first *skel.Clip
	for _, workers := range []int{1, 2, 5} {
		r := job(src, Named("cmu"))
		r.Workers = workers
		out, _ := run(t, r)
		if first == nil {
			first = out
		}
		if !slices.Equal(out.Pos, first.Pos) || !slices.Equal(out.Rot, first.Rot) {
			t.Errorf("%d workers: other bits", workers)
		}
	}
}

// A file with z up comes upright, unless its profile says that y is up.
func TestZUp(t *testing.T) {
	c := walk(60, 8)
	_, up, _ := mocap.UpAxis("z")
	src := turned(c, up.Conj())
	for _, up := range []string{"", "z", "y"} {
		p := *Named("cmu")
		p.Up = up
		out, rep := run(t, job(src, &p))
		want, is := c, "z"
		if up == "y" {
			want, is = src, "y"
		}
		if d, a := apart(t, out, want); d > 1e-3 || a > 1e-2 || rep.Up != is {
			t.Errorf("up %q: %g m and %g rad off, %s", up, d, a, rep.Up)
		}
	}
}

// Frames that show the rest pose are left out at the start, and only there.
func TestRestFrames(t *testing.T) {
	c := walk(10, 9)
	src := disguise(c, nil, 1)
	n := c.Skel.Len()
	for i := range 2 * n {
		src.Rot[i] = m3.Ident
	}
	for rest, want := range map[int]int{0: 0, 1: 1, 5: 2} {
		p := *Named("cmu")
		p.RestFrames = rest
		out, rep := run(t, job(src, &p))
		// One frame is allowed and one is not: hips that stay unturned are no rest pose.
		if rest == 1 {
			want = 0
		}
		if rep.Skipped != want || out.Frames != 10-want || rep.WorstFrame < want {
			t.Errorf("rest_frames %d: %d skipped, %d frames, worst in %d", rest, rep.Skipped, out.Frames, rep.WorstFrame)
		}
	}
	one := &skel.Clip{Skel: c.Skel, FPS: 60, Frames: 1, Pos: src.Pos[:n], Rot: src.Rot[:n]}
	if out, rep := run(t, job(one, Named("cmu"))); out.Frames != 1 || rep.Skipped != 0 {
		t.Error("a clip of the rest pose alone was left out")
	}
}

func TestRunRejects(t *testing.T) {
	nan := float32(math.NaN())
	for want, spoil := range map[string]func(*Retargeter){
		"Source is missing":               func(r *Retargeter) { r.Source = nil },
		"Profile is missing":              func(r *Retargeter) { r.Profile = nil },
		"Iterations is 0":                 func(r *Retargeter) { r.Iterations = 0 },
		"Damping is 0":                    func(r *Retargeter) { r.Damping = 0 },
		"Near is 1 m and Far":             func(r *Retargeter) { r.Near = 1 },
		"Workers is -1":                   func(r *Retargeter) { r.Workers = -1 },
		"no frames":                       func(r *Retargeter) { *r.Source = *skel.NewClip(r.Source.Skel, 60, 0) },
		"translations and":                func(r *Retargeter) { r.Source.Pos = r.Source.Pos[1:] },
		"frame 2, joint LeftLeg":          func(r *Retargeter) { r.Source.Rot[2*r.Source.Skel.Len()+2].X = nan },
		"frame 0, joint Hips":             func(r *Retargeter) { r.Source.Pos[0].Y = nan },
		"no joint \"LeftUpLeg\"":          func(r *Retargeter) { r.Source.Skel.Names[1] = "Thigh" },
		"none of the joints":              func(r *Retargeter) { r.Source = without(r.Source, "LowerBack", "Spine", "Spine1") },
		"bone to LeftLeg has no length":   func(r *Retargeter) { r.Source.Skel.Offsets[2] = m3.Vec3{} },
		"target skeleton has no such":     func(r *Retargeter) { r.Profile.Joints["Tail"] = "Head"; r.Profile.TurnOnly = []string{"Tail"} },
		"axes.Hips":                       func(r *Retargeter) { r.Profile.Axes = map[string]string{"Hips": "up"} },
		"collapse: the file has no joint": func(r *Retargeter) { r.Profile.Collapse = []string{"Rib"} },
		"Target: skel":                    func(r *Retargeter) { r.Target = &skel.Skeleton{} },
		"LeftFoot: the target skeleton has no such joint": func(r *Retargeter) { r.Target = tiny() },
	} {
		r := job(disguise(walk(4, 10), nil, 1), Named("cmu"))
		r.Source.Skel.Names = slices.Clone(r.Source.Skel.Names)
		spoil(&r)
		if _, _, err := r.Run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one with %q", err, want)
		}
	}
}

// Bones without length, joints in one place and legs in one place are refused, or make finite motion.
func TestDegenerate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	made := 0
	for range 60 {
		share := rng.Float32()
		c := stretched(walk(3, 1), func(name string, o m3.Vec3) m3.Vec3 {
			switch v := rng.Float32(); {
			case v < share/4:
				return m3.Vec3{}
			case v < share/3:
				return m3.V(0, o.Y, o.Z) // no width
			}
			return o
		})
		r := job(c, Named("cmu"))
		out, report, err := r.Run()
		if err != nil {
			continue
		}
		made++
		for i := range out.Pos {
			if !out.Pos[i].Finite() || !out.Rot[i].Finite() {
				t.Fatalf("value %d is not finite", i)
			}
		}
		if !m3.Finite(float32(report.MeanCM)) {
			t.Fatalf("%+v", report)
		}
	}
	if made < 10 {
		t.Errorf("only %d of 60 were retargeted", made)
	}
}

// without returns c with joints renamed, so that no profile uses them.
func without(c *skel.Clip, names ...string) *skel.Clip {
	for i, n := range c.Skel.Names {
		if slices.Contains(names, n) {
			c.Skel.Names[i] = "x" + n
		}
	}
	return c
}

// tiny is a skeleton with the profile's joints under other names.
func tiny() *skel.Skeleton {
	s := Human()
	for i, n := range s.Names {
		if n == "LeftFoot" {
			s.Names[i] = "Paw"
		}
	}
	return s
}
