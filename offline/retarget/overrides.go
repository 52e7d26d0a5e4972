package retarget

import (
	"fmt"
	"maps"
	"slices"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/internal/boundedtoml"
)

// joinMap returns the joints of a file that has nothing but lines such as Hips = "pelvis", or nil.
func joinMap(name string, text []byte) map[string]string {
	out := map[string]string{}
	if boundedtoml.Decode(name, text, &out) != nil || len(out) == 0 || out["name"] != "" || out["about"] != "" {
		return nil
	}
	return out
}

// Completed returns p itself, or, of a profile without a name, a guess for the clip with p's joints and
// other keys.
func (p *Profile) Completed(c *skel.Clip) (*Profile, error) {
	if p == nil || p.Name != "" {
		return p, nil
	}
	for _, k := range slices.Sorted(maps.Keys(p.Joints)) {
		if v := p.Joints[k]; v != "" && anatomy.Joint(c.Skel.Names, v) < 0 {
			return nil, fmt.Errorf("joints.%.60s of the map: the file has no joint %.60q", k, v)
		}
	}
	s := guess("corrected guess", c, p.Joints)
	out := *s.Profile
	for k, v := range p.Joints {
		if v == "" {
			delete(out.Joints, k)
			delete(out.Axes, k)
			out.TurnOnly = slices.DeleteFunc(out.TurnOnly, func(t string) bool { return t == k })
		}
	}
	out.Collapse = p.Collapse
	out.MetresPerUnit, out.RestFrames = p.MetresPerUnit, p.RestFrames
	if p.Up != "" {
		out.Up = p.Up
	}
	if p.TurnOnly != nil {
		out.TurnOnly = p.TurnOnly
	}
	if p.Axes != nil {
		out.Axes = p.Axes
	}
	if err := out.Validate(); err != nil {
		return nil, fmt.Errorf("the map and a guess of what it leaves out are incomplete: %w", err)
	}
	return &out, nil
}
