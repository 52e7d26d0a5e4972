package feature

import (
	"fmt"
	"math"
	"slices"

	"mannequin/engine/m3"
)

// Standard deviations of the body frame's smoothing, in frames at 60 Hz (Holden et al. 2016, code).
const (
	placeSigma  = 3.0
	facingSigma = 20.0
)

// floorShare is the share of frames in which the lowest contact is under the ground: recorded feet
// wobble by a centimetre, and one dip must not lift all other frames.
const floorShare = 0.1

// Place is a body's frame in the world.
type Place struct {
	Pos m3.Vec3 // m; the height is the ground's
	Yaw float32 // rad
}

// Finite reports whether p has no NaN and nothing infinite.
func (p Place) Finite() bool { return p.Pos.Finite() && m3.Finite(p.Yaw) }

// Turned returns where p comes to.
func (p Place) Turned(by m3.Turn) Place {
	return Place{Pos: by.Point(p.Pos), Yaw: p.Yaw + by.Yaw}
}

// Advance returns the place dt seconds after p with the motion body, (MotionLen). Yaw never wraps.
func (p Place) Advance(body []float32, dt float32) Place {
	way := m3.YawQuat(p.Yaw).Rotate(m3.V(body[MotionX], 0, body[MotionZ]).Scale(dt))
	return Place{Pos: p.Pos.Add(way), Yaw: p.Yaw + dt*body[MotionYaw]}
}

// Joints writes the world positions of a frame's first len(points) joints, with the body at p.
func (p Place) Joints(points []m3.Vec3, frame []float32) {
	turn := m3.YawQuat(p.Yaw)
	for j := range points {
		points[j] = turn.Rotate(m3.V(frame[3*j], frame[3*j+1], frame[3*j+2])).Add(p.Pos)
	}
}

// FromWorld writes the frames of a motion into rows, (frames, m.Columns()), from the world
// positions of its joints, (frames, len(m.Joints)), m, at fps frames per second. It returns the
// place of the first frame. The ground is level, at the height on which contacts mostly stand. A
// contact is on if the joint is low and slow in most of the five frames around. The last frame has
// the motion of the one before. ToWorld is the inverse.
//
// It is an error if the slices have other lengths, or a position is not finite.
func (m *Motion) FromWorld(rows []float32, world []m3.Vec3, fps float64) (Place, error) {
	n, cols := len(m.Joints), m.Columns()
	frames := len(world) / max(n, 1)
	switch {
	case frames == 0 || len(world) != frames*n || len(rows) != frames*cols:
		return Place{}, fmt.Errorf("feature: %d places of %d joints make no rows of %d values in %d", len(world), n, cols, len(rows))
	case !(fps > 0) || math.IsInf(fps, 1):
		return Place{}, fmt.Errorf("feature: %g frames per second", fps)
	}
	for i, p := range world {
		if !p.Finite() {
			return Place{}, fmt.Errorf("feature: the place of joint %q in frame %d is not finite", m.Joints[i%n], i/n)
		}
	}
	place := m.places(world, frames, fps)
	contacts := m.contactJoints()
	for f := range frames {
		row := rows[f*cols:][:cols]
		p, turn := place[f], m3.YawQuat(-place[f].Yaw)
		for j := range n {
			v := turn.Rotate(world[f*n+j].Sub(p.Pos))
			row[m.Pos(j)], row[m.Pos(j)+1], row[m.Pos(j)+2] = v.X, v.Y, v.Z
		}
		g := min(f, max(0, frames-2)) // the last frame has no next one
		next := place[min(g+1, frames-1)]
		way := m3.YawQuat(-place[g].Yaw).Rotate(next.Pos.Sub(place[g].Pos))
		row[m.Body()+MotionX] = way.X * float32(fps)
		row[m.Body()+MotionZ] = way.Z * float32(fps)
		row[m.Body()+MotionYaw] = m3.WrapAngle(next.Yaw-place[g].Yaw) * float32(fps)
		for i, c := range m.Contacts {
			j := contacts[i]
			here := world[g*n+j]
			speed := world[min(g+1, frames-1)*n+j].Dist(here) * float32(fps)
			row[m.Contact(i)] = 0
			if world[f*n+j].Y-p.Pos.Y < c.Height && speed < c.Speed {
				row[m.Contact(i)] = 1
			}
		}
	}
	m.settle(rows)
	return place[0], nil
}

// Speeds up and down, m/s: a joint in contact stands up to levelSpeed, and from stepSpeed on it does not.
const levelSpeed, stepSpeed = 0.1, 0.3

