package skin

import (
	"fmt"
	"math"
	"os"
	"slices"
	"sort"

	"github.com/qmuntal/gltf"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/affine"
	"mannequin/internal/boundedfile"
)

// Limits of motions. They are checked before memory is allocated.
const (
	MaxKeys       = 1 << 20 // of a channel
	MaxSeconds    = 3600    // of a motion
	MaxTransforms = 1 << 21 // frames times nodes, of all motions of a file
)

// Motion is an animation of a file.
type Motion struct {
	Name string
	Clip *skel.Clip // in metres, +Y up, on the file's own joints
}

// OpenMotions reads the animations of a .glb or .gltf. Their skeleton has the joints of the file's
// skins, or, without skins, the nodes that animations move, and all nodes in between; nodes above them
// are applied to the joints without a parent. Scales, and joints that change their distance to their
// parents, are in the clip's translations. The frame rate is that of the closest keys, 24 to 120 per
// second. A file without animations is an error. Errors in the file are *Error.
//
// layer.New takes clips of files that [Write] has written for the crowd's skeleton. Retarget others: see
// mannequin/offline/retarget.Open, which reads glTF files too.
func OpenMotions(path string) ([]Motion, error) { return open(path, readMotions) }

// ReadMotions is OpenMotions for the contents of a .glb or .gltf called name, which references no other
// files.
func ReadMotions(name string, data []byte) ([]Motion, error) { return readMotions(name, data, nil) }

