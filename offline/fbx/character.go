package fbx

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/animsys/skin"
	"mannequin/internal/affine"
	"mannequin/internal/boundedfile"
)

// Character is what a file shows, as glTF: its nodes with their names, meshes of triangles, skins,
// materials, pictures and animations, in metres, +Y up. Its buffer has its data.
type Character struct {
	Name  string // the file's
	Doc   *gltf.Document
	Notes []string // warnings
}

// OpenCharacter reads the character of an FBX file, and the pictures beside the file. Nodes have the places
// that they have without an animation. Polygons are cut into triangles. A point follows the four joints
// with the largest weights. A material has its diffuse colour or that picture, a normal map and what it
// emits. Blend shapes
// become morph targets; they move places, not normals. What is not read: blend shapes of version 6, curves and surfaces that are no polygons, lights and cameras.
// Errors in the file are *Error.
func OpenCharacter(path string) (*Character, error) {
	return open(path, true)
}

// OpenBound is OpenCharacter without animations: nodes have the places that they had when the meshes were bound to
// them, in most files a T-pose or an A-pose.
func OpenBound(path string) (*Character, error) { return open(path, false) }

// OpenSkin reads the character of an FBX file as a skinned mesh, as OpenCharacter does, in the pose in which
// its meshes were bound to its joints.
func OpenSkin(path string) (*skin.Skin, error) {
	c, err := OpenBound(path)
	if err != nil {
		return nil, err
	}
	return c.Skin()
}

func open(path string, animate bool) (*Character, error) {
	data, folder, err := boundedfile.ReadWithFolder(path, MaxFile)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return readCharacter(path, data, folder, animate)
}

// ReadCharacter is OpenCharacter for the contents of a file called name, without other files.
func ReadCharacter(name string, data []byte) (*Character, error) {
	return readCharacter(name, data, nil, true)
}

// Skin returns the character as a skinned mesh.
func (c *Character) Skin() (*skin.Skin, error) { return skin.FromDocument(c.Name, c.Doc, c.Notes...) }

// Write writes the character as a GLB.
func (c *Character) Write(w io.Writer) error { return gltf.NewEncoder(w).Encode(c.Doc) }

// readCharacter reads a character: with its animations, or in its bind pose.
func readCharacter(name string, data []byte, folder *os.Root, animate bool) (*Character, error) {
	s, err := newScene(name, data)
	if err != nil {
		return nil, err
	}
	c := &characterReader{scene: s, doc: gltf.NewDocument(), folder: folder, room: MaxFile, poses: make([]pose, len(s.models)), placeless: make([]bool, len(s.models)), cut: triangles{work: maxWork},
		materials: map[[2]int64]int{}, textures: map[int64]*int{}, sets: map[int64]string{}, surfaces: map[surfaceKey]*surface{}, known: map[int64]*mesh{}, images: map[string]int{}, shared: map[string][]int64{}}
	c.doc.Asset.Generator = "mannequin, from FBX"
	if err := c.nodes(); err != nil {
		return nil, err
	}
	if !animate {
		if err := c.bindPose(); err != nil {
			return nil, err
		}
	}
	for _, m := range s.models {
		if err := c.meshes(m); err != nil {
			return nil, err
		}
	}
	if len(c.doc.Meshes) == 0 {
		if c.curved {
			return nil, s.errorf(-1, "has no polygons but curved surfaces, which are not read: convert them to polygons")
		}
		return nil, s.errorf(-1, "has no mesh: export the mesh together with its armature")
	}
	if c.curved {
		c.note("surfaces that are no polygons are left out: convert them to polygons")
	}
	if err := c.bones(); err != nil {
		return nil, err
	}
	if animate {
		if err := c.animations(); err != nil {
			return nil, err
		}
	}
	return &Character{name, c.doc, c.notes}, nil
}

// maxJoined is the number of joints of all skins, where a joint counts for each of its skins.
const maxJoined = 1 << 18

