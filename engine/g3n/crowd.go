// Package g3n makes a crowd a node of any g3n scene. The scene's own renderer, camera and lights
// draw it, beside the game's own meshes:
//
//	view, err := g3n.NewCrowd(bodyOfPeople)
//	scene.Add(view)
//	...
//	err = view.Update(people.Interpolate(bones, alpha)) // each frame, before rendering
//
// There is one draw call for each level of detail and material, however many agents there are. This
// package adds its shaders to those of g3n when the program starts, so app.App and each renderer
// with g3n's default shaders have them.
package g3n

import (
	"fmt"
	"slices"

	"github.com/g3n/engine/core"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/math32"

	"mannequin/engine/body"
	"mannequin/engine/internal/instanced"
	"mannequin/engine/m3"
)

// Crowd is a node that draws any number of agents that share a body. Its transform, and those of
// its parents, move the whole crowd; without any, agents are where their bones are in the world. It
// belongs to the goroutine that renders. Its zero value draws nothing; see NewCrowd.
type Crowd struct {
	core.Node
	all      *instanced.Crowd
	graphics []*instanced.Graphic
	fog      Fog
	blends   bool // a material does

	bones   []m3.Xform // of the last Update
	looks   []Look
	tints   [][3]float32
	hidden  []bool
	changed bool // since the last plan
	planned math32.Matrix4
	held    state

	attached []*Attachment
	shadow   *shadow // nil without shadows
}

// Look is how one agent looks.
type Look struct {
	Tint   [3]float32 // linear colour of coat or shirt; bodies of paint and materials have no tint
	Hidden bool       // is not drawn, and not hit by Raycast
}

// DefaultLook is the look of agents without one.
var DefaultLook = Look{Tint: instanced.DefaultTint}

// Fog is what the air hides, by the distance from the camera. g3n's own materials know no fog: set
// here what those of the game use. The zero value is clear air.
type Fog struct {
	Color     math32.Color // as on the screen
	Near, Far float32      // m: fog rises evenly from Near to Far; equal: no such fog
	Density   float32      // 1/m: 1 − e^−(density · distance)² is hidden
}

// NewCrowd returns an empty crowd with body b. It may be called before there is a window.
func NewCrowd(b *body.Body) (*Crowd, error) {
	levels := max(len(b.Levels), 1)
	runs, blends := levels, slices.ContainsFunc(b.Materials, func(m body.Material) bool { return m.Blend })
	if blends {
		runs += levels // from back to front
	}
	all, err := instanced.New(b, runs, instanced.Units{Bones: unitBones, Order: unitOrder})
	if err != nil {
		return nil, fmt.Errorf("g3n: %w", err)
	}
	c := &Crowd{all: all, blends: blends}
	c.Node.Init(c)
	c.SetName("crowd")
	for k := range b.Levels {
		m := &b.Levels[k]
		for part := range max(len(m.Parts), 1) {
			var mat *body.Material
			if len(m.Parts) > 0 {
				mat = &b.Materials[m.Parts[part].Material]
			}
			c.add(k, m, part, newSurface(b.Cover, mat, false))
			if mat != nil && mat.Blend {
				// g3n draws it after all that is opaque. Coarse levels are farther away than fine ones.
				c.add(levels+k, m, part, newSurface(b.Cover, mat, true)).SetRenderOrder(-k)
			}
		}
	}
	return c, nil
}

// add adds the graphic of a run.
func (c *Crowd) add(run int, m *body.Mesh, part int, s *surface) *instanced.Graphic {
	g := instanced.NewGraphic(c.all, run, m, part, instanced.Full, s)
	g.Before = func(gs *gls.GLS, info *core.RenderInfo) {
		c.begin(gs, info, g.ModelMatrix())
		s.begin(gs, &c.fog)
	}
	g.After = c.end
	c.graphics = append(c.graphics, g)
	c.Node.Add(g)
	return g
}

// Update poses the crowd: bones holds each joint's transform in the world, (agents, joints), as
// animsys.Crowd.Interpolate returns them. The slice is not kept.
func (c *Crowd) Update(bones []m3.Xform) error {
	if c.all == nil {
		return errZero
	}
	if len(bones)%c.all.Joints() != 0 {
		return fmt.Errorf("g3n: %d bones do not divide into agents of %d joints", len(bones), c.all.Joints())
	}
	c.dress(len(bones) / c.all.Joints())
	if err := c.all.Set(bones, c.tints); err != nil {
		return fmt.Errorf("g3n: %w", err)
	}
	c.bones = append(c.bones[:0], bones...)
	c.all.Hidden, c.changed = c.hidden, true
	c.attach()
	if c.shadow != nil {
		c.shadow.update(c)
	}
	return nil
}

// dress gives n agents their looks.
func (c *Crowd) dress(n int) {
	c.tints, c.hidden = c.tints[:0], c.hidden[:0]
	for i := range n {
		look := DefaultLook
		if i < len(c.looks) {
			look = c.looks[i]
		}
		c.tints, c.hidden = append(c.tints, look.Tint), append(c.hidden, look.Hidden)
	}
}

