package input

import (
	"errors"
	"fmt"
	"strings"

	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/internal/closest"
	"mannequin/models"
)

// OpenManifold opens a motion manifold.
func OpenManifold(nameOrPath string) (*manifold.Model, error) {
	return models.OpenAs(nameOrPath, manifold.NewModel)
}

// OpenPath opens a built-in path or the file of a path. others are names that --path also takes.
func OpenPath(nameOrPath string, others ...string) (*control.Path, error) {
	p, err := control.Builtin(nameOrPath)
	if errors.Is(err, control.ErrUnknownPath) {
		p, err = control.OpenPath(nameOrPath)
	}
	if err != nil {
		names := append([]string{"circle", "square", "star", "meander"}, others...)
		return nil, fmt.Errorf("--path is neither %s nor a readable file: %w%s", strings.Join(names, ", "), err, closest.Hint(nameOrPath, names))
	}
	return p, nil
}
