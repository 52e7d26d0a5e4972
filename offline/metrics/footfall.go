package metrics

import (
	"fmt"
	"math"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// The paws of footfalls, in the order in which a walk sets them down.
const (
	LeftHind = iota
	LeftFore
	RightHind
	RightFore
	numPaws
)

// PawNames name the paws of footfalls by their index.
var PawNames = [numPaws]string{"left hind", "left fore", "right hind", "right fore"}

var pawJoints = [numPaws]string{"LeftFootSite", "LeftHandSite", "RightFootSite", "RightHandSite"}

// Contacts tells for each paw which frames of c it stands in, (paws, frames), by
// dataset.Stands.
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

// Footfall is how a gait sets down its paws, after Hildebrand 1965: per paw the
// share of a stride that it stands (its duty factor), and the share of a stride
// after the left hind paw's touchdown at which it touches down (its phase).
// A stride goes from one touchdown of the left hind paw to the next; where the
// right one comes down shortly before, left and right are exchanged, so that both
// leads of a canter are told as one.
type Footfall struct {
	Strides int              `json:"strides"`
	Rate    float64          `json:"strides_per_s"`
	Duty    [numPaws]float64 `json:"duty"`
	Phase   [numPaws]float64 `json:"phase"`  // [0, 1), to a hundredth
	Steady  [numPaws]float64 `json:"steady"` // how alike the strides' phases are: 1 all the same, 0 all over
	Gait    string           `json:"gait"`   // what Name makes of it
}

// footfalls adds up strides.
type footfalls struct {
	strides, frames int
	fps             float64
	stands          [numPaws]int
	sin, cos        [numPaws]float64
	touched         [numPaws]int
}

// maxStride is the longest time between two touchdowns that counts as a stride:
// who stands and then goes on has not made one.
const maxStride = 2.0 // s

// add takes in the strides of c that lie wholly in frames that keep tells (all
// if nil).
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

// mirroredFrom is the phase of the right hind paw beyond which a stride is told with
// left and right exchanged: the paw comes down shortly before the left one. Else
// the two leads of an asymmetrical gait would blur each other.
const mirroredFrom = 0.625

// stride takes in the stride that begins at frame from and ends before to.
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

// footfall returns the means.
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

// apart returns how far two phases are from each other, 0 to 0.5.
func apart(a, b float64) float64 { return math.Abs(math.Remainder(a-b, 1)) }

// Name returns the gait that f is: by Hildebrand's symmetrical gaits where left
// and right follow each other by about half a stride, and else by the beat.
//
//   - walk: fore paws a quarter of a stride after the hind paws of their side
//     (0.125 to 0.375), each paw standing for half of the stride or longer;
//     amble: the same, each standing shorter
//   - pace: fore and hind paws of a side within an eighth of a stride
//   - trot: diagonal paws within an eighth of a stride
//   - canter: not symmetrical, one diagonal pair within an eighth of a stride
//   - gallop: not symmetrical, no such pair; bound: the hind paws together
//   - none: fewer than two strides, or strides that are not alike
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
		// How far the fore paws are behind the hind paws of their side.
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
