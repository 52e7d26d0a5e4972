package mocap

import (
	"errors"

	"mannequin/animsys/skin"
	"mannequin/internal/boundedfile"
	"mannequin/offline/fbx"
)

// OpenAll reads all animations of the file at path, with their names; a BVH, AMC or TXT file has one, without a name.
// A glTF or FBX file without animations has none. OpenOptions.Animation is not read.
func OpenAll(path string, opt OpenOptions) (names []string, all []*Recording, err error) {
	if err := opt.Validate(); err != nil {
		return nil, nil, err
	}
	data, err := boundedfile.Read(path, maxFileSize)
	if err != nil {
		return nil, nil, err
	}
	switch FormatOf(path, data) {
	case FormatGLTF:
		motions, err := skin.OpenMotions(path)
		var bad *skin.Error
		if errors.As(err, &bad) && bad.Where == "animations" {
			return nil, nil, nil
		} else if err != nil {
			return nil, nil, err
		}
		for _, m := range motions {
			b := (&animation{clip: m.Clip}).recording(FormatGLTF)
			b.Rest, b.Parts = m.Rest, m.Parts
			for _, n := range m.Notes {
				b.Notes = append(b.Notes, path+": "+n)
			}
			names, all = append(names, m.Name), append(all, b)
		}
	case FormatFBX:
		motions, err := fbx.Read(path, data)
		if errors.Is(err, fbx.ErrNoAnimation) {
			return nil, nil, nil
		} else if err != nil {
			return nil, nil, err
		}
		for _, m := range motions {
			names, all = append(names, m.Name), append(all, (&animation{clip: m.Clip, rest: m.Rest, notes: m.Notes}).recording(FormatFBX))
		}
	default:
		b, err := Open(path, opt)
		if err != nil {
			return nil, nil, err
		}
		return []string{""}, []*Recording{b}, nil
	}
	for i, b := range all {
		if all[i], err = b.as(path, opt); err != nil {
			return nil, nil, err
		}
	}
	return names, all, nil
}
