package human

import (
	"math"

	"mannequin/engine/m3"
	"mannequin/offline/procgen/internal/smooth"
)

// A foot flat on the ground, m.
const (
	ballHeight  = 0.031 // of the ball's joint and the end of the toes
	ankleHeight = ballHeight + 0.035
	heelBehind  = 0.045 // end of the heel behind the ankle
)

// stance is a time during which a foot stands.
type stance struct {
	on, off      float64 // canonical time of heel strike and toe-off, cycles
	flat, heel   float64 // and of flat sole and heel rise
	at           m3.Vec3 // place of the ball, at the joint's height
	yaw          float64 // direction of the toes
	strike, rise float64 // rad: toes up at on, heel up at off
	fling        float64 // rad: further rise of the heel after off
	lift         float64 // m: of the ankle in the following swing
	around       float64 // m: distance at which it passes the other leg
}

// stances lays out a foot's stances along the course.
func (g *figure) stances(foot int) []stance {
	c, m := g.course, &g.m
	var out []stance
	add := func(on, off, middle float64) {
		s := stance{on: on, off: off}
		d := min(off-on, m.duty)
		s.flat, s.heel = on+m.flatAt*d, off-(1-m.heelAt)*d
		side, k := sideOf(foot), c.moving.at(middle)
		ahead := m.ahead - side*0.025*m.limp*k
		// In a stand the feet are side by side, even if the style walks a line. In a turn they are
		// apart and shifted outward, because the body leans in.
		width := m.width + (1-k)*max(0, 0.06-m.width) + 0.045*math.Tanh(math.Abs(c.turn.at(middle)))
		s.at = c.place(middle, side*width-0.42*c.lean(middle), ahead).Add(g.footOffset(c.at(middle).yaw))
		s.at.Y = ballHeight
		s.yaw = c.at(middle).yaw + side*m.toeOut
		// Short steps have flat feet.
		long := func(t float64) float64 { return c.stride(t) / m.stride }
		if on > -forever {
			s.strike = m.strike * min(long(on), 1.3)
		}
		if off < forever {
			s.rise = m.rise * (0.45 + 0.55*min(long(off), 1.1))
			s.fling = m.fling * (0.5 + 0.5*min(long(off+0.1), 1.2))
			s.lift = m.lift*(0.4+0.6*min(long(off+0.1), 1.2)) + 0.004*math.Abs(g.deviate()) // steps differ
		}
		out = append(out, s)
	}
	if c.first > -forever {
		next := math.Ceil(c.first-landsAt(foot)) + landsAt(foot)
		if next > c.last {
			add(-forever, forever, 0)
			return out
		}
		add(-forever, next-1+c.duty(next-0.5), 0)
	}
	for n := 1 - margin; float64(n) < c.cycles+margin-1; n++ {
		on := float64(n) + landsAt(foot)
		if on < c.first || on > c.last {
			continue
		}
		if on+1 > c.last {
			add(on, forever, c.cycles)
			break
		}
		d := c.duty(on + m.duty/2)
		add(on, on+d, on+d/2)
	}
	return out
}

// foothold is the state of a foot at one time.
type foothold struct {
	ankle m3.Vec3
	yaw   float64
	pitch float64 // of the foot, toes up; 0: flat
	toes  float64 // pitch of the toes in the world
	free  float64 // cycles since toe-off or until heel strike, whichever is less; 0 in a stance
}

// ends returns the foot's ankle and ball.
func (h *foothold) ends() [2]m3.Vec3 {
	return [2]m3.Vec3{h.ankle, h.ankle.Add(footRot(h.yaw, h.pitch).Rotate(ballLocal))}
}

// toeOffSpeed is the speed of the heel's rise at toe-off, over its mean.
const toeOffSpeed = 1.8

func (s *stance) pitch(t float64) float64 {
	p := 0.0
	if s.strike > 0 && t < s.flat {
		p = s.strike * (1 - smooth.Step((t-s.on)/(s.flat-s.on)))
	}
	if s.rise > 0 && t > s.heel {
		p -= s.rise * hermite(t-s.heel, s.off-s.heel, state{}, state{1, toeOffSpeed / (s.off - s.heel), 0})
	}
	return p
}

// ball returns the ankle of a foot on its ball.
func (s *stance) ball(yaw, pitch float64) m3.Vec3 {
	return s.at.Sub(footRot(yaw, pitch).Rotate(ballLocal))
}

// heels returns the ankle of a foot on its heel.
func (s *stance) heels(yaw, pitch float64) m3.Vec3 {
	h := s.ball(s.yaw, 0).Add(m3.YawQuat(float32(s.yaw)).Rotate(heelFlat))
	return h.Sub(footRot(yaw, pitch).Rotate(heelLocal))
}

func (g *figure) foot(foot int, t float64) foothold {
	all := g.feet[foot]
	i := 0
	for i+1 < len(all) && all[i+1].on <= t {
		i++
	}
	s := &all[i]
	if t <= s.off || i+1 == len(all) {
		p := s.pitch(t)
		h := foothold{yaw: s.yaw, pitch: p, toes: max(p, 0)}
		if p > 0 {
			h.ankle = s.heels(s.yaw, p)
		} else {
			h.ankle = s.ball(s.yaw, p)
		}
		return h
	}
	return g.swing(foot, s, &all[i+1], t)
}

