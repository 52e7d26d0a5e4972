// Command park fills dunes, a ground of its own, with 20 dogs and 20 people. It steers one
// of the dogs, which runs after a person, who waves: a clip plays on the arms.
package main

import (
	"fmt"
	"log"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/layer"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	dogfree "mannequin/models/dog-free"
	"mannequin/models/person"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// dunes is an ik.Ground: waves one metre high and 25 m long.
type dunes struct{}

func (dunes) Height(x, z float32) float32 { return 0.5 * m3.Sin(x/4) * m3.Cos(z/4) }

func (dunes) Normal(x, z float32) m3.Vec3 {
	slopeX, slopeZ := m3.Cos(x/4)*m3.Cos(z/4)/8, -m3.Sin(x/4)*m3.Sin(z/4)/8
	return m3.V(-slopeX, 1, -slopeZ).Normalize(m3.Up)
}

func main() {
	world := arche.NewWorld()
	model, networks := must(mann.NewModel(must(dogfree.Open()))), must(person.Open())
	controller := must(model.NewController(mann.ControllerOptions{Capacity: 20}))
	stream := must(networks.NewStream(manifold.StreamOptions{Capacity: 20}))
	dogs := must(animsys.NewCrowd(&world, controller, animsys.Options{Ground: dunes{}}))
	defer dogs.Close()
	people := must(animsys.NewCrowd(&world, stream, animsys.Options{Ground: dunes{}}))
	defer people.Close()
	schedule := must(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))

	var dog, runner arche.Entity // the last of each
	for i := range 20 {
		lane := must(control.Circle(5 + float32(i)))
		at, ahead := lane.At(0)
		runner = must(animsys.SpawnWith(people, at, m3.YawOf(ahead), manifold.Curve{Path: lane, Speed: 1.4}))
		at, ahead = lane.At(lane.Length() / 4)
		dog = must(animsys.SpawnWith(dogs, at, m3.YawOf(ahead), control.Goal{Path: lane, Speed: control.TrotSpeed}))
	}
	arms := must(layer.Arms(people.Skel))
	hello := must(layer.New(people.Skel, wave(people.Skel), layer.ClipOptions{Name: "hello"}))
	if err := people.Play(runner, hello, layer.PlayOptions{Mask: arms, Loop: true}); err != nil {
		log.Fatal(err)
	}
	goals, nose := generic.NewMap1[control.Goal](&world), dogs.Skel.Index("HeadSite")

	for tick := range 900 { // in a game: 60 times a second
		at := dogs.Root(dog)
		to := people.Root(runner).Pos.Sub(at.Pos)
		*goals.Get(dog) = control.Goal{
			Move:  m3.V(0, 0, 1), // ahead
			Turn:  control.Steer(at.Rot.Yaw(), m3.YawOf(to)),
			Speed: m3.Clamp(to.Len()-1, 0, control.CanterSpeed),
		}
		if err := schedule.Step(); err != nil {
			log.Fatal(err)
		}
		if tick%180 == 179 {
			gap := dogs.Bones(dog)[nose].Pos.Dist(people.Bones(runner)[0].Pos) // joint 0 is the hips
			fmt.Printf("%2d s: the dog's nose is %.1f m from the person\n", (tick+1)/60, gap)
		}
	}
}

// wave returns a clip of a second. A game opens its artists' files: see docs/in-your-game.md.
func wave(sk *skel.Skeleton) *skel.Clip {
	clip := skel.NewClip(sk, 30, 30)
	for f := range clip.Frames {
		pos, rot := clip.Frame(f)
		pos[0].Y = 0.95 // the hips'
		rot[sk.Index("LeftArm")] = m3.AxisAngle(m3.V(0, 0, 1), -1.3)
		rot[sk.Index("RightForeArm")] = m3.AxisAngle(m3.V(0, 0, 1), -1.2+0.4*m3.Sin(4*math.Pi*float32(f)/30))
	}
	return clip
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
