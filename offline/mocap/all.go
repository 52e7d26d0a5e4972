package mocap

import (
	"errors"

	"mannequin/animsys/skin"
	"mannequin/offline/fbx"
)

// OpenAll reads all animations of the file at path, with their names, or the one that OpenOptions.Animation or path names;
// a BVH, AMC or TXT file has one, without a name. A glTF or FBX file without animations has none.
func OpenAll(path string, opt OpenOptions) (names []string, all []*Recording, err error) {
	path, data, opt, err := load(path, opt)
	if err != nil {
		return nil, nil, err
	}
	if f := FormatOf(path, data); f != FormatGLTF && f != FormatFBX {
		b, err := Open(path, opt)
		if err != nil {
			return nil, nil, err
		}
		return []string{""}, []*Recording{b}, nil
	}
	format, found, err := animations(path, data)
	if opt.Animation == "" && noAnimations(err) {
		return nil, nil, nil
	}
	if err == nil && opt.Animation != "" {
		var one *animation
		if one, err = choose(path, opt.Animation, found); err == nil {
			found = []animation{*one}
		}
	}
	if err != nil {
		return nil, nil, err
	}
	for i := range found {
		b, err := found[i].recording(format).as(path, opt)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, b)
	}
	return namesOf(found), all, nil
}

// animations reads all animations of a glTF or FBX file.
func animations(path string, data []byte) (format Format, all []animation, err error) {
	if format = FormatOf(path, data); format == FormatFBX {
		motions, err := fbx.Read(path, data)
		for _, m := range motions {
			all = append(all, animation{name: m.Name, clip: m.Clip, rest: m.Rest, notes: m.Notes})
		}
		return format, all, err
	}
	motions, err := skin.OpenMotions(path)
	for _, m := range motions {
		a := animation{name: m.Name, clip: m.Clip, rest: m.Rest, parts: m.Parts}
		for _, n := range m.Notes {
			a.notes = append(a.notes, path+": "+n)
		}
		all = append(all, a)
	}
	return format, all, err
}

// noAnimations reports whether an error says that a file has none.
func noAnimations(err error) bool {
	var bad *skin.Error
	return errors.Is(err, fbx.ErrNoAnimation) || errors.As(err, &bad) && bad.Where == "animations"
}

func namesOf(all []animation) []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name
	}
	return names
}
