//go:build webgpu

package g3n

import (
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/mann/resident"
	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/netruntime"
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
