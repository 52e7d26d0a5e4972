package mocap

import (
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// WithEndSites returns c with an End Site at each joint that has no child, as many programs want of a BVH:
// it goes on as the joint's own bone, half as far. A joint at its parent's place gets one a tenth of the
// mean bone above it.
func WithEndSites(c *skel.Clip) *skel.Clip {
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
	from, to := []int{}, make([]int16, n) // joints of s, −1 for a new End Site; their new places
	add := func(name string, parent int16, offset m3.Vec3, end bool, of int) {
		out.Names, out.Parents = append(out.Names, name), append(out.Parents, parent)
		out.Offsets, out.EndSite = append(out.Offsets, offset), append(out.EndSite, end)
		from = append(from, of)
	}
	for j, p := range s.Parents {
		if p >= 0 {
			p = to[p]
		}
		to[j] = int16(len(from))
		add(s.Names[j], p, s.Offsets[j], s.EndSite[j], j)
		if leaf[j] {
			offset := s.Offsets[j].Scale(0.5)
			if s.Parents[j] < 0 || offset == (m3.Vec3{}) {
				offset = m3.V(0, 0.1*mean, 0)
			}
			add(s.Names[j]+"Site", to[j], offset, true, -1)
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
	return clip
}
