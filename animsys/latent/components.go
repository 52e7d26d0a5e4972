package latent

import (
	"encoding/json"
	"errors"
	"fmt"
	"mannequin/engine/m3"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// KeyComponents is the extra metadata key of the components, as JSON.
const KeyComponents = "components"

// Components are directions in the space of latent values, as many as there are values, most
// important first. A component is in standard deviations from the mean: over the training data each
// has mean 0 and deviation 1, and they are uncorrelated.
type Components struct {
	Names []string    `json:"names"` // traits of the first components; the others have no name
	Mean  []float32   `json:"mean"`  // (values)
	Steps [][]float32 `json:"steps"` // (values, values): change of the latent values for one deviation of each component

	inverse []float64 // (values, values): change of the components for each latent value
}

// maxComponents bounds the latent values of a model file.
const maxComponents = 1024

// NewComponents returns components with these steps from the mean. It fails if they are not finite,
// or not as many independent directions as latent values.
func NewComponents(names []string, mean []float32, steps [][]float32) (*Components, error) {
	c := &Components{Names: names, Mean: mean, Steps: steps}
	n := len(mean)
	if n == 0 || n > maxComponents || len(steps) != n || len(names) > n {
		return nil, fmt.Errorf("%d components with %d names of %d latent values: want as many components as values, at most %d, and no more names",
			len(steps), len(names), n, maxComponents)
	}
	a := mat.NewDense(n, n, nil) // column k: z = mean + a·c
	for k, s := range steps {
		if len(s) != n {
			return nil, fmt.Errorf("component %d has %d values, want %d", k, len(s), n)
		}
		for i, v := range s {
			if !m3.Finite(v) || !m3.Finite(mean[i]) {
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

// Lead is the name of the component that says which foot is ahead at a clip's start. In a chain it
// follows from the end of the clip before.
const Lead = "lead"

// Index returns the component with a name, or −1.
func (c *Components) Index(name string) int { return slices.Index(c.Names, name) }

// Controllable returns which components a player or a game can set: all named ones except the lead.
func (c *Components) Controllable() []bool {
	out := make([]bool, len(c.Mean))
	for k, name := range c.Names {
		out[k] = name != Lead
	}
	return out
}

func (c *Components) encode() (string, error) {
	b, err := json.Marshal(c)
	return string(b), err
}

// decodeComponents reads the components of a model with the given number of latent values.
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

// ToLatent writes the latent values z of components, (values) each, which must not overlap.
// ToLatent and FromLatent panic if the lengths differ.
func (c *Components) ToLatent(z, components []float32) {
	c.check(z, components)
	copy(z, c.Mean)
	for k, by := range components {
		for i, v := range c.Steps[k] {
			z[i] += by * v
		}
	}
}

// FromLatent writes the components of latent values z, (values) each, which must not overlap.
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