// characterReader makes a document of a scene. Its nodes are the models, in their order.
type characterReader struct {
	*scene
	doc       *gltf.Document
	notes     []string
	folder    *os.Root // nil: none
	room      int64    // bytes that other files may still have
	poses     []pose
	curved    bool // there are NURBS or patches
	cut       triangles
	corners   int // of polygons, of all models
	vertices  int
	triangles int
	weights   int
	shapes    int       // blend shapes
	moved     int       // vertices of blend shapes
	blended   []blended // nodes with blend shapes
	known     map[int64]*mesh
	materials map[[2]int64]int
	textures  map[int64]*int
	sets      map[int64]string // of texture coordinates that textures use
	images    map[string]int   // by where a picture comes from
	surfaces  map[surfaceKey]*surface
	shared    map[string][]int64 // version 6: skins by the names of meshes
	joined    int                // joints of all skins
	inverse   [][][4][4]float32  // per skin and joint: from the mesh to the joint when they were bound
	owners    []*model           // per skin: whose mesh it was made for
	firsts    []cluster          // per skin: its first
	placeless []bool             // models whose nodes have no place
}

func (c *characterReader) note(format string, args ...any) {
	const most = 20
	if len(c.notes) < most {
		c.notes = append(c.notes, fmt.Sprintf(format, args...))
	}
}

// nodes makes a node of each model.
func (c *characterReader) nodes() error {
	d := c.doc
	for i, m := range c.models {
		var above *pose
		if m.parent != nil {
			above = &c.poses[m.parent.index]
		}
		turn := euler(m.r, m.order)
		c.poses[i] = m.place(m.t, m.s, &turn, above)
		if !c.poses[i].world.Finite() {
			return c.errorf(m.at, "the place of %.60q is not finite", m.name)
		}
		n := &gltf.Node{Name: boundedfile.Printable(cmp.Or(m.name, fmt.Sprintf("node%d", i)))}
		local := c.local(m, c.poses)
		t, ok := c.split(m, c.poses)
		if ok && t.scale != [3]float64{} { // the library takes a scale of zeros for none
			n.Translation, n.Rotation, n.Scale = t.at, t.turn, t.scale
		} else {
			n.Matrix = columns(&local)
		}
		d.Nodes = append(d.Nodes, n)
		if m.parent == nil {
			d.Scenes[0].Nodes = append(d.Scenes[0].Nodes, i)
		} else {
			p := d.Nodes[m.parent.index]
			p.Children = append(p.Children, i)
		}
	}
	return nil
}

// columns returns a matrix as glTF has it.
func columns(a *affine.Transform) (m [16]float64) {
	for c := range 4 {
		for r := range 3 {
			m[4*c+r] = a[4*r+c]
		}
	}
	m[15] = 1
	return m
}

// inMetres returns a transform of lengths in the file's unit for lengths in metres.
func (s *scene) inMetres(a affine.Transform) affine.Transform {
	a[3], a[7], a[11] = a[3]*s.metres, a[7]*s.metres, a[11]*s.metres
	return a
}

// local returns the transform of a model below its parent, in metres; of one without a parent, with +Y up.
func (s *scene) local(m *model, poses []pose) affine.Transform {
	p := &poses[m.index]
	if m.parent == nil {
		up := of(&s.up, [3]float64{})
		return s.inMetres(up.Mul(&p.world))
	}
	if m.inherit != 1 { // it does not follow its parent's scale
		if back, ok := poses[m.parent.index].world.Inverse(); ok {
			return s.inMetres(back.Mul(&p.world))
		}
	}
	return s.inMetres(p.local)
}

// parts is a transform in the parts that glTF has.
type parts struct {
	at    [3]float64
	turn  [4]float64
	scale [3]float64
}

// split returns the parts of a model's local transform, and whether they are all of it: it may have shear
// if the model does not follow its parent's scale.
func (s *scene) split(m *model, poses []pose) (parts, bool) {
	a := s.local(m, poses)
	turn := poses[m.index].rotation
	if m.parent == nil {
		turn = mul3(&s.up, &turn)
	} else {
		back := transpose(&poses[m.parent.index].rotation)
		turn = mul3(&back, &turn)
	}
	back, whole := transpose(&turn), linearOf(&a)
	scale := mul3(&back, &whole)
	q := quatOf(&turn).unit()
	largest, off := 0.0, 0.0
	for i, x := range scale {
		if i%4 == 0 {
			largest = max(largest, math.Abs(x))
		} else {
			off = max(off, math.Abs(x))
		}
	}
	return parts{[3]float64{a[3], a[7], a[11]}, q, [3]float64{scale[0], scale[4], scale[8]}}, off <= 1e-6*largest
}

