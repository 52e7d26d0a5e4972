package testmatching

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testnet"
	"mannequin/netruntime"
)

//go:embed testdata/person.character
var person []byte

// Learned returns small networks that have learned what People plays. TestLearned trains them.
func Learned(t testing.TB) *matching.Learned {
	t.Helper()
	return must.Get(learned())(t)
}

var learned = sync.OnceValues(func() (*matching.Learned, error) {
	f, err := matching.DecodeFile(person)
	if err != nil {
		return nil, err
	}
	return f.Learned, nil
})

//go:embed testdata/adaptive.character
var adaptivePerson []byte

// Adaptive returns a small mode-adaptive network that has learned what People plays. TestAdaptive trains it.
func Adaptive(t testing.TB) *matching.Adaptive {
	t.Helper()
	return must.Get(adaptive())(t)
}

var adaptive = sync.OnceValues(func() (*matching.Adaptive, error) {
	f, err := matching.DecodeFile(adaptivePerson)
	if err != nil {
		return nil, err
	}
	return f.Adaptive, nil
})

// TinyAdaptive returns a network of two small random experts: an agent that falls, and is put back.
func TinyAdaptive(t testing.TB) *matching.Adaptive {
	t.Helper()
	const experts, hidden = 2, 3
	net := Adaptive(t).Model().Net
	rng := rand.New(rand.NewPCG(1, 2))
	tensors := net.Tensors()
	for i, v := range tensors {
		shape := v.Shape
		switch {
		case strings.HasPrefix(v.Name, "experts."):
			shape[0] = experts
			if !strings.HasPrefix(v.Name, "experts.2") {
				shape[1] = hidden
			}
			if n := len(shape); n == 3 && !strings.HasPrefix(v.Name, "experts.0") {
				shape[2] = hidden
			}
		case strings.HasPrefix(v.Name, "gating.2"):
			shape[0] = experts
		default:
			continue
		}
		tensors[i] = testnet.Random(rng, 0.1, v.Name, shape...)
	}
	model := must.Get(mann.NewModel(must.Get(netruntime.New(net.Meta(), tensors))(t)))(t)
	return must.Get(matching.NewAdaptive(People(t), model))(t)
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
	n := matching.Networks{Still: rot, Rest: append(d.AppendFeatures(nil, d.Rest()), make([]float32, latent)...),
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
		return must.Get(matching.NewNetwork("untrained", tensors))(t)
	}
	ahead := make([]float32, size+3)
	ahead[size+1] = 0.02
	n.Decompressor = net([]int{size, hidden, len(pose)}, pose, 0.02)
	n.Stepper = net([]int{size, hidden, hidden, size + 3}, ahead, 0.002)
	n.Projector = net([]int{cols + len(d.Tags), hidden, hidden, hidden, size}, n.Rest, 0.5)
	return must.Get(matching.NewLearned(d, n))(t)
}
