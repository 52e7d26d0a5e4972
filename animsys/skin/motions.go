package skin

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

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

	// Rest is the joints at rest in the file's space: as skins bind them, else as the nodes stand. Joints
	// of files that Write wrote have no rotations at rest.
	Rest []m3.Xform
	// Parts maps joints of people's skeletons (see [skel.Skeleton]) to joints of this one, if the file has
	// VRM's table of bones, and is nil otherwise. The file's people stand in a T-pose at rest.
	Parts map[string]string
	Notes []string // what is not read of the file, and oddities
}

// OpenMotions reads the animations of a .glb, .gltf, .vrm or .vrma. Their skeleton has the joints of the
// file's skins and of VRM's table of bones, or, without both, the nodes that animations move, and all
// nodes in between; nodes above them are applied to the joints without a parent. What an animation does
// not move stands as the nodes do. Scales, and joints that change their distance to their parents, are in
// the clip's translations; mirrored axes are mirrored back, in x. The frame rate is that of the closest
// keys, 24 to 120 per second. Morph targets are not read. A file without animations is an error. Errors
// in the file are *Error.
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
	h, err := f.humanoid()
	if err != nil {
		return nil, err
	}
	r := &motionReader{file: f, tree: t, still: make([]affine.Transform, len(f.doc.Nodes))}
	for n, node := range f.doc.Nodes {
		r.still[n] = local(node)
	}
	if err := r.findJoints(h); err != nil {
		return nil, err
	}
	if err := r.bindRest(len(h.bones) > 0); err != nil {
		return nil, err
	}
	var out []Motion
	for i := range f.doc.Animations {
		m, err := r.motion(i)
		if err != nil {
			return nil, err
		}
		m.Rest, m.Parts, m.Notes = r.rest, r.parts, r.notes
		out = append(out, m)
	}
	return out, nil
}

func (m *Motion) frames() int {
	if m.Clip == nil {
		return 0
	}
	return m.Clip.Frames
}

// AtRest returns the motion on a skeleton whose joints have the world's axes at rest: without rotations it
// stands as the file's character does at rest, and not with each bone along an axis of its own.
func (m *Motion) AtRest() *skel.Clip {
	if m.Clip == nil || len(m.Rest) != m.Clip.Skel.Len() || !slices.ContainsFunc(m.Rest, func(x m3.Xform) bool { return x.Rot != m3.Ident }) {
		return m.Clip
	}
	sk := *m.Clip.Skel
	n := sk.Len()
	sk.Offsets = make([]m3.Vec3, n)
	model, rot := make([]m3.Xform, n), make([]m3.Quat, n)
	for j, x := range m.Rest {
		model[j] = m3.Xform{Pos: x.Pos, Rot: m3.Ident}
	}
	sk.ModelToLocal(sk.Offsets, rot, model)
	out := skel.NewClip(&sk, m.Clip.FPS, m.Clip.Frames)
	for f := range out.Frames {
		m.Clip.Model(model, f)
		for j := range model {
			model[j].Rot = model[j].Rot.Mul(m.Rest[j].Rot.Conj()).Normalize()
		}
		pos, rot := out.Frame(f)
		sk.ModelToLocal(pos, rot, model)
	}
	return out
}

// motionReader reads the animations of a file.
type motionReader struct {
	*file
	*tree
	sk     *skel.Skeleton
	nodes  []int              // of the joints
	joint  []int              // per node; −1 for none
	still  []affine.Transform // per node: local, without an animation
	rest   []m3.Xform
	parts  map[string]string
	notes  []string
	placed int // transforms so far
}

// findJoints makes the skeleton.
func (r *motionReader) findJoints(h *humanoid) error {
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
	parts := h.parts()
	for _, n := range h.bones {
		is[n] = true
	}
	for i, a := range d.Animations {
		if a == nil {
			return r.errorf(fmt.Sprintf("animations[%d]", i), "is null")
		}
		for k, c := range a.Channels {
			if c == nil {
				return r.errorf(fmt.Sprintf("animations[%d].channels[%d]", i, k), "is null")
			}
			if len(d.Skins) == 0 && len(h.bones) == 0 && c.Target.Node != nil {
				if err := mark(*c.Target.Node, fmt.Sprintf("animations[%d].channels[%d].target", i, k)); err != nil {
					return err
				}
			}
		}
	}
	named := slices.Clone(is)
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
	if err := r.skeleton(is, named); err != nil {
		return err
	}
	if err := r.atRest(); err != nil {
		return err
	}
	for part, n := range parts {
		if j := r.joint[n]; j >= 0 {
			if r.parts == nil {
				r.parts = map[string]string{}
			}
			r.parts[part] = r.sk.Names[j]
		}
	}
	if len(h.more) > 0 {
		r.note("what it has besides bones is not read: %s", strings.Join(h.more, ", "))
	}
	return nil
}

// skeleton makes the skeleton of the nodes that are joints, without offsets. Of nodes that are called the same, those of first
// keep the name rather than a group between them.
func (r *motionReader) skeleton(is, first []bool) error {
	r.sk = &skel.Skeleton{}
	r.joint = slices.Repeat([]int{-1}, len(is))
	taken, again, names := map[string]bool{}, []string{}, make([]string, len(is))
	for _, now := range []bool{true, false} {
		for _, n := range r.order {
			if !is[n] || first[n] != now {
				continue
			}
			own := boundedfile.Printable(r.doc.Nodes[n].Name)
			if own == "" {
				own = fmt.Sprintf("node%d", n)
			}
			if names[n] = unused(taken, own); names[n] != own {
				again = append(again, own)
			}
		}
	}
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
		r.joint[n] = len(r.nodes)
		r.nodes = append(r.nodes, n)
		r.sk.Names, r.sk.Parents = append(r.sk.Names, names[n]), append(r.sk.Parents, parent)
		r.sk.Offsets, r.sk.EndSite = append(r.sk.Offsets, m3.Vec3{}), append(r.sk.EndSite, false)
	}
	if len(r.nodes) == 0 {
		return r.errorf("animations", "they move no node of the scene")
	}
	if len(again) > 0 {
		r.note("joints have the same name: all but the first %.60q got a number, %d joints in all", again[0], len(again))
	}
	return nil
}

