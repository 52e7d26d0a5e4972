package animsys_test

import (
	"math"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/models"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"

	"github.com/mlange-42/arche/generic"
)

// Of two dogs one goes over a bridge, up a ramp and down another, and one on the road below it.
func TestBridge(t *testing.T) {
	race.Single(t)
	w := arche.NewWorld()
	decks := &terrain.Decks{}
	must.Do(t, decks.Set(terrain.Deck{At: m3.V(0, 1.5, 0), Width: 3, Depth: 6},
		terrain.Deck{At: m3.V(0, 0.75, -6), Width: 3, Depth: 6, Rise: 0.25}, terrain.Deck{At: m3.V(0, 0.75, 6), Width: 3, Depth: 6, Rise: -0.25}))
	dog := must.Get(models.OpenAs("dog-free", mann.NewModel))(t)
	crowd := must.Get(animsys.NewCrowd(&w, must.Get(dog.NewController(mann.ControllerOptions{Capacity: 3}))(t), animsys.Options{Ground: decks}))(t)
	defer crowd.Close()
	schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	ahead := control.Goal{Move: m3.V(0, 0, 1), Speed: 1.2, Action: control.Move}
	over := must.Get(animsys.SpawnWith(crowd, m3.V(0, 0, -12), 0, ahead))(t)
	below := must.Get(animsys.SpawnWith(crowd, m3.V(-8, 0, 0), math.Pi/2, ahead))(t)
	stands := must.Get(animsys.SpawnWith(crowd, m3.V(0, 1.5, 1), 0, control.Goal{}))(t)
	hips := func(e arche.Entity) float32 { return crowd.Bones(e)[0].Pos.Y }
	rest := hips(below)
	if up := hips(stands) - rest; m3.Abs(up-1.5) > 0.05 {
		t.Errorf("who was spawned on the bridge has hips %.2f m higher, want 1.5", up)
	}
	var highest, highestBelow float32
	for range 20 * animsys.TickRate {
		must.Do(t, schedule.Step())
		highest, highestBelow = max(highest, hips(over)), max(highestBelow, hips(below))
	}
	if at := crowd.Root(over).Pos.Z; at < 10 {
		t.Fatalf("the dog has come to Z %.1f", at)
	}
	if m3.Abs(highest-rest-1.5) > 0.12 || m3.Abs(hips(over)-rest) > 0.12 {
		t.Errorf("over the bridge hips rise by up to %.2f m, and are %.2f m higher behind it", highest-rest, hips(over)-rest)
	}
	if highestBelow > rest+0.12 {
		t.Errorf("below the bridge hips rise by %.2f m", highestBelow-rest)
	}
}

// Nobody walks over an edge that terrain.Edges makes a wall.
func TestEdge(t *testing.T) {
	race.Single(t)
	w := arche.NewWorld()
	decks := &terrain.Decks{}
	must.Do(t, decks.Set(terrain.Deck{At: m3.V(0, 2, 0), Width: 6, Depth: 6}))
	opt := animsys.Options{Ground: decks, Walls: &terrain.Edges{Ground: decks, Rise: 0.35, Drop: 0.6}}
	dog := must.Get(models.OpenAs("dog-free", mann.NewModel))(t)
	person := must.Get(models.OpenAs("human-strnn", strnn.NewModel))(t)
	pack := must.Get(animsys.NewCrowd(&w, must.Get(dog.NewController(mann.ControllerOptions{Capacity: 1}))(t), opt))(t)
	defer pack.Close()
	crowd := must.Get(animsys.NewCrowd(&w, must.Get(person.NewStream(strnn.StreamOptions{Capacity: 1}))(t), opt))(t)
	defer crowd.Close()
	schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	must.Get(animsys.SpawnWith(pack, m3.V(0, 2, 1), 1, control.Goal{Move: m3.V(0, 0, 1), Speed: 1.2, Action: control.Move}))(t)
	must.Get(animsys.SpawnWith(crowd, m3.V(0, 2, -1), 2, strnn.Steer{Speed: 1.2}))(t)
	for tick := range 20 * animsys.TickRate {
		must.Do(t, schedule.Step())
		for _, c := range []*animsys.Crowd{pack, crowd} {
			hips := c.BonesAt(0)[0].Pos
			if m3.Abs(hips.X) > 3 || m3.Abs(hips.Z) > 3 || hips.Y < 2.3 {
				t.Fatalf("in tick %d hips are at %v, off the deck", tick, hips)
			}
		}
	}
}

