// Package testmatching makes databases for motion matching from motion that rules make: nothing in them is recorded.
package testmatching

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/offline/procgen"
	"mannequin/offline/procgen/human"
)

// People returns a database of a person who walks, runs and stands.
func People(t testing.TB) *matching.Database {
	t.Helper()
	return must.Get(people())(t)
}

var people = sync.OnceValues(func() (*matching.Database, error) {
	takes, _, err := human.Generate(human.Options{Actions: []string{human.Walk, human.Run, human.Stand}, Styles: []string{"neutral"}})
	if err != nil {
		return nil, err
	}
	var clips []matching.Clip
	for _, t := range takes {
		clips = append(clips, matching.Clip{Name: t.Name, Motion: t.Clip})
	}
	return matching.Build(takes[0].Clip.Skel, clips, matching.Options{})
})

// Dogs returns a database of a dog in all gaits and actions.
func Dogs(t testing.TB) *matching.Database {
	t.Helper()
	return must.Get(dogs())(t)
}

var dogs = sync.OnceValues(func() (*matching.Database, error) {
	takes, err := procgen.Generate(procgen.Options{Minutes: 5})
	if err != nil {
		return nil, err
	}
	var clips []matching.Clip
	var names []string
	for a := range control.NumActions {
		names = append(names, a.String())
	}
	for _, t := range takes {
		c := matching.Clip{Name: t.Name, Motion: t.Clip}
		for _, a := range t.Labels().Actions() {
			var tags matching.Tags
			if i := slices.Index(names, a); i >= 0 {
				tags = 1 << i
			}
			c.Tags = append(c.Tags, tags)
		}
		clips = append(clips, c)
	}
	return matching.Build(takes[0].Clip.Skel, clips, matching.Options{Tags: names})
})

// Own are the actions that Actors have of their own.
const (
	Crouch = "crouch" // stands and walks, low
	Roll   = "roll"   // once, a metre ahead
	Death  = "death"  // once, and stays down
)

// Actors returns the database of People with actions of its own.
func Actors(t testing.TB) *matching.Database {
	t.Helper()
	return must.Get(actors())(t)
}

var actors = sync.OnceValues(func() (*matching.Database, error) {
	takes, _, err := human.Generate(human.Options{Minutes: 1, Actions: []string{human.Walk, human.Run, human.Stand}, Styles: []string{"neutral"}})
	if err != nil {
		return nil, err
	}
	tags := []string{"idle", "move", Death, Crouch, Roll}
	tag := func(name string) []matching.Tags { return []matching.Tags{1 << slices.Index(tags, name)} }
	var clips []matching.Clip
	var stand *skel.Clip
	for _, t := range takes {
		if stand == nil && t.Action == human.Stand {
			stand = t.Clip
		}
		clips = append(clips, matching.Clip{Name: t.Name, Motion: t.Clip, Tags: tag("move")})
		if t.Action != human.Run {
			low := lowered(t.Clip, func(int) float32 { return 0.25 }, 0)
			clips = append(clips, matching.Clip{Name: t.Name + ", low", Motion: low, Tags: tag(Crouch)})
		}
	}
	const once = 50 // frames
	roll := lowered(stand.Section(0, once), func(f int) float32 { return 0.5 * m3.Sin(float32(f)*math.Pi/(once-1)) }, 1)
	death := lowered(stand.Section(0, once), func(f int) float32 { return 0.7 * float32(f) / (once - 1) }, 0)
	clips = append(clips, matching.Clip{Name: Roll, Motion: roll, Once: true, Tags: tag(Roll)},
		matching.Clip{Name: Death, Motion: death, Once: true, Holds: true, Tags: tag(Death)})
	return matching.Build(takes[0].Clip.Skel, clips, matching.Options{Tags: tags})
})

// lowered returns a clip whose hips are lower, and that goes some metres ahead besides.
func lowered(c *skel.Clip, by func(frame int) float32, ahead float32) *skel.Clip {
	out := *c
	out.Pos = slices.Clone(c.Pos)
	way := m3.YawQuat(c.Rot[0].Yaw()).Forward().Scale(ahead / float32(max(c.Frames-1, 1)))
	for f := range c.Frames {
		pos, _ := out.Frame(f)
		pos[0] = pos[0].Add(way.Scale(float32(f)))
		pos[0].Y -= by(f)
	}
	return &out
}

// Untrained returns networks of the size of shipped ones that have learned nothing: bodies that wobble about a standing
// pose, and go ahead.
func Untrained(t testing.TB, d *matching.Database, hidden int) *matching.Learned {
	t.Helper()
	const latent = 32
	cols, joints := d.Columns(), d.Skel.Len()
	size := cols + latent
	pos, rot := make([]m3.Vec3, joints), make([]m3.Quat, joints)
	d.Pose(d.Rest(), pos, rot)
	model := make([]m3.Xform, joints)
	d.Skel.LocalToModel(model, pos, rot)
	n := matching.Networks{Still: rot, Rest: append(slices.Clone(d.Feature(d.Rest())), make([]float32, latent)...),
		Least: slices.Repeat([]float32{-10}, size), Most: slices.Repeat([]float32{10}, size)}
	pose := []float32{pos[0].X, pos[0].Y, pos[0].Z}
	for j, x := range model {
		n.Turns = append(n.Turns, int32(j))
		a, b := x.Rot.Rotate(m3.V(1, 0, 0)), x.Rot.Rotate(m3.V(0, 1, 0))
		pose = append(pose, a.X, a.Y, a.Z, b.X, b.Y, b.Z)
	}
	zero, one := make([]float32, size+3), slices.Repeat([]float32{1}, size+3)
	random := rand.New(rand.NewPCG(1, 2))
	net := func(sizes []int, outMean []float32, spread float32) *netruntime.Net {
		in, out := sizes[0], sizes[len(sizes)-1]
		vector := func(name string, v []float32) netruntime.Tensor {
			return netruntime.Tensor{Name: name, Shape: []int{len(v)}, Data: v}
		}
		tensors := []netruntime.Tensor{vector("in.mean", zero[:in]), vector("in.std", one[:in]), vector("out.mean", outMean), vector("out.std", slices.Repeat([]float32{spread}, out))}
		for i := range len(sizes) - 1 {
			w := make([]float32, sizes[i]*sizes[i+1])
			for k := range w {
				w[k] = float32(random.NormFloat64()) / m3.Sqrt(float32(sizes[i]))
			}
			name := fmt.Sprintf("layer%d.", i+1)
			tensors = append(tensors, netruntime.Tensor{Name: name + "weight", Shape: []int{sizes[i+1], sizes[i]}, Data: w}, vector(name+"bias", make([]float32, sizes[i+1])))
		}
		return must.Get(matching.NewNetwork(tensors))(t)
	}
	ahead := make([]float32, size+3)
	ahead[size+1] = 0.02
	n.Decompressor = net([]int{size, hidden, len(pose)}, pose, 0.02)
	n.Stepper = net([]int{size, hidden, hidden, size + 3}, ahead, 0.002)
	n.Projector = net([]int{cols + len(d.Tags), hidden, hidden, hidden, size}, n.Rest, 0.5)
	return must.Get(matching.NewLearned(d, n))(t)
}
