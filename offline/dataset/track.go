package dataset

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// fps is the rate of all rows, frames per second. Times are in frames.
const (
	fps       = 60
	pastStep  = fps * feature.TrajStep / feature.TrajRoot // frames between past samples
	ahead     = feature.TrajPoints - 1 - feature.TrajRoot // run-time points in the future second
	nextStep  = fps * feature.TrajStep / ahead            // frames between future samples
	chords    = 5                                         // of the desired speed's path
	frontName = "Neck"                                    // the root faces from joint 0 to this joint
	minFacing = 1e-3                                      // metres: a shorter projection has no direction
)

// sampleFrame returns how many frames after the present input sample s stands.
func sampleFrame(s int) int {
	if d := s - feature.TrajNow; d > 0 {
		return d * nextStep
	} else {
		return d * pastStep
	}
}

// ground is a frame on the ground: its position p and its forward f.
type ground struct{ px, pz, fx, fz float64 }

// in returns the world vector (x, z) along g's left and forward.
func (g ground) in(x, z float64) (left, forward float64) {
	return x*g.fz - z*g.fx, x*g.fx + z*g.fz
}

// track is one recording on the canonical skeleton, in world space.
type track struct {
	n       int       // frames
	stride  int       // frames of a row's step, over which velocities are taken
	joints  int       //
	roots   []ground  // (n)
	pos     []m3.Vec3 // (n, joints)
	forward []m3.Vec3 // (n, joints) local +Z
	up      []m3.Vec3 // (n, joints) local +Y
	actions int       //
	weights []float32 // (n, actions)
	phases  []float32 // (n, tips, PhaseLen)
}

// track poses the recording on the canonical skeleton sk.
func (r *recording) track(sk *skel.Skeleton, layout *feature.MANN, unit float32) (*track, error) {
	at, err := joinJoints(layout, r.clip.Skel)
	if err != nil {
		return nil, err
	}
	t, err := newTrack(sk, r.clip, at, unit, r.weights, len(layout.Actions), layout.Step())
	switch {
	case err != nil:
		return nil, err
	case r.roots == nil:
		return t, t.face(sk)
	}
	for f, p := range r.roots {
		sin, cos := math.Sincos(float64(p.Yaw))
		t.roots[f] = ground{float64(p.Pos.X), float64(p.Pos.Z), sin, cos}
	}
	return t, nil
}

// newTrack poses clip on sk, without roots. at maps sk's joints to the clip's.
func newTrack(sk *skel.Skeleton, clip *skel.Clip, at []int, unit float32, weights []float32, actions, stride int) (*track, error) {
	n, nj := clip.Frames, sk.Len()
	t := &track{
		n: n, stride: stride, joints: nj, roots: make([]ground, n),
		pos: make([]m3.Vec3, n*nj), forward: make([]m3.Vec3, n*nj), up: make([]m3.Vec3, n*nj),
		actions: actions, weights: weights,
	}
	pos, rot, model := slices.Clone(sk.Offsets), make([]m3.Quat, nj), make([]m3.Xform, nj)
	for f := range n {
		p, r := clip.Frame(f)
		pos[0] = p[at[0]].Scale(unit)
		for j, k := range at {
			rot[j] = r[k]
		}
		sk.LocalToModel(model, pos, rot)
		for j, x := range model {
			if !x.Pos.Finite() || !x.Rot.Finite() {
				return nil, fmt.Errorf("frame %d: joint %s is not finite", f, sk.Names[j])
			}
			t.pos[f*nj+j] = x.Pos
			t.forward[f*nj+j] = x.Rot.Forward()
			t.up[f*nj+j] = x.Rot.Rotate(m3.V(0, 1, 0))
		}
	}
	return t, nil
}

// face finds the roots: under joint 0, facing from there to the neck.
func (t *track) face(sk *skel.Skeleton) error {
	front := sk.Index(frontName)
	if front < 0 {
		return fmt.Errorf("the skeleton has no joint %q, toward which the root faces", frontName)
	}
	for f := range t.n {
		hips := t.pos[f*t.joints]
		d := t.pos[f*t.joints+front].Sub(hips)
		t.roots[f] = ground{px: float64(hips.X), pz: float64(hips.Z), fz: 1}
		if l := math.Hypot(float64(d.X), float64(d.Z)); l > minFacing {
			t.roots[f].fx, t.roots[f].fz = float64(d.X)/l, float64(d.Z)/l
		} else if f > 0 {
			t.roots[f].fx, t.roots[f].fz = t.roots[f-1].fx, t.roots[f-1].fz
		}
	}
	return nil
}