// UpdateFrom poses the crowd by matrices that are on the graphics card already: matrices is the name of a buffer of the scene's OpenGL with
// (agents, joints, 12) float32s, the rows of the 3×4 matrix that takes each joint's vertices from the bind pose to the world. hips are the
// agents' places, (agents). Nothing attaches to agents of which the processor knows no bones, rays pass through them, their boxes are as
// large as the body, and they have no shadow of SetShadow.
func (c *Crowd) UpdateFrom(matrices uint32, hips []m3.Vec3) error {
	if c.all == nil {
		return errZero
	}
	if matrices == 0 {
		return fmt.Errorf("g3n: UpdateFrom of no buffer: are the agents still on the GPU?")
	}
	c.dress(len(hips))
	if err := c.all.SetFrom(matrices, hips, c.tints); err != nil {
		return fmt.Errorf("g3n: %w", err)
	}
	c.bones = c.bones[:0]
	c.all.Hidden, c.changed = c.hidden, true
	c.attach()
	if c.shadow != nil {
		c.shadow.update(c)
	}
	return nil
}

var errZero = fmt.Errorf("g3n: a crowd that NewCrowd did not make")

// SetLooks sets the looks of agents 0, 1, … from the next Update on; the others have DefaultLook.
// The slice is kept, so that a game may change its looks in place.
func (c *Crowd) SetLooks(looks []Look) { c.looks = looks }

// SetFog sets the fog that hides agents.
func (c *Crowd) SetFog(f Fog) { c.fog = f }

// Agents returns the number of agents of the last Update.
func (c *Crowd) Agents() int {
	if c.all == nil {
		return 0
	}
	return c.all.Len()
}

// Drawn returns how many agents the last picture showed at each level of detail, finest first.
func (c *Crowd) Drawn() (levels []int) {
	if c.all == nil {
		return nil
	}
	for k := range c.all.Body.Levels {
		levels = append(levels, c.all.Count(k))
	}
	return levels
}

// Clone returns a crowd with the same body, and without agents.
func (c *Crowd) Clone() core.INode {
	if c.all == nil {
		return &Crowd{}
	}
	d, err := NewCrowd(c.all.Body)
	if err != nil {
		panic(err) // c was made from the same body
	}
	return d
}

// Dispose frees what is on the graphics card. The next picture makes it again.
func (c *Crowd) Dispose() {
	if c.all == nil {
		return
	}
	c.all.Dispose()
	for _, g := range c.graphics {
		g.Dispose()
		if s, ok := g.Materials()[0].IMaterial().(*surface); ok {
			s.free()
		}
	}
	if c.shadow != nil {
		c.shadow.geometry.Dispose()
	}
	c.changed = true
}

// begin plans what to draw, once for each picture and camera.
func (c *Crowd) begin(gs *gls.GLS, info *core.RenderInfo, model *math32.Matrix4) {
	c.held.save(gs)
	var view, clip math32.Matrix4
	view.MultiplyMatrices(&info.ViewMatrix, model)
	clip.MultiplyMatrices(&info.ProjMatrix, &view)
	if !c.changed && clip == c.planned {
		return
	}
	c.changed, c.planned = false, clip
	c.all.Begin()
	c.all.Levels(math32.NewFrustumFromMatrix(&clip), awayOf(&view, &info.ProjMatrix))
	if c.blends {
		c.all.Far(len(c.all.Body.Levels), func(p m3.Vec3) float32 { return -(view[2]*p.X + view[6]*p.Y + view[10]*p.Z) })
	}
	c.all.Upload(gs)
}

// stageCot is the cotangent of half the angle that the stage's camera sees, for which the distances
// of levels of detail are.
const stageCot = 2.54

// awayOf returns the distance that levels of detail depend on: for a camera like the stage's the
// one from the eye, otherwise one at which an agent is as large on the screen.
func awayOf(view, proj *math32.Matrix4) func(p m3.Vec3) float32 {
	scale := stageCot / max(m3.Abs(proj[5]), 1e-6)
	if proj[15] == 1 { // orthographic: all are as large
		return func(m3.Vec3) float32 { return scale }
	}
	var back math32.Matrix4
	if back.GetInverse(view) != nil {
		return func(m3.Vec3) float32 { return 0 }
	}
	eye := m3.V(back[12], back[13], back[14])
	return func(p m3.Vec3) float32 { return scale * p.Dist(eye) }
}

// end gives back the state that drawing has changed.
func (c *Crowd) end(gs *gls.GLS) { c.held.restore(gs) }

// BoundingBox returns the box around all agents and attached nodes, in the world.
func (c *Crowd) BoundingBox() math32.Box3 {
	var box math32.Box3
	box.MakeEmpty()
	for i := range c.Agents() {
		if b, ok := c.AgentBox(i); ok {
			box.Union(&b)
		}
	}
	for _, a := range c.attached {
		if a.holder.Visible() {
			b := a.holder.BoundingBox()
			box.Union(&b)
		}
	}
	return box
}
