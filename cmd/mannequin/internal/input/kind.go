// Package input opens what the commands of mannequin read: motions, models, styles and paths.
package input

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"mannequin/internal/boundedfile"
	"mannequin/models"
	"mannequin/offline/fbx"
)

// IsModel reports whether name is a shipped model's name or the path of a model file.
func IsModel(name string) bool {
	if slices.Contains(models.Names(), name) {
		return true
	}
	head, err := Head(name)
	return err == nil && KindOf(head, name) == KindModel
}

// Kind is a kind of file.
type Kind int

// The kinds of files.
const (
	kindUnknown Kind = iota
	KindBVH
	KindModel
	KindSkin
	KindFBX
)

// KindOf returns the kind of a file by its first bytes. The name decides only if these do not, so
// that a damaged file gets the message of its reader.
func KindOf(head []byte, name string) Kind {
	text := bytes.TrimLeftFunc(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), func(r rune) bool { return r <= ' ' })
	lower := strings.ToLower(name)
	switch {
	case len(text) >= 9 && strings.EqualFold(string(text[:9]), "HIERARCHY"):
		return KindBVH
	// Eight bytes of length, then a JSON object.
	case len(head) > 8 && head[8] == '{' && head[6] == 0 && head[7] == 0:
		return KindModel
	case bytes.HasPrefix(head, []byte("glTF")), slices.Contains([]string{".gltf", ".glb", ".vrm", ".vrma"}, filepath.Ext(lower)):
		return KindSkin
	case fbx.IsFBX(head), strings.HasSuffix(lower, ".fbx"):
		return KindFBX
	case strings.HasSuffix(lower, ".bvh"):
		return KindBVH
	case strings.HasSuffix(lower, ".safetensors"):
		return KindModel
	}
	return kindUnknown
}

// Known reports whether the first bytes of a file alone tell its kind.
func Known(head []byte) bool { return KindOf(head, "") != kindUnknown }

// Head returns the first bytes of a regular file.
func Head(file string) ([]byte, error) {
	f, err := boundedfile.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, err
	}
	return head[:n], nil
}
