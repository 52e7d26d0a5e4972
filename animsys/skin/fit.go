package skin

import (
	"fmt"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// fit is how a file's character stands beside a skeleton. Slices have one entry per joint of the skeleton.
type fit struct {
	skin    *Skin
	sk      *skel.Skeleton
	stands  []m3.Xform // how the skeleton stands
	upright bool

	from  []int     // matching joint of the file, −1 for none
	made  []bool    // feet and hands that the file lacks: they have a place, and no joint of the file
	ends  []string  // the names of joints made for them, after the file's
	turn  m3.Quat   // rotation of the file's world
	scale float32   // metres per unit of the file
	low   float32   // lowest point of the mesh, turned and scaled
	place []m3.Vec3 // the file's joint position, turned and scaled; of matched joints
	bones [][]int   // next matched joints below it with another position
	align []m3.Quat // from our standing pose to the mesh's
	bind  []m3.Xform
	notes []string
}

// at returns the file's position of a matched joint of the skeleton.
func (f *fit) at(name string) m3.Vec3 { return f.place[f.sk.Index(name)] }

// pivots reports whether joint j of the skeleton is at its parent's position.
func (f *fit) pivots(j int) bool { return f.sk.Parents[j] >= 0 && f.sk.Offsets[j].Len() < 1e-4 }

func (f *fit) orient() error {
	n := f.sk.Len()
	f.place, f.made = make([]m3.Vec3, n), make([]bool, n)
	for j, k := range f.from {
		if k >= 0 {
			f.place[j] = f.skin.joints[k].pos
		}
	}
	// A joint at its parent's position gets the parent's position in the file too.
	for j, p := range f.sk.Parents {
		if f.from[j] >= 0 && f.pivots(j) && f.from[p] >= 0 {
			f.place[j] = f.place[p]
		}
	}
	if err := f.makeEnds(); err != nil {
		return err
	}
	bind := func(name string) m3.Vec3 { return f.stands[f.sk.Index(name)].Pos }
	theirs, ok := frameOf(f.at)
	if !ok {
		return fmt.Errorf("%s: hips and feet lie in one line: the character must stand in the file's pose", f.skin.Name)
	}
	mine, _ := frameOf(bind)
	f.turn = rightAngles(mine.Mul(theirs.Conj()))
	legs := func(at func(string) m3.Vec3) (sum float32) {
		for _, side := range []string{"Left", "Right"} {
			sum += at(side+"UpLeg").Dist(at(side+"Leg")) + at(side+"Leg").Dist(at(side+"Foot"))
		}
		return sum
	}
	l := legs(f.at)
	if f.scale = legs(bind) / l; !(l > 1e-6) || !m3.Finite(f.scale) {
		return fmt.Errorf("%s: its legs are %g long, but they set the scale", f.skin.Name, l)
	}
	for j := range f.place {
		f.place[j] = f.turn.Rotate(f.place[j]).Scale(f.scale)
	}
	for v, p := range f.skin.mesh.pos {
		if y := f.turn.Rotate(p).Scale(f.scale).Y; v == 0 || y < f.low {
			f.low = y
		}
	}
	return nil
}

// makeEnds places feet and hands that the file lacks where the mesh of the bone above ends.
func (f *fit) makeEnds() error {
	s := f.skin
	for j, name := range f.sk.Names {
		above, ok := ends[name]
		if !ok || f.from[j] >= 0 {
			continue
		}
		k := f.from[f.sk.Index(above)]
		far := float32(0)
		for v, all := range s.mesh.influences {
			for _, q := range all {
				if d := s.mesh.pos[v].Dist(s.joints[k].pos); int(q.joint) == k && q.weight > 0.5 && d > far {
					f.place[j], far = s.mesh.pos[v], d
				}
			}
		}
		if far == 0 {
			return fmt.Errorf("%s: no joint was found for %s, and %s moves no part of the mesh that could end in one", s.Name, name,
				anatomy.NameOf(s.Joints(), k))
		}
		f.made[j] = true
		f.notes = append(f.notes, fmt.Sprintf("the file has no joint for %s: it is taken to be where the mesh of %s ends", name,
			anatomy.NameOf(s.Joints(), k)))
	}
	return nil
}

// frameOf returns the orientation of a character with joints at at: axes left, up and ahead.
func frameOf(at func(string) m3.Vec3) (m3.Quat, bool) {
	left := at("LeftUpLeg").Sub(at("RightUpLeg")).Normalize(m3.Vec3{})
	up := at("LeftUpLeg").Lerp(at("RightUpLeg"), 0.5).Sub(at("LeftFoot").Lerp(at("RightFoot"), 0.5)).Normalize(m3.Vec3{})
	up = up.Sub(left.Scale(left.Dot(up)))
	if up.Len() < 0.2 || left == (m3.Vec3{}) {
		return m3.Ident, false
	}
	up = up.Normalize(m3.Up)
	return m3.FromAxes(left, up, left.Cross(up)), true
}

// rightAngles returns the rotation by right angles nearest to q.
func rightAngles(q m3.Quat) m3.Quat {
	axes := []m3.Vec3{{X: 1}, {Y: 1}, {Z: 1}, {X: -1}, {Y: -1}, {Z: -1}}
	best := m3.Ident
	for _, x := range axes {
		for _, y := range axes {
			if r := m3.FromAxes(x, y, x.Cross(y)); x.Dot(y) == 0 && r.Angle(q) < best.Angle(q)-1e-3 {
				best = r
			}
		}
	}
	return best
}

// findBones lists each matched joint's next matched joints below with another position, in both.
func (f *fit) findBones() {
	n := f.sk.Len()
	f.bones = make([][]int, n)
	apart := func(j, k int) bool {
		return f.stands[j].Pos.Dist(f.stands[k].Pos) > 1e-3 && f.place[j].Dist(f.place[k]) > 1e-3
	}
	for k := range n {
		if f.from[k] < 0 && !f.made[k] {
			continue
		}
		for j := int(f.sk.Parents[k]); j >= 0; j = int(f.sk.Parents[j]) {
			if f.from[j] < 0 || !apart(j, k) {
				continue
			}
			f.bones[j] = append(f.bones[j], k)
			// Joints at the same position share their bones.
			for p := int(f.sk.Parents[j]); p >= 0 && f.from[p] >= 0 && !apart(p, j); p = int(f.sk.Parents[p]) {
				f.bones[p] = append(f.bones[p], k)
			}
			break
		}
	}
}
