package manifold

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Curve is the component that steers a person along a path: speed, facing and gait. The zero value
// stands still. Values out of range are clamped: speeds to 0 to MaxSpeed, angles to half a turn;
// NaN counts as 0.
//
// A change takes effect from the person's current place. A person off the path walks to it, at most
// 1.3 m/s faster than along the path, and makes no progress along it before being near. At the
// end of an open path the person stops, softly if the rest of the path is long enough for the
// speed; otherwise they come back. A change of Path or Start restarts the path.
type Curve struct {
	Path   *control.Path // nil: stop and stand still
	Origin m3.Vec3       // where the origin of Path lies in the world, m, as control.Goal.PathOrigin; Y is ignored
	Start  float32       // arc length at which the path is joined, m
	Speed  float32       // m/s along the path
	Facing float32       // angle from the direction of travel to the facing, rad, to the left; π walks backward
	Gait   Gait

	// Acceleration is the largest change of the speed along the path, m/s². 0 is as people do in
	// recordings: 0.5 m/s² plus 0.6 1/s times the speed, at most 3 m/s². People who are asked to run start
	// faster, with the acceleration that belongs to 1.5 m/s less than Speed.
	Acceleration float32

	// PathScale makes Path larger or smaller, about its own origin; 0 is 1. Start is of the path as it was made.
	PathScale float32
}

// Scale multiplies the curve's lengths by by, for a space with another unit.
func (c *Curve) Scale(by float32) {
	c.Speed, c.Acceleration = c.Speed*by, c.Acceleration*by
	c.Origin = c.Origin.Scale(by)
	c.PathScale = c.scale() * by
}

func (c *Curve) scale() float32 {
	if c.PathScale > 0 {
		return c.PathScale
	}
	return 1
}

// route returns the path with its scale.
func (c *Curve) route() control.Route { return control.Route{Path: c.Path, Scale: c.PathScale} }

// equal reports whether c and d ask for the same.
func (c Curve) equal(d Curve) bool {
	same := c.Path.Equal(d.Path)
	c.Path, d.Path = nil, nil
	return same && c == d
}

// clamped returns c with every value in range.
func (c Curve) clamped() Curve {
	finite := func(v *float32, lo, hi float32) {
		if *v != *v {
			*v = 0
		}
		*v = m3.Clamp(*v, lo, hi)
	}
	const long = 1e6                           // m, more than any path's length
	const far = 1 << 23                        // m; float32 still resolves a metre there
	if c.Path != nil && c.Path.Length() == 0 { // not made by NewPath
		c.Path = nil
	}
	if c.Path == nil {
		c.Origin = m3.Vec3{}
	}
	finite(&c.Origin.X, -far, far)
	finite(&c.Origin.Z, -far, far)
	c.Origin.Y = 0
	finite(&c.Start, -long, long)
	finite(&c.Speed, 0, MaxSpeed)
	finite(&c.Facing, -1e6, 1e6)
	c.Facing = m3.WrapAngle(c.Facing)
	finite(&c.Gait.Heel, -math.Pi, math.Pi)
	finite(&c.Gait.Toe, -math.Pi, math.Pi)
	finite(&c.Gait.HeelOff, -1, 1)
	finite(&c.Gait.ToeOff, -1, 1)
	finite(&c.Gait.Cadence, 0, 4)
	finite(&c.Acceleration, 0, 100)
	if finite(&c.PathScale, 0, 1e3); c.PathScale > 0 {
		c.PathScale = max(c.PathScale, 1e-3)
	}
	return c
}

// Shift moves where the path lies by by, m.
func (c *Curve) Shift(by m3.Vec3) {
	if c.Path != nil {
		c.Origin = c.Origin.Add(by)
	}
}

