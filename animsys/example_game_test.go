package animsys_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/keypose"
	"mannequin/animsys/layer"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	dogfree "mannequin/models/dog-free"
	humankeypose "mannequin/models/human-keypose"
	humanstrnn "mannequin/models/human-strnn"
	"mannequin/models/person"
	"mannequin/offline/retarget"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// A dog is steered into a wall and slides along it.
func Example_walls() {
	walls := &control.Obstacles{}
	err := walls.Set(
		control.Wall(m3.V(-20, 0, 5), m3.V(20, 0, 5), 0.3),
		control.Pillar(m3.V(3, 0, 0), 0.5),
		control.Box(m3.V(-4, 0, 1), 0.5, 2, 3), // its depth of 3 m lies along heading 0.5
	)
	options := animsys.Options{Ground: ik.Level(0), Walls: walls}

	model := get(mann.NewModel(get(dogfree.Open())))
	world := arche.NewWorld()
	crowd := get(animsys.NewCrowd(&world, get(model.NewController(mann.ControllerOptions{Capacity: 1})), options))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	dog := get(animsys.SpawnWith(crowd, m3.V(0, 0, 2), 0.8, control.Goal{Move: m3.V(0, 0, 1), Speed: 1}))
	run(schedule, 8*animsys.TickRate)
	at := crowd.Root(dog).Pos
	fmt.Println("along the wall:", at.X > 4, "outside:", at.Z < 5-0.15, err)
	// Output: along the wall: true outside: true <nil>
}

// Two people meet in a corridor 2 m wide, and pass each other.
func Example_corridor() {
	walls := &control.Obstacles{}
	err := walls.Set(control.Wall(m3.V(-1.1, 0, -12), m3.V(-1.1, 0, 12), 0.2), control.Wall(m3.V(1.1, 0, -12), m3.V(1.1, 0, 12), 0.2))
	if err != nil {
		fmt.Println(err)
	}
	model := get(strnn.NewModel(get(humanstrnn.Open())))
	world := arche.NewWorld()
	people := get(animsys.NewCrowd(&world, get(model.NewStream(strnn.StreamOptions{Capacity: 2})), animsys.Options{Ground: ik.Level(0), Walls: walls}))
	defer people.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	steers := generic.NewMap1[strnn.Steer](&world)
	north, south := get(people.Spawn(m3.V(0, 0, -8), 0)), get(people.Spawn(m3.V(0.1, 0, 8), math.Pi))

	avoid := control.Avoidance{Walls: walls}
	person := control.Walker{Radius: 0.36, Delay: 0.5, Lag: 0.3, MaxTurn: strnn.MaxTurn, Slowest: 0.4, Pivots: true}
	walkers, ahead := [2]control.Walker{person, person}, [2]m3.Vec3{m3.V(0, 0, 1), m3.V(0, 0, -1)}
	closest, aside := float32(16), float32(0)
	for range 14 * animsys.TickRate {
		avoid.Begin()
		for row := range walkers {
			avoid.Add(&walkers[row], people.Root(people.Entity(row)))
		}
		avoid.Sort()
		for row := range walkers {
			turn, speed := avoid.Steer(row, ahead[row], 1.2)
			*steers.Get(people.Entity(row)) = strnn.Steer{Speed: speed, Turn: turn}
		}
		run(schedule, 1)
		a, b := people.Root(north).Pos, people.Root(south).Pos
		closest = min(closest, a.Dist(b))
		closest, aside = min(closest, a.Dist(b)), max(aside, m3.Abs(a.X), m3.Abs(b.X))
	}
	fmt.Println("passed:", people.Root(north).Pos.Z > 6, people.Root(south).Pos.Z < -6)
	fmt.Println("apart:", closest > 0.6, "between the walls:", aside < 0.66)
	// Output:
	// passed: true true
	// apart: true between the walls: true
}

