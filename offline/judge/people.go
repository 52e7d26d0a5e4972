package judge

import (
	"math"
	"path/filepath"
	"regexp"

	"mannequin/engine/m3"
)

// walker is how a person walks: the mean of strides at 1 to 1.6 m/s that hardly turn.
type walker struct {
	strides float64
	pose    [phases][]m3.Vec3 // sums over the strides of the joints' places from the hips
}

const walkerSlow, walkerFast = 1, 1.6 // m/s

// subject finds the person in the names of recordings: 07_01, walk1_subject3.
var subject = regexp.MustCompile(`subject\d+|^\d+_`)

// personOf returns who moves in a recording, or "" if its name does not say.
func personOf(name string) string { return subject.FindString(filepath.Base(name)) }

// walkers collects the strides of people by name.
type walkers map[string]*walker

func (w walkers) collect(b *body, name string) {
	for _, s := range b.strides(Walk) {
		if s.speed < walkerSlow || s.speed > walkerFast || s.turn > steadyTurn {
			continue
		}
		p := w[name]
		if p == nil {
			p = &walker{}
			for i := range phases {
				p.pose[i] = make([]m3.Vec3, len(joints))
			}
			w[name] = p
		}
		p.strides++
		height := float32(0) // of the hips, joints[0]
		for i := range phases {
			height += s.pose[i][0].Y / phases
		}
		for i := range phases {
			for j, v := range s.pose[i] {
				p.pose[i][j] = p.pose[i][j].Add(v.Sub(m3.V(0, height, 0)))
			}
		}
	}
}

// spread returns the mean distance between the joints of each two people, cm: of their mean poses,
// and of the rest at one phase.
func (w walkers) spread(names []string) (posture, swing float64) {
	if len(names) < 2 {
		return math.NaN(), math.NaN()
	}
	rest := make([][]m3.Vec3, len(names)) // mean poses
	for i, n := range names {
		rest[i] = make([]m3.Vec3, len(joints))
		for _, pose := range w[n].pose {
			for j, v := range pose {
				rest[i][j] = rest[i][j].Add(v.Scale(float32(1 / (phases * w[n].strides))))
			}
		}
	}
	pairs := 0.0
	for a := range names {
		for b := range a {
			pairs++
			for j := range joints {
				posture += float64(rest[a][j].Dist(rest[b][j]))
				for p := range phases {
					u := w[names[a]].pose[p][j].Scale(float32(1 / w[names[a]].strides)).Sub(rest[a][j])
					v := w[names[b]].pose[p][j].Scale(float32(1 / w[names[b]].strides)).Sub(rest[b][j])
					swing += float64(u.Dist(v)) / phases
				}
			}
		}
	}
	n := pairs * float64(len(joints)) / 100
	return posture / n, swing / n
}