// Constants of starting, stopping and joining a path.
const (
	joinSpeed = 1.3  // m/s beside the path's own
	joinPush  = 4.0  // m/s²
	joinRate  = 2.5  // of the last half metre to the path, 1/s
	joinTurn  = 0.25 // half-life of the turn to the path's facing, s
	turnMost  = 6.0  // of the wanted facing, rad/s
	wallKept  = 2.0  // of planner.wall at a wall
	wallNear  = 0.1  // m from a wall, nearer is along it
	wallFades = 0.97 // of planner.wall from one frame to the next: it is 1 after 0.4 s
	wallLeast = 0.02 // of planner.wall; less is 0
	runsOff   = 1.5  // m/s below Speed, see Curve.Acceleration
	// Distance from the path, m: beyond offPath there is no progress along it, from nearPath on it is
	// slower.
	nearPath, offPath = 0.4, 1.5
)

// change returns the largest acceleration and deceleration at a speed, m/s². As recorded, from 0.9 to
// 0.25 m/s and back takes 0.8 s, as in the median of recorded starts; recorded stops take 1.05 s. Runs
// change faster.
func (c *Curve) change(speed float64) float64 {
	if c.Acceleration > 0 {
		return float64(c.Acceleration)
	}
	return math.Min(0.5+0.6*speed, 3)
}

// waypoint is a frame of a planned trajectory before smoothing.
type waypoint struct {
	x, z, yaw  float64
	arc, speed float64 // along the path, m and m/s
	wall       felt
}

// felt is a wall along which a body slides: the direction out of it, in x and z, as long as planner.wall, in 1/feltUnit.
type felt [2]int16

const feltUnit = 16000

// A waypoint is kept in two parts, as the second is needed for a shorter time.
type (
	point struct {
		x, z float32
		yaw  turns
	}
	pace struct {
		arc, speed float32
		wall       felt
	}
)

func (w *waypoint) kept() (point, pace) {
	return point{float32(w.x), float32(w.z), turnsOf(w.yaw)}, pace{float32(w.arc), float32(w.speed), w.wall}
}

func (p *point) waypoint(v pace) waypoint {
	return waypoint{float64(p.x), float64(p.z), p.yaw.rad(), float64(v.arc), float64(v.speed), v.wall}
}

// turns is an angle in 2⁻³² of a whole turn. A body may turn on and on: differences stay right.
type turns int32

func turnsOf(rad float64) turns {
	const whole = 1 << 32
	return turns(int64(math.RoundToEven(math.Remainder(rad, 2*math.Pi) * (whole / (2 * math.Pi)))))
}

func (t turns) rad() float64 { return float64(t) * (2 * math.Pi / (1 << 32)) }

// planner plans a trajectory along curves, frame by frame: the place on the path plus an offset
// that decays.
type planner struct {
	curve    Curve
	arc      float64    // along the path, m
	speed    float64    // along it, m/s
	offset   [2]float64 // x and z, m: offset from the path; without a path, the place itself
	velocity [2]float64 // velocity of the offset, m/s
	turn     spring     // offset from the wanted facing, rad
	want     float64    // wanted facing, unwrapped, rad
	wall     float64    // wallKept where it slides along a wall, and then less and less; along a wall is what is at least 1
	out      [2]float32 // x and z of the direction out of that wall
}

// root returns the place of a waypoint as a transform.
func (w *waypoint) root() m3.Xform {
	return m3.Xform{Pos: m3.V(float32(w.x), 0, float32(w.z)), Rot: m3.YawQuat(float32(w.yaw))}
}

// spring is a critically damped spring to 0.
type spring struct{ x, v float64 }

// turnRate is the rate of the turn to the path's facing, 1/s.
const turnRate = 2 * math.Ln2 / joinTurn

// next advances the spring by a frame, exactly.
func (s *spring) next() {
	const dt = 1.0 / Rate
	c := s.v + turnRate*s.x
	s.x, s.v = (s.x+c*dt)*turnDecay, (s.v-turnRate*c*dt)*turnDecay
}

