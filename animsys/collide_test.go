package animsys_test

import (
	"cmp"
	"math"
	"os"
	"strconv"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/internal/testing/testmatching"
	"mannequin/models"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// pushed is what an agent does that is steered into a wall.
type pushed struct {
	inside float64 // how far its joints come into the wall, m
	along  float64 // speed along the wall, m/s
	jerk   float64 // of its feet, m/s³
	lifts  int     // times that its first foot leaves the ground
}

// mover stands for a game's own physics. It keeps all roots at least room, m, from a wall at Z 0.
type mover struct {
	crowd *animsys.Crowd
	room  float32
	fault error
}

func (*mover) Initialize(*arche.World) {}
func (*mover) Finalize(*arche.World)   {}
func (m *mover) Update(*arche.World) {
	for row := range m.crowd.Agents() {
		e := m.crowd.Entity(row)
		_, to := m.crowd.RootMotion(e)
		if over := to.Pos.Z + m.room; over > 0 && m.fault == nil {
			m.fault = m.crowd.Nudge(e, m3.V(0, 0, -over))
		}
	}
}

// push has an agent go into a wall along X at an angle, for some seconds. steer is called before each tick.
func push[C any](t *testing.T, g generator.Generator[C], c C, angle float64, seconds int, walls generator.Walls, moves *mover, steer func(c *C, off float32)) (p pushed) {
	w := arche.NewWorld()
	crowd := must.Get(animsys.NewCrowd(&w, g, animsys.Options{Ground: ik.Level(0), Walls: walls}))(t)
	defer crowd.Close()
	moves.crowd = crowd
	schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems(moves)...))(t)
	yaw := float32(math.Pi/2 - angle*math.Pi/180)
	agent := must.Get(animsys.SpawnWith(crowd, m3.V(0, 0, -2), yaw, c))(t)
	controls := generic.NewMap1[C](&w)
	legs := crowd.Ground.Rig.Roles.Legs
	var feet []m3.Xform
	var k jerk
	var from m3.Vec3
	stood := true
	const settle = 5 // s
	for tick := range seconds * animsys.TickRate {
		steer(controls.Get(agent), m3.WrapAngle(yaw-crowd.Root(agent).Rot.Yaw()))
		must.Do(t, schedule.Step())
		bones := crowd.Bones(agent)
		for _, b := range bones {
			p.inside = max(p.inside, float64(b.Pos.Z))
		}
		feet = feet[:0]
		for _, l := range legs {
			feet = append(feet, bones[l[len(l)-1]])
		}
		v, _ := k.add(feet, nil)
		if stands := crowd.Ground.Feet[0].Contact(); stands != stood {
			if stood = stands; !stands {
				p.lifts++
			}
		}
		if tick < settle*animsys.TickRate {
			from = crowd.Root(agent).Pos
			continue
		}
		p.jerk = max(p.jerk, v)
	}
	must.Do(t, moves.fault)
	p.along = float64(crowd.Root(agent).Pos.X-from.X) / float64(seconds-settle)
	return p
}

