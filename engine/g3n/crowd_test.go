package g3n

import (
	"bytes"
	"image"
	"math"
	"testing"
	"time"

	"github.com/g3n/engine/core"
	"github.com/g3n/engine/geometry"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/math32"

	"mannequin/engine/body"
	"mannequin/engine/internal/gl"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// Agents appear where their bones are, in their tints, and move with the node.
func TestCrowdIsDrawn(t *testing.T) {
	g := newGame(t, 320, 180)
	g.light()
	g.look(m3.V(0, 0.8, 2), m3.V(0, 0.5, 0))
	none := g.shoot(t)
	var bones []m3.Xform
	for i := range 3 {
		bones = stand(bones, m3.V(float32(i)-1, 0, 0))
	}
	c := newCrowd(t, post(t), bones)
	c.SetLooks([]Look{{Tint: [3]float32{0.8, 0.02, 0.02}}, {Tint: [3]float32{0.02, 0.8, 0.02}}, {Tint: [3]float32{0.02, 0.02, 0.8}}})
	must.Do(t, c.Update(bones))
	g.scene.Add(c)
	all := g.shoot(t)
	if box, n := changed(none, all); n < 1000 || box.Dx() < 120 {
		t.Fatalf("three agents change %d pixels in %v", n, box)
	}
	c.SetPosition(100, 0, 0)
	if _, n := changed(none, g.shoot(t)); n != 0 {
		t.Errorf("%d pixels are left of a crowd that its node has moved away", n)
	}
	c.SetPosition(0, 0, 0)
	c.SetVisible(false)
	if _, n := changed(none, g.shoot(t)); n != 0 {
		t.Errorf("%d pixels of an invisible crowd", n)
	}
	c.SetVisible(true)
	if again := g.shoot(t); !bytes.Equal(again.Pix, all.Pix) {
		t.Error("the crowd does not come back as it was")
	}
	// One agent hidden: the others' pixels stay.
	c.SetLooks([]Look{{Tint: [3]float32{0.8, 0.02, 0.02}}, {Hidden: true}, {Tint: [3]float32{0.02, 0.02, 0.8}}})
	must.Do(t, c.Update(bones))
	if box, n := changed(all, g.shoot(t)); n == 0 || box.Dx() > 60 {
		t.Errorf("hiding the agent in the middle changes %d pixels in %v", n, box)
	}
}

// A moved node is the same as moved bones.
func TestNodeTransform(t *testing.T) {
	g := newGame(t, 320, 180)
	g.light()
	c := newCrowd(t, post(t), stand(nil, m3.V(0.5, 0.2, 0)))
	g.scene.Add(c)
	want := g.shoot(t)
	deck := core.NewNode()
	g.scene.Remove(c)
	deck.Add(c)
	g.scene.Add(deck)
	deck.SetPosition(0.5, 0.2, 0)
	deck.SetScale(0.5, 0.5, 0.5)
	c.SetScale(2, 2, 2)
	must.Do(t, c.Update(stand(nil, m3.Vec3{})))
	got := g.shoot(t)
	worst := 0
	for i := range got.Pix {
		worst = max(worst, int(math.Abs(float64(got.Pix[i])-float64(want.Pix[i]))))
	}
	if worst > 60 { // a pixel of the border may be covered or not
		t.Errorf("a moved node differs from moved bones by %d", worst)
	}
	if _, n := changed(got, want); n > 20 {
		t.Errorf("a moved node differs from moved bones in %d pixels", n)
	}
}

// Distant agents have coarser meshes, a camera that magnifies finer ones; nobody is drawn behind it.
func TestLevels(t *testing.T) {
	g := newGame(t, 128, 128)
	b := post(t)
	var bones []m3.Xform
	for _, z := range []float32{-2, -9, -30, 40} {
		bones = stand(bones, m3.V(0, 0, z*b.Size))
	}
	c := newCrowd(t, b, bones)
	g.scene.Add(c)
	g.look(m3.Vec3{}, m3.V(0, 0, -1))
	g.cam.SetFov(43) // the stage's
	g.shoot(t)
	if got := c.Drawn(); got[0] != 1 || got[1] != 1 || got[2] != 1 {
		t.Errorf("drew %v, want one of each level", got)
	}
	g.cam.SetFov(4)
	g.shoot(t)
	if got := c.Drawn(); got[0] != 3 {
		t.Errorf("through a telescope drew %v, want three of the finest level", got)
	}
	// Another camera in the same frame plans anew.
	g.cam.SetFov(43)
	g.look(m3.Vec3{}, m3.V(0, 0, 1))
	g.shoot(t)
	if got := c.Drawn(); got[0]+got[1]+got[2] != 1 {
		t.Errorf("looking back drew %v, want one agent", got)
	}
}

// However many agents there are, g3n renders a graphic for each level of detail, which is one instanced draw call.
func TestDrawCalls(t *testing.T) {
	g := newGame(t, 64, 64)
	g.look(m3.V(0, 1, 1.5), m3.V(0, 0.5, 0))
	c := newCrowd(t, post(t), nil)
	g.scene.Add(c)
	for _, n := range []int{1, 1000} {
		var bones []m3.Xform
		for i := range n {
			bones = stand(bones, m3.V(float32(i%40)-20, 0, -float32(i/40)*8))
		}
		must.Do(t, c.Update(bones))
		g.shoot(t)
		if calls := g.render.Stats().GraphicMats; calls != len(c.Drawn()) {
			t.Errorf("%d agents: %d draw calls, want one for each of %d levels", n, calls, len(c.Drawn()))
		}
	}
	if d := c.Drawn(); d[0] == 0 || d[1] == 0 || d[2] == 0 {
		t.Errorf("drew %v, want agents of all levels", d)
	}
}

// Rendering leaves the state that others may rely on.
func TestStateIsGivenBack(t *testing.T) {
	g := newGame(t, 64, 64)
	g.light()
	c := newCrowd(t, textured(t), []m3.Xform{{Rot: m3.Ident}})
	c.SetShadow(func(x, z float32) float32 { return 0 }, 1)
	must.Do(t, c.Update([]m3.Xform{{Rot: m3.Ident}}))
	g.scene.Add(c)
	const units = 16
	var mine [units]uint32
	ready(g.screen.GLS)
	for k := range mine {
		mine[k] = gl.GenTexture()
		g.screen.GLS.ActiveTexture(uint32(gl.TEXTURE0 + k))
		gl.BindTexture(gl.TEXTURE_2D, mine[k])
	}
	g.screen.GLS.ActiveTexture(gl.TEXTURE0 + 5)
	buffer := gl.GenBuffer()
	gl.BindBuffer(gl.ARRAY_BUFFER, buffer)
	for range 2 { // the first picture uploads
		g.shoot(t)
		if got := gl.GetInteger(gl.ACTIVE_TEXTURE); got != gl.TEXTURE0+5 {
			t.Errorf("the active texture unit is %d", got-gl.TEXTURE0)
		}
		if got := gl.Binding(gl.ARRAY_BUFFER_BINDING); got != buffer {
			t.Errorf("the array buffer is %d, was %d", got, buffer)
		}
		for k := range mine {
			g.screen.GLS.ActiveTexture(uint32(gl.TEXTURE0 + k))
			if got := gl.Binding(gl.TEXTURE_BINDING_2D); got != mine[k] {
				t.Errorf("texture unit %d has texture %d, had %d", k, got, mine[k])
			}
		}
		g.screen.GLS.ActiveTexture(gl.TEXTURE0 + 5)
	}
}

// What a crowd's draw calls do not need to change, they do not: state that a game may have set once, and that g3n never
// sets again.
func TestStateIsLeftAlone(t *testing.T) {
	states := map[string]uint32{"UNPACK_ALIGNMENT": 0x0CF5, "UNPACK_ROW_LENGTH": 0x0CF2, "UNPACK_SKIP_ROWS": 0x0CF3, "UNPACK_SKIP_PIXELS": 0x0CF4,
		"PACK_ALIGNMENT": 0x0D05, "PACK_ROW_LENGTH": 0x0D02, "SCISSOR_TEST": 0x0C11, "STENCIL_TEST": 0x0B90, "STENCIL_WRITEMASK": 0x0B98,
		"DEPTH_FUNC": 0x0B74, "FRONT_FACE": 0x0B46, "COLOR_LOGIC_OP": 0x0BF2, "DITHER": 0x0BD0, "MULTISAMPLE": 0x809D,
		"SAMPLE_ALPHA_TO_COVERAGE": 0x809E, "SAMPLE_ALPHA_TO_ONE": 0x809F, "SAMPLE_COVERAGE": 0x80A0, "POLYGON_OFFSET_LINE": 0x2A02,
		"PRIMITIVE_RESTART": 0x8F9D, "PROGRAM_POINT_SIZE": 0x8642, "FRAMEBUFFER_SRGB": 0x8DB9, "RASTERIZER_DISCARD": 0x8C89,
		"DEPTH_CLAMP": 0x864F, "TEXTURE_CUBE_MAP_SEAMLESS": 0x884F, "CLIP_DISTANCE0": 0x3000, "PROVOKING_VERTEX": 0x8E4F,
		"DRAW_FRAMEBUFFER_BINDING": 0x8CA6, "READ_FRAMEBUFFER_BINDING": 0x8CAA, "RENDERBUFFER_BINDING": 0x8CA7,
		"PIXEL_UNPACK_BUFFER_BINDING": 0x88EF, "PIXEL_PACK_BUFFER_BINDING": 0x88ED, "UNIFORM_BUFFER_BINDING": 0x8A28,
		"TRANSFORM_FEEDBACK_BUFFER_BINDING": 0x8C8F, "TEXTURE_BINDING_3D": 0x806A, "TEXTURE_BINDING_CUBE_MAP": 0x8514,
		"TEXTURE_BINDING_2D_ARRAY": 0x8C1D, "TEXTURE_BINDING_BUFFER": 0x8C2C, "SAMPLER_BINDING": 0x8919}
	g := newGame(t, 64, 64)
	g.light()
	ready(g.screen.GLS)
	mesh := graphic.NewMesh(geometry.NewCube(0.3), material.NewStandard(&math32.Color{R: 1}))
	mesh.SetPosition(0, 0.5, 1)
	g.scene.Add(mesh)
	g.shoot(t)
	want := map[string]int32{}
	for name, what := range states {
		want[name] = gl.GetInteger(what)
	}
	c := newCrowd(t, textured(t), []m3.Xform{{Rot: m3.Ident}})
	c.SetShadow(func(x, z float32) float32 { return 0 }, 1)
	must.Do(t, c.Update([]m3.Xform{{Rot: m3.Ident}}))
	g.scene.Add(c)
	for range 2 { // the first picture uploads
		g.shoot(t)
		for name, what := range states {
			if got := gl.GetInteger(what); got != want[name] {
				t.Errorf("%s is %d, was %d", name, got, want[name])
			}
		}
	}
}

// One agent's NaN is that agent's alone.
func TestBrokenPoseStaysAlone(t *testing.T) {
	g := newGame(t, 160, 90)
	g.light()
	c := newCrowd(t, post(t), stand(nil, m3.Vec3{}))
	c.SetShadow(func(x, z float32) float32 { return 0 }, 1)
	must.Do(t, c.Update(stand(nil, m3.Vec3{})))
	g.scene.Add(c)
	want := g.shoot(t)
	bones := stand(stand(nil, m3.V(float32(math.NaN()), 0, 0)), m3.Vec3{})
	c.Attach(core.NewNode(), 0, 1, m3.Xform{})
	must.Do(t, c.Update(bones))
	if got := g.shoot(t); !bytes.Equal(got.Pix, want.Pix) {
		t.Error("an agent with NaN changes the picture of the other")
	}
	if _, ok := c.AgentBox(0); ok {
		t.Error("an agent with NaN has a box")
	}
}

// A ray through a pixel hits the agent that is drawn there.
func TestRaycast(t *testing.T) {
	g := newGame(t, 100, 60)
	var bones []m3.Xform
	for i := range 3 {
		bones = stand(bones, m3.V(0.8*float32(i)-0.8, 0, -0.7*float32(i)))
	}
	c := newCrowd(t, post(t), bones)
	c.SetPosition(0, 0.1, 0)
	g.scene.Add(c)
	g.look(m3.V(0.5, 1, 3), m3.V(0, 0.5, 0))
	hit := func(x, y float32) (Hit, bool) {
		far := math32.Vector3{X: x/50 - 1, Y: 1 - y/30, Z: 0.5}
		g.cam.Unproject(&far)
		from := g.cam.Position()
		along := *far.Sub(&from)
		return c.Raycast(math32.NewRay(&from, &along))
	}
	g.screen.GLS.ClearColor(0, 0, 0, 1)
	wrong, hits := 0, 0
	for agent := range 3 {
		looks := []Look{{Hidden: true}, {Hidden: true}, {Hidden: true}}
		looks[agent] = Look{Tint: [3]float32{1, 1, 1}}
		c.SetLooks(looks)
		must.Do(t, c.Update(bones))
		img := g.shoot(t)
		for y := range 60 {
			for x := range 100 {
				got, ok := hit(float32(x)+0.5, float32(y)+0.5)
				if drawn := img.RGBAAt(x, y).R > 0; drawn != ok {
					wrong++
				}
				if ok {
					hits++
					if got.Agent != agent {
						t.Fatalf("pixel (%d, %d) is agent %d, want %d", x, y, got.Agent, agent)
					}
					if box, _ := c.AgentBox(agent); !near(&box, &got.Point) {
						t.Fatalf("the hit %v is outside the agent's box %v", got.Point, box)
					}
				}
			}
		}
	}
	// The coarsest mesh's outline is not the finest's.
	if hits < 40 || wrong > hits/6 {
		t.Errorf("%d of %d hits and misses are not as drawn", wrong, hits)
	}
	c.SetLooks(nil)
	must.Do(t, c.Update(bones))
	all := c.BoundingBox()
	for i := range 3 {
		b, ok := c.AgentBox(i)
		if !ok || !all.ContainsBox(&b) || b.Max.Y < 0.9 || b.Max.Y > 1.3 {
			t.Errorf("agent %d has the box %v, all %v", i, b, all)
		}
	}
	if _, ok := c.Raycast(math32.NewRay(&math32.Vector3{Y: 5}, &math32.Vector3{Y: 1})); ok {
		t.Error("a ray to the sky hits")
	}
	if _, ok := c.Raycast(math32.NewRay(&math32.Vector3{}, &math32.Vector3{})); ok {
		t.Error("a ray without a direction hits")
	}
}

func near(b *math32.Box3, p *math32.Vector3) bool {
	c := *b
	c.ExpandByScalar(1e-3)
	return c.ContainsPoint(p)
}

// An attached node follows its joint, and is hidden with its agent.
func TestAttach(t *testing.T) {
	c := newCrowd(t, post(t), stand(stand(nil, m3.Vec3{}), m3.V(3, 0, 0)))
	c.SetPosition(0, 10, 0)
	sword := core.NewNode()
	a := c.Attach(sword, 1, 2, m3.Xform{Pos: m3.V(0, 0, 0.25)})
	at := func() (p math32.Vector3) {
		c.UpdateMatrixWorld()
		sword.WorldPosition(&p)
		return p
	}
	if got := at(); got != (math32.Vector3{X: 3, Y: 11, Z: 0.25}) {
		t.Errorf("attached at %v", got)
	}
	bones := stand(stand(nil, m3.Vec3{}), m3.V(-2, 0, 0))
	bones[5].Rot = m3.YawQuat(math.Pi / 2) // +Z turns to +X
	must.Do(t, c.Update(bones))
	if got := at(); m3.Abs(got.X+1.75) > 1e-5 || m3.Abs(got.Z) > 1e-5 {
		t.Errorf("after the agent has moved and turned: %v", got)
	}
	for _, agent := range []int{-1, 2} {
		a.Agent = agent
		must.Do(t, c.Update(bones))
		if a.holder.Visible() {
			t.Errorf("the sword of agent %d is visible", agent)
		}
	}
	a.Agent = 0
	must.Do(t, c.Update(bones))
	if got := at(); !a.holder.Visible() || got.X != 0 {
		t.Errorf("handed over to agent 0: %v", got)
	}
	c.SetLooks([]Look{{Hidden: true}})
	must.Do(t, c.Update(bones))
	if a.holder.Visible() {
		t.Error("the sword of a hidden agent is visible")
	}
	c.Detach(a)
	c.Detach(a)
	if sword.Parent() != nil || len(c.attached) != 0 {
		t.Error("the sword is still attached")
	}
}

// Fog hides agents by distance, and changes nothing where there is none.
func TestFog(t *testing.T) {
	g := newGame(t, 160, 90)
	g.light()
	g.scene.Add(newCrowd(t, post(t), stand(nil, m3.Vec3{})))
	c := g.scene.ChildAt(g.scene.ChildIndex(g.scene.Children()[4])).(*Crowd)
	clear := g.shoot(t)
	c.SetFog(Fog{Color: math32.Color{R: 0.3, G: 0.4, B: 0.5}, Near: 1, Far: 2})
	fogged := g.shoot(t)
	if got := fogged.RGBAAt(80, 45); got.R < 75 || got.R > 78 || got.B < 126 || got.B > 129 {
		t.Errorf("an agent in thick fog is %v, want the fog's colour", got)
	}
	if clear.RGBAAt(80, 45) == fogged.RGBAAt(80, 45) {
		t.Error("fog changes nothing")
	}
	c.SetFog(Fog{Color: math32.Color{R: 1}, Near: 50, Far: 60})
	if !bytes.Equal(g.shoot(t).Pix, clear.Pix) {
		t.Error("far fog changes what is near")
	}
	half := float32(math.Sqrt(math.Ln2)) / 4 // at 4 m half is hidden
	c.SetFog(Fog{Color: math32.Color{}, Density: half})
	a, b := clear.RGBAAt(80, 45), g.shoot(t).RGBAAt(80, 45)
	if m3.Abs(float32(b.G)-float32(a.G)/2) > 6 {
		t.Errorf("half of %v is %v", a, b)
	}
}

// Agents darken the ground under them, and nothing else.
func TestShadow(t *testing.T) {
	g := newGame(t, 160, 90)
	g.look(m3.V(0, 1.2, 1), m3.V(0, 0, 0))
	c := newCrowd(t, post(t), stand(nil, m3.Vec3{}))
	g.scene.Add(c)
	plain := g.shoot(t)
	c.SetShadow(func(x, z float32) float32 { return 0 }, 0.8)
	must.Do(t, c.Update(stand(nil, m3.Vec3{})))
	dark := g.shoot(t)
	_, n := changed(plain, dark)
	if n < 80 || n > 3000 {
		t.Errorf("the shadow changes %d pixels", n)
	}
	for i := range dark.Pix {
		if dark.Pix[i] > plain.Pix[i] {
			t.Fatal("a shadow lightens")
		}
	}
	c.SetShadow(nil, 0)
	must.Do(t, c.Update(stand(nil, m3.Vec3{})))
	if !bytes.Equal(g.shoot(t).Pix, plain.Pix) {
		t.Error("the shadow stays")
	}
}

func TestBadUse(t *testing.T) {
	if _, err := NewCrowd(&body.Body{}); err == nil {
		t.Error("an empty body was accepted")
	}
	b := post(t)
	b.Levels[0].Parts = []body.Part{{Material: 1, Count: 3}}
	if _, err := NewCrowd(b); err == nil {
		t.Error("a part without its material was accepted")
	}
	c := newCrowd(t, post(t), nil)
	if err := c.Update(make([]m3.Xform, 4)); err == nil {
		t.Error("four bones for a rig of three were accepted")
	}
	if c.Agents() != 0 {
		t.Errorf("%d agents", c.Agents())
	}
	var zero Crowd
	if err := zero.Update(nil); err == nil {
		t.Error("a zero crowd was accepted")
	}
	if _, ok := zero.Raycast(math32.NewRay(nil, nil)); ok || zero.Agents() != 0 || zero.Drawn() != nil {
		t.Error("a zero crowd has agents")
	}
	zero.SetShadow(nil, 1)
	zero.Dispose()
}

// textured is a body of one joint and two triangles with textures on everything.
func textured(t testing.TB) *body.Body {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	for i := range picture.Pix {
		picture.Pix[i] = 200
	}
	b := must.Get(body.Adopt([]m3.Xform{{Rot: m3.Ident}}, square(), body.Paint))(t)
	b.Materials = []body.Material{{BaseColor: [4]float32{1, 1, 1, 1}, BaseTexture: picture, MetalRough: picture, NormalMap: picture, Emission: picture}}
	for k := range b.Levels {
		b.Levels[k].Parts = []body.Part{{Count: len(b.Levels[k].Index)}}
		b.Levels[k].UV = make([][2]float32, len(b.Levels[k].Pos))
	}
	return b
}

// square is 1 m wide and high and faces +Z.
func square() body.Mesh {
	m := body.Mesh{Index: []uint32{0, 1, 2, 0, 2, 3}}
	for _, p := range []m3.Vec3{{X: -0.5}, {X: 0.5}, {X: 0.5, Y: 1}, {X: -0.5, Y: 1}} {
		m.Pos, m.Normal = append(m.Pos, p), append(m.Normal, m3.V(0, 0, 1))
		m.Joints, m.Weights = append(m.Joints, [4]uint8{}), append(m.Weights, [4]float32{1})
		m.Coat = append(m.Coat, [4]float32{1, 1, 1})
	}
	return m
}

// BenchmarkSubmit1000 is the processor's time for a frame of 1,000 people with 31 joints, all on
// the screen: Update, and a renderer's Render. Each has one triangle, because where the processor
// draws, too, pixels would be all that is measured.
func BenchmarkSubmit1000(b *testing.B) {
	g := newGame(b, 64, 64)
	g.light()
	bind := make([]m3.Xform, 31)
	for j := range bind {
		bind[j] = m3.Xform{Pos: m3.V(0, 0.06*float32(j), 0), Rot: m3.YawQuat(0.1 * float32(j))}
	}
	one := square()
	one.Index = one.Index[:3]
	c := newCrowd(b, must.Get(body.Adopt(bind, one, body.Paint))(b), nil)
	g.scene.Add(c)
	var bones []m3.Xform
	for i := range 1000 {
		at := m3.Xform{Pos: m3.V(float32(i%40)-20, 0, -float32(i/40)-20), Rot: m3.YawQuat(float32(i))}
		for _, x := range bind {
			bones = append(bones, at.Mul(x))
		}
	}
	g.look(m3.V(0, 8, 14), m3.V(0, 0, -25))
	best := time.Hour // of a frame: what it takes when nothing else runs
	for b.Loop() {
		began := time.Now()
		must.Do(b, c.Update(bones))
		must.Do(b, g.render.Render(g.scene, g.cam))
		best = min(best, time.Since(began))
	}
	b.ReportMetric(float64(best)/1e6, "ms/best")
	if n := c.Drawn(); n[0]+n[1]+n[2] != 1000 {
		b.Errorf("drew %v, want 1,000 people", n)
	}
}
