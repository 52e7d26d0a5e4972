package skin

import (
	"fmt"
	"slices"

	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// Named reports whether the file has all joints of a skeleton, by their own names. Ends of limbs may be missing.
func (s *Skin) Named(sk *skel.Skeleton) bool {
	return sk != nil && sk.Validate() == nil && s.unnamed(sk) == ""
}

// unnamed returns the first joint of a skeleton that the file lacks, or "".
func (s *Skin) unnamed(sk *skel.Skeleton) string {
	for j, name := range sk.Names {
		if !sk.EndSite[j] && s.joint(name) < 0 {
			return name
		}
	}
	return ""
}

func (s *Skin) joint(name string) int {
	return slices.IndexFunc(s.joints, func(k joint) bool { return k.name == name })
}

// CharacterByName makes a character for motion of a skeleton with the file's own joint names, on any number of legs:
// such as that of motions of the same character. At rest the skeleton stands as the file does, turned so that it faces +Z.
// size is as in CharacterOptions.
func (s *Skin) CharacterByName(sk *skel.Skeleton, roles ik.Roles, size float32) (*Character, error) {
	if !(size >= 0) || !m3.Finite(size) {
		return nil, fmt.Errorf("%s: the size %g: want 0 or more", s.Name, size)
	}
	if sk == nil {
		return nil, fmt.Errorf("%s: there is no skeleton", s.Name)
	}
	if err := sk.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	if name := s.unnamed(sk); name != "" {
		return nil, fmt.Errorf("%s: it has no joint %q, which the motion's skeleton has", s.Name, name)
	}
	n := sk.Len()
	pose := sk.Rest()
	lift(pose)
	f := &fit{skin: s, sk: sk, stands: pose, from: make([]int, n), made: make([]bool, n), turn: m3.Ident, scale: 1}
	for j, name := range sk.Names {
		f.from[j] = s.joint(name)
	}
	f.face()
	var mine, theirs float32
	for _, leg := range roles.Legs {
		for k := range leg {
			if leg[k] < 0 || leg[k] >= n {
				return nil, fmt.Errorf("%s: the roles name joint %d, and the motion's skeleton has %d", s.Name, leg[k], n)
			}
			if k == 0 {
				continue
			}
			if a, b := f.from[leg[k-1]], f.from[leg[k]]; a >= 0 && b >= 0 {
				mine += s.joints[a].pos.Dist(s.joints[b].pos)
				theirs += pose[leg[k-1]].Pos.Dist(pose[leg[k]].Pos)
			}
		}
	}
	if f.scale = theirs / mine; !(mine > 0) || !(f.scale > 0) || !m3.Finite(f.scale) {
		return nil, fmt.Errorf("%s: its legs are %g long and the motion's skeleton's %g m, but they set the scale", s.Name, mine, theirs)
	}
	if f.from[0] < 0 {
		return nil, fmt.Errorf("%s: it has no joint %q", s.Name, sk.Names[0])
	}
	scale := float32(1)
	if size > 0 {
		scale = f.scale * size
	}
	// The ground is where the skeleton's is, below its hips.
	hips := f.turn.Rotate(s.joints[f.from[0]].pos)
	f.low = hips.Y*f.scale - pose[0].Pos.Y
	own, rest := f.own(scale)
	return f.character(scale, retarget.Options{Source: sk, Roles: roles, Pose: pose, Skel: own, Rest: rest, From: f.from})
}

// lift puts the lowest joint on the ground.
func lift(pose []m3.Xform) {
	low := pose[0].Pos.Y
	for _, x := range pose {
		low = min(low, x.Pos.Y)
	}
	for j := range pose {
		pose[j].Pos.Y -= low
	}
}

// face turns the file by right angles so that it stands as the skeleton does: joints point from the hips where the
// skeleton's do, by least squares.
func (f *fit) face() {
	best := float32(-1)
	axes := []m3.Vec3{{X: 1}, {Y: 1}, {Z: 1}, {X: -1}, {Y: -1}, {Z: -1}}
	hips := f.skin.joints[f.from[0]].pos
	for _, x := range axes {
		for _, y := range axes {
			if x.Dot(y) != 0 {
				continue
			}
			turn, sum := m3.FromAxes(x, y, x.Cross(y)), float32(0)
			for j, k := range f.from {
				if k >= 0 {
					sum += turn.Rotate(f.skin.joints[k].pos.Sub(hips)).Dot(f.stands[j].Pos.Sub(f.stands[0].Pos))
				}
			}
			if sum > best {
				best, f.turn = sum, turn
			}
		}
	}
}
