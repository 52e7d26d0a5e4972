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
	// A joint leaps if it moves by more than jumpReach of the reach in one frame, and
	// jumpRatio times as far as in the median of the jumpWindow steps before and after.
	jumpReach  = 0.05
	jumpRatio  = 10
	jumpWindow = 5
	// boneNoise is the change of a bone's length that rounding explains.
	boneNoise = 1e-5
	// maxStretch is the relative change above which a distance is no bone's length.
	maxStretch    = 0.01
	maxJumpFrames = 20
)

// Summarize measures c.
func Summarize(c *skel.Clip) *Summary {
	s := &Summary{Frames: c.Frames, FPS: c.FPS, Seconds: c.Seconds(), Finite: true, JumpFrames: []int{}}
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
	if c.Frames > 0 {
		s.world(c)
	}
	return s
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

// world fills the fields that depend on the joints' world positions.
func (s *Summary) world(c *skel.Clip) {
	n := c.Skel.Len()
	model := make([]m3.Xform, n)
	step := make([]float32, c.Frames*n) // (frames, joints) distance from the frame before
	last := make([]m3.Vec3, n)
	lowest := make([]float32, 0, c.Frames)
	lo, hi := m3.V(1, 1, 1).Scale(math.MaxFloat32), m3.V(1, 1, 1).Scale(-math.MaxFloat32)
	for f := range c.Frames {
		c.Model(model, f)
		low := float32(math.MaxFloat32)
		for j, x := range model {
			if !(x.Pos.Finite() && x.Rot.Finite()) {
				s.Finite = false
				continue
			}
			p := x.Pos
			lo = m3.V(min(lo.X, p.X), min(lo.Y, p.Y), min(lo.Z, p.Z))
			hi = m3.V(max(hi.X, p.X), max(hi.Y, p.Y), max(hi.Z, p.Z))
			low = min(low, p.Y)
			if f > 0 {
				step[f*n+j] = p.Dist(last[j])
			}
			last[j] = p
		}
		if low < math.MaxFloat32 {
			lowest = append(lowest, low)
		}
	}
	if len(lowest) == 0 {
		return
	}
	s.BoundsMin, s.BoundsMax = m3Array{lo.X, lo.Y, lo.Z}, m3Array{hi.X, hi.Y, hi.Z}
	slices.Sort(lowest)
	s.Ground = lowest[len(lowest)/20]
	for f := 1; f < c.Frames; f++ {
		for j := range n {
			if step[f*n+j] > jumpReach*s.Reach && leaps(step, n, f, j) {
				if s.Jumps++; s.Jumps <= maxJumpFrames {
					s.JumpFrames = append(s.JumpFrames, f)
				}
				break
			}
		}
	}
}

// leaps reports whether a step is much longer than those around it.
func leaps(step []float32, n, f, j int) bool {
	var around []float32
	for g := max(1, f-jumpWindow); g <= f+jumpWindow && g*n < len(step); g++ {
		if g != f {
			around = append(around, step[g*n+j])
		}
	}
	if len(around) == 0 {
		return false
	}
	slices.Sort(around)
	return step[f*n+j] > jumpRatio*around[len(around)/2]
}
