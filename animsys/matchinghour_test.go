package animsys_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/matching"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// wanderer gives one agent of a database all that a goal can ask for: what a commander does, faces and paths.
type wanderer struct {
	commander
	paths []*control.Path
	stays int
	path  control.Goal
}

func (c *wanderer) ask(root m3.Xform) control.Goal {
	if c.stays--; c.stays < -200 {
		c.stays = c.rng.IntN(400)
		c.path = control.Goal{Path: c.paths[c.rng.IntN(len(c.paths))], Speed: 4 * c.rng.Float32(), PathScale: 0.5 + c.rng.Float32(),
			PathOrigin: m3.V(40*c.rng.Float32()-20, 0, 40*c.rng.Float32()-20)}
	}
	if c.stays > 0 {
		return c.path
	}
	g := c.command(root)
	if c.stays%40 < -20 {
		a := float32(c.stays) / 30
		g.Face = m3.V(m3.Sin(a), 0, m3.Cos(a))
	}
	return g
}

// Half a minute of random commands on hills for 32 agents of a database, or of networks that have learned one, who come, go,
// are moved and update less often; an hour with $MANNEQUIN_HOUR. Poses are finite. The 99.9th percentile of the jerk, of the joint
// that jerks most, is at most twice that of the clips, and none is far above them.
func TestMatchingHour(t *testing.T) {
	ticks := 30 * animsys.TickRate
	if os.Getenv("MANNEQUIN_HOUR") != "" {
		ticks = 3600 * animsys.TickRate
	}
	people, dogs := testmatching.People(t), testmatching.Dogs(t)
	for _, c := range []struct {
		name  string
		plays matching.File
		clips *matching.Database
	}{{"people", matching.File{Database: people}, people}, {"dogs", matching.File{Database: dogs}, dogs}, {"learned people", matching.File{Learned: testmatching.Learned(t)}, people}, {"adaptive people", matching.File{Adaptive: testmatching.Adaptive(t)}, people}} {
		t.Run(c.name, func(t *testing.T) { matchingHour(t, &c.plays, c.clips, ticks) })
	}
}

func matchingHour(t *testing.T, f *matching.File, clips *matching.Database, ticks int) {
	const agents = 32
	field := must.Get(terrain.Hills(terrain.Grid{Size: 140, Cell: 0.5}, terrain.HillsOptions{Seed: 3, Wavelength: 14, MaxSlope: 0.2}))(t)
	w := arche.NewWorld()
	crowd := must.Get(animsys.NewCrowd(&w, must.Get(f.NewStream(matching.StreamOptions{Capacity: agents}))(t), animsys.Options{Ground: field}))(t)
	defer crowd.Close()
	schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	defer schedule.Close()
	goals := generic.NewMap1[control.Goal](&w)
	rng := rand.New(rand.NewPCG(7, 8))
	paths := []*control.Path{must.Get(control.Circle(3))(t), must.Get(control.Circle(0.1))(t),
		must.Get(control.NewPath([]m3.Vec3{{}, m3.V(5, 0, 5), m3.V(0, 0, 9)}, false))(t), must.Get(control.NewPath([]m3.Vec3{{}, m3.V(9, 0, 0), m3.V(0, 0, 0.1)}, true))(t)}
	somewhere := func() (m3.Vec3, float32) {
		return m3.V(60*rng.Float32()-30, 0, 60*rng.Float32()-30), 6 * rng.Float32()
	}
	all, who, jerks := make([]arche.Entity, agents), make([]wanderer, agents), make([]jerk, agents)
	for i := range all {
		at, yaw := somewhere()
		all[i] = must.Get(crowd.Spawn(at, yaw))(t)
		who[i] = wanderer{commander: commander{rng: rand.New(rand.NewPCG(2020, uint64(i)))}, paths: paths}
	}
	most, where := 0.0, ""
	var made percentile
	for tick := range ticks {
		if tick%50 == 0 {
			i := rng.IntN(agents)
			at, yaw := somewhere()
			switch rng.IntN(3) {
			case 0:
				must.Do(t, crowd.Despawn(all[i]))
				all[i] = must.Get(crowd.Spawn(at, yaw))(t)
			case 1:
				must.Do(t, crowd.Place(all[i], at, yaw))
			case 2:
				must.Do(t, crowd.SetUpdateRate(all[i], animsys.UpdateRate(rng.IntN(4))))
			}
			jerks[i] = jerk{}
		}
		for i, e := range all {
			*goals.Get(e) = who[i].ask(crowd.Root(e))
		}
		must.Do(t, schedule.Step())
		for i, e := range all {
			bones := crowd.Bones(e)
			for j := range bones {
				if !bones[j].Pos.Finite() || !bones[j].Rot.Finite() {
					t.Fatalf("tick %d: %s of agent %d is not finite", tick, crowd.Skel.Names[j], i)
				}
			}
			// Between poses of lower rates bones go straight on, and turn at once.
			if row, _ := crowd.Row(e); crowd.UpdateRateAt(row) != animsys.EveryTick {
				jerks[i] = jerk{}
			} else if v, j := jerks[i].add(bones, nil); v >= 0 {
				if made.add(v); v <= most {
					continue
				}
				most, where = v, fmt.Sprintf("%s of agent %d in tick %d under %+v", crowd.Skel.Names[j], i, tick, *goals.Get(e))
			}
		}
	}
	own, theirs := clipsJerk(clips)
	t.Logf("%d agents for %d s: jerk up to %.0f m/s³, of the clips %.0f (%s); 99.9 %% of it below %.0f, of the clips %.0f", agents, ticks/animsys.TickRate, most, own, where, made.of(0.999), theirs)
	if most > 4*own {
		t.Errorf("jerk of %.0f m/s³, the clips' is up to %.0f: %s", most, own, where)
	}
	if v := made.of(0.999); v > 2*theirs {
		t.Errorf("99.9 %% of the jerk is below %.0f m/s³, of the clips' below %.0f", v, theirs)
	}
	mustNotAllocate(t, func() {
		for tick := range 30 {
			for i, e := range all {
				*goals.Get(e) = control.Goal{Move: m3.V(0, 0, 1), Speed: float32((tick/5 + i) % 4), Action: control.Action((tick/7 + i) % 6)}
			}
			must.Do(t, schedule.Step())
		}
	})
}

// percentile counts values in steps of a hundredth of their size.
type percentile struct {
	counts [4000]int
	n      int
}

func (p *percentile) add(v float64) {
	p.counts[min(int(100*math.Log1p(v)), len(p.counts)-1)]++
	p.n++
}

// of returns the value below which a share of all lie.
func (p *percentile) of(share float64) float64 {
	left := int(share * float64(p.n))
	for i, c := range p.counts {
		if left -= c; left < 0 {
			return math.Expm1(float64(i) / 100)
		}
	}
	return 0
}

// clipsJerk returns the largest jerk of all joints in the clips of a database, m/s³, and its 99.9th percentile.
func clipsJerk(d *matching.Database) (most, usual float64) {
	var all percentile
	model := make([]m3.Xform, d.Skel.Len())
	for i := range d.Clips() {
		c, _ := d.Motion(i)
		var k jerk
		for f := range c.Frames {
			c.Model(model, f)
			v, _ := k.add(model, nil)
			most = max(most, v)
			all.add(v)
		}
	}
	return most, all.of(0.999)
}
