package metrics

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// Legs are the joints that the measures use.
type Legs struct {
	Paws, BackPaws     []int // tips
	Joints, BackJoints []int // that bend
	Neck, Head, Nose   int   // Nose is the end of the head
}

// DogLegs returns the dog recordings' legs, from upper arm and thigh down, and head.
func DogLegs(sk *skel.Skeleton) (Legs, error) {
	var l Legs
	var err error
	find := func(name string) int {
		j := sk.Index(name)
		if j < 0 && err == nil {
			err = fmt.Errorf("metrics: the skeleton has no joint %q, which the dog's measures need", name)
		}
		return j
	}
	add := func(dst *[]int, names ...string) {
		for _, side := range []string{"Left", "Right"} {
			for _, n := range names {
				*dst = append(*dst, find(side+n))
			}
		}
	}
	l.Neck, l.Head, l.Nose = find("Neck"), find("Head"), find("HeadSite")
	add(&l.BackPaws, "FootSite")
	add(&l.BackJoints, "UpLeg", "Leg", "Foot")
	add(&l.Paws, "HandSite", "FootSite")
	add(&l.Joints, "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot")
	return l, err
}

// Motion holds a dog's measures, means over frames of 1/60 s. The last five show what the first
// miss: paws that glide above SkateHeight, trembling limbs, a head out of the turn or up, a crouch.
type Motion struct {
	Skate         float64 `json:"skate_cm"`
	BackSkate     float64 `json:"back_skate_cm"`
	Stiffness     float64 `json:"stiffness_deg"`
	BackStiffness float64 `json:"back_stiffness_deg"`
	Speed         float64 `json:"speed_m_s,omitzero"`
	Low           float64 `json:"low,omitzero"`       // share of the paws' time below SkateHeight
	Jerk          float64 `json:"jerk_m_s3,omitzero"` // of all joints
	Look          float64 `json:"look_deg,omitzero"`  // of the head into the turn
	Pitch         float64 `json:"pitch_deg,omitzero"` // of the head, up
	Hips          float64 `json:"hips_m,omitzero"`    // height, mean
	Frames        int     `json:"frames,omitzero"`
}

// add adds the frames of c in keep (nil: all but the first).
func (m *Motion) add(c *skel.Clip, l Legs, keep []bool) {
	had, n := float64(m.Frames), 0
	for f := 1; f < c.Frames; f++ {
		if keep == nil || keep[f] {
			n++
		}
	}
	mix := func(mean *float64, v []float64) {
		sum := *mean * had
		for f := 1; f < len(v); f++ {
			if keep == nil || keep[f] {
				sum += v[f]
			}
		}
		*mean = sum / max(1, had+float64(n))
	}
	mix(&m.Skate, Skate(c, l.Paws))
	mix(&m.BackSkate, Skate(c, l.BackPaws))
	mix(&m.Stiffness, Bend(c, l.Joints))
	mix(&m.BackStiffness, Bend(c, l.BackJoints))
	mix(&m.Speed, Speed(c, 0))
	mix(&m.Low, Low(c, l.Paws))
	mix(&m.Jerk, Jerk(c))
	mix(&m.Hips, Height(c, 0))
	mix(&m.Pitch, Pitch(c, l.Head, l.Nose))
	mix(&m.Look, Look(c, l.Neck, l.Head, l.Nose))
	m.Frames += n
}

// Measure returns the measures of a clip.
func Measure(c *skel.Clip, l Legs) Motion {
	var m Motion
	m.add(c, l, nil)
	return m
}

// Gait is a kind of locomotion, for comparing recordings and generated motion. A recorded frame
// belongs to it if the root's speed (m/s) and turn rate (degrees per second, either way) over the
// second around it are in the ranges. The lower ends are included.
type Gait struct {
	Name        string
	Speed, Turn [2]float64
	Goals       []control.Goal // that produce it
	// The paper's Tables 2 and 3: ground truth and its network of eight experts; nil: not there.
	PaperTruth, PaperMANN8 *Motion
}

// Turn is the name of the gait of turning.
const Turn = "turn"