// A dog and a person go to a place, and stop there.
func Example_goals() {
	world := arche.NewWorld()
	options := animsys.Options{Ground: ik.Level(0)}
	dogModel, model := get(mann.NewModel(get(dogfree.Open()))), get(strnn.NewModel(get(humanstrnn.Open())))
	dogs := get(animsys.NewCrowd(&world, get(dogModel.NewController(mann.ControllerOptions{Capacity: 20})), options))
	people := get(animsys.NewCrowd(&world, get(model.NewStream(strnn.StreamOptions{Capacity: 20})), options))
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	defer dogs.Close()
	defer people.Close()

	goals, steers := generic.NewMap1[control.Goal](&world), generic.NewMap1[strnn.Steer](&world)
	dog, person := get(dogs.Spawn(m3.V(4, 0, 0), 0)), get(people.Spawn(m3.V(-4, 0, 0), 0))
	place := m3.V(3, 0, 6)
	for range 15 * animsys.TickRate {
		root := dogs.Root(dog)
		goal := control.Goal{} // stands
		if way := place.Sub(root.Pos); way.Len() > 0.5 {
			goal = control.Goal{Move: m3.V(0, 0, 1), Speed: control.WalkSpeed, Turn: control.Steer(root.Rot.Yaw(), m3.YawOf(way))}
		}
		*goals.Get(dog) = goal

		root = people.Root(person)
		steer := strnn.Steer{} // stands
		if way := place.Sub(root.Pos); way.Len() > 1 {
			steer = strnn.Steer{Speed: 1.2, Turn: control.MaxTurn * control.Steer(root.Rot.Yaw(), m3.YawOf(way))}
		}
		*steers.Get(person) = steer
		if err := schedule.Step(); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("there:", dogs.Root(dog).Pos.Dist(place) < 1, people.Root(person).Pos.Dist(place) < 1)
	// Output: there: true true
}

// physics stands for a game's own: it decides how far agents may go.
type physics struct{ crowd *animsys.Crowd }

// Sweep returns where a capsule comes to that moves from one place to another. This world ends at Z 3.
func (p *physics) Sweep(from, to m3.Vec3) m3.Vec3 { return m3.V(to.X, to.Y, min(to.Z, 3)) }

func (*physics) Initialize(*arche.World) {}
func (*physics) Finalize(*arche.World)   {}

func (p *physics) Update(*arche.World) {
	for row := range p.crowd.Agents() {
		agent := p.crowd.Entity(row)
		from, to := p.crowd.RootMotion(agent)
		allowed := p.Sweep(from.Pos, to.Pos)
		if err := p.crowd.Nudge(agent, allowed.Sub(to.Pos)); err != nil {
			fmt.Println(err)
		}
	}
}

// A game asks its own physics in each tick how far a person may go.
func Example_physics() {
	model := get(strnn.NewModel(get(humanstrnn.Open())))
	world := arche.NewWorld()
	crowd := get(animsys.NewCrowd(&world, get(model.NewStream(strnn.StreamOptions{Capacity: 1})), animsys.Options{Ground: ik.Level(0)}))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems(&physics{crowd})...))

	person := get(animsys.SpawnWith(crowd, m3.V(0, 0, 0), 0.5, strnn.Steer{Speed: 1.2}))
	run(schedule, 8*animsys.TickRate)
	at := crowd.Root(person).Pos
	fmt.Printf("at Z %.1f, on along X: %v\n", at.Z, at.X > 3)
	// Output: at Z 3.0, on along X: true
}

// A person rides a platform, and one goes over a bridge under which a third one passes.
func Example_floors() {
	decks := &terrain.Decks{}
	platform := terrain.Deck{At: m3.V(6, 1, 0), Width: 3, Depth: 3}
	build := func() error {
		return decks.Set(platform,
			terrain.Deck{At: m3.V(0, 3, 0), Width: 2, Depth: 4},               // a bridge
			terrain.Deck{At: m3.V(0, 1.5, -5), Width: 2, Depth: 6, Rise: 0.5}) // and its ramp
	}
	if err := build(); err != nil {
		fmt.Println(err)
	}
	options := animsys.Options{Ground: decks, Walls: &terrain.Edges{Ground: decks, Rise: 0.35, Drop: 0.6}}

	model := get(strnn.NewModel(get(humanstrnn.Open())))
	world := arche.NewWorld()
	crowd := get(animsys.NewCrowd(&world, get(model.NewStream(strnn.StreamOptions{Capacity: 3})), options))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	rider := get(crowd.Spawn(m3.V(6, 1, 0), 0)) // the height chooses the floor
	over := get(animsys.SpawnWith(crowd, m3.V(0, 0, -8), 0, strnn.Steer{Speed: 1.2}))
	under := get(animsys.SpawnWith(crowd, m3.V(-6, 0, 0), math.Pi/2, strnn.Steer{Speed: 1.2}))
	for tick := range 7 * animsys.TickRate {
		was := platform.At
		platform.At.X = 6 + 2*m3.Sin(float32(tick)/60)
		platform.Moved = platform.At.Sub(was) // takes along who stands there
		if err := build(); err != nil {
			fmt.Println(err)
		}
		run(schedule, 1)
	}
	fmt.Println("on the platform:", crowd.Root(rider).Pos.Dist(platform.At.Flat()) < 1)
	fmt.Printf("hips at %.1f m and %.1f m\n", crowd.Bones(over)[0].Pos.Y, crowd.Bones(under)[0].Pos.Y)
	// Output:
	// on the platform: true
	// hips at 4.0 m and 1.0 m
}