func readMotions(name string, data []byte, beside *os.Root) ([]Motion, error) {
	f, err := newFile(name, data, beside)
	if err != nil {
		return nil, err
	}
	t, err := f.newTree()
	if err != nil {
		return nil, err
	}
	if len(f.doc.Animations) == 0 {
		return nil, f.errorf("animations", "there are none: export the armature with its actions")
	}
	r := &motionReader{file: f, tree: t}
	if err := r.findJoints(); err != nil {
		return nil, err
	}
	var out []Motion
	for i := range f.doc.Animations {
		m, err := r.motion(i)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// motionReader reads the animations of a file.
type motionReader struct {
	*file
	*tree
	sk     *skel.Skeleton
	nodes  []int // of the joints
	joint  []int // per node; −1 for none
	placed int   // transforms so far
}

// findJoints makes the skeleton.
func (r *motionReader) findJoints() error {
	d := &r.doc
	is := make([]bool, len(d.Nodes))
	mark := func(n int, where string) error {
		if n < 0 || n >= len(is) {
			return r.errorf(where, "there is no nodes[%d]: there are %d", n, len(is))
		}
		is[n] = true
		return nil
	}
	for i, s := range d.Skins {
		for k, n := range s.Joints {
			if err := mark(n, fmt.Sprintf("skins[%d].joints[%d]", i, k)); err != nil {
				return err
			}
		}
	}
	for i, a := range d.Animations {
		if a == nil {
			return r.errorf(fmt.Sprintf("animations[%d]", i), "is null")
		}
		for k, c := range a.Channels {
			if c == nil {
				return r.errorf(fmt.Sprintf("animations[%d].channels[%d]", i, k), "is null")
			}
			if len(d.Skins) == 0 && c.Target.Node != nil {
				if err := mark(*c.Target.Node, fmt.Sprintf("animations[%d].channels[%d].target", i, k)); err != nil {
					return err
				}
			}
		}
	}
	// Nodes between two joints are joints as well.
	below := make([]bool, len(is)) // below a joint
	for _, n := range r.order {
		if p := r.parent[n]; p >= 0 {
			below[n] = below[p] || is[p]
		}
	}
	for _, n := range slices.Backward(r.order) {
		if p := r.parent[n]; p >= 0 && is[n] && below[n] {
			is[p] = true
		}
	}
	r.sk = &skel.Skeleton{}
	r.joint = slices.Repeat([]int{-1}, len(is))
	names := map[string]int{}
	for _, n := range r.order {
		if !is[n] {
			continue
		}
		parent := int16(-1)
		if p := r.parent[n]; p >= 0 {
			parent = int16(r.joint[p])
		}
		if len(r.nodes) == MaxJoints {
			return r.errorf("nodes", "more than %d joints", MaxJoints)
		}
		name := boundedfile.Printable(d.Nodes[n].Name)
		if name == "" {
			name = fmt.Sprintf("node%d", n)
		}
		if names[name]++; names[name] > 1 {
			name = fmt.Sprintf("%s_%d", name, names[name])
		}
		r.joint[n] = len(r.nodes)
		r.nodes = append(r.nodes, n)
		r.sk.Names, r.sk.Parents = append(r.sk.Names, name), append(r.sk.Parents, parent)
		r.sk.Offsets, r.sk.EndSite = append(r.sk.Offsets, m3.Vec3{}), append(r.sk.EndSite, false)
	}
	if len(r.nodes) == 0 {
		return r.errorf("animations", "they move no node of the scene")
	}
	rest := make([]m3.Xform, len(r.nodes))
	rot := make([]m3.Quat, len(r.nodes))
	for j, n := range r.nodes {
		var err error
		if rest[j], err = r.rigid(n, &r.world[n]); err != nil {
			return err
		}
	}
	r.sk.ModelToLocal(r.sk.Offsets, rot, rest)
	if err := r.sk.Validate(); err != nil {
		return r.errorf("nodes", "%v", err)
	}
	return nil
}

// rigid returns place and rotation of a node's transform, without its scale.
func (r *motionReader) rigid(n int, a *affine.Transform) (m3.Xform, error) {
	axis := func(c int) m3.Vec3 { return m3.V(float32(a[c]), float32(a[4+c]), float32(a[8+c])) }
	x, y := axis(0).Normalize(m3.Vec3{}), axis(1).Normalize(m3.Vec3{})
	z := x.Cross(y).Normalize(m3.Vec3{})
	at := m3.V(float32(a[3]), float32(a[7]), float32(a[11]))
	if z == (m3.Vec3{}) || !a.Finite() || a.Det() < 0 {
		return m3.Xform{}, r.errorf(fmt.Sprintf("nodes[%d]", n), "its axes are flat, mirrored or not finite")
	}
	return m3.Xform{Pos: at, Rot: m3.FromAxes(x, z.Cross(x), z)}, nil
}

// channel is the values of one property of a node.
type channel struct {
	times  *elements
	values *elements
	kind   gltf.Interpolation
}

// motion reads animations[i].
func (r *motionReader) motion(i int) (m Motion, err error) {
	a, where := r.doc.Animations[i], fmt.Sprintf("animations[%d]", i)
	m.Name = boundedfile.Printable(a.Name)
	channels := make([][3]*channel, len(r.doc.Nodes)) // translation, rotation, scale
	last, closest := 0.0, math.Inf(1)
	for k, c := range a.Channels {
		at := fmt.Sprintf("%s.channels[%d]", where, k)
		if c.Target.Node == nil || c.Target.Path == gltf.TRSWeights {
			continue
		}
		n := *c.Target.Node
		switch {
		case n < 0 || n >= len(channels):
			return m, r.errorf(at+".target", "there is no nodes[%d]: there are %d", n, len(channels))
		case c.Sampler < 0 || c.Sampler >= len(a.Samplers) || a.Samplers[c.Sampler] == nil:
			return m, r.errorf(at+".sampler", "there is no samplers[%d]: there are %d", c.Sampler, len(a.Samplers))
		}
		ch, err := r.channel(at, a.Samplers[c.Sampler], c.Target.Path)
		if err != nil {
			return m, err
		}
		channels[n][[...]int{gltf.TRSTranslation: 0, gltf.TRSRotation: 1, gltf.TRSScale: 2}[c.Target.Path]] = ch
		last = max(last, ch.times.at(ch.times.count-1, 0))
		for k := 1; k < ch.times.count; k++ {
			closest = min(closest, ch.times.at(k, 0)-ch.times.at(k-1, 0))
		}
	}
	fps := tidyFPS(1 / closest)
	frames := int(math.Round(last*fps)) + 1
	switch r.placed += frames * len(r.order); {
	case last > MaxSeconds:
		return m, r.errorf(where, "takes %g s, at most %d s are read", last, MaxSeconds)
	case r.placed > MaxTransforms:
		return m, r.errorf(where, "with its %d frames of %d nodes there are too many: at most %d transforms of a file are read", frames, len(r.order), MaxTransforms)
	}
	m.Clip = skel.NewClip(r.sk, fps, frames)
	world, model := make([]affine.Transform, len(channels)), make([]m3.Xform, len(r.nodes))
	for f := range frames {
		t := float64(f) / fps
		for _, n := range r.order {
			world[n] = r.local(n, &channels[n], t)
			if p := r.parent[n]; p >= 0 {
				world[n] = world[p].Mul(&world[n])
			}
			if j := r.joint[n]; j >= 0 {
				if model[j], err = r.rigid(n, &world[n]); err != nil {
					return m, err
				}
			}
		}
		pos, rot := m.Clip.Frame(f)
		r.sk.ModelToLocal(pos, rot, model)
	}
	return m, nil
}

// tidyFPS returns a frame rate near x.
func tidyFPS(x float64) float64 {
	const least, most = 24, 120
	if whole := math.Round(x); math.Abs(x-whole) < 0.01*whole {
		x = whole
	}
	if !(x >= least) {
		return least
	}
	return min(x, most)
}

// local returns the transform of node n at a time.
func (r *motionReader) local(n int, ch *[3]*channel, t float64) affine.Transform {
	if *ch == ([3]*channel{}) {
		return local(r.doc.Nodes[n])
	}
	is := *r.doc.Nodes[n]
	if is.MatrixOrDefault() != gltf.DefaultMatrix {
		is = gltf.Node{} // the specification allows no matrix on nodes that move
	}
	is.Rotation, is.Scale = is.RotationOrDefault(), is.ScaleOrDefault()
	if c := ch[0]; c != nil {
		copy(is.Translation[:], c.at(t))
	}
	if c := ch[1]; c != nil {
		copy(is.Rotation[:], c.at(t))
		if is.Rotation == ([4]float64{}) {
			is.Rotation[3] = 1
		}
	}
	if c := ch[2]; c != nil {
		copy(is.Scale[:], c.at(t))
	}
	return local(&is)
}

func (r *motionReader) channel(where string, s *gltf.AnimationSampler, path gltf.TRSProperty) (*channel, error) {
	times, err := r.accessor(where+".input", s.Input, MaxKeys, gltf.AccessorScalar)
	if err != nil {
		return nil, err
	}
	kind, per := gltf.AccessorVec3, 1
	if path == gltf.TRSRotation {
		kind = gltf.AccessorVec4
	}
	if s.Interpolation == gltf.InterpolationCubicSpline {
		per = 3
	}
	values, err := r.accessor(where+".output", s.Output, 3*MaxKeys, kind)
	if err != nil {
		return nil, err
	}
	if values.count < per*times.count {
		return nil, r.errorf(where, "%d values for %d keys", values.count, times.count)
	}
	if err := r.finite(where+".input", times, 1e5); err != nil {
		return nil, err
	}
	if err := r.finite(where+".output", values, 1e6); err != nil {
		return nil, err
	}
	for k := range times.count {
		if t := times.at(k, 0); t < 0 || k > 0 && t <= times.at(k-1, 0) {
			return nil, r.errorf(where+".input", "key %d is at %g s: want times from 0 on that grow", k, t)
		}
	}
	return &channel{times, values, s.Interpolation}, nil
}

// at returns the value at a time, three or four numbers.
func (c *channel) at(t float64) []float64 {
	k := sort.Search(c.times.count, func(k int) bool { return c.times.at(k, 0) > t }) - 1
	value := func(k, part int) (v [4]float64) { // of a cubic spline: 0 in, 1 value, 2 out
		if c.kind == gltf.InterpolationCubicSpline {
			k = 3*k + part
		}
		for i := range c.values.width {
			v[i] = c.values.at(k, i)
		}
		return v
	}
	a := value(max(k, 0), 1)
	if k < 0 || k == c.times.count-1 || c.kind == gltf.InterpolationStep {
		return a[:c.values.width]
	}
	b := value(k+1, 1)
	span := c.times.at(k+1, 0) - c.times.at(k, 0)
	u := (t - c.times.at(k, 0)) / span
	if c.kind == gltf.InterpolationCubicSpline {
		out, in := value(k, 2), value(k+1, 0)
		for i := range a {
			a[i] = (1+u*u*(2*u-3))*a[i] + span*u*(1+u*(u-2))*out[i] + u*u*(3-2*u)*b[i] + span*u*u*(u-1)*in[i]
		}
		return a[:c.values.width]
	}
	if c.values.width == 4 {
		q := func(v [4]float64) m3.Quat {
			return m3.Quat{X: float32(v[0]), Y: float32(v[1]), Z: float32(v[2]), W: float32(v[3])}.Normalize()
		}
		s := q(a).Slerp(q(b), float32(u))
		return []float64{float64(s.X), float64(s.Y), float64(s.Z), float64(s.W)}
	}
	for i := range a {
		a[i] += u * (b[i] - a[i])
	}
	return a[:c.values.width]
}
