package skin

import (
	"fmt"
	"io"
	"slices"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/animsys/skel"
	"mannequin/engine/body"
	"mannequin/engine/m3"
)

// ownGenerator is the generator of files of Write: their joints have the frames of the skeleton, which has
// no rotations at rest, whatever the pose of the body is.
const ownGenerator = "mannequin"

// Write writes a skeleton and its body, at the finest level and in the tint, as a GLB: a mesh, its
// skin, and a node with the name of each joint, in the mesh's bind pose. clip, in metres, becomes
// an animation of these nodes; it may be nil. All three must have the same skeleton.
func Write(w io.Writer, sk *skel.Skeleton, b *body.Body, tint [3]float32, clip *skel.Clip) error {
	if err := sk.Validate(); err != nil {
		return err
	}
	if len(b.Bind) != sk.Len() || len(b.Levels) == 0 {
		return fmt.Errorf("skin: a body of %d joints and %d meshes for a skeleton of %d joints", len(b.Bind), len(b.Levels), sk.Len())
	}
	d := &writer{Document: gltf.NewDocument(), sk: sk}
	d.Asset.Generator = ownGenerator
	d.nodes(b.Bind)
	d.mesh(b, tint)
	if clip != nil {
		if clip.Skel.Len() != sk.Len() || !slices.Equal(clip.Skel.Parents, sk.Parents) {
			return fmt.Errorf("skin: the motion is of another skeleton: %d joints, not %d", clip.Skel.Len(), sk.Len())
		}
		if err := d.animation(clip); err != nil {
			return err
		}
	}
	return gltf.NewEncoder(w).Encode(d.Document)
}

type writer struct {
	*gltf.Document
	sk *skel.Skeleton
}

// nodes writes the joints as the first nodes, then a common root and the mesh's node.
func (d *writer) nodes(bind []m3.Xform) {
	n := d.sk.Len()
	all := &gltf.Node{Name: "character"} // a skin needs a common root
	for j, p := range d.sk.Parents {
		l := bind[j]
		if p >= 0 {
			l = bind[p].Inv().Mul(l)
			d.Nodes[p].Children = append(d.Nodes[p].Children, j)
		} else {
			all.Children = append(all.Children, j)
		}
		q := l.Rot.Normalize()
		d.Nodes = append(d.Nodes, &gltf.Node{
			Name:        d.sk.Names[j],
			Translation: [3]float64{float64(l.Pos.X), float64(l.Pos.Y), float64(l.Pos.Z)},
			Rotation:    [4]float64{float64(q.X), float64(q.Y), float64(q.Z), float64(q.W)},
		})
	}
	d.Nodes = append(d.Nodes, all, &gltf.Node{Name: "body", Mesh: gltf.Index(0), Skin: gltf.Index(0)})
	d.Scenes[0].Nodes = []int{n, n + 1}
}

func (d *writer) mesh(b *body.Body, tint [3]float32) {
	m := &b.Levels[0]
	vectors := func(v []m3.Vec3) [][3]float32 {
		out := make([][3]float32, len(v))
		for i, p := range v {
			out[i] = [3]float32{p.X, p.Y, p.Z}
		}
		return out
	}
	colour := vertexColours(b, m, tint)
	d.Materials = []*gltf.Material{{Name: "coat", PBRMetallicRoughness: &gltf.PBRMetallicRoughness{
		MetallicFactor: gltf.Float(0), RoughnessFactor: gltf.Float(0.9)}}}
	d.Meshes = []*gltf.Mesh{{Name: "body", Primitives: []*gltf.Primitive{{
		Attributes: gltf.PrimitiveAttributes{
			gltf.POSITION:  modeler.WritePosition(d.Document, vectors(m.Pos)),
			gltf.NORMAL:    modeler.WriteNormal(d.Document, vectors(m.Normal)),
			gltf.JOINTS_0:  modeler.WriteJoints(d.Document, m.Joints),
			gltf.WEIGHTS_0: modeler.WriteWeights(d.Document, m.Weights),
			gltf.COLOR_0:   modeler.WriteColor(d.Document, colour),
		},
		Indices:  gltf.Index(modeler.WriteIndices(d.Document, m.Index)),
		Material: gltf.Index(0),
	}}}}
	skin := &gltf.Skin{Name: "body", Joints: make([]int, len(b.Bind))}
	inverse := make([][4][4]float32, len(b.Bind))
	for j, x := range b.Bind {
		skin.Joints[j] = j
		inv := x.Inv()
		axes := [3]m3.Vec3{inv.Rot.Rotate(m3.V(1, 0, 0)), inv.Rot.Rotate(m3.V(0, 1, 0)), inv.Rot.Rotate(m3.V(0, 0, 1))}
		for c, a := range append(axes[:], inv.Pos) { // [row][column]
			inverse[j][0][c], inverse[j][1][c], inverse[j][2][c] = a.X, a.Y, a.Z
		}
		inverse[j][3][3] = 1
	}
	skin.InverseBindMatrices = gltf.Index(modeler.WriteAccessor(d.Document, gltf.TargetNone, inverse))
	d.Skins = []*gltf.Skin{skin}
}

// animation writes rotations except End Sites', and translations of joints off their rest offsets.
func (d *writer) animation(clip *skel.Clip) error {
	if clip.Frames == 0 || !(clip.FPS > 0) {
		return fmt.Errorf("skin: a motion of %d frames at %g per second", clip.Frames, clip.FPS)
	}
	n := d.sk.Len()
	times := make([]float32, clip.Frames)
	for i := range times {
		times[i] = float32(float64(i) / clip.FPS)
	}
	input := modeler.WriteAccessor(d.Document, gltf.TargetNone, times)
	d.Accessors[input].Min, d.Accessors[input].Max = []float64{0}, []float64{float64(times[len(times)-1])}
	a := &gltf.Animation{Name: "motion"}
	channel := func(j int, path gltf.TRSProperty, data any) {
		a.Samplers = append(a.Samplers, &gltf.AnimationSampler{Input: input, Output: modeler.WriteAccessor(d.Document, gltf.TargetNone, data)})
		a.Channels = append(a.Channels, &gltf.AnimationChannel{Sampler: len(a.Samplers) - 1, Target: gltf.AnimationChannelTarget{Node: gltf.Index(j), Path: path}})
	}
	for j, p := range d.sk.Parents {
		moves := p < 0
		rot, pos := make([][4]float32, clip.Frames), make([][3]float32, clip.Frames)
		var last m3.Quat
		for i := range rot {
			q, v := clip.Rot[i*n+j].Normalize(), clip.Pos[i*n+j]
			if !v.Finite() || !clip.Rot[i*n+j].Finite() {
				return fmt.Errorf("skin: joint %s of frame %d is not finite", d.sk.Names[j], i)
			}
			if i > 0 && q.Dot(last) < 0 {
				q = q.Neg() // the short way for programs that interpolate components
			}
			last = q
			rot[i], pos[i] = [4]float32{q.X, q.Y, q.Z, q.W}, [3]float32{v.X, v.Y, v.Z}
			moves = moves || v.Dist(d.sk.Offsets[j]) > 1e-6
		}
		if !d.sk.EndSite[j] {
			channel(j, gltf.TRSRotation, rot)
		}
		if moves {
			channel(j, gltf.TRSTranslation, pos)
		}
	}
	d.Animations = []*gltf.Animation{a}
	return nil
}
