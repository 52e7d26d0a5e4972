// Package character opens characters of all formats, and adds motions to them.
package character

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skin"
	"mannequin/internal/boundedfile"
	"mannequin/offline/fbx"
	"mannequin/offline/mocap"
)

// Open reads the skinned mesh of a glTF, VRM or FBX file, and the files beside it that it names. The
// content decides which format it is, then the name. The skin has the file's own joints. Of several
// characters in a glTF the largest is read, or the one whose name follows the path and a #, as in
// town.glb#Guard, if no file has that whole name.
//
// Of joints whose names tell no limbs, the file's own motions show the roles (skin.Skin.See).
func Open(path string) (*skin.Skin, error) {
	s, err := open(path)
	if err == nil && !anatomy.Named(s.Joints()) {
		if all, err := Motions(path); err == nil { // its faults are told where it is read for itself
			s.See(all)
		}
	}
	return s, err
}

// Motions reads the animations of a glTF, VRM or FBX file; there may be none. A # and a character's name may follow the
// path, as in Open.
func Motions(path string) (all []skin.Motion, err error) {
	if file, _, ok := cutLast(path, "#"); ok {
		if _, err := headOf(path); errors.Is(err, fs.ErrNotExist) {
			path = file
		}
	}
	names, found, err := mocap.OpenAll(path, mocap.OpenOptions{})
	for i, b := range found {
		all = append(all, skin.Motion{Name: names[i], Clip: b.Clip, Rest: b.Rest, Parts: b.Parts, Notes: b.Notes})
	}
	return all, err
}

func open(path string) (*skin.Skin, error) {
	head, err := headOf(path)
	if file, character, ok := cutLast(path, "#"); ok && errors.Is(err, fs.ErrNotExist) {
		return openNamed(file, character)
	}
	if err != nil {
		return nil, err
	}
	if fbx.IsFBX(head) {
		return fbx.OpenSkin(path)
	}
	if err := foreign(path, head); err != nil {
		return nil, err
	}
	if strings.EqualFold(filepath.Ext(path), ".fbx") {
		return fbx.OpenSkin(path) // a damaged one gets the message of its reader
	}
	return skin.Open(path)
}

// openNamed opens one of several characters of a glTF.
func openNamed(path, character string) (*skin.Skin, error) {
	head, err := headOf(path)
	if err != nil {
		return nil, err
	}
	if character == "" || fbx.IsFBX(head) {
		return nil, fmt.Errorf("%s#%s: the name of a character is for glTF: mannequin convert --character makes a .glb of an FBX", path, character)
	}
	if err := foreign(path, head); err != nil {
		return nil, err
	}
	return skin.OpenCharacter(path, character)
}

// foreign returns an error for a format that is not read.
func foreign(path string, head []byte) error {
	what, advice := mocap.Foreign(head)
	if what == "" {
		return nil
	}
	return fmt.Errorf("%s: is %s, which is not read: %s", path, what, cmp.Or(advice, "export it as glTF or FBX"))
}

// AddMotions adds motions to the character of a glTF or FBX file as animations of its own joints, as
// skin.AddMotions does, and returns it as a GLB. A # and a character's name may follow the path, as in Open.
func AddMotions(path string, motions []skin.Motion, opt skin.AddOptions) ([]byte, *skin.AddReport, error) {
	head, err := headOf(path)
	if file, _, ok := cutLast(path, "#"); ok && errors.Is(err, fs.ErrNotExist) {
		path = file
		head, err = headOf(path)
	}
	if err != nil {
		return nil, nil, err
	}
	if !fbx.IsFBX(head) {
		if err := foreign(path, head); err != nil {
			return nil, nil, err
		}
		return skin.PackMotions(path, motions, opt)
	}
	c, err := fbx.OpenCharacter(path)
	if err != nil {
		return nil, nil, err
	}
	var glb bytes.Buffer
	if err := c.Write(&glb); err != nil {
		return nil, nil, err
	}
	data, r, err := skin.AppendMotions(path, glb.Bytes(), motions, opt)
	if err == nil {
		r.Notes = append(slices.Clone(c.Notes), r.Notes...)
	}
	return data, r, err
}

// OpenRig reads the joints of a glTF file, as skin.OpenRig does, or of an FBX file. An FBX rests as its meshes were
// bound, whatever pose its nodes have.
func OpenRig(path string) (*skin.Rig, error) {
	head, err := headOf(path)
	if err != nil {
		return nil, err
	}
	if !fbx.IsFBX(head) {
		if err := foreign(path, head); err != nil {
			return nil, err
		}
		return skin.OpenRig(path)
	}
	c, err := fbx.OpenBound(path)
	if err == nil && len(c.Doc.Skins) == 0 { // animations say which nodes are joints
		c, err = fbx.OpenCharacter(path)
	}
	if err != nil {
		return nil, err
	}
	var glb bytes.Buffer
	if err := c.Write(&glb); err != nil {
		return nil, err
	}
	return skin.ReadRig(path, glb.Bytes())
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
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
