package fbx

import (
	"math"

	"mannequin/internal/affine"
)

// bindWorld returns where the models were in the world when the meshes were bound: in most files the character
// then stands in a T-pose or an A-pose, while the models may have any pose of an animation. poses is theirs.
// Models that the file has no such place of keep theirs below their parents. It returns nil if the file says nothing,
// or if the places cannot be right: then with a note, if it is worth one.
func (s *scene) bindWorld(poses []pose) (world []affine.Transform, note string, err error) {
	bound, err := s.bound()
	if err != nil || len(bound) == 0 {
		return nil, "", err
	}
	world = make([]affine.Transform, len(s.models))
	same, other := 0, 0 // bones that are as long as in the models' pose, and others
	for i, m := range s.models {
		w, ok := bound[m]
		up := m.parent
		switch {
		case ok:
			world[i] = w
		case up == nil:
			world[i] = poses[i].world
		default:
			world[i] = poses[i].local
			if back, ok := poses[up.index].world.Inverse(); ok {
				world[i] = back.Mul(&poses[i].world)
			}
			world[i] = world[up.index].Mul(&world[i])
		}
		if !world[i].Finite() {
			return nil, "", nil
		}
		if ok && up != nil && up.skinned && m.skinned {
			was, is := length(&poses[i].world, &poses[up.index].world), length(&world[i], &world[up.index])
			if math.Abs(was-is) <= 0.1*max(was, is) {
				same++
			} else {
				other++
			}
		}
	}
	if other > same/4 {
		return nil, "the places of its joints when its meshes were bound do not fit its bones: it has the pose of its nodes", nil
	}
	return world, "", nil
}

// bindPose puts the models where they were when the meshes were bound.
func (c *characterReader) bindPose() error {
	world, note, err := c.bindWorld(c.poses)
	if note != "" {
		c.note("%s", note)
	}
	if world == nil || err != nil {
		return err
	}
	for i := range world {
		c.poses[i].world = world[i]
	}
	for i, m := range c.models {
		local := world[i]
		if m.parent != nil {
			if back, ok := world[m.parent.index].Inverse(); ok {
				local = back.Mul(&world[i])
			} else {
				local = c.poses[i].local
			}
		} else {
			up := of(&c.up, [3]float64{})
			local = up.Mul(&local)
		}
		local = c.inMetres(local)
		n := c.doc.Nodes[i]
		n.Translation, n.Rotation, n.Scale = [3]float64{}, [4]float64{}, [3]float64{}
		n.Matrix = columns(&local)
	}
	return nil
}

func length(a, b *affine.Transform) float64 {
	return math.Sqrt(apart2([3]float64{a[3], a[7], a[11]}, [3]float64{b[3], b[7], b[11]}))
}

// bound returns the places of models in the world when the meshes were bound, as clusters have them, or
// else bind poses.
func (s *scene) bound() (map[*model]affine.Transform, error) {
	out := map[*model]affine.Transform{}
	take := func(m *model, r *record) error {
		if m == nil || r == nil {
			return nil
		}
		if _, ok := out[m]; ok {
			return nil
		}
		w, err := s.matrix(r)
		if w.Det() != 0 && err == nil {
			out[m] = w
		}
		return err
	}
	for _, l := range s.links {
		if s.kinds[l.parent] == "Deformer/Cluster" {
			if err := take(s.byID[l.child], s.objects[l.parent].child("TransformLink")); err != nil {
				return nil, err
			}
		}
	}
	objects := s.root.child("Objects")
	for i := 0; objects != nil && i < len(objects.below); i++ {
		pose := &objects.below[i]
		if pose.name != "Pose" {
			continue
		}
		values, err := s.all(pose, 3)
		if err != nil {
			return nil, err
		}
		if text(values, len(values)-1) != "BindPose" {
			continue
		}
		if err := s.poseNodes(pose, take); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// poseNodes calls take for each model of a bind pose, with the record of its matrix.
func (s *scene) poseNodes(pose *record, take func(m *model, r *record) error) error {
	for i := range pose.below {
		n := &pose.below[i]
		if n.name != "PoseNode" || n.child("Node") == nil {
			continue
		}
		v, err := s.all(n.child("Node"), 1)
		if err != nil {
			return err
		}
		if len(v) == 0 {
			continue
		}
		id := v[0].whole
		if v[0].kind == 's' { // version 6
			id = s.ids[v[0].text]
		}
		if err := take(s.byID[id], n.child("Matrix")); err != nil {
			return err
		}
	}
	return nil
}
