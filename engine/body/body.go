// Package body grows skinned character meshes around skeletons, without an artist's files. An
// implicit surface of soft capsules around the bones is turned into triangles, decimated to several
// levels of detail and weighted to the joints. A rig always gives the same bytes.
package body

import (
	"fmt"
	"image"
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

	Materials []Material // of the meshes' Parts; nil: the Coat alone
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
	// trousers can vary in length. From 1 on, skin is redder, up to lips at 2, then darker up to 3.
	// From 1½, shoes are soles or the white of an eye, and hair is an iris.
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

	UV    [][2]float32 // texture coordinates, (0, 0) is a picture's top left; nil without textures
	Parts []Part       // runs of Index by material; nil without materials
}

// Part is a run of a mesh's Index that has one material.
type Part struct{ Material, Start, Count int }

// Material is a surface as glTF 2.0 describes it (section 3.9). Pictures are nil for none, and are
// not changed. Where a body has materials, the colour of Coat multiplies BaseColor.
type Material struct {
	Name        string
	BaseColor   [4]float32  // linear red, green and blue, 0…1, and opacity
	BaseTexture image.Image // sRGB, times BaseColor
	Metallic    float32     // 0…1
	Roughness   float32     // 0…1
	MetalRough  image.Image // roughness in green, metal in blue, times the numbers
	NormalMap   image.Image // in tangent space
	NormalScale float32
	Emissive    [3]float32  // linear light of its own
	Emission    image.Image // sRGB, times Emissive
	Cutoff      float32     // opacity below which nothing is drawn; 0 draws all
	Blend       bool        // opacity lets through what lies behind; renderers that cannot do that take Cutoff
	DoubleSided bool
	Mirrored    [2]bool // textures repeat mirrored along U, V
	Clamped     [2]bool // textures do not repeat along U, V
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
	return rig.plan().build(rig)
}

func (r *Rig) plan() *plan {
	if p, ok := newDog(r); ok {
		return p
	}
	if p, ok := newHuman(r); ok {
		return p
	}
	return newCapsules(r)
}

// Stand returns the pose in which New makes the body of rig: how a dog or a person stands, joint by joint.
func Stand(rig *Rig) ([]m3.Xform, error) {
	if err := rig.Validate(); err != nil {
		return nil, err
	}
	return rig.plan().bind, nil
}

// levels is the number of levels of detail of the bodies made here.
const levels = 3

// Triangles of the levels of detail, without parts.
var (
	dogLevels     = [levels]int{5600, 1800, 640}
	bodyLevels    = [levels]int{3100, 1150, 380}
	headLevels    = [levels]int{1300, 420, 120}
	hairLevels    = [levels]int{420, 160, 60}
	capsuleLevels = [levels]int{4000, 1400, 500}
)

func bounds(pos []m3.Vec3) (lo, hi m3.Vec3) {
	inf := float32(math.Inf(1))
	lo, hi = m3.V(inf, inf, inf), m3.V(-inf, -inf, -inf)
	for _, p := range pos {
		lo = m3.V(min(lo.X, p.X), min(lo.Y, p.Y), min(lo.Z, p.Z))
		hi = m3.V(max(hi.X, p.X), max(hi.Y, p.Y), max(hi.Z, p.Z))
	}
	return lo, hi
}
