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

// Guide tells the latent values with which somebody goes on as they are asked to, from
// the frames seen and the motion that their body shall have: what a Controller finds by a
// search, in one product. It is linear, and its weights depend on where in a stride they
// shall be and on how fast they shall go. It sees values in deviations, each within
// guideMost:
//
//   - the last frame, and the places of joints in those 3 and 8 frames before
//   - the speed ahead and the turn that the body shall have, in the first, the middle and
//     the last frame to come
//   - where in a stride they shall be in the first and in the last of these: sine and
//     cosine, less where they hardly step
//
// Model.TrainGuide learns one.
type Guide struct {
	Mean   []float32 `json:"mean"`   // (GuideInputs) of the values
	Scale  []float32 `json:"scale"`  // (GuideInputs) their deviations
	Bias   []float32 `json:"bias"`   // (Latent) the latent values of the mean
	Weight []float32 `json:"weight"` // (guideGates, GuideInputs, Latent): what each of gates is multiplied with
}

// guideGates is how many weights a guide has of each value: one that holds always, and
// those of the sine and the cosine and of the speed of the first frame to come.
const guideGates = 4

// gates returns by how much each of the weights counts.
func (g *Guide) gates(sees []float32) [guideGates]float32 {
	stride, speed := len(sees)-2*2, len(sees)-2*2-2*3
	return [guideGates]float32{1, sees[stride], sees[stride+1], g.value(speed, sees)}
}

// guidePast is how many frames before the last those are of which a guide sees where
// joints are.
var guidePast = [...]int{3, 8}

// guideMost bounds the values that a guide sees, in deviations.
const guideMost = 3

// GuideInputs is how many values a guide sees of frames of a layout.
func GuideInputs(l *feature.Motion) int {
	return l.Columns() + len(guidePast)*l.Body() + 2*3 + 2*2
}

// guideSees writes what a guide sees, (GuideInputs), of frames seen, (Encode, columns),
// of the motion that the body shall have, (Predict, feature.MotionLen), and of how somebody
// goes in its first and its last frame.
func (m *Model) guideSees(dst, seen, want []float32, ends [2]gait) {
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

// guideSteps is from which effort on the place in a stride counts in full.
const guideSteps = 0.5

// value returns value i in deviations.
func (g *Guide) value(i int, sees []float32) float32 {
	return m3.Clamp((sees[i]-g.Mean[i])/g.Scale[i], -guideMost, guideMost)
}

// run writes the latent values z, (Latent), for what a guide sees.
func (g *Guide) run(z, sees []float32) {
	copy(z, g.Bias)
	for j, gate := range g.gates(sees) {
		for i := range sees {
			vec.Axpy(z, gate*g.value(i, sees), g.Weight[(j*len(sees)+i)*len(z):][:len(z)])
		}
	}
	for k, v := range z {
		z[k] = m3.Clamp(v, -latentMost, latentMost)
	}
}

// Encode returns the guide as a model file's metadata hold it, with the key KeyGuide.
func (g *Guide) Encode() (string, error) {
	b, err := json.Marshal(g)
	return string(b), err
}

// readGuide reads the guide, where the file has one.
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
		return fmt.Errorf("a guide of %d means, %d deviations, %d latent values and %d weights, want %d, %d, %d and %d", len(g.Mean), len(g.Scale), len(g.Bias), len(g.Weight), n, n, m.Latent, guideGates*n*m.Latent)
	}
	for _, v := range [][]float32{g.Mean, g.Scale, g.Bias, g.Weight} {
		if !feature.Within(v, unfitMost) {
			return fmt.Errorf("a guide with values that are not finite, or not between −%d and %d", unfitMost, unfitMost)
		}
	}
	for i, v := range g.Scale {
		if !(v > 0) {
			return fmt.Errorf("a guide with a deviation of %g of value %d, want more than 0", v, i)
		}
	}
	return nil
}
