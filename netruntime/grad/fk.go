package grad

import "math"

// Skeleton is a tree of J joints for [Tape.FK].
type Skeleton struct {
	Parents []int32   // (J): −1 for joint 0, the root; parents before their children
	Offsets []float32 // (J, 3): a joint's place in its parent's frame, in metres; the root's is not used
}

// FK is forward kinematics: it returns the positions of the joints after a correction of each
// joint's rotation. delta is (rows, 3·J), rotation vectors in radians. base holds rows·J unit
// quaternions x, y, z, w without a gradient. Joint j's rotation in its parent's frame is
//
//	base_j·exp(delta_j)
//
// The result (rows, 3·J) is the joints' positions relative to the root's, in the root's parent
// frame. base and the skeleton must stay unchanged until the next Reset.
func (t *Tape) FK(delta *Mat, base []float32, s Skeleton) *Mat {
	joints := len(s.Parents)
	if joints == 0 || delta.Cols != 3*joints || len(s.Offsets) != 3*joints || len(base) != delta.Rows*joints*4 {
		panic("grad: FK: corrections, rotations or offsets are not of the skeleton's joints")
	}
	for j, p := range s.Parents {
		if j == 0 && p != -1 || j > 0 && (p < 0 || int(p) >= j) {
			panic("grad: FK: a joint comes before its parent, or there is more than one root")
		}
	}
	y := t.node(delta.Rows, delta.Cols, delta.wants)
	y.a, y.parents, y.con, y.back = delta, s.Parents, [2][]float32{base, s.Offsets}, fkBack
	y.aux = grow(y.aux, delta.Rows*joints*fkKept)
	t.split(y, y.Rows, fkWork*y.Cols, fkRows)
	return y
}

const (
	// fkKept is the number of values that forward keeps of a joint: its rotation in the root's
	// parent frame, and the two factors of expMap.
	fkKept = 6
	// fkSums is the number of sums over a joint's descendants in backward: force and torque.
	fkSums = 6
	// fkWork is the cost of one coordinate of a joint, in plain values.
	fkWork = 16
)

func fkRows(_ *Tape, y *Mat, r0, r1 int) {
	parents, offsets := y.parents, y.con[1]
	n := len(parents)
	for r := r0; r < r1; r++ {
		delta, p := y.a.Val[r*3*n:][:3*n], y.Val[r*3*n:][:3*n]
		base, kept := y.con[0][r*4*n:][:4*n], y.aux[r*fkKept*n:][:fkKept*n]
		for j, parent := range parents {
			q, a, b := expMap(vec3At(delta, j))
			q = quatAt(base, 4*j).mul(q)
			at := vec3{}
			if j > 0 {
				up := quatAt(kept, fkKept*int(parent))
				at = vec3At(p, int(parent)).add(up.rotate(vec3At(offsets, j)))
				q = up.mul(q)
			}
			q = q.unit() // bones keep their length down a long chain
			k := kept[fkKept*j:][:fkKept]
			k[0], k[1], k[2], k[3], k[4], k[5] = q.x, q.y, q.z, q.w, a, b
			at.put(p, j)
		}
	}
}

func fkBack(t *Tape, y *Mat) {
	t.borrow(y.Rows * len(y.parents) * fkSums)
	t.arg = arg{add: y.a.into()}
	t.split(y, y.Rows, fkWork*y.Cols, fkGrad)
}

