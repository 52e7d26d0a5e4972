package control

import (
	"math"

	"mannequin/engine/m3"
)

// Wander makes goals for extras: each walks about its home, changes heading and gait, and sometimes
// rests. Slices have one entry per row. Rows are independent, and equal seeds give equal goals.
type Wander struct {
	// Radius around its home at which a character turns back, m; 10.
	Radius float32
	// Rest is the chance, 0 to 1, that idling, sitting or lying follows a walk; 0.25.
	Rest float32

	home  []m3.Vec3
	rng   []uint64
	left  []float32 // seconds until the next choice
	yaw   []float32 // heading to take, radians
	speed []float32 // m/s
	act   []Action
}

// NewWander returns n characters, none if n is below 0, with their homes at the origin. Row r has the
// seed seed + r.
func NewWander(n int, seed uint64) *Wander {
	n = max(n, 0)
	w := &Wander{
		Radius: 10, Rest: 0.25,
		home: make([]m3.Vec3, n), rng: make([]uint64, n), left: make([]float32, n),
		yaw: make([]float32, n), speed: make([]float32, n), act: make([]Action, n),
	}
	for r := range n {
		w.Reset(r, seed+uint64(r), m3.Vec3{})
	}
	return w
}

// Reset begins row anew with its own seed and home.
func (w *Wander) Reset(row int, seed uint64, home m3.Vec3) {
	s := seed
	next(&s) // separates neighbouring seeds
	w.home[row], w.rng[row], w.left[row] = home, s, 0
	w.yaw[row], w.speed[row], w.act[row] = 0, 0, Idle
}

// Copy makes row dst the same as row src.
func (w *Wander) Copy(dst, src int) {
	w.home[dst], w.rng[dst], w.left[dst] = w.home[src], w.rng[src], w.left[src]
	w.yaw[dst], w.speed[dst], w.act[dst] = w.yaw[src], w.speed[src], w.act[src]
}

// Update writes the goals of rows r0 to r1 for a step of dt seconds. root holds the characters'
// places and headings by row, like goals.
func (w *Wander) Update(goals []Goal, root []m3.Xform, dt float32, r0, r1 int) {
	for r := r0; r < r1; r++ {
		yaw := root[r].Rot.Yaw()
		w.left[r] -= dt
		if w.left[r] <= 0 {
			w.choose(r, yaw)
		}
		if w.act[r] != Move {
			goals[r] = Goal{Action: w.act[r]}
			continue
		}
		if home := w.home[r].Sub(root[r].Pos).Flat(); home.Len() > w.Radius {
			w.yaw[r] = m3.YawOf(home)
		}
		turn := Steer(yaw, w.yaw[r])
		// Sharp turns are not for running.
		speed := w.speed[r]
		if m3.Abs(turn) > 0.5 {
			speed = min(speed, PaceSpeed)
		}
		goals[r] = Goal{Move: m3.V(0, 0, 1), Turn: turn, Speed: speed, Action: Move}
	}
}

// choose picks the next activity of row r and its duration.
func (w *Wander) choose(r int, yaw float32) {
	if uniform(&w.rng[r]) < w.Rest && w.act[r] == Move {
		w.left[r] = 2 + 6*uniform(&w.rng[r])
		switch u := uniform(&w.rng[r]); {
		case u < 0.6:
			w.act[r] = Idle
		case u < 0.85:
			w.act[r] = Sit
		default:
			w.act[r] = Lie
		}
		return
	}
	w.act[r] = Move
	w.left[r] = 2 + 4*uniform(&w.rng[r])
	w.yaw[r] = m3.WrapAngle(yaw + (2*uniform(&w.rng[r])-1)*math.Pi/2)
	switch u := uniform(&w.rng[r]); {
	case u < 0.4:
		w.speed[r] = WalkSpeed
	case u < 0.8:
		w.speed[r] = PaceSpeed
	case u < 0.95:
		w.speed[r] = TrotSpeed
	default:
		w.speed[r] = CanterSpeed
	}
}

// next advances a splitmix64 generator (Steele, Lea and Flood 2014).
func next(s *uint64) uint64 {
	*s += 0x9e3779b97f4a7c15
	z := *s
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func uniform(s *uint64) float32 { return float32(next(s)>>40) / (1 << 24) }