// atRest finds the offsets of the joints, which are those of the nodes.
func (r *motionReader) atRest() error {
	model, rot := make([]m3.Xform, len(r.nodes)), make([]m3.Quat, len(r.nodes))
	if err := r.pose("nodes", model, r.world, nil, 0); err != nil {
		return err
	}
	r.sk.ModelToLocal(r.sk.Offsets, rot, model)
	if err := r.sk.Validate(); err != nil {
		return r.errorf("nodes", "%v", err)
	}
	mirrored := 0
	for _, n := range r.nodes {
		if r.world[n].Det() < 0 {
			mirrored++
		}
	}
	if mirrored > 0 {
		r.note("%d joints are mirrored (a scale below 0): their axes are mirrored back", mirrored)
	}
	r.rest = model
	return nil
}

// bindRest finds the bind pose of the joints.
func (r *motionReader) bindRest(vrm bool) error {
	model := r.rest
	if r.doc.Asset.Generator == ownGenerator {
		for j, p := range r.sk.Parents {
			model[j] = m3.Xform{Pos: r.sk.Offsets[j], Rot: m3.Ident}
			if p >= 0 {
				model[j].Pos = model[j].Pos.Add(model[p].Pos)
			}
		}
		return nil
	}
	if vrm { // in a T-pose
		return nil
	}
	var bound []boundSkin
	for k, s := range r.doc.Skins {
		inverse, err := r.inverseBinds(k)
		if err != nil {
			return err
		}
		if len(s.Joints) > 0 && !slices.ContainsFunc(s.Joints, func(n int) bool { return r.joint[n] < 0 }) {
			bound = append(bound, boundSkin{s.Joints, inverse})
		}
	}
	world, differs := r.bindPose(r.still, bound)
	if !differs {
		return nil
	}
	r.rest = make([]m3.Xform, len(r.nodes))
	return r.pose("nodes", r.rest, world, nil, 0)
}

func (r *motionReader) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// pose writes place and rotation of the joints, without scale, from the nodes' transforms. channels and
// t say how they move; nil: not at all. where is for errors.
func (r *motionReader) pose(where string, dst []m3.Xform, world []affine.Transform, channels [][3]*channel, t float64) error {
	var turns []m3.Quat
	for j, n := range r.nodes {
		w := &world[n]
		if !w.Finite() {
			return r.errorf(where, "nodes[%d] (%.60q) is not at a finite place at %.3f s, or far too large", n, r.doc.Nodes[n].Name, t)
		}
		q, ok := rotationOf(w)
		if !ok { // a scale of 0 hides joints: they turn all the same
			if turns == nil {
				turns = r.turns(channels, t)
			}
			q = turns[n]
		}
		dst[j] = m3.Xform{Pos: m3.V(float32(w[3]), float32(w[7]), float32(w[11])), Rot: q}
	}
	return nil
}

// turns returns the rotations of all nodes in the scene's space, as they were without any scale.
func (r *motionReader) turns(channels [][3]*channel, t float64) []m3.Quat {
	out := make([]m3.Quat, len(r.doc.Nodes))
	for _, n := range r.order {
		is := separated(r.doc.Nodes[n])
		if channels != nil && channels[n][1] != nil {
			copy(is.Rotation[:], channels[n][1].at(t))
		}
		is.Scale, is.Translation = [3]float64{1, 1, 1}, [3]float64{}
		l := local(&is)
		out[n], _ = rotationOf(&l)
		if p := r.parent[n]; p >= 0 {
			out[n] = out[p].Mul(out[n])
		}
	}
	return out
}

// separated returns a node with translation, rotation and scale in place of a matrix.
func separated(n *gltf.Node) gltf.Node {
	m := n.MatrixOrDefault()
	if m == gltf.DefaultMatrix {
		return gltf.Node{Translation: n.Translation, Rotation: n.RotationOrDefault(), Scale: n.ScaleOrDefault()}
	}
	a := local(n)
	q, _ := rotationOf(&a)
	out := gltf.Node{Translation: [3]float64{a[3], a[7], a[11]}, Rotation: [4]float64{float64(q.X), float64(q.Y), float64(q.Z), float64(q.W)}}
	for c := range out.Scale {
		out.Scale[c] = math.Sqrt(a[c]*a[c] + a[4+c]*a[4+c] + a[8+c]*a[8+c])
	}
	if a.Det() < 0 {
		out.Scale[0] = -out.Scale[0]
	}
	return out
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
			if d := ch.times.at(k, 0) - ch.times.at(k-1, 0); d > 0 {
				closest = min(closest, d)
			}
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
		}
		if err := r.pose(where, model, world, channels, t); err != nil {
			return m, err
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
		return r.still[n]
	}
	is := separated(r.doc.Nodes[n]) // the specification allows no matrix on nodes that move
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
		copy(is.Scale[:], c.at(t)) // 0 hides, where the library takes it for none
	}
	return placed(is.Translation, is.Rotation, is.Scale)
}
