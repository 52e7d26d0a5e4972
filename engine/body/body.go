// Package body makes skinned character meshes from skeletons: an implicit
// surface of soft capsules around the bones, turned into triangles, thinned to
// several levels of detail and weighted to the joints. No artist's file is
// needed and nothing is random: one rig always gives the same bytes.
package body

import (
	"fmt"
	"math"

	"mannequin/engine/m3"
)

// Rig is the skeleton that a body is made for: joints in depth-first order,
// parents before children. All slices have one entry per joint.
type Rig struct {
	Names   []string
	Parents []int16   // parent joint, −1 for a root
	Offsets []m3.Vec3 // rest translation in the parent's space, m
}

// Body is a character's mesh at several levels of detail. It is read-only.
type Body struct {
	Bind   []m3.Xform // joint transforms, in character space, of the pose in which the meshes lie
	Levels []Mesh     // from the finest to the coarsest
	Size   float32    // the bind pose's largest extent, m
}

// Mesh is a closed triangle mesh in bind pose, in character space: +Y up, +Z
// ahead, the ground at 0. Vertex slices have equal lengths.
type Mesh struct {
	Pos     []m3.Vec3    // m
	Normal  []m3.Vec3    // unit, outward
	Joints  [][4]uint8   // up to four joints that move the vertex
	Weights [][4]float32 // their shares, largest first; the sum is 1
	Coat    [][2]float32 // 0…1: how light the fur is, and how dark (nose, eyes, claws)
	Index   []uint32     // three per triangle, counter-clockwise from outside
}

// MaxJoints is the most joints a rig may have: vertices name them by one byte.
const MaxJoints = 256

// Triangles returns the number of triangles.
func (m *Mesh) Triangles() int { return len(m.Index) / 3 }

// Validate reports the first rule that r breaks: equal lengths, 1 to MaxJoints
// joints, parents before children, finite offsets.
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

func (r *Rig) index(name string) int {
	for i, n := range r.Names {
		if n == name {
			return i
		}
	}
	return -1
}

// New returns the body for rig: a dog where the rig has a dog's joints, else
// capsules along the bones of the rest pose.
func New(rig *Rig) (*Body, error) {
	if err := rig.Validate(); err != nil {
		return nil, err
	}
	if p, ok := newDog(rig); ok {
		return p.build(rig, dogLevels)
	}
	return newCapsules(rig).build(rig, capsuleLevels)
}

// level says how one level of detail is made.
type level struct{ triangles int }

var (
	dogLevels     = []level{{5600}, {1800}, {640}}
	capsuleLevels = []level{{4000}, {1400}, {500}}
)

// plan is a body before it is a mesh.
type plan struct {
	bind  []m3.Xform
	shape shape
	cell  float32 // edge of the sampling lattice, m
	coat  func(p, n m3.Vec3, bone int) [2]float32
	parts []part // separate closed pieces: eyes
}

// build polygonises the plan's surface and thins it to each level in turn.
func (p *plan) build(rig *Rig, levels []level) (*Body, error) {
	pos, index, err := p.shape.surface(p.cell)
	if err != nil {
		return nil, err
	}
	b := &Body{Bind: p.bind}
	lo, hi := bounds(pos)
	d := hi.Sub(lo)
	b.Size = max(d.X, d.Y, d.Z)
	for _, l := range levels {
		pos, index = decimate(pos, index, l.triangles)
		m := Mesh{Pos: append([]m3.Vec3(nil), pos...), Index: append([]uint32(nil), index...)}
		p.finish(&m, rig)
		if len(b.Levels) == 0 { // too small to see in the others
			for _, q := range p.parts {
				q.add(&m)
			}
		}
		b.Levels = append(b.Levels, m)
	}
	return b, nil
}

// finish puts the vertices on the surface and gives them normals, weights and
// colours.
func (p *plan) finish(m *Mesh, rig *Rig) {
	n := len(m.Pos)
	m.Normal = make([]m3.Vec3, n)
	for i, v := range m.Pos {
		m.Pos[i], m.Normal[i] = p.shape.project(v, p.cell)
	}
	m.Joints, m.Weights = p.shape.weights(m, rig)
	m.Coat = make([][2]float32, n)
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
