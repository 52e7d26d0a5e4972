package manifold

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Curve says where a person goes: along a path, how fast, and how it steps. The
// zero value stands where it is. Values that cannot be are taken for ones that
// can: speeds for 0 to Fastest, angles for the same ones within half a turn, what
// is not a number for 0.
//
// Changes are followed from where the person then is. One that is off its path
// walks there, no faster than joinSpeed beside what it has to go along it, and
// does not go on along the path before it is near. Where an open path ends it
// stops, softly if it is not too fast for what is left of the path; else it comes
// back. It starts anew where Path or Start changes.
type Curve struct {
	Path   *control.Path // nil: it stops, and stands
	Start  float32       // where it joins the path: m along it
	Speed  float32       // m/s along the path
	Facing float32       // from the way ahead to where it faces, rad, to the left: π goes backward
	Gait   Gait
}

// sane returns c with every value one that can be.
func (c Curve) sane() Curve {
	finite := func(v *float32, lo, hi float32) {
		if *v != *v {
			*v = 0
		}
		*v = m3.Clamp(*v, lo, hi)
	}
	const long = 1e6                           // m, more than any path's length
	if c.Path != nil && c.Path.Length() == 0 { // no path that NewPath made
		c.Path = nil
	}
	finite(&c.Start, -long, long)
	finite(&c.Speed, 0, MaxSpeed)
	finite(&c.Facing, -1e6, 1e6)
	c.Facing = m3.WrapAngle(c.Facing)
	finite(&c.Gait.Heel, -math.Pi, math.Pi)
	finite(&c.Gait.Toe, -math.Pi, math.Pi)
	finite(&c.Gait.HeelOff, -1, 1)
	finite(&c.Gait.ToeOff, -1, 1)
	finite(&c.Gait.Cadence, 0, 4)
	return c
}

// How people start, stop and come to their path.
const (
	speedUp   = 2.5  // m/s²
	slowDown  = 3.0  // m/s²
	joinSpeed = 1.3  // m/s beside the path's own
	joinPush  = 4.0  // m/s²
	joinRate  = 2.5  // of the last half metre to the path, 1/s
	joinTurn  = 0.25 // half-life of turning to where the path wants it, s
	turnMost  = 6.0  // rad/s, of what the path wants
	// Who is more than offPath from its path does not go on along it; from onPath
	// on it does so more slowly, m.
	onPath, offPath = 0.4, 1.5
)

// waypoint is where a course leads at a frame, before it is smoothed.
type waypoint struct {
	x, z, yaw  float64
	arc, speed float64 // along the path, m and m/s
}

// planner lays a course along curves, frame by frame: the path, and what is left
// of the way to it.
type planner struct {
	curve Curve
	arc   float64    // along the path, m
	speed float64    // along it, m/s
	at    [2]float64 // x and z, m: from the path to the course; without a path, the course
	v     [2]float64 // its change, m/s
	turn  spring     // from the facing that is wanted to the course's, rad
	want  float64    // the facing that is wanted, unwrapped, rad
}

// spring is a critically damped one, that goes to 0.
type spring struct{ x, v float64 }

// turnRate is that of turning to where the path wants it, 1/s.
const turnRate = 2 * math.Ln2 / joinTurn

// next advances the spring by a frame, exactly.
func (s *spring) next() {
	const dt = 1.0 / Rate
	c := s.v + turnRate*s.x
	s.x, s.v = (s.x+c*dt)*turnDecay, (s.v-turnRate*c*dt)*turnDecay
}

var turnDecay = math.Exp(-turnRate / Rate)

// take begins to follow c from where the course is, last, coming from older.
func (p *planner) take(c Curve, older, last waypoint) {
	was := p.curve
	p.curve, p.arc, p.speed = c, last.arc, last.speed
	p.at, p.v = [2]float64{last.x, last.z}, [2]float64{(last.x - older.x) * Rate, (last.z - older.z) * Rate}
	turning := (last.yaw - older.yaw) * Rate
	if c.Path == nil {
		// It ends its turn where the turn's speed takes it.
		p.arc, p.speed, p.turn, p.want = 0, 0, spring{-turning / turnRate, turning}, last.yaw+turning/turnRate
		return
	}
	if c.Path != was.Path || c.Start != was.Start {
		p.arc, p.speed = p.within(float64(c.Start)), 0
		_, dir := c.Path.At(float32(p.arc))
		// What it has of speed along the path it keeps.
		p.speed = math.Min(math.Max(p.v[0]*float64(dir.X)+p.v[1]*float64(dir.Z), 0), float64(c.Speed))
	}
	// What the path did in the last frame is no way off it.
	pos, dir := c.Path.At(float32(p.arc))
	way, before := dir.Scale(float32(p.speed)), dir
	if back := p.arc - p.speed/Rate; back > 0 || c.Path.Closed() {
		var from m3.Vec3
		from, before = c.Path.At(float32(back))
		way = pos.Sub(from).Scale(Rate)
	}
	for i, d := range [2][2]float32{{pos.X, way.X}, {pos.Z, way.Z}} {
		p.at[i] -= float64(d[0])
		p.v[i] -= float64(d[1])
	}
	facing, far := p.facing()
	p.turn.x = math.Remainder(last.yaw-facing, 2*math.Pi)
	p.want = last.yaw - p.turn.x
	p.turn.v = turning - float64(m3.WrapAngle(m3.YawOf(dir)-m3.YawOf(before)))*Rate*(1-far)
}

