package mocap

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Limits are speeds that no healthy body reaches.
type Limits struct {
	Trunk float64 // over the ground and up, m/s
	Joint float64 // of any joint, m/s
	Turn  float64 // of the trunk, rad/s
}

// Limits of people and of all animals. A sprinter reaches 12 m/s, a cheetah 30, a pitcher's hand
// 45. A skater turns by 36 rad/s.
var (
	Person = Limits{Trunk: 15, Joint: 60, Turn: 50}
	Animal = Limits{Trunk: 40, Joint: 80, Turn: 60}
)

const (
	// A joint leaps if it moves by more than jumpReach of the reach in one frame, and
	// jumpRatio times as far as in the median of the jumpWindow steps before and after.
	jumpReach  = 0.05
	jumpRatio  = 10
	jumpWindow = 5
	// Recorded limbs do leap a little. A leap is a fault if it is larger than farReach of the reach,
	// or if a joint, not an End Site such as a thumb's, is back in the next frame: within spikeLeft of
	// the leap.
	farReach  = 0.2
	spikeLeft = 0.3
	// A bone's length is a fault if it differs by more than this share from its median, and by more
	// than jumpReach of the reach.
	farStretch = 0.5
)

// Fault is a frame that hardly shows the motion of a body.
type Fault struct {
	Frame int    // of the clip, from 0
	What  string // the worst joint, and what is wrong with it
}

// Faults returns the frames of c that would spoil a training, at most one fault each: speeds beyond
// the limits, large leaps, frames far from those around them, and the frame in which a bone's length
// is farthest from the usual one. Small leaps, which only Summarize counts, are left out. metres is
// the clip's unit in metres. Transforms that are not finite are passed over: readers refuse them.
func Faults(c *skel.Clip, metres float64, most Limits) (out []Fault) {
	s, m := summarize(c)
	bones := m.bones(c, s.Reach)
	for f := range c.Frames {
		what := m.tooFast(f, metres, most)
		if j := m.leap(f, s.Reach, true); what == "" && j >= 0 {
			what = fmt.Sprintf("%s leaps by %.3g %% of the body's length", c.Skel.Names[j], 100*m.step[f*m.n+j]/s.Reach)
		}
		if what == "" {
			what = bones[f]
		}
		if what != "" {
			out = append(out, Fault{f, what})
		}
	}
	return out
}

// tooFast describes the speed that is most over its limit in frame f. It returns "" if none is.
func (m *movement) tooFast(f int, metres float64, most Limits) (worst string) {
	over := 1.0
	check := func(j int, verb string, speed, most float64, unit string) {
		if speed/most > over {
			over, worst = speed/most, fmt.Sprintf("%s %s at %.3g %s, at most %g are possible", m.names[j], verb, speed, unit, most)
		}
	}
	if m.n == 0 {
		return ""
	}
	check(m.trunk, "moves", float64(m.step[f*m.n+m.trunk])*metres*m.fps, most.Trunk, "m/s")
	check(m.trunk, "turns", float64(m.turn[f])*m.fps, most.Turn, "rad/s")
	for j, d := range m.step[f*m.n:][:m.n] {
		check(j, "moves", float64(d)*metres*m.fps, most.Joint, "m/s")
	}
	return worst
}

// leap returns the joint that leaps farthest in frame f, or −1; if onlyFaults is set, among leaps that
// are faults.
func (m *movement) leap(f int, reach float32, onlyFaults bool) (worst int) {
	worst = -1
	for j, d := range m.step[f*m.n:][:m.n] {
		if d > jumpReach*reach && (worst < 0 || d > m.step[f*m.n+worst]) && m.leaps(f, j) &&
			(!onlyFaults || d > farReach*reach || !m.site[j] && m.undone(f, j)) {
			worst = j
		}
	}
	return worst
}

