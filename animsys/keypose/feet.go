package keypose

import (
	"fmt"

	"mannequin/engine/m3"
	"mannequin/ik"
)

// Holder holds feet that stand in their places. Legs bend, and the rest of the body
// goes where it went. How a foot is moved is a least-squares problem over all frames:
// it shall not slide while it stands, go as it went else, and be moved little and
// smoothly; where its leg is keyed it is not moved. It belongs to one goroutine.
type Holder struct {
	layout *Layout
	rig    *ik.Rig
	pos    []m3.Vec3
	rot    []m3.Quat
	model  []m3.Xform
	heel   []m3.Vec3 // (frames) where a foot is in the motion,
	toe    []m3.Vec3
	system band // how it is moved
}

// Weights of the least squares, those of a foot that surely stands being 1.
var (
	give = 0.02         // of moving a foot that swings other than it goes
	fade = 0.13         // s in which it forgets where it was held
	soft = 0.05         // s over which that begins and ends
	calm = float32(0.1) // m/s: which of heel and toe stands is not told by less
)

// NewHolder returns a holder of motions on the layout's skeleton, which is an error
// if that has no legs of a person's (ik.HumanRoles).
func (l *Layout) NewHolder() (*Holder, error) {
	roles, err := ik.HumanRoles(l.Skel.Names)
	if err != nil {
		return nil, fmt.Errorf("keypose: %w", err)
	}
	tree, err := ik.NewTree(l.Skel.Parents)
	if err != nil {
		return nil, fmt.Errorf("keypose: %w", err)
	}
	h := &Holder{layout: l}
	if h.rig, err = ik.NewRig(tree, roles); err != nil {
		return nil, fmt.Errorf("keypose: %w", err)
	}
	n := l.Skel.Len()
	h.pos, h.rot, h.model = make([]m3.Vec3, n), make([]m3.Quat, n), make([]m3.Xform, n)
	return h, nil
}

// Hold holds the feet of a track that was filled; stand, (Frames, Feet), is what
// Maker.Fill tells of them.
func (h *Holder) Hold(t *Track, stand []float32) error {
	switch {
	case t.Layout.Skel.Len() != h.layout.Skel.Len():
		return fmt.Errorf("keypose: a track of another skeleton: %d joints, want %d", t.Layout.Skel.Len(), h.layout.Skel.Len())
	case len(stand) != t.Frames*Feet:
		return fmt.Errorf("keypose: %d values say who stands in %d frames, want %d", len(stand), t.Frames, t.Frames*Feet)
	}
	clip := t.Clip()
	h.heel, h.toe = grow(h.heel, t.Frames), grow(h.toe, t.Frames)
	for i, leg := range h.rig.Roles.Legs {
		for f := range t.Frames {
			clip.Model(h.model, f)
			h.heel[f], h.toe[f] = h.model[leg[2]].Pos, h.model[leg[3]].Pos
		}
		h.places(t, stand[i:], h.keyed(leg))
		var foot ik.Foot
		for f := range t.Frames {
			clip.Model(h.model, f)
			move := h.system.b[f]
			by := m3.V(float32(move[0]), float32(move[1]), float32(move[2]))
			h.rig.Reach(h.model, i, h.heel[f].Add(by), &foot)
			if by == (m3.Vec3{}) {
				continue
			}
			_, rot := clip.Frame(f)
			for _, j := range leg[:3] {
				p := h.layout.Skel.Parents[j]
				rot[j] = h.model[p].Rot.Conj().Mul(h.model[j].Rot).Normalize()
			}
		}
	}
	t.Become(clip)
	return nil
}

// keyed returns the groups of a leg's joints that turn as the foot is moved.
func (h *Holder) keyed(leg ik.Leg) (groups [3]int) {
	for i := range groups {
		groups[i] = h.layout.GroupOf(h.layout.Skel.Names[leg[i]])
	}
	return groups
}

