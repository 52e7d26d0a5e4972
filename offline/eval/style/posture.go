package style

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
)

// Posture holds measures of whether people's motion holds together. Without
// a percentile they are means over frames or windows.
type Posture struct {
	Frames int     `json:"frames"`
	Twist  float64 `json:"twist_sd"`  // of the shoulders against the hips, standard deviation in 1.2 s, degrees
	Tilt   float64 `json:"tilt_sd"`   // of the trunk to the side, the same
	Lean   float64 `json:"lean_p99"`  // 99th percentile of the trunk's angle from upright, degrees
	Jerk   float64 `json:"jerk_p999"` // 99.9th percentile of the joints' third derivative, m/s³
	Cross  float64 `json:"cross"`     // share of frames in which the knees cross
	Up     float64 `json:"up"`        // share in which both feet are over 3 cm up
	Torso  float64 `json:"torso"`     // share in which a hand is within 14 cm of the spine
}

// Postures collects the measures of several motions.
type Postures struct {
	l            *feature.Motion
	frames       int
	twist, tilt  []float64
	jerk, lean   []float64
	cross, up, t int
}

// NewPostures returns an empty collection for frames of l, which has the joints of feature.Human.
func NewPostures(l *feature.Motion) *Postures { return &Postures{l: l} }

const (
	postureWindow = 72   // frames
	feetUp        = 0.03 // m
	inTorso       = 0.14 // m
)

// Floor is the height of each contact's joint when it stands, m.
type Floor []float32

// FloorOf returns the heights of the contacts in rows, (frames, columns) raw: the lowest twentieth.
func FloorOf(l *feature.Motion, rows []float32) Floor {
	cols := l.Columns()
	floor := make(Floor, len(l.Contacts))
	for i, c := range l.Contacts {
		var heights []float32
		for at := l.Pos(l.Joint(c.Joint)) + 1; at < len(rows); at += cols {
			heights = append(heights, rows[at])
		}
		slices.Sort(heights)
		floor[i] = heights[len(heights)/20]
	}
	return floor
}

// Add adds a motion, rows (frames, columns) raw. floor is that of the recording it was made from.
func (p *Postures) Add(rows []float32, floor Floor) {
	l := p.l
	cols, n := l.Columns(), len(l.Joints)
	frames := len(rows) / cols
	world := make([]m3.Vec3, frames*n)
	l.ToWorld(world, rows, manifold.Rate, feature.Place{})
	for f := 0; f+3 < frames; f++ {
		for j := range n {
			at := func(k int) m3.Vec3 { return world[(f+k)*n+j] }
			third := at(3).Sub(at(0)).Sub(at(2).Sub(at(1)).Scale(3))
			p.jerk = append(p.jerk, float64(third.Len())*manifold.Rate*manifold.Rate*manifold.Rate)
		}
	}
	joint := func(f int, name string) m3.Vec3 {
		row := rows[f*cols+l.Pos(l.Joint(name)):]
		return m3.V(row[0], row[1], row[2])
	}
	across := func(f int, left, right string) float64 {
		d := joint(f, left).Sub(joint(f, right))
		return math.Atan2(-float64(d.Z), float64(d.X))
	}
	twist, tilt := make([]float64, frames), make([]float64, frames)
	for f := range frames {
		p.frames++
		if joint(f, "LeftLeg").X < joint(f, "RightLeg").X {
			p.cross++
		}
		up := true
		for i, c := range l.Contacts {
			up = up && joint(f, c.Joint).Y > floor[i]+feetUp
		}
		if up {
			p.up++
		}
		hips, neck := joint(f, "Hips"), joint(f, "Neck1")
		spine := neck.Sub(hips)
		p.lean = append(p.lean, math.Atan2(float64(spine.Flat().Len()), float64(spine.Y))*180/math.Pi)
		for _, name := range []string{"LeftHand", "RightHand"} {
			if hand := joint(f, name); hand.Dist(hand.OnSegment(hips, neck)) < inTorso {
				p.t++
				break
			}
		}
		turn := across(f, "LeftArm", "RightArm") - across(f, "LeftUpLeg", "RightUpLeg")
		twist[f] = math.Remainder(turn, 2*math.Pi) * 180 / math.Pi
		trunk := joint(f, "Spine1").Sub(hips)
		tilt[f] = math.Atan2(float64(trunk.X), float64(trunk.Y)) * 180 / math.Pi
	}
	for at := 0; at+postureWindow <= frames; at += postureWindow / 2 {
		p.twist = append(p.twist, stat.StdDev(twist[at:at+postureWindow], nil))
		p.tilt = append(p.tilt, stat.StdDev(tilt[at:at+postureWindow], nil))
	}
}

// Value returns the measures of all motions so far.
func (p *Postures) Value() Posture {
	share := func(n int) float64 { return float64(n) / float64(max(1, p.frames)) }
	v := Posture{Frames: p.frames, Cross: share(p.cross), Up: share(p.up), Torso: share(p.t)}
	if len(p.twist) > 0 {
		v.Twist, v.Tilt = stat.Mean(p.twist, nil), stat.Mean(p.tilt, nil)
	}
	if len(p.jerk) > 0 {
		slices.Sort(p.jerk)
		slices.Sort(p.lean)
		v.Lean = stat.Quantile(0.99, stat.Empirical, p.lean, nil)
		v.Jerk = stat.Quantile(0.999, stat.Empirical, p.jerk, nil)
	}
	return v
}

// figures are the figures of a posture. Recordings of lively people reach common, whatever the
// others have: the median recording of a walk has half of it or less.
var figures = []struct {
	name   string
	common float64
	of     func(p *Posture) float64
}{
	{"twist", 16, func(p *Posture) float64 { return p.Twist }},
	{"tilt", 5, func(p *Posture) float64 { return p.Tilt }},
	{"lean", 60, func(p *Posture) float64 { return p.Lean }},
	{"jerk", 8000, func(p *Posture) float64 { return p.Jerk }},
	{"knees cross", 0.002, func(p *Posture) float64 { return p.Cross }},
	{"both feet up", 0.03, func(p *Posture) float64 { return p.Up }},
	{"hand in torso", 0.01, func(p *Posture) float64 { return p.Torso }},
}

// tolerance is how much more than recorded a style may have.
const tolerance = 1.4

// limit returns the most of a figure that motion made from content may have.
func limit(i int, content *Posture) float64 {
	return max(tolerance*figures[i].of(content), figures[i].common)
}
