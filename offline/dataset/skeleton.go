package dataset

import (
	"fmt"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// tolerance is the largest difference between recordings' skeletons, or between a
// skeleton's two sides, that counts as inexact measuring and is averaged away, m.
const tolerance = 0.01

// The summed length of all bones, in metres, from a mouse to an elephant; a dog's is about
// 4 m. Files outside of this range are in another unit.
const smallest, largest = 0.3, 60

// canonical returns the skeleton of all rows' poses. It has the layout's joints with the
// medians of the recordings' offsets, and is made symmetric so that a mirrored pose is a
// pose of the same skeleton. Lengths are multiplied by unit. The root's offset is zero:
// recordings place the root themselves.
func canonical(layout *feature.MANN, recs []recording, unit float32) (*skel.Skeleton, error) {
	n := len(layout.Joints)
	s := &skel.Skeleton{
		Names: slices.Clone(layout.Joints), Parents: make([]int16, n),
		Offsets: make([]m3.Vec3, n), EndSite: make([]bool, n),
	}
	maps := make([][]int, len(recs))
	for i, r := range recs {
		var err error
		if maps[i], err = joinJoints(layout, r.clip.Skel); err != nil {
			return nil, fmt.Errorf("dataset: %s: %w", r.name, err)
		}
	}
	x, y, z := make([]float32, len(recs)), make([]float32, len(recs)), make([]float32, len(recs))
	for j := range n {
		first := recs[0].clip.Skel
		k := maps[0][j]
		s.EndSite[j] = first.EndSite[k]
		p := first.Parents[k]
		if s.Parents[j] = -1; p < 0 {
			continue
		}
		s.Parents[j] = int16(slices.Index(layout.Joints, first.Names[p]))
		for i, r := range recs {
			k, own := maps[i][j], r.clip.Skel
			if p := own.Names[own.Parents[k]]; p != layout.Joints[s.Parents[j]] {
				return nil, fmt.Errorf("dataset: %s: joint %s hangs on %s, in %s on %s: bring all onto one skeleton first",
					r.name, layout.Joints[j], p, recs[0].name, layout.Joints[s.Parents[j]])
			}
			o := own.Offsets[k].Scale(unit)
			x[i], y[i], z[i] = o.X, o.Y, o.Z
		}
		s.Offsets[j] = m3.V(median(x), median(y), median(z))
		for i, r := range recs {
			o := r.clip.Skel.Offsets[maps[i][j]].Scale(unit)
			if d := o.Sub(s.Offsets[j]).Len(); d > tolerance {
				return nil, fmt.Errorf("dataset: %s: joint %s lies %.3g m from where the other recordings have it: bring all onto one skeleton first",
					r.name, layout.Joints[j], d)
			}
		}
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("dataset: layout's joint order: %w", err)
	}
	var bones float64
	for _, o := range s.Offsets {
		bones += float64(o.Len())
	}
	if bones < smallest || bones > largest {
		return nil, fmt.Errorf("dataset: all bones together are %.3g m long, with %g m to a unit of the files: scale the files", bones, unit)
	}
	return s, symmetrise(layout, s)
}

// symmetrise averages the offsets of both sides, for the mirror of feature.MANN.MirrorColumns.
func symmetrise(layout *feature.MANN, s *skel.Skeleton) error {
	pair, err := feature.Pairs(s.Names)
	if err != nil {
		return err
	}
	old := slices.Clone(s.Offsets)
	for j, p := range pair {
		if s.Parents[j] < 0 {
			continue
		}
		parent := s.Names[s.Parents[j]]
		y := slices.Contains(layout.MirrorY, parent)
		if s.EndSite[j] && y != slices.Contains(layout.MirrorY, s.Names[j]) {
			return fmt.Errorf("dataset: layout: MirrorY must name both or neither of %q and its end site %q", parent, s.Names[j])
		}
		q := old[p]
		if y {
			q.Y = -q.Y
		} else {
			q.Z = -q.Z
		}
		if d := q.Sub(old[j]).Len(); d > tolerance {
			return fmt.Errorf("dataset: joint %s is %.3g m off the mirror image of %s: this skeleton cannot be mirrored",
				s.Names[j], d, s.Names[p])
		}
		s.Offsets[j] = old[j].Add(q).Scale(0.5)
	}
	return nil
}

// joinJoints returns the joint of sk for every joint of the layout. Joints of sk that the layout
// lacks are left out; it is an error if one is the parent of a joint that the layout has.
func joinJoints(layout *feature.MANN, sk *skel.Skeleton) ([]int, error) {
	at := make([]int, len(layout.Joints))
	for j, name := range layout.Joints {
		k := sk.Index(name)
		if k < 0 {
			return nil, fmt.Errorf("the skeleton has no joint %q", name)
		}
		at[j] = k
		p := sk.Parents[k]
		if (p < 0) != (j == 0) {
			return nil, fmt.Errorf("joint %q: the layout's first joint, %q, must be the only root", name, layout.Joints[0])
		}
		if p >= 0 && !slices.Contains(layout.Joints[:j], sk.Names[p]) {
			return nil, fmt.Errorf("joint %q hangs on %q, which the layout does not list before it", name, sk.Names[p])
		}
	}
	return at, nil
}

func median(v []float32) float32 {
	s := slices.Clone(v)
	slices.Sort(s)
	return s[len(s)/2]
}
