package strnn

import (
	"encoding/json"
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/netruntime/vec"
)

// KeyGuide is the extra metadata key of a Guide, as JSON.
const KeyGuide = "guide"

// Guide maps frames seen and the wanted motion of the body to latent values: it replaces a
// Controller's search with one product. It is linear, with weights that depend on the phase in the
// stride and on the speed. It takes values in standard deviations, each within guideMost:
//
//   - the last frame, and the joint positions 3 and 8 frames before
//   - the wanted speed and turn in the first, the middle and the last frame to come
//   - the wanted phase in the first and the last of these: sine and cosine, scaled down for slow
//     stepping
//
// Model.TrainGuide trains one.
type Guide struct {
	Mean   []float32 `json:"mean"`   // (GuideInputs) of the inputs
	Scale  []float32 `json:"scale"`  // (GuideInputs) their deviations
	Bias   []float32 `json:"bias"`   // (Latent) latent values of the mean input
	Weight []float32 `json:"weight"` // (guideGates, GuideInputs, Latent): the weights of each gate
}

// guideGates is the number of weights of an input: a constant one, and those of the sine, the
// cosine and the speed of the first frame to come.
const guideGates = 4

// gates returns the gate values.
func (g *Guide) gates(inputs []float32) [guideGates]float32 {
	stride, speed := len(inputs)-2*2, len(inputs)-2*2-2*3
	return [guideGates]float32{1, inputs[stride], inputs[stride+1], g.value(speed, inputs)}
}

// guidePast are the offsets, in frames before the last, of the earlier joint positions.
var guidePast = [...]int{3, 8}

// guideMost bounds the inputs of a guide, in standard deviations.
const guideMost = 3

// GuideInputs returns the number of inputs of a guide for a layout.
func GuideInputs(l *feature.Motion) int { return l.Columns() + len(guidePast)*l.Body() + 2*3 + 2*2 }

// guideInput writes a guide's inputs, (GuideInputs), from frames seen, (Encode, columns), the
// wanted motion of the body, (Predict, feature.MotionLen), and the gait in its first and last
// frame.
func (m *Model) guideInput(dst, seen, want []float32, ends [2]gait) {
	cols, body := m.Layout.Columns(), m.Layout.Body()
	n := copy(dst, seen[(m.Encode-1)*cols:][:cols])
	for _, past := range guidePast {
		n += copy(dst[n:], seen[max(0, m.Encode-1-past)*cols:][:body])
	}
	for _, f := range [...]int{0, m.Predict / 2, m.Predict - 1} {
		v := want[f*feature.MotionLen:]
		dst[n], dst[n+1] = v[feature.MotionZ], v[feature.MotionYaw]
		n += 2
	}
	for _, g := range ends {
		sin, cos := math.Sincos(2 * math.Pi * float64(g.phase))
		much := min(1, g.effort()/guideSteps)
		dst[n], dst[n+1] = much*float32(sin), much*float32(cos)
		n += 2
	}
}

// guideSteps is the effort from which the phase counts in full.
const guideSteps = 0.5

// value returns input i in standard deviations.
func (g *Guide) value(i int, inputs []float32) float32 {
	return m3.Clamp((inputs[i]-g.Mean[i])/g.Scale[i], -guideMost, guideMost)
}

// run writes latent values z, (Latent), for a guide's inputs.
func (g *Guide) run(z, inputs []float32) {
	copy(z, g.Bias)
	for j, gate := range g.gates(inputs) {
		for i := range inputs {
			vec.Axpy(z, gate*g.value(i, inputs), g.Weight[(j*len(inputs)+i)*len(z):][:len(z)])
		}
	}
	for k, v := range z {
		z[k] = m3.Clamp(v, -latentMost, latentMost)
	}
}

// Encode returns the guide for a model file's metadata, under KeyGuide.
func (g *Guide) Encode() (string, error) {
	b, err := json.Marshal(g)
	return string(b), err
}

// readGuide reads the guide, if the file has one.
func (m *Model) readGuide(differ func(format string, args ...any)) {
	text, ok := m.Net.Meta().Extra[KeyGuide]
	if !ok {
		return
	}
	g := new(Guide)
	if err := json.Unmarshal([]byte(text), g); err != nil {
		differ("its metadata %q holds no guide: %v", KeyGuide, err)
		return
	}
	if err := m.checkGuide(g); err != nil {
		differ("its metadata %q: %v", KeyGuide, err)
		return
	}
	m.Guide = g
}

func (m *Model) checkGuide(g *Guide) error {
	n := GuideInputs(m.Layout)
	if len(g.Mean) != n || len(g.Scale) != n || len(g.Bias) != m.Latent || len(g.Weight) != guideGates*n*m.Latent {
		return fmt.Errorf("a guide of %d means, %d deviations, %d latent values and %d weights, want %d, %d, %d and %d",
			len(g.Mean), len(g.Scale), len(g.Bias), len(g.Weight), n, n, m.Latent, guideGates*n*m.Latent)
	}
	for _, v := range [][]float32{g.Mean, g.Scale, g.Bias, g.Weight} {
		if !feature.Within(v, maxValue) {
			return fmt.Errorf("a guide with values that are not finite, or not between −%d and %d", maxValue, maxValue)
		}
	}
	for i, v := range g.Scale {
		if !(v > 0) {
			return fmt.Errorf("a guide with a deviation of %g of value %d, want more than 0", v, i)
		}
	}
	return nil
}
