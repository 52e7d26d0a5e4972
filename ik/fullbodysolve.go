package ik

import (
	"math"

	"mannequin/engine/m3"
)

// FullBodyScratch is the memory of one goroutine that runs a FullBody.
//
// The unknowns of a step are the translation of each root that carries a target and the rotation
// vector, in world axes, of each joint that carries one below itself: three each, a block. A
// block's parent is the next block on the way to the root. Two blocks share a target, and have an
// entry in the normal matrix, only if one is an ancestor of the other. Elimination from the leaves
// to the root adds no entries (Featherstone 2005). So the row of a block holds only the blocks on
// its way from the root.
type FullBodyScratch struct {
	parents []int16
	joints  []int     // joints with a target
	weights []float64 // (joints)
	goal    []vec64   // (joints) targets of the row

	blocks []block
	path   []int32   // row after row: the numbers of an unknown's ancestors from the root, and its own
	row    []int32   // (unknowns) start of an unknown's row in path and in h
	h      []float64 // normal matrix and then its factor, rows of unequal length
	g, x   []float64 // (unknowns) right side, step
	cost   []float64 // (unknowns) stiffness; 0 for translations

	local       []vec64 // (tree) translations; the roots' change
	turn, saved []quat64
	moved       []vec64 // (tree) translations before the step
	pos         []vec64 // (tree) positions before the step
	rot         []quat64
	sums        []moments // (tree) of the targets at and below each joint
}

// block is three unknowns.
type block struct {
	joint  int
	parent int  // block, −1 for the first of a root
	depth  int  // blocks above it
	move   bool // a root's translation; otherwise a rotation
	first  int  // number of its first unknown
}

// moments are sums over the targets below a joint: of weights, of weight·position, of
// weight·position·positionᵀ (xx xy xz yy yz zz), of weight·error and of weight·(position × error).
// Positions are relative to the row's first root.
type moments struct {
	w     float64
	p     vec64
	pp    [6]float64
	e, pe vec64
}

func newFullBodyScratch(b *FullBody) *FullBodyScratch {
	n := b.Tree.Len()
	s := &FullBodyScratch{
		parents: b.Tree.parents, joints: append([]int(nil), b.Joints...), weights: make([]float64, len(b.Joints)), goal: make([]vec64, len(b.Joints)),
		local: make([]vec64, n), moved: make([]vec64, n), turn: make([]quat64, n), saved: make([]quat64, n), pos: make([]vec64, n), rot: make([]quat64, n), sums: make([]moments, n),
	}
	carries := make([]bool, n) // a target at or below
	below := make([]bool, n)   // a target strictly below
	for i, j := range s.joints {
		s.weights[i] = 1
		if b.Weights != nil {
			s.weights[i] = float64(b.Weights[i])
		}
		carries[j] = true
		for a := s.parents[j]; a >= 0; a = s.parents[a] {
			carries[a], below[a] = true, true
		}
	}
	last := make([]int, n) // last block at or above each joint
	add := func(j, parent int, move bool) int {
		k := block{joint: j, parent: parent, move: move, first: 3 * len(s.blocks)}
		if parent >= 0 {
			k.depth = s.blocks[parent].depth + 1
		}
		stiff := 1.0
		switch {
		case move:
			stiff = 0
		case b.Stiffness != nil:
			stiff = float64(b.Stiffness[j])
		}
		for c := range 3 {
			s.row = append(s.row, int32(len(s.path)))
			if parent >= 0 {
				p := s.blocks[parent].first + 2
				s.path = append(s.path, s.path[s.row[p]:s.row[p]+int32(3*k.depth)]...)
			}
			for d := range c + 1 {
				s.path = append(s.path, int32(k.first+d))
			}
			s.cost = append(s.cost, stiff)
		}
		s.blocks = append(s.blocks, k)
		return len(s.blocks) - 1
	}
	for j, p := range s.parents {
		switch {
		case p >= 0:
			last[j] = last[p]
		case carries[j]:
			last[j] = add(j, -1, true)
		}
		if below[j] {
			last[j] = add(j, last[j], false)
		}
	}
	s.h = make([]float64, len(s.path))
	s.g, s.x = make([]float64, len(s.row)), make([]float64, len(s.row))
	return s
}

