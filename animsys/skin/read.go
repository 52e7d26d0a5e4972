package skin

import (
	"fmt"
	"image"
	"maps"
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
	follows    int                        // the joint that the first of them follows
	morphs     int                        // morph targets
	leftOut    []bool                     // per node: a joint of another character

	materials   map[int]*material   // per material
	pictures    map[int]image.Image // per image
	parts       []body.Part         // per primitive, without a material
	used        []*material         // per primitive
	ends        []int               // per primitive, the vertices up to its end
	pictureRoom *pictureRoom        // of all pictures; nil before the first
}

func read(name string, data []byte, beside *os.Root) (*Skin, error) {
	return readCharacter(name, data, beside, "")
}

func readCharacter(name string, data []byte, beside *os.Root, character string) (*Skin, error) {
	f, err := newFile(name, data, beside)
	if err != nil {
		return nil, err
	}
	f.character = character
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

const noSkin = "no mesh of the scene has a skin: export the mesh together with its armature"

func (f *file) read() (*Skin, error) {
	if f.compressed {
		return nil, f.errorf("extensionsRequired", "%s is not read: export without it (without compression)", draco)
	}
	t, err := f.newTree()
	if err != nil {
		return nil, err
	}
	h, err := f.humanoid()
	if err != nil {
		return nil, err
	}
	r := &reader{file: f, tree: t, skin: &Skin{Name: f.name, Meta: h.meta}, bind: map[int][]affine.Transform{}, leftOut: make([]bool, len(f.doc.Nodes)),
		materials: map[int]*material{}, pictures: map[int]image.Image{}}
	if err := r.joints(h); err != nil {
		return nil, err
	}
	r.reserve()
	for _, n := range t.order {
		if f.doc.Nodes[n].Mesh != nil {
			if err := r.node(n); err != nil {
				return nil, err
			}
		}
	}
	s := r.skin
	if len(s.mesh.index) == 0 && len(r.bind) == 0 {
		return nil, f.errorf("nodes", noSkin)
	}
	if len(s.mesh.index) == 0 {
		return nil, f.errorf("meshes", "no skinned triangles: export a mesh with its skin")
	}
	s.finish(r.parts, r.used, r.ends)
	if r.unweighted > 0 {
		s.note("%d vertices have no weights: they follow %.60s", r.unweighted, s.joints[r.follows].name)
	}
	if r.overLimit > 0 {
		s.note("%d vertices have more than four joints: the four strongest are kept", r.overLimit)
	}
	if r.morphs > 0 {
		s.note("%d morph targets are not read: the mesh has its own shape", r.morphs)
	}
	return s, nil
}

// reserve makes room for the vertices of all nodes, as far as the file says how many they are and no more than
// are read: slices that grow take twice the memory for a moment.
func (r *reader) reserve() {
	of := make([]int, len(r.doc.Meshes))
	for i, mesh := range r.doc.Meshes {
		for _, p := range mesh.Primitives {
			if p == nil {
				continue
			}
			if a, ok := p.Attributes["POSITION"]; ok && a >= 0 && a < len(r.doc.Accessors) {
				of[i] = min(of[i]+min(max(r.doc.Accessors[a].Count, 0), MaxVertices), MaxVertices)
			}
		}
	}
	n := 0
	for _, i := range r.order {
		if k := r.doc.Nodes[i].Mesh; k != nil && *k >= 0 && *k < len(of) && !r.leftOut[i] {
			n = min(n+of[*k], MaxVertices)
		}
	}
	m := &r.skin.mesh
	m.pos, m.normal, m.colour = make([]m3.Vec3, 0, n), make([]m3.Vec3, 0, n), make([][3]float32, 0, n)
	m.uv, m.influences = make([][2]float32, 0, n), make([][]influence, 0, n)
}

// joints finds the joints, and the transforms of the meshes that follow them.
func (r *reader) joints(h *humanoid) error {
	skins, err := r.skinsOfScene()
	if err != nil {
		return err
	}
	if h.bones == nil || r.character != "" { // a VRM is one character
		if skins, err = r.choose(skins, r.character); err != nil {
			return err
		}
	}
	parts := h.parts()
	r.jointOf = slices.Repeat([]int{-1}, len(r.doc.Nodes))
	if len(skins) == 0 && len(parts) == 0 {
		moved := r.moved()
		if len(moved) == 0 {
			return r.errorf("nodes", noSkin)
		}
		for _, n := range moved {
			r.jointOf[n] = 0
		}
		r.skin.note("no mesh has a skin: its parts follow the %d nodes that animations move", len(moved))
	}
	bound, inverse := []boundSkin{}, map[int][]affine.Transform{}
	for _, k := range skins {
		if inverse[k], err = r.inverseBinds(k); err != nil {
			return err
		}
		list := r.doc.Skins[k].Joints
		for _, n := range list {
			r.jointOf[n] = 0 // its index is set later
		}
		bound = append(bound, boundSkin{list, inverse[k]})
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		n := parts[part]
		if r.leftOut[n] {
			delete(parts, part)
			continue
		}
		if !slices.Contains(r.order, n) {
			return r.errorf("extensions", "the table of bones names nodes[%d] for %s: the scene does not have it", n, part)
		}
		r.jointOf[n] = 0
	}
	if h.bones == nil { // nodes of a VRM are in the T-pose
		locals := make([]affine.Transform, len(r.doc.Nodes))
		for n, node := range r.doc.Nodes {
			locals[n] = local(node)
		}
		var differs bool
		if r.world, differs = r.bindPose(locals, bound); differs {
			r.skin.note("its nodes are posed unlike the bind pose: the character is taken in its bind pose")
		}
	}
	for _, k := range skins {
		list := r.doc.Skins[k].Joints
		bind := make([]affine.Transform, len(list))
		for i, n := range list {
			bind[i] = r.world[n]
			if inverse[k] != nil {
				bind[i] = r.world[n].Mul(&inverse[k][i])
			}
			if !bind[i].Finite() {
				return r.errorf(fmt.Sprintf("skins[%d].inverseBindMatrices", k), "matrix %d is not finite", i)
			}
		}
		r.bind[k] = bind
	}
	return r.list(parts)
}

// moved returns the nodes of the scene that animations move, as those of a body of rigid parts.
func (r *reader) moved() (nodes []int) {
	is := make([]bool, len(r.doc.Nodes))
	for _, a := range r.doc.Animations {
		if a == nil {
			continue
		}
		for _, c := range a.Channels {
			if c != nil && c.Target.Node != nil && *c.Target.Node >= 0 && *c.Target.Node < len(is) && c.Target.Path != gltf.TRSWeights {
				is[*c.Target.Node] = true
			}
		}
	}
	for _, n := range r.order {
		if is[n] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// list lists the joints in the order of the tree, parents before children. Of several with the same name
// all but the first get a number.
func (r *reader) list(parts map[string]int) error {
	s := r.skin
	names, again, mirrored := map[string]bool{}, []string{}, 0
	for _, n := range r.order {
		if r.jointOf[n] < 0 {
			continue
		}
		w := &r.world[n]
		j := joint{node: n, name: boundedfile.Printable(r.doc.Nodes[n].Name), parent: r.above(r.parent[n]), pos: m3.V(float32(w[3]), float32(w[7]), float32(w[11]))}
		j.rot, _ = rotationOf(w)
		if j.name != "" {
			name := unused(names, j.name)
			if name != j.name {
				again = append(again, j.name)
			}
			j.name = name
		}
		if w.Det() < 0 {
			mirrored++
		}
		r.jointOf[n] = len(s.joints)
		s.joints = append(s.joints, j)
	}
	if len(s.joints) > MaxJoints {
		return r.errorf("nodes", "more than %d joints", MaxJoints)
	}
	if len(again) > 0 {
		s.note("joints have the same name: all but the first %.60q got a number, %d joints in all", again[0], len(again))
	}
	if mirrored > 0 {
		s.note("%d joints are mirrored (a scale below 0)", mirrored)
	}
	for part, n := range parts {
		if s.parts == nil {
			s.parts = map[string]int{}
		}
		s.parts[part] = r.jointOf[n]
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

// node reads the mesh of node n: skinned, or fixed to a joint above it.
func (r *reader) node(n int) error {
	node := r.doc.Nodes[n]
	if m := *node.Mesh; m < 0 || m >= len(r.doc.Meshes) {
		return r.errorf(fmt.Sprintf("nodes[%d].mesh", n), "there is no meshes[%d]: there are %d", m, len(r.doc.Meshes))
	}
	fixed := -1
	if r.isLeftOut(n) {
		return nil
	}
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
		case p.Mode != gltf.PrimitiveTriangles && p.Mode != gltf.PrimitiveTriangleStrip && p.Mode != gltf.PrimitiveTriangleFan:
			return r.errorf(where+".mode", "is %v: want triangles", p.Mode)
		}
		r.morphs += len(p.Targets)
		if err := r.primitive(where, p, n, fixed); err != nil {
			return err
		}
	}
	return nil
}

// isLeftOut reports whether the mesh of a node belongs to another character of the file.
func (r *reader) isLeftOut(n int) bool {
	if k := r.doc.Nodes[n].Skin; k != nil {
		return r.bind[*k] == nil
	}
	for n >= 0 && r.jointOf[n] < 0 && !r.leftOut[n] {
		n = r.parent[n]
	}
	return n >= 0 && r.leftOut[n]
}
