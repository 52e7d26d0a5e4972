package mocap

import (
	"math"

	"mannequin/engine/m3"
)

// quat64 is a unit quaternion w + x·i + y·j + z·k as {w, x, y, z}. Euler angles are
// fitted in float64, so that its rounding does not show in a file.
type quat64 [4]float64

func toQuat64(q m3.Quat) quat64 {
	return quat64{float64(q.W), float64(q.X), float64(q.Y), float64(q.Z)}.unit()
}

func (q quat64) unit() quat64 {
	n := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	return quat64{q[0] / n, q[1] / n, q[2] / n, q[3] / n}
}

func (q quat64) quat() m3.Quat {
	return m3.Quat{X: float32(q[1]), Y: float32(q[2]), Z: float32(q[3]), W: float32(q[0])}
}

// turn returns q turned about its own axis 0, 1 or 2, by the half angle with sine s and cosine c.
func (q quat64) turn(axis int, s, c float64) quat64 {
	i, j, k := 1+axis, 1+(axis+1)%3, 1+(axis+2)%3
	r := quat64{0: q[0]*c - q[i]*s}
	r[i] = q[i]*c + q[0]*s
	r[j] = q[j]*c + q[k]*s
	r[k] = q[k]*c - q[j]*s
	return r
}

func (q quat64) mul(r quat64) quat64 {
	return quat64{
		q[0]*r[0] - q[1]*r[1] - q[2]*r[2] - q[3]*r[3],
		q[0]*r[1] + q[1]*r[0] + q[2]*r[3] - q[3]*r[2],
		q[0]*r[2] + q[2]*r[0] + q[3]*r[1] - q[1]*r[3],
		q[0]*r[3] + q[3]*r[0] + q[1]*r[2] - q[2]*r[1],
	}
}

func (q quat64) conj() quat64 { return quat64{q[0], -q[1], -q[2], -q[3]} }

func (q quat64) rotate(v [3]float64) [3]float64 {
	r := q.mul(quat64{0, v[0], v[1], v[2]}).mul(q.conj())
	return [3]float64{r[1], r[2], r[3]}
}

func (q quat64) angle(r quat64) float64 {
	var minus, plus float64
	for i := range q {
		minus += (q[i] - r[i]) * (q[i] - r[i])
		plus += (q[i] + r[i]) * (q[i] + r[i])
	}
	// |q−r| is the chord of half the angle, on the nearer of the two signs.
	return 4 * math.Asin(min(math.Sqrt(min(minus, plus))/2, 1))
}

// compose returns the product of rotations by deg about axes, in order.
func compose(axes []int, deg [3]float64) quat64 {
	q := quat64{1}
	for i, axis := range axes {
		s, c := math.Sincos(deg[i] * (math.Pi / 360))
		q = q.turn(axis, s, c)
	}
	return q
}

// fit returns angles in degrees about the given distinct axes, at most three, whose product in
// order is q, or near q if fewer than three axes cannot make it. Of the equal solutions it takes
// the one nearest to prev, which keeps curves continuous.
//
// Three axes are solved by half sums and differences of the outer angles (Bernardes and Viollet,
// "Quaternion to Euler angles conversion", PLOS ONE 2022, eqs. 34–41): near gimbal lock one of the
// two is ill defined, and exactly there it has no effect on the rotation.
func fit(q quat64, axes []int, prev [3]float64) (deg [3]float64) {
	var half [3]float64 // half-angles in radians
	switch len(axes) {
	case 0:
		return
	case 1:
		half[0] = math.Atan2(q[1+axes[0]], q[0])
	case 2:
		// q = (c₁c₂, s₁c₂ i, c₁s₂ j, ±s₁s₂ k): the columns (w, i) and (j, ±k)
		// are multiples of (c₁, s₁); take their principal direction.
		w, i, j, k := unpack(q, axes[0], axes[1])
		half[0] = math.Atan2(2*(w*i+j*k), w*w+j*j-i*i-k*k) / 2
		s, c := math.Sincos(half[0])
		half[1] = math.Atan2(j*c+k*s, w*c+i*s)
	case 3:
		w, i, j, k := unpack(q, axes[0], axes[1])
		sum, diff := math.Atan2(i+k, w+j), math.Atan2(i-k, w-j)
		half[0] = (sum + diff) / 2
		half[1] = math.Pi/4 - math.Atan2(math.Hypot(w-j, i-k), math.Hypot(w+j, i+k))
		half[2] = (sum - diff) / 2
		if (axes[1]-axes[0]+3)%3 == 2 {
			half[2] = -half[2]
		}
	}
	best := math.Inf(1)
	for mirrored := range 2 {
		var cand [3]float64
		dist := 0.0
		for n := range axes {
			a := half[n] * (360 / math.Pi)
			if mirrored == 1 {
				// The same rotation the other way round, (α+180, 180−β, γ+180);
				// one or two axes only have their own full turns.
				switch {
				case len(axes) < 3:
				case n == 1:
					a = 180 - a
				default:
					a += 180
				}
			}
			cand[n] = a + 360*math.Round((prev[n]-a)/360)
			dist += math.Abs(cand[n] - prev[n])
		}
		if dist < best {
			best, deg = dist, cand
		}
	}
	return deg
}

// unpack returns q's real part and its parts along i, j and the third axis, with the sign of i×j.
func unpack(q quat64, i, j int) (w, qi, qj, qk float64) {
	k := 3 - i - j
	qk = q[1+k]
	if (j-i+3)%3 == 2 {
		qk = -qk
	}
	return q[0], q[1+i], q[1+j], qk
}