// An agent that walks over an edge falls at 9.81 m/s², lands on its feet with bent legs, and walks on.
func TestFall(t *testing.T) {
	dog := must.Get(models.OpenAs("dog-free", mann.NewModel))(t)
	person := must.Get(models.OpenAs("human-strnn", strnn.NewModel))(t)
	for _, high := range []float32{0.8, 2} {
		w := arche.NewWorld()
		decks := &terrain.Decks{}
		must.Do(t, decks.Set(terrain.Deck{At: m3.V(0, high, 0), Width: 6, Depth: 6}))
		opt := animsys.Options{Ground: decks}
		pack := must.Get(animsys.NewCrowd(&w, must.Get(dog.NewController(mann.ControllerOptions{Capacity: 1}))(t), opt))(t)
		crowd := must.Get(animsys.NewCrowd(&w, must.Get(person.NewStream(strnn.StreamOptions{Capacity: 1}))(t), opt))(t)
		schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
		must.Get(animsys.SpawnWith(pack, m3.V(1, high, 1), math.Pi/2, control.Goal{Move: m3.V(0, 0, 1), Speed: 1.2, Action: control.Move}))(t)
		must.Get(animsys.SpawnWith(crowd, m3.V(1, high, -1), math.Pi/2, strnn.Steer{Speed: 1.2}))(t)
		var falls, lands [2]int // ticks
		var lowest [2]float32   // hips' height
		for tick := range 6 * animsys.TickRate {
			must.Do(t, schedule.Step())
			for i, c := range []*animsys.Crowd{pack, crowd} {
				bones, floor := c.BonesAt(0), c.Ground.Body[0].Floor()
				switch {
				case floor < high && falls[i] == 0:
					falls[i] = tick
				case floor == 0 && lands[i] == 0:
					lands[i], lowest[i] = tick, bones[0].Pos.Y
				case lands[i] > 0:
					lowest[i] = min(lowest[i], bones[0].Pos.Y)
				}
				for _, l := range c.Ground.Rig.Roles.Legs {
					if y := bones[l[len(l)-1]].Pos.Y; y < -0.01 {
						t.Fatalf("in tick %d a foot is at height %.3f", tick, y)
					}
				}
			}
		}
		for i, c := range []*animsys.Crowd{pack, crowd} {
			took, want := float64(lands[i]-falls[i])/animsys.TickRate, math.Sqrt(2*float64(high)/9.81)
			if math.Abs(took-want) > 0.06 {
				t.Errorf("crowd %d falls %g m in %.2f s, want %.2f", i, high, took, want)
			}
			hips, x := c.BonesAt(0)[0].Pos.Y, c.Root(c.Entity(0)).Pos.X
			if dip := 1 - lowest[i]/hips; dip < 0.05*float32(i) || dip > 0.5 { // a dog's hind legs come down last
				t.Errorf("crowd %d lands from %g m with hips lower by %.2f of their height", i, high, dip)
			}
			if x < 5 || hips < 0.4 {
				t.Errorf("crowd %d ends at X %.1f with hips at %.2f m", i, x, hips)
			}
			must.Do(t, c.Close())
		}
	}
}

// A platform carries and turns who stands and who walks on it: they move on it as on ground that stands still.
func TestPlatform(t *testing.T) {
	person := must.Get(models.OpenAs("human-strnn", strnn.NewModel))(t)
	dog := must.Get(models.OpenAs("dog-free", mann.NewModel))(t)
	ride := func(moves bool, turn float32) (dogs, people []m3.Xform) {
		w := arche.NewWorld()
		decks := &terrain.Decks{}
		deck := terrain.Deck{At: m3.V(0, 1, 0), Width: 30, Depth: 30}
		must.Do(t, decks.Set(deck))
		opt := animsys.Options{Ground: decks}
		pack := must.Get(animsys.NewCrowd(&w, must.Get(dog.NewController(mann.ControllerOptions{Capacity: 2}))(t), opt))(t)
		defer pack.Close()
		crowd := must.Get(animsys.NewCrowd(&w, must.Get(person.NewStream(strnn.StreamOptions{Capacity: 2}))(t), opt))(t)
		defer crowd.Close()
		schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
		must.Get(animsys.SpawnWith(pack, m3.V(1, 1, 0), 0, control.Goal{}))(t)
		must.Get(animsys.SpawnWith(pack, m3.V(-1, 1, 0), 0, control.Goal{Move: m3.V(0, 0, 1), Turn: 0.3, Speed: 1, Action: control.Move}))(t)
		must.Get(animsys.SpawnWith(crowd, m3.V(3, 1, 0), 0, strnn.Steer{}))(t)
		must.Get(animsys.SpawnWith(crowd, m3.V(-3, 1, 0), 0, strnn.Steer{Speed: 1, Turn: 0.3}))(t)
		for tick := range 10 * animsys.TickRate {
			if moves {
				was := deck.At
				deck.At = m3.V(4*m3.Sin(float32(tick)*0.02), 1, 3*m3.Sin(float32(tick)*0.03))
				deck.Moved = deck.At.Sub(was)
				deck.Turned = turn / animsys.TickRate
				deck.Yaw += deck.Turned
				must.Do(t, decks.Set(deck))
			}
			must.Do(t, schedule.Step())
		}
		from := m3.Xform{Pos: deck.At.Flat(), Rot: m3.YawQuat(deck.Yaw)}
		for _, c := range []*animsys.Crowd{pack, crowd} {
			for _, b := range c.Interpolate(nil, 1) {
				dogs = append(dogs, from.Inv().Mul(b))
			}
			dogs, people = people, dogs
		}
		return dogs, people
	}
	dogs, people := ride(false, 0)
	for _, turn := range []float32{0, 0.8} { // rad/s
		dogsRode, peopleRode := ride(true, turn)
		for _, c := range []struct {
			who          string
			still, moved []m3.Xform
		}{{"dogs", dogs, dogsRode}, {"people", people, peopleRode}} {
			var most float32
			for j := range c.still {
				most = max(most, c.still[j].Pos.Dist(c.moved[j].Pos))
			}
			t.Logf("turning at %g rad/s, joints of %s are up to %.2g m from where they would be on ground that stands still", turn, c.who, most)
			if most > 0.02 {
				t.Errorf("on a platform that turns at %g rad/s, joints of %s are %.3f m from where they would be", turn, c.who, most)
			}
		}
	}
}

