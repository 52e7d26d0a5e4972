// Package skin reads skinned meshes from glTF files, and puts them on skeletons that
// others move:
//
//   - Open and Read take a .glb or .gltf in, whoever made it. What they return is
//     checked: indices are in range, numbers finite, weights add up to 1.
//   - Skin.Fit finds out which of its joints play those of a skeleton, and makes a
//     body.Body that moves with that skeleton.
//   - Write does the reverse: a skeleton, its body and a motion become a GLB.
package skin

import (
	"fmt"
	"os"
	"path/filepath"

	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
)

// Limits on what is read. They are checked before memory is taken.
const (
	MaxFile      = 256 << 20 // bytes of a file, and of all files that it names
	MaxJSON      = 64 << 20  // bytes of its JSON
	MaxNodes     = 1 << 14
	MaxJoints    = 1024    // of all skins
	MaxVertices  = 1 << 19 // of all primitives
	MaxTriangles = 1 << 20
	MaxPixels    = 1 << 25 // of all textures
)

// Skin is a skinned mesh as a viewer of glTF would show it: in the pose of its nodes,
// in metres as the file has them. It is read-only.
type Skin struct {
	Name  string   // the file's
	Notes []string // what was read over

	joints []joint // parents before children
	mesh   mesh
}

// joint is a node that moves vertices.
type joint struct {
	name   string
	parent int     // the nearest joint above, −1 for none
	pos    m3.Vec3 // in the world of the file
}

// mesh is all triangles of a file; vertex slices have equal lengths.
type mesh struct {
	pos    []m3.Vec3
	normal []m3.Vec3 // unit, or zero where the file has none
	colour [][3]float32
	pull   [][]pull // who moves it; shares add up to 1
	index  []uint32
}

// pull is a joint's share in a vertex.
type pull struct {
	joint int32
	share float32
}

// Error says what is wrong with a file, and where in it.
type Error struct {
	File  string
	Where string // as meshes[0].primitives[1].attributes.JOINTS_0; may be empty
	Msg   string
}

func (e *Error) Error() string {
	if e.Where == "" {
		return e.File + ": " + e.Msg
	}
	return e.File + ": " + e.Where + ": " + e.Msg
}

// Joints returns the names of the joints, parents before children.
func (s *Skin) Joints() []string {
	names := make([]string, len(s.joints))
	for i, j := range s.joints {
		names[i] = j.name
	}
	return names
}

// Vertices returns how many vertices the mesh has.
func (s *Skin) Vertices() int { return len(s.mesh.pos) }

// Triangles returns how many triangles it has.
func (s *Skin) Triangles() int { return len(s.mesh.index) / 3 }

// Open reads the .glb or .gltf at path, and the files beside it that it names. Errors
// in the file are of type *Error.
func Open(path string) (*Skin, error) {
	data, err := boundedfile.Read(path, MaxFile)
	if err != nil {
		return nil, err
	}
	// A root keeps names, and links, inside the folder.
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return read(path, data, root.FS())
}

// Read reads the bytes of a .glb or .gltf called name that names no other files.
func Read(name string, data []byte) (*Skin, error) { return read(name, data, nil) }

// note adds what a reader of the file should know.
func (s *Skin) note(format string, args ...any) {
	const most = 20
	if len(s.Notes) < most {
		s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
	}
}