// Gaits returns the gaits of the paper's comparison and its other speeds. Bounds lie midway between
// the speeds of its section 8 (walk 0.5, pace 1.1, trot 1.9, canter 3.3 m/s).
func Gaits() []Gait {
	goals := func(speed float32) []control.Goal { return []control.Goal{ahead(speed)} }
	// In the recordings dogs turn at a walk, 0.5 m/s on average.
	turn := func(side float32) control.Goal {
		g := ahead(GaitSpeeds[0])
		g.Turn = side
		return g
	}
	paper := func(skate, backSkate, stiffness, backStiffness float64) *Motion {
		return &Motion{Skate: skate, BackSkate: backSkate, Stiffness: stiffness, BackStiffness: backStiffness}
	}
	straight := [2]float64{0, 30}
	return []Gait{
		{Name: "walk", Speed: [2]float64{0.25, 0.8}, Turn: straight, Goals: goals(GaitSpeeds[0]),
			PaperTruth: paper(0.21, 0.08, 3.87, 3.16), PaperMANN8: paper(0.22, 0.09, 3.69, 3.05)},
		{Name: "pace", Speed: [2]float64{0.8, 1.5}, Turn: straight, Goals: goals(GaitSpeeds[1])},
		{Name: "trot", Speed: [2]float64{1.5, 2.6}, Turn: straight, Goals: goals(GaitSpeeds[2])},
		{Name: "canter", Speed: [2]float64{2.6, math.Inf(1)}, Turn: straight, Goals: goals(GaitSpeeds[3]),
			PaperTruth: paper(0.14, 0.05, 6.53, 5.56), PaperMANN8: paper(0.16, 0.06, 5.72, 5.14)},
		{Name: Turn, Speed: [2]float64{0, 0.8}, Turn: [2]float64{45, math.Inf(1)}, Goals: []control.Goal{turn(1), turn(-1)},
			PaperTruth: paper(0.17, 0.06, 2.74, 2.15), PaperMANN8: paper(0.20, 0.08, 2.31, 1.82)},
	}
}

// The samples half a second before a row's frame and after it.
const (
	before = feature.TrajNow - 3 // 30 frames back
	after  = feature.TrajNow + 3 // 36 frames on
	around = 66.0 / 60           // seconds between the two
)

// covers reports whether a speed (m/s) and turn rate (degrees per second) are of gait g.
func (g *Gait) covers(speed, turn float64) bool {
	in := func(v float64, r [2]float64) bool { return r[0] <= v && v < r[1] }
	return in(speed, g.Speed) && in(math.Abs(turn), g.Turn)
}

// rowPace returns speed and turn rate over the second around row r.
func rowPace(set *dataset.MANN, r int) (speed, turn float64) {
	x := set.Input(r)
	a, b := x[set.Layout.InSample(before)+feature.SampleDir:], x[set.Layout.InSample(after)+feature.SampleDir:]
	angle := float64(m3.WrapAngle(m3.Atan2(b[0], b[1]) - m3.Atan2(a[0], a[1])))
	return float64(x[set.Layout.InSample(before)+feature.SampleSpeed]), angle * 180 / math.Pi / around
}

// rowAction returns the action with the largest weight in row r, and that weight.
func rowAction(set *dataset.MANN, r int) (control.Action, float32) {
	best, weight := control.Idle, float32(-1)
	for k, w := range set.Input(r)[set.Layout.InActions(feature.TrajNow):][:len(set.Layout.Actions)] {
		if a, err := control.ParseAction(set.Layout.Actions[k]); err == nil && w > weight {
			best, weight = a, w
		}
	}
	return best, weight
}

// runs yields the runs of rows of sets, first to end.
func runs(sets []*dataset.MANN) iter.Seq2[*dataset.MANN, [2]int] {
	return func(yield func(*dataset.MANN, [2]int) bool) {
		for _, set := range sets {
			for _, run := range set.Runs() {
				if !yield(set, run) {
					return
				}
			}
		}
	}
}

// checkLayouts returns an error if the rows of a set do not show their gaits.
func checkLayouts(sets []*dataset.MANN) error {
	for _, set := range sets {
		if l := set.Layout; l.NoSpeed || !slices.Contains(l.Actions, control.Move.String()) {
			return fmt.Errorf("metrics: gaits need a layout with desired speeds and the action %q", control.Move)
		}
	}
	return nil
}

// GroundTruth measures the recorded frames of sets that move (by their labels) in each of gaits.
func GroundTruth(gaits []Gait, sets ...*dataset.MANN) ([]Motion, error) {
	if err := checkLayouts(sets); err != nil {
		return nil, err
	}
	out := make([]Motion, len(gaits))
	for set, run := range runs(sets) {
		legs, err := DogLegs(set.Skeleton)
		if err != nil {
			return nil, err
		}
		clip := set.Replay(run[0], run[1])
		for g, keep := range inGaits(gaits, set, run) {
			out[g].add(clip, legs, keep)
		}
	}
	return out, nil
}

// inGaits returns, for each gait, the frames of a run of rows that are in it.
func inGaits(gaits []Gait, set *dataset.MANN, run [2]int) [][]bool {
	keep := make([][]bool, len(gaits))
	for g := range gaits {
		for r := run[0]; r < run[1]; r++ {
			action, weight := rowAction(set, r)
			keep[g] = append(keep[g], action == control.Move && weight > 0.5 && gaits[g].covers(rowPace(set, r)))
		}
	}
	return keep
}
