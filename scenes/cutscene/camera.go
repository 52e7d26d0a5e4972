package cutscene

import (
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/cutscene/script"
	"mannequin/terrain"
)

// camera plays the shots of the script.
type camera struct {
	shots  []script.Shot // points in the world, except those relative to an actor
	ground *terrain.Field
}

// newCamera makes the heights of the shots' points absolute.
func newCamera(sc *script.Script, ground *terrain.Field) camera {
	c := camera{ground: ground}
	stand := func(points []m3.Vec3) (out []m3.Vec3) {
		for _, p := range points {
			out = append(out, p.Add(m3.V(0, ground.Height(p.X, p.Z), 0)))
		}
		return out
	}
	for _, s := range sc.Shots {
		if s.Target.Points = stand(s.Target.Points); s.Follow < 0 {
			s.Eye.Points = stand(s.Eye.Points)
		}
		c.shots = append(c.shots, s)
	}
	return c
}

// shot returns the index of the shot at time t, −1 if there are none.
func (c *camera) shot(t float32) int {
	i := len(c.shots) - 1
	for i > 0 && t < c.shots[i].From {
		i--
	}
	return i
}

// at returns the shot at time t, a fraction alpha of the way from the tick before to the present one.
func (c *camera) at(s *Scene, t, alpha float32) scenes.Shot {
	i := c.shot(t)
	if i < 0 {
		return scenes.Shot{}
	}
	shot := &c.shots[i]
	out := c.view(s, shot, t, alpha)
	if u := (t - shot.From) / shot.Ease; i > 0 && shot.Ease > 0 && u < 1 {
		was := c.view(s, &c.shots[i-1], t, alpha)
		u *= u * (3 - 2*u)
		out.Eye, out.Target, out.FOV = was.Eye.Lerp(out.Eye, u), was.Target.Lerp(out.Target, u), m3.Lerp(was.FOV, out.FOV, u)
	}
	out.Eye.Y = max(out.Eye.Y, c.ground.Height(out.Eye.X, out.Eye.Z)+0.12)
	before := c.shot(float32(s.now-1) / scenes.TickRate)
	out.Cut = s.was == s.now || before != c.shot(float32(s.now)/scenes.TickRate) && shot.Ease == 0
	return out
}

// view returns a shot at time t, without the one before.
func (c *camera) view(s *Scene, shot *script.Shot, t, alpha float32) scenes.Shot {
	out := scenes.Shot{On: true, FOV: shot.FOV, Eye: curveAt(&shot.Eye, t)}
	place := func(i int) m3.Vec3 { return s.actors[i].places[s.was].Lerp(s.actors[i].places[s.now], alpha) }
	if shot.Follow >= 0 {
		out.Eye = out.Eye.Add(place(shot.Follow))
	}
	if shot.Watch < 0 {
		out.Target = curveAt(&shot.Target, t)
		return out
	}
	out.Target = place(shot.Watch)
	out.Target.Y += middle[s.actors[shot.Watch].Kind]
	return out
}

// middle is the height above an actor's place that cameras look at, m.
var middle = [...]float32{script.Dog: 0.45, script.Person: 1.2}

// curveAt returns the place on a Catmull-Rom curve at time t. It rests before the first point and
// after the last.
func curveAt(c *script.Curve, t float32) m3.Vec3 {
	n := len(c.Points)
	if n == 1 || t <= c.Times[0] {
		return c.Points[0]
	}
	if t >= c.Times[n-1] {
		return c.Points[n-1]
	}
	i := 0
	for t >= c.Times[i+1] {
		i++
	}
	h := c.Times[i+1] - c.Times[i]
	u := (t - c.Times[i]) / h
	a, b := c.Points[i], c.Points[i+1]
	u2, u3 := u*u, u*u*u
	return a.Scale(2*u3 - 3*u2 + 1).Add(slope(c, i).Scale(h * (u3 - 2*u2 + u))).Add(b.Scale(3*u2 - 2*u3)).Add(slope(c, i+1).Scale(h * (u3 - u2)))
}

// slope returns the velocity of a curve at point i, m/s: zero at its ends.
func slope(c *script.Curve, i int) m3.Vec3 {
	if i == 0 || i == len(c.Points)-1 {
		return m3.Vec3{}
	}
	return c.Points[i+1].Sub(c.Points[i-1]).Scale(1 / (c.Times[i+1] - c.Times[i-1]))
}