// waving returns a made-up clip of two seconds. A game opens its artists' files: see Example_clipFile.
func waving(sk *skel.Skeleton) *skel.Clip {
	clip := skel.NewClip(sk, 30, 61)
	for f := range clip.Frames {
		pos, rot := clip.Frame(f)
		pos[0] = m3.V(0, 0.95, 0)
		swing := m3.Sin(2 * math.Pi * float32(f) / 20)
		rot[sk.Index("LeftArm")] = m3.AxisAngle(m3.V(0, 0, 1), -1.3)
		rot[sk.Index("RightArm")] = m3.AxisAngle(m3.V(0, 0, 1), -0.4)
		rot[sk.Index("RightForeArm")] = m3.AxisAngle(m3.V(0, 0, 1), -1.2+0.4*swing)
	}
	return clip
}

// A person walks round a circle and waves with the upper body. The game hears its steps, and a marker
// of the clip.
func Example_clips() {
	world := arche.NewWorld()
	networks := get(person.Open())
	people := get(animsys.NewCrowd(&world, get(networks.NewStream(manifold.StreamOptions{Capacity: 1})), animsys.Options{Ground: ik.Level(0)}))
	defer people.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	circle := get(control.Circle(5))
	at, ahead := circle.At(0)
	walker := get(animsys.SpawnWith(people, at, m3.YawOf(ahead), manifold.Curve{Path: circle, Speed: 1.4}))

	// When the game starts:
	wave := get(layer.New(people.Skel, waving(people.Skel), layer.ClipOptions{
		Name: "wave", Markers: []layer.Marker{{Name: "hello", Time: 0.5}},
	}))
	upper := get(layer.UpperBody(people.Skel))

	run(schedule, 3*animsys.TickRate)
	if err := people.Play(walker, wave, layer.PlayOptions{Mask: upper}); err != nil {
		fmt.Println(err)
	}
	steps, highest := 0, float32(0)
	hand, head := people.Skel.Index("RightHand"), people.Skel.Index("Head")
	for range 4 * animsys.TickRate {
		run(schedule, 1)
		for _, e := range people.Events() {
			switch e.Kind {
			case animsys.FootDown:
				steps++ // play a sound at e.Pos, as loud as e.Speed says
			case animsys.ClipMarker:
				fmt.Println(e.Clip.Name(), "says", e.Marker)
			case animsys.ClipEnd:
				fmt.Println(e.Clip.Name(), "ends")
			}
		}
		bones := people.Bones(walker)
		highest = max(highest, bones[hand].Pos.Y-bones[head].Pos.Y)
	}
	fmt.Println("steps:", steps > 4, "hand above the head:", highest > 0)
	// Output:
	// wave says hello
	// wave ends
	// steps: true hand above the head: true
}

// A person walks by and touches a lamp with the right hand.
func Example_reach() {
	world := arche.NewWorld()
	networks := get(person.Open())
	people := get(animsys.NewCrowd(&world, get(networks.NewStream(manifold.StreamOptions{Capacity: 1})), animsys.Options{Ground: ik.Level(0)}))
	defer people.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	circle := get(control.Circle(20))
	at, ahead := circle.At(0)
	walker := get(animsys.SpawnWith(people, at, m3.YawOf(ahead), manifold.Curve{Path: circle, Speed: 1.2}))
	reaches := generic.NewMap1[ecs.Reach](&world)
	reaches.Add(walker)
	run(schedule, 3*animsys.TickRate)

	lamp := people.Root(walker).Apply(m3.V(-0.3, 1.4, 1.3)) // to the right; the person comes nearer
	if err := people.CanReach(walker, animsys.Right, lamp, 0.8); err != nil {
		fmt.Println(err) // too far, behind the back, or too soon for a hand
	}
	reaches.Get(walker).Right = ecs.Hand{Target: lamp, Weight: 1, Seconds: 0.8}
	for range animsys.TickRate {
		run(schedule, 1)
		for _, e := range people.Events() {
			switch e.Kind {
			case animsys.HandThere:
				fmt.Println("the hand is at the lamp:", e.Pos.Dist(lamp) < 0.02)
				*reaches.Get(walker) = ecs.Reach{} // and lets go
			case animsys.HandMissed:
				fmt.Println(e.Reason)
			}
		}
	}
	fmt.Println(people.CanReach(walker, animsys.Right, lamp, 0.8) != nil)
	// Output:
	// the hand is at the lamp: true
	// true
}

