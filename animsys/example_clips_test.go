package animsys_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/layer"
	"mannequin/animsys/manifold"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/models/person"
	"mannequin/offline/retarget"

	arche "github.com/mlange-42/arche/ecs"
)

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
