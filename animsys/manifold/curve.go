package manifold

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Curve says where a person goes: along a path, how fast, and how it steps. The
// zero value stands where it is. Values that cannot be are taken for the nearest
// that can: a speed for 0 to Fastest, what is not a number for 0.
//
// Changes are followed from where the person then is. One that is off its path
// walks there, no faster than joinSpeed beside what it has to go along it, and
// does not go on along the path before it is near.
type Curve struct {
	Path   *control.Path // nil: it stops, and stands
	Start  float32       // where it joins the path: m along it; a change of Path or Start joins anew
	Speed  float32       // m/s along the path
	Facing float32       // from the way ahead to where it faces, rad, to the left: π goes backward
	Gait   Gait
}

// sane returns c with every number one that can be.
func (c Curve) sane() Curve {
	finite := func(v *float32, lo, hi float32) {
		if *v != *v {
			*v = 0
		}
		*v = m3.Clamp(*v, lo, hi)
	}
	const long = 1e6 // m, more than any path's length
	finite(&c.Start, -long, long)
	finite(&c.Speed, 0, Fastest)
	finite(&c.Facing, -2*math.Pi, 2*math.Pi)
	finite(&c.Gait.Heel, -math.Pi, math.Pi)
	finite(&c.Gait.Toe, -math.Pi, math.Pi)
	finite(&c.Gait.HeelOff, -1, 1)
	finite(&c.Gait.ToeOff, -1, 1)
	finite(&c.Gait.Cadence, 0, 4)
	return c
}

// How people start, stop and come to their path.
const (
	speedUp   = 2.5 // m/s²
	slowDown  = 3.0 // m/s²
	joinSpeed = 1.3 // m/s beside the path's own
	joinSoon  = 0.25
	joinTurn  = 0.25 // half-life of turning to where the path wants it, s
	// Who is more than offPath from its path does not go on along it; from onPath
	// on it does so more slowly, m.
	onPath, offPath = 0.4, 1.5
)

// waypoint is where a course leads at a frame, before it is smoothed.
type waypoint struct {
	x, z, yaw  float64
	arc, speed float32 // along the path, m and m/s
}

// planner lays a course along curves, frame by frame: the path, and what is left
// of the way to it, a critically damped spring's.
type planner struct {
	curve  Curve
	arc    float32  // along the path, m
	speed  float32  // along it, m/s
	x, z   spring   // from the path to the course, m
	turn   spring   // from the path's facing to the course's, rad
	want   float64  // the path's facing, unwrapped, rad
	y      float64  // rate of the way to the path, 1/s
	anchor waypoint // where it stops that has no path
}

type spring struct{ x, v float64 }

// next advances a critically damped spring of rate y toward 0, exactly.
func (s *spring) next(y float64) {
	const dt = 1.0 / Rate
	e := math.Exp(-y * dt)
	c := s.v + y*s.x
	s.x, s.v = (s.x+c*dt)*e, (s.v-y*c*dt)*e
}

// rate is a critically damped spring's for a half-life of h seconds.
func rate(h float64) float64 { return 2 * math.Ln2 / h }

// take begins to follow c from where the course is, last, coming from older.
func (p *planner) take(c Curve, older, last waypoint) {
	was := p.curve
	p.arc, p.speed = last.arc, last.speed
	vx, vz, turning := (last.x-older.x)*Rate, (last.z-older.z)*Rate, (last.yaw-older.yaw)*Rate
	p.curve = c
	if c.Path == nil {
		// It stops as fast as it slows down: an exponential way.
		v := math.Hypot(vx, vz)
		p.y = math.Min(slowDown/math.Max(v, 1e-3), rate(joinSoon))
		p.x, p.z, p.turn = spring{-vx / p.y, vx}, spring{-vz / p.y, vz}, spring{0, turning}
		p.anchor = waypoint{x: last.x + vx/p.y, z: last.z + vz/p.y, yaw: last.yaw}
		p.speed, p.arc = 0, 0
		return
	}
	if c.Path != was.Path || c.Start != was.Start {
		p.arc = c.Start
		if c.Path.Closed() {
			p.arc = float32(math.Mod(float64(p.arc), float64(c.Path.Length())))
		} else {
			p.arc = m3.Clamp(p.arc, 0, c.Path.Length())
		}
		_, dir := c.Path.At(p.arc)
		// What it has of speed along the path it keeps.
		p.speed = m3.Clamp(float32(vx)*dir.X+float32(vz)*dir.Z, 0, c.Speed)
	}
	pos, dir := c.Path.At(p.arc)
	p.x = spring{last.x - float64(pos.X), vx - float64(dir.X*p.speed)}
	p.z = spring{last.z - float64(pos.Z), vz - float64(dir.Z*p.speed)}
	d := math.Hypot(p.x.x, p.z.x)
	// A spring that sets out at rest is fastest at y·d/e.
	p.y = math.Min(rate(joinSoon), joinSpeed*math.E/math.Max(d, 1e-6))
	facing := float64(m3.YawOf(dir) + c.Facing)
	p.turn.x = math.Remainder(last.yaw-facing, 2*math.Pi)
	p.want = last.yaw - p.turn.x
	_, ahead := c.Path.At(p.arc + p.speed/Rate)
	p.turn.v = turning - float64(m3.WrapAngle(m3.YawOf(ahead)-m3.YawOf(dir)))*Rate
}