// places solves for how a foot is moved, which h.system.b has then: (frames) m.
func (h *Holder) places(t *Track, stand []float32, groups [3]int) {
	s := &h.system
	s.reset(t.Frames)
	dt := 1 / float64(t.FPS)
	stay, bend := give*(dt/fade)*(dt/fade), give*(soft/dt)*(soft/dt)
	for f := range t.Frames {
		s.add(f, stay)
		if f == 0 {
			continue
		}
		heel, toe := h.heel[f].Sub(h.heel[f-1]), h.toe[f].Sub(h.toe[f-1])
		on := float64(stand[f*Feet] * stand[(f-1)*Feet])
		// The slower one stands.
		c := calm * calm * float32(dt*dt)
		a, b := toe.Dot(toe)+c, heel.Dot(heel)+c
		slip := heel.Lerp(toe, b/(a+b))
		s.step(f, give+on, on, slip)
		if f > 1 {
			s.turn(f-1, bend)
		}
	}
	for f := range t.Frames {
		for _, g := range groups {
			if g >= 0 && t.Weight[f*h.layout.Groups()+g] == 1 {
				s.fix(f)
				break
			}
		}
	}
	s.solve()
}

// band is a symmetric system of equations of two neighbours to each side, with three
// right-hand sides.
type band struct {
	a [3][]float64 // the diagonal, and those beside it
	b [][3]float64 // right-hand sides, then the solution
}

func (s *band) reset(n int) {
	for i := range s.a {
		s.a[i] = grow(s.a[i], n)
		clear(s.a[i])
	}
	s.b = grow(s.b, n)
	clear(s.b)
}

// add adds w·|x[f]|².
func (s *band) add(f int, w float64) { s.a[0][f] += w }

// step adds w·|x[f]−x[f−1]|² + 2·on·(x[f]−x[f−1])·slip.
func (s *band) step(f int, w, on float64, slip m3.Vec3) {
	s.a[0][f-1] += w
	s.a[0][f] += w
	s.a[1][f-1] -= w
	for i, v := range [3]float32{slip.X, slip.Y, slip.Z} {
		s.b[f][i] -= on * float64(v)
		s.b[f-1][i] += on * float64(v)
	}
}

// turn adds w·|x[f−1]−2x[f]+x[f+1]|².
func (s *band) turn(f int, w float64) {
	s.a[0][f-1] += w
	s.a[0][f] += 4 * w
	s.a[0][f+1] += w
	s.a[1][f-1] -= 2 * w
	s.a[1][f] -= 2 * w
	s.a[2][f-1] += w
}

// fix makes x[f] zero.
func (s *band) fix(f int) {
	s.a[0][f], s.a[1][f], s.a[2][f] = 1, 0, 0
	if f > 0 {
		s.a[1][f-1] = 0
	}
	if f > 1 {
		s.a[2][f-2] = 0
	}
	s.b[f] = [3]float64{}
}

// solve solves for x, into b, by Cholesky's method without roots.
func (s *band) solve() {
	d, l1, l2 := s.a[0], s.a[1], s.a[2]
	n := len(d)
	for f := range n {
		// What is right of the diagonal becomes the factor's.
		p, q := l1[f]/d[f], l2[f]/d[f]
		if f+1 < n {
			d[f+1] -= p * l1[f]
			l1[f+1] -= p * l2[f]
		}
		if f+2 < n {
			d[f+2] -= q * l2[f]
		}
		for i := range 3 {
			if f+1 < n {
				s.b[f+1][i] -= p * s.b[f][i]
			}
			if f+2 < n {
				s.b[f+2][i] -= q * s.b[f][i]
			}
			s.b[f][i] /= d[f]
		}
		l1[f], l2[f] = p, q
	}
	for f := n - 2; f >= 0; f-- {
		for i := range 3 {
			s.b[f][i] -= l1[f] * s.b[f+1][i]
			if f+2 < n {
				s.b[f][i] -= l2[f] * s.b[f+2][i]
			}
		}
	}
}
