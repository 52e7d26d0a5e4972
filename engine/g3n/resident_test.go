//go:build webgpu

package g3n

import (
	"errors"
	"image"
	"log/slog"
	"testing"

	"github.com/g3n/engine/math32"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/resident"
	"mannequin/engine/body"
	"mannequin/engine/internal/gl"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/models/hero"
	"mannequin/netruntime"
	"mannequin/netruntime/webgpu"
	"mannequin/terrain"
)

// dogsOnGPU returns n dogs that live in the context of g, and their body.
func dogsOnGPU(t testing.TB, n int, ground *terrain.Field) (*mann.Model, *body.Body, *resident.Crowd) {
	t.Helper()
	compute, err := NewCompute()
	if err != nil {
		t.Skip("no compute shaders: ", err)
	}
	m := must.Get(mann.NewModel(must.Get(models.Open("dog"))(t)))(t)
	b := must.Get(body.New(&body.Rig{Names: m.Skel.Names, Parents: m.Skel.Parents, Offsets: m.Skel.Offsets}))(t)
	c := must.Get(resident.New(m, resident.Options{Capacity: n, Ground: ground, Bind: b.Bind, OpenGL: compute}))(t)
	if c.Device() == "" {
		t.Fatal("OpenGL does not take the crowd")
	}
	for i := range n {
		must.Get(c.Add(feature.Place{Pos: m3.V(float32(i%4)-1.5, 0, float32(i/4)), Yaw: float32(i)}))(t)
	}
	return m, b, c
}

// TestResidentInOpenGL: dogs that live in the scene's OpenGL are where the processor's are, in 400 ticks on their own.
func TestResidentInOpenGL(t *testing.T) {
	newGame(t, 64, 64)
	field := must.Get(terrain.Hills(terrain.Grid{Size: 60, Cell: 0.5}, terrain.HillsOptions{Seed: 4, MaxSlope: 0.45}))(t)
	m, _, c := dogsOnGPU(t, 2, field)
	defer c.Close()
	b := mann.NewBatch(m, 2)
	dogs := must.Get(m.NewController(mann.ControllerOptions{Capacity: 1}))(t)
	defer dogs.Close()
	rig := must.Get(dogs.Rig(nil))(t)
	session := must.Get(m.Net.NewSession(netruntime.SessionOptions{Batch: 2, Workers: 1}))(t)
	defer session.Close()
	x, y, goals := make([]float32, 2*m.Layout.Inputs()), make([]float32, 2*m.Layout.Outputs()), make([]control.Goal, 2)
	for i := range 2 {
		b.Reset(i, m3.V(float32(i)-1.5, 0, 0), float32(i))
	}
	joints := m.Skel.Len()
	want := make([]m3.Xform, joints)
	var worst, way float32
	for tick := range 400 {
		for i := range 2 {
			goals[i] = control.Goal{Move: m3.V(0, 0, 1), Action: control.Move, Speed: 0.8 + float32((tick/60+i)%4), Turn: float32((tick/50+i)%3-1) * 0.7}
			if tick/80 == 3 {
				goals[i] = control.Goal{Action: control.Sit}
			}
			must.Do(t, c.SetGoal(i, goals[i]))
		}
		gl.Enable(1 << 30) // an error of the game's, which is no loss of OpenGL
		must.Do(t, c.Step())
		b.Plan(goals, 0, 2)
		b.Gather(x, 0, 2)
		must.Do(t, session.Run(y, x, 2))
		b.Scatter(y, 0, 2)
		if tick%20 != 19 {
			continue
		}
		bones := must.Get(c.Bones(nil, 0, 1))(t)
		for i := range 2 {
			worst = max(worst, c.Root(i).At.Pos.Dist(b.Root(i).Pos))
			pos, rot := b.Pose(i)
			resident.Stand(&rig.Ground, field, want, pos, rot)
			for j := range want {
				worst = max(worst, want[j].Pos.Dist(bones[i*joints+j].Pos))
			}
			way = max(way, b.Root(i).Pos.Len())
		}
	}
	t.Logf("on %s: at most %.4f mm off, after %.1f m", c.Device(), 1000*worst, way)
	if !(worst < 1e-3) || worst == 0 || c.Device() == "" {
		t.Error("that is too far")
	}
}