// leaps reports whether a step is much longer than those around it.
func (m *movement) leaps(f, j int) bool {
	var around []float32
	for g := max(1, f-jumpWindow); g <= f+jumpWindow && g*m.n < len(m.step); g++ {
		if g != f {
			around = append(around, m.step[g*m.n+j])
		}
	}
	if len(around) == 0 {
		return false
	}
	slices.Sort(around)
	return m.step[f*m.n+j] > jumpRatio*around[len(around)/2]
}

// undone reports whether the frame after f takes a joint back to where it was before f.
func (m *movement) undone(f, j int) bool {
	at := (f+1)*m.n + j
	return at < len(m.step) && m.two[at] < spikeLeft*m.step[f*m.n+j]
}

// bones describes by frame the bones whose length there is farthest from its median, if it is a fault.
// Bones above the trunk are left out: hips may travel under a fixed root.
func (m *movement) bones(c *skel.Clip, reach float32) []string {
	out, lengths := make([]string, c.Frames), make([]float32, c.Frames)
	for j := m.trunk + 1; j < m.n && c.Frames > 0; j++ {
		for f := range lengths {
			lengths[f] = c.Pos[f*m.n+j].Len()
		}
		usual, worst := slices.Sorted(slices.Values(lengths))[c.Frames/2], 0
		for f, l := range lengths {
			if m3.Abs(l-usual) > m3.Abs(lengths[worst]-usual) {
				worst = f
			}
		}
		if m3.Abs(lengths[worst]-usual) > max(farStretch*usual, jumpReach*reach) {
			out[worst] = fmt.Sprintf("%s is %.3g times as far from its parent as usual", m.names[j], lengths[worst]/usual)
		}
	}
	return out
}

// movement is how the joints of a clip move from frame to frame, in world space.
type movement struct {
	n         int
	names     []string
	site      []bool // by joint: an End Site
	fps       float64
	trunk     int       // the joint from which limbs begin
	step, two []float32 // (frames, joints) distance from one and from two frames before
	turn      []float32 // (frames) angle of the trunk from the frame before, rad

	finite   bool      // in all frames
	min, max m3.Vec3   // of all places
	lowest   []float32 // heights of the lowest joint, by frame with a finite one
}

func measure(c *skel.Clip) *movement {
	n := c.Skel.Len()
	m := &movement{n: n, names: c.Skel.Names, site: c.Skel.EndSite, fps: c.FPS, trunk: trunk(c.Skel), step: make([]float32, c.Frames*n), two: make([]float32, c.Frames*n),
		turn: make([]float32, c.Frames), finite: true, min: m3.V(1, 1, 1).Scale(math.MaxFloat32), max: m3.V(1, 1, 1).Scale(-math.MaxFloat32)}
	model, last, before, facing := make([]m3.Xform, n), make([]m3.Vec3, n), make([]m3.Vec3, n), m3.Ident
	for f := range c.Frames {
		c.Model(model, f)
		low := float32(math.MaxFloat32)
		for j, x := range model {
			if !(x.Pos.Finite() && x.Rot.Finite()) {
				m.finite = false
				continue
			}
			p := x.Pos
			m.min = m3.V(min(m.min.X, p.X), min(m.min.Y, p.Y), min(m.min.Z, p.Z))
			m.max = m3.V(max(m.max.X, p.X), max(m.max.Y, p.Y), max(m.max.Z, p.Z))
			low = min(low, p.Y)
			if f > 0 {
				m.step[f*n+j], m.two[f*n+j] = p.Dist(last[j]), p.Dist(before[j])
			}
			before[j], last[j] = last[j], p
		}
		if low < math.MaxFloat32 {
			m.lowest = append(m.lowest, low)
		}
		if n == 0 {
			continue
		}
		if q := model[m.trunk].Rot; q.Finite() {
			if f > 0 {
				m.turn[f] = q.Angle(facing)
			}
			facing = q
		}
	}
	return m
}

// trunk returns the first joint with two children or more, else joint 0.
func trunk(s *skel.Skeleton) int {
	children := make([]int, s.Len())
	for _, p := range s.Parents {
		if p >= 0 {
			children[p]++
		}
	}
	return max(0, slices.IndexFunc(children, func(n int) bool { return n > 1 }))
}