// next goes on by a frame and returns where the course is.
func (p *planner) next() waypoint {
	p.x.next(p.y)
	p.z.next(p.y)
	p.turn.next(rate(joinTurn))
	c := &p.curve
	if c.Path == nil {
		return waypoint{x: p.anchor.x + p.x.x, z: p.anchor.z + p.z.x, yaw: p.anchor.yaw + p.turn.x}
	}
	d := math.Hypot(p.x.x, p.z.x)
	goal := c.Speed * (1 - float32(math.Min(math.Max((d-onPath)/(offPath-onPath), 0), 1)))
	if !c.Path.Closed() {
		goal = min(goal, m3.Sqrt(2*slowDown*max(c.Path.Length()-p.arc, 0)))
	}
	p.speed += m3.Clamp(goal-p.speed, -slowDown/Rate, speedUp/Rate)
	p.speed = max(p.speed, 0)
	if p.arc += p.speed / Rate; p.arc > c.Path.Length() {
		if p.arc = c.Path.Length(); c.Path.Closed() {
			p.arc = 0
		}
	}
	pos, dir := c.Path.At(p.arc)
	facing := m3.YawOf(dir) + c.Facing
	if vx, vz := p.x.v+float64(dir.X*p.speed), p.z.v+float64(dir.Z*p.speed); d > onPath && math.Hypot(vx, vz) > stillSpeed {
		// Far from its path it looks where it goes.
		w := math.Min((d-onPath)/(offPath-onPath), 1)
		way := m3.YawOf(m3.V(float32(vx), 0, float32(vz)))
		facing += m3.WrapAngle(way-facing) * float32(w)
	}
	p.want += math.Remainder(float64(facing)-p.want, 2*math.Pi)
	return waypoint{float64(pos.X) + p.x.x, float64(pos.Z) + p.z.x, p.want + p.turn.x, p.arc, p.speed}
}

// kernel is the right half of a Gaussian, its sum to both sides 1.
func kernel(sigma float64) []float64 {
	w, sum := make([]float64, int(3*sigma)+1), -1.0
	for i := range w {
		w[i] = math.Exp(-0.5 * float64(i*i) / (sigma * sigma))
		sum += 2 * w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

// smoothing of courses: people round corners and turn ahead of them.
var courseKernel, turnKernel = kernel(courseSigma), kernel(turnSigma)

// look is how far a course must be known ahead to be smoothed, frames.
var look = max(len(courseKernel), len(turnKernel)) - 1

// smoothed returns the course at frame f of the waypoints, a ring of frames.
func smoothed(ring []waypoint, f int) feature.Place {
	n := len(ring)
	p := ring[f%n]
	at := waypoint{x: p.x * courseKernel[0], z: p.z * courseKernel[0], yaw: p.yaw * turnKernel[0]}
	for i := 1; i <= look; i++ {
		a, b := &ring[(f+n-i)%n], &ring[(f+i)%n]
		if i < len(courseKernel) {
			at.x += courseKernel[i] * (a.x + b.x)
			at.z += courseKernel[i] * (a.z + b.z)
		}
		if i < len(turnKernel) {
			at.yaw += turnKernel[i] * (a.yaw + b.yaw)
		}
	}
	return feature.Place{Pos: m3.V(float32(at.x), 0, float32(at.z)), Yaw: m3.WrapAngle(float32(math.Remainder(at.yaw, 2*math.Pi)))}
}
