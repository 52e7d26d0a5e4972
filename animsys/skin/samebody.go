package skin

import (
	"maps"
	"slices"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// SameBody maps the joints of a motion to those of the file, by their names in OpenMotions, if both are the same body under
// other names: they have the same parts with as many joints each, and bones of the same lengths, in proportion. Otherwise it
// returns nil. The map is for [Rig].As.
func (s *Skin) SameBody(m *Motion) map[string]string {
	if m == nil || m.Clip == nil || m.Clip.Skel == nil || m.Clip.Skel.Validate() != nil {
		return nil
	}
	clip := m.AtRest()
	sk, at := s.Skeleton()
	its := clip.Skel.Rest()
	of, ok := pairBodies(s.Roles(nil), anatomy.OfClip(clip, m.Parts), sk, clip.Skel)
	if !ok || !sameBones(of, sk, at, clip.Skel, its) {
		return nil
	}
	names, out := s.clipNames(), map[string]string{}
	for j, k := range of {
		out[clip.Skel.Names[j]] = names[k]
	}
	for j, name := range clip.Skel.Names {
		if _, ok := of[j]; !ok && slices.Contains(names, name) {
			return nil // the name of another joint there
		}
	}
	return out
}

// pairBodies pairs the joints of two bodies that have the same parts with as many joints each: the map is from joints of the
// second. Fingers, and joints that play no part, have no partner.
func pairBodies(own, its *anatomy.Body, ownSkel, itsSkel *skel.Skeleton) (map[int]int, bool) {
	if own.Kind != its.Kind || own.Hips < 0 || its.Hips < 0 || own.Turned == anatomy.NotFound || its.Turned == anatomy.NotFound {
		return nil, false
	}
	of, ok := map[int]int{its.Hips: own.Hips}, true
	pair := func(a, b []int) {
		ok = ok && len(a) == len(b)
		for i := 0; ok && i < len(a); i++ {
			of[b[i]] = a[i]
		}
	}
	pair(own.Spine, its.Spine)
	pair(own.Neck, its.Neck)
	if own.Head >= 0 && its.Head >= 0 {
		of[its.Head] = own.Head
	}
	for _, l := range [][2][]anatomy.Limb{{own.Legs, its.Legs}, {own.Arms, its.Arms}, {own.Wings, its.Wings}} {
		if len(l[0]) != len(l[1]) {
			return nil, false
		}
		for i := range l[0] {
			a, b := &l[0][i], &l[1][i]
			if a.Side != b.Side || a.Foot >= 0 || b.Foot >= 0 {
				return nil, false
			}
			pair(toLower(a), toLower(b))
			if a.Grounds && a.Tip >= 0 && b.Tip >= 0 && !ownSkel.EndSite[a.Tip] && !itsSkel.EndSite[b.Tip] {
				of[b.Tip] = a.Tip
			}
		}
	}
	for _, chains := range [][2][][]int{{own.Tails, its.Tails}, {own.Trunks, its.Trunks}} {
		if len(chains[0]) != len(chains[1]) {
			return nil, false
		}
		for i := range chains[0] {
			pair(chains[0][i], chains[1][i])
		}
	}
	taken := map[int]bool{}
	for k := range maps.Values(of) {
		taken[k] = true
	}
	return of, ok && len(taken) == len(of)
}

// toLower returns the joints of a limb to its hand or foot.
func toLower(l *anatomy.Limb) []int {
	return l.Chain[:slices.Index(l.Chain, l.Lower)+1]
}

// sameBones reports whether paired joints hang on paired ones, at distances that are equal in proportion, within a hundredth
// of all of them that lie one behind another.
func sameBones(of map[int]int, own *skel.Skeleton, at []m3.Vec3, its *skel.Skeleton, rest []m3.Xform) bool {
	back := map[int]int{}
	for j, k := range of {
		back[k] = j
	}
	type bone struct{ own, its float64 }
	var bones []bone
	var both, sum float64
	reach, longest := map[int]float64{}, 0.0
	for j := range its.Len() { // parents come first
		k, ok := of[j]
		if !ok {
			continue
		}
		p, q := int(its.Parents[j]), int(own.Parents[k])
		for p >= 0 && !contains(of, p) {
			p = int(its.Parents[p])
		}
		for q >= 0 && !contains(back, q) {
			q = int(own.Parents[q])
		}
		if p < 0 && q < 0 {
			continue
		}
		if p < 0 || q < 0 || of[p] != q {
			return false
		}
		b := bone{float64(at[k].Dist(at[q])), float64(rest[j].Pos.Dist(rest[p].Pos))}
		bones, both, sum = append(bones, b), both+b.own*b.its, sum+b.its*b.its
		reach[j] = reach[p] + b.own
		longest = max(longest, reach[j])
	}
	if len(bones) == 0 || !(sum > 0) {
		return false
	}
	return !slices.ContainsFunc(bones, func(b bone) bool {
		d := b.own - both/sum*b.its
		return !(d < 0.01*longest && d > -0.01*longest)
	})
}

func contains(m map[int]int, k int) bool {
	_, ok := m[k]
	return ok
}
