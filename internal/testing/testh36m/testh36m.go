// Package testh36m makes a synthetic walk in the format of Human3.6M's exponential maps, for tests
// of their reader. Matrices multiply row vectors, as in the public code that made those files. It
// holds no recorded data.
package testh36m

import (
	"math"
	"strconv"
)

// Joints is the number of joints in a frame, Rate the frames per second.
const Joints, Rate = 32, 50

// Speed is the walk's approximate speed, mm/s.
const Speed = 1200

// Walk is a walk on level ground, with hips that lean.
type Walk struct {
	Text  []byte               // lines of 99 numbers
	World [][Joints][3]float64 // joints, mm, the ground at height 0
}

// parents and offsets are the public code's skeleton.
var parents = [Joints]int{-1, 0, 1, 2, 3, 4, 0, 6, 7, 8, 9, 0, 11, 12, 13, 14, 12, 16, 17, 18, 19, 20, 19, 22, 12, 24, 25, 26, 27, 28, 27, 30}

var offsets = [Joints]vec{1: {-132.948591}, 2: {1: -442.894612}, 3: {1: -454.206447}, 4: {2: 162.767078}, 5: {2: 74.999437},
	6: {132.948826}, 7: {1: -442.894413}, 8: {1: -454.20659}, 9: {2: 162.767426}, 10: {2: 74.999948},
	11: {1: 0.1}, 12: {1: 233.383263}, 13: {1: 257.077681}, 14: {1: 121.134938}, 15: {1: 115.002227},
	16: {1: 257.077681}, 17: {1: 151.034226}, 18: {1: 278.882773}, 19: {1: 251.733451}, 21: {2: 99.999627}, 22: {1: 100.000188},
	24: {1: 257.077681}, 25: {1: 151.031437}, 26: {1: 278.892924}, 27: {1: 251.72868}, 29: {2: 99.999888}, 30: {1: 137.499922}}

type vec [3]float64

// mat has the axes of a frame in its rows: v·m is v in the parent's axes.
type mat [3]vec

func (v vec) mul(m mat) (r vec) {
	for i := range 3 {
		for k := range 3 {
			r[k] += v[i] * m[i][k]
		}
	}
	return r
}

func (m mat) mul(n mat) (r mat) {
	for i := range 3 {
		r[i] = m[i].mul(n)
	}
	return r
}

func (m mat) inverse() (r mat) {
	for i := range 3 {
		for k := range 3 {
			r[i][k] = m[k][i]
		}
	}
	return r
}

func (v vec) add(w vec, k float64) vec { return vec{v[0] + k*w[0], v[1] + k*w[1], v[2] + k*w[2]} }
func (v vec) dot(w vec) float64        { return v[0]*w[0] + v[1]*w[1] + v[2]*w[2] }
func (v vec) cross(w vec) vec {
	return vec{v[1]*w[2] - v[2]*w[1], v[2]*w[0] - v[0]*w[2], v[0]*w[1] - v[1]*w[0]}
}
func (v vec) unit() vec { return vec{}.add(v, 1/math.Sqrt(v.dot(v))) }

// log returns the exponential map of a matrix as in the public code: R = exp(r) by Rodrigues'
// formula, for turns of less than a half.
func (m mat) log() vec {
	s := vec{m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]}
	sin, cos := math.Sqrt(s.dot(s))/2, (m[0][0]+m[1][1]+m[2][2]-1)/2
	if sin < 1e-12 {
		return vec{}
	}
	return vec{}.add(s, math.Atan2(sin, cos)/(2*sin))
}

// axes returns the frame whose y axis is up and whose x axis is nearest to left.
func axes(left, up vec) mat {
	up = up.unit()
	left = left.add(up, -left.dot(up)).unit()
	return mat{left, up, left.cross(up)}
}

// pitched returns m turned about its x axis, with its z axis up.
func pitched(m mat, by float64) mat {
	s, c := math.Sincos(by)
	return mat{{1}, {0, c, -s}, {0, s, c}}.mul(m)
}

// Parameters of the walk.
const (
	cycle  = 1.1  // s
	swing  = 0.4  // part of the cycle
	sole   = 60   // mm: ankles over the toes' joints
	radius = 2000 // mm, of the circle that it walks along
	lean   = 0.25 // of the hips ahead, radians
)

