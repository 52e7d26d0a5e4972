// Package skin reads skinned meshes from glTF files, and makes them play motion of our skeletons:
//
//   - Open reads a .glb or .gltf of any origin. Its result is checked: indices are in range,
//     numbers are finite, weights sum to 1.
//   - Skin.Character matches the file's joints to a skeleton's, and puts motion of that on the file's
//     own bones.
//   - AddMotions adds motion to a file.
//   - Write makes a GLB of a skeleton, its body and a motion.
package skin

import (
	"fmt"
	"os"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
)

// Limits of files. They are checked before memory is allocated.
const (
	MaxFile       = 256 << 20 // bytes of a file, and of all files that it references
	MaxJSON       = 64 << 20  // bytes of JSON
	MaxNodes      = 1 << 14
	MaxJoints     = 1024    // of all skins
	MaxPrimitives = 1 << 16 // of all nodes
	MaxVertices   = 1 << 19 // of all primitives
	MaxTriangles  = 1 << 20
	MaxPixels     = 1 << 25 // of all textures
)

// Skin is a read-only skinned mesh in metres, in the pose of its file's nodes. If that is not the pose in
// which the mesh was bound to its joints, it is in the bind pose, and a note says so.
type Skin struct {
	Name  string   // the file's
	Meta  Meta     // title, authors and licence, as far as the file names them
	Notes []string // warnings

	joints    []joint        // parents before children
	parts     map[string]int // of the uniform skeleton → joint, as the file says; nil: it does not
	mesh      mesh
	materials []body.Material // of the mesh's parts
	others    []string        // names of other characters in the file
	poses     [][]m3.Vec3     // places of the joints in motions, which show their roles; nil: unknown
	still     []bool          // (joints) it never moves on its parent in those motions; nil: unknown
}

// joint is a node that moves vertices.
type joint struct {
	node   int
	name   string
	parent int     // nearest joint above, −1 for none
	pos    m3.Vec3 // world space of the file
	rot    m3.Quat // likewise, without scale
}

// mesh is all triangles of a file. Vertex slices have equal lengths.
type mesh struct {
	pos        []m3.Vec3
	normal     []m3.Vec3     // unit, or zero if the file has none
	colour     [][3]float32  // linear; without parts the whole colour, else what multiplies the material's
	uv         [][2]float32  // with parts
	parts      []body.Part   // nil: colours are all
	influences [][]influence // weights of a vertex sum to 1
	index      []uint32
}

// influence is a joint's weight at a vertex.
type influence struct {
	joint  int32
	weight float32
}

// Error is an error in a file, and its place in the file.
type Error struct {
	File  string
	Where string // such as meshes[0].primitives[1].attributes.JOINTS_0; may be empty
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

// Vertices returns the number of vertices.
func (s *Skin) Vertices() int { return len(s.mesh.pos) }

// Triangles returns the number of triangles.
func (s *Skin) Triangles() int { return len(s.mesh.index) / 3 }

// Open reads a .glb, .gltf or .vrm, and the files that it references. Of several characters it reads the
// one with the most vertices, and notes the names of the others. Errors in the file are *Error.
func Open(path string) (*Skin, error) { return OpenCharacter(path, "") }

// OpenCharacter is Open for a file with several characters: it reads the one with a name. Its name is
// that of the node above its joints, of its skin, or of its first joint. An unknown name is an error that
// lists the names.
func OpenCharacter(path, character string) (*Skin, error) {
	return open(path, func(name string, data []byte, beside *os.Root) (*Skin, error) {
		return readCharacter(name, data, beside, character)
	})
}

// Read is Open for the contents of a .glb or .gltf called name, which references no other files.
func Read(name string, data []byte) (*Skin, error) { return read(name, data, nil) }

// open lets read read the file at path, and the files beside it.
func open[T any](path string, read func(name string, data []byte, beside *os.Root) (T, error)) (none T, err error) {
	data, root, err := boundedfile.ReadWithFolder(path, MaxFile)
	if err != nil {
		return none, err
	}
	defer root.Close()
	return read(path, data, root)
}

func (s *Skin) note(format string, args ...any) {
	const most = 20
	if len(s.Notes) < most {
		s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
	}
}
