package feature

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// Person is the layout of a motion with the skeleton that it poses. It is immutable, safe to share.
type Person struct {
	Layout *Motion
	Skel   *skel.Skeleton // metres

	posture *ik.Posture
	bones   []Bone
	feet    []int // columns of the positions of the joints that have contacts
}

// NewPerson finds the layout's joints in the skeleton. Both must be valid.
func NewPerson(layout *Motion, sk *skel.Skeleton) (*Person, error) {
	tree, err := ik.NewTree(sk.Parents)
	if err != nil {
		return nil, err
	}
	joints, axes := make([]int, len(layout.Joints)), make([]m3.Vec3, sk.Len())
	for i, name := range layout.Joints {
		if joints[i] = sk.Index(name); joints[i] < 0 {
			return nil, fmt.Errorf("its skeleton has no joint %q", name)
		}
	}
	for _, b := range layout.Bends {
		axes[sk.Index(b.Joint)] = m3.V(b.Axis[0], b.Axis[1], b.Axis[2])
	}
	posture, err := ik.NewPosture(tree, sk.Offsets, joints, axes)
	if err != nil {
		return nil, err
	}
	p := &Person{Layout: layout, Skel: sk, posture: posture, bones: bonesOf(layout, sk)}
	for _, c := range layout.Contacts {
		p.feet = append(p.feet, layout.Pos(layout.Joint(c.Joint)))
	}
	return p, nil
}

// DescribePerson returns what model files store: layout and skeleton in JSON, the layout's hash.
func DescribePerson(layout *Motion, sk *skel.Skeleton) (schema, hash, skeleton string, err error) {
	s, err := json.Marshal(layout)
	if err != nil {
		return "", "", "", fmt.Errorf("layout: %w", err)
	}
	k, err := json.Marshal(sk)
	if err != nil {
		return "", "", "", fmt.Errorf("skeleton: %w", err)
	}
	return string(s), layout.Hash(), string(k), nil
}

// ReadPerson reads the results of DescribePerson, or returns nil and lists in differ what is wrong.
func ReadPerson(schema, hash, skeleton string) (p *Person, differ []string) {
	layout, sk := new(Motion), new(skel.Skeleton)
	no := func(format string, args ...any) { differ = append(differ, fmt.Sprintf(format, args...)) }
	if err := json.Unmarshal([]byte(schema), layout); err != nil {
		no("its schema is not a layout: %v", err)
	} else if err := layout.Validate(); err != nil {
		no("%v", err)
	} else if h := layout.Hash(); h != hash {
		no("its schema hash is %q, this program reads its schema as %q", hash, h)
	}
	if err := json.Unmarshal([]byte(skeleton), sk); err != nil {
		no("its skeleton cannot be read: %v", err)
	} else if err := sk.Validate(); err != nil {
		no("%v", err)
	}
	if len(differ) > 0 {
		return nil, differ
	}
	p, err := NewPerson(layout, sk)
	if err != nil {
		no("%v", err)
	}
	return p, differ
}

// Fit poses the skeleton so that the layout's joints come nearest to points, (joints), in world
// space; see ik.Posture.Fit. It reports whether the pose is finite.
func (p *Person) Fit(model []m3.Xform, pos []m3.Vec3, rot []m3.Quat, points []m3.Vec3) bool {
	return p != nil && p.posture.Fit(model, pos, rot, points)
}

// Clip returns a clip of the skeleton from the motion in rows, (frames, Layout.Columns()) at fps
// frames per second, with the first frame at start. It is an error if a value is not finite.
func (p *Person) Clip(rows []float32, fps float64, start Place) (*skel.Clip, error) {
	if p == nil || p.posture == nil {
		return nil, errors.New("feature: the zero Person has no skeleton: make one with NewPerson")
	}
	cols, n := p.Layout.Columns(), len(p.Layout.Joints)
	if len(rows) == 0 || len(rows)%cols != 0 {
		return nil, fmt.Errorf("feature: %d values are not whole frames of %d", len(rows), cols)
	}
	if i := slices.IndexFunc(rows, func(v float32) bool { return !m3.Finite(v) }); i >= 0 {
		return nil, fmt.Errorf("feature: value %d of frame %d is not finite", i%cols, i/cols)
	}
	frames := len(rows) / cols
	world, model := make([]m3.Vec3, frames*n), make([]m3.Xform, p.Skel.Len())
	p.Layout.ToWorld(world, rows, fps, start)
	c := skel.NewClip(p.Skel, fps, frames)
	for f := range frames {
		pos, rot := c.Frame(f)
		if !p.posture.Fit(model, pos, rot, world[f*n:][:n]) {
			return nil, fmt.Errorf("feature: frame %d leaves the range of numbers", f)
		}
	}
	return c, nil
}
