package skin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// required are the joints that must be matched, besides one of the spine.
var (
	required = []string{"Hips", "Head", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm", "LeftHand",
		"RightUpLeg", "RightLeg", "RightFoot", "RightArm", "RightForeArm", "RightHand"}
	spine = []string{"LowerBack", "Spine", "Spine1"}
)

// fourLegged maps a dog's joints to names that were guessed as a person's.
var fourLegged = map[string][]string{
	"Spine": {"LowerBack"}, "Spine1": {"Spine", "Spine1"}, "Neck": {"Neck1", "Neck"},
	"LeftHandSite": {"LeftHandIndex1"}, "RightHandSite": {"RightHandIndex1"},
	"LeftFootSite": {"LeftToeBase"}, "RightFootSite": {"RightToeBase"},
}

// match returns for each joint of sk the matching joint of the file, −1 for none. A table of bones in
// the file comes first. Else, if all of the skeleton's names occur in the file, equal names match.
// Otherwise names are guessed first, and equal names fill the gaps. as maps joints of the skeleton to joints of the file and overrides
// both; an empty name unmatches a joint.
func (s *Skin) match(sk *skel.Skeleton, as map[string]string) ([]int, error) {
	for _, name := range required {
		if sk.Index(name) < 0 {
			return nil, fmt.Errorf("%s: the skeleton lacks %s: want a person's or a dog's", s.Name, name)
		}
	}
	exact, from := make([]int, sk.Len()), make([]int, sk.Len())
	all := true
	for j, name := range sk.Names {
		exact[j] = slices.IndexFunc(s.joints, func(k joint) bool { return baseName(k.name) == name })
		all = all && (exact[j] >= 0 || sk.EndSite[j]) && s.parts == nil
	}
	guess := s.guess()
	taken := make([]bool, len(s.joints))
	for j, name := range sk.Names {
		from[j] = -1
		if all {
			from[j] = exact[j]
			continue
		}
		names := []string{name}
		if other, ok := fourLegged[name]; ok && OnFours(sk) {
			names = other
		}
		for _, n := range names {
			if k, ok := guess[n]; ok && from[j] < 0 && !taken[k] {
				from[j], taken[k] = k, true
			}
		}
	}
	for j, k := range exact {
		if from[j] < 0 && k >= 0 && !taken[k] {
			from[j], taken[k] = k, true
		}
	}
	if err := s.applyMap(from, sk, as); err != nil {
		return nil, err
	}
	return from, s.checkComplete(from, sk)
}

// applyMap overrides matches by a map from the user.
func (s *Skin) applyMap(from []int, sk *skel.Skeleton, as map[string]string) error {
	by := map[string]string{} // the file's joint → ours
	for _, ours := range slices.Sorted(maps.Keys(as)) {
		theirs := as[ours]
		if other, ok := by[theirs]; ok && theirs != "" {
			return fmt.Errorf("%s: the map gives both %s and %s the joint %.60q", s.Name, other, ours, theirs)
		}
		by[theirs] = ours
		j := sk.Index(ours)
		if j < 0 {
			return fmt.Errorf("%s: the map names %.60q, a joint that the skeleton does not have: it has %s", s.Name, ours, joinNames(sk.Names))
		}
		k := slices.IndexFunc(s.joints, func(k joint) bool { return k.name == theirs })
		if k < 0 && theirs != "" {
			return fmt.Errorf("%s: the map gives %s the joint %.60q, which the file does not have: it has %s", s.Name, ours, theirs, joinNames(s.Joints()))
		}
		for i := range from {
			if from[i] == k {
				from[i] = -1
			}
		}
		from[j] = k
	}
	return nil
}

func (s *Skin) checkComplete(from []int, sk *skel.Skeleton) error {
	has := func(name string) bool { j := sk.Index(name); return j >= 0 && from[j] >= 0 }
	missing := slices.DeleteFunc(slices.Clone(required), has)
	if !slices.ContainsFunc(spine, has) {
		missing = append(missing, "Spine")
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s: no joint was found for %s; the file has %s; the skeleton has %s: rename the joints, or map them", s.Name, strings.Join(missing, ", "), joinNames(s.Joints()), joinNames(sk.Names))
}

// guess returns the parts of a body that the file names, and finds the others by the names of the joints.
func (s *Skin) guess() map[string]int {
	out := s.guessNames()
	if s.parts == nil {
		return out
	}
	taken := slices.Collect(maps.Values(s.parts))
	maps.DeleteFunc(out, func(_ string, k int) bool { return slices.Contains(taken, k) })
	maps.Copy(out, s.parts)
	return out
}

// guessNames finds the parts of a body by the names of the joints.
func (s *Skin) guessNames() map[string]int {
	sk := &skel.Skeleton{}
	at := make([]m3.Vec3, len(s.joints))
	for i, j := range s.joints {
		sk.Names, sk.Parents, sk.EndSite = append(sk.Names, j.name), append(sk.Parents, int16(j.parent)), append(sk.EndSite, false)
		at[i] = j.pos
		if j.parent >= 0 {
			sk.Offsets = append(sk.Offsets, j.pos.Sub(at[j.parent]))
		} else {
			sk.Offsets = append(sk.Offsets, j.pos)
		}
	}
	return anatomy.Guess(sk, at)
}

// OnFours reports whether a skeleton that Fit accepts is a dog's: it has a tail.
func OnFours(sk *skel.Skeleton) bool { return sk.Index("Tail") >= 0 }

// Upright reports whether the mesh stands on two legs rather than four. It fails if hips, head or
// feet are not found by name.
func (s *Skin) Upright() (bool, error) {
	guess := s.guess()
	at := func(name string) m3.Vec3 { return s.joints[guess[name]].pos }
	for _, name := range []string{"Hips", "Head", "LeftFoot", "RightFoot"} {
		if _, ok := guess[name]; !ok {
			return false, fmt.Errorf("%s: no joint was found for %s; the file has %s: say whether it is a dog or a person, and map its joints", s.Name, name, joinNames(s.Joints()))
		}
	}
	// Of a biped, the head is opposite to the feet.
	leg := at("Hips").Sub(at("LeftFoot").Lerp(at("RightFoot"), 0.5)).Normalize(m3.Up)
	return leg.Dot(at("Head").Sub(at("Hips")).Normalize(m3.Up)) > 0.75, nil
}

// baseName returns a joint's name without a prefix that ends in a colon, as in mixamorig:Hips.
func baseName(name string) string {
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		return name[i+1:]
	}
	return name
}

// joinNames lists names for a message, up to a limit.
func joinNames(names []string) string {
	const most = 80
	var shown []string
	for _, n := range names[:min(len(names), most)] {
		shown = append(shown, fmt.Sprintf("%.80s", n))
	}
	text := strings.Join(shown, ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}
