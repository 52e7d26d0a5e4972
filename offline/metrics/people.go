package metrics

import (
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
)

// People holds measures of people's motion in frames of joint positions.
type People struct {
	Frames   int     `json:"frames"`
	Skate    float64 `json:"skate_cm"`      // mean slide of a contact that stands, per frame
	Lift     float64 `json:"lift_cm"`       // the same up or down
	Sunk     float64 `json:"sunk_cm"`       // depth of the deepest contact under the ground
	Bone     float64 `json:"bone_percent"`  // mean change of bone lengths
	BoneMost float64 `json:"bone_most"`     // largest, percent
	Jerk     float64 `json:"jerk"`          // mean magnitude of the joints' third differences, cm per frame³
	Hands    float64 `json:"hands_jerk"`    // Jerk of the hands alone
	Away     float64 `json:"away_cm"`       // mean distance of the body's way from its course; 0: no course
	Aside    float64 `json:"aside_degrees"` // mean angle between its heading and the course's
	Farthest float64 `json:"away_most_cm"`  // largest distance of the body itself
}

// sways is the number of frames before and after over which places are averaged to get the body's way:
// about two strides of a run, so that the body's sway cancels out.
const sways = 42

// MeasurePeople measures rows, (frames, columns) raw, with contacts stand, (frames, contacts).
// course, which may be nil, is compared with the body's place as its joints show it.
func MeasurePeople(m *manifold.Model, rows, stand []float32, start feature.Place, course manifold.Trajectory) (People, error) {
	l := m.Layout
	cols, n := l.Columns(), len(l.Joints)
	frames := len(rows) / cols
	world := make([]m3.Vec3, frames*n)
	l.ToWorld(world, rows, manifold.Rate, start)
	p := People{Frames: frames}
	var slid, steps, bones, jerk, jerks, hands float64
	for f := range frames {
		for i, c := range l.Contacts {
			here := world[f*n+l.Joint(c.Joint)]
			p.Sunk = max(p.Sunk, float64(100*(start.Pos.Y-here.Y)))
			if f+1 < frames && stand[f*len(l.Contacts)+i] > 0.5 {
				d := world[(f+1)*n+l.Joint(c.Joint)].Sub(here)
				slid += float64(d.Flat().Len())
				p.Lift += math.Abs(float64(d.Y))
				steps++
			}
		}
		for _, b := range m.Bones() {
			e := 100 * math.Abs(float64(world[f*n+b.From].Dist(world[f*n+b.To])/b.Length)-1)
			bones += e
			p.BoneMost = max(p.BoneMost, e)
		}
		for j := 0; f+3 < frames && j < n; j++ {
			at := func(k int) m3.Vec3 { return world[(f+k)*n+j] }
			size := float64(at(3).Sub(at(0)).Sub(at(2).Sub(at(1)).Scale(3)).Len())
			jerk += size
			jerks++
			if name := l.Joints[j]; name == "LeftHand" || name == "RightHand" {
				p.Hands += size
				hands++
			}
		}
	}
	p.Skate, p.Lift = 100*slid/max(1, steps), 100*p.Lift/max(1, steps)
	p.Bone = bones / float64(max(1, frames*len(m.Bones())))
	p.Jerk, p.Hands = 100*jerk/max(1, jerks), 100*p.Hands/max(1, hands)
	if course == nil {
		return p, nil
	}
	again := make([]float32, len(rows))
	at, err := l.FromWorld(again, world, manifold.Rate)
	if err != nil {
		return p, err
	}
	facing := smoothFacing(course)
	// Of the frames before: sums of the offset from the course, seen along it, and of the angle to it.
	offset, angle := make([]m3.Vec3, frames+1), make([]float32, frames+1)
	for f := range frames {
		if f > 0 {
			at = at.Advance(again[(f-1)*cols+l.Body():], 1.0/manifold.Rate)
		}
		d := at.Pos.Sub(course[f].Pos).Flat()
		p.Farthest = max(p.Farthest, 100*float64(d.Len()))
		offset[f+1] = offset[f].Add(m3.YawQuat(-facing[f]).Rotate(d))
		angle[f+1] = angle[f] + m3.WrapAngle(at.Yaw-facing[f])
	}
	for f := range frames {
		from, to := max(0, f-sways), min(frames, f+sways+1)
		n := float64(to-from) * float64(frames)
		p.Away += 100 * float64(offset[to].Sub(offset[from]).Len()) / n
		p.Aside += math.Abs(float64(angle[to]-angle[from])) * 180 / math.Pi / n
	}
	return p, nil
}

// smoothFacing returns a course's headings, smoothed like the heading found from joints: a Gaussian
// of 20 frames.
func smoothFacing(course manifold.Trajectory) []float32 {
	const sigma = 20
	yaw := make([]float32, len(course))
	for f := range course {
		var sum m3.Vec3
		for k := -4 * sigma; k <= 4*sigma; k++ {
			w := math.Exp(-0.5 * float64(k*k) / (sigma * sigma))
			c := course[min(max(f+k, 0), len(course)-1)]
			sum = sum.Add(m3.YawQuat(c.Yaw).Forward().Scale(float32(w)))
		}
		yaw[f] = m3.YawOf(sum)
	}
	return yaw
}
