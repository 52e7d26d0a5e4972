package manifold

import (
	"errors"

	"mannequin/netruntime"
)

// Networks move people along curves: the motion manifold, the footstep network and the locomotion
// network. They are immutable and shared.
type Networks struct {
	*Model
	Footsteps  *netruntime.Net // of mannequin train footstep
	Locomotion *netruntime.Net // of mannequin train synth --kind locomotion
}

// NewNetworks returns the networks of people, such as those of models/human, human-footstep and
// human-locomotion. A *feature.SchemaError lists how the manifold's file does not fit this package.
// NewStream, NewLocomotion and NewWalker check the others.
func NewNetworks(manifold, footsteps, locomotion *netruntime.Net) (*Networks, error) {
	if manifold == nil || footsteps == nil || locomotion == nil {
		return nil, errors.New("manifold: a network is missing: want the manifold, footsteps and locomotion")
	}
	m, err := NewModel(manifold)
	if err != nil {
		return nil, err
	}
	return m.With(footsteps, locomotion), nil
}

// With returns the model with the networks that make motion along curves.
func (m *Model) With(footsteps, locomotion *netruntime.Net) *Networks {
	return &Networks{m, footsteps, locomotion}
}
