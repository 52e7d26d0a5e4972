package skin

import (
	"cmp"
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

// ends are the joints that a file may lack: feet of legs that end at the shin, and hands. The end of
// the mesh of the bone above stands for them.
var ends = map[string]string{"LeftFoot": "LeftLeg", "RightFoot": "RightLeg", "LeftHand": "LeftForeArm", "RightHand": "RightForeArm"}

// match returns for each joint of sk the matching joint of the file, −1 for none. A table of bones in
// the file comes first. Else, if all of the skeleton's names occur in the file, equal names match.
// Otherwise the roles of the joints decide (Roles), and equal names fill the gaps. as maps joints of the skeleton to joints of the file, by
// name or as #12, and overrides both; an empty name unmatches a joint. A body of another kind than
// the skeleton's is an error, unless as names its hips.
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
	roles := s.Roles(as)
	believed := all || as["Hips"] != "" || s.parts != nil && !OnFours(sk) // a table of bones is a person's
	if err := kindOf(roles, sk); err != nil && !believed {
		return nil, fmt.Errorf("%s: %w; a map that names its Hips puts it on this skeleton all the same (docs/rigs.md)%s", s.Name, err, s.hint())
	}
	guess := roles.Uniform()
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
		if from[j] < 0 && k >= 0 && !taken[k] && s.inOrder(from, sk, j, k) {
			from[j], taken[k] = k, true
		}
	}
	if err := s.applyMap(from, sk, as); err != nil {
		return nil, err
	}
	return from, s.checkComplete(from, sk)
}

// inOrder reports whether joint k of the file may play joint j of sk: it is not above what plays a joint above j, nor below what
// plays one below j.
func (s *Skin) inOrder(from []int, sk *skel.Skeleton, j, k int) bool {
	below := func(parent func(int) int, top, j int) bool {
		for j = parent(j); j >= 0 && j != top; j = parent(j) {
		}
		return j >= 0
	}
	ours, theirs := func(j int) int { return int(sk.Parents[j]) }, func(k int) int { return s.joints[k].parent }
	for i, other := range from {
		if other >= 0 && (below(ours, i, j) && below(theirs, k, other) || below(ours, j, i) && below(theirs, other, k)) {
			return false
		}
	}
	return true
}

// hint names another character of the file, for errors.
func (s *Skin) hint() string {
	if len(s.others) == 0 {
		return ""
	}
	return fmt.Sprintf("; the file has other characters: name one as in %s#%s", s.Name, s.others[0])
}

// kindOf returns why a body does not go with a skeleton, or nil.
func kindOf(b *anatomy.Body, sk *skel.Skeleton) error {
	if OnFours(sk) {
		return b.NoDog()
	}
	return b.NoPerson()
}

