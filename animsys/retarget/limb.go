package retarget

import "mannequin/engine/m3"

const (
	maxLimbs = 10
	// exactReach is the share of its length up to which a limb reaches exactly, and mostReach the most.
	exactReach, mostReach = 0.98, 0.9999
	// bentSine is the sine of the angle of a knee below which its own hinge says more and more where it bends.
	bentSine = 0.08
	// turnedSine is bentSine for legs that turn beyond the source by turnedFar, rad: there it is no chance where a
	// knee bends.
	turnedSine, turnedFar = bentSine / 8, 0.02
	// toesUp is how far toes are up, as a sine, from where on a foot begins to stand on its heel.
	toesUp = 0.2
	// softReach is the share of its length that a limb has for slowing down before it is straight.
	softReach = 0.00005
	// mostSink is how far the hips sink for a leg, by its length, and steepSink by what it is too short: for a leg
	// that is far from upright sinking does little.
	mostSink, steepSink = 0.2, 4
	// mostSlide is by how much more a foot may move than the source's because the character is wider or longer, as a
	// share of the way of the source's.
	mostSlide = 0.15
	// standing is the height of a foot above the ground, by the length of its leg, from which on it carries less; from twice that, nothing.
	standing = 0.06
)

// limb is a leg or an arm of a character: two bones that take its end to a place.
type limb struct {
	upper, mid, end bone
	others          []bone // the limb's other joints
	side            int    // of an arm: 0 left, 1 right
	toe             int    // the own joint at the tip, or −1

	sourceUpper, sourceMid, sourceEnd int

	thigh, shin   m3.Vec3 // from upper to mid and from mid to end, in the frames of upper and mid, m
	a, b          float32 // their lengths, m
	sourceLength  float32 // of both of the source's, in its unit
	hinge         m3.Vec3 // the unit axis about which mid bends, in the frame of the source's upper
	tip           m3.Vec3 // of the foot or hand, from end, in its frame, m
	sourceReach   m3.Vec3 // the same of the source, in its unit
	flat          float32 // how much higher than its end the tip of the source's foot is at rest
	lateral       m3.Vec3 // the axis to the left, in the frame of the source's end
	move          m3.Vec3 // of the tip over the ground beyond the scaled source's, X to the left and Z ahead, m
	rise, tipRise float32 // of end and tip above the ground, likewise, m
	sole          bool    // it rolls from its heel to its tip; else it stands on its tip
	arm           bool
	low           float32 // height of the tip at rest, m

	guards []guard // of an arm: what its lower bone keeps out of
}

// goal is where a limb's end is to be.
type goal struct {
	at   m3.Vec3
	rot  m3.Quat // of the end
	high float32 // of the tip above where it stands, m
	load float32 // how much it may pull the body down, 0 to 1
	// stretch is how straight the limb may be: as the source's, as a share of its length.
	stretch float32
	turned  float32 // how much the limb bends as its turns have it, 0 to 1
}

// Foot is what is remembered of a character's foot from pose to pose. The zero Foot is new.
type Foot struct {
	move m3.Vec3 // over the ground beyond the scaled source's, m
	tip  m3.Vec3 // of the scaled source, m
	seen uint32
}

// goal returns where the limb's end is to be in the source's pose. foot may be nil.
func (l *limb) goal(src []m3.Xform, scale float32, foot *Foot, turns []m3.Quat) (g goal) {
	end := &src[l.sourceEnd]
	g.rot = end.Rot.Mul(l.end.turn).Normalize()
	g.stretch = m3.Clamp(src[l.sourceUpper].Pos.Dist(end.Pos)/l.sourceLength, exactReach, mostReach)
	if g.turned = l.turning(turns); g.turned > 0 { // or as its turns have it
		upper, mid := l.upper.turned(l.upper.rotation(m3.Ident, src), turns), l.mid.turned(l.mid.rotation(m3.Ident, src), turns)
		g.stretch = m3.Lerp(g.stretch, m3.Clamp(upper.Rotate(l.thigh).Add(mid.Rotate(l.shin)).Len()/(l.a+l.b), g.stretch, mostReach), g.turned)
	}
	reach := end.Rot.Rotate(l.sourceReach)
	tip := end.Pos.Add(reach).Scale(scale)
	if l.arm {
		g.at = tip.Sub(g.rot.Rotate(l.tip)) // the knuckles of both are at one place
		return g
	}
	// By what the character is wider or longer, a foot is moved as it points. While it stands it may turn, and is
	// not moved along then: it slides by no more than the share mostSlide beyond the source's.
	left := end.Rot.Rotate(l.lateral).Flat().Normalize(m3.V(1, 0, 0))
	move := left.Scale(l.move.X).Add(left.Cross(m3.Up).Scale(l.move.Z))
	if foot != nil {
		if change, most := move.Sub(foot.move), mostSlide*tip.Sub(foot.tip).Flat().Len(); foot.seen != 0 && change.Dot(change) > most*most {
			move = foot.move.Add(change.Normalize(m3.Vec3{}).Scale(most))
		}
		*foot = Foot{move, tip, 1}
	}
	tip = tip.Add(move)
	tip.Y += l.tipRise
	g.at = tip.Sub(g.rot.Rotate(l.tip))
	if l.sole {
		// A foot that stands on its heel has that on the ground, and else its tip.
		heel := end.Pos.Y*scale + l.rise
		g.at.Y = m3.Lerp(g.at.Y, heel, rise((reach.Y-l.flat)/l.sourceReach.Len(), toesUp, 2*toesUp))
	}
	g.high = tip.Y - l.low
	g.load = 1 - rise(g.high/(l.a+l.b), standing, 2*standing)
	return g
}

