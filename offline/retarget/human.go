package retarget

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

//go:embed human.toml
var humanTOML string

// Human returns the uniform skeleton: 25 joints named as in CMU's BVH files and 5 End Sites,
// in metres. At rest it is in a T-pose that faces +Z with +X to its left, and every joint's
// frame has the world's axes. LowerBack, Neck, LeftShoulder and RightShoulder are at their
// parents' positions; the other 21 joints have their own. The caller owns the result.
func Human() *skel.Skeleton {
	s, err := readSkeleton(humanTOML)
	if err != nil {
		panic("retarget: human.toml: " + err.Error()) // a mistake in this package
	}
	return s
}

// readSkeleton reads a skeleton from TOML: joints, each with a name, its
// parent's name, and its offset. A name that ends in Site is an End Site's.
func readSkeleton(text string) (*skel.Skeleton, error) {
	var f struct {
		Joints []struct {
			Name, Parent string
			Offset       [3]float32
		}
	}
	if _, err := toml.Decode(text, &f); err != nil {
		return nil, err
	}
	s := &skel.Skeleton{}
	for _, j := range f.Joints {
		parent := s.Index(j.Parent)
		if parent < 0 && j.Parent != "" {
			return nil, fmt.Errorf("joint %s comes before its parent %s", j.Name, j.Parent)
		}
		s.Names = append(s.Names, j.Name)
		s.Parents = append(s.Parents, int16(parent))
		s.Offsets = append(s.Offsets, m3.V(j.Offset[0], j.Offset[1], j.Offset[2]))
		s.EndSite = append(s.EndSite, strings.HasSuffix(j.Name, "Site"))
	}
	return s, s.Validate()
}
