package skin

import (
	"fmt"
	"image"
	"os"
	"slices"

	"github.com/qmuntal/gltf"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/affine"
	"mannequin/internal/boundedfile"
)

// reader turns a file into a skin.
type reader struct {
	*file
	*tree
	skin       *Skin
	jointOf    []int                      // per node, −1 for none
	bind       map[int][]affine.Transform // per skin and joint: from mesh to world
	primitives int                        // of all nodes
	overLimit  int                        // vertices with more than four joints
	unweighted int                        // vertices without weights

	materials   map[int]*material   // per material
	pictures    map[int]image.Image // per image
	parts       []body.Part         // per primitive, without a material
	used        []*material         // per primitive
	ends        []int               // per primitive, the vertices up to its end
	pictureRoom pictureRoom
}

func read(name string, data []byte, beside *os.Root) (*Skin, error) {
	f, err := newFile(name, data, beside)
	if err != nil {
		return nil, err
	}
	return f.read()
}

// FromDocument returns the skin of a document in memory, as Open does of a file: for readers of other
// formats. Its buffers have their data. name is for errors; notes are added to those of the skin.
func FromDocument(name string, doc *gltf.Document, notes ...string) (*Skin, error) {
	if doc == nil {
		return nil, &Error{name, "", "there is no document"}
	}
	f := &file{name: name, doc: *doc}
	if len(doc.Nodes) > MaxNodes {
		return nil, f.errorf("nodes", "%d of them, at most %d are read", len(doc.Nodes), MaxNodes)
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	for i, a := range doc.Accessors {
		if a.ComponentType.ByteSize() == 0 || a.Type.Components() == 0 {
			return nil, f.errorf(fmt.Sprintf("accessors[%d]", i), "has the unknown type %d of %d", a.Type, a.ComponentType)
		}
	}
	for i, b := range doc.Buffers {
		f.buffers[i] = b.Data
	}
	s, err := f.read()
	if err != nil {
		return nil, err
	}
	s.Notes = append(slices.Clone(notes), s.Notes...)
	return s, nil
}

func (f *file) read() (*Skin, error) {
	t, err := f.newTree()
	if err != nil {
		return nil, err
	}
	r := &reader{file: f, tree: t, skin: &Skin{Name: f.name}, bind: map[int][]affine.Transform{},
		materials: map[int]*material{}, pictures: map[int]image.Image{}, pictureRoom: allPictures}
	if err := r.joints(); err != nil {
		return nil, err
	}
	for _, n := range t.order {
		if f.doc.Nodes[n].Mesh != nil {
			if err := r.node(n); err != nil {
				return nil, err
			}
		}
	}
	s := r.skin
	if len(s.mesh.index) == 0 {
		return nil, f.errorf("meshes", "no skinned triangles: export a mesh with its skin")
	}
	s.finish(r.parts, r.used, r.ends)
	if r.unweighted > 0 {
		s.note("%d vertices have no weights: they follow %.60s", r.unweighted, s.joints[0].name)
	}
	if r.overLimit > 0 {
		s.note("%d vertices have more than four joints: the four strongest are kept", r.overLimit)
	}
	return s, nil
}

func (r *reader) joints() error {
	r.jointOf = slices.Repeat([]int{-1}, len(r.doc.Nodes))
	inScene := make([]bool, len(r.doc.Nodes))
	for _, n := range r.order {
		inScene[n] = true
	}
	for _, n := range r.order {
		node := r.doc.Nodes[n]
		if node.Skin == nil || node.Mesh == nil {
			continue
		}
		k := *node.Skin
		if k < 0 || k >= len(r.doc.Skins) {
			return r.errorf(fmt.Sprintf("nodes[%d].skin", n), "there is no skins[%d]: there are %d", k, len(r.doc.Skins))
		}
		if r.bind[k] != nil {
			continue
		}
		if err := r.bindSkin(k, inScene); err != nil {
			return err
		}
	}
	if len(r.bind) == 0 {
		return r.errorf("nodes", "no mesh of the scene has a skin: export the mesh together with its armature")
	}
	// In the order of the tree, parents before children.
	s := r.skin
	for _, n := range r.order {
		if r.jointOf[n] < 0 {
			continue
		}
		w := &r.world[n]
		j := joint{name: boundedfile.Printable(r.doc.Nodes[n].Name), parent: r.above(r.parent[n]), pos: m3.V(float32(w[3]), float32(w[7]), float32(w[11])), rot: rotationOf(w)}
		r.jointOf[n] = len(s.joints)
		s.joints = append(s.joints, j)
	}
	return nil
}

// above returns the joint at node n or the nearest one above it, −1 for none.
func (r *reader) above(n int) int {
	for n >= 0 && r.jointOf[n] < 0 {
		n = r.parent[n]
	}
	if n < 0 {
		return -1
	}
	return r.jointOf[n]
}

// bindSkin marks the joints of skins[k], and computes its vertices' transforms into the world.
func (r *reader) bindSkin(k int, inScene []bool) error {
	sk, where := r.doc.Skins[k], fmt.Sprintf("skins[%d]", k)
	if n := len(sk.Joints); n == 0 || n > MaxJoints {
		return r.errorf(where+".joints", "%d of them, want 1 to %d", n, MaxJoints)
	}
	for i, n := range sk.Joints {
		if n < 0 || n >= len(r.doc.Nodes) || !inScene[n] {
			return r.errorf(fmt.Sprintf("%s.joints[%d]", where, i), "the scene has no nodes[%d]", n)
		}
		r.jointOf[n] = 0 // its index is set later
	}
	total := 0
	for _, j := range r.jointOf {
		if j >= 0 {
			total++
		}
	}
	if total > MaxJoints {
		return r.errorf(where+".joints", "with these there are %d joints, at most %d are read", total, MaxJoints)
	}
	var inverse *elements
	if sk.InverseBindMatrices != nil {
		at := where + ".inverseBindMatrices"
		var err error
		if inverse, err = r.accessor(at, *sk.InverseBindMatrices, MaxJoints, gltf.AccessorMat4); err != nil {
			return err
		}
		if inverse.kind != gltf.ComponentFloat || inverse.count < len(sk.Joints) {
			return r.errorf(at, "%d matrices of %v for %d joints: want one of FLOAT each", inverse.count, inverse.kind, len(sk.Joints))
		}
	}
	bind := make([]affine.Transform, len(sk.Joints))
	for i, n := range sk.Joints {
		m := affine.Identity
		if inverse != nil {
			for c := range 4 {
				for row := range 3 {
					m[4*row+c] = inverse.at(i, 4*c+row)
				}
			}
		}
		if bind[i] = r.world[n].Mul(&m); !bind[i].Finite() {
			return r.errorf(where+".inverseBindMatrices", "matrix %d is not finite", i)
		}
	}
	r.bind[k] = bind
	return nil
}

// node reads the mesh of node n: skinned, or fixed to a joint above it.
func (r *reader) node(n int) error {
	node := r.doc.Nodes[n]
	if m := *node.Mesh; m < 0 || m >= len(r.doc.Meshes) {
		return r.errorf(fmt.Sprintf("nodes[%d].mesh", n), "there is no meshes[%d]: there are %d", m, len(r.doc.Meshes))
	}
	fixed := -1
	if node.Skin == nil {
		if fixed = r.above(n); fixed < 0 {
			r.skin.note("nodes[%d] (%.60q) has a mesh without a joint: it is ignored", n, node.Name)
			return nil
		}
	}
	mesh := r.doc.Meshes[*node.Mesh]
	for i, p := range mesh.Primitives {
		where := fmt.Sprintf("meshes[%d].primitives[%d]", *node.Mesh, i)
		if r.primitives++; r.primitives > MaxPrimitives {
			return r.errorf(where, "more than %d primitives of all nodes", MaxPrimitives)
		}
		switch {
		case p == nil:
			return r.errorf(where, "is null")
		case p.Mode == gltf.PrimitivePoints || p.Mode == gltf.PrimitiveLines || p.Mode == gltf.PrimitiveLineLoop || p.Mode == gltf.PrimitiveLineStrip:
			r.skin.note("%s is of %v: it is ignored", where, p.Mode)
			continue
		case p.Mode != gltf.PrimitiveTriangles:
			return r.errorf(where+".mode", "is %v: want triangles of three indices each", p.Mode)
		}
		if err := r.primitive(where, p, n, fixed); err != nil {
			return err
		}
	}
	return nil
}
