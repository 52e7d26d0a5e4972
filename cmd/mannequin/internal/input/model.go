package input

import (
	"fmt"

	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/models"
)

// OpenManifold opens a motion manifold.
func OpenManifold(nameOrPath string) (*manifold.Model, error) {
	net, err := models.Open(nameOrPath)
	if err != nil {
		return nil, err
	}
	return manifold.NewModel(net)
}

// OpenPath opens a built-in path or a file of one.
func OpenPath(nameOrPath string) (*control.Path, error) {
	if p, err := control.Builtin(nameOrPath); err == nil {
		return p, nil
	}
	p, err := control.OpenPath(nameOrPath)
	if err != nil {
		return nil, fmt.Errorf("--path is neither circle, square, star, meander nor a readable file: %w", err)
	}
	return p, nil
}