var turnDecay = m3.Exp64(-turnRate / Rate)

// follow makes the planner follow c from the trajectory's last waypoint; older is the one before.
func (p *planner) follow(c Curve, older, last waypoint) {
	was := p.curve
	p.curve, p.arc, p.speed = c, last.arc, last.speed
	out := m3.V(float32(last.wall[0]), 0, float32(last.wall[1])).Scale(1.0 / feltUnit)
	p.wall, p.out = math.Min(float64(out.Len()), wallKept), [2]float32{}
	if out = out.Normalize(m3.Vec3{}); p.wall > 0 {
		p.out = [2]float32{out.X, out.Z}
	}
	p.offset, p.velocity = [2]float64{last.x, last.z}, [2]float64{(last.x - older.x) * Rate, (last.z - older.z) * Rate}
	turning := math.Remainder(last.yaw-older.yaw, 2*math.Pi) * Rate
	if c.Path == nil {
		// The turn ends where its speed carries it.
		p.arc, p.speed, p.turn, p.want = 0, 0, spring{-turning / turnRate, turning}, last.yaw+turning/turnRate
		return
	}
	if !c.Path.Equal(was.Path) || c.Start != was.Start {
		p.arc, p.speed = p.wrapArc(float64(c.Start*c.scale())), 0
		_, dir := c.route().At(float32(p.arc))
		// The speed along the path is kept.
		p.speed = math.Min(math.Max(p.velocity[0]*float64(dir.X)+p.velocity[1]*float64(dir.Z), 0), float64(c.Speed))
	}
	// The path's own motion in the last frame is no offset.
	pos, dir := c.route().At(float32(p.arc))
	way, before := dir.Scale(float32(p.speed)), dir
	if back := p.arc - p.speed/Rate; back > 0 || c.Path.Closed() {
		var from m3.Vec3
		from, before = c.route().At(float32(back))
		way = pos.Sub(from).Scale(Rate)
	}
	for i, d := range [2][3]float32{{pos.X, way.X, c.Origin.X}, {pos.Z, way.Z, c.Origin.Z}} {
		p.offset[i] -= float64(d[0]) + float64(d[2])
		p.velocity[i] -= float64(d[1])
	}
	facing, far := p.facing()
	p.turn.x = math.Remainder(last.yaw-facing, 2*math.Pi)
	p.want = last.yaw - p.turn.x
	p.turn.v = turning - float64(m3.WrapAngle(m3.YawOf(dir)-m3.YawOf(before)))*Rate*(1-far)
}

// wrapArc returns an arc length within one round of a closed path, or within the ends of an open
// one.
func (p *planner) wrapArc(s float64) float64 {
	l := float64(p.curve.route().Length())
	if !p.curve.Path.Closed() {
		return math.Min(math.Max(s, 0), l)
	}
	if s = math.Mod(s, l); s < 0 {
		s += l
	}
	return s
}

// facing returns the wanted facing. far, 0 to 1, is the share of the direction of travel in it,
// which grows with the distance from the path.
func (p *planner) facing() (yaw, far float64) {
	_, dir := p.curve.route().At(float32(p.arc))
	yaw = float64(m3.YawOf(dir) + p.curve.Facing)
	far = math.Min(math.Max((math.Hypot(p.offset[0], p.offset[1])-nearPath)/(offPath-nearPath), 0), 1)
	if far == 0 && p.wall == 0 {
		return yaw, 0
	}
	x, z := p.velocity[0]+float64(dir.X)*p.speed, p.velocity[1]+float64(dir.Z)*p.speed
	if v := math.Hypot(x, z); v > idleSpeed {
		way := math.Atan2(x, z)
		yaw += math.Remainder(way-float64(m3.YawOf(dir)), 2*math.Pi) * p.along() // Facing is from the way along the wall
		yaw += math.Remainder(way-yaw, 2*math.Pi) * far * (1 - p.along())
	}
	return yaw, far * (1 - p.along())
}

