// Package testcli helps to test commands: it runs command lines and writes small motions and
// models.
package testcli

import (
	"math"
	"path/filepath"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/internal/testing/testnet"
	"mannequin/netruntime"
	"mannequin/offline/retarget"
)

// Dog writes a made-up dog's network and returns its path.
func Dog(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.safetensors")
	must.Do(t, atomicfile.Write(path, testdog.Net(t).Encode))
	return path
}

// Manifold writes the model file of a manifold and returns its path. Its hidden values are the
// normalised frames, a little smoothed, with positive and negative parts in separate channels. It
// encodes any slow motion.
func Manifold(t *testing.T) string {
	t.Helper()
	layout, sk := feature.Human(), retarget.Human()
	cols := layout.Columns()
	mean := make([]float32, cols)
	rest := make([]m3.Vec3, sk.Len())
	for j, p := range sk.Parents {
		if rest[j] = m3.V(0, 0.95, 0); p >= 0 {
			rest[j] = rest[p].Add(sk.Offsets[j])
		}
	}
	for i, name := range layout.Joints {
		p := rest[sk.Index(name)]
		copy(mean[layout.Pos(i):], []float32{p.X, p.Y, p.Z})
	}
	const width, sigma = 13, 2.0
	w := make([]float32, 2*cols*cols*width)
	for i := range cols {
		for k := range width {
			// Twice a sum of √2, halved by depooling, is 1.
			v := math.Sqrt2 / (sigma * math.Sqrt(2*math.Pi)) * math.Exp(-math.Pow(float64(k-width/2)/sigma, 2)/2)
			w[(i*cols+i)*width+k], w[((cols+i)*cols+i)*width+k] = float32(v), float32(-v)
		}
	}
	shared := map[string]string{"mean": "mean", "std": "std"}
	meta := netruntime.Meta{Name: "split", Arch: "graph", Graph: &netruntime.Graph{
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
	must.Do(t, manifold.Describe(&meta, layout, sk))
	net := must.Get(netruntime.New(meta, []netruntime.Tensor{
		{Name: "mean", Shape: []int{cols}, Data: mean}, testnet.Constant(0.2, "std", cols),
		{Name: "encoder.weight", Shape: []int{2 * cols, cols, width}, Data: w},
		testnet.Constant(0, "encoder.bias", 2*cols), testnet.Constant(0, "decoder.bias", cols),
	}))(t)
	path := filepath.Join(t.TempDir(), "split.safetensors")
	must.Do(t, atomicfile.Write(path, net.Encode))
	return path
}
