//go:build webgpu

package animsys_test

import (
	"testing"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/animsys/resident"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models"
	herofile "mannequin/models/hero"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// TestWebGPUResident: a dog of a crowd goes to the GPU and comes back, beside one that stays in a crowd. It goes where that goes. Its joints
// differ by what the crowd does beyond: foot lock, sinking and easing over time, and inertialization.
func TestWebGPUResident(t *testing.T) {
	needWebGPU(t)
	m := must.Get(mann.NewModel(must.Get(models.Open("dog"))(t)))(t)
	field := must.Get(terrain.Hills(terrain.Grid{Size: 80, Cell: 0.5}, terrain.HillsOptions{Seed: 4, MaxSlope: 0.45}))(t)
	world := arche.NewWorld()
	goals := generic.NewMap1[control.Goal](&world)
	dogs := must.Get(m.NewController(mann.ControllerOptions{Capacity: 2}))(t)
	crowd := must.Get(animsys.NewCrowd(&world, dogs, animsys.Options{Ground: field}))(t)
	defer crowd.Close()
	schedule := must.Get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	far := must.Get(resident.New(m, resident.Options{Capacity: 1, Ground: field, Timeout: time.Hour}))(t)
	defer far.Close()
	if far.Device() == "" {
		t.Fatal("the GPU does not take the crowd")
	}
	stays, leaves := must.Get(crowd.Spawn(m3.V(3, 0, 1), 0.5))(t), must.Get(crowd.Spawn(m3.V(3, 0, 1), 0.5))(t)
	var st generator.State
	var bones []m3.Xform
	var root, most, apart, atOnce float32
	var sum float64
	var n int
	agent := -1
	for tick := range 600 {
		*goals.Get(stays) = tour(tick)
		switch tick {
		case 60:
			origin := must.Get(crowd.SaveMotion(&st, leaves))(t)
			agent = must.Get(far.Adopt(&st, origin))(t)
			atOnce = farther(atOnce, must.Get(far.Bones(nil, agent))(t), crowd.Bones(leaves))
			must.Do(t, crowd.Despawn(leaves))
		case 540:
			bones = must.Get(far.Bones(bones, agent))(t)
			must.Do(t, far.Save(&st, agent))
			must.Do(t, far.Remove(agent))
			agent, leaves = -1, must.Get(crowd.SpawnSaved(&st, m3.Vec3{}))(t)
			atOnce = farther(atOnce, bones, crowd.Bones(leaves))
		}
		if agent < 0 {
			*goals.Get(leaves) = tour(tick)
		} else {
			must.Do(t, far.SetGoal(agent, tour(tick)))
			must.Do(t, far.Step())
		}
		must.Do(t, schedule.Step())
		if agent < 0 {
			root = max(root, crowd.Root(leaves).Pos.Dist(crowd.Root(stays).Pos))
			continue
		}
		root = max(root, far.Root(agent).At.Pos.Dist(crowd.Root(stays).Pos))
		bones = must.Get(far.Bones(bones, agent))(t)
		for j, b := range crowd.Bones(stays) {
			d := b.Pos.Dist(bones[j].Pos)
			sum, n = sum+float64(d), n+1
			most = max(most, d)
		}
		apart = max(apart, bones[0].Pos.Dist(crowd.Bones(stays)[0].Pos))
	}
	onWebGPU(t)
	t.Logf("roots at most %.2f mm apart; joints %.1f mm in the mean and %.0f at most, hips %.0f; %.0f at once when it leaves and comes back", 1000*root, 1000*sum/float64(n), 1000*most, 1000*apart, 1000*atOnce)
	if root > 1e-3 || sum/float64(n) > 0.03 || most > 0.3 || atOnce > 0.15 {
		t.Error("that is too far")
	}
}

// TestWebGPUResidentPeople: the same of a person of learned motion matching, whose body the crowd also leans. Searches find the same for as long
// as the two are.
func TestWebGPUResidentPeople(t *testing.T) {
	needWebGPU(t)
	l := must.Get(herofile.Open())(t).Learned
	field := must.Get(terrain.Hills(terrain.Grid{Size: 80, Cell: 0.5}, terrain.HillsOptions{Seed: 4, MaxSlope: 0.45}))(t)
	world := arche.NewWorld()
	goals := generic.NewMap1[control.Goal](&world)
	people := must.Get(l.NewStream(matching.StreamOptions{Capacity: 2}))(t)
	crowd := must.Get(animsys.NewCrowd(&world, people, animsys.Options{Ground: field}))(t)
	defer crowd.Close()
	schedule := must.Get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	far := must.Get(resident.NewLearned(l, resident.Options{Capacity: 1, Ground: field, Timeout: time.Hour}))(t)
	defer far.Close()
	if far.Device() == "" {
		t.Fatal("the GPU does not take the crowd")
	}
	leaves, stays := must.Get(crowd.Spawn(m3.V(3, 0, 1), 0.5))(t), must.Get(crowd.Spawn(m3.V(3, 0, 1), 0.5))(t)
	wish := func(tick int) control.Goal {
		g := control.Goal{Move: m3.V(0, 0, 1), Action: control.Move, Speed: 1.3 + float32(tick/180%3), Turn: 0.6 * float32(tick/50%3-1)}
		if tick/60%5 == 4 {
			return control.Goal{}
		}
		return g
	}
	var st generator.State
	var bones []m3.Xform
	var root, most, apart, atOnce float32
	var sum float64
	var n int
	agent := -1
	for tick := range 600 {
		*goals.Get(stays) = wish(tick)
		switch tick {
		case 90:
			// The phase of searches differs from row to row: the one that stays goes on from the same state.
			origin := must.Get(crowd.SaveMotion(&st, leaves))(t)
			must.Do(t, crowd.Despawn(stays))
			stays = must.Get(crowd.SpawnSaved(&st, origin))(t)
			*goals.Get(stays) = wish(tick)
			agent = must.Get(far.Adopt(&st, origin))(t)
			atOnce = farther(atOnce, must.Get(far.Bones(nil, agent))(t), crowd.Bones(leaves))
			must.Do(t, crowd.Despawn(leaves))
		case 540:
			bones = must.Get(far.Bones(bones, agent))(t)
			must.Do(t, far.Save(&st, agent))
			must.Do(t, far.Remove(agent))
			agent, leaves = -1, must.Get(crowd.SpawnSaved(&st, m3.Vec3{}))(t)
			atOnce = farther(atOnce, bones, crowd.Bones(leaves))
		}
		if agent < 0 {
			*goals.Get(leaves) = wish(tick)
		} else {
			must.Do(t, far.SetGoal(agent, wish(tick)))
			must.Do(t, far.Step())
		}
		must.Do(t, schedule.Step())
		if agent < 0 {
			continue
		}
		root = max(root, far.Root(agent).At.Pos.Dist(crowd.Root(stays).Pos))
		bones = must.Get(far.Bones(bones, agent))(t)
		for j, b := range crowd.Bones(stays) {
			d := b.Pos.Dist(bones[j].Pos)
			sum, n = sum+float64(d), n+1
			most = max(most, d)
		}
		apart = max(apart, bones[0].Pos.Dist(crowd.Bones(stays)[0].Pos))
	}
	onWebGPU(t)
	t.Logf("roots at most %.2f mm apart; joints %.1f mm in the mean and %.0f at most, hips %.0f; %.0f at once when it leaves and comes back", 1000*root, 1000*sum/float64(n), 1000*most, 1000*apart, 1000*atOnce)
	if root > 1e-3 || sum/float64(n) > 0.05 || most > 0.4 || atOnce > 0.02 {
		t.Error("that is too far")
	}
}