// Make returns a walk of the given number of frames.
func Make(frames int) *Walk {
	w := &Walk{}
	var last mat
	var was vec
	for f := range frames {
		t := float64(f) / Rate
		world, local, pos := pose(t)
		w.World = append(w.World, pos)
		var move, turn vec
		if f > 0 {
			// The path is seen from the body as it was; with row vectors it is on the left.
			move = vec(pos[0]).add(was, -1).mul(last.inverse())
			turn = world.mul(last.inverse()).log()
		}
		last, was = world, vec(pos[0])
		for k, v := range append([]vec{move, turn}, local[1:]...) {
			for i, x := range v {
				if k+i > 0 {
					w.Text = append(w.Text, ',')
				}
				w.Text = strconv.AppendFloat(w.Text, x, 'f', 7, 64)
			}
		}
		w.Text = append(w.Text, '\n')
	}
	return w
}

// course returns the body's position on the ground and its left at a time.
func course(t float64) (at, left vec) {
	s, c := math.Sincos(Speed * t / radius)
	return vec{radius * (1 - c), 0, radius * s}, vec{c, 0, -s} // it turns to its left
}

// foot returns an ankle's position, the foot's left, and the angle of its raised heel, radians.
func foot(t float64, side float64) (at, left vec, heel float64) {
	phase := t / cycle
	if side < 0 {
		phase += 0.5
	}
	n, part := math.Modf(phase)
	stand := func(n float64) (vec, vec) {
		// The foot is under the hip in the middle of its stance.
		middle := (n + (1-swing)/2) * cycle
		if side < 0 {
			middle -= cycle / 2
		}
		at, left := course(middle)
		return at.add(left, 100*side), left
	}
	at, left = stand(n)
	up := 0.0
	if k := (part - (1 - swing)) / swing; k > 0 {
		to, then := stand(n + 1)
		k, up = k*k*(3-2*k), math.Sin(math.Pi*k)
		at, left = at.add(to.add(at, -1), k), left.add(then.add(left, -1), k)
	}
	at[1] = sole + 80*up
	return at, left.unit(), 0.5 * up
}

// pose returns the hips' frame, all joints' exponential maps in their parents, and their positions.
func pose(t float64) (hips mat, local [Joints]vec, pos [Joints][3]float64) {
	at, left := course(t)
	up := vec{0, 1, 0}
	level := axes(left, up)
	// They also sway: turns about one axis would be the same in any order.
	roll := 0.08 * math.Sin(2*math.Pi*t/cycle)
	hips = pitched(axes(left, up.add(left, roll)), -lean+roll/2)
	at[1] = 860 + 15*math.Cos(4*math.Pi*t/cycle)
	at = at.add(level[2], 20) // ahead of the feet
	var world [Joints]mat
	for j := range Joints {
		if parents[j] < 0 {
			world[j] = hips
			pos[j] = at
			continue
		}
		p := parents[j]
		pos[j] = vec(pos[p]).add(offsets[j].mul(world[p]), 1)
		world[j] = world[p]
		side := 1.0
		if j < 6 || j > 23 {
			side = -1
		}
		down := axes(vec{}.add(level[0], -1), vec{0, -1, 0})
		arms := 0.4 * math.Sin(2*math.Pi*t/cycle) * side
		switch j {
		case 1, 6: // thighs, and shins by the law of cosines
			to, toes, _ := foot(t, side)
			thigh, shin := -offsets[j+1][1], -offsets[j+2][1]
			d := to.add(vec(pos[j]), -1)
			long := math.Min(math.Sqrt(d.dot(d)), thigh+shin-1)
			bend := math.Acos((thigh*thigh + long*long - shin*shin) / (2 * thigh * long))
			world[j] = pitched(axes(toes, vec{}.add(d, -1)), bend)
		case 2, 7:
			to, toes, _ := foot(t, side)
			world[j] = axes(toes, vec(pos[j]).add(to, -1))
		case 3, 8:
			_, toes, heel := foot(t, side)
			// From the ankle down to the toes' joint, and more if the heel is up.
			world[j] = pitched(axes(toes, up), -math.Asin(sole/offsets[j+1][2])-heel)
		case 4, 9:
			_, toes, _ := foot(t, side)
			world[j] = axes(toes, up)
		case 11:
			world[j] = pitched(level, -0.05)
		case 16, 24: // across
			world[j] = axes(vec{}.add(up, -side), vec{}.add(level[0], side))
		case 17, 25: // down, and swung
			world[j] = pitched(down, -arms)
		case 18, 26:
			world[j] = pitched(down, -arms-0.3)
		}
		local[j] = world[j].mul(world[p].inverse()).log()
	}
	return hips, local, pos
}