// blended is a node whose mesh has blend shapes.
type blended struct {
	node     int
	channels []blendChannel
}

// meshes makes the meshes of a model.
func (c *characterReader) meshes(m *model) error {
	geometries := c.below(m.id, "", "Geometry/")
	if c.version < 7000 && m.record.child("Vertices") != nil {
		geometries = append(geometries, m.id) // version 6 has the mesh in the model
	}
	first := true
	for _, id := range geometries {
		r := c.objects[id]
		if r == nil {
			r = m.record
		}
		surface, err := c.surface(id, r, m)
		if err != nil {
			return err
		}
		if surface == nil || len(surface.slots) == 0 {
			continue
		}
		mesh, err := c.mesh(surface, m, r)
		if err != nil {
			return err
		}
		node := c.doc.Nodes[m.index]
		if !first { // another mesh of the model
			node.Children = append(node.Children, len(c.doc.Nodes))
			node = &gltf.Node{Name: node.Name}
			c.doc.Nodes = append(c.doc.Nodes, node)
		}
		first = false
		if len(surface.mesh.channels) > 0 {
			number := m.index
			if node != c.doc.Nodes[number] {
				number = len(c.doc.Nodes) - 1
			}
			c.blended = append(c.blended, blended{number, surface.mesh.channels})
		}
		if node.Mesh = gltf.Index(mesh); surface.binding != nil {
			n, err := c.skin(surface, m, r)
			if err != nil {
				return err
			}
			node.Skin = gltf.Index(n)
		}
	}
	if first && (m.class == "Nurb" || m.class == "Patch" || len(geometries) > 0 && slices.ContainsFunc(geometries, func(id int64) bool {
		return strings.HasPrefix(c.kinds[id], "Geometry/Nurbs") || c.kinds[id] == "Geometry/Patch"
	})) {
		c.curved = true
	}
	return nil
}

// mesh makes a mesh of a surface, with the materials of a model.
func (c *characterReader) mesh(s *surface, m *model, r *record) (int, error) {
	materials := c.below(m.id, "", "Material/")
	texture := int64(0)
	if all := c.below(m.id, "", "Texture/"); len(all) > 0 && r.child("LayerElementTexture") != nil {
		texture = all[0]
	}
	out := &gltf.Mesh{Name: boundedfile.Printable(m.name)}
	for _, slot := range s.slots {
		p := &gltf.Primitive{Attributes: slot.attributes, Indices: gltf.Index(slot.indices), Targets: slot.targets}
		if slot.material >= 0 && slot.material < len(materials) {
			n, err := c.material(materials[slot.material], texture)
			if err != nil {
				return 0, err
			}
			p.Material = gltf.Index(n)
		}
		out.Primitives = append(out.Primitives, p)
	}
	if channels := s.mesh.channels; len(channels) > 0 {
		out.Weights = weights(channels, func(k *blendChannel) float64 { return k.value })
		var names []string
		for _, k := range channels {
			for i := range k.shapes {
				name := k.name
				if i+1 < len(k.shapes) {
					name = fmt.Sprintf("%s %g%%", k.name, k.shapes[i].full)
				}
				names = append(names, name)
			}
		}
		out.Extras = map[string]any{"targetNames": names} // where programs look for names
	}
	c.doc.Meshes = append(c.doc.Meshes, out)
	return len(c.doc.Meshes) - 1, nil
}