// applyMap overrides matches by a map from the user.
func (s *Skin) applyMap(from []int, sk *skel.Skeleton, as map[string]string) error {
	names := s.Joints()
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
		k := anatomy.Joint(names, theirs)
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
	missing := slices.DeleteFunc(slices.Clone(required), func(name string) bool { return has(name) || has(ends[name]) })
	if !slices.ContainsFunc(spine, has) {
		missing = append(missing, "Spine")
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s: no joint was found for %s; the file has %s; the skeleton has %s: rename the joints, or map them (docs/rigs.md)", s.Name, strings.Join(missing, ", "), joinNames(s.callable()), joinNames(sk.Names))
}

// callable returns names by which a map may call the joints.
func (s *Skin) callable() []string {
	names := s.Joints()
	out := make([]string, len(names))
	for j := range names {
		out[j] = anatomy.NameOf(names, j)
	}
	return out
}

// Roles returns the roles that the joints play: indices are those of Joints. as maps joints of the
// uniform skeleton to joints of the file, and comes before the file's own table of bones; it may be nil.
func (s *Skin) Roles(as map[string]string) *anatomy.Body {
	if s.parts != nil {
		all := map[string]string{}
		for ours, j := range s.parts {
			all[ours] = fmt.Sprintf("#%d", j)
		}
		maps.Copy(all, as)
		as = all
	}
	sk, at := s.Skeleton()
	boxes := make([]anatomy.Box, len(s.joints))
	for v, all := range s.mesh.influences {
		best := influence{-1, 0}
		for _, q := range all {
			if q.weight > best.weight {
				best = q
			}
		}
		if best.joint >= 0 {
			boxes[best.joint].Add(s.mesh.pos[v])
		}
	}
	return anatomy.Find(anatomy.Rig{Skel: sk, At: at, Mesh: boxes, Poses: s.poses, Still: s.still, As: as})
}

// See lets Roles see how the joints move in motions of the same joints: some frames of each are kept, of the first few.
// It is for joints whose names tell nothing. It changes s, and is called before s is shared.
func (s *Skin) See(motions []Motion) {
	const most, each = 8, 4
	for _, m := range motions[:min(len(motions), most)] {
		for i := range each {
			by := s.Frame(&m, i*m.frames()/each)
			if by == nil {
				break
			}
			at := make([]m3.Vec3, len(by))
			for j, x := range by {
				at[j] = x.Apply(s.joints[j].pos)
			}
			s.poses = append(s.poses, at)
			s.move(by)
		}
	}
}

// move marks the joints that are turned or moved on their parents as no longer still. by is as Frame returns it.
func (s *Skin) move(by []m3.Xform) {
	if s.still == nil {
		s.still = slices.Repeat([]bool{true}, len(s.joints))
	}
	var size float32
	for _, j := range s.joints {
		size = max(size, j.pos.Dist(s.joints[0].pos))
	}
	for j, own := range s.joints {
		on := m3.Xform{Rot: m3.Ident}
		if own.parent >= 0 {
			on = by[own.parent]
		}
		if m3.Abs(on.Rot.Dot(by[j].Rot)) < 1-1e-5 || on.Apply(own.pos).Dist(by[j].Apply(own.pos)) > 1e-3*size {
			s.still[j] = false
		}
	}
}

// Frame returns transforms of the file's world, one per joint, that move the joints from rest into a frame of a motion of
// the file, for Moved; nil if there is no such frame, or if the motion is not of these joints.
func (s *Skin) Frame(m *Motion, frame int) []m3.Xform {
	if m == nil || m.Clip == nil || m.Clip.Skel == nil || frame < 0 || frame >= m.Clip.Frames || len(m.Rest) != m.Clip.Skel.Len() {
		return nil
	}
	model, by := make([]m3.Xform, len(m.Rest)), make([]m3.Xform, len(s.joints))
	m.Clip.Model(model, frame)
	for j, name := range s.clipNames() {
		k := m.Clip.Skel.Index(name)
		if k < 0 {
			return nil
		}
		by[j] = model[k].Mul(m.Rest[k].Inv())
	}
	return by
}

// clipNames returns the joints' names as OpenMotions has them: each has one of its own.
func (s *Skin) clipNames() []string {
	names, taken := make([]string, len(s.joints)), map[string]bool{}
	for i, j := range s.joints {
		names[i] = unused(taken, cmp.Or(j.name, fmt.Sprintf("node%d", j.node)))
	}
	return names
}

// OnFours reports whether a skeleton that Character accepts is a dog's: it has a tail.
func OnFours(sk *skel.Skeleton) bool { return sk.Index("Tail") >= 0 }

// Upright reports whether the mesh is a person's rather than a dog's: upright on two legs, and not
// on four. It fails for other bodies, and if hips, head or legs are not found.
func (s *Skin) Upright() (bool, error) {
	upright, err := s.Roles(nil).Upright()
	if err != nil {
		err = fmt.Errorf("%s: %w: say whether it is a dog or a person, and map its joints (docs/rigs.md)", s.Name, err)
	}
	return upright, err
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