// Level writes which contacts of a motion, (frames, m.Columns()), stay at their height until the
// next frame into level, (frames, contacts): 1, and less the faster the joint rises or falls. A heel
// or toe that rolls off the ground is in contact until it moves. Held at its height it would start
// its step too late and skim the ground.
func (m *Motion) Level(level, rows []float32, fps float32) {
	cols, n := m.Columns(), len(m.Contacts)
	frames := len(rows) / cols
	for i, c := range m.Contacts {
		at := m.Pos(m.Joint(c.Joint)) + 1
		for f := range frames {
			rise := rows[min(f+1, frames-1)*cols+at] - rows[f*cols+at]
			level[f*n+i] = 1 - m3.SmoothStep(levelSpeed, stepSpeed, m3.Abs(rise)*fps)
		}
	}
}

// majorityFrames is how many frames decide a contact by majority, so that it does not flicker.
const majorityFrames = 5

// settle gives every contact the majority of the frames around.
func (m *Motion) settle(rows []float32) {
	cols := m.Columns()
	frames := len(rows) / cols
	was := make([]float32, frames)
	for i := range m.Contacts {
		c := m.Contact(i)
		for f := range was {
			was[f] = rows[f*cols+c]
		}
		for f := range was {
			sum := float32(0)
			for k := f - majorityFrames/2; k <= f+majorityFrames/2; k++ {
				sum += was[min(max(k, 0), frames-1)]
			}
			rows[f*cols+c] = 0
			if sum > majorityFrames/2 {
				rows[f*cols+c] = 1
			}
		}
	}
}

// places returns the body's frame in every frame of a motion.
func (m *Motion) places(world []m3.Vec3, frames int, fps float64) []Place {
	c, n := m.NewCentring(frames, fps), len(m.Joints)
	at, ahead := c.frames(frames, func(f int) []m3.Vec3 { return world[f*n:][:n] })
	ground := m.ground(world)
	place := make([]Place, frames)
	for f := range place {
		at[f].Y = ground
		place[f] = Place{Pos: at[f], Yaw: m3.YawOf(ahead[f])}
	}
	return place
}

func (m *Motion) contactJoints() []int {
	joints := make([]int, len(m.Contacts))
	for i, c := range m.Contacts {
		joints[i] = m.Joint(c.Joint)
	}
	return joints
}

// ground returns the height that the lowest contact is below in floorShare of the frames.
func (m *Motion) ground(world []m3.Vec3) float32 {
	if len(m.Contacts) == 0 {
		return 0
	}
	n := len(m.Joints)
	low, contacts := make([]float32, len(world)/n), m.contactJoints()
	for f := range low {
		low[f] = float32(math.Inf(1))
		for _, j := range contacts {
			low[f] = min(low[f], world[f*n+j].Y)
		}
	}
	slices.Sort(low)
	return low[int(floorShare*float64(len(low)))]
}

// gaussian is the right half of a Gaussian.
type gaussian struct {
	w     []float32 // w[0] is 1
	scale float32   // 1 / the sum to both sides
}

// newGaussian returns the Gaussian with a standard deviation of sigma frames.
func newGaussian(sigma float64) gaussian {
	w, total := make([]float32, int(math.Ceil(4*sigma))+1), 0.0
	for i := range w {
		k := m3.Exp64(-0.5 * float64(i*i) / (sigma * sigma))
		w[i] = float32(k)
		total += k
		if i > 0 {
			total += k
		}
	}
	return gaussian{w, 1 / float32(total)}
}

// smooth convolves v with g. Beyond its ends v keeps its last value or, with goesOn, is rotated
// about its end: a moving point keeps its speed. line has room for v and what is beyond its ends.
func smooth(v, line []m3.Vec3, g gaussian, goesOn bool) {
	r, last := len(g.w)-1, len(v)-1
	line = line[:len(v)+2*r]
	for i := range line {
		f := i - r
		end := min(max(f, 0), last)
		line[i] = v[end]
		if f != end && goesOn {
			line[i] = v[end].Scale(2).Sub(v[min(max(2*end-f, 0), last)])
		}
	}
	for f := range v {
		sum := line[f+r].Scale(g.w[0])
		for i := 1; i <= r; i++ {
			a, b, k := &line[f+r-i], &line[f+r+i], g.w[i]
			sum.X += k * (a.X + b.X)
			sum.Y += k * (a.Y + b.Y)
			sum.Z += k * (a.Z + b.Z)
		}
		v[f] = sum.Scale(g.scale)
	}
}

