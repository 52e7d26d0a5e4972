package mocap

import (
	"cmp"
	"math"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Summary holds a clip's measures and faults. Lengths are in the clip's unit, in world space.
type Summary struct {
	Frames     int      `json:"frames"`
	Joints     int      `json:"joints"` // without End Sites
	EndSites   int      `json:"end_sites"`
	Roots      []string `json:"roots"`
	FPS        float64  `json:"fps"`
	Seconds    float64  `json:"seconds"`
	Finite     bool     `json:"finite"`      // no NaN and no infinity in any frame
	BoundsMin  m3Array  `json:"bounds_min"`  // of all joints in all frames
	BoundsMax  m3Array  `json:"bounds_max"`  //
	Ground     float32  `json:"ground"`      // guess: the lowest joint's height in the lowest frames (5th percentile)
	Reach      float32  `json:"reach"`       // longest chain of bones from a root to a tip
	Unit       Unit     `json:"unit"`        // guess from Reach
	BoneChange float32  `json:"bone_change"` // largest change of a bone's length over the clip, relative
	BoneWorst  string   `json:"bone_worst"`  // the joint at the end of that bone; empty when none changes
	Jumps      int      `json:"jumps"`       // frames in which a joint leaps
	JumpFrames []int    `json:"jump_frames"` // the first of them, counted from 0
	Fast       int      `json:"fast"`        // frames in which a joint is faster than any animal's, in the guessed unit
	FastFrames []int    `json:"fast_frames"` // the first of them, counted from 0
}

type m3Array = [3]float32

// Unit is a unit of length.
type Unit struct {
	Name   string  `json:"name"`
	Metres float64 `json:"metres"` // 0 if unknown
}

// units are the usual units of motion capture. A CMU unit is 1/0.45 inch.
var units = []Unit{
	{"millimetre", 0.001}, {"centimetre", 0.01}, {"inch", 0.0254}, {"CMU unit", 0.0254 / 0.45}, {"metre", 1},
}

// typicalReach is the reach, in metres, of people and dogs: 0.8 to 1.6.
const typicalReach = 1.15

const (
	// boneNoise is the change of a bone's length that rounding explains.
	boneNoise = 1e-5
	// maxStretch is the relative change above which a distance is no bone's length.
	maxStretch     = 0.01
	maxFaultFrames = 20
)

// Summarize measures c.
func Summarize(c *skel.Clip) *Summary {
	s, m := summarize(c)
	count := func(n *int, frames *[]int, f int) {
		if *n++; *n <= maxFaultFrames {
			*frames = append(*frames, f)
		}
	}
	for f := range c.Frames {
		if m.leap(f, s.Reach, false) >= 0 {
			count(&s.Jumps, &s.JumpFrames, f)
		}
		if m.tooFast(f, s.Unit.Metres, Animal) != "" {
			count(&s.Fast, &s.FastFrames, f)
		}
	}
	return s
}

// summarize is Summarize without faults of the motion.
func summarize(c *skel.Clip) (*Summary, *movement) {
	m := measure(c)
	s := &Summary{Frames: c.Frames, FPS: c.FPS, Seconds: c.Seconds(), Finite: m.finite, JumpFrames: []int{}, FastFrames: []int{}}
	for j, p := range c.Skel.Parents {
		if c.Skel.EndSite[j] {
			s.EndSites++
		} else {
			s.Joints++
		}
		if p < 0 {
			s.Roots = append(s.Roots, c.Skel.Names[j])
		}
	}
	s.bones(c)
	if len(m.lowest) > 0 {
		s.BoundsMin, s.BoundsMax = m3Array{m.min.X, m.min.Y, m.min.Z}, m3Array{m.max.X, m.max.Y, m.max.Z}
		slices.Sort(m.lowest)
		s.Ground = m.lowest[len(m.lowest)/20]
	}
	return s, m
}

// guessUnit returns the unit in which reach is nearest to a typical one, by ratio.
func guessUnit(reach float32) Unit {
	if !(reach > 0) || !m3.Finite(reach) {
		return Unit{}
	}
	return slices.MinFunc(units, func(a, b Unit) int {
		miss := func(u Unit) float64 { return math.Abs(math.Log(float64(reach) * u.Metres / typicalReach)) }
		return cmp.Compare(miss(a), miss(b))
	})
}

// bones measures the lengths of the bones and their longest chain.
func (s *Summary) bones(c *skel.Clip) {
	n := c.Skel.Len()
	lo, hi := make([]float32, n), make([]float32, n)
	for j, o := range c.Skel.Offsets {
		lo[j], hi[j] = o.Len(), o.Len()
	}
	for i, p := range c.Pos {
		l, j := p.Len(), i%n
		if i < n {
			lo[j], hi[j] = l, l
		}
		lo[j], hi[j] = min(lo[j], l), max(hi[j], l)
	}
	far := make([]float32, n)
	for j, p := range c.Skel.Parents {
		if p < 0 {
			continue
		}
		far[j] = far[p]
		// Hips that travel under a fixed root are no bone.
		if hi[j]-lo[j] <= maxStretch*hi[j] {
			far[j] += hi[j]
		}
		s.Reach = max(s.Reach, far[j])
	}
	s.Unit = guessUnit(s.Reach)
	for j, p := range c.Skel.Parents {
		// Bones shorter than a hundredth of the reach are measured against that.
		change := (hi[j] - lo[j]) / max(hi[j], s.Reach/100, 1e-20)
		if p >= 0 && change > max(boneNoise, s.BoneChange) {
			s.BoneChange, s.BoneWorst = change, c.Skel.Names[j]
		}
	}
}
