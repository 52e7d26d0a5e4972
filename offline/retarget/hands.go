package retarget

import (
	"slices"

	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// A hand whose wrist is lower than lowHand in the scaled source, m, leans on the ground, and one higher than highHand does not.
const lowHand, highHand = 0.12, 0.3

// handsDown brings hands to the height that they have in the scaled source where they lean on the ground, as in a roll. Arms of other
// proportions, which are not pulled to their places, would hover over it or go through it. The arms stretch, and the trunk follows a little;
// legs stay.
func (w *work) handsDown(p *netruntime.Pool) error {
	k := len(w.joints)
	var hands []int // of joints
	for _, name := range []string{"LeftHand", "RightHand"} {
		if i := slices.Index(w.joints, w.target.Index(name)); i >= 0 {
			hands = append(hands, i)
		}
	}
	low := func(f int) bool {
		return slices.ContainsFunc(hands, func(i int) bool { return w.goals[f*k+i].Y < highHand })
	}
	first := 0
	for first < w.out.Frames && !low(first) {
		first++
	}
	if first == w.out.Frames {
		return nil
	}
	job := ik.DefaultFullBody()
	job.Tree, job.Joints, job.Pos, job.Rot = w.tree, w.joints, w.out.Pos, w.out.Rot
	job.Targets = make([]m3.Vec3, len(w.goals))
	for i, j := range w.joints {
		weight := float32(1)
		switch {
		case slices.Contains(hands, i):
			weight = 4
		case w.below(j, "Arm"):
			weight = 0
		case w.isFoot(j):
			weight = 16
		}
		job.Weights = append(job.Weights, weight)
	}
	if err := job.Validate(); err != nil {
		return err
	}
	mem := newRoom(&job, p.Workers())
	p.Run(w.out.Frames, func(worker, f int) {
		s, goals := mem[worker], w.goals[f*k:(f+1)*k]
		if !low(f) {
			return
		}
		w.out.Model(s.fk, f)
		for i, j := range w.joints {
			at := s.fk[j].Pos
			if slices.Contains(hands, i) {
				at.Y += m3.SmoothStep(highHand, lowHand, goals[i].Y) * (goals[i].Y - at.Y)
			}
			job.Targets[f*k+i] = at
		}
		job.Run(s.body, f, f+1)
	})
	return nil
}