// An agent that is steered into a wall slides along it, keeps at least the part of its speed along the
// wall, and walks on: by Options.Walls and by a game's own physics. $MANNEQUIN_SECONDS sets the time.
func TestAlongWall(t *testing.T) {
	race.Single(t)
	seconds := must.Get(strconv.Atoi(cmp.Or(os.Getenv("MANNEQUIN_SECONDS"), "15")))(t)
	dog := must.Get(models.OpenAs("dog-free", mann.NewModel))(t)
	person := must.Get(models.OpenAs("human-strnn", strnn.NewModel))(t)
	matched := map[string]matching.File{"matched person": {Database: testmatching.People(t)}, "person of networks": {Learned: testmatching.Learned(t)}}
	wall := &control.Obstacles{}
	must.Do(t, wall.Set(control.Wall(m3.V(-500, 0, 0.1), m3.V(500, 0, 0.1), 0.2)))
	// A dog keeps all its joints out. Of people, hands and feet may swing into the wall.
	const dogRoom, dogInside, personRoom, personInside, plannedInside = 0.8, 0.01, 0.35, 0.2, 0.1
	for _, angle := range []float64{30, 60, 90} {
		for _, own := range []bool{false, true} {
			var walls generator.Walls = wall
			dogs, people := &mover{room: -1e9}, &mover{room: -1e9}
			if own {
				walls, dogs.room, people.room = nil, dogRoom, personRoom
			}
			p := push(t, must.Get(dog.NewController(mann.ControllerOptions{Capacity: 1}))(t), control.Goal{Move: m3.V(0, 0, 1), Speed: 1, Action: control.Move},
				angle, seconds, walls, dogs, func(g *control.Goal, off float32) { g.Turn = m3.Clamp(2*off/control.MaxTurn, -1, 1) })
			p.check(t, seconds, "dog", angle, own, 1, dogInside)
			p = push(t, must.Get(person.NewStream(strnn.StreamOptions{Capacity: 1}))(t), strnn.Steer{Speed: 1.2},
				angle, seconds, walls, people, func(*strnn.Steer, float32) {})
			inside := personInside
			if !own {
				inside = plannedInside
				p.mayStand(angle, seconds)
			}
			p.check(t, seconds, "person", angle, own, 1.2, inside)
			for who, f := range matched {
				people.fault = nil
				p = push(t, must.Get(f.NewStream(matching.StreamOptions{Capacity: 1}))(t), control.Goal{Move: m3.V(0, 0, 1), Speed: 1.2},
					angle, seconds, walls, people, func(g *control.Goal, off float32) { g.Turn = m3.Clamp(2*off/control.MaxTurn, -1, 1) })
				p.mayStand(angle, seconds)
				p.check(t, seconds, who, angle, own, 1.2, 1.25*personInside)
			}
		}
	}
}

// mayStand lets an agent stand in front of a wall at 90°.
func (p *pushed) mayStand(angle float64, seconds int) {
	if angle == 90 {
		p.lifts = seconds
	}
}

func (p *pushed) check(t *testing.T, seconds int, who string, angle float64, own bool, speed, inside float64) {
	t.Helper()
	share := speed * math.Cos(angle*math.Pi/180)
	t.Logf("%s at %.0f°, own physics %v: %.1f cm inside, %.2f m/s along, the share is %.2f, jerk %.2f times the recordings' 99.9th percentile, lifts a foot %d times",
		who, angle, own, 100*p.inside, p.along, share, p.jerk/recordedJerk, p.lifts)
	if p.inside > inside || p.along < 0.9*share-0.01 || p.jerk > 2*recordedJerk || p.lifts < seconds/2 {
		t.Errorf("%s at %.0f°, own physics %v: %+v", who, angle, own, *p)
	}
}

// A nudged agent keeps its velocity, and its feet stay where they stand.
func TestNudge(t *testing.T) {
	dog := must.Get(models.OpenAs("dog-free", mann.NewModel))(t)
	w := arche.NewWorld()
	crowd := must.Get(animsys.NewCrowd(&w, must.Get(dog.NewController(mann.ControllerOptions{Capacity: 2}))(t), animsys.Options{Ground: ik.Level(0)}))(t)
	defer crowd.Close()
	schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	goal := control.Goal{Move: m3.V(0, 0, 1), Speed: 1, Action: control.Move}
	a, b := must.Get(animsys.SpawnWith(crowd, m3.V(0, 0, 0), 0, goal))(t), must.Get(animsys.SpawnWith(crowd, m3.V(8, 0, 0), 0, goal))(t)
	for range 3 * animsys.TickRate {
		must.Do(t, schedule.Step())
	}
	by := m3.V(0.05, 3, 0.02)
	must.Do(t, crowd.Nudge(a, by))
	for range 2 * animsys.TickRate {
		must.Do(t, schedule.Step())
	}
	off := crowd.Root(a).Pos.Add(m3.V(8, 0, 0)).Sub(crowd.Root(b).Pos)
	if d := off.Dist(by.Flat()); d > 1e-3 {
		t.Errorf("two seconds after a nudge by %v an agent is %v from where it would be, want %v", by, off, by.Flat())
	}
	for _, by := range []m3.Vec3{m3.V(float32(math.NaN()), 0, 0), m3.V(1e6, 0, 0)} {
		if crowd.Nudge(a, by) == nil {
			t.Errorf("a nudge by %v is no error", by)
		}
	}
	if crowd.Nudge(arche.Entity{}, m3.Vec3{}) == nil {
		t.Error("a nudge of no agent is no error")
	}
}
