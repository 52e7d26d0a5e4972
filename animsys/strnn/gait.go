package strnn

import (
	"strings"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// gait is how somebody is asked to go, eased: by critically damped springs; and where in a
// stride they are.
type gait struct {
	speed, turn [2]float32 // value, and how it changes per second
	phase       float32    // 0 to 1: the left foot comes down at 0, the right one at 0.5
}

// How people step, roughly as recorded ones do.
const (
	gaitHalflife = 0.3  // s, of the springs
	strideRate   = 0.55 // strides per second
	strideMore   = 0.28 // and more for each m/s
	strideTurn   = 0.4  // m/s for which a turn of 1 rad/s counts
	standsBelow  = 0.15 // m/s: slower, both feet stand
)

// Where in a stride, from a foot's coming down on, its heel and its toe stand.
var (
	heelStands = [2]float32{0, 0.48}
	toeStands  = [2]float32{0.08, 0.6}
)

// next goes on by a frame.
func (g *gait) next(speed, turn float32) {
	g.speed[0], g.speed[1] = m3.Spring(g.speed[0], g.speed[1], speed, gaitHalflife, 1.0/Rate)
	g.turn[0], g.turn[1] = m3.Spring(g.turn[0], g.turn[1], turn, gaitHalflife, 1.0/Rate)
	if g.phase += (strideRate + strideMore*g.effort()) / Rate; g.phase >= 1 {
		g.phase--
	}
}

// effort is how fast somebody steps, as a speed in m/s.
func (g *gait) effort() float32 { return m3.Abs(g.speed[0]) + strideTurn*m3.Abs(g.turn[0]) }

// stands returns whether a contact stands that does so in a part of its foot's stride.
func (g *gait) stands(c *stance) bool {
	if g.effort() < standsBelow {
		return true
	}
	p := g.phase + c.ahead
	if p >= 1 {
		p--
	}
	return p >= c.within[0] && p < c.within[1]
}

// stance is when a contact stands.
type stance struct {
	ahead  float32    // strides by which its foot is ahead of the left one
	within [2]float32 // where in its foot's stride it stands
}

// stancesOf returns when a layout's contacts stand. Those whose names begin with Right are
// the right foot's; of those of a foot the first is its heel.
func stancesOf(l *feature.Motion) []stance {
	var out []stance
	var feet [2]int
	for _, c := range l.Contacts {
		side := 0
		if strings.HasPrefix(c.Joint, "Right") {
			side = 1
		}
		s := stance{ahead: 0.5 * float32(side), within: heelStands}
		if feet[side] > 0 {
			s.within = toeStands
		}
		feet[side]++
		out = append(out, s)
	}
	return out
}
