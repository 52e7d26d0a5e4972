// Package body grows skinned character meshes around skeletons, without an artist's files. An
// implicit surface of soft capsules around the bones is turned into triangles, decimated to several
// levels of detail and weighted to the joints. A rig always gives the same bytes.
package body

import (
	"fmt"
	"math"
	"slices"

	"mannequin/engine/m3"
)

// Rig is a body's skeleton: joints in depth-first order. All slices have one entry per joint.
type Rig struct {
	Names   []string
	Parents []int16   // parent joint, −1 for a root
	Offsets []m3.Vec3 // rest translation in the parent's space, m
}

// Body is a character's mesh at several levels of detail. It is read-only.
type Body struct {
	Bind   []m3.Xform // joint transforms of the meshes' pose, in character space
	Levels []Mesh     // from the finest to the coarsest
	Cover  Cover      // meaning of the meshes' Coat
	Size   float32    // the bind pose's largest extent, m
}

// Cover is the material of a body, and the meaning of its meshes' Coat. Channels are 0…1 unless
// stated otherwise. The tint, a character's own colour, shows where no channel covers it.
type Cover uint8

const (
	// Fur in the tint. Channels: lightness; darkness (nose, eyes, claws); length; unused.
	Fur Cover = iota
	// Clothes: a shirt in the tint. Channels: skin, trousers, shoes, hair. Each covers the body
	// where its channel is above ½, later ones over earlier ones. Channels rise evenly across
	// borders, so that borders can be drawn sharp. Along an arm the skin's channel rises by 1 per
	// metre down to the wrist, and along a leg the trousers' from 1 to 1½, so that sleeves and
	// trousers can vary in length. From 1½, skin is lips, shoes are soles or the white of an eye,
	// and hair is an iris.
	Clothes
	// Paint: linear red, green and blue; the last channel is unused. The tint does not show.
	Paint
)

// Mesh is a closed triangle mesh in bind pose, in character space: +Y up, +Z
// ahead, the ground at 0. Vertex slices have equal lengths.
type Mesh struct {
	Pos     []m3.Vec3    // m
	Normal  []m3.Vec3    // unit, outward
	Joints  [][4]uint8   // up to four joints per vertex
	Weights [][4]float32 // weights of the joints, largest first, with sum 1
	Coat    [][4]float32 // see Cover
	Index   []uint32     // three per triangle, counter-clockwise from outside
}

// MaxJoints is the maximum number of joints of a rig: vertices name joints by one byte.
const MaxJoints = 256

// Triangles returns the number of triangles.
func (m *Mesh) Triangles() int { return len(m.Index) / 3 }

// Validate checks r: equal lengths, 1 to MaxJoints joints, parents before children, finite offsets.
func (r *Rig) Validate() error {
	n := len(r.Names)
	if n == 0 || n > MaxJoints {
		return fmt.Errorf("body: rig of %d joints: want 1 to %d", n, MaxJoints)
	}
	if len(r.Parents) != n || len(r.Offsets) != n {
		return fmt.Errorf("body: rig of %d names, %d parents, %d offsets: want equal counts", n, len(r.Parents), len(r.Offsets))
	}
	for i, p := range r.Parents {
		if p < -1 || int(p) >= i {
			return fmt.Errorf("body: joint %d (%s) has parent %d: parents come before children", i, r.Names[i], p)
		}
		if !r.Offsets[i].Finite() || r.Offsets[i].Len() > 1e4 {
			return fmt.Errorf("body: joint %d (%s) has offset %v: want metres", i, r.Names[i], r.Offsets[i])
		}
	}
	return nil
}

func (r *Rig) index(name string) int { return slices.Index(r.Names, name) }

// New returns the body for rig: a dog if the rig has a dog's joints, a clothed human if it has a
// human's, else capsules along the bones of the rest pose.
func New(rig *Rig) (*Body, error) {
	if err := rig.Validate(); err != nil {
		return nil, err
	}
	if p, ok := newDog(rig); ok {
		return p.build(rig, dogLevels)
	}
	if p, ok := newHuman(rig); ok {
		return p.build(rig, humanLevels)
	}
	return newCapsules(rig).build(rig, capsuleLevels)
}

// Triangles of the levels of detail.
var (
	dogLevels     = []int{5600, 1800, 640}
	humanLevels   = []int{5600, 2000, 700}
	capsuleLevels = []int{4000, 1400, 500}
)

// plan is a body before it is a mesh.
type plan struct {
	bind  []m3.Xform
	shape shape
	cell  float32 // edge of the sampling lattice, m
	cover Cover
	coat  func(p, n m3.Vec3, bone int) [4]float32
	parts []part // separate closed pieces: eyes
	seen  int    // levels that have the parts; at least the finest does
	// detail returns the importance of a place when the mesh is decimated; may be nil.
	detail func(p m3.Vec3) float32
	sides  []int8 // per joint: 1 if it moves only the left half (+X), −1 only the right; may be nil
}

// build polygonises the plan's surface and decimates it to each level in turn.
func (p *plan) build(rig *Rig, levels []int) (*Body, error) {
	pos, index, err := p.shape.surface(p.cell)
	if err != nil {
		return nil, err
	}
	b := &Body{Bind: p.bind, Cover: p.cover}
	lo, hi := bounds(pos)
	d := hi.Sub(lo)
	b.Size = max(d.X, d.Y, d.Z)
	for _, triangles := range levels {
		pos, index, _ = decimate(pos, index, triangles, p.detail)
		m := Mesh{Pos: slices.Clone(pos), Index: slices.Clone(index)}
		p.finish(&m, rig)
		switch k := len(b.Levels); { // parts are too small to see in the last level
		case k == 0:
			m.addParts(p.parts, 5, 8)
		case k < p.seen:
			m.addParts(p.parts, 3, 5)
		}
		b.Levels = append(b.Levels, m)
	}
	return b, nil
}

// finish projects the vertices onto the surface and sets normals, weights and coats.
func (p *plan) finish(m *Mesh, rig *Rig) {
	n := len(m.Pos)
	m.Normal = make([]m3.Vec3, n)
	var near shape
	for i, v := range m.Pos {
		near = p.shape.near(near[:0], v, p.shape.margin()+6*p.cell)
		m.Pos[i], m.Normal[i] = near.project(v, p.cell)
	}
	m.Joints, m.Weights = p.shape.weights(m, rig, p.sides)
	m.Coat = make([][4]float32, n)
	for i, v := range m.Pos {
		m.Coat[i] = p.coat(v, m.Normal[i], int(m.Joints[i][0]))
	}
}

func bounds(pos []m3.Vec3) (lo, hi m3.Vec3) {
	inf := float32(math.Inf(1))
	lo, hi = m3.V(inf, inf, inf), m3.V(-inf, -inf, -inf)
	for _, p := range pos {
		lo = m3.V(min(lo.X, p.X), min(lo.Y, p.Y), min(lo.Z, p.Z))
		hi = m3.V(max(hi.X, p.X), max(hi.Y, p.Y), max(hi.Z, p.Z))
	}
	return lo, hi
}
