package authors

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"mannequin/internal/boundedfile"
	"mannequin/netruntime"
)

// The frames of Holden et al. 2016, as released. A frame has HoldenFeatures columns: x, y, z of
// HoldenJoints joints in the body's frame, of which joint 0 is the ground reference and always
// zero; the body's velocities x, z and its yaw rate, per frame at 60 Hz; contacts, 0 or 1, of left
// heel, left toe, right heel and right toe.
const (
	HoldenJoints   = 22
	HoldenFeatures = 3*HoldenJoints + 3 + 4
	HoldenUnit     = 0.05644 // metres in a unit of the positions, which are CMU's
)

const (
	holdenVelocity = 3 * HoldenJoints // first column
	holdenHidden   = 256
	holdenWidth    = 25 // frames that the autoencoder's convolutions see

	// Columns, hidden channels and frames of the footstep network.
	stepsIn, stepsHidden, stepsOut    = 3, 64, 5
	stepsInputWidth, stepsOutputWidth = 65, 45
)

// Holden is the networks that the authors of "A Deep Learning Framework for Character Motion
// Synthesis and Editing" (Holden et al. 2016) released.
type Holden struct {
	// Autoencoder maps raw frames x (T, 73) to hidden (T/2, 256) and back to raw frames y (T, 73),
	// for even T. y_norm is y before it is denormalised. The decoder has weights of its own. It
	// takes half of a hidden frame for each of two frames; in training, a random one of the two had
	// all of it. Part makes its parts, such as from x to hidden.
	Autoencoder *netruntime.Net
	// Footsteps maps the body's velocities x (T, 3), raw as in a frame, to y (T, 5). The first
	// output is the angle in radians by which the phase of stepping advances each frame, π at every
	// contact that begins or ends. Then follows for each contact the angle πr/(1+r) for the ratio r
	// of frames with and without it.
	Footsteps *netruntime.Net
}

// ReadHolden returns the networks in dir: network_core.npz, preprocess_core.npz,
// network_footstepper.npz and preprocess_footstepper.npz, as released. Convolutions are true ones,
// with the kernel reversed in time. The weights are for research only: never ship them, converted
// or not.
//
// All shapes are known, and nothing is allocated for sizes that a file states. The error names file
// and array, with its shape and the expected one.
func ReadHolden(dir string) (*Holden, error) {
	const license, by = "research only: never ship", "Holden et al., 2016"
	flip := func(name, in, act string) netruntime.Node {
		return netruntime.Node{Name: name, Op: netruntime.OpConv, In: []string{in}, Act: act, Flip: true}
	}
	statistics := func(name, op, in, of string) netruntime.Node {
		return netruntime.Node{Name: name, Op: op, In: []string{in}, Tensors: map[string]string{"mean": of + "_mean", "std": of + "_std"}}
	}

	core, err := readTensors(dir, []source{
		{"network_core.npz", "L000_L001_W", "encoder.weight", []int{holdenHidden, HoldenFeatures, holdenWidth}},
		{"network_core.npz", "L000_L002_b", "encoder.bias", []int{holdenHidden, 1}},
		{"network_core.npz", "L001_L002_W", "y_norm.weight", []int{HoldenFeatures, holdenHidden, holdenWidth}},
		{"network_core.npz", "L001_L003_b", "y_norm.bias", []int{HoldenFeatures, 1}},
		{"preprocess_core.npz", "Xmean", "x_mean", []int{1, HoldenFeatures, 1}},
		{"preprocess_core.npz", "Xstd", "x_std", []int{1, HoldenFeatures, 1}},
	})
	if err != nil {
		return nil, err
	}
	steps, err := readTensors(dir, []source{
		{"network_footstepper.npz", "L001_W", "hidden.weight", []int{stepsHidden, stepsIn, stepsInputWidth}},
		{"network_footstepper.npz", "L002_b", "hidden.bias", []int{stepsHidden, 1}},
		{"network_footstepper.npz", "L005_W", "y_norm.weight", []int{stepsOut, stepsHidden, stepsOutputWidth}},
		{"network_footstepper.npz", "L006_b", "y_norm.bias", []int{stepsOut, 1}},
		{"preprocess_footstepper.npz", "Wmean", "y_mean", []int{1, stepsOut, 1}},
		{"preprocess_footstepper.npz", "Wstd", "y_std", []int{1, stepsOut, 1}},
	})
	if err != nil {
		return nil, err
	}
	// It reads velocities, normalised as for the autoencoder.
	for _, t := range core[len(core)-2:] {
		steps = append(steps, netruntime.Tensor{Name: t.Name, Shape: []int{stepsIn}, Data: t.Data[holdenVelocity:][:stepsIn]})
	}

	var h Holden
	h.Autoencoder, err = netruntime.New(netruntime.Meta{
		Name: "holden-2016-autoencoder", Arch: "graph", Data: "the authors' collection of human motion", License: license, CreatedBy: by,
		Graph: &netruntime.Graph{
			Inputs: []netruntime.Input{{Name: "x", Channels: HoldenFeatures}},
			Nodes: []netruntime.Node{
				statistics("x_norm", netruntime.OpNormalize, "x", "x"),
				flip("encoder", "x_norm", "relu"),
				{Name: "hidden", Op: netruntime.OpMaxPool, In: []string{"encoder"}},
				{Name: "depooled", Op: netruntime.OpDepool, In: []string{"hidden"}},
				flip("y_norm", "depooled", ""),
				statistics("y", netruntime.OpDenormalize, "y_norm", "x"),
			},
			Outputs: []string{"y"},
		},
	}, core)
	if err != nil {
		return nil, fmt.Errorf("%s: the autoencoder: %w", dir, err)
	}
	h.Footsteps, err = netruntime.New(netruntime.Meta{
		Name: "holden-2016-footsteps", Arch: "graph", Data: "the authors' collection of human motion", License: license, CreatedBy: by,
		Graph: &netruntime.Graph{
			Inputs: []netruntime.Input{{Name: "x", Channels: stepsIn}},
			Nodes: []netruntime.Node{
				statistics("x_norm", netruntime.OpNormalize, "x", "x"),
				flip("hidden", "x_norm", "relu"),
				flip("y_norm", "hidden", ""),
				statistics("y", netruntime.OpDenormalize, "y_norm", "y"),
			},
			Outputs: []string{"y"},
		},
	}, steps)
	if err != nil {
		return nil, fmt.Errorf("%s: the footstep network: %w", dir, err)
	}
	return &h, nil
}

