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

// needed are the joints without which nothing is put on a skeleton; of the spine one
// is enough.
var (
	needed = []string{"Hips", "Head", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm", "LeftHand",
		"RightUpLeg", "RightLeg", "RightFoot", "RightArm", "RightForeArm", "RightHand"}
	spine = []string{"LowerBack", "Spine", "Spine1"}
)

// fourLegged says what the joints of a dog are where names were read as a person's.
var fourLegged = map[string][]string{
	"Spine": {"LowerBack"}, "Spine1": {"Spine", "Spine1"}, "Neck": {"Neck1", "Neck"},
	"LeftHandSite": {"LeftHandIndex1"}, "RightHandSite": {"RightHandIndex1"},
	"LeftFootSite": {"LeftToeBase"}, "RightFootSite": {"RightToeBase"},
}

// match returns for each joint of sk the joint that plays it, −1 for none. Names that
// are the same come first, if all of the skeleton's are there; otherwise a guess from
// the names, filled up with names that are the same. as, from joints of the skeleton to
// those of the file, overrules both; a joint to which it gives the empty name is
// played by nobody.
func (s *Skin) match(sk *skel.Skeleton, as map[string]string) ([]int, error) {
	for _, name := range needed {
		if sk.Index(name) < 0 {
			return nil, fmt.Errorf("%s: it is put on no skeleton without %s, which is neither a person's nor a dog's", s.Name, name)
		}
	}
	exact, from := make([]int, sk.Len()), make([]int, sk.Len())
	all := true
	for j, name := range sk.Names {
		exact[j] = slices.IndexFunc(s.joints, func(k joint) bool { return bare(k.name) == name })
		all = all && (exact[j] >= 0 || sk.EndSite[j])
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
	if err := s.overrule(from, sk, as); err != nil {
		return nil, err
	}
	return from, s.enough(from, sk)
}

// overrule puts what somebody says in the place of what was found.
func (s *Skin) overrule(from []int, sk *skel.Skeleton, as map[string]string) error {
	by := map[string]string{} // the file's joint → ours
	for _, ours := range slices.Sorted(maps.Keys(as)) {
		theirs := as[ours]
		if other, ok := by[theirs]; ok && theirs != "" {
			return fmt.Errorf("%s: the map gives both %s and %s the joint %.60q", s.Name, other, ours, theirs)
		}
		by[theirs] = ours
		j := sk.Index(ours)
		if j < 0 {
			return fmt.Errorf("%s: the map names %.60q, a joint that the skeleton does not have: it has %s", s.Name, ours, list(sk.Names))
		}
		k := slices.IndexFunc(s.joints, func(k joint) bool { return k.name == theirs })
		if k < 0 && theirs != "" {
			return fmt.Errorf("%s: the map gives %s the joint %.60q, which the file does not have: it has %s", s.Name, ours, theirs, list(s.Joints()))
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

// enough is an error if joints are missing without which it looks like nothing.
func (s *Skin) enough(from []int, sk *skel.Skeleton) error {
	var missing []string
	has := func(name string) bool { j := sk.Index(name); return j >= 0 && from[j] >= 0 }
	for _, name := range needed {
		if !has(name) {
			missing = append(missing, name)
		}
	}
	if !slices.ContainsFunc(spine, has) {
		missing = append(missing, "Spine")
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s: no joint was found for %s; the file has %s; the skeleton has %s: name the joints alike, or in a map", s.Name, strings.Join(missing, ", "), list(s.Joints()), list(sk.Names))
}

// guess reads the names of the joints as those of a body.
func (s *Skin) guess() map[string]int {
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

// OnFours reports whether a skeleton that Fit takes is a dog's: it has a tail.
func OnFours(sk *skel.Skeleton) bool { return sk.Index("Tail") >= 0 }

// Upright reports whether the mesh stands on two legs, and not on four. It is an
// error if hips, head and feet are not found by their names.
func (s *Skin) Upright() (bool, error) {
	guess := s.guess()
	at := func(name string) m3.Vec3 { return s.joints[guess[name]].pos }
	for _, name := range []string{"Hips", "Head", "LeftFoot", "RightFoot"} {
		if _, ok := guess[name]; !ok {
			return false, fmt.Errorf("%s: no joint was found for %s; the file has %s: say whose it is, and name its joints in a map", s.Name, name, list(s.Joints()))
		}
	}
	// The head is where the feet are not.
	leg := at("Hips").Sub(at("LeftFoot").Lerp(at("RightFoot"), 0.5)).Normalize(m3.Up)
	return leg.Dot(at("Head").Sub(at("Hips")).Normalize(m3.Up)) > 0.75, nil
}

// bare returns a joint's name without what stands before a colon, as in mixamorig:Hips.
func bare(name string) string {
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		return name[i+1:]
	}
	return name
}

// list returns names for a message, not too many.
func list(names []string) string {
	const most = 80
	var b strings.Builder
	for i, n := range names {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(names)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.80s", n)
	}
	return b.String()
}
