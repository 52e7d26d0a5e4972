package metrics

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// slider is a network whose weights are all zero: whatever it is asked for, it
// predicts one stiff pose, 1 m/s ahead. Its front paws are on the ground, its
// back paws 5 cm above.
func slider(t *testing.T) *mann.Model {
	t.Helper()
	m := feature.Dog()
	sk := &skel.Skeleton{
		Names: m.Joints, Parents: []int16{-1, 0, 1, 2, 3, 4, 2, 6, 7, 8, 9, 2, 11, 12, 13, 14, 0, 16, 17, 18, 0, 20, 21, 22, 0, 24, 25},
		Offsets: make([]m3.Vec3, len(m.Joints)), EndSite: make([]bool, len(m.Joints)),
	}
	for j, name := range sk.Names {
		sk.EndSite[j] = strings.HasSuffix(name, "Site")
		switch {
		case strings.HasSuffix(name, "HandSite"):
			sk.Offsets[j].Y = -0.5
		case strings.HasSuffix(name, "FootSite"):
			sk.Offsets[j].Y = -0.45
		case j > 0:
			sk.Offsets[j].Z = 0.01
		}
	}
	model, pos, rot := make([]m3.Xform, sk.Len()), slices.Clone(sk.Offsets), make([]m3.Quat, sk.Len())
	pos[0].Y = 0.5
	for j := range rot {
		rot[j] = m3.Ident
	}
	sk.LocalToModel(model, pos, rot)
	rest := make([]float32, len(m.Joints)*feature.BoneChannels)
	y := make([]float32, m.Outputs())
	for j, x := range model {
		// A bone goes 1/60 m a frame, so it is that far ahead of the old root.
		copy(rest[j*feature.BoneChannels:], []float32{x.Pos.X, x.Pos.Y, x.Pos.Z, 0, 0, 1, 0, 1, 0, 0, 0, 1})
		copy(y[m.OutBone(j):], []float32{x.Pos.X, x.Pos.Y, x.Pos.Z + 1./60, 0, 0, 1, 0, 1, 0, 0, 0, 1})
	}
	for s := range feature.TrajFuture {
		copy(y[m.OutSample(s):], []float32{0, 0.2 * float32(s), 0, 1, 0, 1})
	}
	y[m.OutRoot()+feature.RootZ] = 1
	in, out, g := m.Inputs(), m.Outputs(), len(m.Gating())
	zeros := func(name string, shape ...int) netruntime.Tensor {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return netruntime.Tensor{Name: name, Shape: shape, Data: make([]float32, n)}
	}
	ones := func(name string, n int) netruntime.Tensor {
		return netruntime.Tensor{Name: name, Shape: []int{n}, Data: slices.Repeat([]float32{1}, n)}
	}
	const k, h, gh = 2, 4, 4
	meta := netruntime.Meta{Name: "slider", Arch: "mann"}
	if err := mann.Describe(&meta, m, sk, rest); err != nil {
		t.Fatal(err)
	}
	net, err := netruntime.New(meta, []netruntime.Tensor{
		zeros("x_mean", in), ones("x_std", in), {Name: "y_mean", Shape: []int{out}, Data: y}, ones("y_std", out),
		zeros("gating.0.weight", gh, g), zeros("gating.0.bias", gh), zeros("gating.1.weight", gh, gh), zeros("gating.1.bias", gh),
		zeros("gating.2.weight", k, gh), zeros("gating.2.bias", k),
		zeros("experts.0.weight", k, h, in), zeros("experts.0.bias", k, h), zeros("experts.1.weight", k, h, h), zeros("experts.1.bias", k, h),
		zeros("experts.2.weight", k, out, h), zeros("experts.2.bias", k, out),
	})
	if err != nil {
		t.Fatal(err)
	}
	model2, err := mann.NewModel(net)
	if err != nil {
		t.Fatal(err)
	}
	return model2
}

func TestGenerated(t *testing.T) {
	m := slider(t)
	s, err := m.Net.NewSession(netruntime.SessionOptions{Batch: 8, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	gaits := Gaits()
	got, err := Generated(m, s.Run, gaits, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range gaits {
		if want := len(g.Goals) * 119; got[i].Frames != want {
			t.Errorf("%s: %d frames, want %d", g.Name, got[i].Frames, want)
		}
		// At 1 m/s all paws go 100/60 cm a frame; the front ones count in full,
		// the back ones not at all. (Idle's last trace slows the root a little.)
		close(t, g.Name+" skate", got[i].Skate, 100./60/2, 0.02)
		close(t, g.Name+" back skate", got[i].BackSkate, 0, 1e-6)
		close(t, g.Name+" speed", got[i].Speed, 1, 0.02)
		close(t, g.Name+" stiffness", got[i].Stiffness, 0, 0.02)
	}
}

// The slider leaves every path along its first tangent: on the circle of 1.5 m
// its distance after t metres is √(1.5² + t²) − 1.5, its angle atan(t / 1.5).
func TestFollowing(t *testing.T) {
	m := slider(t)
	s, err := m.Net.NewSession(netruntime.SessionOptions{Batch: 8, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := Following(m, s.Run, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	const n, r = 1000, 1.5
	var dist, angle float64
	for i := range n {
		way := 2 * (float64(i) + 0.5) / n
		dist += 100 * (math.Hypot(r, way) - r) / n
		angle += math.Atan2(way, r) * 180 / math.Pi / n
	}
	if got[0].Path != "circle" {
		t.Fatal(got[0])
	}
	// The root starts from rest, so it is a little behind.
	close(t, "circle distance", got[0].DistanceCM, dist, 0.15*dist)
	close(t, "circle angle", got[0].AngleDeg, angle, 0.15*angle)
}

func TestGenerateReportsNaN(t *testing.T) {
	m := slider(t)
	_, err := Generate(m, func(y, x []float32, rows int) error {
		for i := range y {
			y[i] = float32(math.NaN())
		}
		return nil
	}, Gaits()[0].Goals, 0, 0, 10)
	if err == nil || !strings.Contains(err.Error(), "frame 0") {
		t.Errorf("error %v", err)
	}
}
