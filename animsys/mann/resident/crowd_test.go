package resident_test

import (
	"testing"
	"time"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/mann/resident"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/netruntime/webgpu"
	"mannequin/terrain"
)

// tour returns what a dog does in a tick of ten seconds.
func tour(tick int) control.Goal {
	g := control.Goal{Action: control.Move, Move: m3.V(0, 0, 1)}
	switch tick / 60 % 10 {
	case 0, 1:
		g.Speed = control.WalkSpeed
	case 2:
		g.Speed, g.Turn = control.WalkSpeed, 0.8
	case 3:
		g.Speed, g.Move = control.PaceSpeed, m3.V(0.5, 0, -0.5)
	case 4:
		g.Speed, g.Turn = control.TrotSpeed, -0.6
	case 5:
		g.Speed = control.CanterSpeed
	case 6:
		g.Action, g.Speed = control.Jump, control.TrotSpeed
	case 7:
		g = control.Goal{Turn: -1}
	case 8:
		g = control.Goal{Action: control.Lie}
	default:
		g = control.Goal{Action: control.Stand}
	}
	return g
}

func open(t *testing.T, o resident.Options) (*mann.Model, *resident.Crowd) {
	t.Helper()
	m := must.Get(mann.NewModel(must.Get(models.Open("dog"))(t)))(t)
	o.Timeout = time.Hour
	c := must.Get(resident.New(m, o))(t)
	t.Cleanup(func() { must.Do(t, c.Close()) })
	return m, c
}

func needGPU(t *testing.T, c *resident.Crowd) {
	t.Helper()
	if _, err := webgpu.Device(); err != nil && c.Device() == "" {
		t.Skip("no GPU, no software driver of one, or a build without the tag webgpu: ", err)
	}
	if c.Device() == "" {
		t.Fatal("the GPU does not take the crowd")
	}
}

// hills returns a field with slopes of up to about a half.
func hills() *terrain.Field {
	f := &terrain.Field{X0: -40, Z0: -40, Cell: 0.5, NX: 161, NZ: 161}
	for k := range f.NZ {
		for i := range f.NX {
			x, z := f.X0+float32(i)*f.Cell, f.Z0+float32(k)*f.Cell
			f.Y = append(f.Y, 0.9*m3.Sin(0.5*x)+0.7*m3.Cos(0.6*z+0.3*x))
		}
	}
	return f
}

// TestTour: 600 ticks of three dogs, each crowd on its own: the GPU's are where the processor's are, and stand on the ground as ik.Legged
// puts them there.
func TestTour(t *testing.T) {
	field := hills()
	for _, ground := range []struct {
		name string
		ik.Ground
	}{{"level", ik.Level(1.5)}, {"hills", field}} {
		t.Run(ground.name, func(t *testing.T) {
			m, c := open(t, resident.Options{Capacity: 4, Ground: ground.Ground})
			needGPU(t, c)
			b := mann.NewBatch(m, 4)
			rig := must.Get(must.Get(m.NewController(mann.ControllerOptions{Capacity: 1}))(t).Rig(nil))(t)
			session := must.Get(m.Net.NewSession(netruntime.SessionOptions{Batch: 3, Workers: 1}))(t)
			defer session.Close()
			x, y, goals := make([]float32, 3*m.Layout.Inputs()), make([]float32, 3*m.Layout.Outputs()), make([]control.Goal, 3)
			for i := range 3 {
				at := feature.Place{Pos: m3.V(float32(4*i), 0, float32(-3*i)), Yaw: float32(i)}
				must.Get(c.Add(at))(t)
				b.Reset(i, at.Pos, at.Yaw)
			}
			joints := m.Skel.Len()
			var bones []m3.Xform
			flat, want := make([]m3.Xform, joints), make([]m3.Xform, joints)
			var root, posed, apart, lifted float32
			var sum float64
			for tick := range 600 {
				for i := range 3 {
					goals[i] = tour(tick + 200*i)
					must.Do(t, c.SetGoal(i, goals[i]))
				}
				must.Do(t, c.Step())
				b.Plan(goals, 0, 3)
				b.Gather(x, 0, 3)
				must.Do(t, session.Run(y, x, 3))
				b.Scatter(y, 0, 3)
				if tick%7 != 0 && tick != 599 {
					continue
				}
				bones = must.Get(c.Bones(bones, 0, 1, 2))(t)
				for i := range 3 {
					root = max(root, c.Root(i).At.Pos.Dist(b.Root(i).Pos))
					// What the processor makes of the GPU's own state.
					must.Do(t, b.Unpack(3, must.Get(c.Packed(i))(t)))
					pos, rot := b.Pose(3)
					m.Skel.LocalToModel(flat, pos, rot)
					resident.Stand(&rig.Ground, ground.Ground, want, pos, rot)
					for j := range want {
						d := bones[i*joints+j].Pos.Dist(want[j].Pos)
						if d > posed && d > 1e-3 {
							t.Log("tick", tick, "agent", i, m.Skel.Names[j], 1000*d, "mm")
						}
						posed, sum = max(posed, d), sum+float64(d)
						lifted = max(lifted, want[j].Pos.Dist(flat[j].Pos))
					}
					pos, rot = b.Pose(i)
					resident.Stand(&rig.Ground, ground.Ground, want, pos, rot)
					for j := range want {
						apart = max(apart, bones[i*joints+j].Pos.Dist(want[j].Pos))
					}
				}
			}
			t.Logf("joints at most %.4f mm from ik.Legged's, %.4f in the mean, of a way of up to %.0f mm; roots %.1f and joints %.1f mm from the processor's crowd of its own", 1000*posed, 1e6*sum/600*7/81/1000, 1000*lifted, 1000*root, 1000*apart)
			if !(posed < 1e-3) || posed == 0 {
				t.Error("that is too far")
			}
		})
	}
}
