package metrics

import (
	"fmt"
	"math"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// The paws of footfalls, in the order of a walk's touchdowns.
const (
	LeftHind = iota
	LeftFore
	RightHind
	RightFore
	numPaws
)

// PawNames are the names of the paws by index.
var PawNames = [numPaws]string{"left hind", "left fore", "right hind", "right fore"}

var pawJoints = [numPaws]string{"LeftFootSite", "LeftHandSite", "RightFootSite", "RightHandSite"}

// Contacts returns the frames of c with contact, per paw, by dataset.Stands.
func Contacts(c *skel.Clip) ([numPaws][]bool, error) {
	var out [numPaws][]bool
	var joint [numPaws]int
	var tips [numPaws][]m3.Vec3
	for p, name := range pawJoints {
		tips[p] = make([]m3.Vec3, c.Frames)
		if joint[p] = c.Skel.Index(name); joint[p] < 0 {
			return out, fmt.Errorf("metrics: the skeleton has no joint %q, the tip of a paw", name)
		}
	}
	model := make([]m3.Xform, c.Skel.Len())
	hips := make([]m3.Vec3, c.Frames)
	for f := range c.Frames {
		c.Model(model, f)
		hips[f] = model[0].Pos
		for p, j := range joint {
			tips[p][f] = model[j].Pos
		}
	}
	for p := range numPaws {
		out[p] = dataset.Stands(tips[p], hips, c.FPS)
	}
	return out, nil
}

// Footfall is the pattern of a gait's touchdowns (Hildebrand 1965). A paw's duty factor is its
// share of a stride on the ground. Its phase is its touchdown after the left hind paw's, as a share
// of a stride. A stride lasts from one touchdown of the left hind paw to the next. If the right one
// lands shortly before, left and right are exchanged: both leads of a canter look the same.
type Footfall struct {
	Strides int              `json:"strides"`
	Rate    float64          `json:"strides_per_s"`
	Duty    [numPaws]float64 `json:"duty"`
	Phase   [numPaws]float64 `json:"phase"`  // [0, 1), to a hundredth
	Steady  [numPaws]float64 `json:"steady"` // agreement of the strides' phases: 1 the same, 0 random
	Gait    string           `json:"gait"`   // from Name
}

// footfalls sums strides.
type footfalls struct {
	strides, frames int
	fps             float64
	stands          [numPaws]int
	sin, cos        [numPaws]float64
	touched         [numPaws]int
}

// maxStride is the longest stride. A longer one is a pause.
const maxStride = 2.0 // s

// add adds the strides of c that lie within the frames of keep (nil: all).
func (a *footfalls) add(c *skel.Clip, keep []bool) error {
	stands, err := Contacts(c)
	if err != nil {
		return err
	}
	a.fps = c.FPS
	down := func(p, f int) bool { return f > 0 && stands[p][f] && !stands[p][f-1] }
	for from := 0; from < c.Frames; from++ {
		if !down(LeftHind, from) || keep != nil && !keep[from] {
			continue
		}
		to := from + 1
		for to < c.Frames && !down(LeftHind, to) && (keep == nil || keep[to]) {
			to++
		}
		if to == c.Frames || !down(LeftHind, to) || float64(to-from) > maxStride*c.FPS {
			continue
		}
		a.stride(&stands, from, to)
	}
	return nil
}

// mirroredFrom is the phase of the right hind paw above which a stride is mirrored: it lands
// shortly before the left one. Otherwise the leads of an asymmetrical gait would blur each other.
const mirroredFrom = 0.625

// stride adds the stride from frame from to to−1.
func (a *footfalls) stride(stands *[numPaws][]bool, from, to int) {
	phase := func(f int) float64 { return float64(f-from) / float64(to-from) }
	swap, start := 0, 0.0
	for f := from + 1; f < to; f++ {
		if stands[RightHind][f] && !stands[RightHind][f-1] && phase(f) > mirroredFrom {
			swap, start = LeftHind^RightHind, phase(f)
		}
	}
	a.strides++
	a.frames += to - from
	for p := range numPaws {
		q := p ^ swap
		for f := from; f < to; f++ {
			if !stands[p][f] {
				continue
			}
			a.stands[q]++
			if f > 0 && !stands[p][f-1] {
				s, c := math.Sincos(2 * math.Pi * (phase(f) - start))
				a.sin[q] += s
				a.cos[q] += c
				a.touched[q]++
			}
		}
	}
}

func (a *footfalls) footfall() Footfall {
	out := Footfall{Strides: a.strides}
	if a.strides > 0 {
		out.Rate = float64(a.strides) * a.fps / float64(a.frames)
		for p := range numPaws {
			out.Duty[p] = float64(a.stands[p]) / float64(a.frames)
			if n := float64(a.touched[p]); n > 0 {
				// A frame is two hundredths of a stride; 0.998 is 0.
				out.Phase[p] = math.Mod(math.Round(100*(math.Atan2(a.sin[p], a.cos[p])/(2*math.Pi)+1)), 100) / 100
				out.Steady[p] = math.Hypot(a.sin[p], a.cos[p]) / n
			}
		}
	}
	out.Gait = out.Name()
	return out
}

func apart(a, b float64) float64 { return math.Abs(math.Remainder(a-b, 1)) }

// Name returns the gait: one of Hildebrand's symmetrical gaits if left and right are about half a
// stride apart, otherwise by the beat.
//
//   - walk: fore paws follow the hind paws of their side by a quarter of a stride (0.125 to 0.375), with
//     a duty factor of at least a half
//   - amble: the same with a shorter duty factor
//   - pace: fore and hind paws of a side within an eighth of a stride
//   - trot: diagonal paws within an eighth of a stride
//   - canter: not symmetrical, one diagonal pair within an eighth of a stride
//   - gallop: not symmetrical, no such pair
//   - bound: the hind paws together
//   - none: fewer than two strides, or strides that differ
func (f *Footfall) Name() string {
	if f.Strides < 2 {
		return "none"
	}
	duty := 0.0
	for p := range numPaws {
		duty += f.Duty[p] / numPaws
		if f.Steady[p] < 0.5 {
			return "none"
		}
	}
	const eighth = 0.125
	hind, fore := apart(f.Phase[RightHind], 0), apart(f.Phase[RightFore], f.Phase[LeftFore])
	diagonals := min(apart(f.Phase[RightFore], 0), apart(f.Phase[LeftFore], f.Phase[RightHind]))
	if hind > 0.5-eighth && fore > 0.5-eighth {
		// The lag of the fore paws behind the hind paws of their side.
		s, c := math.Sincos(2 * math.Pi * f.Phase[LeftFore])
		s2, c2 := math.Sincos(2 * math.Pi * (f.Phase[RightFore] - f.Phase[RightHind]))
		lag := math.Mod(math.Atan2(s+s2, c+c2)/(2*math.Pi)+1, 1)
		switch {
		case lag < eighth || lag > 1-eighth:
			return "pace"
		case lag > 0.5-eighth && lag < 0.5+eighth:
			return "trot"
		case lag < 0.5 && duty >= 0.5:
			return "walk"
		case lag < 0.5:
			return "amble"
		}
		return "diagonal walk"
	}
	switch {
	case diagonals < eighth:
		return "canter"
	case hind < eighth:
		return "bound"
	}
	return "gallop"
}

// FootfallOf returns the footfall of a clip.
func FootfallOf(c *skel.Clip) (Footfall, error) {
	var a footfalls
	err := a.add(c, nil)
	return a.footfall(), err
}
