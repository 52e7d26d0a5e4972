package mocap

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mannequin/engine/m3"
)

// connect makes the skeleton.
func (r *asfReader) connect() error {
	for _, child := range r.children {
		link := r.parents[child]
		b, parent := r.byName[child], r.byName[link.parent]
		if strings.EqualFold(link.parent, asfRoot) {
			parent = r.root
		}
		for _, x := range [...]struct {
			bone *asfBone
			name string
		}{{parent, link.parent}, {b, child}} {
			if x.bone == nil {
				return r.fail(link.at, "the section :hierarchy names %s, which is no bone of :bonedata", quote(x.name))
			}
		}
		b.parent, b.childAt = parent, link.at
		parent.children = append(parent.children, b)
	}
	for _, b := range r.list {
		n := math.Sqrt(b.direction[0]*b.direction[0] + b.direction[1]*b.direction[1] + b.direction[2]*b.direction[2])
		if n < 1e-6 && b.length > 0 {
			return r.fail(b.at, "bone %s is %g long, but its direction is 0", quote(b.name), b.length)
		}
		for k := range b.direction {
			b.direction[k] /= max(n, 1e-6)
		}
	}
	r.asf.index = make(map[string]int, len(r.list)+1)
	if err := r.addBone(r.root, -1, r.root.position, 0); err != nil {
		return err
	}
	for _, b := range r.list {
		if _, ok := r.asf.index[b.name]; !ok {
			return r.fail(b.at, "bone %s does not hang on the root: name it in the section :hierarchy, behind its parent", quote(b.name))
		}
	}
	s := r.skel // a pointer into r would keep the whole text
	r.asf.Skel, r.asf.channels = &s, r.channels
	return nil
}

// addBone appends b's joint, which starts at offset from its parent joint, and b's children.
func (r *asfReader) addBone(b *asfBone, parent int, offset [3]float64, depth int) (err error) {
	if b.joint, err = r.addJoint(b.name, parent, depth, b.childAt, false, offset); err != nil {
		return err
	}
	unit := 1.0
	if r.asf.degrees {
		unit = math.Pi / 180
	}
	b.axes = quat64{1}
	for _, k := range [...]int{b.order[2], b.order[1], b.order[0]} {
		s, c := math.Sincos(b.angles[k] * unit / 2)
		b.axes = b.axes.turn(k, s, c)
	}
	r.asf.index[b.name] = len(r.asf.bones)
	r.asf.bones = append(r.asf.bones, b)
	r.channels[b.joint] = b.bvhChannels()

	end := scale3(b.direction, b.length)
	for _, c := range b.children {
		if err := r.addBone(c, b.joint, end, depth+1); err != nil {
			return err
		}
		b.ends = append(b.ends, c.joint)
	}
	if len(b.children) > 0 || b == r.root {
		return nil
	}
	// An End Site stays where it is; the end of a bone that stretches is a joint.
	stretches := slices.Contains(b.dofs, stretch)
	j, err := r.addJoint(b.name+"Site", b.joint, depth+1, b.childAt, !stretches, end)
	if err != nil {
		return err
	}
	if stretches {
		r.channels[j] = []Channel{Xposition, Yposition, Zposition}
	}
	b.ends = append(b.ends, j)
	return nil
}

func (r *asfReader) addJoint(name string, parent, depth, at int, end bool, offset [3]float64) (int, error) {
	j, err := r.add(cleanName(name), parent, depth, at, end)
	if err != nil {
		return 0, err
	}
	r.skel.Offsets[j] = m3.V(float32(offset[0]), float32(offset[1]), float32(offset[2]))
	return j, nil
}

// bvhChannels returns the channels of b's joint in a BVH, as in CMU's own conversions,
// with positions if the joint moves in its parent.
func (b *asfBone) bvhChannels() []Channel {
	rotations := []Channel{Zrotation, Yrotation, Xrotation}
	shifts := b.parent == nil || slices.Contains(b.parent.dofs, stretch)
	for _, d := range b.dofs {
		shifts = shifts || d < dof(Xrotation)
	}
	if shifts {
		return append([]Channel{Xposition, Yposition, Zposition}, rotations...)
	}
	return rotations
}

// describe lists the degrees of freedom for a message.
func (b *asfBone) describe() string {
	if len(b.dofs) == 0 {
		return "no degrees of freedom"
	}
	names := make([]string, len(b.dofs))
	for i, d := range b.dofs {
		names[i] = dofNames[d]
	}
	return fmt.Sprintf("the degrees of freedom %s", strings.Join(names, " "))
}