// TestResidentPeopleInOpenGL: people that live in the scene's OpenGL are where the processor's are, in 300 ticks on their own.
func TestResidentPeopleInOpenGL(t *testing.T) {
	newGame(t, 64, 64)
	compute, err := NewCompute()
	if err != nil {
		t.Skip("no compute shaders: ", err)
	}
	field := must.Get(terrain.Hills(terrain.Grid{Size: 60, Cell: 0.5}, terrain.HillsOptions{Seed: 4, MaxSlope: 0.45}))(t)
	person := must.Get(hero.Open())(t).Learned
	var crowds [2]*resident.Crowd // the second lives on the processor, after an error
	for i, gl := range []webgpu.OpenGL{compute, &breaking{Compute: compute, left: 1}} {
		c := must.Get(resident.NewLearned(person, resident.Options{Capacity: 2, Ground: field, OpenGL: gl, Log: slog.New(slog.DiscardHandler)}))(t)
		defer c.Close()
		if (c.Device() == "") != (i == 1) {
			t.Fatal("agents live on ", c.Device())
		}
		for k := range 2 {
			must.Get(c.Add(feature.Place{Pos: m3.V(float32(k)-1.5, 0, 0), Yaw: float32(k)}))(t)
		}
		crowds[i] = c
	}
	var worst, way float32
	for tick := range 300 {
		for i := range 2 {
			g := control.Goal{Move: m3.V(0, 0, 1), Action: control.Move, Speed: 1.2 + float32((tick/60+i)%4), Turn: float32((tick/50+i)%3-1) * 0.7}
			switch {
			case tick/80 == 2:
				g = control.Goal{}
			case tick/40 == 3:
				g.Action = control.Jump
			}
			for _, c := range crowds {
				must.Do(t, c.SetGoal(i, g))
			}
		}
		for _, c := range crowds {
			must.Do(t, c.Step())
		}
		if tick%20 != 19 {
			continue
		}
		is, want := must.Get(crowds[0].Bones(nil, 0, 1))(t), must.Get(crowds[1].Bones(nil, 0, 1))(t)
		for j := range is {
			worst = max(worst, is[j].Pos.Dist(want[j].Pos))
		}
		for i := range 2 {
			worst = max(worst, crowds[0].Root(i).At.Pos.Dist(crowds[1].Root(i).At.Pos))
			way = max(way, crowds[0].Root(i).At.Pos.Len())
		}
	}
	t.Logf("on %s: at most %.4f mm off, after %.1f m", crowds[0].Device(), 1000*worst, way)
	if !(worst < 1e-3) || worst == 0 || crowds[0].Device() == "" || way < 3 {
		t.Error("that is too far")
	}
}

// TestResidentIsDrawn: dogs that live in the scene's OpenGL are drawn from there as they are drawn from their bones, between ticks, with
// more of them than fit in a line of the texture, and with looks that change.
func TestResidentIsDrawn(t *testing.T) {
	g := newGame(t, 320, 180)
	g.light()
	g.look(m3.V(0, 3, 6), m3.V(0, 1, 2))
	field := must.Get(terrain.Hills(terrain.Grid{Size: 60, Cell: 0.5}, terrain.HillsOptions{Seed: 4, MaxSlope: 0.3}))(t)
	const n = 15 // a line has twelve
	_, b, far := dogsOnGPU(t, n, field)
	defer far.Close()
	none := g.shoot(t)
	views := [2]*Crowd{must.Get(NewCrowd(b))(t), must.Get(NewCrowd(b))(t)}
	for _, v := range views {
		g.scene.Add(v)
	}
	looks := make([]Look, n)
	all := make([]int, n)
	for i := range looks {
		looks[i], all[i] = DefaultLook, i
		must.Do(t, far.SetGoal(i, control.Goal{Move: m3.V(0, 0, 1), Action: control.Move, Speed: 1}))
	}
	for _, v := range views {
		v.SetLooks(looks)
	}
	var last *Crowd
	for tick := range 30 {
		must.Do(t, far.Step())
		if tick%10 != 9 {
			continue
		}
		looks[tick%n].Tint, looks[3].Hidden = [3]float32{0.9, 0.1, float32(tick) / 30}, tick == 19
		bones := must.Get(far.Bones(nil, all...))(t)
		hips := far.Hips(nil)
		var pictures [2]*image.RGBA
		for k, v := range views {
			if v.SetVisible(true); k == 0 {
				must.Do(t, v.Update(bones))
			} else {
				must.Do(t, v.UpdateFrom(far.Matrices().OpenGL(), hips))
			}
			views[1-k].SetVisible(false)
			pictures[k] = g.shoot(t)
		}
		if _, seen := changed(none, pictures[1]); seen < 2000 {
			t.Fatal("tick ", tick, ": dogs have ", seen, " pixels")
		}
		_, differ := changed(pictures[0], pictures[1])
		t.Log(differ, "pixels differ")
		if differ > 10 { // by rounding
			t.Errorf("tick %d: %d pixels differ", tick, differ)
		}
		last = views[1]
	}
	if _, ok := last.Raycast(&math32.Ray{}); ok {
		t.Error("a ray meets an agent of which no bones are known")
	}
	box, ok := last.AgentBox(0)
	if root := far.Root(0).At.Pos; !ok || !near(&box, &math32.Vector3{X: root.X, Y: far.Root(0).Hips, Z: root.Z}) {
		t.Error("the box of an agent is ", box)
	}
	if last.UpdateFrom(0, nil) == nil || new(Crowd).UpdateFrom(1, nil) == nil {
		t.Error("no buffer, or no crowd: no error")
	}
	for i := range n {
		must.Do(t, far.Remove(i))
	}
	late := must.Get(far.Add(feature.Place{Pos: m3.V(0, 0, 2)}))(t)
	must.Do(t, last.UpdateFrom(far.Matrices().OpenGL(), far.Hips(nil))) // it has no matrices yet
	if _, n := changed(none, g.shoot(t)); n != 0 || late != 0 {
		t.Error(n, " pixels of one that has come after the tick")
	}
	must.Do(t, last.UpdateFrom(far.Matrices().OpenGL(), nil))
	if _, n := changed(none, g.shoot(t)); n != 0 {
		t.Error(n, " pixels of nobody")
	}
}