// A merry-go-round turns the agents of all generators: they move on it as on ground that stands still, also while a hand reaches and lets
// go, with half the updates, and frozen. Those on curves are carried along, and keep to their curves.
func TestMerryGoRound(t *testing.T) {
	const n, speed = 3, 0.8 // rad/s
	for _, k := range kinds(t) {
		t.Run(k.name, func(t *testing.T) {
			ride := func(speed float32) []m3.Xform {
				deck := terrain.Deck{Width: 300, Depth: 300, At: m3.V(0, 1, 0)}
				decks := &terrain.Decks{}
				must.Do(t, decks.Set(deck))
				a := k.scene(t, n, 1, func(o *animsys.Options) { o.Ground = decks })
				a.home = m3.V(0, 1, 0)
				all := a.run(100, numbers(n)...)
				must.Do(t, a.people.SetUpdateRate(all[1], animsys.Every2))
				reach := generic.NewMap1[ecs.Reach](&a.ecs)
				reach.Assign(all[0], &ecs.Reach{})
				var place m3.Vec3 // on the deck, beside the agent
				for tick := 100; tick < 360; tick++ {
					if tick == 320 {
						must.Do(t, a.people.SetUpdateRate(all[2], animsys.Frozen))
					}
					if tick == 300 {
						root := a.people.Root(all[0])
						place = m3.Xform{Rot: m3.YawQuat(deck.Yaw)}.Inv().Apply(root.Pos.Add(root.Rot.Rotate(m3.V(0.3, 1.2, 0.4))))
					}
					deck.Turned = speed / animsys.TickRate
					deck.Yaw += deck.Turned
					must.Do(t, decks.Set(deck))
					if *reach.Get(all[0]) = (ecs.Reach{}); tick >= 300 && tick < 340 {
						*reach.Get(all[0]) = ecs.Reach{Left: ecs.Hand{Target: m3.YawQuat(deck.Yaw).Rotate(place), Weight: 1, Seconds: 0.6}}
					}
					a.play(all, numbers(n), tick, tick+1, nil)
				}
				from := m3.Xform{Rot: m3.YawQuat(deck.Yaw)}.Inv()
				var bones []m3.Xform
				for _, b := range a.people.Interpolate(nil, 1) {
					bones = append(bones, from.Mul(b))
				}
				mustNotAllocate(t, func() { must.Do(t, a.schedule.Step()) })
				return bones
			}
			still, turned := ride(0), ride(speed)
			joints := len(still) / n
			for i := range n {
				var most float32
				for j := i * joints; j < (i+1)*joints; j++ {
					most = max(most, still[j].Pos.Dist(turned[j].Pos))
				}
				t.Logf("joints of agent %d are up to %.2g m from where they would be", i, most)
				bound := float32(0.001)
				if k.name == "mann" { // the test's network makes much of little
					bound = 0.03
				}
				if i > 0 { // bones that are shown late are where the ground was up to a tick ago
					bound += speed / animsys.TickRate * (still[i*joints].Pos.Flat().Len() + 1)
				}
				if k.name != "manifold" && most > bound {
					t.Errorf("joints of agent %d are %.3f m from where they would be on ground that stands still, want %.3f", i, most, bound)
				}
			}
		})
	}
}
