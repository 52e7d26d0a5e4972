// Package fbx reads Autodesk FBX files, versions 6 and 7, binary and ASCII:
//
//   - Open reads the animations, as clips.
//   - OpenCharacter reads what the file shows, as glTF: nodes, meshes, skins, materials and animations.
//   - OpenSkin reads the character as a skinned mesh.
//
// There is no published specification. The reader follows the documentation of Autodesk's FBX SDK for
// the meaning of properties, and Blender's description of the binary layout
// (https://code.blender.org/2013/08/fbx-binary-file-format-specification/) for the bytes.
package fbx

import "fmt"

// Limits of files. They are checked before memory is allocated.
const (
	MaxFile       = 256 << 20 // bytes
	MaxNodes      = 1 << 20   // records of a file
	MaxDepth      = 64        // of records in records
	MaxModels     = 1 << 14
	MaxJoints     = 1024
	MaxKeys       = 1 << 20 // of a curve
	MaxArray      = 1 << 27 // bytes of an unpacked array
	MaxSeconds    = 3600    // of a motion
	MaxTransforms = 1 << 21 // frames times models, of all motions of a file
)

// Error is an error in a file, and its place in the file.
type Error struct {
	File  string
	Where string // such as "byte 1034" or "line 12"; may be empty
	Msg   string

	is error // what it wraps
}

// Unwrap returns ErrNoAnimation for a file without animations.
func (e *Error) Unwrap() error { return e.is }

func (e *Error) Error() string {
	if e.Where == "" {
		return e.File + ": " + e.Msg
	}
	return e.File + ": " + e.Where + ": " + e.Msg
}

// ticks is FBX's unit of time, per second.
const ticks = 46186158000

func (f *file) errorf(at int, format string, args ...any) error {
	where := ""
	if at >= 0 {
		where = f.where(at)
	}
	return &Error{File: f.name, Where: where, Msg: fmt.Sprintf(format, args...)}
}
