package animsys

import (
	"cmp"
	"fmt"

	"mannequin/animsys/blend"
	"mannequin/animsys/generator"
	"mannequin/animsys/mar"
	"mannequin/ecs"
	"mannequin/engine/m3"

	arche "github.com/mlange-42/arche/ecs"
)

// Style is the system that translates the poses of agents with an ecs.MARStyle into that
// style, in crowds with Options.Styles. Then it gives agents with an ecs.GramStyle theirs, in crowds with
// Options.Transfers.
//
// Root motion stays as the generator made it. Posture, gestures and how feet are lifted are the
// style's, and so is the stride length. Generate adapts the step frequency to it, and Ground's foot
// lock makes up for the rest. A speed that suits the style leaves little to make up.
type Style struct{ system }

// Initialize prepares the system.
func (s *Style) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		if c.restyle != nil {
			c.restyle.run(c)
		}
		c.poseStyles.run()
		return nil
	})
}

// restyle is the state of the system Style. Methods of nil do nothing.
type restyle struct {
	stylist *mar.StyleTranslator
	input   *blend.Inertial // of the poses that go in: a window of poses with a jump is like no window of the database
	db      *mar.Database
	joints  int
	active  []int32   // rows with a style, or on their way from one
	styled  []bool    // (rows) a style is wanted
	begun   []bool    // (rows) the stylist knows their motion
	paces   []pace    // (rows)
	strides []stride  // (rows, legs)
	legs    []int     // joints of the legs
	own     []m3.Quat // (legs) their rotations without a style
	tips    []int     // of the legs: the joints whose contacts say that they stand
	model   []m3.Xform
}

// newRestyle returns the restyle of n rows, or nil without Options.Styles.
func newRestyle(rig generator.Rig, n int, o *Options) (*restyle, error) {
	if o.Styles == nil {
		return nil, nil
	}
	if n := len(o.Styles.Styles); n > ecs.MaxStyles {
		return nil, fmt.Errorf("animsys: a database of %d styles, at most %d fit an ecs.MARStyle: build one of fewer", n, ecs.MaxStyles)
	}
	sk := rig.Skel
	var tips, legs []int
	for _, leg := range rig.Ground.Rig.Roles.Legs {
		tips = append(tips, int(leg[len(leg)-1]))
		for _, j := range leg {
			legs = append(legs, int(j))
		}
	}
	if err := o.Styles.Fits(sk); err != nil {
		return nil, fmt.Errorf("animsys: Options.Styles: %w", err)
	}
	stylist, err := o.Styles.NewStyleTranslator(mar.StyleTranslatorOptions{Options: o.Style, Characters: n, Workers: o.Workers})
	if err != nil {
		return nil, err
	}
	for i := range stylist.Labels {
		stylist.Labels[i] = o.Known
	}
	input := blend.NewInertial(n, sk.Parents)
	return &restyle{stylist: stylist, input: input, db: o.Styles, joints: sk.Len(), active: make([]int32, 0, n), styled: make([]bool, n), begun: make([]bool, n),
		paces: make([]pace, n), strides: make([]stride, n*len(tips)), legs: legs, tips: tips, own: make([]m3.Quat, len(legs)), model: make([]m3.Xform, sk.Len())}, nil
}

func (r *restyle) close() error {
	if r == nil {
		return nil
	}
	return r.stylist.Close()
}

// want sets the style of a row that has none.
func (r *restyle) want(row int32, s *ecs.MARStyle) {
	n := len(r.db.Styles)
	w := r.stylist.Weights[int(row)*n:][:n]
	for i := range w {
		w[i] = s.Weights[i]
		r.styled[row] = r.styled[row] || w[i] > 0
	}
}

// finest returns the update rate of a row for which rate is asked. A row with a style, or on its way
// from one, updates in every tick.
func (r *restyle) finest(row int, rate UpdateRate) UpdateRate {
	if r != nil && (r.styled[row] || r.begun[row]) {
		return EveryTick
	}
	return rate
}

// move puts the agent of the last row into row.
func (r *restyle) move(row, last int) {
	if r != nil {
		r.stylist.Move(row, last)
		r.input.Copy(row, last)
		r.styled[row], r.begun[row], r.paces[row] = r.styled[last], r.begun[last], r.paces[last]
		n := len(r.tips)
		copy(r.strides[row*n:][:n], r.strides[last*n:])
		r.forget(last)
	}
}

// forget resets a row.
func (r *restyle) forget(row int) {
	if r != nil {
		r.stylist.Reset(row)
		r.input.Reset(row)
		r.begun[row], r.paces[row] = false, pace{}
		clear(r.strides[row*len(r.tips):][:len(r.tips)])
	}
}

// shift moves the places that are remembered of a row.
func (r *restyle) shift(row int, by m3.Vec3) {
	if r == nil {
		return
	}
	r.stylist.Shift(row, by)
	r.input.Shift(row, by)
	for i := range r.strides[row*len(r.tips):][:len(r.tips)] {
		s := &r.strides[row*len(r.tips)+i]
		s.foot, s.hips = s.foot.Add(by), s.hips.Add(by)
	}
}

