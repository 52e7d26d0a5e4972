package inspect

import (
	"mannequin/offline/character"
	"mannequin/offline/fbx"
)

// inspectFBX describes the skinned mesh of an FBX file and its animations. A file may have one of them alone.
func inspectFBX(file string, opt *options) (*skinReport, error) {
	all, err := fbx.Open(file)
	s, noSkin := character.Open(file)
	if err != nil && noSkin != nil {
		return nil, err
	}
	r := &skinReport{File: file, Kind: "FBX animation", Notes: []string{}, Animations: []animation{}}
	if noSkin == nil {
		kind := "FBX skin"
		if len(all) > 0 {
			kind += " and animation"
		}
		if r, err = reportSkin(file, kind, s, opt); err != nil {
			return nil, err
		}
	} else if err := r.motion(all[0].Clip, opt.as, opt); err != nil {
		return nil, err
	}
	for _, m := range all {
		r.Animations = append(r.Animations, animation{m.Name, m.Clip.Frames, m.Clip.FPS})
	}
	return r, nil
}