// breaking is OpenGL that has an error after some calls.
type breaking struct {
	*Compute
	left, asked int
}

func (b *breaking) Error() error {
	b.asked++
	if b.left--; b.left == 0 {
		return errors.New("an error of OpenGL")
	}
	return b.Compute.Error()
}

// TestResidentLosesOpenGL: after an error of OpenGL, wherever it shows, the dogs go on where they are, on the processor.
func TestResidentLosesOpenGL(t *testing.T) {
	newGame(t, 64, 64)
	compute, err := NewCompute()
	if err != nil {
		t.Skip("no compute shaders: ", err)
	}
	m := must.Get(mann.NewModel(must.Get(models.Open("dog"))(t)))(t)
	play := func(left int) (root m3.Xform, gl *breaking, on string) {
		gl = &breaking{Compute: compute, left: -1}
		c := must.Get(resident.New(m, resident.Options{Capacity: 1, Ground: ik.Level(0), Every: 7, OpenGL: gl, Log: slog.New(slog.DiscardHandler)}))(t)
		defer c.Close()
		if c.Device() == "" {
			t.Fatal("OpenGL does not take the crowd")
		}
		must.Get(c.Add(feature.Place{}))(t)
		must.Do(t, c.SetGoal(0, control.Goal{Move: m3.V(0, 0, 1), Action: control.Move, Speed: 1.5}))
		for tick := range 70 {
			if tick == 40 {
				gl.left = left
			}
			must.Do(t, c.Step())
			must.Get(c.Bones(nil, 0))(t)
		}
		return c.Root(0).At, gl, c.Device()
	}
	want, _, _ := play(-1)
	if want.Pos.Z < 0.1 {
		t.Fatal("the dog has come to ", want.Pos)
	}
	for _, left := range []int{1, 4, 23} {
		got, gl, on := play(left)
		if on != "" || gl.left > 0 {
			t.Fatal("it lives on ", on)
		}
		if d := got.Pos.Dist(want.Pos); !(d < 1e-3) {
			t.Errorf("call %d: %g m off", left, d)
		}
	}
	gl := &breaking{Compute: compute, left: 3}
	c := must.Get(resident.New(m, resident.Options{Capacity: 1, Ground: ik.Level(0), OpenGL: gl, Log: slog.New(slog.DiscardHandler)}))(t)
	if c.Device() != "" {
		t.Error("a crowd lives on OpenGL that had an error")
	}
	must.Do(t, c.Close())
}

// BenchmarkResident takes a tick and a picture of 500 dogs that live in OpenGL: with their poses there, and with bones that are read back.
func BenchmarkResident(b *testing.B) {
	for _, back := range []bool{false, true} {
		b.Run(map[bool]string{false: "on-gpu", true: "read-back"}[back], func(b *testing.B) {
			g := newGame(b, 320, 180)
			g.look(m3.V(0, 30, 60), m3.V(0, 0, 20))
			field := must.Get(terrain.Hills(terrain.Grid{Size: 300, Cell: 1}, terrain.HillsOptions{Seed: 4, MaxSlope: 0.3}))(b)
			const n = 500
			_, dog, far := dogsOnGPU(b, n, field)
			defer far.Close()
			view := must.Get(NewCrowd(dog))(b)
			g.scene.Add(view)
			all := make([]int, n)
			for i := range all {
				all[i] = i
				must.Do(b, far.SetGoal(i, control.Goal{Move: m3.V(0, 0, 1), Action: control.Move, Speed: 1}))
			}
			var hips []m3.Vec3
			var bones []m3.Xform
			for b.Loop() {
				must.Do(b, far.Step())
				if back {
					bones = must.Get(far.Bones(bones, all...))(b)
					must.Do(b, view.Update(bones))
				} else {
					hips = far.Hips(hips)
					must.Do(b, view.UpdateFrom(far.Matrices().OpenGL(), hips))
				}
				g.shoot(b)
			}
		})
	}
}
