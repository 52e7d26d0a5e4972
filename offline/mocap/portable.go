package mocap

import (
	"cmp"
	"fmt"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Portable returns c as other programs read it from a BVH, and the names that it changes. White space in
// names becomes _, and braces become parentheses; a name that is there twice gets a number. Joints without
// a parent have no offset at rest: programs differ in whether places are from there. A joint without a
// child gets an End Site, which goes on as the joint's own bone, half as far; a joint at its parent's place
// gets one a tenth of the mean bone above it.
func Portable(c *skel.Clip) (_ *skel.Clip, renamed map[string]string) {
	s := c.Skel
	n := s.Len()
	leaf, mean, bones := make([]bool, n), float32(0), 0
	for j, p := range s.Parents {
		leaf[j] = !s.EndSite[j]
		if p >= 0 {
			leaf[p] = false
			if l := s.Offsets[j].Len(); l > 0 {
				mean += l
				bones++
			}
		}
	}
	mean /= float32(max(bones, 1))
	if mean == 0 {
		mean = 1
	}
	out := &skel.Skeleton{}
	names := portableNames(s)
	from, to := []int{}, make([]int16, n) // joints of s, −1 for a new End Site; their new places
	add := func(name string, parent int16, offset m3.Vec3, end bool, of int) {
		out.Names, out.Parents = append(out.Names, name), append(out.Parents, parent)
		out.Offsets, out.EndSite = append(out.Offsets, offset), append(out.EndSite, end)
		from = append(from, of)
	}
	for j, p := range s.Parents {
		at := m3.Vec3{}
		if p >= 0 {
			p, at = to[p], s.Offsets[j]
		}
		to[j] = int16(len(from))
		add(names[j], p, at, s.EndSite[j], j)
		if names[j] != s.Names[j] {
			if renamed == nil {
				renamed = map[string]string{}
			}
			renamed[s.Names[j]] = names[j]
		}
		if leaf[j] {
			offset := s.Offsets[j].Scale(0.5)
			if s.Parents[j] < 0 || offset == (m3.Vec3{}) {
				offset = m3.V(0, 0.1*mean, 0)
			}
			add(names[j]+"Site", to[j], offset, true, -1)
		}
	}
	clip := skel.NewClip(out, c.FPS, c.Frames)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		newPos, newRot := clip.Frame(f)
		for k, j := range from {
			if j >= 0 {
				newPos[k], newRot[k] = pos[j], rot[j]
			}
		}
	}
	return clip, renamed
}

// portableNames returns the names of joints as all programs read them.
func portableNames(s *skel.Skeleton) []string {
	out, taken := make([]string, s.Len()), map[string]bool{}
	for j, name := range s.Names {
		name = cleanName(strings.NewReplacer("{", "(", "}", ")").Replace(strings.Join(strings.Fields(name), "_")))
		if len(name) > maxName/2 {
			name = strings.ToValidUTF8(name[:maxName/2], "")
		}
		unique := cmp.Or(name, "joint")
		for k := 2; taken[unique]; k++ {
			unique = fmt.Sprintf("%s_%d", cmp.Or(name, "joint"), k)
		}
		taken[unique], out[j] = true, unique
	}
	return out
}
