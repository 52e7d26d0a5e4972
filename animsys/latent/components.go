package latent

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// KeyComponents is the extra metadata key of the components, as JSON.
const KeyComponents = "components"

// Components are directions of latent values, as many as there are values, in the
// order of what they are worth: c deviations along each of them from the mean.
// Over the recordings that a model was trained on each has mean 0 and deviation
// 1, and no two of them go together.
type Components struct {
	Names []string    `json:"names"` // of the traits that the first components stand for; the others have none
	Mean  []float32   `json:"mean"`  // (values)
	Steps [][]float32 `json:"steps"` // (values, values): how the latent values change with a deviation of each component

	inverse []float64 // (values, values): how components change with each latent value
}

// maxComponents bounds the latent values of a model file.
const maxComponents = 1024

// NewComponents returns the components with these steps from the mean. It is an
// error if they are not finite, or not as many independent directions as there are
// latent values.
func NewComponents(names []string, mean []float32, steps [][]float32) (*Components, error) {
	c := &Components{Names: names, Mean: mean, Steps: steps}
	n := len(mean)
	if n == 0 || n > maxComponents || len(steps) != n || len(names) > n {
		return nil, fmt.Errorf("%d components with %d names of %d latent values: want as many components as values, at most %d, and no more names", len(steps), len(names), n, maxComponents)
	}
	a := mat.NewDense(n, n, nil) // of columns: z = mean + a·c
	for k, s := range steps {
		if len(s) != n {
			return nil, fmt.Errorf("component %d has %d values, want %d", k, len(s), n)
		}
		for i, v := range s {
			if !finite(v) || !finite(mean[i]) {
				return nil, fmt.Errorf("component %d or the mean is not finite", k)
			}
			a.Set(i, k, float64(v))
		}
	}
	var inverse mat.Dense
	if err := inverse.Inverse(a); err != nil {
		return nil, errors.New("components are not independent directions")
	}
	for i := range n {
		c.inverse = append(c.inverse, inverse.RawRowView(i)...)
	}
	return c, nil
}

// Lead is the name of the component of which foot is ahead at a clip's start. In a
// chain it follows from how the clip before ends.
const Lead = "lead"

// Index returns which component has a name, or −1.
func (c *Components) Index(name string) int { return slices.Index(c.Names, name) }

// Steered tells of each component whether it is for a player, or a game, to set:
// those with a name are, but for the lead.
func (c *Components) Controllable() []bool {
	out := make([]bool, len(c.Mean))
	for k, name := range c.Names {
		out[k] = name != Lead
	}
	return out
}

func finite(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

func (c *Components) encode() (string, error) {
	b, err := json.Marshal(c)
	return string(b), err
}

// decodeComponents reads those of a model with so many latent values.
func decodeComponents(text string, values int) (*Components, error) {
	var c Components
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, fmt.Errorf("its metadata %q holds no components: %w", KeyComponents, err)
	}
	if len(c.Mean) != values {
		return nil, fmt.Errorf("its components are of %d latent values, its decoder takes %d", len(c.Mean), values)
	}
	return NewComponents(c.Names, c.Mean, c.Steps)
}

// ToLatent writes the latent values z of components, (values) each, which must not
// overlap. It panics where they are not of that length, as does FromLatent.
func (c *Components) ToLatent(z, components []float32) {
	c.check(z, components)
	copy(z, c.Mean)
	for k, by := range components {
		for i, v := range c.Steps[k] {
			z[i] += by * v
		}
	}
}

// FromLatent writes the components of latent values z, (values) each, which must
// not overlap.
func (c *Components) FromLatent(components, z []float32) {
	c.check(z, components)
	n := len(z)
	for k := range components {
		sum := 0.0
		for i, v := range c.inverse[k*n:][:n] {
			sum += v * float64(z[i]-c.Mean[i])
		}
		components[k] = float32(sum)
	}
}

func (c *Components) check(z, components []float32) {
	if len(z) != len(c.Mean) || len(components) != len(c.Mean) {
		panic(fmt.Sprintf("latent: %d latent values and %d components, want %d", len(z), len(components), len(c.Mean)))
	}
}
