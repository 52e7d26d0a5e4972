package retarget

import (
	"slices"
	"strings"

	"mannequin/engine/m3"
)

// highFoot is the length from ankle to toes, in those of the target, above which a foot is a toy's.
const highFoot = 1.8

// underHips brings the goals of legs that are much farther apart at the hips than the target's under its hips: those
// of a toy with short legs and a fat body. Otherwise its legs would have to straddle, and its feet would not reach the
// ground. They move along the body's left, which is smoothed over a second so that feet on the ground stay.
func (w *work) underHips() {
	l, r := w.target.Index("LeftUpLeg"), w.target.Index("RightUpLeg")
	wider := (w.at[w.from[l]].Dist(w.at[w.from[r]])*w.scale - w.to[l].Dist(w.to[r])) / 2
	wider *= m3.Clamp((m3.Abs(wider)-w.job.Near)/(w.job.Far-w.job.Near), 0, 1)
	left, right := slices.Index(w.joints, l), slices.Index(w.joints, r)
	if wider == 0 || left < 0 || right < 0 {
		return
	}
	k, frames := len(w.joints), w.clip.Frames
	sum := make([]m3.Vec3, frames+1) // of the frames before
	for f := range frames {
		across := w.goals[f*k+left].Sub(w.goals[f*k+right]).Normalize(m3.Vec3{})
		across.Y = 0 // the ground stays where it is
		sum[f+1] = sum[f].Add(across)
	}
	half := int(w.clip.FPS / 2)
	for f := range frames {
		from, to := max(f-half, 0), min(f+half+1, frames)
		by := sum[to].Sub(sum[from]).Scale(wider / float32(to-from))
		for _, i := range w.legs {
			if strings.HasPrefix(w.target.Names[w.joints[i]], "Left") {
				w.goals[f*k+i] = w.goals[f*k+i].Sub(by)
			} else {
				w.goals[f*k+i] = w.goals[f*k+i].Add(by)
			}
		}
	}
}

// ontoGround brings the goals of ankles that are much farther from their toes than the target's to where its ankles
// are with these toes, and the body down with them: the feet of toys are high. Otherwise they would hover.
func (w *work) ontoGround() {
	k := len(w.joints)
	for _, side := range []string{"Left", "Right"} {
		goal := func(name string) int { return slices.Index(w.joints, w.target.Index(name)) }
		ankle, toe, knee := goal(side+"Foot"), goal(side+"ToeBase"), goal(side+"Leg")
		if min(ankle, toe, knee) < 0 {
			continue
		}
		a, t := w.joints[ankle], w.joints[toe]
		ours, theirs := w.to[a].Dist(w.to[t]), w.at[w.from[a]].Dist(w.at[w.from[t]])*w.scale
		share := m3.Clamp(theirs/ours-highFoot, 0, 1)
		if share == 0 {
			continue
		}
		for f := range w.clip.Frames {
			goals := w.goals[f*k : (f+1)*k]
			by := goals[toe].Sub(goals[ankle]).Scale(share * (1 - ours/theirs))
			goals[ankle] = goals[ankle].Add(by)
			goals[knee].Y += by.Y
			for i, j := range w.joints {
				if !w.below(j, "Leg") {
					goals[i].Y += by.Y / 2
				}
			}
		}
	}
}