// inside returns the recorded frame of time f. Outside of the recording f is reflected in
// the returned end frame; inside, end is −1.
func (t *track) inside(f int) (frame, end int) {
	end = -1
	if f < 0 {
		f, end = -f, 0
	} else if f >= t.n {
		f, end = 2*(t.n-1)-f, t.n-1
	}
	// A recording shorter than a second may end within the reflection.
	return min(max(f, 0), t.n-1), end
}

// at returns the root's frame at any time.
func (t *track) at(f int) ground {
	k, end := t.inside(f)
	g := t.roots[k]
	if end >= 0 {
		g.px, g.pz = 2*t.roots[end].px-g.px, 2*t.roots[end].pz-g.pz
	}
	return g
}

func (t *track) rate() float64 { return fps / float64(t.stride) }

// velocity returns the root's velocity at any time, world axes, m/s.
func (t *track) velocity(f int) (x, z float64) {
	a, b := t.at(f-t.stride), t.at(f)
	return t.rate() * (b.px - a.px), t.rate() * (b.pz - a.pz)
}

// speed returns the length of the root's path over the second from f, on equal chords, m.
func (t *track) speed(f int) float64 {
	const step = fps / chords
	var l float64
	a := t.at(f)
	for k := range chords {
		b := t.at(f + (k+1)*step)
		l += math.Hypot(b.px-a.px, b.pz-a.pz)
		a = b
	}
	return l
}

// sample writes the position, direction and velocity of frame f seen from g.
func (t *track) sample(dst []float32, g ground, f int) {
	s := t.at(f)
	put(dst[feature.SamplePos:], g, s.px-g.px, s.pz-g.pz)
	put(dst[feature.SampleDir:], g, s.fx, s.fz)
	x, z := t.velocity(f)
	put(dst[feature.SampleVel:], g, x, z)
}

func put(dst []float32, g ground, x, z float64) {
	l, f := g.in(x, z)
	dst[0], dst[1] = float32(l), float32(f)
}

func (t *track) input(x []float32, m *feature.MANN, i int) {
	g := t.roots[i]
	for s := range feature.TrajSamples {
		f := i + sampleFrame(s)
		at := m.InSample(s)
		t.sample(x[at:], g, f)
		if !m.NoSpeed {
			x[at+feature.SampleSpeed] = float32(t.speed(f))
		}
		k, _ := t.inside(f)
		copy(x[m.InActions(s):][:t.actions], t.weights[k*t.actions:])
	}
	t.pose(x[m.InBone(0):], i)
}

func (t *track) output(y []float32, m *feature.MANN, i int) {
	after := i + t.stride
	g, next := t.roots[i], t.roots[after]
	for s := range feature.TrajFuture {
		t.sample(y[m.OutSample(s):], next, after+s*nextStep)
	}
	t.pose(y[m.OutBone(0):m.OutRoot()], after)
	r := y[m.OutRoot():]
	dx, dz := g.in(next.px-g.px, next.pz-g.pz)
	left, forward := g.in(next.fx, next.fz)
	r[feature.RootX] = float32(t.rate() * dx)
	r[feature.RootYaw] = float32(t.rate() * math.Atan2(left, forward) * 180 / math.Pi)
	r[feature.RootZ] = float32(t.rate() * dz)
}

// pose writes all bones of frame f seen from the root of the frame a stride before.
func (t *track) pose(dst []float32, f int) {
	g, rate := t.roots[f-t.stride], float32(t.rate())
	for j := range t.joints {
		k := f*t.joints + j
		b := dst[j*feature.BoneChannels:][:feature.BoneChannels]
		p := t.pos[k]
		put3(b[feature.BonePos:], g, float64(p.X)-g.px, p.Y, float64(p.Z)-g.pz)
		put3(b[feature.BoneForward:], g, float64(t.forward[k].X), t.forward[k].Y, float64(t.forward[k].Z))
		put3(b[feature.BoneUp:], g, float64(t.up[k].X), t.up[k].Y, float64(t.up[k].Z))
		v := p.Sub(t.pos[k-t.stride*t.joints])
		put3(b[feature.BoneVel:], g, t.rate()*float64(v.X), rate*v.Y, t.rate()*float64(v.Z))
	}
	n := len(t.phases) / t.n
	copy(dst[t.joints*feature.BoneChannels:], t.phases[f*n:(f+1)*n])
}

func put3(dst []float32, g ground, x float64, y float32, z float64) {
	l, f := g.in(x, z)
	dst[0], dst[1], dst[2] = float32(l), y, float32(f)
}