// within returns the arc length s of a closed path within one round, of an open
// one within its ends.
func (p *planner) within(s float64) float64 {
	l := float64(p.curve.Path.Length())
	if !p.curve.Path.Closed() {
		return math.Min(math.Max(s, 0), l)
	}
	if s = math.Mod(s, l); s < 0 {
		s += l
	}
	return s
}

// facing returns where the path wants the body to face, and how far that is told
// by where it goes instead, 0 to 1: who is far from its path looks there.
func (p *planner) facing() (yaw, far float64) {
	_, dir := p.curve.Path.At(float32(p.arc))
	yaw = float64(m3.YawOf(dir) + p.curve.Facing)
	far = math.Min(math.Max((math.Hypot(p.at[0], p.at[1])-onPath)/(offPath-onPath), 0), 1)
	if far == 0 {
		return yaw, 0
	}
	x, z := p.v[0]+float64(dir.X)*p.speed, p.v[1]+float64(dir.Z)*p.speed
	if v := math.Hypot(x, z); v > stillSpeed {
		yaw += math.Remainder(math.Atan2(x, z)-yaw, 2*math.Pi) * far
	}
	return yaw, far
}

// drift moves at by a frame: toward 0 or, if it is to stop, until v is none. v
// changes by no more than push.
func (p *planner) drift(stop bool, push float64) {
	var want [2]float64
	if d := math.Hypot(p.at[0], p.at[1]); !stop && d > 0 {
		v := math.Min(joinSpeed/d, joinRate)
		want = [2]float64{-p.at[0] * v, -p.at[1] * v}
	}
	change := [2]float64{want[0] - p.v[0], want[1] - p.v[1]}
	if l := math.Hypot(change[0], change[1]); l > push/Rate {
		change[0], change[1] = change[0]*push/Rate/l, change[1]*push/Rate/l
	}
	for i := range p.at {
		p.v[i] += change[i]
		p.at[i] += p.v[i] / Rate
	}
}

// next goes on by a frame and returns where the course is.
func (p *planner) next() waypoint {
	c := &p.curve
	p.turn.next()
	if c.Path == nil {
		p.drift(true, slowDown)
		return waypoint{x: p.at[0], z: p.at[1], yaw: p.want + p.turn.x}
	}
	p.drift(false, joinPush)
	facing, far := p.facing()
	p.want += math.Min(math.Max(math.Remainder(facing-p.want, 2*math.Pi), -turnMost/Rate), turnMost/Rate)
	goal, left := float64(c.Speed)*(1-far), float64(c.Path.Length())-p.arc
	if !c.Path.Closed() { // with something in hand: steps are frames
		goal = math.Min(goal, math.Sqrt(2*0.8*slowDown*math.Max(left, 0)))
	}
	p.speed = math.Max(p.speed+math.Min(math.Max(goal-p.speed, -slowDown/Rate), speedUp/Rate), 0)
	if step := p.speed / Rate; c.Path.Closed() || step < left {
		p.arc = p.within(p.arc + step)
	} else {
		// What the path is too short for goes on as a way off it.
		_, dir := c.Path.At(c.Path.Length())
		for i, d := range [2]float32{dir.X, dir.Z} {
			p.at[i] += float64(d) * (step - math.Max(left, 0))
			p.v[i] += float64(d) * p.speed
		}
		p.arc, p.speed = float64(c.Path.Length()), 0
	}
	pos, _ := c.Path.At(float32(p.arc))
	return waypoint{float64(pos.X) + p.at[0], float64(pos.Z) + p.at[1], p.want + p.turn.x, p.arc, p.speed}
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