// HoldenClip is an input of the autoencoder with the expected output.
type HoldenClip struct {
	Name     string
	Frames   int       // even
	Features []float32 // (Frames, HoldenFeatures), raw
	Recon    []float32 // (Frames, HoldenFeatures), normalised: the autoencoder's y_norm
}

// maxClip is the most bytes of a file of frames.
const maxClip = 64 << 20

// ReadHoldenGolden returns the clips in dir's folder golden, sorted by name. NAME.features.f32 has
// float32 values (T, 73), and NAME.recon_normalised.f32 the result by channels (73, T). T must be
// even, because the autoencoder halves it. The error names the file.
func ReadHoldenGolden(dir string) ([]HoldenClip, error) {
	const features, recon = ".features.f32", ".recon_normalised.f32"
	dir = filepath.Join(dir, "golden")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var clips []HoldenClip
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), features)
		if !ok {
			continue
		}
		c := HoldenClip{Name: name}
		if c.Features, c.Frames, err = readFrames(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
		path := filepath.Join(dir, name+recon)
		byChannel, frames, err := readFrames(path)
		if err != nil {
			return nil, err
		}
		if frames != c.Frames {
			return nil, fmt.Errorf("%s: %d frames, but %s has %d", path, frames, e.Name(), c.Frames)
		}
		c.Recon = make([]float32, len(byChannel))
		for i, v := range byChannel {
			c.Recon[i%frames*HoldenFeatures+i/frames] = v
		}
		clips = append(clips, c)
	}
	if len(clips) == 0 {
		return nil, fmt.Errorf("%s: no file *%s", dir, features)
	}
	return clips, nil
}

func readFrames(path string) (values []float32, frames int, err error) {
	b, err := boundedfile.Read(path, maxClip)
	if err != nil {
		return nil, 0, err
	}
	return decodeFrames(path, b)
}

// decodeFrames reads little-endian float32, HoldenFeatures for each of an even number of frames,
// from the bytes of the file at path.
func decodeFrames(path string, b []byte) (values []float32, frames int, err error) {
	frames = len(b) / (4 * HoldenFeatures)
	if len(b) == 0 || len(b)%(4*HoldenFeatures) != 0 {
		return nil, 0, fmt.Errorf("%s: %d bytes, want %d for each frame", path, len(b), 4*HoldenFeatures)
	}
	if frames%2 != 0 {
		return nil, 0, fmt.Errorf("%s: %d frames, want an even number", path, frames)
	}
	values = make([]float32, len(b)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		if v := values[i]; v-v != 0 {
			return nil, 0, fmt.Errorf("%s: value %d is %v", path, i, v)
		}
	}
	return values, frames, nil
}