// along is 1 along a wall and 0 where there is none.
func (p *planner) along() float64 { return min(p.wall, 1) }

// moveOffset moves the offset by a frame, toward 0 or, if stop, until its velocity is 0. push
// bounds the acceleration.
func (p *planner) moveOffset(stop bool, push float64) {
	var want [2]float64
	if d := math.Hypot(p.offset[0], p.offset[1]); !stop && d > 0 {
		v := math.Min(joinSpeed/d, joinRate)
		want = [2]float64{-p.offset[0] * v, -p.offset[1] * v}
		for i := range want { // along a wall, it does not press against it
			want[i] += (p.velocity[i] - want[i]) * p.along()
		}
	}
	change := [2]float64{want[0] - p.velocity[0], want[1] - p.velocity[1]}
	if l := math.Hypot(change[0], change[1]); l > push/Rate {
		change[0], change[1] = change[0]*push/Rate/l, change[1]*push/Rate/l
	}
	for i := range p.offset {
		p.velocity[i] += change[i]
		p.offset[i] += p.velocity[i] / Rate
	}
}

// next plans the next frame.
func (p *planner) next() waypoint {
	c := &p.curve
	p.turn.next()
	if p.wall *= wallFades; p.wall < wallLeast {
		p.wall = 0
	}
	if c.Path == nil {
		p.moveOffset(true, c.change(math.Hypot(p.velocity[0], p.velocity[1])))
		return waypoint{x: p.offset[0], z: p.offset[1], yaw: p.want + p.turn.x, wall: p.feel()}
	}
	p.moveOffset(false, joinPush)
	facing, far := p.facing()
	p.want += math.Min(math.Max(math.Remainder(facing-p.want, 2*math.Pi), -turnMost/Rate), turnMost/Rate)
	goal, left := float64(c.Speed)*(1-far), float64(c.route().Length())-p.arc
	most := c.change(p.speed)
	if !c.Path.Closed() { // the speed falls along this curve by less than most
		goal = math.Min(goal, math.Sqrt(most*math.Max(left, 0)))
	}
	off := c.change(math.Max(p.speed, float64(c.Speed)-runsOff))
	p.speed = math.Max(p.speed+math.Min(math.Max(goal-p.speed, -most/Rate), off/Rate), 0)
	if step := p.speed / Rate; c.Path.Closed() || step < left {
		p.arc = p.wrapArc(p.arc + step)
	} else {
		// The part of the step beyond the end becomes an offset.
		_, dir := c.route().At(c.route().Length())
		for i, d := range [2]float32{dir.X, dir.Z} {
			p.offset[i] += float64(d) * (step - math.Max(left, 0))
			p.velocity[i] += float64(d) * p.speed
		}
		p.arc, p.speed = float64(c.route().Length()), 0
	}
	place := p.onPath()
	return waypoint{place[0] + p.offset[0], place[1] + p.offset[1], p.want + p.turn.x, p.arc, p.speed, p.feel()}
}

// pace returns the pace of the last planned frame.
func (p *planner) pace() pace { return pace{float32(p.arc), float32(p.speed), p.feel()} }

func (p *planner) feel() felt {
	by := float32(p.wall) * feltUnit
	return felt{int16(p.out[0] * by), int16(p.out[1] * by)}
}

// touch returns how much further than it goes a body along a wall is asked for, to feel whether the wall is still there.
func (p *planner) touch() m3.Vec3 {
	if p.wall == 0 {
		return m3.Vec3{}
	}
	return m3.V(p.out[0], 0, p.out[1]).Scale(wallNear)
}

// headOn is the share of the speed along a wall from which a body turns along it, and keeps its speed. With less it
// walks at the wall, and stops.
const headOn = 0.3

