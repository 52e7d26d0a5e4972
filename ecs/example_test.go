package ecs_test

import (
	"fmt"
	"log"
	"math"
	"slices"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/models/person"
	stylesfree "mannequin/models/styles-free"
	stylesgram "mannequin/models/styles-gram"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// get returns v, and ends the example on an error.
func get[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// run steps the schedule.
func run(s *ecs.Schedule, ticks int) {
	for range ticks {
		if err := s.Step(); err != nil {
			log.Fatal(err)
		}
	}
}

// newPeople returns a crowd of people on level ground, and the schedule of its world.
func newPeople(world *arche.World, s manifold.StreamOptions, o animsys.Options) (*animsys.Crowd, *ecs.Schedule) {
	s.Capacity, o.Ground = 4, ik.Level(0)
	stream := get(get(person.Open()).NewStream(s))
	crowd := get(animsys.NewCrowd(world, stream, o))
	return crowd, get(ecs.NewSchedule(world, 1.0/animsys.TickRate, animsys.Systems()...))
}

// walkers returns two people who walk side by side on a circle.
func walkers(crowd *animsys.Crowd) (one, other arche.Entity) {
	walk := manifold.Curve{Path: get(control.Circle(5)), Speed: 1}
	return get(animsys.SpawnWith(crowd, m3.V(0, 0, 5), 0, walk)), get(animsys.SpawnWith(crowd, m3.V(0, 0, 5), 0, walk))
}

// When an entity leaves, the last row's entity takes its row over. The caller moves the data along.
func ExampleRows() {
	world := arche.NewWorld()
	rows := ecs.NewRows(&world, 3)
	names := make([]string, 3)
	var dogs []arche.Entity
	for _, name := range []string{"Ajax", "Bello", "Cora"} {
		e := world.NewEntity()
		names[get(rows.Add(e))] = name
		dogs = append(dogs, e)
	}
	row, last, err := rows.Remove(dogs[0])
	if err != nil {
		log.Fatal(err)
	}
	names[row] = names[last]
	world.RemoveEntity(dogs[0])
	fmt.Println(names[:rows.Len()])
	// Output: [Cora Bello]
}

// herd is a game's own system: it has every entity with a goal trot.
type herd struct{ goals generic.Filter1[control.Goal] }

// Initialize makes the filter.
func (h *herd) Initialize(*arche.World) { h.goals = *generic.NewFilter1[control.Goal]() }

// Update sets the goals of this tick.
func (h *herd) Update(w *arche.World) {
	for q := h.goals.Query(w); q.Next(); {
		*q.Get() = control.Goal{Move: m3.V(0, 0, 1), Speed: control.TrotSpeed}
	}
}

// Finalize does nothing.
func (h *herd) Finalize(*arche.World) {}

// A schedule runs a game's own systems in the order given: those that control agents come
// before animsys.Systems, and those that read poses after them.
func ExampleNewSchedule() {
	world := arche.NewWorld()
	goals := generic.NewMap1[control.Goal](&world)
	dog := goals.New()
	schedule := get(ecs.NewSchedule(&world, 1.0/60, &herd{}))
	defer schedule.Close()
	run(schedule, 60)
	fmt.Println(goals.Get(dog).Speed)
	// Output: 1.98
}

// A person walks half old and half depressed. The crowd's options have the styles; the
// component can come, change and go between ticks.
func ExampleMARStyle() {
	styles := get(stylesfree.Open())
	world := arche.NewWorld()
	crowd, schedule := newPeople(&world, manifold.StreamOptions{}, animsys.Options{Styles: styles, Known: styles.InStyle("neutral")})
	defer crowd.Close()

	plain, styled := walkers(crowd)
	component := generic.NewMap1[ecs.MARStyle](&world)
	component.Add(styled)
	weights := &component.Get(styled).Weights
	weights[slices.Index(styles.Styles, "old")] = 0.5
	weights[slices.Index(styles.Styles, "depressed")] = 0.5
	run(schedule, 180)

	head := crowd.Skel.Index("Head")
	fmt.Println(styles.Styles)
	fmt.Println("stooped:", crowd.Bones(styled)[head].Pos.Y < crowd.Bones(plain)[head].Pos.Y-0.05)
	// Output:
	// [angry childlike cold depressed drunk hurried limping neutral old proud sexy stooped strutting]
	// stooped: true
}

// A person walks stooped. The generator's options have the styles.
func ExampleGramStyle() {
	styles := get(get(stylesgram.Open()).For(get(person.Open()).Model))
	world := arche.NewWorld()
	crowd, schedule := newPeople(&world, manifold.StreamOptions{Styles: styles}, animsys.Options{})
	defer crowd.Close()

	plain, styled := walkers(crowd)
	stooped := slices.IndexFunc(styles, func(s *manifold.StyleTransfer) bool { return s.Name == "stooped" })
	component := generic.NewMap1[ecs.GramStyle](&world)
	component.Assign(styled, &ecs.GramStyle{Style: stooped, Weight: 1})
	run(schedule, 240)

	head := crowd.Skel.Index("Head")
	fmt.Println("stooped:", crowd.Bones(styled)[head].Pos.Y < crowd.Bones(plain)[head].Pos.Y-0.03)
	// Output: stooped: true
}

// A person looks at a bird while it flies by.
func ExampleLookAt() {
	world := arche.NewWorld()
	crowd, schedule := newPeople(&world, manifold.StreamOptions{}, animsys.Options{})
	defer crowd.Close()

	person := get(crowd.Spawn(m3.V(0, 0, 0), 0))
	looks := generic.NewMap1[ecs.LookAt](&world)
	looks.Add(person)
	head := crowd.Skel.Index("Head")
	for _, x := range []float32{3, -3} {
		*looks.Get(person) = ecs.LookAt{Target: m3.V(x, 2, 3), Weight: 1}
		run(schedule, 90)
		ahead := crowd.Bones(person)[head].Rot.Forward()
		fmt.Printf("the head is turned by %.0f°\n", m3.YawOf(ahead)*180/math.Pi) // positive is to the left
	}
	// Output:
	// the head is turned by 45°
	// the head is turned by -45°
}

// A person reaches for a handle with the left hand.
func ExampleReach() {
	world := arche.NewWorld()
	crowd, schedule := newPeople(&world, manifold.StreamOptions{}, animsys.Options{})
	defer crowd.Close()

	person := get(crowd.Spawn(m3.V(0, 0, 0), 0))
	handle := m3.V(0.2, 1.2, 0.4)
	reaches := generic.NewMap1[ecs.Reach](&world)
	reaches.Assign(person, &ecs.Reach{Left: ecs.Hand{Target: handle, Weight: 1}})
	run(schedule, 120)
	knuckles := crowd.Bones(person)[crowd.Skel.Index("LeftHandIndex1")].Pos
	fmt.Println("the hand is there:", knuckles.Dist(handle) < 0.01)
	// Output: the hand is there: true
}
