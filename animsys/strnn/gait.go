package strnn

import (
	"strings"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// gait is an agent's wanted motion, eased by critically damped springs, and its phase in the
// stride.
type gait struct {
	speed, turn [2]float32 // value, and its derivative per second
	phase       float32    // 0 to 1: the left foot touches down at 0, the right one at 0.5
}

// Constants of stepping, roughly as in recordings.
const (
	gaitHalflife = 0.3  // s, of the springs
	strideRate   = 0.55 // strides per second
	strideMore   = 0.28 // additional strides per second for each m/s
	strideTurn   = 0.4  // speed to which a turn of 1 rad/s is equivalent, m/s
	standsBelow  = 0.15 // m/s; below it both feet stand
)

// Phases of contact of heel and toe, from the foot's touchdown.
var (
	heelStands = [2]float32{0, 0.48}
	toeStands  = [2]float32{0.08, 0.6}
)

// next advances the gait by a frame.
func (g *gait) next(speed, turn float32) {
	g.speed[0], g.speed[1] = m3.Spring(g.speed[0], g.speed[1], speed, gaitHalflife, 1.0/Rate)
	g.turn[0], g.turn[1] = m3.Spring(g.turn[0], g.turn[1], turn, gaitHalflife, 1.0/Rate)
	if g.phase += (strideRate + strideMore*g.effort()) / Rate; g.phase >= 1 {
		g.phase--
	}
}

// effort returns the speed of stepping, as m/s.
func (g *gait) effort() float32 { return m3.Abs(g.speed[0]) + strideTurn*m3.Abs(g.turn[0]) }

// stands reports whether a contact stands.
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
	ahead  float32    // phase by which the foot is ahead of the left one
	within [2]float32 // phases of the foot between which it stands
}

// stancesOf returns the stances of a layout's contacts. Contacts whose joint names begin with Right
// belong to the right foot. The first contact of a foot is its heel.
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