// ToWorld writes the world positions of the joints, (frames, len(m.Joints)), m, of the motion in
// rows, (frames, m.Columns()) at fps frames per second, with the first frame at start. It returns
// the place of the frame after the last. It panics if the slices have other lengths.
func (m *Motion) ToWorld(world []m3.Vec3, rows []float32, fps float64, start Place) Place {
	n, cols := len(m.Joints), m.Columns()
	frames := len(rows) / cols
	if len(rows) != frames*cols || len(world) != frames*n {
		panic("feature: ToWorld: lengths of places and rows differ")
	}
	x, z, yaw := float64(start.Pos.X), float64(start.Pos.Z), float64(start.Yaw)
	for f := range frames {
		row := rows[f*cols:][:cols]
		Place{m3.V(float32(x), start.Pos.Y, float32(z)), float32(yaw)}.Joints(world[f*n:][:n], row)
		s, c := math.Sincos(yaw)
		vx, vz := float64(row[m.Body()+MotionX])/fps, float64(row[m.Body()+MotionZ])/fps
		x, z = x+c*vx+s*vz, z-s*vx+c*vz
		yaw += float64(row[m.Body()+MotionYaw]) / fps
	}
	return Place{Pos: m3.V(float32(x), start.Pos.Y, float32(z)), Yaw: m3.WrapAngle(float32(yaw))}
}

// Centring turns and moves poses so that they face +Z over the origin of the body's own frame,
// smoothed as in FromWorld. Recordings do; outputs of networks drift by a few degrees and
// centimetres. It belongs to one goroutine.
type Centring struct {
	layout          *Motion
	left, right     []int
	place, turn     gaussian
	at, ahead, line []m3.Vec3
	body            []m3.Vec3
}

// NewCentring returns the centring of motions of at most frames frames at fps frames per second.
func (m *Motion) NewCentring(frames int, fps float64) *Centring {
	frames = max(frames, 0)
	c := &Centring{layout: m, place: newGaussian(placeSigma * fps / 60), turn: newGaussian(facingSigma * fps / 60),
		at: make([]m3.Vec3, frames), ahead: make([]m3.Vec3, frames), body: make([]m3.Vec3, len(m.Joints))}
	c.left, c.right = m.sides()
	c.line = make([]m3.Vec3, frames+2*max(len(c.place.w), len(c.turn.w)))
	return c
}

// Run centres the poses of rows, (frames, m.Columns()). The body's motion stays. It panics if rows
// is not of whole frames or has too many.
func (c *Centring) Run(rows []float32) {
	m := c.layout
	if m == nil {
		return
	}
	cols := m.Columns()
	frames := len(rows) / cols
	if len(rows) != frames*cols || frames > len(c.at) {
		panic("feature: Centring.Run: rows are no whole frames, or too many")
	}
	at, ahead := c.frames(frames, func(f int) []m3.Vec3 {
		for j := range c.body {
			c.body[j] = vec(rows[f*cols:], m.Pos(j))
		}
		return c.body
	})
	for f := range frames {
		row, turn := rows[f*cols:][:cols], m3.YawQuat(-m3.YawOf(ahead[f]))
		for j := range m.Joints {
			v := turn.Rotate(vec(row, m.Pos(j)).Sub(at[f]))
			row[m.Pos(j)], row[m.Pos(j)+1], row[m.Pos(j)+2] = v.X, v.Y, v.Z
		}
	}
}

// frames returns the smoothed places and facings of a number of bodies.
func (c *Centring) frames(frames int, body func(f int) []m3.Vec3) (at, ahead []m3.Vec3) {
	at, ahead = c.at[:frames], c.ahead[:frames]
	for f := range frames {
		joints := body(f)
		at[f], ahead[f] = joints[0].Flat(), facing(joints, c.left, c.right)
	}
	smooth(at, c.line, c.place, true)
	smooth(ahead, c.line, c.turn, false)
	return at, ahead
}

// sides returns the joints that give the facing, on the left and on the right.
func (m *Motion) sides() (left, right []int) {
	for _, l := range m.Left {
		left, right = append(left, m.Joint(l)), append(right, m.Joint(swapSide(l)))
	}
	return left, right
}

// facing returns the unit level direction that a body faces, or zero if it is bent to the side.
func facing(body []m3.Vec3, left, right []int) m3.Vec3 {
	var across m3.Vec3
	for i, l := range left {
		across = across.Add(body[l].Sub(body[right[i]]))
	}
	return across.Cross(m3.Up).Normalize(m3.Vec3{})
}

// Smooth smooths where a body is over the ground, (frames), and the level directions that it faces, as FromWorld
// does, at fps frames per second. A place goes on beyond its ends, a direction stays. A rate that is none changes nothing.
func Smooth(at, ahead []m3.Vec3, fps float64) {
	const most = 1e5
	if !(fps > 0 && fps < most) || len(at) == 0 || len(at) != len(ahead) {
		return
	}
	place, turn := newGaussian(placeSigma*fps/60), newGaussian(facingSigma*fps/60)
	line := make([]m3.Vec3, max(len(at), len(ahead))+2*max(len(place.w), len(turn.w)))
	smooth(at, line, place, true)
	smooth(ahead, line, turn, false)
}