// fkGrad treats the gradients of the positions as forces on the joints. A rotation ω of joint j, in
// the root's parent frame, moves each descendant k by ω × (p_k − p_j). So the loss's slope by ω is
// the torque about j
//
//	τ_j = Σ_k (p_k − p_j) × g_k
//
// To first order, exp(δ + ε) = exp(δ)·exp(J_r(δ)·ε). So the slope by δ is J_rᵀ·G_jᵀ·τ_j, with G_j
// the joint's rotation in that frame. Torques move up the tree in one sweep, each about its own
// joint, so that nothing cancels.
func fkGrad(t *Tape, y *Mat, r0, r1 int) {
	parents := y.parents
	n := len(parents)
	sums := t.scratch[r0*fkSums*n:][:fkSums*n] // the first row's, for all rows of the task
	for r := r0; r < r1; r++ {
		delta, p := y.a.Val[r*3*n:][:3*n], y.Val[r*3*n:][:3*n]
		kept, g, dst := y.aux[r*fkKept*n:][:fkKept*n], y.Grad[r*3*n:][:3*n], y.a.Grad[r*3*n:][:3*n]
		clear(sums)
		for j := n - 1; j >= 0; j-- {
			force, torque := vec3At(sums, 2*j).add(vec3At(g, j)), vec3At(sums, 2*j+1)
			if j > 0 {
				up := int(parents[j])
				arm := vec3At(p, j).sub(vec3At(p, up))
				vec3At(sums, 2*up).add(force).put(sums, 2*up)
				vec3At(sums, 2*up+1).add(torque).add(arm.cross(force)).put(sums, 2*up+1)
			}
			k := kept[fkKept*j:][:fkKept]
			m := quat{-k[0], -k[1], -k[2], k[3]}.rotate(torque)
			d := vec3At(delta, j)
			// J_rᵀ = 1 + a·[δ]× + b·[δ]×²
			c := d.cross(m)
			m = m.add(c.scale(k[4])).add(d.cross(c).scale(k[5]))
			if t.arg.add {
				m = m.add(vec3At(dst, j))
			}
			m.put(dst, j)
		}
	}
}

// expMap returns the rotation about v by |v| = θ radians, and the factors of its right Jacobian
//
//	J_r(v) = 1 − a·[v]× + b·[v]×²,   a = (1 − cos θ)/θ²,   b = (θ − sin θ)/θ³
func expMap(v vec3) (q quat, a, b float32) {
	u := v.dot(v)
	if u < 0.25 { // series, accurate to a part in 2²⁴
		h := u / 4
		s := 0.5 - h*(1./12-h*(1./240-h*(1./10080)))
		w := 1 - h*(1./2-h*(1./24-h*(1./720)))
		b = 1./6 - u*(1./120-u*(1./5040-u*(1./362880)))
		return quat{s * v.x, s * v.y, s * v.z, w}, 2 * s * s, b
	}
	theta2 := float64(v.x)*float64(v.x) + float64(v.y)*float64(v.y) + float64(v.z)*float64(v.z)
	theta := math.Sqrt(theta2)
	sin, cos := math.Sincos(theta / 2)
	sin /= theta
	s := float32(sin)
	return quat{s * v.x, s * v.y, s * v.z, float32(cos)}, float32(2 * sin * sin), float32((1 - 2*sin*cos) / theta2)
}

type vec3 struct{ x, y, z float32 }

// vec3At returns the i-th three values.
func vec3At(v []float32, i int) vec3 {
	v = v[3*i:][:3]
	return vec3{v[0], v[1], v[2]}
}

func (a vec3) put(v []float32, i int) {
	v = v[3*i:][:3]
	v[0], v[1], v[2] = a.x, a.y, a.z
}

func (a vec3) add(b vec3) vec3      { return vec3{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vec3) sub(b vec3) vec3      { return vec3{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec3) scale(k float32) vec3 { return vec3{k * a.x, k * a.y, k * a.z} }
func (a vec3) dot(b vec3) float32   { return a.x*b.x + a.y*b.y + a.z*b.z }
func (a vec3) cross(b vec3) vec3 {
	return vec3{a.y*b.z - a.z*b.y, a.z*b.x - a.x*b.z, a.x*b.y - a.y*b.x}
}

type quat struct{ x, y, z, w float32 }

// quatAt returns the quaternion at v[i].
func quatAt(v []float32, i int) quat {
	v = v[i:][:4]
	return quat{v[0], v[1], v[2], v[3]}
}

// mul returns the rotation by b, then by a.
func (a quat) mul(b quat) quat {
	return quat{
		a.w*b.x + a.x*b.w + a.y*b.z - a.z*b.y,
		a.w*b.y - a.x*b.z + a.y*b.w + a.z*b.x,
		a.w*b.z + a.x*b.y - a.y*b.x + a.z*b.w,
		a.w*b.w - a.x*b.x - a.y*b.y - a.z*b.z,
	}
}

// unit removes the rounding of a product of unit quaternions.
func (a quat) unit() quat {
	k := 1.5 - 0.5*(a.x*a.x+a.y*a.y+a.z*a.z+a.w*a.w)
	return quat{k * a.x, k * a.y, k * a.z, k * a.w}
}

func (a quat) rotate(v vec3) vec3 {
	q := vec3{a.x, a.y, a.z}
	u := q.cross(v).scale(2)
	return v.add(u.scale(a.w)).add(q.cross(u))
}