// turning returns how much the limb bends as its turns have it, 0 to 1.
func (l *limb) turning(turns []m3.Quat) float32 {
	if turns == nil || l.arm {
		return 0
	}
	a, b := turns[l.upper.further], turns[l.mid.further]
	if a == m3.Ident && b == m3.Ident {
		return 0
	}
	return rise(a.Angle(m3.Ident)+b.Angle(m3.Ident), 0, turnedFar)
}

// sink returns how far the body is to sink for the limb, which hangs on the joint up, to get to its goal, m.
func (l *limb) sink(up *m3.Xform, g *goal) float32 {
	length := g.stretch * (l.a + l.b)
	d := g.at.Sub(up.Apply(l.upper.offset))
	over := d.Dot(d) - length*length
	if !(over > 0) || !(d.Y < 0) {
		return 0
	}
	flat := d.Flat()
	down := -d.Y - m3.Sqrt(max(length*length-flat.Dot(flat), 0))
	return min(down, steepSink*(d.Len()-length), mostSink*length) * g.load
}

// pose writes the limb's joints. With a goal, which may be nil, the end is w of the way from where it would be
// to there.
func (l *limb) pose(dst, src []m3.Xform, turns []m3.Quat, g *goal, w float32) {
	up := &dst[l.upper.parent]
	root := up.Pos.Add(up.Rot.Rotate(l.upper.offset))
	upper := l.upper.turned(l.upper.rotation(up.Rot, src), turns)
	mid := l.mid.turned(l.mid.rotation(upper, src), turns)
	if g != nil {
		thigh, shin := upper.Rotate(l.thigh), mid.Rotate(l.shin)
		to := g.at.Sub(root)
		if w < 1 {
			to = thigh.Add(shin).Lerp(to, w)
		}
		hinge, bent := src[l.sourceUpper].Rot.Rotate(l.hinge), float32(bentSine)
		if g.turned > 0 {
			hinge, bent = upper.Mul(l.upper.turn.Conj()).Rotate(l.hinge), m3.Lerp(bentSine, turnedSine, g.turned)
		}
		upper, mid = twoBones(upper, mid, thigh, shin, to, l.a, l.b, g.stretch, hinge, bent)
	}
	knee := root.Add(upper.Rotate(l.thigh))
	dst[l.upper.joint] = m3.Xform{Pos: root, Rot: upper}
	dst[l.mid.joint] = m3.Xform{Pos: knee, Rot: mid}
	dst[l.end.joint] = m3.Xform{Pos: knee.Add(mid.Rotate(l.shin)), Rot: l.end.rotation(mid, src)}
	away, moved := m3.Ident, false
	if g == nil && turns == nil { // a hand that reaches, and a clip of its own, know where to go
		away, moved = l.keepAway(dst)
	}
	for i := range l.others {
		o := &l.others[i]
		if o.pose(dst, src, turns); moved && o.from >= 0 {
			dst[o.joint].Rot = away.Mul(dst[o.joint].Rot).Normalize()
		}
	}
}

// twoBones returns the rotations of the upper and the lower of two bones, a and b long, that take their end to the
// place to, as seen from the limb's root. Up to stretch it gets there exactly. hinge is the axis about which a limb
// bends whose knee has a smaller sine than bent.
func twoBones(upper, mid m3.Quat, thigh, shin, to m3.Vec3, a, b, stretch float32, hinge m3.Vec3, bent float32) (m3.Quat, m3.Quat) {
	length, d := a+b, to.Len()
	if !(d > 1e-4*length) || !m3.Finite(d) {
		return upper, mid
	}
	to = to.Scale(1 / d)
	exact := stretch * length
	if rest := (mostReach+softReach)*length - exact; d > exact {
		d = exact + rest*(1-m3.Exp((exact-d)/rest))
	}
	d = max(d, m3.Abs(a-b)+1e-4*length)
	// It bends as it did. One that is nearly straight bends about its hinge.
	axis := thigh.Cross(shin).Scale(1 / (a * b))
	if straight := bent * (1 - rise(axis.Len(), bent, 2*bent)); straight > 0 {
		axis = axis.Add(hinge.Scale(straight))
	}
	out := to.Cross(axis).Normalize(to.Cross(m3.V(1, 0, 0)).Normalize(m3.Up))
	along := (d*d + (a-b)*(a+b)) / (2 * d)
	knee := to.Scale(along).Add(out.Scale(m3.Sqrt(max((a-along)*(a+along), 0))))
	q := m3.Between(thigh.Scale(1/a), knee.Scale(1/a))
	r := m3.Between(shin.Scale(1/b), to.Scale(d).Sub(knee).Scale(1/b))
	return q.Mul(upper).Normalize(), r.Mul(mid).Normalize()
}

// rise goes smoothly from 0 at lo to 1 at hi.
func rise(x, lo, hi float32) float32 {
	x = m3.Clamp((x-lo)/(hi-lo), 0, 1)
	return x * x * (3 - 2*x)
}
