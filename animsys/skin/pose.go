package skin

import (
	"cmp"
	"slices"
	"strings"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/affine"
)

// pose puts the skeleton into the mesh's pose, as far as possible.
func (f *fit) pose() {
	n := f.sk.Len()
	f.align, f.bind = make([]m3.Quat, n), make([]m3.Xform, n)
	for j, p := range f.sk.Parents {
		stands := f.grown.Bind[j]
		if p < 0 {
			f.align[j], f.bind[j] = m3.Ident, stands
			continue
		}
		f.align[j] = f.aligned(j, f.align[p])
		f.bind[j] = m3.Xform{Pos: f.bind[p].Apply(f.sk.Offsets[j]), Rot: f.align[j].Mul(stands.Rot).Normalize()}
	}
}

// aligned returns joint j's rotation from our standing pose to the mesh's. up is its parent's.
func (f *fit) aligned(j int, up m3.Quat) m3.Quat {
	limb := strings.TrimPrefix(strings.TrimPrefix(f.sk.Names[j], "Left"), "Right")
	var to, at m3.Vec3
	if len(f.bones[j]) == 1 {
		k := f.bones[j][0]
		to, at = f.grown.Bind[k].Pos.Sub(f.grown.Bind[j].Pos), f.place[k].Sub(f.place[j])
	}
	turns := false
	switch limb {
	case "Head":
		return m3.Ident // level in both
	case "UpLeg", "Leg", "Arm", "ForeArm":
		turns = true
	case "Foot":
		if turns = !f.upright; !turns {
			// Flat in both: only the direction of the toes counts.
			up = m3.Ident
			to, at = to.Flat(), at.Flat()
			turns = to.Len() > 0.02 && at.Len() > 0.02
		}
	case "Shoulder", "Hand", "Neck", "Tail", "Tail1":
		turns = !f.upright && !f.pivots(j)
	}
	if !turns || to == (m3.Vec3{}) || at == (m3.Vec3{}) {
		return up
	}
	return m3.Between(up.Rotate(to.Normalize(m3.Up)), at.Normalize(m3.Up)).Mul(up).Normalize()
}

// stretch finds for each joint the linear map closest to the identity that carries the joints below
// it from their places in the file to those of the skeleton.
func (f *fit) stretch() {
	f.linear = make([]affine.Transform, f.sk.Len())
	ground := lowest(f.grown.Levels[0].Pos)
	for j, name := range f.sk.Names {
		f.linear[j] = affine.Identity
		if f.from[j] < 0 {
			continue
		}
		toe := strings.HasSuffix(name, "ToeBase")
		foot := strings.HasSuffix(name, "Foot")
		paw := !f.upright && strings.HasSuffix(name, "Hand")
		var from, to []m3.Vec3
		for _, k := range f.bones[j] {
			a, b := f.place[k].Sub(f.place[j]), f.bind[k].Pos.Sub(f.bind[j].Pos)
			if f.upright && (toe || foot) {
				a, b = a.Flat(), b.Flat() // the sole sets the height
			}
			if a.Len() > 1e-3 {
				from, to = append(from, a), append(to, b)
			}
		}
		if toe || (foot || paw) && (f.upright || len(f.bones[j]) == 0) {
			a, b := f.place[j].Y-f.low, f.grown.Bind[j].Pos.Y-ground
			if a > 1e-3 && b > 1e-3 {
				from, to = append(from, m3.V(0, -a, 0)), append(to, m3.V(0, -b, 0))
			}
		}
		f.linear[j] = nearest(from, to)
	}
}

// nearest returns I + (T−S)Sᵀ(SSᵀ+λ)⁻¹, where from and to are the columns of S and T: the linear
// map of from to to with the least change of other directions. A single direction is met exactly.
// Of several, nearly equal ones are regularized.
func nearest(from, to []m3.Vec3) affine.Transform {
	out := affine.Identity
	if len(from) == 0 {
		return out
	}
	v := func(p m3.Vec3) [3]float64 { return [3]float64{float64(p.X), float64(p.Y), float64(p.Z)} }
	var d, s [3][3]float64 // (T−S)Sᵀ, SSᵀ
	trace := 0.0
	for i := range from {
		a, b := v(from[i]), v(to[i])
		for r := range 3 {
			for c := range 3 {
				d[r][c] += (b[r] - a[r]) * a[c]
				s[r][c] += a[r] * a[c]
			}
			trace += a[r] * a[r]
		}
	}
	if len(from) == 1 {
		for r := range 3 {
			for c := range 3 {
				out[4*r+c] += d[r][c] / trace
			}
		}
		return out
	}
	for i := range s {
		s[i][i] += 0.02 * trace
	}
	cofactor := func(r, c int) float64 {
		r1, r2, c1, c2 := (r+1)%3, (r+2)%3, (c+1)%3, (c+2)%3
		return s[r1][c1]*s[r2][c2] - s[r1][c2]*s[r2][c1]
	}
	det := s[0][0]*cofactor(0, 0) + s[0][1]*cofactor(0, 1) + s[0][2]*cofactor(0, 2)
	for r := range 3 {
		for c := range 3 {
			for k := range 3 { // s is symmetric, and so is its inverse
				out[4*r+c] += d[r][k] * cofactor(k, c) / det
			}
		}
	}
	return out
}

