package matching_test

import (
	"bytes"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/matching"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
	"mannequin/models"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// A standing agent moves slowly from one idle pose to another without leaving its place, and sets off as soon as the goal moves. The idle poses are in the file.
func TestResting(t *testing.T) {
	l := must.Get(models.OpenCharacter("hero"))(t).Learned
	n := l.Networks()
	if len(n.Idles) < 8 {
		t.Fatalf("%d states stand", len(n.Idles))
	}
	var b bytes.Buffer
	must.Do(t, (&matching.File{Learned: l}).Encode(&b))
	f := must.Get(matching.DecodeFile(b.Bytes()))(t)
	if f.Learned.Fingerprint() != l.Fingerprint() || len(f.Learned.Networks().Idles) != len(n.Idles) {
		t.Errorf("the file has %d states that stand", len(f.Learned.Networks().Idles))
	}
	w := arche.NewWorld()
	crowd := must.Get(animsys.NewCrowd(&w, must.Get(f.NewStream(matching.StreamOptions{Capacity: 1}))(t), animsys.Options{Ground: ik.Level(0)}))(t)
	defer crowd.Close()
	schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	e := must.Get(crowd.Spawn(m3.Vec3{}, 0))(t)
	goals := generic.NewMap1[control.Goal](&w)
	var poses [][]m3.Vec3
	fastest := float32(0)
	for tick := range 30 * animsys.TickRate {
		must.Do(t, schedule.Step())
		if tick < 2*animsys.TickRate {
			continue
		}
		var at []m3.Vec3
		for _, x := range crowd.Bones(e) {
			at = append(at, x.Pos)
		}
		if k := len(poses); k > 0 {
			for j := range at {
				fastest = max(fastest, at[j].Dist(poses[k-1][j])*animsys.TickRate)
			}
		}
		poses = append(poses, at)
	}
	moved := float32(0)
	for _, p := range poses {
		for j := range p {
			moved = max(moved, p[j].Dist(poses[0][j]))
		}
	}
	if moved < 0.001 || fastest > 0.5 || crowd.Root(e).Pos.Len() > 0.01 {
		t.Errorf("joints move by %.4f m, at up to %.2f m/s; it stands at %v", moved, fastest, crowd.Root(e).Pos)
	}
	*goals.Get(e) = control.Goal{Move: m3.V(0, 0, 1), Speed: 1.2}
	for range animsys.TickRate {
		must.Do(t, schedule.Step())
	}
	if z := crowd.Root(e).Pos.Z; z < 0.3 {
		t.Errorf("a second after it was asked to go it is at %.2f m", z)
	}
	db := testmatching.People(t)
	n = testmatching.Learned(t).Networks()
	n.Idles = [][]float32{{1}}
	if _, err := matching.NewLearned(db, n); err == nil {
		t.Error("a state of one value is taken")
	}
}