// A person puts a foot on a stool.
func Example_step() {
	world := arche.NewWorld()
	networks := get(person.Open())
	people := get(animsys.NewCrowd(&world, get(networks.NewStream(manifold.StreamOptions{Capacity: 1})), animsys.Options{Ground: ik.Level(0)}))
	defer people.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	guest := get(people.Spawn(m3.V(2, 0, 1), 0))
	steps := generic.NewMap1[ecs.Step](&world)
	steps.Add(guest)
	run(schedule, animsys.TickRate)

	stool := people.Root(guest).Apply(m3.V(-0.15, 0.3, 0.4)) // its top
	if err := people.CanStep(guest, animsys.Right, stool, 0.9); err != nil {
		fmt.Println(err) // too far, too high, in the ground, or too soon for a foot
	}
	steps.Get(guest).Right = ecs.Foot{Target: stool, Weight: 1, Seconds: 0.9, Lift: 0.06}
	for range animsys.TickRate {
		run(schedule, 1)
		for _, e := range people.Events() {
			if e.Kind == animsys.FootThere {
				fmt.Println("the foot is on the stool:", e.Pos.Dist(stool) < 0.05)
			}
		}
	}
	fmt.Println(people.CanStep(guest, animsys.Right, stool.Add(m3.V(0, 1, 0)), 0.9))
	// Output:
	// the foot is on the stool: true
	// animsys: the right foot: ik: the place is 1.27 m above the foot that stands, too high by 0.74 m
}

// A person sits down on a bench.
func Example_sit() {
	world := arche.NewWorld()
	networks := get(person.Open())
	people := get(animsys.NewCrowd(&world, get(networks.NewStream(manifold.StreamOptions{Capacity: 1})), animsys.Options{Ground: ik.Level(0)}))
	defer people.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	guest := get(people.Spawn(m3.V(0, 0, 0), 0))
	sitting := seated(people.Skel) // in a game: a clip of an artist's file
	bench := m3.V(0.3, 0, 1.1)
	run(schedule, animsys.TickRate)

	// When the game starts:
	inbetweener := get(get(keypose.NewModel(get(humankeypose.Open()))).NewInbetweener(keypose.InbetweenerOptions{}))
	defer inbetweener.Close()

	up := people.PoseOf(guest) // to get up again
	seat := animsys.PoseTarget{Seconds: 1.5}
	seat.At(sitting, 0, bench, 3.1) // on the ground below the seat, facing back
	if _, err := people.TakePose(guest, inbetweener, seat); err != nil {
		fmt.Println(err) // too far for the time
	}
	run(schedule, 2*animsys.TickRate)
	fmt.Println("on the bench:", people.Bones(guest)[0].Pos.Flat().Dist(bench) < 0.05)

	up.Seconds, up.Layer = 1.5, 1
	if _, err := people.TakePose(guest, inbetweener, up); err != nil {
		fmt.Println(err)
	}
	run(schedule, 2*animsys.TickRate)
	err := errors.Join(people.Stop(guest, 0, 0.3), people.Stop(guest, 1, 0.3)) // it stands, and can walk on
	run(schedule, animsys.TickRate)
	hips := people.Bones(guest)[0].Pos
	fmt.Println("standing:", hips.Y > 0.85, "in front of the bench:", hips.Flat().Dist(bench) > 0.5, err)
	// Output:
	// on the bench: true
	// standing: true in front of the bench: true <nil>
}

// An artist's file becomes a clip of the crowd when the game starts, whatever its skeleton.
func Example_clipFile() {
	open := func(people *animsys.Crowd, file, animation string) (*layer.Clip, error) {
		var opt retarget.OpenOptions
		opt.Target, opt.Animation = people.Skel, animation // of a glTF with several
		clip, _, err := retarget.Open(file, opt)
		if err != nil {
			return nil, err
		}
		return layer.New(people.Skel, clip, layer.ClipOptions{Name: animation})
	}
	_, err := open(&animsys.Crowd{}, "actions.glb", "Wave")
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output: true
}
