package feature

import (
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/skel"
)

// Column is the source of a value in a mirrored row, and its sign.
type Column struct {
	From int32
	Sign float32
}

// Mirror writes the mirror image of src into dst, in the plane of symmetry of the character. dst
// and src are rows of len(cols) values and must not overlap.
func Mirror(dst, src []float32, cols []Column) {
	if len(dst) != len(cols) || len(src) != len(cols) {
		panic("feature: Mirror: row length differs from the number of columns")
	}
	for i, c := range cols {
		// The zero that is added turns −0 into 0, so that equal values have equal bits.
		dst[i] = c.Sign*src[c.From] + 0
	}
}

// Pairs returns the partner of each joint across the plane of symmetry: the joint with Left and
// Right exchanged in its name, or the joint itself. A Left without a Right is an error.
func Pairs(joints []string) ([]int, error) {
	pair := make([]int, len(joints))
	for i, j := range joints {
		other := swapSide(j)
		if pair[i] = slices.Index(joints, other); pair[i] < 0 {
			return nil, fmt.Errorf("feature: joint %q has no partner %q: the skeleton cannot be mirrored", j, other)
		}
	}
	return pair, nil
}

func swapSide(name string) string {
	switch {
	case strings.Contains(name, "Left"):
		return strings.Replace(name, "Left", "Right", 1)
	case strings.Contains(name, "Right"):
		return strings.Replace(name, "Right", "Left", 1)
	}
	return name
}

// MirrorColumns returns the maps that mirror an input and an output row.
//
// In the root frame the mirror is the plane x = 0. A joint of the image has its partner's reflected
// frame, with the lateral axis reversed to make it a rotation again: local Y for the joints in
// MirrorY, local Z for all others. So the one of its up (+Y) and forward (+Z) along that axis is
// the partner's reflected vector negated, the other the partner's reflected vector. An image row is
// a pose of the same skeleton exactly if every joint's offset is its partner's with the sign of the
// parent's lateral axis changed, and an End Site shares its parent's lateral axis. With Mirror,
// Lateral gives each joint's lateral axis. If it is local X, up and forward are the partner's reflected
// vectors. If it is skel.AllAxes, both reflected vectors are negated.
func (m *MANN) MirrorColumns() (in, out []Column, err error) {
	pair := m.Mirror
	if pair == nil {
		if pair, err = Pairs(m.Joints); err != nil {
			return nil, nil, err
		}
	}
	in, out = identity(m.Inputs()), identity(m.Outputs())
	for s := range TrajSamples {
		flipSample(in[m.InSample(s):])
	}
	for s := range TrajFuture {
		flipSample(out[m.OutSample(s):])
	}
	for _, j := range m.MirrorY {
		if !slices.Contains(m.Joints, j) {
			return nil, nil, fmt.Errorf("feature: MirrorY names %q, which is not among the layout's joints", j)
		}
	}
	for b, p := range pair {
		axis := 2
		if m.Mirror != nil {
			if axis = 0; m.Lateral != nil {
				axis = m.Lateral[b]
			}
		} else if y := slices.Contains(m.MirrorY, m.Joints[b]); y != slices.Contains(m.MirrorY, m.Joints[p]) {
			return nil, nil, fmt.Errorf("feature: MirrorY names only one of %q and %q", m.Joints[b], m.Joints[p])
		} else if y {
			axis = 1
		}
		mirrorBone(in, m.InBone(b), m.InBone(p), axis)
		mirrorBone(out, m.OutBone(b), m.OutBone(p), axis)
	}
	if m.Phases {
		for t, name := range m.Tips {
			other := m.Joints[pair[slices.Index(m.Joints, name)]]
			p := slices.Index(m.Tips, other)
			if p < 0 {
				return nil, nil, fmt.Errorf("feature: tip %q has no partner %q: the skeleton cannot be mirrored", name, other)
			}
			for k := range PhaseLen {
				in[m.InPhase(t)+k].From, out[m.OutPhase(t)+k].From = int32(m.InPhase(p)+k), int32(m.OutPhase(p)+k)
			}
		}
	}
	out[m.OutRoot()+RootX].Sign = -1
	out[m.OutRoot()+RootYaw].Sign = -1
	return in, out, nil
}

func identity(n int) []Column {
	c := make([]Column, n)
	for i := range c {
		c[i] = Column{int32(i), 1}
	}
	return c
}

func flipSample(c []Column) {
	c[SamplePos].Sign = -1
	c[SampleDir].Sign = -1
	c[SampleVel].Sign = -1
}

// mirrorBone mirrors a bone whose lateral axis is local X, Y or Z, or all: 0, 1, 2 or 3.
func mirrorBone(c []Column, to, from, axis int) {
	for k := range BoneChannels {
		c[to+k] = Column{int32(from + k), 1}
	}
	c[to+BonePos].Sign, c[to+BoneVel].Sign = -1, -1
	for i, v := range [...]int{BoneUp, BoneForward} {
		if axis == i+1 || axis == skel.AllAxes { // reflected and reversed
			c[to+v+1].Sign, c[to+v+2].Sign = -1, -1
		} else {
			c[to+v].Sign = -1
		}
	}
}
