package stage

import (
	"math"

	"github.com/g3n/engine/math32"

	"mannequin/engine/m3"
)

// Camera looks at a moving point from behind and above; the user may orbit and zoom. It swings back
// behind a character it follows. If the ground hides the target, it goes higher up or nearer.
type Camera struct {
	Yaw      float32 // rad: direction from the eye to the target; 0 looks along +Z
	Pitch    float32 // rad: downwards
	Distance float32 // m from the target
	Lift     float32 // m: height of the target above the focus
	Lag      float32 // s: half-life of the target's motion
	FOV      float32 // vertical, rad
	Follow   bool    // turn with the focus's heading
	Swing    float32 // in [0, 1]: speed of the turn; 0 does not turn
	Aside    float32 // rad: angle from straight behind at which a following camera settles; positive is to the character's right

	target, velocity m3.Vec3
	eye              m3.Vec3
	placed           bool
	clear            clearance
}

// Limits of orbiting and zooming.
const (
	minPitch, maxPitch       = -0.1, 1.5
	minDistance, maxDistance = 0.6, 60
	near, far                = 0.05, 400 // m
)

func newCamera() *Camera {
	return &Camera{Pitch: 0.24, Distance: 3.2, Lift: 0.05, Lag: 0.10, FOV: 0.75, Follow: true, Swing: 1}
}

// Orbit turns the camera about its target by the angles in radians.
func (c *Camera) Orbit(yaw, pitch float32) {
	c.Yaw = m3.WrapAngle(c.Yaw + yaw)
	c.Pitch = m3.Clamp(c.Pitch+pitch, minPitch, maxPitch)
}

// Zoom multiplies the camera's distance by factor.
func (c *Camera) Zoom(factor float32) {
	c.Distance = m3.Clamp(c.Distance*factor, minDistance, maxDistance)
}

// Track moves the camera by dt seconds toward the focus, which faces heading (yaw in radians).
// height keeps the eye above the ground and the target in view; it may be nil. The first call
// places the camera at once, as does a jump of the focus.
func (c *Camera) Track(focus m3.Vec3, heading, dt float32, height HeightFunc) {
	if !focus.Finite() || !m3.Finite(heading) {
		return
	}
	const leap = 5 // m
	goal := focus.Add(m3.V(0, c.Lift, 0))
	cut := !c.placed || goal.Dist(c.target) > leap
	if cut {
		c.target, c.velocity, c.placed = goal, m3.Vec3{}, true
		if c.Follow {
			c.Yaw = m3.WrapAngle(heading + c.Aside)
		}
	} else {
		c.target, c.velocity = m3.SpringVec(c.target, c.velocity, goal, c.Lag, dt)
		if c.Follow {
			goal := heading + c.Aside
			c.Yaw = m3.WrapAngle(goal + m3.DampTo(m3.WrapAngle(c.Yaw-goal), 0, 0.7/max(c.Swing, 1e-3), dt))
		}
	}
	pitch, distance := c.Pitch, c.Distance
	if height != nil {
		c.clear.move(height, c.target, c.Yaw, pitch, distance, dt, cut)
		pitch, distance = pitch+c.clear.lift, distance*c.clear.reach
	}
	c.eye = c.target.Sub(direction(c.Yaw, pitch).Scale(distance))
	if height != nil { // the spring may lag behind
		c.eye.Y = max(c.eye.Y, height(c.eye.X, c.eye.Z)+overGround)
	}
}

// Place puts the eye and the target at fixed points.
func (c *Camera) Place(eye, target m3.Vec3) {
	c.eye, c.target, c.placed = eye, target, true
}

// Raise puts the eye at least at height y, until the next Track.
func (c *Camera) Raise(y float32) { c.eye.Y = max(c.eye.Y, y) }

// Eye returns the camera's position, world.
func (c *Camera) Eye() m3.Vec3 { return c.eye }

// Placed reports whether the camera has a position yet.
func (c *Camera) Placed() bool { return c.placed }

// Ahead returns the camera's viewing direction, a unit vector in world space.
func (c *Camera) Ahead() m3.Vec3 { return c.target.Sub(c.eye).Normalize(m3.V(0, 0, 1)) }

func direction(yaw, pitch float32) m3.Vec3 {
	cp := m3.Cos(pitch)
	return m3.V(cp*m3.Sin(yaw), -m3.Sin(pitch), cp*m3.Cos(yaw))
}

// lens is a view and a projection for g3n's renderer.
type lens struct{ view, proj math32.Matrix4 }

// ViewMatrix copies the world-to-camera matrix to m.
func (l *lens) ViewMatrix(m *math32.Matrix4) { *m = l.view }

// ProjMatrix copies the camera-to-clip matrix to m.
func (l *lens) ProjMatrix(m *math32.Matrix4) { *m = l.proj }

func (l *lens) clip() (m math32.Matrix4) {
	m.MultiplyMatrices(&l.proj, &l.view)
	return m
}

func (l *lens) lookAt(eye, target m3.Vec3) {
	z := eye.Sub(target).Normalize(m3.V(0, 0, 1))
	up := m3.Up
	if m3.Abs(z.Y) > 0.9999 {
		up = m3.V(0, 0, 1)
	}
	x := up.Cross(z).Normalize(m3.V(1, 0, 0))
	y := z.Cross(x)
	l.view = math32.Matrix4{
		x.X, y.X, z.X, 0,
		x.Y, y.Y, z.Y, 0,
		x.Z, y.Z, z.Z, 0,
		-x.Dot(eye), -y.Dot(eye), -z.Dot(eye), 1}
}

func (l *lens) perspective(fov, aspect float32) {
	f := float32(1 / math.Tan(float64(fov)/2))
	l.proj = math32.Matrix4{
		f / aspect, 0, 0, 0,
		0, f, 0, 0,
		0, 0, (far + near) / (near - far), -1,
		0, 0, 2 * far * near / (near - far), 0}
}

func (l *lens) orthographic(reach, depth float32) {
	l.proj = math32.Matrix4{
		1 / reach, 0, 0, 0,
		0, 1 / reach, 0, 0,
		0, 0, -1 / depth, 0,
		0, 0, 0, 1}
}

func (c *Camera) aim(l *lens, aspect float32) {
	l.lookAt(c.eye, c.target)
	l.perspective(m3.Clamp(c.FOV, 0.05, 2.5), aspect)
}

// sunLens sets l to the shadow map's view of the ground around focus. reach is half the map's width
// in metres. The view moves in whole texels, so that shadows do not crawl.
func sunLens(l *lens, sun, focus m3.Vec3, reach float32) {
	l.lookAt(sun, m3.Vec3{})
	texel := 2 * reach / shadowSize
	v := &l.view
	along := func(row int) float32 { return v[row]*focus.X + v[row+4]*focus.Y + v[row+8]*focus.Z }
	snap := func(x float32) float32 { return texel * float32(math.Floor(float64(x/texel))) }
	v[12], v[13], v[14] = -snap(along(0)), -snap(along(1)), -along(2)
	l.orthographic(reach, 2*reach+20)
}

// unproject returns the matrix from clip space to world directions, for the sky.
func (l *lens) unproject() math32.Matrix4 {
	v, p := &l.view, &l.proj
	// Direction in camera space of clip (x, y): (x/p0, y/p5, −1).
	var m math32.Matrix4
	for i := range 3 {
		m[i] = v[4*i] / p[0]
		m[4+i] = v[4*i+1] / p[5]
		m[12+i] = -v[4*i+2]
	}
	m[15] = 1
	return m
}
