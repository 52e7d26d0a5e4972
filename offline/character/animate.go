package character

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
	"mannequin/offline/fbx"
)

// ErrOtherRig means that a motion's joints are not those of a character.
var ErrOtherRig = errors.New("the motion has other joints than the character")

// Animated is a character with a motion, as glTF.
type Animated struct {
	Doc     *gltf.Document
	Driven  int      // joints of the character that the motion moves
	Missing []string // joints of the motion that the character lacks
	Scale   float64  // metres of the character per unit of the motion, by the lengths of their legs
	Notes   []string

	Vertices, Triangles int // of the character
}

// Write writes the character as a GLB.
func (a *Animated) Write(w io.Writer) error { return gltf.NewEncoder(w).Encode(a.Doc) }

// Animate puts a motion with y up onto the character of a glTF or FBX file whose joints have the same names:
// the character keeps its bones, meshes and materials, and the motion becomes its only animation, of the
// given name. rest has the local rotations of the motion's joints at rest; nil is none. Prefixes such as
// mixamorig: and punctuation do not matter. If both files' bones lie alike in the frames of their joints,
// rotations are copied. Otherwise the motion's rest pose is turned bone by bone to the pose of the
// character's file. The error wraps ErrOtherRig if most of the joints of both have other names, or if the
// poses are too different.
func Animate(path string, clip *skel.Clip, rest []m3.Quat, name string) (*Animated, error) {
	a := &animator{clip: clip, rest: rest}
	if err := a.open(path); err != nil {
		return nil, err
	}
	if clip.Frames == 0 || !(clip.FPS > 0) {
		return nil, fmt.Errorf("%s: a motion of %d frames at %g per second", path, clip.Frames, clip.FPS)
	}
	if err := a.match(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := a.align(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	a.out.Doc = a.doc
	return &a.out, a.animate(name)
}

// animator puts a clip onto a document. Slices have an entry per node, if nothing else is said.
type animator struct {
	doc    *gltf.Document
	clip   *skel.Clip
	rest   []m3.Quat  // local rotations of its joints
	order  []int      // nodes, parents before children
	parent []int      // −1 for none
	local  []m3.Xform // of the file's pose, without scales
	world  []m3.Xform // the same, with the scales of the nodes above in the places
	size   []float32  // scale of the node's children
	from   []int      // joint of the clip, −1 for none
	to     []int      // per joint of the clip, its node; −1 for none
	turn   []m3.Quat  // from the frame of the clip's joint to the node's
	scale  float32    // of the clip's lengths
	out    Animated
}

// open reads the file's document and the places of its nodes.
func (a *animator) open(path string) error {
	s, err := Open(path) // with all its checks
	if err != nil {
		return err
	}
	a.out.Notes, a.out.Vertices, a.out.Triangles = s.Notes, s.Vertices(), s.Triangles()
	head, err := headOf(path)
	if err != nil {
		return err
	}
	if fbx.IsFBX(head) {
		c, err := fbx.OpenCharacter(path)
		if err != nil {
			return err
		}
		a.doc = c.Doc
	} else if a.doc, err = openGLTF(path); err != nil {
		return err
	}
	a.doc.Animations = nil
	n := len(a.doc.Nodes)
	a.parent = slices.Repeat([]int{-1}, n)
	for i, node := range a.doc.Nodes {
		for _, c := range node.Children {
			a.parent[c] = i // the reader of the skin has checked the tree
		}
	}
	var visit func(i int)
	visit = func(i int) {
		a.order = append(a.order, i)
		for _, c := range a.doc.Nodes[i].Children {
			visit(c)
		}
	}
	a.local, a.world, a.size = make([]m3.Xform, n), make([]m3.Xform, n), make([]float32, n)
	for i, p := range a.parent {
		if p < 0 {
			visit(i)
		}
	}
	for _, i := range a.order {
		x, scale := place(a.doc.Nodes[i])
		a.local[i] = x
		up, size := m3.Identity, float32(1)
		if p := a.parent[i]; p >= 0 {
			up, size = a.world[p], a.size[p]
		}
		a.world[i] = m3.Xform{Pos: up.Pos.Add(up.Rot.Rotate(x.Pos.Scale(size))), Rot: up.Rot.Mul(x.Rot)}
		a.size[i] = size * scale
	}
	return nil
}

// place returns a node's place and rotation in its parent, and the mean of its scales.
func place(n *gltf.Node) (m3.Xform, float32) {
	if m := n.MatrixOrDefault(); m != gltf.DefaultMatrix {
		axis := func(c int) m3.Vec3 { return m3.V(float32(m[4*c]), float32(m[4*c+1]), float32(m[4*c+2])) }
		x, y := axis(0), axis(1)
		scale := (x.Len() + y.Len() + axis(2).Len()) / 3
		x, y = x.Normalize(m3.V(1, 0, 0)), y.Normalize(m3.Up)
		z := x.Cross(y).Normalize(m3.V(0, 0, 1))
		return m3.Xform{Pos: axis(3), Rot: m3.FromAxes(x, z.Cross(x), z)}, scale
	}
	q, s, t := n.RotationOrDefault(), n.ScaleOrDefault(), n.Translation
	rot := m3.Quat{X: float32(q[0]), Y: float32(q[1]), Z: float32(q[2]), W: float32(q[3])}.Normalize()
	return m3.Xform{Pos: m3.V(float32(t[0]), float32(t[1]), float32(t[2])), Rot: rot}, float32((math.Abs(s[0]) + math.Abs(s[1]) + math.Abs(s[2])) / 3)
}

// match pairs the joints of clip and character by their names.
func (a *animator) match() error {
	s := a.clip.Skel
	a.from, a.to = slices.Repeat([]int{-1}, len(a.parent)), slices.Repeat([]int{-1}, s.Len())
	isJoint := make([]bool, len(a.parent))
	joints := 0
	for _, k := range a.doc.Skins {
		for _, j := range k.Joints {
			if !isJoint[j] {
				isJoint[j] = true
				joints++
			}
		}
	}
	byName := map[string]int{}
	for _, i := range slices.Backward(a.order) { // the first of several with a name
		if isJoint[i] {
			byName[skin.PlainName(a.doc.Nodes[i].Name)] = i
		}
	}
	moving := 0
	for j, name := range s.Names {
		if s.EndSite[j] {
			continue
		}
		moving++
		i, ok := byName[skin.PlainName(name)]
		if !ok || a.from[i] >= 0 {
			a.out.Missing = append(a.out.Missing, name)
			continue
		}
		a.from[i], a.to[j] = j, i
		a.out.Driven++
	}
	if a.out.Driven < 3 || 5*a.out.Driven < 4*min(moving, joints) {
		return fmt.Errorf("%w: %d of its %d are among the character's %d", ErrOtherRig, a.out.Driven, moving, joints)
	}
	return nil
}

// above returns the nearest paired joint of the clip above joint j, or −1.
func (a *animator) above(j int) int {
	for j = int(a.clip.Skel.Parents[j]); j >= 0 && a.to[j] < 0; j = int(a.clip.Skel.Parents[j]) {
	}
	return j
}

// align finds the scale, and how the frames of the character's joints are turned against the clip's.
func (a *animator) align() error {
	s := a.clip.Skel
	n := s.Len()
	pose := make([]m3.Xform, n) // of the clip at rest
	rot := a.rest
	if rot == nil {
		rot = slices.Repeat([]m3.Quat{m3.Ident}, n)
	}
	s.LocalToModel(pose, s.Offsets, rot)
	bones, alike := 0, 0
	below := make([][]int, n) // paired joints below each, apart from it
	for j := range n {
		p := a.above(j)
		if a.to[j] < 0 || p < 0 {
			continue
		}
		i, up := a.to[j], a.to[p]
		bone := a.world[i].Pos.Sub(a.world[up].Pos)
		was := pose[j].Pos.Sub(pose[p].Pos)
		if bone.Len() < 1e-5 || was.Len() < 1e-9 {
			continue
		}
		below[p] = append(below[p], j)
		if int(s.Parents[j]) != p {
			continue
		}
		bones++
		if a.world[up].Rot.Conj().Rotate(bone).Normalize(m3.Up).Dot(s.Offsets[j].Normalize(m3.Up)) > 0.95 {
			alike++
		}
	}
	if bones == 0 {
		return fmt.Errorf("%w: their bones have no length", ErrOtherRig)
	}
	a.scale = a.legs(pose)
	a.out.Scale = float64(a.scale)
	a.turn = slices.Repeat([]m3.Quat{m3.Ident}, len(a.parent))
	if 4*alike >= 3*bones {
		return nil
	}
	// swung turns the clip's rest pose, joint by joint, to the character's.
	swung := make([]m3.Quat, n)
	bent := 0
	for j := range n {
		if swung[j] = m3.Ident; a.to[j] < 0 {
			continue
		}
		if p := a.above(j); p >= 0 {
			swung[j] = swung[p]
		}
		var from, to []m3.Vec3
		for _, k := range below[j] {
			from = append(from, swung[j].Rotate(pose[k].Pos.Sub(pose[j].Pos)).Normalize(m3.Up))
			to = append(to, a.world[a.to[k]].Pos.Sub(a.world[a.to[j]].Pos).Normalize(m3.Up))
		}
		swing := fit(from, to)
		if a.above(j) >= 0 && swing.Angle(m3.Ident) > 1.9 {
			bent++
		}
		swung[j] = swing.Mul(swung[j])
		a.turn[a.to[j]] = swung[j].Mul(pose[j].Rot).Conj().Mul(a.world[a.to[j]].Rot)
	}
	if bent > 1 {
		return fmt.Errorf("%w: the same names, but at rest %d bones point elsewhere by more than 110°", ErrOtherRig, bent)
	}
	return nil
}

// legs returns the ratio of the character's and the clip's lengths from the joint that is lowest in the
// character up to the highest joint above it: of a leg, so that feet come to the ground. pose is the clip's
// rest pose.
func (a *animator) legs(pose []m3.Xform) float32 {
	low := -1
	for j, i := range a.to {
		if i >= 0 && a.above(j) >= 0 && (low < 0 || a.world[i].Pos.Y < a.world[a.to[low]].Pos.Y) {
			low = j
		}
	}
	var ours, theirs float32
	for p := low; p >= 0; low = p {
		if p = a.above(low); p >= 0 {
			ours += a.world[a.to[low]].Pos.Dist(a.world[a.to[p]].Pos)
			theirs += pose[low].Pos.Dist(pose[p].Pos)
		}
	}
	if !(ours > 0 && theirs > 0) {
		return 1
	}
	return ours / theirs
}

// fit returns the rotation that brings the directions from nearest to the directions to: the shortest for
// the first pair, then about it.
func fit(from, to []m3.Vec3) m3.Quat {
	if len(from) == 0 {
		return m3.Ident
	}
	q := m3.Between(from[0], to[0])
	// Alternate steps toward each pair come to the least squares' rotation closely enough.
	for range 30 {
		var turn m3.Vec3
		for i := range from {
			turn = turn.Add(q.Rotate(from[i]).Cross(to[i]))
		}
		q = m3.FromRotationVector(turn.Scale(1 / float32(len(from)))).Mul(q).Normalize()
	}
	return q
}

// animate writes the animation.
func (a *animator) animate(name string) error {
	c := a.clip
	n := c.Skel.Len()
	rots, places := make([][][4]float32, len(a.parent)), make([][][3]float32, len(a.parent))
	times := make([]float32, c.Frames)
	model, world := make([]m3.Xform, n), make([]m3.Xform, len(a.parent))
	last := make([]m3.Quat, len(a.parent))
	for f := range c.Frames {
		times[f] = float32(float64(f) / c.FPS)
		c.Model(model, f)
		for _, i := range a.order {
			up, size := m3.Identity, float32(1)
			if p := a.parent[i]; p >= 0 {
				up, size = world[p], a.size[p]
			}
			x, j := a.local[i], a.from[i]
			if j >= 0 {
				if !model[j].Pos.Finite() || !model[j].Rot.Finite() {
					return fmt.Errorf("frame %d, joint %s: not finite", f, c.Skel.Names[j])
				}
				x.Rot = up.Rot.Conj().Mul(model[j].Rot.Mul(a.turn[i])).Normalize()
				if x.Rot.Dot(last[i]) < 0 {
					x.Rot = x.Rot.Neg() // the short way for programs that interpolate components
				}
				last[i] = x.Rot
				rots[i] = append(rots[i], [4]float32{x.Rot.X, x.Rot.Y, x.Rot.Z, x.Rot.W})
				if a.above(j) < 0 {
					x.Pos = up.Rot.Conj().Rotate(model[j].Pos.Scale(a.scale).Sub(up.Pos)).Scale(1 / max(size, 1e-9))
					places[i] = append(places[i], [3]float32{x.Pos.X, x.Pos.Y, x.Pos.Z})
				}
			}
			world[i] = m3.Xform{Pos: up.Pos.Add(up.Rot.Rotate(x.Pos.Scale(size))), Rot: up.Rot.Mul(x.Rot)}
		}
	}
	input := modeler.WriteAccessor(a.doc, gltf.TargetNone, times)
	a.doc.Accessors[input].Min, a.doc.Accessors[input].Max = []float64{0}, []float64{float64(times[len(times)-1])}
	out := &gltf.Animation{Name: name}
	channel := func(node int, path gltf.TRSProperty, data any) {
		out.Samplers = append(out.Samplers, &gltf.AnimationSampler{Input: input, Output: modeler.WriteAccessor(a.doc, gltf.TargetNone, data)})
		out.Channels = append(out.Channels, &gltf.AnimationChannel{Sampler: len(out.Samplers) - 1, Target: gltf.AnimationChannelTarget{Node: gltf.Index(node), Path: path}})
	}
	for i, node := range a.doc.Nodes {
		if rots[i] == nil {
			continue
		}
		if node.MatrixOrDefault() != gltf.DefaultMatrix { // animated nodes have no matrix
			x, s := a.local[i], float64(1)
			_, scale := place(node)
			s *= float64(scale)
			node.Matrix = gltf.DefaultMatrix
			node.Translation = [3]float64{float64(x.Pos.X), float64(x.Pos.Y), float64(x.Pos.Z)}
			node.Rotation = [4]float64{float64(x.Rot.X), float64(x.Rot.Y), float64(x.Rot.Z), float64(x.Rot.W)}
			node.Scale = [3]float64{s, s, s}
		}
		channel(i, gltf.TRSRotation, rots[i])
		if places[i] != nil {
			channel(i, gltf.TRSTranslation, places[i])
		}
	}
	a.doc.Animations = []*gltf.Animation{out}
	return nil
}

// maxFile is the largest glTF file that is read, in bytes.
const maxFile = 256 << 20

// openGLTF reads a document with all its data in one buffer, pictures too. The file has been read as a skin.
func openGLTF(path string) (*gltf.Document, error) {
	data, folder, err := boundedfile.ReadWithFolder(path, maxFile)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	doc := new(gltf.Document)
	if err := gltf.NewDecoderFS(bytes.NewReader(data), folder.FS()).Decode(doc); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var all []byte
	starts := make([]int, len(doc.Buffers))
	for i, b := range doc.Buffers {
		for len(all)%4 != 0 {
			all = append(all, 0)
		}
		starts[i] = len(all)
		all = append(all, b.Data...)
	}
	for _, v := range doc.BufferViews {
		v.Buffer, v.ByteOffset = 0, v.ByteOffset+starts[v.Buffer]
	}
	doc.Buffers = []*gltf.Buffer{{ByteLength: len(all), Data: all}}
	for _, img := range doc.Images {
		if img.URI == "" {
			continue
		}
		var picture []byte
		if img.IsEmbeddedResource() {
			picture, err = img.MarshalData()
		} else {
			picture, err = boundedfile.ReadBeside(folder, path, filepath.FromSlash(img.URI), maxFile)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		kind := img.MimeType
		if kind == "" {
			if kind = "image/png"; bytes.HasPrefix(picture, []byte{0xff, 0xd8}) {
				kind = "image/jpeg"
			}
		}
		img.URI, img.MimeType = "", kind
		img.BufferView = gltf.Index(modeler.WriteBufferView(doc, gltf.TargetNone, picture))
	}
	return doc, nil
}
