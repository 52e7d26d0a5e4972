package mann

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/race"
	"mannequin/offline/dataset"
	"mannequin/offline/mocap"
)

// Runtime and dataset agree: fed with the recorded rows in place of a network's, Scatter retraces
// the recording in world space, and Gather makes the recorded inputs from where it has come to.
func TestRetracesARecording(t *testing.T) {
	race.Single(t)
	dir := filepath.Join(mocapdata.Dir(t), "dog")
	train, _, err := dataset.BuildMANN(dir, dataset.Options{HeldOut: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(train.Layout, train.Skeleton, train.RestPose())
	for _, name := range []string{"D1_010_KAN01_001", "D1_047_KAN01_001", "D1_003_KAN01_001"} {
		t.Run(name, func(t *testing.T) {
			bvh, err := mocap.OpenBVH(filepath.Join(dir, name+".bvh"))
			if err != nil {
				t.Fatal(err)
			}
			first := slices.Index(train.Clip, int32(slices.Index(train.Clips, name))) + 100
			retrace(t, m, newRecording(bvh.Clip.Scaled(0.01), train.Skeleton), int(train.Frame[first]), 300,
				func(k int) []float32 { return train.Input(first + k) }, func(k int) []float32 { return train.Output(first + k) })
		})
	}
}

// The same without recordings and for another animal: an invented clip of an invented skeleton, its
// rows cut by the rule of package offline/dataset's documentation.
func TestRetracesAnInvention(t *testing.T) {
	layout, sk := beetle()
	m := newModel(layout, sk, make([]float32, sk.Len()*feature.BoneChannels))
	clip := skel.NewClip(sk, 60, 500)
	for f := range clip.Frames {
		s := float32(f) / 60
		p, q := clip.Frame(f)
		yaw := 0.8*s + 0.3*m3.Sin(3*s)
		p[0] = m3.V(2*m3.Sin(0.7*s), 0.15+0.02*m3.Sin(9*s), -1.5*m3.Cos(0.7*s)+0.2*s)
		for j := range q {
			q[j] = m3.FromRotationVector(m3.V(m3.Sin(5*s+float32(j)), 0.2*m3.Cos(4*s), m3.Sin(float32(2*j))).Scale(0.3))
		}
		q[0] = m3.YawQuat(yaw).Mul(q[0])
	}
	rec := newRecording(clip, sk)
	const first = 80
	retrace(t, m, rec, first, 300,
		func(k int) []float32 { return rec.input(layout, first+k) }, func(k int) []float32 { return rec.output(layout, first+k) })
}

// beetle is a small animal that is not the dog.
func beetle() (*feature.MANN, *skel.Skeleton) {
	sk := &skel.Skeleton{
		Names:   []string{"Hips", "Neck", "Nose", "LeftHand", "LeftHandSite", "RightHand", "RightHandSite", "Tail", "TailSite"},
		Parents: []int16{-1, 0, 1, 1, 3, 1, 5, 0, 7},
		Offsets: []m3.Vec3{{}, {Y: 0.05, Z: 0.4}, {Z: 0.2}, {X: 0.1, Z: 0.05}, {Y: -0.3}, {X: -0.1, Z: 0.05}, {Y: -0.3}, {}, {Z: -0.2}},
		EndSite: []bool{false, false, true, false, true, false, true, false, true},
	}
	return &feature.MANN{Joints: sk.Names, Tips: []string{"LeftHandSite", "RightHandSite"}, Actions: []string{"move", "idle"}}, sk
}

// retrace places a row at frame first of rec and, for the given number of ticks, checks what it
// gathers against input and feeds it output.
func retrace(t *testing.T, m *Model, rec *recording, first, frames int, input, output func(k int) []float32) {
	t.Helper()
	m.nose = -1 // recorded heads and legs need no correction
	for j := range m.leg {
		m.leg[j] = -1
	}
	layout := m.Layout
	b := NewBatch(m, 3)
	const row = 1
	rec.place(b, row, first)
	x, y := make([]float32, 3*layout.Inputs()), make([]float32, 3*layout.Outputs())
	world := make([]m3.Xform, m.Skel.Len())
	for k := range frames {
		f := first + k
		b.Gather(x, row, row+1)
		got, want := x[row*layout.Inputs():], input(k)
		for _, s := range layout.InputSpans() {
			tol := inputTolerance(layout, s, k)
			for c := s.Start; c < s.Start+s.Len; c++ {
				if d := math.Abs(float64(got[c] - want[c])); !(d <= tol) {
					t.Fatalf("frame %d, %s: gathered %v, recorded %v", f, s.Name, got[s.Start:s.Start+s.Len], want[s.Start:s.Start+s.Len])
				}
			}
		}
		copy(y[row*layout.Outputs():], output(k))
		b.Scatter(y, row, row+1)
		pos, vel := b.Bone(row)
		for j := range pos {
			at := rec.pos(f+1, j)
			if d := pos[j].Dist(at); !(d < 2e-4) {
				t.Fatalf("frame %d: %s is %g m from the recording", f+1, m.Skel.Names[j], d)
			}
			if d := vel[j].Dist(at.Sub(rec.pos(f, j)).Scale(60)); !(d < 2e-2) {
				t.Fatalf("frame %d: velocity of %s is off by %g m/s", f+1, m.Skel.Names[j], d)
			}
		}
		// What already fits the skeleton is displayed as it is.
		lp, lr := b.Pose(row)
		m.Skel.LocalToModel(world, lp, lr)
		for j := range world {
			if d := world[j].Pos.Dist(pos[j]); !(d < 2e-3) {
				t.Fatalf("frame %d: displayed %s is %g m off", f+1, m.Skel.Names[j], d)
			}
			if a := world[j].Rot.Angle(rec.world[(f+1)*rec.joints+j].Rot); !(a < 0.02) && !m.Skel.EndSite[j] {
				t.Fatalf("frame %d: displayed %s is turned by %g rad", f+1, m.Skel.Names[j], a)
			}
		}
	}
}

// inputTolerance says how near the gathered span s must be to the recorded one after k ticks.
func inputTolerance(m *feature.MANN, s feature.Span, k int) float64 {
	if s.Start >= m.InBone(0) {
		if (s.Start-m.InBone(0))%feature.BoneChannels == feature.BoneVel {
			return 2e-2
		}
		return 1e-3
	}
	sample := s.Start / m.SampleLen()
	switch c := s.Start % m.SampleLen(); {
	case c >= feature.SampleSpeed:
		return math.Inf(1) // wishes, not motion: nobody gave any here
	case sample > feature.TrajNow:
		// The future is a mean of two predictions, and linear between samples.
		if k < 60 {
			return math.Inf(1)
		}
		return map[int]float64{feature.SamplePos: 0.02, feature.SampleDir: 0.1, feature.SampleVel: 0.5}[c]
	case k < feature.TrajRoot+1:
		return math.Inf(1) // the past is not yet of these ticks
	case c == feature.SampleVel:
		return 2e-2
	}
	return 1e-3
}

// recording is a clip posed on the model's skeleton in world space.
type recording struct {
	joints int
	world  []m3.Xform
	root   []frame
}

func newRecording(c *skel.Clip, sk *skel.Skeleton) *recording {
	n := sk.Len()
	r := &recording{joints: n, world: make([]m3.Xform, c.Frames*n), root: make([]frame, c.Frames)}
	pos, rot := slices.Clone(sk.Offsets), make([]m3.Quat, n)
	hips, neck := 0, sk.Index("Neck")
	for f := range c.Frames {
		p, q := c.Frame(f)
		for j, name := range sk.Names {
			rot[j] = q[c.Skel.Index(name)]
		}
		pos[0] = p[0]
		w := r.world[f*n : (f+1)*n]
		sk.LocalToModel(w, pos, rot)
		at := flat(w[hips].Pos)
		r.root[f] = frame{at, flat(w[neck].Pos).sub(at).unit(vec2{0, 1})}
	}
	return r
}

func (r *recording) pos(f, j int) m3.Vec3 { return r.world[f*r.joints+j].Pos }

// place puts row into the state of frame f: the roots of f−1 and f, the bones of f. What came
// before stays unknown.
func (r *recording) place(b *Batch, row, f int) {
	t := row * points
	for i := t; i < t+points; i++ {
		b.pos[i], b.dir[i] = r.root[f].pos, r.root[f].fwd
		w := b.act[i*b.actions : (i+1)*b.actions]
		clear(w)
		w[b.Model.action[control.Move]] = 1
	}
	b.pos[t+now-1], b.dir[t+now-1] = r.root[f-1].pos, r.root[f-1].fwd
	b.vel[t+now] = r.root[f].pos.sub(r.root[f-1].pos).scale(60)
	b.agent[row].correct = 1
	for j := range b.joints {
		k := row*b.joints + j
		x := r.world[f*r.joints+j]
		b.bonePos[k], b.boneVel[k] = x.Pos, x.Pos.Sub(r.pos(f-1, j)).Scale(60)
		b.boneFwd[k], b.boneUp[k] = x.Rot.Forward(), x.Rot.Rotate(m3.V(0, 1, 0))
	}
}

// input is the row of frame f by the rule: what is seen from root(f), the bones of f from
// root(f−1).
func (r *recording) input(m *feature.MANN, f int) []float32 {
	x := make([]float32, m.Inputs())
	for s := range feature.TrajSamples {
		d := 10 * (s - feature.TrajNow)
		if d > 0 {
			d = 12 * (s - feature.TrajNow)
		}
		r.sample(x[m.InSample(s):], r.root[f], f+d)
	}
	r.bones(x[m.InBone(0):], f)
	return x
}

// output is the row's other half: the trajectory from root(f+1), the bones of f+1 from root(f), the
// motion between the two.
func (r *recording) output(m *feature.MANN, f int) []float32 {
	y := make([]float32, m.Outputs())
	a, b := r.root[f], r.root[f+1]
	for s := range feature.TrajFuture {
		r.sample(y[m.OutSample(s):], b, f+1+12*s)
	}
	r.bones(y[m.OutBone(0):], f+1)
	d, turn := a.in(b.pos.sub(a.pos)), a.in(b.fwd)
	o := y[m.OutRoot():]
	o[feature.RootX], o[feature.RootZ] = 60*d.X, 60*d.Z
	o[feature.RootYaw] = 60 * m3.Atan2(turn.X, turn.Z) * 180 / math.Pi
	return y
}

func (r *recording) sample(dst []float32, from frame, f int) {
	put2(dst[feature.SamplePos:], from.in(r.root[f].pos.sub(from.pos)))
	put2(dst[feature.SampleDir:], from.in(r.root[f].fwd))
	put2(dst[feature.SampleVel:], from.in(r.root[f].pos.sub(r.root[f-1].pos).scale(60)))
}

func (r *recording) bones(dst []float32, f int) {
	from := r.root[f-1]
	for j := range r.joints {
		d := dst[j*feature.BoneChannels:]
		x := r.world[f*r.joints+j]
		put3(d[feature.BonePos:], from, x.Pos.Sub(from.pos.vec3()))
		put3(d[feature.BoneForward:], from, x.Rot.Forward())
		put3(d[feature.BoneUp:], from, x.Rot.Rotate(m3.V(0, 1, 0)))
		put3(d[feature.BoneVel:], from, x.Pos.Sub(r.pos(f-1, j)).Scale(60))
	}
}
