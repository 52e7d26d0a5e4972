//go:build webgpu

package mann_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/netruntime/webgpu"
)

// onGPU runs a shader.
type onGPU struct {
	*mann.Shader
	work        *webgpu.Work
	rows, goals *webgpu.Memory
	poses       *webgpu.Memory
	launches    []webgpu.Launch
	copies      []webgpu.Copy
	results     *webgpu.Results
	n, joints   int
}

func openShader(t *testing.T, b *mann.Batch, n int) *onGPU {
	t.Helper()
	w, err := webgpu.NewWork(webgpu.WorkOptions{Timeout: time.Hour}, webgpu.ReadOnly, webgpu.ReadOnly, webgpu.ReadWrite, webgpu.ReadWrite, webgpu.ReadWrite)
	if err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
	t.Cleanup(w.Close)
	net := must.Get(w.Network(b.Model.Net, n))(t)
	g := &onGPU{Shader: must.Get(b.NewShader(net.In, net.Out))(t), work: w, n: n, joints: b.Model.Skel.Len()}
	memory := func(floats int) *webgpu.Memory { return must.Get(w.Memory("test", int64(4*floats)))(t) }
	tables := memory(len(g.Tables))
	g.goals, g.rows, g.poses = memory(n*mann.GoalLen), memory(n*g.RowLen), memory(n*g.joints*mann.PoseLen)
	must.Do(t, w.Write(tables, 0, webgpu.Bytes(g.Tables)))
	bound := must.Get(w.Bind(tables, g.goals, g.rows, net.Values, g.poses))(t)
	kernel := func(name string) webgpu.Launch {
		return webgpu.Launch{Kernel: must.Get(w.Kernel(name, g.Source))(t), Bound: bound, Groups: n}
	}
	g.launches = []webgpu.Launch{kernel("prepare"), {Network: net, Rows: n}, kernel("advance")}
	g.copies = []webgpu.Copy{{From: g.rows, Bytes: int64(4 * n * g.RowLen)}, {From: g.poses, Bytes: int64(4 * n * g.joints * mann.PoseLen)}}
	g.results = must.Get(w.Results(g.copies[0].Bytes + g.copies[1].Bytes))(t)
	return g
}

// step takes rows a tick on. nil rows go on from where they are.
func (g *onGPU) step(t *testing.T, goals []control.Goal, rows []float32) (after, poses []float32) {
	t.Helper()
	words := make([]float32, g.n*mann.GoalLen)
	for i := range goals {
		g.PutGoal(words[i*mann.GoalLen:], &goals[i])
	}
	must.Do(t, g.work.Write(g.goals, 0, webgpu.Bytes(words)))
	if rows != nil {
		must.Do(t, g.work.Write(g.rows, 0, webgpu.Bytes(rows)))
	}
	must.Do(t, g.work.Submit(g.launches, g.copies, g.results))
	all := make([]float32, g.n*(g.RowLen+g.joints*mann.PoseLen))
	must.Do(t, g.work.Read(webgpu.Bytes(all), g.results))
	return all[:g.n*g.RowLen], all[g.n*g.RowLen:]
}

// broken is where the places of bones begin in a row.
const broken = 24 + 111*(7+6)

func restored(b *mann.Batch, n int) (total int) {
	for row := range n {
		total += b.Restored(row)
	}
	return total
}

func shown(b *mann.Batch, row int) []m3.Xform {
	pose := make([]m3.Xform, b.Model.Skel.Len())
	pos, rot := b.Pose(row)
	b.Model.Skel.LocalToModel(pose, pos, rot)
	return pose
}

// TestShader: over 600 ticks of dogs that go apart, each from the processor's state, all of a row is as the processor has it.
func TestShader(t *testing.T) {
	m := must.Get(mann.NewModel(must.Get(models.Open("dog"))(t)))(t)
	const n = 5
	b := mann.NewBatch(m, n+1)
	g := openShader(t, b, n)
	r := rand.New(rand.NewPCG(1, 2))
	for row := range n {
		b.Reset(row, m3.V(100*r.Float32(), 0, -50*r.Float32()), 6*r.Float32())
	}
	session := must.Get(m.Net.NewSession(netruntime.SessionOptions{Batch: n, Workers: 1}))(t)
	defer session.Close()
	x, y := make([]float32, n*m.Layout.Inputs()), make([]float32, n*m.Layout.Outputs())
	rows, want := make([]float32, n*g.RowLen), make([]float32, g.RowLen)
	goals := make([]control.Goal, n)
	var pose, state, local, memory float32
	for tick := range 600 {
		for row := range n {
			goals[row] = testdog.Tour(tick + 61*row)
			packed := rows[row*g.RowLen:][:g.RowLen]
			b.Pack(packed, row)
			if tick%90 == 17*row || tick%90 == 17*row+9 { // the second time within the time of a memory
				packed[broken+3*(tick%27)] += 3
				must.Do(t, b.Unpack(row, packed))
			}
			if tick%90 == 40 { // it hangs in the air
				for j := range g.joints {
					packed[broken+3*j+1] += 0.1
				}
				must.Do(t, b.Unpack(row, packed))
			}
		}
		after, poses := g.step(t, goals, rows)
		b.Plan(goals, 0, n)
		b.Gather(x, 0, n)
		must.Do(t, session.Run(y, x, n))
		b.Scatter(y, 0, n)
		for row := range n {
			is := shown(b, row)
			for j := range is {
				p := poses[(row*g.joints+j)*mann.PoseLen:]
				pose = max(pose, m3.V(p[0], p[1], p[2]).Dist(is[j].Pos))
			}
			b.Pack(want, row)
			got := after[row*g.RowLen:][:g.RowLen]
			for i := range 14 { // what the controller remembers
				if d := m3.Abs(got[i] - want[i]); !(d <= memory) {
					memory = d
				}
			}
			for i := 24; i < len(want)-2*(m.Layout.PoseLen()+6); i++ { // without the remembered poses, which are in other units
				if d := m3.Abs(got[i] - want[i]); !(d <= state) {
					state = d
				}
			}
			must.Do(t, b.Unpack(n, got))
			for j, x := range shown(b, n) {
				local = max(local, x.Pos.Dist(is[j].Pos))
			}
			if b.Restored(n) != b.Restored(row) {
				t.Fatal("tick", tick, "row", row, "is", b.Restored(n), "times restored, want", b.Restored(row))
			}
		}
	}
	t.Logf("joints at most %.4f mm off, %.4f mm as local rotations, numbers of the state %.5f, of the controller %.2g", 1000*pose, 1000*local, state, memory)
	if total := restored(b, n); total < 50 {
		t.Error("rows were restored", total, "times")
	}
	if !(pose < 1e-3 && local < 1e-3 && state < 2e-3 && memory < 1e-4) || pose == 0 {
		t.Error("that is too far")
	}
}
