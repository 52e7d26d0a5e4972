package animsys

import (
	"fmt"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Restyle gives the poses of people who carry an ecs.Style of MAR that style, all of
// them in one go.
//
// Where they are and how they face stays as their curve says: postures, gestures and
// how feet are lifted are the style's, and so is how far they step. Windows sees to
// it that they step as often as suits that; what is left, Ground's legs make up for,
// which hold feet that stand. A curve of the speed that suits the style leaves
// little.
type Restyle struct{ people *People }

// Initialize finds the people.
func (s *Restyle) Initialize(w *arche.World) {
	if res := generic.NewResource[People](w); res.Has() {
		s.people = res.Get()
	}
}

// Update translates the poses of this tick.
func (s *Restyle) Update(*arche.World) {
	if p := s.people; p != nil && !p.closed {
		p.restyle.run(&p.Bodies)
	}
}

// Finalize has nothing to do: people are closed by their owner.
func (s *Restyle) Finalize(*arche.World) {}

// restyle is what the system needs of people. Methods of a nil one do nothing.
type restyle struct {
	stylist *mar.StyleTranslator
	db      *mar.Database
	joints  int
	active  []int32  // rows with a style, or on their way from one
	styled  []bool   // (rows) a style is wanted
	begun   []bool   // (rows) the stylist knows their motion
	paces   []pace   // (rows)
	strides []stride // (rows, legs)
	tips    []int    // of the legs: the joints whose contacts say that they stand
	model   []m3.Xform
}

// newRestyle returns that of people, or nil where they have no styles.
func newRestyle(sk *skel.Skeleton, tips []int, o *PeopleOptions) (*restyle, error) {
	if o.Styles == nil {
		return nil, nil
	}
	if n := len(o.Styles.Styles); n > ecs.MaxStyles {
		return nil, fmt.Errorf("animsys: a database of %d styles, at most %d fit an ecs.Style: build one of fewer", n, ecs.MaxStyles)
	}
	if err := o.Styles.Fits(sk); err != nil {
		return nil, fmt.Errorf("animsys: PeopleOptions.Styles: %w", err)
	}
	stylist, err := o.Styles.NewStyleTranslator(mar.StyleTranslatorOptions{Options: o.Style, Characters: o.Capacity, Workers: o.Workers})
	if err != nil {
		return nil, err
	}
	n := o.Capacity
	for i := range stylist.Labels {
		stylist.Labels[i] = o.Known
	}
	return &restyle{stylist: stylist, db: o.Styles, joints: sk.Len(), active: make([]int32, 0, n), styled: make([]bool, n), begun: make([]bool, n),
		paces: make([]pace, n), strides: make([]stride, n*len(tips)), tips: tips, model: make([]m3.Xform, sk.Len())}, nil
}

func (r *restyle) close() error {
	if r == nil {
		return nil
	}
	return r.stylist.Close()
}

// want says what style row shall have.
func (r *restyle) want(row int32, s *ecs.Style) {
	if r == nil {
		return
	}
	n := len(r.db.Styles)
	w := r.stylist.Weights[int(row)*n:][:n]
	clear(w)
	r.styled[row] = false
	if s.Method == ecs.MAR {
		for i := range w {
			w[i] = s.Weights[i]
			r.styled[row] = r.styled[row] || w[i] > 0
		}
	}
}

// finest returns the rate that row has who is asked for r: in a style, or on the way from
// one, which is given frame by frame, the full one.
func (r *restyle) finest(row int, rate Rate) Rate {
	if r != nil && (r.styled[row] || r.begun[row]) {
		return Full
	}
	return rate
}

// move puts who is in the last row into row.
func (r *restyle) move(row, last int) {
	if r != nil {
		r.stylist.Move(row, last)
		r.styled[row], r.begun[row], r.paces[row] = r.styled[last], r.begun[last], r.paces[last]
		n := len(r.tips)
		copy(r.strides[row*n:][:n], r.strides[last*n:])
		r.forget(last)
	}
}

// forget has row begin anew.
func (r *restyle) forget(row int) {
	if r != nil {
		r.stylist.Reset(row)
		r.begun[row], r.paces[row] = false, pace{}
		clear(r.strides[row*len(r.tips):][:len(r.tips)])
	}
}

// run translates the poses of b.
func (r *restyle) run(b *Bodies) {
	if r == nil {
		return
	}
	n := r.joints
	r.active = r.active[:0]
	for row := range b.Rows.Len() {
		if b.rates[row].rate == Frozen {
			if r.begun[row] {
				r.forget(row)
			}
			continue
		}
		if !b.steps(row) { // the pose is that of the last step
			continue
		}
		if !r.styled[row] && r.stylist.Unstyled(row) {
			r.forget(row)
			continue
		}
		if !r.begun[row] { // on the way from their own style
			r.begun[row] = true
			clear(r.stylist.Weights[row*len(r.db.Styles):][:len(r.db.Styles)])
		}
		r.active = append(r.active, int32(row))
	}
	r.stylist.Run(r.active, b.Pos, b.Rot)
	for _, row := range r.active {
		if r.stylist.Unstyled(int(row)) {
			continue
		}
		pos, rot := b.Pos[int(row)*n:][:n], b.Rot[int(row)*n:][:n]
		hips, turn := pos[0], heading(rot[0])
		r.db.Pose(pos, rot, r.stylist.Row(int(row)))
		pos[0].X, pos[0].Z = hips.X, hips.Z
		rot[0] = turn.Mul(rot[0])
		p := &r.paces[row]
		if p.tick++; p.tick < paceWaits {
			continue
		}
		legs := r.strides[int(row)*len(r.tips):][:len(r.tips)]
		r.db.Skeleton().LocalToModel(r.model, pos, rot)
		for i, tip := range r.tips {
			legs[i].add(r.model[tip].Pos, hips, b.Ground.Contacts[int(row)*len(r.tips)+i])
		}
		if p.tick == paceWaits+paceMeasures {
			p.suit(legs)
			p.tick = 0
			clear(legs)
		}
	}
}

// stride is what a leg that stands does in a style.
type stride struct {
	foot, hips m3.Vec3 // in the last frame, world space
	stood      bool
	way, own   float32 // that the foot has gone back under the hips, and that the hips have gone, m
}

// add takes a frame.
func (s *stride) add(foot, hips m3.Vec3, stands bool) {
	if by := hips.Sub(s.hips).Flat(); stands && s.stood {
		if l := by.Len(); l > 0 {
			s.own += l
			s.way += l - foot.Sub(s.foot).Dot(by)/l
		}
	}
	s.foot, s.hips, s.stood = foot, hips, stands
}

// pace finds how often a person has to step whose style steps farther or less far
// than they would without it: if a foot that stands goes back under the hips by r of
// what the hips go, 1/r as often, so that it need not slide.
type pace struct {
	often float32 // as without a style; 0 counts as 1
	tick  int     // since it was last measured
}

const (
	paceWaits    = 90   // ticks until a change shows in what is played
	paceMeasures = 60   // ticks, about two steps
	paceWay      = 0.2  // the least way to learn anything from, m
	paceMinds    = 0.04 // a change less than this is none
	leastOften   = 0.7
	mostOften    = 1.6
)

// suit takes what the legs were measured to do.
func (p *pace) suit(legs []stride) {
	if p.often == 0 {
		p.often = 1
	}
	var way, own float32
	for i := range legs {
		way, own = way+legs[i].way, own+legs[i].own
	}
	if own > paceWay {
		if want := m3.Clamp(p.often*own/max(way, own/4), leastOften, mostOften); m3.Abs(want-p.often) > paceMinds {
			p.often = want
		}
	}
}

// cadence returns how often a row shall step, that would step given as often.
func (r *restyle) cadence(row int32, given float32) float32 {
	if r == nil || r.paces[row].often == 0 {
		return given
	}
	if given == 0 {
		given = 1
	}
	return given * r.paces[row].often
}

// heading returns the part of a rotation that is about the vertical.
func heading(q m3.Quat) m3.Quat {
	h := m3.Quat{Y: q.Y, W: q.W}
	if h.Dot(h) < 1e-6 {
		return m3.Quat{W: 1}
	}
	return h.Normalize()
}