// swing returns a foot between two stances. The ankle blends from its place with the ball still
// down to its place with the heel already down, so it leaves and lands as smoothly as it turns.
func (g *figure) swing(foot int, from, to *stance, t float64) foothold {
	m := &g.m
	d := to.on - from.off
	u := (t - from.off) / d
	h := foothold{yaw: from.yaw + (to.yaw-from.yaw)*smooth.Step(u), free: min(t-from.off, to.on-t)}
	rising := from.off - from.heel
	off := state{-from.rise, -toeOffSpeed * from.rise / rising, 0}
	top := state{x: -from.rise - from.fling}
	if peak := m.flung * d; t-from.off < peak {
		h.pitch = hermite(t-from.off, peak, off, top)
	} else {
		// The toes are up a little before heel strike.
		h.pitch = top.x + (to.strike-top.x)*smooth.Step((t-from.off-peak)/(0.96*d-peak))
	}
	h.toes = h.pitch + max(0, -h.pitch)*(1-smooth.Step(u/0.55))
	w := float32(travel(u, 0.4, m.arrive))
	// The heel lands with some of the body's speed and stops at the last moment. A heel that waited
	// for the body would be out of reach before it stands. The toes leave with the body, too.
	late, soon := easeOff(to.on-t), easeOff(t-from.off)
	stride := g.course.stride(t)
	land := to.heels(h.yaw, h.pitch).Add(m3.YawQuat(float32(to.yaw)).Rotate(m3.V(0, float32(m.drop*late), float32(-m.approach*stride*late))))
	leave := from.ball(h.yaw, h.pitch).Add(m3.YawQuat(float32(from.yaw)).Rotate(m3.V(0, float32(m.spring*soon), float32(m.follow*stride*soon))))
	h.ankle = leave.Lerp(land, w)
	h.ankle.Y += float32(from.lift * hump(u, m.liftAt, 3))
	// The swinging foot passes around the standing one.
	n := g.course.at((from.off + to.on) / 2)
	out := sideOf(foot) * from.around * pass(u)
	h.ankle = h.ankle.Add(m3.YawQuat(float32(n.yaw)).Rotate(m3.V(float32(out), 0, 0)))
	return h
}

// pass is 1 while the foot is beside the other leg.
func pass(u float64) float64 { return smooth.Step(2.6*u) * smooth.Step(2.6*(1-u)) }

// easeOff returns about x, the cycles since toe-off, begins smoothly, and levels off at 0.1 cycle.
func easeOff(x float64) float64 {
	const brake, most = 0.03, 0.1
	return most * math.Tanh(x*x*x/(x*x+brake*brake)/most)
}

// clear moves a foot's swings around the other leg, and lifts the sole off the ground.
func (g *figure) clear(foot int) {
	const apart = 0.13 // m between passing feet
	all := g.feet[foot]
	for i := 0; i+1 < len(all); i++ {
		s, to := &all[i], &all[i+1]
		mid := (s.off + to.on) / 2
		inv := m3.YawQuat(float32(-g.course.at(mid).yaw))
		for k := 8; k <= 32; k++ {
			u := float64(k) / 40
			t := s.off + u*(to.on-s.off)
			own, other := g.swing(foot, s, to, t), g.foot(1-foot, t)
			for _, p := range own.ends() {
				for _, q := range other.ends() {
					d := inv.Rotate(p.Sub(q))
					near := smooth.Step(2 - math.Abs(float64(d.Z))/0.12) // 1 beside the other foot
					s.around = max(s.around, near*(apart-sideOf(foot)*float64(d.X))/pass(u))
				}
			}
		}
		more := 0.0
		for k := 1; k < 40; k++ {
			u := float64(k) / 40
			h := g.swing(foot, s, to, s.off+u*(to.on-s.off))
			q := footRot(h.yaw, h.pitch)
			ball := h.ankle.Add(q.Rotate(ballLocal))
			tip := ball.Add(toeRot(h.yaw, h.toes).Rotate(tipLocal))
			heel := h.ankle.Add(q.Rotate(heelLocal))
			need := 0.012 * hump(u, 0.5, 3)
			low := max(need+ballHeight-float64(min(ball.Y, tip.Y)), need-float64(heel.Y))
			more = max(more, low/max(hump(u, g.m.liftAt, 3), 0.02))
		}
		s.lift += min(more, 0.2)
	}
}

// Points of the foot, from the ankle, in its axes at rest.
var (
	ballLocal = m3.V(0, -0.029, 0.1176)
	tipLocal  = m3.V(0, 0, 0.061) // from the ball
	heelFlat  = m3.V(0, -ankleHeight, -heelBehind)
	heelLocal = footRot(0, 0).Conj().Rotate(heelFlat)
	flatPitch = math.Asin((ankleHeight-ballHeight)/float64(ballLocal.Len())) - math.Atan2(0.029, 0.1176)
)

// footRot returns a foot's rotation in the world. Pitch 0 is flat.
func footRot(yaw, pitch float64) m3.Quat {
	return turned(yaw, flatPitch-pitch, 0)
}

// toeRot is footRot for the toes.
func toeRot(yaw, pitch float64) m3.Quat { return turned(yaw, -pitch, 0) }

// turned returns the rotation by pitch (down), then roll (left side up), then yaw (to the left).
func turned(yaw, pitch, roll float64) m3.Quat {
	return m3.YawQuat(float32(yaw)).Mul(about(2, roll)).Mul(about(0, pitch))
}

// about returns the rotation about axis 0, 1, 2: x, y, z.
func about(axis int, angle float64) m3.Quat {
	s, c := math.Sincos(angle / 2)
	q := m3.Quat{W: float32(c)}
	switch axis {
	case 0:
		q.X = float32(s)
	case 1:
		q.Y = float32(s)
	default:
		q.Z = float32(s)
	}
	return q
}

func sideOf(foot int) float64 { return 1 - 2*float64(foot) }
