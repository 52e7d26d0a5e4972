//go:build webgpu

package animsys_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
	"mannequin/models"
	"mannequin/models/fox"
	herofile "mannequin/models/hero"
	"mannequin/models/person"
	"mannequin/netruntime"
	"mannequin/netruntime/webgpu"
)

// webgpuPose is how far a joint may be off, in metres.
const webgpuPose = 1e-3

func openWebGPU(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
	return webgpu.NewSession(n, webgpu.Options{SessionOptions: o, Timeout: time.Hour})
}

func needWebGPU(t *testing.T) {
	t.Helper()
	if _, err := webgpu.Device(); err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
}

// farther returns the greatest distance between joints of two poses, and most.
func farther(most float32, got, want []m3.Xform) float32 {
	for j := range want {
		if d := got[j].Pos.Sub(want[j].Pos).Len(); !(d <= most) {
			most = d
		}
	}
	return most
}

// onWebGPU fails the test if the processor has computed a run.
func onWebGPU(t *testing.T) {
	t.Helper()
	if n := webgpu.Fallbacks(); n > 0 {
		t.Fatal(n, " runs fell back to the processor")
	}
}

// TestWebGPUDog: over 600 ticks of the shipped dog, each from the processor's state, the GPU's pose
// is the processor's.
func TestWebGPUDog(t *testing.T) {
	needWebGPU(t)
	checkDog(t, webgpu.Options{}, webgpuPose)
}

// TestWebGPUDogF16 is the same in float16.
func TestWebGPUDogF16(t *testing.T) {
	needWebGPU(t)
	checkDog(t, webgpu.Options{F16: true}, 3*webgpuPose)
}

// checkDog fails the test if a joint of the GPU's dog is farther off than most.
func checkDog(t *testing.T, o webgpu.Options, most float32) {
	t.Helper()
	net := must.Get(models.Open("dog"))(t)
	m := must.Get(mann.NewModel(net))(t)
	cpu := must.Get(net.NewSession(netruntime.SessionOptions{Batch: 1, Workers: 1}))(t)
	defer cpu.Close()
	o.SessionOptions, o.Timeout = netruntime.SessionOptions{Batch: 1, Workers: 1}, time.Hour
	gpu := must.Get(webgpu.NewSession(net, o))(t)
	defer gpu.Close()
	in, out := m.Layout.Inputs(), m.Layout.Outputs()
	b := mann.NewBatch(m, 2)
	b.Reset(0, m3.Vec3{}, 0)
	x, y, goals := make([]float32, 2*in), make([]float32, 2*out), make([]control.Goal, 2)
	model := func(row int) []m3.Xform {
		pose := make([]m3.Xform, m.Skel.Len())
		pos, rot := b.Pose(row)
		m.Skel.LocalToModel(pose, pos, rot)
		return pose
	}
	var worst float32
	for tick := range 600 {
		goals[0] = tour(tick)
		b.Plan(goals, 0, 1)
		b.Gather(x, 0, 1)
		must.Do(t, cpu.Run(y, x, 1))
		must.Do(t, gpu.Run(y[out:], x, 1))
		b.Copy(1, 0)
		b.Scatter(y, 0, 2)
		worst = farther(worst, model(1), model(0))
	}
	onWebGPU(t)
	t.Logf("%s: joints at most %.4f mm off", gpu.Kernel(), 1000*worst)
	if !(worst <= most) {
		t.Errorf("a joint is %.3f mm off, at most %.3f mm are allowed", 1000*worst, 1000*most)
	}
}

// TestWebGPUCharacters: people and a fox of learned motion matching, and people of a mode-adaptive network, are where the processor's
// are in each of 600 ticks, each from the processor's state.
func TestWebGPUCharacters(t *testing.T) {
	needWebGPU(t)
	for _, c := range []struct {
		name string
		file *matching.File
	}{{"hero", must.Get(herofile.Open())(t)}, {"fox", must.Get(fox.Open())(t)}, {"adaptive", &matching.File{Adaptive: testmatching.Adaptive(t)}}} {
		t.Run(c.name, func(t *testing.T) {
			worst := slices.Max(testmatching.Beside(t, c.file, openWebGPU, 600, nil))
			onWebGPU(t)
			t.Logf("joints at most %.4f mm off", 1000*worst)
			if !(worst <= webgpuPose) || worst == 0 {
				t.Errorf("a joint is %.3f mm off, at most %.3f mm are allowed, and rounding leaves some", 1000*worst, float32(1000*webgpuPose))
			}
		})
	}
}

// walkers are two people along curves, in a world of their own.
type walkers struct {
	schedule *ecs.Schedule
	crowd    *animsys.Crowd
	agents   [2]arche.Entity
}

func newWalkers(t *testing.T, device netruntime.Opener) *walkers {
	t.Helper()
	world := arche.NewWorld()
	networks := must.Get(person.Open())(t)
	stream := must.Get(networks.NewStream(manifold.StreamOptions{Capacity: 2, Open: device}))(t)
	w := &walkers{crowd: must.Get(animsys.NewCrowd(&world, stream, animsys.Options{Ground: ik.Level(0)}))(t)}
	w.schedule = must.Get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	circle := must.Get(control.Circle(5))(t)
	for i := range w.agents {
		curve := manifold.Curve{Path: circle, Start: 12 * float32(i), Speed: 1.4 + 1.6*float32(i)}
		at, ahead := circle.At(curve.Start)
		w.agents[i] = must.Get(animsys.SpawnWith(w.crowd, at, m3.YawOf(ahead), curve))(t)
	}
	return w
}