// skin returns the skin of a surface in the document.
func (c *characterReader) skin(s *surface, owner *model, r *record) (int, error) {
	if s.skin >= 0 && s.loose == 0 {
		return s.skin, nil
	}
	if c.joined += len(s.binding.clusters) + 1; c.joined > maxJoined {
		return 0, c.errorf(r.at, "with the skin of %.60q there are more than %d joints of all skins", owner.name, maxJoined)
	}
	sk := &gltf.Skin{Name: boundedfile.Printable(owner.name)}
	var inverse [][4][4]float32
	for _, k := range s.binding.clusters {
		sk.Joints = append(sk.Joints, k.model.index)
		inverse = append(inverse, rows(c.inMetres(k.bind)))
	}
	if s.loose > 0 { // points without weights stay with the model
		sk.Joints = append(sk.Joints, owner.index)
		inverse = append(inverse, rows(affine.Identity))
		c.note("%d vertices of %.60q have no weights: they follow no joint", s.loose, owner.name)
	}
	if s.binding.over > 0 {
		c.note("%d points of %.60q have more than four joints: the four strongest are kept", s.binding.over, owner.name)
	}
	c.doc.Skins, c.inverse = append(c.doc.Skins, sk), append(c.inverse, inverse)
	c.owners, c.firsts = append(c.owners, owner), append(c.firsts, s.binding.clusters[0])
	s.skin = len(c.doc.Skins) - 1
	return s.skin, nil
}

// rows returns a matrix as the glTF library writes it: by rows.
func rows(a affine.Transform) (m [4][4]float32) {
	for i, x := range a {
		m[i/4][i%4] = float32(x)
	}
	m[3][3] = 1
	return m
}

// bones adds the joints that move no vertices to the skin of the joint above them, or else to the first, where they
// were when it was bound: a character has all its bones.
func (c *characterReader) bones() error {
	if len(c.doc.Skins) == 0 {
		return nil
	}
	joints, err := c.joints()
	if err != nil {
		return err
	}
	bound, _, err := c.bindWorld(c.poses)
	if err != nil {
		return err
	}
	used := make([]bool, len(c.models))
	of := make([]int, len(c.models)) // the first skin of a joint, or of those above it
	for k, s := range slices.Backward(c.doc.Skins) {
		for _, n := range s.Joints {
			used[n], of[n] = true, k
		}
	}
	for _, m := range joints {
		if used[m.index] {
			continue
		}
		if m.parent != nil {
			of[m.index] = of[m.parent.index]
		}
		k := of[m.index]
		mesh, world := c.poses[c.owners[k].index].world, c.poses[m.index].world
		if bound != nil {
			mesh, world = bound[c.firsts[k].model.index].Mul(&c.firsts[k].bind), bound[m.index]
		}
		back, ok := world.Inverse()
		if bind := back.Mul(&mesh); ok && bind.Finite() {
			c.doc.Skins[k].Joints, c.inverse[k] = append(c.doc.Skins[k].Joints, m.index), append(c.inverse[k], rows(c.inMetres(bind)))
		}
	}
	for i, sk := range c.doc.Skins {
		sk.InverseBindMatrices = gltf.Index(modeler.WriteAccessor(c.doc, gltf.TargetNone, c.inverse[i]))
		for _, n := range sk.Joints {
			used[n] = true
		}
	}
	for i, n := range c.doc.Nodes {
		// The place of a node with a skin means nothing.
		if n.Skin != nil && i < len(used) && !used[i] && len(n.Children) == 0 {
			*n = gltf.Node{Name: n.Name, Mesh: n.Mesh, Skin: n.Skin}
			c.placeless[i] = true
		}
	}
	c.commonRoot()
	return nil
}

// commonRoot puts a node above all others if a skin has joints below several.
func (c *characterReader) commonRoot() {
	top := make([]int, len(c.models))
	for i, m := range c.models {
		if top[i] = i; m.parent != nil {
			top[i] = top[m.parent.index]
		}
	}
	for _, sk := range c.doc.Skins {
		if slices.ContainsFunc(sk.Joints, func(n int) bool { return top[n] != top[sk.Joints[0]] }) {
			scene, root := c.doc.Scenes[0], &gltf.Node{Name: "character"}
			tops := []int{len(c.doc.Nodes)}
			for _, n := range scene.Nodes {
				if c.placeless[n] {
					tops = append(tops, n)
				} else {
					root.Children = append(root.Children, n)
				}
			}
			c.doc.Nodes, scene.Nodes = append(c.doc.Nodes, root), tops
			return
		}
	}
}