// load reads a row and reports whether it can be solved.
func (s *FullBodyScratch) load(pos []m3.Vec3, rot []m3.Quat, targets []m3.Vec3) bool {
	for j, p := range pos {
		q, ok := wideQuat(rot[j])
		if !ok || !(p.Len() < far) {
			return false
		}
		s.local[j], s.turn[j] = wide(p), q
	}
	for i, t := range targets {
		if !(t.Len() < far) {
			return false
		}
		s.goal[i] = wide(t)
	}
	return true
}

// store writes the row back.
func (s *FullBodyScratch) store(pos []m3.Vec3, rot []m3.Quat) {
	for _, k := range s.blocks {
		if k.move {
			pos[k.joint] = s.local[k.joint].slim()
		} else {
			rot[k.joint] = s.turn[k.joint].slim()
		}
	}
}

// solve takes steps and reports whether one of them helped.
func (s *FullBodyScratch) solve(iterations int, tolerance, damping float64) bool {
	s.forward()
	miss, worst := s.miss()
	lambda, better := damping, false
	var total float64
	for _, w := range s.weights {
		total += w
	}
	for range iterations {
		if worst <= tolerance*tolerance || !(total > 0) {
			break
		}
		s.normal()
		if !s.factor(lambda) {
			break
		}
		s.step()
		s.forward()
		now, far := s.miss()
		if !(now < miss) {
			s.undo()
			s.forward()
			if lambda *= 10; lambda > 1e6*damping {
				break
			}
			continue
		}
		gain := math.Sqrt(miss/total) - math.Sqrt(now/total)
		miss, worst, better = now, far, true
		lambda = max(lambda/10, damping)
		if gain < tolerance {
			break
		}
	}
	return better
}

// forward finds the joints' positions and rotations.
func (s *FullBodyScratch) forward() {
	for j, p := range s.parents {
		if p < 0 {
			s.pos[j], s.rot[j] = s.local[j], s.turn[j]
			continue
		}
		s.pos[j] = s.pos[p].add(s.rot[p].rotate(s.local[j]))
		s.rot[j] = s.rot[p].mul(s.turn[j])
	}
}

// miss returns the weighted sum of squared distances to the targets, and the largest squared
// distance.
func (s *FullBodyScratch) miss() (sum, worst float64) {
	for i, j := range s.joints {
		e := s.goal[i].sub(s.pos[j])
		d := e.dot(e)
		sum += s.weights[i] * d
		if s.weights[i] > 0 {
			worst = max(worst, d)
		}
	}
	return sum, worst
}

// normal builds the normal equations JᵀWJ and JᵀWe. A joint at a that turns by ω moves a point p by
// ω × (p−a). So the block of joints a and b, b below a, is Σ w·((p−a)·(p−b)·I − (p−b)(p−a)ᵀ), which
// follows from the moments of b's targets.
func (s *FullBodyScratch) normal() {
	clear(s.sums)
	origin := s.pos[0]
	for i, j := range s.joints {
		w, p := s.weights[i], s.pos[j].sub(origin)
		e := s.goal[i].sub(s.pos[j]).scale(w)
		m := &s.sums[j]
		m.w, m.p, m.e, m.pe = w, p.scale(w), e, p.cross(e)
		m.pp = [6]float64{w * p[0] * p[0], w * p[0] * p[1], w * p[0] * p[2], w * p[1] * p[1], w * p[1] * p[2], w * p[2] * p[2]}
	}
	for j := len(s.parents) - 1; j >= 0; j-- {
		p := s.parents[j]
		if p < 0 {
			continue
		}
		m, up := &s.sums[j], &s.sums[p]
		up.w += m.w
		up.p, up.e, up.pe = up.p.add(m.p), up.e.add(m.e), up.pe.add(m.pe)
		for i := range up.pp {
			up.pp[i] += m.pp[i]
		}
	}
	for i := range s.blocks {
		k := &s.blocks[i]
		m := s.sums[k.joint]
		b := s.pos[k.joint].sub(origin)
		// A joint that turns does not move its own target.
		g := m.e
		if !k.move {
			g = m.pe.sub(b.cross(m.e))
		}
		copy(s.g[k.first:], g[:])
		for up := i; up >= 0; up = s.blocks[up].parent {
			a := &s.blocks[up]
			s.put(k, a, pair(&m, k, a, s.pos[a.joint].sub(origin), b))
		}
	}
}

