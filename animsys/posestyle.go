package animsys

import (
	"fmt"
	"strings"

	"mannequin/animsys/generator"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
)

// poseStyles gives the styles of Options.Transfers to the poses of agents with an ecs.GramStyle. Methods
// of nil do nothing.
type poseStyles struct {
	crowd   *Crowd
	styles  []*manifold.StyleTransfer
	stylers []*manifold.PoseStyler // by worker
	rows    []poseStyle
	part    func(worker, i int)
}

// poseStyle is the style of a row.
type poseStyle struct {
	want         generator.Style
	shown        int32   // the style that its pose has; it changes when none shows
	weight, rate float32 // of it now, eased, and its change a second
}

const (
	poseStyleEases  = 0.1  // half-life of a weight, s
	poseStyleUnseen = 1e-3 // a weight that does not show
)

// newPoseStyles returns the styles of n rows, or nil without Options.Transfers.
func newPoseStyles(c *Crowd, rig *generator.Rig, n int, o *Options) (*poseStyles, error) {
	if len(o.Transfers) == 0 {
		return nil, nil
	}
	p := &poseStyles{crowd: c, styles: o.Transfers, rows: make([]poseStyle, n)}
	for range c.pool.Workers() {
		s, err := manifold.NewPoseStyler(o.Transfers, rig.Skel, rig.Ground.Sole)
		if err != nil {
			return nil, fmt.Errorf("animsys: Options.Transfers: %w", err)
		}
		p.stylers = append(p.stylers, s)
	}
	p.part = func(worker, i int) { p.style(worker, i*grain, min((i+1)*grain, c.rows.Len())) }
	return p, nil
}

// identity adds the styles to a save's.
func (p *poseStyles) identity() string {
	if p == nil {
		return ""
	}
	var names []string
	for _, t := range p.styles {
		names = append(names, t.Name)
	}
	return "; transfers " + strings.Join(names, " ")
}

// want sets the style of a row.
func (p *poseStyles) want(row int, style generator.Style) {
	if style.Index < 0 || style.Index >= len(p.styles) || !(style.Weight > 0) {
		style = generator.Style{}
	}
	style.Weight = min(style.Weight, 2)
	p.rows[row].want = style
}

// run gives the poses of all rows their styles.
func (p *poseStyles) run() {
	if p != nil {
		p.crowd.pool.Run((p.crowd.rows.Len()+grain-1)/grain, p.part)
	}
}

// style is run for the rows from r0 up to r1.
func (p *poseStyles) style(worker, r0, r1 int) {
	c, n := p.crowd, p.crowd.joints
	for row := r0; row < r1; row++ {
		s := &p.rows[row]
		goal := s.want.Weight
		switch {
		case goal > 0 && s.weight < poseStyleUnseen:
			s.shown = int32(s.want.Index)
		case goal > 0 && int(s.shown) != s.want.Index: // the other style goes first
			goal = 0
		case goal == 0 && s.weight == 0:
			continue
		}
		s.weight, s.rate = m3.Spring(s.weight, s.rate, goal, poseStyleEases, 1.0/TickRate)
		if s.want.Weight == 0 && s.weight < poseStyleUnseen {
			s.weight, s.rate = 0, 0
		}
		if c.steps(row) { // else the pose is that of the last step
			p.stylers[worker].Run(c.Pos[row*n:][:n], c.Rot[row*n:][:n], int(s.shown), s.weight)
		}
	}
}

// move puts the agent of the last row into row.
func (p *poseStyles) move(row, last int) {
	if p != nil {
		p.rows[row] = p.rows[last]
		p.forget(last)
	}
}

// forget resets a row.
func (p *poseStyles) forget(row int) {
	if p != nil {
		p.rows[row] = poseStyle{}
	}
}

// visit writes or reads the state of a row.
func (p *poseStyles) visit(st *generator.State, row int) {
	if p == nil {
		return
	}
	s := &p.rows[row]
	generator.Value(st, &s.shown)
	generator.Value(st, &s.weight)
	generator.Value(st, &s.rate)
	if st.Reading() && (s.shown < 0 || int(s.shown) >= len(p.styles) || !m3.Finite(s.weight) || !m3.Finite(s.rate)) {
		st.Fail(fmt.Errorf("the save has style %d of %d with the weight %g", s.shown, len(p.styles), s.weight))
	}
}