// makeMesh returns the mesh in the skeleton's pose.
func (f *fit) makeMesh() *body.Mesh {
	s, n := f.skin, f.sk.Len()
	targets := f.targets()
	moves := make([]affine.Transform, n) // from the file's world, turned and scaled
	for j := range moves {
		m := f.linear[j]
		c := m.Apply(float64(f.place[j].X), float64(f.place[j].Y), float64(f.place[j].Z))
		p := f.bind[j].Pos
		m[3], m[7], m[11] = float64(p.X)-c[0], float64(p.Y)-c[1], float64(p.Z)-c[2]
		moves[j] = m
	}
	mesh := &body.Mesh{Index: slices.Clone(s.mesh.index), Parts: s.mesh.parts, UV: s.mesh.uv}
	for v, p := range s.mesh.pos {
		pulls := make([]influence, len(s.mesh.influences[v]))
		for i, q := range s.mesh.influences[v] {
			pulls[i] = influence{int32(targets[q.joint]), q.weight}
		}
		pulls = strongest(pulls)
		var blend affine.Transform
		var joints [4]uint8
		var weights [4]float32
		for i, q := range pulls {
			joints[i], weights[i] = uint8(q.joint), q.weight
			for k := range blend {
				blend[k] += float64(q.weight) * moves[q.joint][k]
			}
		}
		p = f.turn.Rotate(p).Scale(f.scale)
		at := blend.Apply(float64(p.X), float64(p.Y), float64(p.Z))
		c := s.mesh.colour[v]
		mesh.Pos = append(mesh.Pos, m3.V(float32(at[0]), float32(at[1]), float32(at[2])))
		mesh.Normal = append(mesh.Normal, blend.Normal(f.turn.Rotate(s.mesh.normal[v])))
		mesh.Joints, mesh.Weights = append(mesh.Joints, joints), append(mesh.Weights, weights)
		mesh.Coat = append(mesh.Coat, [4]float32{c[0], c[1], c[2]})
	}
	// It stands at the height of the grown body.
	up := lowest(f.grown.Levels[0].Pos) - lowest(mesh.Pos)
	for i := range mesh.Pos {
		mesh.Pos[i].Y += up
	}
	for j := range f.bind {
		f.bind[j].Pos.Y += up
	}
	return mesh
}

// targets returns for each joint of the file the joint of the skeleton that its vertices follow:
// its own match, or that of the nearest matched joint above; else the hips.
func (f *fit) targets() []int {
	out := slices.Repeat([]int{-1}, len(f.skin.joints))
	for j, k := range f.from {
		if k >= 0 {
			out[k] = j
		}
	}
	for k := range out {
		if out[k] >= 0 {
			continue
		}
		if p := f.skin.joints[k].parent; p >= 0 {
			out[k] = f.nearer(k, out[p])
		} else {
			out[k] = f.sk.Index("Hips")
		}
	}
	return out
}

// nearer returns the joint of the skeleton that an unmatched joint k of the file follows, below joint j:
// j, or the one below j that k is next to. Some rigs hang a hand's fingers on the forearm.
func (f *fit) nearer(k, j int) int {
	best := j
	near := float32(0.3)
	for c, from := range f.from {
		if from < 0 || f.skin.joints[from].parent != f.skin.joints[k].parent || f.from[j] < 0 {
			continue
		}
		at := f.skin.joints[from].pos
		if d := f.skin.joints[k].pos.Dist(at) / max(at.Dist(f.skin.joints[f.from[j]].pos), 1e-9); d < near {
			best, near = c, d
		}
	}
	return best
}

func lowest(pos []m3.Vec3) float32 {
	return slices.MinFunc(pos, func(a, b m3.Vec3) int { return cmp.Compare(a.Y, b.Y) }).Y
}