// pair returns the block of the normal matrix in row b and column a, for b at or below a and the
// targets with moments m below b.
func pair(m *moments, kb, ka *block, a, b vec64) [9]float64 {
	switch {
	case kb.move:
		return [9]float64{m.w, 0, 0, 0, m.w, 0, 0, 0, m.w}
	case ka.move:
		// Turning about b moves p by ω × r with r = p−b, moving moves p by itself: Σ w [r]×.
		r := m.p.madd(-m.w, b)
		return [9]float64{0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0}
	}
	// T = Σ w (p−a)(p−b)ᵀ; the block is tr(T)·I − T as (row of b, column of a).
	var t [9]float64
	pp := [9]float64{m.pp[0], m.pp[1], m.pp[2], m.pp[1], m.pp[3], m.pp[4], m.pp[2], m.pp[4], m.pp[5]}
	for r := range 3 {
		for c := range 3 {
			t[3*r+c] = pp[3*r+c] - a[r]*m.p[c] - m.p[r]*b[c] + a[r]*b[c]*m.w
		}
	}
	tr := t[0] + t[4] + t[8]
	return [9]float64{tr - t[0], -t[1], -t[2], -t[3], tr - t[4], -t[5], -t[6], -t[7], tr - t[8]}
}

// put writes the block in row b and column a.
func (s *FullBodyScratch) put(b, a *block, v [9]float64) {
	for r := range 3 {
		at := int(s.row[b.first+r]) + 3*a.depth
		for c := range 3 {
			if a == b && c > r {
				break
			}
			s.h[at+c] = v[3*r+c]
		}
	}
}

// factor adds the damping and replaces H by L with LᵀL = H, from the leaves up. It reports whether
// H is positive definite.
func (s *FullBodyScratch) factor(lambda float64) bool {
	n := len(s.row)
	end := len(s.path)
	for k := n - 1; k >= 0; k-- {
		row, path := s.h[s.row[k]:end], s.path[s.row[k]:end]
		end = int(s.row[k])
		d := len(row) - 1
		// A little damping keeps a translation that no target holds.
		pivot := row[d] + lambda*s.cost[k] + 1e-9
		if !(pivot > 0) {
			return false
		}
		root := math.Sqrt(pivot)
		row[d] = root
		for q := range d {
			row[q] /= root
		}
		for q := range d {
			v := row[q]
			if v == 0 {
				continue
			}
			up := s.h[s.row[path[q]]:]
			for i, w := range row[:q+1] {
				up[i] -= v * w
			}
		}
	}
	return true
}

// step solves LᵀLx = g and takes the step.
func (s *FullBodyScratch) step() {
	copy(s.x, s.g)
	end := len(s.path)
	for k := len(s.row) - 1; k >= 0; k-- {
		row, path := s.h[s.row[k]:end], s.path[s.row[k]:end]
		end = int(s.row[k])
		d := len(row) - 1
		s.x[k] /= row[d]
		for q := range d {
			s.x[path[q]] -= row[q] * s.x[k]
		}
	}
	for k := range s.row {
		end := len(s.path)
		if k+1 < len(s.row) {
			end = int(s.row[k+1])
		}
		row, path := s.h[s.row[k]:end], s.path[s.row[k]:end]
		d := len(row) - 1
		v := s.x[k]
		for q := range d {
			v -= row[q] * s.x[path[q]]
		}
		s.x[k] = v / row[d]
	}
	s.apply(s.x)
}

// apply moves roots and turns joints by x, and saves their old values.
func (s *FullBodyScratch) apply(x []float64) {
	copy(s.saved, s.turn)
	copy(s.moved, s.local)
	for _, k := range s.blocks {
		v := vec64(x[k.first:])
		if k.move {
			s.local[k.joint] = s.local[k.joint].add(v)
			continue
		}
		// s.rot holds the rotations before the step.
		if p := s.parents[k.joint]; p >= 0 {
			v = s.rot[p].unrotate(v)
		}
		s.turn[k.joint] = turn64(v).mul(s.turn[k.joint])
	}
}

// undo takes the last step back.
func (s *FullBodyScratch) undo() {
	copy(s.turn, s.saved)
	copy(s.local, s.moved)
}