// TestWebGPUPeople: two people, one who walks and one who runs, are where the processor's are in
// each of 600 ticks. Each world goes on from its own state.
func TestWebGPUPeople(t *testing.T) {
	needWebGPU(t)
	cpu, gpu := newWalkers(t, nil), newWalkers(t, openWebGPU)
	defer cpu.crowd.Close()
	defer gpu.crowd.Close()
	var worst, moved float32
	var first m3.Vec3
	for tick := range 600 {
		must.Do(t, cpu.schedule.Step())
		must.Do(t, gpu.schedule.Step())
		for i := range cpu.agents {
			worst = farther(worst, gpu.crowd.Bones(gpu.agents[i]), cpu.crowd.Bones(cpu.agents[i]))
		}
		at := cpu.crowd.Bones(cpu.agents[1])[0].Pos
		if tick == 0 {
			first = at
		}
		moved = max(moved, at.Sub(first).Len())
	}
	onWebGPU(t)
	t.Logf("joints at most %.4f mm off", 1000*worst)
	if !(worst <= webgpuPose) || moved < 5 {
		t.Errorf("a joint is %.3f mm off, at most %.3f mm are allowed; the runner came %.1f m far", 1000*worst, float32(1000*webgpuPose), moved)
	}
}

func searchWebGPU(p *netruntime.Points, batch int) (netruntime.Nearest, error) {
	return webgpu.NewNearest(p, webgpu.Options{SessionOptions: netruntime.SessionOptions{Batch: batch}, Timeout: time.Hour})
}

// players are agents that play recordings, in a world of their own.
type players struct {
	schedule *ecs.Schedule
	crowd    *animsys.Crowd
	stream   *matching.Stream
	goals    generic.Map1[control.Goal]
	agents   []arche.Entity
}

func newPlayers(t *testing.T, d *matching.Database, agents int, device netruntime.NearestOpener) *players {
	t.Helper()
	world := arche.NewWorld()
	p := &players{stream: must.Get(d.NewStream(matching.StreamOptions{Capacity: agents, Nearest: device}))(t), goals: generic.NewMap1[control.Goal](&world)}
	p.crowd = must.Get(animsys.NewCrowd(&world, p.stream, animsys.Options{Ground: ik.Level(0)}))(t)
	p.schedule = must.Get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	for i := range agents {
		p.agents = append(p.agents, must.Get(p.crowd.Spawn(m3.V(float32(i%8)*3, 0, float32(i/8)*3), float32(i)))(t))
	}
	return p
}

// step is a tick.
func (p *players) step(t *testing.T, tick int) {
	t.Helper()
	for i, e := range p.agents {
		if (tick+7*i)%90 == 0 {
			*p.goals.Get(e) = tour((tick + 90*i) % 600)
		}
	}
	must.Do(t, p.schedule.Step())
}

// TestWebGPUSearch: a crowd that plays recordings has the same bits with and without the GPU in each of 600 ticks: 5 minutes of a dog with all actions, and
// half an hour, as much as a character's recordings.
func TestWebGPUSearch(t *testing.T) {
	needWebGPU(t)
	type play struct {
		name          string
		minutes       float64
		agents, ticks int
	}
	all := []play{{"5 minutes", 5, 40, 600}, {"half an hour", 30, 8, 120}}
	if runtime.GOOS == "js" { // a browser's software driver is slow
		all = []play{{"5 minutes", 5, 20, 300}}
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			d := testmatching.Dogs(t)
			if c.minutes > 5 {
				d = must.Get(testmatching.Minutes(c.minutes))(t)
			}
			cpu, gpu := newPlayers(t, d, c.agents, nil), newPlayers(t, d, c.agents, searchWebGPU)
			defer cpu.crowd.Close()
			defer gpu.crowd.Close()
			for tick := range c.ticks {
				cpu.step(t, tick)
				gpu.step(t, tick)
				for i := range cpu.agents {
					if !slices.Equal(cpu.crowd.Bones(cpu.agents[i]), gpu.crowd.Bones(gpu.agents[i])) {
						t.Fatalf("tick %d: agent %d differs", tick, i)
					}
				}
			}
			onWebGPU(t)
			all, again := gpu.stream.Searched()
			t.Logf("%d frames, %d searches, %d of them done again", d.Frames(), all, again)
			if all < c.agents*c.ticks/20 || again > all/20 {
				t.Error("too few searches are the GPU's")
			}
		})
	}
}

// TestWebGPUSearchIsExact: streams show the frames that they show without the GPU: for actions, and around a query that is not a number.
func TestWebGPUSearchIsExact(t *testing.T) {
	needWebGPU(t)
	all := map[string]*matching.Database{"actors": testmatching.Actors(t), "dogs": testmatching.Dogs(t)}
	if runtime.GOOS == "js" {
		delete(all, "dogs")
	}
	for name, d := range all {
		all, again := testmatching.SameBits(t, d, searchWebGPU, 30, 300, nil)
		onWebGPU(t)
		t.Logf("%s: %d searches, %d of them done again", name, all, again)
		if again > all/20 {
			t.Error("too few searches are the GPU's")
		}
	}
}
