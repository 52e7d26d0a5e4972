package skel

import (
	"encoding/json"

	"mannequin/engine/m3"
)

// skeletonJSON is how model files hold a skeleton.
type skeletonJSON struct {
	Names    []string     `json:"names"`
	Parents  []int16      `json:"parents"`
	Offsets  [][3]float32 `json:"offsets"` // metres
	EndSites []bool       `json:"end_sites"`
}

// MarshalJSON returns an object of names, parents, offsets and end_sites, with an entry per joint.
func (s *Skeleton) MarshalJSON() ([]byte, error) {
	offsets := make([][3]float32, len(s.Offsets))
	for i, o := range s.Offsets {
		offsets[i] = [3]float32{o.X, o.Y, o.Z}
	}
	return json.Marshal(skeletonJSON{s.Names, s.Parents, offsets, s.EndSite})
}

// UnmarshalJSON reads what MarshalJSON writes. The skeleton may break its rules: see Validate.
func (s *Skeleton) UnmarshalJSON(b []byte) error {
	var j skeletonJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	s.Names, s.Parents, s.EndSite, s.Offsets = j.Names, j.Parents, j.EndSites, make([]m3.Vec3, len(j.Offsets))
	for i, o := range j.Offsets {
		s.Offsets[i] = m3.V(o[0], o[1], o[2])
	}
	return nil
}
