// Package character opens characters of all formats.
package character

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mannequin/animsys/skin"
	"mannequin/internal/boundedfile"
	"mannequin/offline/fbx"
	"mannequin/offline/mocap"
)

// Open reads the skinned mesh of a glTF or FBX file, and the files beside it that it names. The content
// decides which format it is, then the name. The skin has the file's own joints.
func Open(path string) (*skin.Skin, error) {
	head, err := headOf(path)
	if err != nil {
		return nil, err
	}
	if fbx.IsFBX(head) {
		return fbx.OpenSkin(path)
	}
	if what := mocap.Foreign(head); what != "" {
		return nil, fmt.Errorf("%s: is %s, which is not read: export it as glTF or FBX", path, what)
	}
	if strings.EqualFold(filepath.Ext(path), ".fbx") {
		return fbx.OpenSkin(path) // a damaged one gets the message of its reader
	}
	return skin.Open(path)
}

// headOf returns a file's first bytes.
func headOf(path string) ([]byte, error) {
	f, err := boundedfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 4096))
}
