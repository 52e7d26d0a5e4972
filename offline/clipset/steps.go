package clipset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/feature"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/offline/label"
)

// way is how a body goes over the ground, or turns on the spot.
type way int

const (
	wayAhead way = iota
	wayBack
	wayLeft
	wayRight
	wayTurnLeft
	wayTurnRight
	wayOther // it stands, or shows an action other than idle and move
	numWays
)

const (
	wayWindow = FPS / 4 // frames on either side over which a way is measured
	wayAngle  = 0.7     // cosine of the largest angle between the facing and a way ahead: 45°
	wayRate   = 0.6     // rad/s, least turn on the spot and most turn aside
	wayLasts  = FPS     // least frames of a way that counts
)

// slowFroude is the speed of the slow walk of which steps are made: ÷ √(g × leg).
const slowFroude = 0.25

// slowShare is the share of the slow walk's speed below which a body goes slowly.
const slowShare = 0.8

// stepSpeed is a speed, as a share of a slow walk's, at a tempo.
type stepSpeed struct{ share, tempo float64 }

// What a walk is made into: speeds, as shares of a slow walk's, and turns on the spot in rad/s, each at a tempo.
var (
	stepSpeeds = []stepSpeed{{0.3, 0.75}, {0.6, 0.9}, {1, 1.1}}
	briskSteps = []stepSpeed{{1.5, 1.25}, {2.2, 1.25}, {3.2, 1.25}} // where the walk itself is as fast
	stepTurns  = []float64{0, 0.7, -0.7}                            // rad/s
	spotTurns  = []struct{ rate, tempo float64 }{{0.6, 0.75}, {1.2, 0.9}, {2, 1.2}}
)

// asideQuicker is how much quicker steps aside of two legs are: a foot comes up to the other one and does not pass it, so steps are short.
const asideQuicker = 1.3

// Steps adds loops for the ways that the clips lack: backward, aside, and turns on the spot. Slow loops are added where the clips go
// backward or aside only fast. Steps returns the names of the loops. A loop is made of one stride, of the loop that is nearest to a slow
// walk or of a recording. The body moves in the new direction, and each foot stands where the body has it in the middle of its stance;
// the stride backward is also reversed in time. Without such a stride there are none.
func (s *Set) Steps() (added []string, err error) {
	lack, err := s.lacking()
	if err != nil || lack == ([numWays]missing{}) {
		return nil, err
	}
	walk, err := s.stride()
	if walk == nil || err != nil {
		return nil, err
	}
	add := func(name string, straight *skel.Clip, velocity m3.Vec3, rate float64, aside bool) {
		out := *walk
		out.made = true
		led := s.led(straight, velocity, rate)
		if aside {
			s.part(led, s.planted(led, straight))
		}
		s.raise(led, s.planted(led, straight), straight)
		out.Motion = s.planted(led, straight) // again, as its legs are longer now
		out.Name = fmt.Sprintf("%s, %s", walk.Name, name)
		out.Actions = slices.Repeat([]string{label.Move}, out.Motion.Frames)
		s.Clips = append(s.Clips, out)
		added = append(added, out.Name)
	}
	ahead := s.velocity(walk.Motion).Normalize(m3.V(0, 0, 1))
	slow := min(s.goes(walk), s.slowWalk())
	ahead = ahead.Scale(float32(slow))
	speeds := slices.Clone(stepSpeeds)
	for _, a := range briskSteps {
		if s.goes(walk) > a.share*slow {
			speeds = append(speeds, a)
		}
	}
	if lack[wayBack] != nothing {
		back := reversed(walk.Motion)
		for _, a := range lack[wayBack].of(speeds) {
			for _, rate := range stepTurns {
				add(fmt.Sprintf("backward at %.1f, turning by %+.1f", a.share, rate), slower(back, a.tempo), ahead.Scale(float32(-a.share)), rate, false)
			}
		}
	}
	asideTurns, asideTempo := stepTurns, 1.0
	if s.Kind == anatomy.TwoLegs {
		asideTempo = asideQuicker
	}
	if !s.bent && len(s.Roles.Legs) > 2 { // the network of the paper's dog misses 18 of 125 bars without turns, 21 with them (docs/matching.md)
		asideTurns = asideTurns[:1]
	}
	for _, k := range [...]struct {
		side        float64
		aside, turn way
	}{{1, wayLeft, wayTurnLeft}, {-1, wayRight, wayTurnRight}} {
		side := k.side
		if side < 0 && s.symmetric != nil { // Mirror makes them
			break
		}
		if lack[k.aside] != nothing {
			for _, a := range lack[k.aside].of(speeds) {
				for _, rate := range asideTurns {
					add(fmt.Sprintf("aside at %+.1f, turning by %+.1f", side*a.share, rate), slower(walk.Motion, a.tempo*asideTempo), m3.Up.Cross(ahead).Scale(float32(side*a.share)), rate, true)
				}
			}
		}
		if lack[k.turn] != nothing {
			for _, a := range spotTurns {
				add(fmt.Sprintf("turning by %+.1f on the spot", side*a.rate), slower(walk.Motion, a.tempo), m3.Vec3{}, side*a.rate, false)
			}
		}
	}
	var ways []string
	for _, k := range [...]struct {
		name string
		lack missing
	}{{"goes backward", lack[wayBack]}, {"goes aside", max(lack[wayLeft], lack[wayRight])}, {"turns on the spot", max(lack[wayTurnLeft], lack[wayTurnRight])}} {
		switch k.lack {
		case slowOnes:
			ways = append(ways, k.name+" slowly")
		case all:
			ways = append(ways, k.name)
		}
	}
	s.Notes = append(s.Notes, fmt.Sprintf("no clip %s: %d loops were made of the steps of %s", strings.Join(ways, " or "), len(added), walk.Name))
	return added, nil
}

