package manifold

import (
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models/human"
	humanfootstep "mannequin/models/human-footstep"
	humanlocomotion "mannequin/models/human-locomotion"
	"mannequin/netruntime"
)

// bones of a made-up person: the layout's joints plus pivots at the lower back, the neck and the
// shoulders.
var people = []struct {
	name, parent string
	offset       m3.Vec3
}{
	{"Hips", "", m3.Vec3{}},
	{"LeftUpLeg", "Hips", m3.V(0.09, -0.1, 0.04)}, {"LeftLeg", "LeftUpLeg", m3.V(0, -0.4, 0)}, {"LeftFoot", "LeftLeg", m3.V(0, -0.42, 0)}, {"LeftToeBase", "LeftFoot", m3.V(0, -0.03, 0.12)},
	{"RightUpLeg", "Hips", m3.V(-0.09, -0.1, 0.04)}, {"RightLeg", "RightUpLeg", m3.V(0, -0.4, 0)}, {"RightFoot", "RightLeg", m3.V(0, -0.42, 0)}, {"RightToeBase", "RightFoot", m3.V(0, -0.03, 0.12)},
	{"LowerBack", "Hips", m3.Vec3{}}, {"Spine", "LowerBack", m3.V(0, 0.12, -0.01)}, {"Spine1", "Spine", m3.V(0, 0.12, 0)},
	{"Neck", "Spine1", m3.Vec3{}}, {"Neck1", "Neck", m3.V(0, 0.09, 0.01)}, {"Head", "Neck1", m3.V(0, 0.09, -0.01)},
	{"LeftShoulder", "Spine1", m3.Vec3{}}, {"LeftArm", "LeftShoulder", m3.V(0.18, 0.06, 0)}, {"LeftForeArm", "LeftArm", m3.V(0.29, 0, 0)}, {"LeftHand", "LeftForeArm", m3.V(0.19, 0, 0)}, {"LeftHandIndex1", "LeftHand", m3.V(0.04, 0, 0)},
	{"RightShoulder", "Spine1", m3.Vec3{}}, {"RightArm", "RightShoulder", m3.V(-0.18, 0.06, 0)}, {"RightForeArm", "RightArm", m3.V(-0.29, 0, 0)}, {"RightHand", "RightForeArm", m3.V(-0.19, 0, 0)}, {"RightHandIndex1", "RightHand", m3.V(-0.04, 0, 0)},
}

func person() *skel.Skeleton {
	s := &skel.Skeleton{}
	for _, b := range people {
		s.Names = append(s.Names, b.name)
		s.Parents = append(s.Parents, int16(s.Index(b.parent)))
		s.Offsets = append(s.Offsets, b.offset)
		s.EndSite = append(s.EndSite, false)
	}
	return s
}

// made returns a model with smooth random filters of the given number of units and width in frames.
func made(t testing.TB, units, width int) *Model {
	layout, sk := feature.Human(), person()
	cols := layout.Columns()
	mean, std := make([]float32, cols), make([]float32, cols)
	rest := make([]m3.Vec3, sk.Len())
	for j, p := range sk.Parents {
		rest[j] = m3.V(0, 0.95, 0)
		if p >= 0 {
			rest[j] = rest[p].Add(sk.Offsets[j])
		}
	}
	for i := range std {
		std[i] = 0.13
	}
	for i, name := range layout.Joints {
		p := rest[sk.Index(name)]
		mean[layout.Pos(i)], mean[layout.Pos(i)+1], mean[layout.Pos(i)+2] = p.X, p.Y, p.Z
	}
	for k := range feature.MotionLen {
		std[layout.Body()+k] = 0.8
	}
	for i := range layout.Contacts {
		mean[layout.Contact(i)], std[layout.Contact(i)] = 0.5, 0.5
	}
	rng := rand.New(rand.NewPCG(1, uint64(units)))
	w := make([]float32, units*cols*width)
	for o := range units {
		for i := range cols {
			a, p := rng.NormFloat64(), 6*rng.Float64()
			for k := range width {
				x := float64(k-width/2) / float64(width)
				w[(o*cols+i)*width+k] = float32(a * math.Cos(6*x+p) * math.Exp(-8*x*x) / math.Sqrt(float64(units)))
			}
		}
	}
	bias := make([]float32, units)
	for i := range bias {
		bias[i] = float32(0.3 * rng.NormFloat64())
	}
	shared := map[string]string{"mean": "mean", "std": "std"}
	meta := netruntime.Meta{Name: "made", Arch: "graph", Graph: &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: cols}},
		Nodes: []netruntime.Node{
			{Name: "normalised", Op: netruntime.OpNormalize, In: []string{"x"}, Tensors: shared},
			{Name: "encoder", Op: netruntime.OpConv, In: []string{"normalised"}, Act: "relu"},
			{Name: "hidden", Op: netruntime.OpMaxPool, In: []string{"encoder"}},
			{Name: "spread", Op: netruntime.OpDepool, In: []string{"hidden"}},
			{Name: "decoder", Op: netruntime.OpConv, In: []string{"spread"}, Tied: true, Flip: true, Tensors: map[string]string{"weight": "encoder.weight"}},
			{Name: "y", Op: netruntime.OpDenormalize, In: []string{"decoder"}, Tensors: shared},
		},
		Outputs: []string{"y"},
	}}
	must.Do(t, Describe(&meta, layout, sk))
	net, err := netruntime.New(meta, []netruntime.Tensor{
		{Name: "mean", Shape: []int{cols}, Data: mean}, {Name: "std", Shape: []int{cols}, Data: std},
		{Name: "encoder.weight", Shape: []int{units, cols, width}, Data: w},
		{Name: "encoder.bias", Shape: []int{units}, Data: bias},
		{Name: "decoder.bias", Shape: []int{cols}, Data: make([]float32, cols)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return must.Get(NewModel(net))(t)
}

// stray returns motions decoded from random hidden values, (batch, length, columns).
func (m *Model) stray(t testing.TB, batch, length int, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(2, seed))
	h := make([]float32, batch*length/2*m.Units)
	for i := range h {
		h[i] = float32(0.5 * rng.Float64())
	}
	y := make([]float32, batch*length*m.Layout.Columns())
	m.decode(t, y, h, batch, length)
	return y
}

func (m *Model) decode(t testing.TB, y, h []float32, batch, length int) {
	s := must.Get(m.Decoder.NewSession(netruntime.SessionOptions{Batch: batch, Length: length / 2, Workers: 1}))(t)
	defer s.Close()
	must.Do(t, s.RunSequences([][]float32{y}, [][]float32{h}, batch, length/2))
}

// shipped returns the shipped networks of people.
func shipped(t testing.TB) (base, steps, motion *netruntime.Net) {
	t.Helper()
	for _, n := range []struct {
		net  **netruntime.Net
		open func() (*netruntime.Net, error)
	}{{&base, human.Open}, {&steps, humanfootstep.Open}, {&motion, humanlocomotion.Open}} {
		var err error
		if *n.net, err = n.open(); err != nil {
			t.Fatal(err)
		}
	}
	return base, steps, motion
}
