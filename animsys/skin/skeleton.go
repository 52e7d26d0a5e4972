package skin

import (
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Skeleton returns the file's joints, and their places in its world. A joint without children and
// vertices is an End Site. The offsets are along the world's axes, as though no joint was turned.
func (s *Skin) Skeleton() (*skel.Skeleton, []m3.Vec3) {
	n := len(s.joints)
	sk := &skel.Skeleton{EndSite: make([]bool, n)}
	at := make([]m3.Vec3, n)
	for i, j := range s.joints {
		sk.EndSite[i] = j.parent >= 0
	}
	for i, j := range s.joints {
		at[i] = j.pos
		off := j.pos
		if j.parent >= 0 {
			off = off.Sub(at[j.parent])
			sk.EndSite[j.parent] = false
		}
		sk.Names, sk.Parents, sk.Offsets = append(sk.Names, j.name), append(sk.Parents, int16(j.parent)), append(sk.Offsets, off)
	}
	for _, all := range s.mesh.influences {
		for _, q := range all {
			sk.EndSite[q.joint] = sk.EndSite[q.joint] && q.weight <= 0
		}
	}
	return sk, at
}

// Mesh returns the vertices in the file's world, and three indices per triangle.
func (s *Skin) Mesh() ([]m3.Vec3, []uint32) {
	return slices.Clone(s.mesh.pos), slices.Clone(s.mesh.index)
}

// Moved returns the vertices after each joint has moved by a transform of the file's world, one per
// joint.
func (s *Skin) Moved(by []m3.Xform) []m3.Vec3 {
	out := make([]m3.Vec3, len(s.mesh.pos))
	for v, p := range s.mesh.pos {
		for _, q := range s.mesh.influences[v] {
			if int(q.joint) < len(by) {
				out[v] = out[v].Add(by[q.joint].Apply(p).Scale(q.weight))
			}
		}
	}
	return out
}