// missing is what the clips lack of a way.
type missing int

const (
	nothing missing = iota
	slowOnes
	all
)

// of returns those of stepSpeeds, or more, that make up for it.
func (l missing) of(speeds []stepSpeed) []stepSpeed {
	if l == slowOnes {
		return speeds[:2]
	}
	return speeds
}

// lacking says what of each way no loop shows, and recordings show for less than enough seconds. Of a skeleton with a mirror image one
// side is enough.
func (s *Set) lacking() (lack [numWays]missing, err error) {
	var frames, slow [numWays]int
	slowly := float32(slowShare * s.slowWalk())
	for i := range s.Clips {
		c := &s.Clips[i]
		ways, roots, err := s.ways(c)
		if err != nil {
			return lack, err
		}
		if c.Loop {
			frames[ways[0]] += int(enough * FPS)
			if v, _ := course(roots, 0, len(roots)-1); v.Len() < slowly {
				slow[ways[0]] += int(enough * FPS)
			}
			continue
		}
		for f := 0; f < len(ways); {
			end := f + 1
			for end < len(ways) && ways[end] == ways[f] {
				end++
			}
			if end-f >= wayLasts {
				frames[ways[f]] += end - f
				for ; f < end; f++ {
					if v, _ := course(roots, f, f+2*wayWindow); v.Len() < slowly {
						slow[ways[f]]++
					}
				}
			}
			f = end
		}
	}
	if frames[wayAhead] == 0 && frames[wayBack] > 0 {
		s.Notes = append(s.Notes, "clips go backward, and none ahead: if the character faces the other way, name its left and right legs with --skin-map (docs/rigs.md)")
	}
	if s.symmetric != nil {
		for _, n := range [...]*[numWays]int{&frames, &slow} {
			for _, pair := range [...][2]way{{wayLeft, wayRight}, {wayTurnLeft, wayTurnRight}} {
				both := n[pair[0]] + n[pair[1]]
				n[pair[0]], n[pair[1]] = both, both
			}
		}
	}
	for _, w := range [...]way{wayBack, wayLeft, wayRight, wayTurnLeft, wayTurnRight} {
		switch turns := w == wayTurnLeft || w == wayTurnRight; {
		case frames[w] < int(enough*FPS):
			lack[w] = all
		case !turns && slow[w] < int(enough*FPS):
			lack[w] = slowOnes
		}
	}
	return lack, nil
}

// ways returns the way of each frame of a clip without the first and last wayWindow, or of a loop one way for all of it, and the roots of
// all frames.
func (s *Set) ways(c *Clip) (out []way, roots []feature.Place, err error) {
	if roots, err = matching.Roots(s.Skel, &s.Roles, c.Motion); err != nil {
		return nil, nil, err
	}
	if c.Loop {
		return []way{s.way(roots, 0, len(roots)-1, c.mostly())}, roots, nil
	}
	for f := wayWindow; f+wayWindow < len(roots); f++ {
		out = append(out, s.way(roots, f-wayWindow, f+wayWindow, c.Actions[f]))
	}
	return out, roots, nil
}

// way returns the way between two frames.
func (s *Set) way(roots []feature.Place, from, to int, action string) way {
	if action != label.Move && action != label.Idle {
		return wayOther
	}
	v, turn := course(roots, from, to)
	speed, turns := v.Len(), m3.Abs(turn) > wayRate
	switch stays := speed < goes*float32(s.leg); {
	case stays && turns && turn > 0:
		return wayTurnLeft
	case stays && turns:
		return wayTurnRight
	case stays:
		return wayOther
	case v.Z > wayAngle*speed:
		return wayAhead
	case v.Z < -wayAngle*speed:
		return wayBack
	case !turns && v.X > 0:
		return wayLeft
	case !turns:
		return wayRight
	}
	return wayOther
}

