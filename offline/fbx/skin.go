package fbx

import (
	"cmp"
	"math"
	"slices"

	"mannequin/animsys/skin"
	"mannequin/internal/affine"
)

// cluster is a model's pull at points of a mesh.
type cluster struct {
	model *model
	bind  affine.Transform // from the mesh to the model, when they were bound
}

// pull is a cluster's weight at a point.
type pull struct {
	cluster int
	weight  float64
}

// binding is the skin of a mesh.
type binding struct {
	clusters []cluster
	pulls    [][]pull // per point: at most four, the strongest first, with the sum 1; none for points without weights
	over     int      // points with more than four
}

// maxWeights is the number of weights of all meshes that are read.
const maxWeights = 1 << 23

// readBinding reads the skins of a mesh, or returns nil if it has none.
func (c *characterReader) readBinding(m *mesh, skins []int64, owner *model) (*binding, error) {
	b := &binding{}
	var all [][]pull
	seen := map[int64]bool{}
	for _, deformer := range skins {
		for _, id := range c.below(deformer, "", "Deformer/Cluster") {
			var link *model
			for _, l := range c.into[id] {
				if k := c.byID[l.child]; k != nil {
					link = k
					break
				}
			}
			if link == nil || seen[id] {
				continue // its joint was deleted
			}
			seen[id] = true
			r := c.objects[id]
			number := slices.IndexFunc(b.clusters, func(k cluster) bool { return k.model == link })
			if number < 0 {
				if number = len(b.clusters); number == skin.MaxJoints {
					return nil, c.errorf(r.at, "the skin of %.60q has more than %d joints", m.name, skin.MaxJoints)
				}
				bind, err := c.bind(r, link, owner)
				if err != nil {
					return nil, err
				}
				b.clusters = append(b.clusters, cluster{link, bind})
			}
			if all == nil {
				all = make([][]pull, len(m.points)/3)
			}
			if err := c.addWeights(r, m, number, all); err != nil {
				return nil, err
			}
		}
	}
	if len(b.clusters) == 0 {
		return nil, nil
	}
	for i, p := range all {
		if len(p) > 4 {
			b.over++
		}
		all[i] = strongest(p)
	}
	b.pulls = all
	return b, nil
}

// bind returns the transform from a mesh to a joint when they were bound. A file has it as Transform,
// TransformLink is the joint's place in the world.
func (c *characterReader) bind(r *record, link, owner *model) (affine.Transform, error) {
	if m := r.child("Transform"); m != nil {
		return c.matrix(m)
	}
	world := c.poses[link.index].world
	if m := r.child("TransformLink"); m != nil {
		var err error
		if world, err = c.matrix(m); err != nil {
			return world, err
		}
	}
	back, ok := world.Inverse()
	if !ok {
		return world, c.errorf(r.at, "the joint %.60q of a skin is flat", link.name)
	}
	return back.Mul(&c.poses[owner.index].world), nil
}

// matrix reads a matrix, whose columns follow each other.
func (s *scene) matrix(r *record) (out affine.Transform, err error) {
	v, err := s.numbers(r, 16)
	if err != nil {
		return out, err
	}
	if len(v) < 16 {
		return out, s.errorf(r.at, "%s: %d numbers, want a matrix of 16", r.name, len(v))
	}
	for c := range 4 {
		for row := range 3 {
			out[4*row+c] = v[4*c+row]
		}
	}
	if !out.Finite() {
		return out, s.errorf(r.at, "%s: the matrix is not finite", r.name)
	}
	return out, nil
}

// addWeights adds a cluster's weights to those of the points.
func (c *characterReader) addWeights(r *record, m *mesh, number int, all [][]pull) error {
	at := r.child("Indexes")
	if at == nil {
		return nil // a joint that moves no points
	}
	points, err := c.wholes(at, len(all))
	if err != nil {
		return err
	}
	list := r.child("Weights")
	if list == nil {
		return c.errorf(r.at, "a joint of the skin of %.60q has points and no weights", m.name)
	}
	weights, err := c.numbers(list, len(all))
	if err != nil {
		return err
	}
	if len(weights) != len(points) {
		return c.errorf(list.at, "%d weights for %d points", len(weights), len(points))
	}
	if c.weights += len(points); c.weights > maxWeights {
		return c.errorf(r.at, "with the skin of %.60q there are more than %d weights", m.name, maxWeights)
	}
	for i, p := range points {
		w := weights[i]
		switch {
		case p < 0 || p >= int64(len(all)):
			return c.errorf(at.at, "a weight is of point %d, the mesh %.60q has %d", p, m.name, len(all))
		case math.IsNaN(w) || math.IsInf(w, 0):
			return c.errorf(list.at, "the weight of point %d is %g", p, w)
		case w > 0:
			all[p] = append(all[p], pull{number, w})
		}
	}
	return nil
}

// strongest sums each cluster's weights, and returns the four largest, in order, scaled to the sum 1.
func strongest(all []pull) []pull {
	out := all[:0]
	for _, p := range all {
		if k := slices.IndexFunc(out, func(q pull) bool { return q.cluster == p.cluster }); k >= 0 {
			out[k].weight += p.weight
		} else {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b pull) int { return cmp.Compare(b.weight, a.weight) })
	out = out[:min(len(out), 4)]
	sum := 0.0
	for _, p := range out {
		sum += p.weight
	}
	for i := range out {
		out[i].weight /= sum
	}
	return out
}