func (r *restyle) turn(row int, by m3.Turn) {
	if r == nil {
		return
	}
	r.stylist.Turn(row, by)
	r.input.TurnRow(row, by)
	for i := range r.strides[row*len(r.tips):][:len(r.tips)] {
		s := &r.strides[row*len(r.tips)+i]
		s.foot, s.hips = by.Point(s.foot), by.Point(s.hips)
	}
}

// visit writes or reads the state of a row.
func (r *restyle) visit(st *generator.State, row int) {
	if r == nil {
		return
	}
	st.Bool(&r.styled[row])
	st.Bool(&r.begun[row])
	p := &r.paces[row]
	generator.Value(st, &p.often)
	generator.Value(st, &p.less)
	generator.Value(st, &p.eased)
	st.Int(&p.tick)
	for i := range r.strides[row*len(r.tips):][:len(r.tips)] {
		s := &r.strides[row*len(r.tips)+i]
		generator.Value(st, &s.foot)
		generator.Value(st, &s.hips)
		st.Bool(&s.stood)
		generator.Value(st, &s.way)
		generator.Value(st, &s.own)
	}
	r.stylist.Visit(st, row)
	r.input.Visit(st, row)
}

// jump announces that the next pose of a row does not continue the last.
func (r *restyle) jump(row int) {
	if r != nil {
		r.input.Jump(row)
	}
}

// run translates the poses of b.
func (r *restyle) run(b *Crowd) {
	n := r.joints
	r.active = r.active[:0]
	for row := range b.rows.Len() {
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
		r.input.Run(b.Pos, b.Rot, b.Poses.Roots, row, row+1)
	}
	r.stylist.Run(r.active, b.Pos, b.Rot)
	for _, row := range r.active {
		if r.stylist.Unstyled(int(row)) {
			continue
		}
		pos, rot := b.Pos[int(row)*n:][:n], b.Rot[int(row)*n:][:n]
		hips, turn := pos[0], heading(rot[0])
		for i, j := range r.legs {
			r.own[i] = rot[j]
		}
		r.db.Pose(pos, rot, r.stylist.Row(int(row)))
		pos[0].X, pos[0].Z = hips.X, hips.Z
		rot[0] = turn.Mul(rot[0])
		p := &r.paces[row]
		if p.eased += (p.less - p.eased) * lessEases; p.eased > 0 {
			for i, j := range r.legs {
				rot[j] = rot[j].Slerp(r.own[i], p.eased)
			}
		}
		if p.tick++; p.tick < paceWaits {
			continue
		}
		legs := r.strides[int(row)*len(r.tips):][:len(r.tips)]
		r.db.Skeleton().LocalToModel(r.model, pos, rot)
		for i, tip := range r.tips {
			foot := int(row)*len(r.tips) + i
			stands := b.Ground.Feet[foot].Contact() // of the tick before
			if b.Ground.Contacts != nil {
				stands = b.Ground.Contacts[foot]
			}
			legs[i].add(r.model[tip].Pos, hips, stands)
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
// what the hips go, 1/r as often, so that it need not slide. Where that is too often or too seldom,
// the legs get a smaller share of the style, since its strides do not suit the speed.
type pace struct {
	often       float32 // as without a style; 0 counts as 1
	less, eased float32 // share of the legs' own motion, and that share eased over
	tick        int     // since it was last measured
}

const (
	paceWaits    = 90   // ticks until a change shows in what is played
	paceMeasures = 60   // ticks, about two steps
	paceWay      = 0.2  // the least way to learn anything from, m
	paceMinds    = 0.04 // a change less than this is none
	leastOften   = 0.7
	mostOften    = 1.6
	slideMost    = 0.2  // of the way: what Ground makes up for
	lessMost     = 0.7  // the largest share of the legs' own motion
	lessEases    = 0.05 // in a tick
)

// suit takes what the legs were measured to do.
func (p *pace) suit(legs []stride) {
	p.often = cmp.Or(p.often, 1)
	var way, own float32
	for i := range legs {
		way, own = way+legs[i].way, own+legs[i].own
	}
	if own <= paceWay {
		return
	}
	want := p.often * own / max(way, own/4)
	if bounded := m3.Clamp(want, leastOften, mostOften); m3.Abs(bounded-p.often) > paceMinds {
		p.often = bounded
		return
	}
	// The step frequency is as far as it goes: the legs' own motion, which does not slide, takes over.
	if slide := m3.Abs(1 - way/own); slide > slideMost || p.less > 0 {
		p.less = m3.Clamp(1-(1-p.less)*slideMost/max(slide, slideMost/2), 0, lessMost)
	}
}

// heading returns the part of a rotation that is about the vertical.
func heading(q m3.Quat) m3.Quat {
	h := m3.Quat{Y: q.Y, W: q.W}
	if h.Dot(h) < 1e-6 {
		return m3.Quat{W: 1}
	}
	return h.Normalize()
}