// meet meets a wall, which pushes the last planned place by by from where touch asked for. The body is then as far along
// the path as it has come. meet returns how far that place is pushed.
func (p *planner) meet(by m3.Vec3) m3.Vec3 {
	out := by.Scale(1 / by.Len())
	by = out.Scale(max(by.Sub(p.touch()).Dot(out), 0))
	p.wall, p.out = wallKept, [2]float32{out.X, out.Z}
	if by == (m3.Vec3{}) {
		return by
	}
	was := p.onPath()
	p.offset[0], p.offset[1] = p.offset[0]+float64(by.X), p.offset[1]+float64(by.Z)
	var dir m3.Vec3
	if p.curve.Path != nil {
		_, dir = p.curve.route().At(float32(p.arc))
		p.arc = p.wrapArc(p.arc + float64(by.Dot(dir)))
		for i, v := range p.onPath() {
			p.offset[i] += was[i] - v
		}
	}
	x, z := p.velocity[0]+float64(dir.X)*p.speed, p.velocity[1]+float64(dir.Z)*p.speed
	v, into := math.Hypot(x, z), math.Min(x*float64(out.X)+z*float64(out.Z), 0)
	x, z = x-into*float64(out.X), z-into*float64(out.Z)
	if along := math.Hypot(x, z); p.curve.Path != nil && along > headOn*v {
		v = math.Min(v, float64(p.curve.Speed)) / along
		x, z = x*v, z*v
	}
	p.speed = math.Max(x*float64(dir.X)+z*float64(dir.Z), 0)
	p.velocity = [2]float64{x - float64(dir.X)*p.speed, z - float64(dir.Z)*p.speed}
	return by
}

// onPath returns the place on the path, x and z; without a path, zeros.
func (p *planner) onPath() (place [2]float64) {
	if c := &p.curve; c.Path != nil {
		pos, _ := c.route().At(float32(p.arc))
		place = [2]float64{float64(pos.X) + float64(c.Origin.X), float64(pos.Z) + float64(c.Origin.Z)}
	}
	return place
}

// kernel returns the right half of a Gaussian whose both sides sum to 1.
func kernel(sigma float64) []float64 {
	w, sum := make([]float64, int(3*sigma)+1), -1.0
	for i := range w {
		w[i] = m3.Exp64(-0.5 * float64(i*i) / (sigma * sigma))
		sum += 2 * w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

// Smoothing kernels of trajectories: people round corners and turn before them.
var placeKernel, facingKernel = kernel(placeSigma), kernel(facingSigma)

// lookahead is the number of future frames that smoothing needs.
var lookahead = max(len(placeKernel), len(facingKernel)) - 1

// smoothed returns the smoothed place at frame f of a ring of points.
func smoothed(ring []point, f int) spot {
	n := len(ring)
	p := ring[f%n]
	x, z, turned := float64(p.x)*placeKernel[0], float64(p.z)*placeKernel[0], 0.0 // from p on
	earlier, later, before, after := p.yaw, p.yaw, int64(0), int64(0)
	for i := 1; i <= lookahead; i++ {
		a, b := &ring[(f+n-i)%n], &ring[(f+i)%n]
		if i < len(placeKernel) {
			x += placeKernel[i] * (float64(a.x) + float64(b.x))
			z += placeKernel[i] * (float64(a.z) + float64(b.z))
		}
		if i < len(facingKernel) {
			before, after = before+int64(a.yaw-earlier), after+int64(b.yaw-later) // step by step: half a turn is not lost
			earlier, later = a.yaw, b.yaw
			turned += facingKernel[i] * float64(before+after)
		}
	}
	return spot{float32(x), float32(z), float32((p.yaw + turns(int64(math.RoundToEven(turned)))).rad())}
}

// spot is a place on the ground.
type spot struct{ x, z, yaw float32 }

func (p spot) place() feature.Place { return feature.Place{Pos: m3.V(p.x, 0, p.z), Yaw: p.yaw} }