// course returns the mean velocity between two frames, m/s as seen from the middle one, and the mean turn, rad/s.
func course(roots []feature.Place, from, to int) (v m3.Vec3, turn float32) {
	a, b := roots[from], roots[to]
	seconds := float32(to-from) / FPS
	v = m3.YawQuat(-roots[(from+to)/2].Yaw).Rotate(b.Pos.Sub(a.Pos)).Scale(1 / seconds)
	for f := from; f < to; f++ { // it may turn around more than once
		turn += m3.WrapAngle(roots[f+1].Yaw-roots[f].Yaw) / seconds
	}
	return v, turn
}

// slowWalk returns the speed of a slow walk, m/s.
func (s *Set) slowWalk() float64 { return slowFroude * math.Sqrt(9.81*s.leg) }

// velocity returns the mean velocity of a loop, m/s.
func (s *Set) velocity(c *skel.Clip) m3.Vec3 {
	n := s.Skel.Len()
	return c.Pos[(c.Frames-1)*n].Flat().Sub(c.Pos[0].Flat()).Scale(FPS / float32(max(c.Frames-1, 1)))
}

// part keeps the two legs of a loop that goes aside from passing through each other: it moves the feet outward. stepped is the loop after planted.
func (s *Set) part(c, stepped *skel.Clip) {
	const nearest = 0.11 // least distance of the feet aside, of the hips' height
	if len(s.Roles.Legs) != 2 {
		return
	}
	aside := func(f int, feet []m3.Vec3) float32 { // how far the first foot is to the left of the second
		return root(stepped, f).Rot.Conj().Rotate(feet[2*f].Sub(feet[2*f+1])).X
	}
	feet, side, least := s.feet(stepped), float32(0), float32(math.Inf(1))
	for f := range stepped.Frames {
		side += aside(f, feet)
	}
	side = float32(math.Copysign(1, float64(side)))
	for f := range stepped.Frames {
		least = min(least, side*aside(f, feet))
	}
	wider := nearest*float32(s.leg) - least
	tree, err := ik.NewTree(s.Skel.Parents)
	if err != nil || wider <= 0 {
		return
	}
	rig, err := ik.NewRig(tree, s.Roles)
	if err != nil {
		return
	}
	model, legs := make([]m3.Xform, s.Skel.Len()), make([]ik.Foot, 2)
	for f := range c.Frames {
		c.Model(model, f)
		out := root(c, f).Rot.Rotate(m3.V(side*wider/2, 0, 0))
		for leg, l := range s.Roles.Legs {
			rig.Reach(model, leg, model[l[len(l)-2]].Pos.Add(out), &legs[leg])
			out = out.Neg()
		}
		pos, rot := c.Frame(f)
		s.Skel.ModelToLocal(pos, rot, model)
	}
}

// raise lifts the hips of a loop, whose steps are shorter than those of the straight one that it is made of, until legs that stand are as
// straight as there, but not higher than in standing. stepped is the loop after planted.
func (s *Set) raise(c, stepped, straight *skel.Clip) {
	n, legs, round := s.Skel.Len(), len(s.Roles.Legs), c.Frames-1
	var lift, frames, height float32
	model, other := make([]m3.Xform, n), make([]m3.Xform, n)
	stands := s.stances(straight)
	for f := range round {
		straight.Model(other, f)
		stepped.Model(model, f)
		height += c.Pos[f*n].Y / float32(round)
		for leg := range legs {
			if !slices.ContainsFunc(stands[leg], func(k stance) bool { return k.holds(f, round) }) {
				continue
			}
			l := s.Roles.Legs[leg]
			reach := func(m []m3.Xform) m3.Vec3 { return m[l[0]].Pos.Sub(m[l[len(l)-1]].Pos) }
			was, is := reach(other), reach(model)
			lift += m3.Sqrt(max(was.Dot(was)-is.Flat().Dot(is.Flat()), is.Y*is.Y)) - is.Y
			frames++
		}
	}
	lift = min(lift/max(frames, 1), s.standing()-height)
	for f := range c.Frames {
		c.Pos[f*n].Y += max(lift, 0)
	}
}

// standing returns the median height of the hips in standing, or a usual one if no clip stands.
func (s *Set) standing() float32 {
	var heights []float64
	for i := range s.Clips {
		c := &s.Clips[i]
		for f, a := range c.Actions {
			if a == label.Idle {
				heights = append(heights, float64(c.Motion.Pos[f*s.Skel.Len()].Y))
			}
		}
	}
	if len(heights) == 0 {
		return float32(s.leg)
	}
	return float32(quantile(heights, 0.5))
}

// reversed returns a loop backward in time.
func reversed(c *skel.Clip) *skel.Clip {
	out := skel.NewClip(c.Skel, c.FPS, c.Frames)
	for f := range c.Frames {
		pos, rot := c.Frame(c.Frames - 1 - f)
		p, q := out.Frame(f)
		copy(p, pos)
		copy(q, rot)
	}
	return out
}
